"""What a projection is given next: the events after its cursor, filtered, with the proof that none is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from ...domain.catalogue import MessageRecorded, ProjectionSkipped
from ...domain.errors import MinutebookError, StoreError
from ...domain.events import TOPICS, LoggedEvent
from ...projections.projection import Projection
from .log import Log
from .schema import events as events_table

BATCH = 2_000
"""Events applied in one transaction: more gain little (measured: 500 to 5,000 is 1.1-2 times) and lock longer."""

SPAN = 20_000
"""Positions that a projection of rare events passes over in one step."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events to apply after ``start``; the cursor goes to ``end``."""

    start: int
    end: int
    events: tuple[LoggedEvent, ...]

    def split(self) -> tuple[Batch, Batch]:
        """Two halves, cut between two events: for finding the one that cannot be applied."""
        middle = len(self.events) // 2
        first, second = self.events[:middle], self.events[middle:]
        cut = second[0].position - 1
        return Batch(self.start, cut, first), Batch(cut, self.end, second)

    def decode(self) -> None:
        """Decodes the bodies before a transaction is opened; what cannot be read fails where it is applied."""
        for event in self.events:
            with suppress(MinutebookError):
                _ = event.body


def readable(events: Sequence[LoggedEvent]) -> Sequence[LoggedEvent]:
    """The events, for a projection to apply. Raises StoreError ``unknown_event`` at one of a newer version (E7).

    Passed by, it would leave rows that look whole and are not.
    """
    for event in events:
        if event.newer:
            _ = event.body
    return events


class Feed:
    """The events of one projection, batch by batch."""

    def __init__(self, log: Log, projection: Projection) -> None:
        self.log = log
        self.projection = projection
        self.topics = projection.topics()
        # Messages are nearly all of a log: for who wants them the plain page is cheapest.
        self._dense = not self.topics or MessageRecorded.TOPIC in self.topics

    def batch(self, connection: Connection, after: int, *, upto: int | None = None, limit: int = BATCH) -> Batch:
        """The next batch, empty when there is nothing to do. Raises StoreError ``log_hole`` or ``cursor_ahead``.

        With ``upto`` it goes that far, whatever the projection would hold back: for computing it again.
        """
        head = self.log.head(connection).position
        if after > head:
            raise StoreError(
                f"projection {self.projection.name!r} stands at {after}, beyond the head of the log ({head}): the "
                f"database was restored or damaged; run 'minutebook projections rebuild {self.projection.name}'",
                code="cursor_ahead",
            )
        end = head if upto is None else min(upto, head)
        if after >= end:
            return Batch(after, after, ())
        if upto is None and self.projection.holds:
            return self._settled(connection, after, end, limit)
        return self._next(connection, after, end, limit)

    def batches(self, connection: Connection, after: int, *, upto: int | None = None) -> Iterator[Batch]:
        """All batches in one snapshot."""
        while True:
            batch = self.batch(connection, after, upto=upto)
            if batch.end == after:
                return
            yield batch
            after = batch.end

    def _next(self, connection: Connection, after: int, end: int, limit: int) -> Batch:
        if self._dense:
            page = self.log.page(connection, after=after, before=end + 1, limit=limit)
            if not page or page[0].position != after + 1 or page[-1].position != after + len(page):
                raise _hole(after, page)
            end = page[-1].position
        else:
            end = min(end, after + SPAN)
            self._check(connection, after, end)
            page = self.log.page(connection, after=after, before=end + 1, topics=sorted(self.topics), limit=limit)
            if len(page) == limit:
                end = page[-1].position
        return Batch(after, end, self._mine(connection, page))

    def _settled(self, connection: Connection, after: int, head: int, limit: int) -> Batch:
        tail: list[LoggedEvent] = []
        position = after
        while position < head:
            batch = self._next(connection, position, head, BATCH)
            tail.extend(batch.events)
            position = batch.end
        end = min(self.projection.settled(tail, head), head)
        if end <= after:
            return Batch(after, after, ())
        ready = [event for event in tail if event.position <= end]
        if len(ready) > limit:
            ready = ready[:limit]
            end = ready[-1].position
        return Batch(after, end, tuple(ready))

    def _mine(self, connection: Connection, page: list[LoggedEvent]) -> tuple[LoggedEvent, ...]:
        skipped = self.skipped(connection)
        return tuple(
            event
            for event in page
            if event.topic in TOPICS
            and (not self.topics or event.topic in self.topics)
            and event.position not in skipped
        )

    def skipped(self, connection: Connection) -> frozenset[int]:
        """Positions that a person let this projection pass over, from the log: a rebuild passes over them too (E6)."""
        found: list[int] = []
        after = 0
        while page := self.log.page(connection, after=after, topics=[ProjectionSkipped.TOPIC]):
            for event in page:
                body = event.body
                if isinstance(body, ProjectionSkipped) and body.projection == self.projection.name:
                    found.append(body.position)
            after = page[-1].position
        return frozenset(found)

    def _check(self, connection: Connection, after: int, end: int) -> None:
        position = events_table.c.position
        statement = select(func.count()).where(position > after, position <= end)
        if connection.execute(statement).scalar_one() != end - after:
            raise _hole(after, self.log.page(connection, after=after, before=end + 1, limit=SPAN))


def _hole(after: int, page: list[LoggedEvent]) -> StoreError:
    expected = after + 1
    for event in page:
        if event.position != expected:
            break
        expected += 1
    return StoreError(
        f"event {expected} is missing from the log: it was deleted, or the file is damaged; run 'minutebook verify' "
        "and restore a backup",
        code="log_hole",
        position=expected,
    )
