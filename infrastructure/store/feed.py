"""What a projection is given next: the events after its cursor, filtered, with the proof that none is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from ...domain.catalogue import MessageRecorded, ProjectionSkipped
from ...domain.errors import MinutebookError, StoreError
from ...domain.events import TOPICS, LoggedEvent
from ...projections.projection import Projection, topic_of
from .bounded import is_foreign
from .log import Log
from .schema import events as events_table

BATCH = 2_000
"""Events applied in one transaction: more gain little (measured: 500 to 5,000 is 1.1-2 times) and lock longer."""

SPAN = 100_000
"""Positions that a projection of rare events passes over in one step."""

STRETCH = 10_000
"""Positions that a projection with a way in bulk takes in one transaction: as long as a batch of single events."""


UNDECIDED = "undecided"
"""Names in an error's details the event because of which a projection that ``holds`` cannot say how far it may go."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events to apply after ``start``; the cursor goes to ``end``. In ``bulk`` they are those of other topics only."""

    start: int
    end: int
    events: tuple[LoggedEvent, ...]
    bulk: bool = False

    def split(self) -> tuple[Batch, Batch]:
        """Two halves, cut between two events: for finding the one that cannot be applied."""
        middle = len(self.events) // 2
        first, second = self.events[:middle], self.events[middle:]
        cut = second[0].position - 1
        return Batch(self.start, cut, first), Batch(cut, self.end, second)

    def decode(self, plain: Collection[str] = ()) -> None:
        """Decodes the bodies before a transaction is opened; what cannot be read fails where it is applied."""
        for event in self.events:
            if event.topic not in plain:
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
        able = self.topics and not projection.parks and not is_foreign(projection)
        self._bulk = frozenset(map(topic_of, projection.bulk)) if able else frozenset()
        self._settled_to = 0
        self._whole = 0
        self.single_upto = 0
        """Up to here the events are not as a way in bulk expects them."""

    def batch(
        self,
        connection: Connection,
        after: int,
        *,
        upto: int | None = None,
        limit: int = BATCH,
        stretch: int = 0,
    ) -> Batch:
        """The next batch, empty when there is nothing to do. Raises StoreError ``log_hole`` or ``cursor_ahead``.

        With ``upto`` it goes that far, whatever the projection would hold back: for computing it again. With
        ``stretch`` it is in bulk and so long, where the projection can do that and as much is there.
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
        if self._bulk and stretch and end - after > min(limit, stretch) and after >= self.single_upto:
            found = self._in_bulk(connection, after, min(end, after + stretch))
            if found is not None:
                return found
        return self._next(connection, after, end, limit)

    def batches(
        self, connection: Connection, after: int, *, upto: int | None = None, stretch: int = 0
    ) -> Iterator[Batch]:
        """All batches in one snapshot."""
        while True:
            batch = self.batch(connection, after, upto=upto, stretch=stretch)
            if batch.end == after:
                return
            yield batch
            after = batch.end

    def _in_bulk(self, connection: Connection, after: int, end: int) -> Batch | None:
        if any(after < position <= end for position in self.skipped(connection)):
            return None
        self._check(connection, after, end)
        topics = sorted(self.topics - self._bulk)
        filters: dict[str, Any] = {"after": after, "before": end + 1, "topics": topics, "limit": end - after}
        page = self.log.page(connection, **filters, payloads=self.projection.payloads)
        if any(event.newer for event in page):
            return None
        return Batch(after, end, tuple(event for event in page if event.known), bulk=True)

    def _next(self, connection: Connection, after: int, end: int, limit: int) -> Batch:
        if self._dense:
            page = self.log.page(
                connection, after=after, before=end + 1, limit=limit, payloads=self.projection.payloads
            )
            if not page or page[0].position != after + 1 or page[-1].position != after + len(page):
                raise _hole(after, page)
            end = page[-1].position
        else:
            end = min(end, after + SPAN)
            self._check(connection, after, end)
            page = self.log.page(
                connection,
                after=after,
                before=end + 1,
                topics=sorted(self.topics),
                limit=limit,
                payloads=self.projection.payloads,
            )
            if len(page) == limit:
                end = page[-1].position
        return Batch(after, end, self._mine(connection, page))

    def _settled(self, connection: Connection, after: int, head: int, limit: int) -> Batch:
        # What was settled stays so, whatever comes: the tail is looked through once, not for every batch of it.
        if not after < self._settled_to <= head:
            tail = [event for batch in self._tail(connection, after, head) for event in batch.events]
            self._settled_to = min(self._decided(tail, head), head)
        if self._settled_to <= after:
            return Batch(after, after, ())
        return self._next(connection, after, self._settled_to, limit)

    def _tail(self, connection: Connection, after: int, head: int) -> Iterator[Batch]:
        while after < head:
            batch = self._next(connection, after, head, BATCH)
            yield batch
            after = batch.end

    def _decided(self, tail: list[LoggedEvent], head: int) -> int:
        try:
            return self.projection.settled(tail, head)
        except Exception as error:
            # The first event without which it would have been decided, found by halving.
            low, high, cause = 0, len(tail), error
            while low < high - 1:
                middle = (low + high) // 2
                try:
                    self.projection.settled(tail[:middle], head)
                except Exception as earlier:
                    high, cause = middle, earlier
                else:
                    low = middle
            if not tail:
                raise
            raise _undecided(self.projection.name, tail[high - 1], cause) from error

    def stands_before(self, connection: Connection, after: int) -> int | None:
        """The event that a halted projection cannot apply, or decide about; None where it stands before none."""
        try:
            batch = self.batch(connection, after, limit=1)
        except StoreError as error:
            if UNDECIDED not in error.details:
                raise
            position: int = error.details[UNDECIDED].position
            return position
        return batch.events[0].position if batch.events else None

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
        if end <= self._whole:
            return
        position = events_table.c.position
        if end - after >= STRETCH:
            # All at once costs less than a part: it takes the smallest index, and a part the pages of the events.
            count, first, last = connection.execute(select(func.count(), func.min(position), func.max(position))).one()
            if first == 1 and count == last >= end:
                self._whole = last
                return
        statement = select(func.count()).where(position > after, position <= end)
        if connection.execute(statement).scalar_one() != end - after:
            raise _hole(after, self.log.page(connection, after=after, before=end + 1, limit=SPAN))


def _undecided(name: str, event: LoggedEvent, cause: Exception) -> StoreError:
    return StoreError(
        f"projection {name!r} cannot decide how far it may go, because of event {event.position} ({event.topic}): "
        f"{cause}; see 'minutebook projections list'",
        code="projection_halted",
        projection=name,
        cause=cause,
        **{UNDECIDED: event},
    )


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
