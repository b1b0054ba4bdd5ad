"""context, compact, compactions, compaction undo and redo."""

from __future__ import annotations

from typing import Annotated

import typer

from ....domain.errors import InputError
from .app import app, compaction_app, state
from .moment import At, moment
from .output import counted, shorten
from .sessions import SessionId, find, text_of

Window = Annotated[int | None, typer.Option("--window", min=1, help="Tokens of the window (default: the setting).")]

Fork = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="A fork that shares it (default: where it was made).")
]


@app.command("context")
def context(
    session: SessionId,
    at: At = None,
    window: Window = None,
    as_: Annotated[str, typer.Option("--as", help="neutral, openai, openai-responses or anthropic.")] = "neutral",
) -> None:
    """What a model would see now, or saw at a moment of the past."""
    out = state.output
    if as_ not in ("neutral", "openai", "openai-responses", "anthropic"):
        raise InputError(f"--as takes neutral, openai, openai-responses or anthropic, not {as_!r}", code="bad_renderer")
    book = state.look()
    found = find(book, session).context(at=moment(at), window=window)
    if as_ == "openai":
        out.document(found.to_openai())
    elif as_ == "openai-responses":
        out.document(found.to_openai_responses())
    elif as_ == "anthropic":
        out.document(found.to_anthropic())
    elif out.json:
        out.document(found.answer())
    else:
        revision = "none" if found.memory_revision is None else str(found.memory_revision)
        out.line(
            f"{found.session} at {found.position}: {counted(len(found.messages), 'message')}, "
            f"{counted(found.tokens, 'token')}, "
            f"memory revision {revision}, {found.policy}",
            "bold",
        )
        if found.system:
            out.line(shorten(found.system, 300), "dim")
        for message in found.messages:
            note = "" if message["state"] == "original" else f"  [{message['state']}]"
            out.line(f"{message['position'] or '':>7} {message['role']:<9} {shorten(text_of(message), 150)}{note}")
        if found.note:
            out.line(found.note, "dim")
        out.line(f"digest {found.digest}" + (", proved by a recorded request" if found.proved else ""), "dim")


@app.command("compact")
def compact(
    session: SessionId,
    window: Window = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be hidden; call no model.")] = False,
    from_originals: Annotated[
        bool, typer.Option("--from-originals", help="Summarise anew what is summarised already, from its originals.")
    ] = False,
) -> None:
    """Summarise the middle of a session now; the originals stay."""
    book = state.look() if dry_run else state.write()
    _print(find(book, session).compact(dry_run=dry_run, window=window, from_originals=from_originals), dry_run=dry_run)


@compaction_app.command("undo")
def undo(
    compaction: Annotated[str, typer.Argument(metavar="COMPACTION", help="Id of the live compaction.")],
    session: Fork = None,
) -> None:
    """Show the originals again; automatic compaction of the session rests until redo or an explicit compact."""
    book = state.write()
    _print(book.undo_compaction(compaction, None if session is None else find(book, session).id))


@compaction_app.command("redo")
def redo(
    compaction: Annotated[str, typer.Argument(metavar="COMPACTION", help="Id of the last undone compaction.")],
    session: Fork = None,
) -> None:
    """Take the last undo back."""
    book = state.write()
    _print(book.redo_compaction(compaction, None if session is None else find(book, session).id))


def _print(answer: dict[str, object], *, dry_run: bool = False) -> None:
    out = state.output
    if out.json:
        out.document(answer)
    else:
        hidden = answer["hidden"]
        assert isinstance(hidden, list)
        verb = "would hide" if dry_run else "hides"
        out.line(f"{answer['status']}" + (f": {answer['reason']}" if answer["reason"] else ""), "bold")
        if answer["compaction"] or hidden:
            named = f"compaction {answer['compaction']}" if answer["compaction"] else "it"
            out.line(f"{named} {verb} {counted(len(hidden), 'message')}")
        most = "at most " if dry_run and hidden else ""
        out.line(f"{answer['tokens_before']:,} tokens before, {most}{answer['tokens_after']:,} after")
    if answer["status"] in ("rejected", "failed"):
        raise typer.Exit(1)


@app.command("compactions", short_help="Every compaction of a session, refused ones too.")
def compactions(session: SessionId) -> None:
    """Every compaction of a session, also those that were refused, failed or undone."""
    out = state.output
    book = state.look()
    found = find(book, session).compactions()
    if out.json:
        out.document(found)
        return
    if not found:
        out.line("No compactions.")
        return
    columns = ("compaction", "position", "status", "hidden", "tokens_before", "tokens_after", "reason")
    rows = [[len(item["hidden"]) if name == "hidden" else item.get(name) for name in columns] for item in found]
    out.table(columns, rows, numbers=("position", "hidden", "tokens_before", "tokens_after"))
