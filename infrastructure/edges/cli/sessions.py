"""import, session …, init, status."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ....domain.errors import InputError, SessionError
from ...book import Minutebook, Session
from ...settings import Settings
from ...store.system import telling
from ...work.transcripts.rows import require_readable
from .app import app, session_app, state
from .export import exported_log, import_exported
from .moment import At, moment
from .output import behind, counted, shorten, trouble

SessionId = Annotated[str, typer.Argument(metavar="ID", help="Session id, or its beginning; '-' is the latest.")]


PREFIX_MIN = 4
"""Characters that the beginning of an id needs at least."""

_SUFFIXES = (".jsonl", ".json", ".traj")
"""What is read of a folder."""


def find(book: Minutebook, session: str) -> Session:
    """The session that an argument means; a mistyped id is refused, not made into a session.

    A beginning that only one id has stands for that id, as with a commit in git; an exact id always wins.
    """
    if session == "-":
        return book.find_session(book.latest_session())
    try:
        return book.find_session(session)
    except SessionError as error:
        if error.code != "unknown_session" or len(session) < PREFIX_MIN:
            raise
        begins = [str(row["session"]) for row in book.sessions() if str(row["session"]).startswith(session)]
        if not begins:
            raise
        if len(begins) > 1:
            raise SessionError(
                f"{len(begins)} session ids begin with {session!r}; give more of it: "
                f"{', '.join(sorted(begins)[:5])}{', ...' if len(begins) > 5 else ''}",
                code="unknown_session",
            ) from None
        return book.find_session(begins[0])


@app.command("init", short_help="Make the workspace folder and show every setting.")
def init() -> None:
    """Make the workspace folder and show every setting with where it came from."""
    out = state.output
    folder = Minutebook.init(state.workspace, database=state.database)
    rows = Settings.explain(state.workspace)
    if out.json:
        out.document(
            {
                "folder": str(folder),
                "settings": [{"name": name, "value": value, "origin": origin} for name, value, origin in rows],
            }
        )
        return
    out.line(f"{folder} is ready.", "bold")
    out.table(("setting", "value", "from"), [(name, "-" if value is None else value, at) for name, value, at in rows])


@app.command("import", short_help="Record a transcript as a session; again: only what is new.")
def import_(
    source: Annotated[
        str, typer.Argument(metavar="FILE/DIR/-", help="A transcript, a folder of them, an exported log, or '-'.")
    ],
    format: Annotated[str, typer.Option(help="auto, or the name of a format.")] = "auto",
    session: Annotated[str | None, typer.Option(help="Session id (default: the one in the file).")] = None,
) -> None:
    """Record a transcript as a session; the same file again adds only what is new.

    A file that holds several conversations becomes as many sessions, and is answered by a list, as a folder is.
    What 'export --log' wrote fills an empty book: all of it or nothing.
    """
    out = state.output
    log = exported_log(source, format)
    if log is not None:
        import_exported(log, session)
        return
    files = _files(source)
    for file in files:
        if isinstance(file, Path):
            require_readable(file)  # before a book is made for it
    book = state.write()
    answers: list[tuple[str, Any]] = []
    for file in files:
        name = "standard input" if isinstance(file, bytes) else file.name
        with _progress(file) as progress:
            found = book.import_transcripts(file, format=format, session=session, progress=progress)
            answers.extend((name, answer) for answer in found)
    if out.json:
        told = [answer for _, answer in answers]
        out.document(told if len(told) > 1 or (source != "-" and os.path.isdir(source)) else told[0])
        return
    for name, answer in answers:
        new, skipped = answer["messages"], len(answer["skipped"])
        out.line(f"{name}: {answer['format']}, session {answer['session']}", "bold")
        out.line(
            (f"  {counted(new, 'message')} in {counted(answer['runs'], 'run')} recorded" if new else "  nothing new")
            + (f" (the file holds {answer['total']:,})" if new != answer["total"] else "")
            + (f"; {counted(skipped, 'line is no message', 'lines are no messages')}" if skipped else "")
        )
        for item in answer["skipped"][:5]:
            out.line(f"    line {item['line']}: {item['reason']}", "dim")
        if len(answer["skipped"]) > 5:
            out.line(f"    and {len(answer['skipped']) - 5:,} more (--json lists them all)", "dim")


def _files(source: str) -> list[Path | bytes]:
    if source == "-":
        with telling("standard input cannot be read"):
            return [sys.stdin.buffer.read()]
    path = Path(source)
    with telling(f"{source!r} cannot be looked at"):
        if not path.is_dir():
            return [path]
        found = sorted(item for item in path.iterdir() if item.suffix in _SUFFIXES and item.is_file())
    if not found:
        raise InputError(f"{source!r} holds no {', '.join(_SUFFIXES)} file; name a transcript", code="bad_transcript")
    return list(found)


class _progress:
    """A bar on a terminal, silence elsewhere."""

    def __init__(self, file: Path | bytes) -> None:
        self._shown = sys.stderr.isatty() and not state.output.json
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TimeElapsedColumn(), console=state.output.errors, transient=True, disable=not self._shown,
        )  # fmt: skip
        self._task = self._bar.add_task("stdin" if isinstance(file, bytes) else shorten(file.name, 40), total=1)

    def __enter__(self) -> Any:
        self._bar.start()
        return self._advance if self._shown else None

    def _advance(self, lines: int, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=max(total, 1))

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


@session_app.command("list")
def list_() -> None:
    """All sessions, the latest first."""
    out = state.output
    sessions = state.look().sessions()
    if out.json:
        out.document(sessions)
    elif not sessions:
        out.line("No sessions yet. Try: minutebook import FILE")
    else:
        columns = ("session", "messages", "runs", "tokens", "compactions")
        out.table(columns, [[item[name] for name in columns] for item in sessions], numbers=columns[1:])


@session_app.command("show", short_help="A session, readable: who said what.")
def show(
    session: SessionId, limit: Annotated[int, typer.Option(min=0, help="Messages shown, the last ones.")] = 40
) -> None:
    """A session, readable: who said what, and what the model no longer sees."""
    out = state.output
    book = state.look()
    opened = find(book, session)
    name = opened.id
    messages = opened.messages(limit=limit)
    if out.json:
        out.document({**book.session_row(name), "shown": [message.answer() for message in messages]})
        return
    row = book.session_row(name)
    out.line(
        f"{name}: {counted(row['messages'], 'message')}, {counted(row['runs'], 'run')}, "
        f"{counted(row['tokens'], 'token')}, {counted(row['compactions'], 'compaction')}",
        "bold",
    )
    if row["messages"] > len(messages):
        out.line(f"the last {len(messages)} (--limit shows more)", "dim")
    for message in messages:
        state_ = "" if message.state == "original" else f"  [{message.state}]"
        out.line(f"{message.position:>7} {message.role:<9} {shorten(text_of(message.known), 150)}{state_}",
                 "" if message.state == "original" else "dim")  # fmt: skip


@session_app.command("messages")
def messages(
    session: SessionId,
    at: At = None,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many, the last ones.")] = None,
    before: Annotated[int | None, typer.Option(help="Only messages before this position.")] = None,
) -> None:
    """Every message as it was recorded, with its state in the context."""
    out = state.output
    book = state.look()
    found = find(book, session).messages(at=moment(at), limit=limit, before=before)
    if out.json:
        out.document([message.answer() for message in found])
        return
    if not found:
        out.line("No messages.")
    for message in found:
        out.line(f"{message.position} {message.role} {message.id} [{message.state}] {counted(message.tokens, 'token')}",
                 "bold")  # fmt: skip
        out.line(text_of(message.known))
        out.line()


def text_of(known: dict[str, Any]) -> str:
    """The readable text of a message: its text, its calls, its results."""
    content = known.get("content")
    if isinstance(content, str):
        return content
    pieces = []
    for part in content or ():
        match part:
            case {"type": "text", "text": text}:
                pieces.append(str(text))
            case {"type": "tool_call", "name": name, "arguments": arguments}:
                pieces.append(f"→ {name} {arguments}")
            case {"type": "tool_result", "text": text}:
                pieces.append(f"← {text}")
            case {"type": "reasoning", "text": text}:
                pieces.append(f"({text})")
            case {"type": kind}:
                pieces.append(f"[{kind}]")
    return "\n".join(pieces)


@session_app.command("fork")
def fork(
    session: SessionId,
    at: Annotated[
        str,
        typer.Option(metavar="MOMENT", help="Up to where history is shared: a position, a time or a turn (turn:41)."),
    ],
    to: Annotated[str | None, typer.Option("--to", help="Id of the new session.")] = None,
) -> None:
    """Begin a new session with the history of this one up to a position."""
    book = state.write()
    child = find(book, session).fork(at=moment(at), id=to)
    if state.output.json:
        state.output.document({"session": child.id})
    else:
        state.output.line(f"{child.id} begins with the history up to {at}.")


@session_app.command("close")
def close(session: SessionId) -> None:
    """Say that a session is done; memory candidates that wait are curated."""
    # Found by a look first: a book that opens with its curator would curate for a session that is not there.
    name = find(state.look(), session).id
    state.close()
    found = find(state.write(automatic=True), name)
    found.close()
    if state.output.json:
        state.output.document({"session": found.id, "status": "closed"})
    else:
        state.output.line(f"{found.id} is closed.")


@app.command("status")
def status() -> None:
    """One page: sessions, memory, projections, lag, last failures."""
    out = state.output
    found = state.look().status()
    if out.json:
        out.document(found)
        return
    memory = found["memory"]
    out.line(f"{found['workspace']}", "bold")
    out.fields(
        [
            ("log", f"{counted(found['head'], 'event')}, chain {found['chain'][:16]}…"),
            ("sessions", f"{found['sessions']:,} ({found['open_runs']} with an open run)"),
            ("messages", f"{found['messages']:,}"),
            (
                "MEMORY.md",
                f"{memory['state']}, revision {memory['revision']}, {counted(memory['entries'], 'entry', 'entries')}",
            ),
            ("waiting", f"{memory['pending']} to be curated, {memory['quarantined']} in quarantine"),
            ("set aside", ", ".join(memory["set_aside"]) or None),
            ("automatic", "on" if memory["automatic_curation"] else "off"),
            ("last error", memory["last_error"]),
            ("compaction", found["compaction_note"]),
            *(
                ("erasure", f"{row['erasure']} unfinished: {row['waits_for']['code']}: {row['waits_for']['message']}")
                for row in found["erasures"]
            ),
        ]
    )
    out.line()
    rows = [
        [row["name"], row["cursor"], row["lag"], behind(row), row["status"], trouble(row)]
        for row in found["projections"]
    ]
    out.table(("projection", "cursor", "lag", "behind", "status", "error"), rows, numbers=("cursor", "lag", "behind"))
