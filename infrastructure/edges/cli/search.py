"""search: what was said and is remembered about something, with where it stands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import app, state
from .output import counted, shorten
from .sessions import find


@app.command("search", short_help="Find messages, claims of evidence and entries of memory.")
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, and phrases in double quotes.")],
    kind: Annotated[
        str | None, typer.Option("--in", help="entries, evidence, messages, or several: entries/messages.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Hits at most.")] = 10,
    session: Annotated[
        str | None, typer.Option("--session", help="Only this session and what it was forked from; '-' is the latest.")
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="Only messages of this role.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Only what came of this run.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only from this time on (ISO 8601).")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only before this time (ISO 8601).")] = None,
    at: Annotated[int | None, typer.Option("--at", min=0, help="What there was at this position.")] = None,
    around: Annotated[int, typer.Option("--around", min=0, max=20, help="Neighbours shown with each message.")] = 0,
) -> None:
    """Find messages, claims of evidence and entries of memory, by words; the best first, each with its source."""
    out = state.output
    book = state.look()
    name = None if session is None else find(book, session).id
    found = book.search(
        query, kind=kind, limit=limit, session=name, role=role, run=run, since=since, until=until, at=at, around=around
    )
    if out.json:
        out.document(found)
        return
    for hit in found:
        _print(hit)
    if not found:
        out.line("Nothing was found.", "dim")
    elif any(hit["kind"] == "messages" for hit in found):
        out.line(f"{counted(len(found), 'hit')}. 'minutebook recall POSITION' shows a message in full.", "dim")


def _print(hit: dict[str, Any]) -> None:
    out = state.output
    who = hit["role"] or ("evidence" if hit["kind"] == "evidence" else "memory")
    out.line(f"{hit['position']} {who} {hit['id']} [{hit['session'] or '-'}] {hit['score']:.2f}", "bold")
    for near in hit.get("before", ()):
        out.line(f"    {near['position']} {near['role']}: {shorten(near['text'], 100)}", "dim")
    out.line(f"  {shorten(hit['passage'], 300)}")
    for near in hit.get("after", ()):
        out.line(f"    {near['position']} {near['role']}: {shorten(near['text'], 100)}", "dim")
