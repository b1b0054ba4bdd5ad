"""The append-only log: gapless positions in commit order, conditional appends, a hash chain (S2, M3, M4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from ...domain.chain import envelope_digest, next_chain
from ...domain.errors import StreamConflict
from ...domain.events import Envelope, Event, LoggedEvent
from .database import Database, guard
from .mapper import EnvelopedEvent, MinutebookMapper, OrjsonTranscoder
from .schema import prepare

Expectation = tuple[UUID, int]
"""A stream and the version that it must have for the append to go through."""

_COLUMNS = (
    "position, stream, version, topic, schema, workspace, session, run, actor, trust, causation, time, "
    "{facts}, {payload}, salt, body_digest, chain"
)
_SQLITE_COLUMNS = _COLUMNS.format(facts="CAST(facts AS BLOB)", payload="CAST(payload AS BLOB)")
_POSTGRES_COLUMNS = _COLUMNS.format(facts="facts", payload="payload")
_INSERT = f"INSERT INTO events VALUES ({', '.join('?' * 17)})"  # noqa: S608 - placeholders only
PAGE = 2_000
"""Events read at a time: enough to make a page cheap, few enough to keep memory flat."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: last position (0: empty) and the chain there. Print it: it anchors the log from outside."""

    position: int
    chain: bytes


class Log:
    """Append and read. One per book; safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        prepare(database)
        self.mapper = MinutebookMapper(OrjsonTranscoder())
        self._columns = _SQLITE_COLUMNS if database.sqlite else _POSTGRES_COLUMNS
        self._listeners: list[Callable[[int], None]] = []

    # --- append

    def append(
        self,
        events: Sequence[Event],
        *,
        expects: Sequence[Expectation] = (),
        within: Callable[[Connection, list[int]], None] | None = None,
    ) -> list[int]:
        """Appends all events or none, in one transaction with one fsync, and returns their positions.

        ``expects`` names streams that must still have the given version. ``within`` runs in the same
        transaction, after the events, with a connection and their positions (for the cursor of the memory file, D5).
        Raises StreamConflict when a stream moved on, StoreError when the database refuses; then nothing is kept.
        """
        stored = [self.mapper.to_stored_event(event) for event in events]
        if self.database.sqlite:
            positions = self._append_sqlite(stored, expects, within)
        else:
            from .postgres import append_postgres

            positions = append_postgres(self.database, stored, expects, within)
        for listener in self._listeners:
            listener(positions[-1] if positions else 0)
        return positions

    def _append_sqlite(
        self,
        stored: Sequence[Any],
        expects: Sequence[Expectation],
        within: Callable[[Connection, list[int]], None] | None,
    ) -> list[int]:
        with self.database.writer() as writer:
            # The append runs on the driver's connection: Core statements cost 2.8 times as much (measured).
            connection: Any = writer.connection.driver_connection
            execute = connection.execute
            execute("BEGIN IMMEDIATE")
            try:
                for stream, version in expects:
                    found = execute("SELECT max(version) FROM events WHERE stream = ?", (stream.bytes,)).fetchone()[0]
                    if (found or 0) != version:
                        raise conflict(stream, version, found or 0)
                position, chain = execute("SELECT last_id, chain_hash FROM log_head WHERE k = 1").fetchone()
                rows = []
                for event in stored:
                    position += 1
                    chain = next_chain(chain, position, digest_of(event))
                    rows.append(sqlite_row(position, event, chain))
                if len(rows) == 1:
                    execute(_INSERT, rows[0])
                else:
                    connection.executemany(_INSERT, rows)
                positions = [row[0] for row in rows]
                if within is not None:
                    within(writer, positions)
                execute("COMMIT")
            except BaseException as error:
                # SQLite has already rolled back when the disk is full; a second ROLLBACK would hide the reason.
                if connection.in_transaction:
                    execute("ROLLBACK")
                if isinstance(error, sqlite3.IntegrityError) and "events.stream" in str(error):
                    raise StreamConflict("another writer was first in this stream; read it again and retry") from error
                if isinstance(error, sqlite3.IntegrityError) and "must follow the head" in str(error):
                    raise StreamConflict("another writer was first in this stream; read it again and retry") from error
                raise
            return positions

    def on_append(self, listener: Callable[[int], None]) -> None:
        """Calls ``listener`` with the last position after each append of this process: a hint, never the truth."""
        self._listeners.append(listener)

    # --- read

    def head(self, connection: Connection | None = None) -> Head:
        statement = "SELECT last_id, chain_hash FROM log_head WHERE k = 1"
        if connection is not None:
            row = connection.exec_driver_sql(statement).one()
        else:
            with self.database.reading() as reading:
                row = reading.exec_driver_sql(statement).one()
        return Head(row[0], bytes(row[1]))

    def version(self, stream: UUID) -> int:
        """The version of a stream: 0 when it has no event."""
        with self.database.reading() as connection:
            return self._one(connection, "SELECT max(version) FROM events WHERE stream = ?", (self._key(stream),)) or 0

    def stream(self, stream: UUID, *, after: int = 0, newest_first: bool = False, limit: int = -1) -> list[LoggedEvent]:
        """Events of one stream after a version, oldest or newest first."""
        order = "DESC" if newest_first else "ASC"
        tail = f"WHERE stream = ? AND version > ? ORDER BY version {order}"
        arguments: tuple[Any, ...] = (self._key(stream), after)
        if limit >= 0:
            tail, arguments = tail + " LIMIT ?", (*arguments, limit)
        with self.database.reading() as connection:
            return self._rows(connection, tail, arguments)

    def last(self, stream: UUID) -> LoggedEvent | None:
        """The newest event of a stream."""
        found = self.stream(stream, newest_first=True, limit=1)
        return found[0] if found else None

    def at(self, positions: Iterable[int], connection: Connection | None = None) -> dict[int, LoggedEvent]:
        """Events at the given positions."""
        wanted = sorted(set(positions))
        if connection is None:
            with self.database.reading() as reading:
                return self.at(wanted, reading)
        found: dict[int, LoggedEvent] = {}
        for start in range(0, len(wanted), 500):
            part = tuple(wanted[start : start + 500])
            tail = f"WHERE position IN ({', '.join('?' * len(part))})"
            found.update((event.position, event) for event in self._rows(connection, tail, part))
        return found

    def page(
        self,
        connection: Connection,
        *,
        after: int = 0,
        before: int | None = None,
        topics: Sequence[str] = (),
        session: str | None = None,
        run: str | None = None,
        stream: UUID | None = None,
        workspace: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = PAGE,
    ) -> list[LoggedEvent]:
        """At most ``limit`` events with ``after < position < before`` that match every given filter, in order."""
        where, arguments = ["position > ?"], [after]  # type: tuple[list[str], list[Any]]
        for clause, value in (
            ("position < ?", before),
            ("session = ?", session),
            ("run = ?", run),
            ("stream = ?", None if stream is None else self._key(stream)),
            ("workspace = ?", workspace),
            ("time >= ?", since),
            ("time < ?", until),
        ):
            if value is not None:
                where.append(clause)
                arguments.append(value)
        if topics:
            where.append(f"topic IN ({', '.join('?' * len(topics))})")
            arguments.extend(topics)
        tail = f"WHERE {' AND '.join(where)} ORDER BY position LIMIT ?"
        return self._rows(connection, tail, (*arguments, limit))

    def read(self, *, after: int = 0, limit: int | None = None, **filters: Any) -> Iterator[LoggedEvent]:
        """Iterates events in order, page by page, with the filters of ``page``; each page is its own snapshot."""
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            with self.database.reading() as connection:
                events = self.page(connection, after=after, limit=size, **filters)
            yield from events
            if len(events) < size:
                return
            after = events[-1].position
            left = None if left is None else left - len(events)

    # --- rows

    def _rows(self, connection: Connection, tail: str, arguments: tuple[Any, ...]) -> list[LoggedEvent]:
        statement = f"SELECT {self._columns} FROM events {tail}"  # noqa: S608 - columns and clauses are constants
        with guard():
            cursor: Any = connection.connection.cursor()
            try:
                cursor.execute(statement if self.database.sqlite else statement.replace("?", "%s"), arguments)
                return [logged(row) for row in cursor]
            finally:
                cursor.close()

    def _one(self, connection: Connection, statement: str, arguments: tuple[Any, ...]) -> Any:
        if not self.database.sqlite:
            statement = statement.replace("?", "%s")
        return connection.exec_driver_sql(statement, arguments).scalar()

    def _key(self, stream: UUID) -> Any:
        return stream.bytes if self.database.sqlite else stream


def digest_of(event: Any) -> bytes:
    """The envelope digest of a stored event, ours or (facts only) one of another application of the library."""
    if isinstance(event, EnvelopedEvent):
        return envelope_digest(event.envelope, event.topic, event.schema, event.time, event.state, event.body_digest)
    return envelope_digest(_foreign(event), event.topic, 0, "", event.state, None)


def _foreign(event: Any) -> Envelope:
    return Envelope(event.originator_id, event.originator_version, "", _NEVER, "", None, None, "external", None)


_NEVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def sqlite_row(position: int, event: Any, chain: bytes) -> tuple[Any, ...]:
    if not isinstance(event, EnvelopedEvent):
        head = (position, event.originator_id.bytes, event.originator_version, event.topic)
        return (*head, *(None,) * 8, event.state, None, None, None, chain)
    envelope = event.envelope
    return (
        position,
        envelope.stream.bytes,
        envelope.version,
        event.topic,
        event.schema,
        envelope.workspace,
        envelope.session,
        envelope.run,
        envelope.actor,
        envelope.trust,
        envelope.causation,
        event.time,
        event.state.decode(),
        None if event.payload is None else event.payload.decode(),
        event.salt,
        event.body_digest,
        chain,
    )


def logged(row: Any) -> LoggedEvent:
    """A row of the log as an event; rows of other applications have an empty envelope and no version."""
    (position, stream, version, topic, schema, workspace, session, run, actor, trust, cause, time, facts, payload,
     salt, digest, chain) = row  # fmt: skip
    return LoggedEvent(
        position,
        topic,
        schema or 0,
        Envelope(
            UUID(bytes=stream) if isinstance(stream, bytes) else stream,
            version,
            workspace or "",
            datetime.fromisoformat(time) if time else _NEVER,
            actor or "",
            session,
            run,
            trust or "external",
            cause,
        ),
        bytes(facts),
        None if payload is None else bytes(payload),
        None if digest is None else bytes(digest),
        bytes(chain),
        None if salt is None else bytes(salt),
    )


def conflict(stream: UUID, wanted: int, found: int) -> StreamConflict:
    return StreamConflict(
        f"stream {stream} is at version {found}, not {wanted}: another writer was first; read it again and retry",
        stream=str(stream),
        wanted=wanted,
        found=found,
    )
