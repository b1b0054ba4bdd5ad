"""The append-only log: gapless positions in commit order, conditional appends, a hash chain (S2, M3, M4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection

from ...domain.chain import next_chain
from ...domain.events import Event, LoggedEvent
from ...projections.prepared import raw
from .database import Database
from .erasure import erase_in, in_the_way, scrub, wipe
from .failpoints import failpoint
from .faults import guard
from .mapper import MinutebookMapper, OrjsonTranscoder
from .rows import (
    POSTGRES_COLUMNS,
    POSTGRES_FACTS,
    SQLITE_COLUMNS,
    SQLITE_FACTS,
    conflict,
    digest_of,
    facts_only,
    logged,
    overtaken,
    sqlite_row,
)
from .schema import prepare

T = TypeVar("T")

Expectation = tuple[UUID, int]
"""A stream and the version that it must have for the append to go through."""

Within = Callable[[Connection, list[int]], None]
"""What else belongs into the transaction of an append: called with its connection and the new positions."""

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
        self._columns = SQLITE_COLUMNS if database.sqlite else POSTGRES_COLUMNS
        self._facts = SQLITE_FACTS if database.sqlite else POSTGRES_FACTS
        self._listeners: list[Callable[[int], None]] = []

    # --- append

    def append(
        self,
        events: Sequence[Event],
        *,
        expects: Sequence[Expectation] = (),
        within: Within | None = None,
    ) -> list[int]:
        """Appends all events or none, in one transaction with one fsync, and returns their positions.

        ``expects`` names streams that must still have the given version. ``within`` runs in the same
        transaction, after the events, with a connection and their positions (for the cursor of the memory file, D5).
        Raises StreamConflict when a stream moved on, StoreError when the database refuses; then nothing is kept.
        """
        return self.append_stored([self.mapper.to_stored_event(event) for event in events], expects, within)

    def append_stored(
        self,
        stored: Sequence[StoredEvent],
        expects: Sequence[Expectation] = (),
        within: Within | None = None,
    ) -> list[int]:
        """``append`` of events that are already in stored form, for the recorders of the library."""
        failpoint("append.begin")
        if self.database.sqlite:
            positions = self._append_sqlite(stored, expects, within)
        else:
            from .postgres import append_postgres

            positions = append_postgres(self.database, stored, expects, within)
        failpoint("append.committed")
        for listener in tuple(self._listeners):
            listener(positions[-1] if positions else 0)
        return positions

    def _append_sqlite(
        self,
        stored: Sequence[StoredEvent],
        expects: Sequence[Expectation],
        within: Within | None,
    ) -> list[int]:
        with self.database.writer() as writer:
            # The append runs on the driver's connection: Core statements cost 2.8 times as much (measured).
            connection: Any = writer.connection.driver_connection
            execute = connection.execute
            execute("BEGIN IMMEDIATE")
            try:
                failpoint("append.begun")
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
                failpoint("append.inserted")
                if within is not None:
                    within(writer, positions)
                failpoint("append.commit")
                execute("COMMIT")
            except BaseException as error:
                # SQLite has already rolled back when the disk is full; a second ROLLBACK would hide the reason.
                if connection.in_transaction:
                    execute("ROLLBACK")
                # Under BEGIN IMMEDIATE the position always follows the head: the guard can only mean the stream.
                if isinstance(error, sqlite3.IntegrityError) and "must follow the head" in str(error):
                    raise overtaken() from error
                raise
            return positions

    # --- erasure

    def scrub(self) -> bool:
        """Truncates SQLite's write-ahead log, where erased bytes linger; false while a reader holds it: call again.

        On PostgreSQL it vacuums the table; the server's own WAL and backups are outside of what we can promise.
        """
        with self.database.writer() as writer:
            return scrub(self.database, writer)

    def erasing(self, positions: Iterable[int]) -> Within:
        """For ``append(within=...)``: erases these payloads in the transaction of the event that says so (E8).

        All or none; the chain stays whole, and what is gone already stays gone. The event must be one of those that
        ``verify_log`` takes for an erasure. ``scrub`` then: only when that went through is a receipt true.
        """
        named = sorted(set(positions))

        def within(connection: Connection, appended: list[int]) -> None:
            erase_in(self.database, connection, named, appended[0])

        return within

    def wipe(self, tables: Sequence[str], *, patient: bool = True) -> str | None:
        """Clears pages, write-ahead log and dead rows of what was erased; returns what stands in the way, else None."""
        with self.database.writer() as writer:
            return wipe(self.database, writer, tables, patient=patient)

    def in_the_way(self) -> str | None:
        """What keeps ``wipe`` from its end just now, at a look; None: nothing does."""
        with self.database.writer() as writer:
            return in_the_way(self.database, writer)

    def erased_by(self, positions: Iterable[int]) -> dict[int, int]:
        """The positions that were erased, each with that of the event that did it."""
        wanted, found = sorted(set(positions)), {}
        with self.database.reading() as connection:
            for start in range(0, len(wanted), 500):
                part = tuple(wanted[start : start + 500])
                marks = ", ".join("?" * len(part))
                statement = f"SELECT position, by_position FROM erased WHERE position IN ({marks})"  # noqa: S608
                if not self.database.sqlite:
                    statement = statement.replace("?", "%s")
                found.update({row[0]: row[1] for row in connection.exec_driver_sql(statement, part)})
        return found

    def newest_of(self, *topics: str, connection: Connection | None = None) -> int:
        """The position of the newest event of rare topics, of whatever workspace; 0 when there is none."""
        if connection is None:
            with self.database.reading() as reading:
                return self.newest_of(*topics, connection=reading)
        marks = ", ".join("?" * len(topics))
        statement = f"SELECT max(position) FROM events WHERE topic IN ({marks})"  # noqa: S608 - placeholders only
        return self._one(connection, statement, topics) or 0

    def on_append(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """Calls ``listener`` with the last position after each append of this process: a hint, never the truth.

        Returns what takes the listener away again.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- read

    def head(self, connection: Connection | None = None) -> Head:
        statement = "SELECT last_id, chain_hash FROM log_head WHERE k = 1"
        if connection is not None:
            position, chain = raw(
                connection, statement
            ).fetchone()  # on the driver: every read of every projection asks
        else:
            position, chain = self._reading(lambda reading: reading.exec_driver_sql(statement).one())
        return Head(position, bytes(chain))

    def version(self, stream: UUID) -> int:
        """The version of a stream: 0 when it has no event."""
        query = "SELECT max(version) FROM events WHERE stream = ?"
        return self._reading(lambda connection: self._one(connection, query, (self._key(stream),))) or 0

    def stream(
        self,
        stream: UUID,
        *,
        after: int = 0,
        upto: int | None = None,
        newest_first: bool = False,
        limit: int = -1,
    ) -> list[LoggedEvent]:
        """Events of one stream with ``after < version <= upto``, oldest or newest first."""
        arguments: tuple[Any, ...] = (self._key(stream), after)
        tail = "WHERE stream = ? AND version > ?"
        if upto is not None:
            tail, arguments = tail + " AND version <= ?", (*arguments, upto)
        tail += f" ORDER BY version {'DESC' if newest_first else 'ASC'}"
        if limit >= 0:
            tail, arguments = tail + " LIMIT ?", (*arguments, limit)
        return self._reading(lambda connection: self._rows(connection, tail, arguments))

    def last(self, stream: UUID) -> LoggedEvent | None:
        """The newest event of a stream."""
        found = self.stream(stream, newest_first=True, limit=1)
        return found[0] if found else None

    def at(self, positions: Iterable[int], connection: Connection | None = None) -> dict[int, LoggedEvent]:
        """Events at the given positions."""
        wanted = sorted(set(positions))
        if connection is None:
            return self._reading(lambda reading: self.at(wanted, reading))
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
        newest_first: bool = False,
        limit: int = PAGE,
        payloads: bool = True,
    ) -> list[LoggedEvent]:
        """At most ``limit`` events with ``after < position < before`` that match every given filter, in order.

        Without ``payloads`` they have the facts alone.
        """
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
        tail = f"WHERE {' AND '.join(where)} ORDER BY position {'DESC' if newest_first else 'ASC'} LIMIT ?"
        return self._rows(connection, tail, (*arguments, limit), payloads)

    def read(self, *, after: int = 0, limit: int | None = None, **filters: Any) -> Iterator[LoggedEvent]:
        """Iterates events in order, page by page, with the filters of ``page``; each page is its own snapshot."""
        left = limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            events = self._reading(partial(self.page, after=after, limit=size, **filters))
            yield from events
            if len(events) < size:
                return
            after = events[-1].position
            left = None if left is None else left - len(events)

    def newest(self, *, before: int, page: int = PAGE, **filters: Any) -> Iterator[LoggedEvent]:
        """The same from the newest event back; whoever stops early has read no more than a page too many."""
        while True:
            events = self._reading(partial(self.page, before=before, limit=page, newest_first=True, **filters))
            yield from events
            if len(events) < page:
                return
            before = events[-1].position

    # --- rows

    def _reading(self, look: Callable[[Connection], T]) -> T:
        """What ``look`` finds in a snapshot of its own; a writer waits for a server that went away, as an append does.

        Who appends decides on what stands here: an append that goes through a restart must not fail for its look.
        """

        def once() -> T:
            with self.database.reading() as connection:
                return look(connection)

        if self.database.sqlite or self.database.access != "write":
            return once()
        from .postgres import patiently

        return patiently(self.database, once)

    def _rows(
        self, connection: Connection, tail: str, arguments: tuple[Any, ...], payloads: bool = True
    ) -> list[LoggedEvent]:
        columns, made = (self._columns, logged) if payloads else (self._facts, facts_only)
        statement = f"SELECT {columns} FROM events {tail}"  # noqa: S608 - columns and clauses are constants
        with guard():
            driver: Any = connection.connection
            cursor = driver.cursor() if self.database.sqlite else driver.cursor(binary=True)
            try:
                cursor.execute(statement if self.database.sqlite else statement.replace("?", "%s"), arguments)
                return [made(row) for row in cursor]
            finally:
                cursor.close()

    def _one(self, connection: Connection, statement: str, arguments: tuple[Any, ...]) -> Any:
        if not self.database.sqlite:
            statement = statement.replace("?", "%s")
        return connection.exec_driver_sql(statement, arguments).scalar()

    def _key(self, stream: UUID) -> Any:
        return stream.bytes if self.database.sqlite else stream
