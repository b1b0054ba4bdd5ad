"""export, and what import does with an exported log."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from ....domain.errors import InputError
from ...store.export import BEGINNING, FORMAT
from ...store.keeping import appearing
from ...work.exporting import is_export
from ...work.telling import FORMS, MEMORY_FORMS
from .app import app, state


@app.command("export")
def export(
    session: Annotated[str | None, typer.Argument(metavar="SESSION", help="A session; '-' is the latest.")] = None,
    log: Annotated[bool, typer.Option("--log", help="The whole log: every event, with the chain.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="The entries of the current revision.")] = False,
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            help=f"Of a session: {', '.join(FORMS)}. Of memory: {', '.join(MEMORY_FORMS)}. The first when not said.",
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", readable=False, help="A file, complete or not there (default: stdout).")
    ] = None,
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="Also where other workspaces share the database, and so the log.")
    ] = False,
) -> None:
    """Write a session, memory, or the whole log.

    A session goes out as one JSON value a line, each message as it was recorded (import takes that in again), or as
    Markdown. The log is JSON Lines with its chain, for another database or 'python -m minutebook.verify'.
    """
    if [session is not None, log, memory].count(True) != 1:
        raise typer.BadParameter("say what to export, and one thing: SESSION, --memory or --log")
    if log and form is not None:
        raise typer.BadParameter("--as goes with a session or with --memory")
    if log:
        _log(to, all_workspaces)
        return
    book = state.look()
    if session is not None:
        from .sessions import find

        lines = find(book, session).export(form or FORMS[0])
    else:
        lines = iter([book.memory.export(form or MEMORY_FORMS[0])])
    if to is None:
        sys.stdout.flush()
        sink = getattr(sys.stdout, "buffer", None) or _Characters()
        sink.writelines(lines)
        sink.flush()
        return
    with appearing(to) as waiting, waiting.open("wb") as file:
        file.writelines(lines)
        size = file.tell()
    if state.output.json:
        state.output.document({"file": str(to), "bytes": size})
    else:
        state.output.line(f"{to}: {size:,} bytes")


def _log(to: Path | None, all_workspaces: bool) -> None:
    out = state.output
    book = state.look()
    if to is None:
        sys.stdout.flush()
        sink = getattr(sys.stdout, "buffer", None) or _Characters()
        book.export_log(sink, all_workspaces=all_workspaces)
        sink.flush()
        return
    done = book.export_log(to, all_workspaces=all_workspaces)
    if out.json:
        out.document(done)
    else:
        out.line(f"{done['file']}: {_told(done)}")


class _Characters:
    """Standard output that somebody has replaced by one of characters."""

    def write(self, data: bytes) -> object:
        return sys.stdout.write(data.decode())

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        sys.stdout.flush()


def _told(done: dict[str, Any]) -> str:
    return f"{done['events']:,} events, head {done['head']}, chain {done['chain']}"


def exported_log(source: str, format: str) -> Path | Any | None:
    """The exported log that an argument of import means: a path, or standard input; None: it means something else."""
    if source == "-":
        # A look ahead takes nothing away from who reads then.
        begins = sys.stdin.buffer.peek(len(BEGINNING)) if hasattr(sys.stdin.buffer, "peek") else b""
        return sys.stdin.buffer if format == FORMAT or (format == "auto" and begins.startswith(BEGINNING)) else None
    path = Path(source)
    return path if format == FORMAT or (format == "auto" and is_export(path)) else None


def import_exported(source: Path | Any, session: str | None) -> None:
    """Fills the empty book of the workspace with an exported log."""
    if session is not None:
        raise InputError(
            "an exported log holds its sessions under their own ids; leave --session out", code="bad_option"
        )
    out = state.output
    book = state.write()
    done = book.import_log(source)
    if out.json:
        out.document(done)
        return
    name = source.name if isinstance(source, Path) else "standard input"
    out.line(f"{name}: {done['format']}, {_told(done)}", "bold")
    out.line(f"  {done['messages']:,} messages in {done['runs']:,} runs; MEMORY.md: {done['memory_file']}")
    mine = book.settings.workspace_id
    if done["workspaces"] and mine not in done["workspaces"]:
        out.line(
            f"  It is of workspace {', '.join(done['workspaces'])} and this one is {mine}: set workspace_id to see it.",
            "bold",
        )
