"""One projection catching up: page, decode, then one transaction of rows and cursor; poison found by halving (E6).

The transactions are short: a batch is as large as what was applied in a tenth of a second last time. On SQLite, where a
transaction of a projection keeps everybody from appending, the lock is then left free for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, insert, select

from ...domain.errors import StoreError
from ...domain.events import LoggedEvent
from ...projections.projection import topic_of
from . import bounded, cursors
from .binding import Bound
from .bounded import TookTooLong
from .confinement import BrokeOut
from .cursors import Cursor
from .database import Database
from .failpoints import failpoint
from .feed import BATCH, STRETCH, UNDECIDED, Batch, Feed, readable
from .log import Log
from .mapper import timestamp
from .schema import events as events_table
from .schema import parked

Clock = Callable[[], datetime]
Fence = Callable[[Connection], bool]
"""Whether whoever moves the cursor still may, asked inside of its transaction."""

TRANSIENT = frozenset({"store_locked", "store_unreachable", "store_timeout"})
"""Worth another try: somebody else is at work."""

ENVIRONMENT = TRANSIENT | {
    "disk_full", "store_io_error", "store_read_only", "read_only", "store_unwritable", "store_corrupt", "log_hole",
    "store_forbidden", "store_login_refused", "store_unknown_database", "store_closed", "store_exhausted",
}  # fmt: skip
"""The machine's fault, not the event's: raised to the caller, the projection is not halted for it."""

DELAYS = (0.02, 0.05, 0.1, 0.3, 0.8)
"""Seconds before each further try after a transient error; on top of them the database waits for its locks."""

FIRST = 100
"""Events of the first batch of a plug-in, while nothing is known of their price."""
HOLD_SECONDS = 0.1
"""How long a batch should take: an append that waits looks again every 25 ms for so long, then more and more rarely."""
FREE_SHARE, FREE_SECONDS, FREE_SECONDS_LATE = 0.25, 0.03, 0.11
"""How long SQLite's lock then stays free: a share of the time that it was held, and more than the time between two
looks of one who waits, which is 25 ms at first and 100 ms where the lock was held for longer than a batch should."""
TRIES = 2
"""Of one event that takes too long, before it counts as poison: the machine may have been asleep."""


class Overtaken(Exception):
    """Another worker moved the cursor first, or a person paused it: roll back and read again."""


def said(event: LoggedEvent, error: Exception) -> str:
    """Which event cannot be applied, and why, in one line that is bounded."""
    words = str(error).strip().splitlines()
    return f"position {event.position} ({event.topic}): {type(error).__name__}: {words[0] if words else ''}"[:1_000]


class Worker:
    """Moves one cursor: the live one of a projection, or that of a shadow generation."""

    def __init__(
        self,
        database: Database,
        log: Log,
        bound: Bound,
        clock: Clock,
        *,
        name: str | None = None,
        seconds_max: float = bounded.SECONDS_MAX,
    ) -> None:
        self.database = database
        self.log = log
        self.bound = bound
        self.clock = clock
        self.name = name or bound.name
        self.seconds_max = seconds_max
        self.feed = Feed(log, bound.projection)
        self.stretch = STRETCH
        self._plain = frozenset(topic_of(each) for each in bound.projection.plain)
        self._size = FIRST if bounded.is_foreign(bound.projection) else BATCH
        self._held = 0.0
        """Seconds that the last transaction took, its wait for the lock apart."""
        self._careful = 0
        """Up to here events are applied one by one: a batch that reached it took too long."""
        self._slow = (0, 0)
        """A single event that took too long, and how often."""

    def catch_up(
        self,
        *,
        until_lag: int = 0,
        progress: Callable[[int, int], None] | None = None,
        patience: float | None = None,
        fence: Fence | None = None,
    ) -> Cursor | None:
        """Applies batches until the head (or so near to it) is reached; returns the cursor, None when it is gone.

        One that is halted, paused or retired is left alone. ``patience`` bounds the wait for another writer; then
        there is no second try. ``fence`` ends it where it says no. Raises StoreError only for what is no fault of an
        event.
        """
        tries = 0 if patience is None else len(DELAYS)
        held, since = 0.0, time.perf_counter()
        while True:
            with self.database.reading() as connection:
                cursor = self.cursor(connection)
                if cursor is None or cursor.halted or cursor.resting or cursor.version != self.bound.version:
                    return cursor
                head = self.log.head(connection).position
                undecided = None
                try:
                    batch = self.feed.batch(
                        connection, cursor.position, limit=self._limit(cursor), stretch=self.stretch
                    )
                except StoreError as error:
                    if UNDECIDED not in error.details:
                        raise
                    undecided = said(error.details[UNDECIDED], error.details["cause"])
            if undecided is not None:
                return self._halted(cursor, undecided)
            if batch.end == cursor.position or (until_lag and head - cursor.position <= until_lag):
                return self._live(cursor, patience)
            batch.decode(self._plain)
            if held >= HOLD_SECONDS:
                self._leave_free(held, since)
                held = 0.0
            try:
                cursor = self.apply(cursor, batch, patience=patience, fence=fence)
                tries = 0 if patience is None else len(DELAYS)
            except Overtaken:
                if fence is not None and self._lost(fence):
                    return cursor
                continue
            except StoreError as error:
                if error.code not in TRANSIENT or tries >= len(DELAYS):
                    raise
                time.sleep(DELAYS[tries])
                tries += 1
                continue
            held, since = held + self._held, time.perf_counter()
            self._pace(batch, self._held)
            if progress is not None:
                progress(cursor.position, head)
            if cursor.halted:
                return cursor

    def cursor(self, connection: Connection, *, lock: bool = False) -> Cursor | None:
        """The cursor that is ours to move; that of a later shadow is not, once another process has swapped ours in."""
        found = cursors.find(connection, self.name, lock=lock)
        if found is not None and self.name != self.bound.name and found.tables != self.bound.table_names:
            return None
        return found

    def _live(self, cursor: Cursor, patience: float | None) -> Cursor:
        if cursor.status != "building" or self.name != self.bound.name:
            return cursor
        with self.database.projecting(patience) as connection:
            moved = cursors.move(connection, cursor, cursor.position, self._now())
        return replace(cursor, status="live") if moved else cursor

    def _lost(self, fence: Fence) -> bool:
        with self.database.reading() as connection:
            return not fence(connection)

    # --- the size of a batch

    def _limit(self, cursor: Cursor) -> int:
        return 1 if cursor.position < self._careful else self._size

    def _pace(self, batch: Batch, seconds: float) -> None:
        """The next batch is as large as what fits into the time; a small one that was quick says little."""
        count = len(batch.events)
        if batch.bulk:
            if seconds > HOLD_SECONDS:
                self.stretch = max(BATCH, self.stretch // 2)
        elif count and (count >= self._size or seconds > HOLD_SECONDS):
            fits = int(HOLD_SECONDS * count / max(seconds, 1e-6))
            self._size = max(1, min(fits, self._size * 10, BATCH))

    def _leave_free(self, held: float, since: float) -> None:
        """Lets who waits for SQLite's one lock have it: reading and decoding often takes as long, and then is all."""
        least = FREE_SECONDS if held < 1.5 * HOLD_SECONDS else FREE_SECONDS_LATE
        left = since + max(least, held * FREE_SHARE) - time.perf_counter()
        if self.database.sqlite and left > 0:
            time.sleep(left)

    # --- one transaction

    def apply(
        self, cursor: Cursor, batch: Batch, *, patience: float | None = None, fence: Fence | None = None
    ) -> Cursor:
        """One transaction of rows and cursor; on a fault of the events, halves the batch to the one that has it."""
        batch.decode(self._plain)
        try:
            with self.database.projecting(patience) as connection:
                began = time.perf_counter()
                try:
                    after = self.step(connection, cursor, batch, fence)
                finally:
                    self._held = time.perf_counter() - began
            failpoint("project.committed")
            return after
        except Overtaken:
            raise
        except BrokeOut as error:
            return self._broken(cursor, error)
        except TookTooLong as error:
            if not self._too_long(batch):
                return cursor
            return self._poisoned(cursor, batch, error)
        except Exception as error:
            if isinstance(error, StoreError) and error.code in ENVIRONMENT:
                raise
            if batch.bulk:
                # NotInBulk, or a fault of some event: one by one it is found out which.
                self.feed.single_upto = batch.end
                return cursor
            if len(batch.events) > 1:
                first, second = batch.split()
                after = self.apply(cursor, first, patience=patience, fence=fence)
                if after.halted or after.position < first.end:
                    return after
                return self.apply(after, second, patience=patience, fence=fence)
            return self._poisoned(cursor, batch, error)

    def _too_long(self, batch: Batch) -> bool:
        """Whether that was the event's fault. A batch is gone through one by one instead; a single one tries again."""
        if len(batch.events) > 1:
            self._careful = max(self._careful, batch.end)
            return False
        position = batch.events[0].position
        self._slow = (position, self._slow[1] + 1 if self._slow[0] == position else 1)
        return self._slow[1] >= TRIES

    def step(self, connection: Connection, cursor: Cursor, batch: Batch, fence: Fence | None = None) -> Cursor:
        """Rows and cursor in the transaction that ``connection`` has open. Raises Overtaken, TookTooLong."""
        failpoint("project.begun")
        now = self._now()
        # The cursor first: on PostgreSQL its row lock sends a second worker away before it has done the work.
        if not cursors.move(connection, cursor, batch.end, now, status=cursor.status):
            raise Overtaken
        if fence is not None and not fence(connection):
            raise Overtaken
        failpoint("project.moved")
        events = self._unparked(connection, batch) if self.bound.projection.parks else batch.events
        if batch.bulk:
            self.bound.projection.apply_bulk(events, (batch.start, batch.end), events_table, connection)
        elif events:
            bounded.apply(self.bound, readable(events), connection, self.seconds_max)
        failpoint("project.applied")
        return replace(cursor, position=batch.end, error=None, heartbeat=now)

    # --- poison

    def _broken(self, cursor: Cursor, error: BrokeOut) -> Cursor:
        # What the plug-in committed cannot be taken back: whoever has the rows now is halted, wherever it stands.
        now = self._now()
        with self.database.projecting() as connection:
            found = cursors.find(connection, self.name, lock=True) or cursor
            cursors.halt(connection, found, error.message, now)
        return replace(found, status="halted", error=error.message, heartbeat=now)

    def _poisoned(self, cursor: Cursor, batch: Batch, error: Exception) -> Cursor:
        if not batch.events:
            raise error
        event = batch.events[0]
        text = said(event, error)
        # What stands before the event is fine: the cursor goes up to it, so that the position named is the next one.
        now = self._now()
        with self.database.projecting() as connection:
            if self.bound.projection.parks:
                if not cursors.move(connection, cursor, event.position, now, status=cursor.status):
                    raise Overtaken from error
                self._park(connection, [(event.position, str(event.stream), text)])
                return replace(cursor, position=event.position, heartbeat=now)
            if event.position - 1 > cursor.position:
                if not cursors.move(connection, cursor, event.position - 1, now, status=cursor.status):
                    raise Overtaken from error
                cursor = replace(cursor, position=event.position - 1)
            if not cursors.halt(connection, cursor, text, now):
                raise Overtaken from error
        return replace(cursor, status="halted", error=text, heartbeat=now)

    def _halted(self, cursor: Cursor, text: str) -> Cursor:
        now = self._now()
        with self.database.projecting() as connection:
            if not cursors.halt(connection, cursor, text, now):
                return cursor
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
