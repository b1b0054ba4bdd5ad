"""Logs of any size with a realistic mix: a book is written once through the public object, from real transcripts.

The book's events are then written again and again, each time into another workspace and further on in the log, with
every stream, position and digest as the engine would have made them. Such a log is as legal as the book that it
comes from: ``verify`` and every projection take it, and a million events cost a minute and not an hour.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import orjson

from minutebook import Minutebook, Settings
from minutebook.domain.chain import columns_digest, next_chain
from minutebook.infrastructure.store import load
from minutebook.infrastructure.store.log import Log

ROOT = Path(__file__).resolve().parents[2]
_SPACE = UUID("7d1c6a52-1b1e-4f0c-9a5b-3f0e9c3a1a77")
_POSITIONS = frozenset({"anchor", "upto", "seen", "position", "parent_position", "first_position", "last_position"})
"""Facts that name a position of the log."""

Row = tuple[Any, ...]


def template() -> list[Row]:
    """The rows of a book in which agents worked: real sessions, compacted; runs, memory, revisions, a fork, an undo."""
    with tempfile.TemporaryDirectory(prefix="minutebook-template-") as folder:
        named = os.environ.pop("MINUTEBOOK_DATABASE", None)
        try:
            book = Minutebook.open(folder, settings=Settings(context_window=32_000), automatic=False)
        finally:
            if named is not None:
                os.environ["MINUTEBOOK_DATABASE"] = named
        with book:
            _write(book)
            with book._runtime.log.database.reading() as connection:
                return [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM events ORDER BY position")]


def _write(book: Minutebook) -> None:
    imported = book.import_transcript(ROOT / "docs" / "demo" / "session.jsonl")
    book.session(imported.session).compact()
    material = _material(book, imported.session)
    session = book.session("work")
    for number, start in enumerate(range(0, len(material), 8)):
        with session.run() as run:
            for at, message in enumerate(material[start : start + 8]):
                run.append(message, id=f"m{start + at}")
            run.context(system="You mend builds.")
            if number % 4 == 0:
                run.memory({"operation": "add", "text": f"The part of the build numbered {number} needs its own rule."})
        if number % 12 == 11:
            book.curate()
    fork = session.fork(id="fork")
    with fork.run() as run:
        run.append({"role": "user", "content": "And on the fork?"})
    try:
        with session.run() as run:
            run.append({"role": "user", "content": "This one fails."})
            run.memory({"operation": "add", "text": "A run that failed wanted this to be kept."})
            raise RuntimeError("the tests fail")
    except RuntimeError:
        pass
    for said in ("Remember that releases are cut on Thursdays.", "Forget that releases are cut on Thursdays."):
        with session.run() as run:
            run.append({"role": "user", "content": said})
        book.curate()
    done = [row["compaction"] for row in session.compactions() if row["status"] == "committed"]
    if done:
        book.undo_compaction(done[-1])
        book.redo_compaction(done[-1])


def _material(book: Minutebook, session: str) -> list[dict[str, Any]]:
    """The messages of a real session as an agent would append them."""
    return [
        {"role": row["role"], "content": row["content"] or "-"}
        for row in (message.answer() for message in book.session(session).messages())
        if row["role"] in ("user", "assistant")
    ]


# --- the same again, further on


def grow(log: Log, rows: list[Row], events: int) -> int:
    """Appends copies of the rows until the log has so many events; returns how many it has.

    The rows go in as those of an import do (``store.load``): in pages, past the checks of an append.
    """
    database = log.database
    insert = load._insert_sqlite if database.sqlite else load._insert_postgres
    head = log.head()
    position, chain, number = head.position, head.chain, -(-head.position // len(rows))
    while position < events:
        page = []
        for row in copies(rows[: events - position], number, position):
            columns: Any = (*row[1:13], row[15])
            digest = columns_digest(*columns)
            chain = next_chain(chain, row[0], digest)
            page.append(_stored((*row[:16], chain), database.sqlite))
        with database.writer() as writer:
            connection: Any = writer.connection.driver_connection
            connection.execute("BEGIN IMMEDIATE" if database.sqlite else "BEGIN")
            insert(connection, page)
            connection.execute("COMMIT")
        position, number = position + len(page), number + 1
    return position


def copies(rows: list[Row], number: int, after: int) -> Iterator[Row]:
    """The rows as they would stand after a position, in a workspace of their own; without their link of the chain."""
    workspace = f"w{number}"
    for row in rows:
        facts = orjson.loads(row[12])
        _shift(facts, after)
        cause = None if row[10] is None else row[10] + after
        stream = uuid5(_SPACE, f"{number}:{row[1].hex()}").bytes
        yield (
            row[0] + after, stream, *row[2:5], workspace, *row[6:10], cause, row[11],
            orjson.dumps(facts), row[13], row[14], row[15], None,
        )  # fmt: skip


def _shift(value: Any, by: int) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            if name in _POSITIONS and type(each) is int:
                value[name] = each + by
            else:
                _shift(each, by)
    elif isinstance(value, list):
        for each in value:
            _shift(each, by)


def _stored(row: Row, sqlite: bool) -> Row:
    if sqlite:
        return (*row[:12], row[12].decode(), *row[13:])
    payload = row[13]
    return (row[0], UUID(bytes=row[1]), *row[2:13], None if payload is None else payload.encode(), *row[14:])
