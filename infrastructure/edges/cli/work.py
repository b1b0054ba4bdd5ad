"""work: a process that follows the log and keeps projections up to date."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .app import app, state
from .output import dumps, safe


@app.command("work", short_help="Follow the log and keep projections up to date.")
def work(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", show_default=False)] = None,
    once: Annotated[bool, typer.Option("--once", help="Up to the head of the log, then end.")] = False,
) -> None:
    """Follow the log and keep projections (none named: all) up to date, until Ctrl-C or SIGTERM.

    Several workers on several machines share the projections; one takes over what another leaves behind. With --json
    each thing that happens is one line on stdout, without it one on stderr.
    """
    with _ending() as stop:
        done = state.write().projections.work(*(names or ()), once=once, stop=stop, report=_report)
    if not done:
        raise typer.Exit(1)


@contextmanager
def _ending() -> Iterator[threading.Event]:
    """Set by the first SIGINT or SIGTERM; the second ends the program at once."""
    stop = threading.Event()

    def end(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _report(said: dict[str, Any]) -> None:
    out = state.output
    if out.json:
        out.raw(dumps(said) + b"\n")
    else:
        out.errors.print(safe(_words(said)), markup=False)


def _words(said: dict[str, Any]) -> str:
    name = said.get("projection")
    match said["event"]:
        case "started":
            return f"worker {said['worker']} follows the log for {', '.join(said['projections'])}; Ctrl-C ends it"
        case "stopped":
            return f"worker {said['worker']} has ended; everything that it held is free"
        case "taken":
            return f"{name}: taken"
        case "released":
            return f"{name}: given back"
        case "lost":
            return f"{name}: another worker has it now"
        case "progress":
            return f"{name}: {said['cursor']:,} of {said['head']:,}"
        case "caught_up":
            return f"{name}: up to date at {said['cursor']:,}"
        case "halted":
            return f"{name}: halted at {said['error']}"
        case "waiting":
            return f"the store is away ({said['error']}): {said['message']}; trying again"
        case "back":
            return "the store is back"
        case "failed":
            return f"{name}: {said['error']}: {said['message']}; trying again"
        case other:
            return f"{name}: {other} at {said['cursor']:,}"
