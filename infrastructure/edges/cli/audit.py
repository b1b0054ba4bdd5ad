"""log, trace, projections …, verify."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from ....domain.errors import StoreError
from ...book import Minutebook
from .app import app, projections_app, state
from .output import behind, counted, dumps, shorten, trouble
from .progress import Progress
from .sessions import text_of

TRACED_MESSAGES = 10
"""Messages named as causes on a terminal."""


POLL_SECONDS = 0.2
"""Between two looks of ``log --follow``."""
PATIENCE_SECONDS = 5.0
"""How long ``log --follow`` waits for a book that is half made."""


@app.command("log")
def log(
    after: Annotated[int, typer.Option(min=0, help="Only events after this position.")] = 0,
    before: Annotated[int | None, typer.Option(min=0, help="Only events before this position.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Only this type of event.")] = None,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    stream: Annotated[str | None, typer.Option(help="Only this stream (UUID).")] = None,
    run: Annotated[str | None, typer.Option(help="Only this run.")] = None,
    since: Annotated[str | None, typer.Option(help="Only from this time on (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option(help="Only before this time (ISO 8601).")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on printing what is appended.")] = False,
) -> None:
    """The events, in order; with --json one a line.

    --follow goes on until Ctrl-C, the end of who reads, --limit or --before; it sees what other processes append.
    """
    filters: dict[str, Any] = {
        "before": before, "type": type_, "session": session, "stream": stream, "run": run,
        "since": since, "until": until,
    }  # fmt: skip
    try:
        _follow(after, limit, filters) if follow else _print_events(state.look(), after, limit, filters)
    except KeyboardInterrupt:
        if not follow:
            raise
        # It has no other end: whoever follows has seen enough.


def _print_events(book: Minutebook, after: int, limit: int | None, filters: dict[str, Any]) -> tuple[int, int]:
    """Prints what matches; returns up to where it looked, and how many there were."""
    # Looked at first: all up to here is seen below, also what no filter lets through, and is not read again.
    seen, count = book.head, 0
    for event in book.log(after=after, limit=limit, **filters):
        seen, count = max(seen, event["position"]), count + 1
        _print_event(event)
    return max(seen, after), count


def _follow(after: int, limit: int | None, filters: dict[str, Any]) -> None:
    before, left = filters["before"], limit
    book = state.look()
    while True:
        after, count = _print_events(book, after, left, filters)
        left = None if left is None else left - count
        if left == 0 or (before is not None and after >= before - 1) or not _wait(POLL_SECONDS):
            return
        if not after:
            # The book may only be made now, by another process: a look at nothing would go on seeing nothing.
            state.close()
            book = _look_patiently()


def _look_patiently() -> Minutebook:
    """A look at a book that another process may be making: its file is there a moment before its tables are."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return state.look()
        except StoreError as error:
            if error.code not in ("not_a_book", "store_locked") or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def _wait(seconds: float) -> bool:
    """Waits; false as soon as nobody reads standard output any more, though there is nothing to print."""
    try:
        waiting = select.poll()
        waiting.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError, AttributeError):
        # No descriptor, or a system without poll.
        time.sleep(seconds)
        return True
    return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in waiting.poll(seconds * 1_000))


def _print_event(event: dict[str, Any]) -> None:
    out = state.output
    if out.json:
        out.raw(dumps(event) + b"\n")
    else:
        where = event["session"] or ""
        body = {name: value for name, value in event["body"].items() if name != "payload"}
        text = shorten(dumps(event["body"].get("payload") or body).decode(), 100)
        out.line(f"{event['position']:>7} {event['time'][:19]} {event['type']:<20} {shorten(where, 24):<24} {text}")


@app.command("trace")
def trace(position: Annotated[int, typer.Argument(metavar="POSITION")]) -> None:
    """What caused an event, and what came of it."""
    out = state.output
    found = state.look().trace(position)
    if out.json:
        out.document(found)
        return
    print_trace(found)


def print_trace(found: Iterable[dict[str, Any]]) -> None:
    """Events of a chain, readable."""
    out = state.output
    shown = 0
    for item in found:
        # A summary can stand for thousands of messages: the first few say what they are, --json has all.
        shown += item["relation"] == "cause" and item["type"] == "MessageRecorded"
        if shown > TRACED_MESSAGES and item["relation"] == "cause" and item["type"] == "MessageRecorded":
            continue
        mark = {"cause": "↑", "self": "●", "effect": "↓"}[item["relation"]]
        out.line(f"{mark} {item['position']:>7} {item['type']:<20} {item['why']}", "bold" if mark == "●" else "")
        if item["text"]:
            out.line(f"          {shorten(item['text'], 200)}", "dim")
    if shown > TRACED_MESSAGES:
        out.line(f"  and {shown - TRACED_MESSAGES:,} more messages (--json lists them all)", "dim")


@app.command("recall", short_help="The original message at a position, in full.")
def recall(
    position: Annotated[int, typer.Argument(metavar="POSITION")],
    around: Annotated[int, typer.Option("--around", min=0, help="Neighbours on either side.")] = 0,
) -> None:
    """The original message at a position, whatever the context shows of it."""
    out = state.output
    found = state.look().recall(position, around)
    if out.json:
        out.document(found)
        return
    for message in found:
        out.line(f"{message['position']} {message['role']} {message['id']} [{message['state']}]", "bold")
        out.line(text_of(message))


@projections_app.command("list")
def projections_list() -> None:
    """Where each projection stands."""
    out = state.output
    found = state.look().projections.list()
    if out.json:
        out.document(found)
        return
    columns = ("name", "version", "cursor", "head", "lag", "behind", "status", "error")
    rows = [[row[name] for name in columns[:5]] + [behind(row), row["status"], trouble(row)] for row in found]
    out.table(columns, rows, numbers=("version", "cursor", "head", "lag", "behind"))


@projections_app.command("rebuild")
def projections_rebuild(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every projection.")] = False,
) -> None:
    """Make projections again from the log; readers see the old ones until the swap. Interrupted, it can go on later."""
    if not names and not all_:
        raise typer.BadParameter("name a projection, or say --all")
    out = state.output
    progress = Progress()
    try:
        found = state.write().projections.rebuild(
            *(() if all_ else names or ()), progress=None if out.json else progress
        )
    except KeyboardInterrupt:
        progress.close()
        if not out.json:
            out.errors.print("Interrupted; the same command goes on where this one stopped.", style="dim")
        raise
    finally:
        progress.close()
    if out.json:
        out.document(found)
    else:
        for row in found:
            note = f"; {row['note']}" if row["note"] else ""
            out.line(f"{row['name']}: rebuilt up to {row['cursor']}, digest {row['digest'][:16]}…{note}")


@projections_app.command("retry")
def projections_retry(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Let a halted projection try again."""
    _print_rows(state.write().projections.retry(name))


REASON = typer.Option("--reason", help="Why; it stands in the event.")
NAME = typer.Argument(metavar="NAME")


@projections_app.command("skip")
def projections_skip(name: Annotated[str, NAME], reason: Annotated[str, REASON] = "") -> None:
    """Pass over the event that halted a projection; the skip is an event and verify goes on naming it."""
    _print_rows(state.write().projections.skip(name, reason))


@projections_app.command("pause")
def projections_pause(name: Annotated[str, NAME], reason: Annotated[str, REASON] = "") -> None:
    """Hold a projection where it stands; its readers are refused as soon as an event is missing."""
    _print_rows(state.write().projections.pause(name, reason))


@projections_app.command("resume")
def projections_resume(name: Annotated[str, NAME], reason: Annotated[str, REASON] = "") -> None:
    """Let a paused or retired projection go on where it stood."""
    _print_rows(state.write().projections.resume(name, reason))


@projections_app.command("retire")
def projections_retire(name: Annotated[str, NAME], reason: Annotated[str, REASON] = "") -> None:
    """Take a plug-in out of service, wherever it is loaded; its rows stay until they are dropped."""
    _print_rows(state.write().projections.retire(name, reason))


@projections_app.command("drop")
def projections_drop(name: Annotated[str, NAME], reason: Annotated[str, REASON] = "") -> None:
    """Remove the tables of a projection that the settings no longer load; the log keeps everything."""
    found = state.write().projections.drop(name, reason)
    if state.output.json:
        state.output.document(found)
    else:
        state.output.line(f"{name}: dropped; the log has everything that it was made from")


def _print_rows(row: dict[str, Any]) -> None:
    if state.output.json:
        state.output.document(row)
    else:
        said = trouble(row)
        state.output.line(f"{row['name']}: {row['status']} at {row['cursor']}" + (f": {said}" if said else ""))


@app.command("verify", short_help="Replay the log, check its chain and every projection.")
def verify() -> None:
    """Replay the log, check its chain, recompute every projection, compare file and log."""
    out = state.output
    found = state.look().verify()
    if out.json:
        out.document(found)
    else:
        for check in found["checks"]:
            out.line(f"{'ok  ' if check['ok'] else 'NO  '} {check['name']:<24} {check['detail']}",
                     "" if check["ok"] else "bold red")  # fmt: skip
        if not found["events"] and found["ok"]:
            out.line("There is no book here yet, so there is nothing to differ.", "bold")
            return
        out.line(
            f"{'All is well' if found['ok'] else 'Something differs'}: "
            f"{counted(found['events'], 'event')}, head {found['head']}",
            "bold",
        )
    if not found["ok"]:
        raise typer.Exit(1)
