"""One projection catching up: page, decode, then one transaction of rows and cursor; poison found by halving (E6)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, insert, select

from ...domain.errors import StoreError
from . import cursors
from .binding import Bound
from .cursors import Cursor
from .database import Database
from .feed import BATCH, Batch, Feed, readable
from .log import Log
from .mapper import timestamp
from .schema import parked

Clock = Callable[[], datetime]

TRANSIENT = frozenset({"store_locked", "store_unreachable"})
"""Worth another try: somebody else is at work."""

ENVIRONMENT = TRANSIENT | {
    "disk_full", "store_io_error", "store_read_only", "read_only", "store_unwritable", "store_corrupt", "log_hole",
    "store_forbidden", "store_login_refused", "store_unknown_database",
}  # fmt: skip
"""The machine's fault, not the event's: raised to the caller, the projection is not halted for it."""

DELAYS = (0.02, 0.05, 0.1, 0.3, 0.8)
"""Seconds before each further try after a transient error; on top of them the database waits for its locks."""


class Overtaken(Exception):
    """Another worker moved the cursor first: roll back and read again."""


class Worker:
    """Moves one cursor: the live one of a projection, or that of a shadow generation."""

    def __init__(self, database: Database, log: Log, bound: Bound, clock: Clock, *, name: str | None = None) -> None:
        self.database = database
        self.log = log
        self.bound = bound
        self.clock = clock
        self.name = name or bound.name
        self.feed = Feed(log, bound.projection)

    def catch_up(self, *, until_lag: int = 0, progress: Callable[[int, int], None] | None = None) -> Cursor | None:
        """Applies batches until the head (or so near to it) is reached; returns the cursor, None when it is gone.

        A halted projection is left alone. Raises StoreError only for what is no fault of an event.
        """
        tries = 0
        while True:
            with self.database.reading() as connection:
                cursor = cursors.find(connection, self.name)
                if cursor is None or cursor.halted or cursor.version != self.bound.version:
                    return cursor
                batch = self.feed.batch(connection, cursor.position, limit=BATCH)
                head = self.log.head(connection).position
            if batch.end == cursor.position or (until_lag and head - cursor.position <= until_lag):
                return self._live(cursor)
            try:
                cursor = self.apply(cursor, batch)
                tries = 0
            except Overtaken:
                continue
            except StoreError as error:
                if error.code not in TRANSIENT or tries >= len(DELAYS):
                    raise
                time.sleep(DELAYS[tries])
                tries += 1
                continue
            if progress is not None:
                progress(cursor.position, head)
            if cursor.halted:
                return cursor

    def _live(self, cursor: Cursor) -> Cursor:
        if cursor.status != "building" or self.name != self.bound.name:
            return cursor
        with self.database.projecting() as connection:
            cursors.move(connection, cursor, cursor.position, self._now())
        return replace(cursor, status="live")

    def apply(self, cursor: Cursor, batch: Batch) -> Cursor:
        """One transaction of rows and cursor; on a fault of the events, halves the batch to the one that has it."""
        batch.decode()
        try:
            with self.database.projecting() as connection:
                return self.step(connection, cursor, batch)
        except Overtaken:
            raise
        except Exception as error:
            if isinstance(error, StoreError) and error.code in ENVIRONMENT:
                raise
            if len(batch.events) > 1:
                first, second = batch.split()
                after = self.apply(cursor, first)
                return after if after.halted else self.apply(after, second)
            return self._poisoned(cursor, batch, error)

    def step(self, connection: Connection, cursor: Cursor, batch: Batch) -> Cursor:
        """Rows and cursor in the transaction that ``connection`` has open. Raises Overtaken."""
        now = self._now()
        status = "building" if self.name != self.bound.name else "live"
        # The cursor first: on PostgreSQL its row lock sends a second worker away before it has done the work.
        if not cursors.move(connection, cursor, batch.end, now, status=status):
            raise Overtaken
        events = self._unparked(connection, batch) if self.bound.projection.parks else batch.events
        if events:
            self.bound.projection.apply(readable(events), connection)
        return replace(cursor, position=batch.end, status=status, error=None, heartbeat=now)

    # --- poison

    def _poisoned(self, cursor: Cursor, batch: Batch, error: Exception) -> Cursor:
        if not batch.events:
            raise error
        event = batch.events[0]
        said = str(error).strip().splitlines()
        text = f"position {event.position} ({event.topic}): {type(error).__name__}: {said[0] if said else ''}"[:1_000]
        # What stands before the event is fine: the cursor goes up to it, so that the position named is the next one.
        now = self._now()
        with self.database.projecting() as connection:
            if self.bound.projection.parks:
                if not cursors.move(connection, cursor, event.position, now):
                    raise Overtaken from error
                self._park(connection, [(event.position, str(event.stream), text)])
                return replace(cursor, position=event.position, heartbeat=now)
            if event.position - 1 > cursor.position:
                if not cursors.move(connection, cursor, event.position - 1, now):
                    raise Overtaken from error
                cursor = replace(cursor, position=event.position - 1)
            if not cursors.halt(connection, cursor, text, now):
                raise Overtaken from error
        return replace(cursor, status="halted", error=text, heartbeat=now)

    def _unparked(self, connection: Connection, batch: Batch) -> tuple:  # type: ignore[type-arg]
        statement = select(parked.c.stream, parked.c.position).where(parked.c.projection == self.name)
        streams = {row.stream: row.position for row in connection.execute(statement.order_by(parked.c.position.desc()))}
        if not streams:
            return batch.events
        waiting = [event for event in batch.events if str(event.stream) in streams]
        self._park(
            connection,
            [
                (event.position, str(event.stream), f"waits for position {streams[str(event.stream)]} of its stream")
                for event in waiting
            ],
        )
        return tuple(event for event in batch.events if str(event.stream) not in streams)

    def _park(self, connection: Connection, rows: list[tuple[int, str, str]]) -> None:
        if rows:
            names = ("position", "stream", "error")
            connection.execute(
                insert(parked), [{"projection": self.name} | dict(zip(names, row, strict=True)) for row in rows]
            )

    def _now(self) -> str:
        return timestamp(self.clock())
