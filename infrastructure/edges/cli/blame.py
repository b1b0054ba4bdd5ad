"""blame and diff: why a context is what it is, and what changed in it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Any

import typer

from ....domain.errors import InputError
from .app import app, state
from .audit import print_trace
from .moment import At, moment
from .output import shorten
from .sessions import SessionId, find


@app.command("blame", short_help="Why each line is in the context, or is not.")
def blame(
    session: SessionId,
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="Only this one: a position, or the id of a message or compaction."),
    ] = None,
    at: At = None,
) -> None:
    """Why each line is in the context, and why each other message is not; of one, the events behind it."""
    out = state.output
    found = find(state.look(), session).blame(_named(message), at=moment(at))
    if out.json:
        out.document(found)
        return
    out.line(f"{found['session']} at {found['position']}", "bold")
    for part in found["preamble"]:
        out.line(f"{'':>7} {part['part']:<9} {part['why']}{_events(part['because'])}")
    rows = sorted([*found["lines"], *found["hidden"]], key=lambda row: (row["position"], row["state"] != "summary"))
    for hidden, group in groupby(rows, key=lambda row: row.get("compaction")):
        if hidden is not None and message is None:
            _print_hidden(list(group))
            continue
        for row in group:
            out.line(
                f"{row['position']:>7} {row['role'] or '':<9} [{row['state']}] {row['why']}{_events(row['because'])}"
            )
            if row.get("text"):
                out.line(f"{'':>7} {shorten(row['text'], 120)}", "dim")
    if message is not None:
        out.line()
        print_trace(found["chain"])


def _named(message: str | None) -> int | str | None:
    return int(message) if message is not None and message.isascii() and message.isdigit() else message


def _print_hidden(rows: list[dict[str, Any]]) -> None:
    """Neighbours under one summary are told in one line: there can be thousands."""
    first, last = rows[0], rows[-1]
    places = f"{first['position']}" if len(rows) == 1 else f"{first['position']} to {last['position']}"
    count = "1 message" if len(rows) == 1 else f"{len(rows):,} messages"
    state.output.line(f"{'':>7} {count} at {places} not shown: {first['why']}", "dim")


def _events(positions: Iterable[int]) -> str:
    named = ", ".join(map(str, positions))
    return f" (event{'s' if ',' in named else ''} {named})" if named else ""


@app.command("diff")
def diff(
    context: Annotated[
        tuple[str, str] | None,
        typer.Option("--context", metavar="N M", help="Two positions of the log, times or turns (turn:41)."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Session id (default: that of the event at M, else the latest).")
    ] = None,
) -> None:
    """What changed in a context between two moments, and why."""
    if context is None:
        raise typer.BadParameter("say what to compare: --context N M ('minutebook memory diff' compares revisions)")
    out = state.output
    a, b = moment(context[0]), moment(context[1])
    book = state.look()
    if session is None:
        session = "-"
        if isinstance(b, int):
            session = next((event["session"] for event in book.log(after=b - 1, limit=1) if event["session"]), "-")
    elif not session:
        raise InputError("a session has a name; leave --session out for the latest", code="bad_option")
    found = find(book, session).diff(a, b)
    if out.json:
        out.document(found)
        return
    old, new = found["from"], found["to"]
    out.line(f"{found['session']} from {old['position']} to {new['position']}", "bold")
    out.line(
        f"{old['messages']:,} to {new['messages']:,} messages, {old['tokens']:,} to {new['tokens']:,} tokens, "
        f"memory revision {_revision(old)} to {_revision(new)}"
    )
    for part in found["preamble"]:
        out.line(f"~ {'':>7} {part} is another")
    marked = [
        (mark, row) for mark, kind in zip("-~+", ("removed", "changed", "added"), strict=True) for row in found[kind]
    ]
    for mark, row in sorted(marked, key=lambda each: each[1]["position"]):
        was = f"{row['was']} to " if "was" in row and row["was"] != row["state"] else ""
        out.line(f"{mark} {row['position']:>7} {row['role']:<9} [{was}{row['state']}] {row['why']}")
        if row["text"]:
            out.line(f"{'':>9} {shorten(row['text'], 120)}", "dim")
    if not marked and not found["preamble"]:
        out.line("Nothing changed.")


def _revision(side: dict[str, Any]) -> str:
    return "none" if side["memory_revision"] is None else str(side["memory_revision"])
