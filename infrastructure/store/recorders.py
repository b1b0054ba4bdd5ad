"""The log as a persistence module of ``eventsourcing``: its recorders and factory (S1).

``PERSISTENCE_MODULE="minutebook.infrastructure.store.recorders"`` and ``MINUTEBOOK_DATABASE=<SQLAlchemy URL>`` put
any application of the library on the log: its events go into the same chain, without an envelope. What has one is
given back as ``EnvelopedEvent``, so that ``MinutebookMapper`` can make our typed events of it (``application``).
Subscriptions poll; an append in the same process wakes them at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    InfrastructureFactory,
    IntegrityError,
    Notification,
    OperationalError,
    ProcessRecorder,
    ProgrammingError,
    StoredEvent,
    Subscription,
    Tracking,
    TrackingRecorder,
)
from eventsourcing.utils import Environment, EnvType, resolve_topic
from sqlalchemy import Connection

from ...domain.errors import InputError, StoreError, StreamConflict
from ...domain.events import LoggedEvent
from .database import Database
from .log import Expectation, Log, Within
from .mapper import EnvelopedEvent, EnvelopedNotification, timestamp

_PAGE = 500


@contextmanager
def _library_errors() -> Iterator[None]:
    """What the library and its users catch: IntegrityError for a conflict, OperationalError for the rest."""
    try:
        yield
    except StreamConflict as error:
        raise IntegrityError(str(error)) from error
    except StoreError as error:
        raise OperationalError(str(error)) from error


class LogAggregateRecorder(AggregateRecorder):
    """Inserts and selects the events of streams."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        """Appends all or none; ``expects`` and ``within`` as in ``Log.append``. Raises IntegrityError."""
        self._append(stored_events, **kwargs)
        return None

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Events of one stream with ``gt < version <= lte``."""
        with _library_errors():
            found = self.log.stream(
                _stream(originator_id),
                after=-1 if gt is None else gt,  # The library's own versions may begin at 0.
                upto=lte,
                newest_first=desc,
                limit=-1 if limit is None else limit,
            )
        return [_stored(event) for event in found]

    def _append(
        self,
        stored_events: Sequence[StoredEvent],
        *,
        expects: Sequence[Expectation] = (),
        within: Within | None = None,
        tracking: Tracking | None = None,
    ) -> list[int]:
        # The library names a tracking in every save; only a process recorder can keep one.
        if tracking is not None:
            raise ProgrammingError("only a process recorder records tracking: use factory.process_recorder()")
        for event in stored_events:
            _stream(event.originator_id)
        with _library_errors():
            return self.log.append_stored(stored_events, expects, within)


class LogApplicationRecorder(LogAggregateRecorder, ApplicationRecorder):
    """Adds the application sequence: positions are notification ids, gapless and in commit order."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        return self._append(stored_events, **kwargs)

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """At most ``limit`` notifications from ``start`` to ``stop``."""
        after = 0 if start is None else start - 1 if inclusive_of_start else start
        with _library_errors(), self.log.database.reading() as connection:
            page = self.log.page(
                connection,
                after=max(after, 0),
                before=None if stop is None else stop + 1,
                topics=topics,
                limit=limit,
            )
        return [_notification(event) for event in page]

    def max_notification_id(self) -> int | None:
        with _library_errors():
            return self.log.head().position or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> Subscription[ApplicationRecorder]:
        return PollingSubscription(self, gt, topics)


class PollingSubscription(Subscription[LogApplicationRecorder]):
    """Notifications after a position, then new ones as they come.

    Polling is the truth, so nothing can be missed; an append in this process only shortens the wait.
    """

    poll_seconds = 0.2

    def __init__(self, recorder: LogApplicationRecorder, gt: int | None, topics: Sequence[str]) -> None:
        super().__init__(recorder=recorder, gt=gt, topics=topics)
        self._page: Iterator[Notification] = iter(())
        self._wake = threading.Event()
        self._forget = recorder.log.on_append(lambda _position: self._wake.set())

    def stop(self) -> None:
        if not self._has_been_stopped:
            super().stop()
            self._forget()
        self._wake.set()

    def __next__(self) -> Notification:
        while not self._has_been_stopped:
            notification = next(self._page, None)
            if notification is not None:
                self._last_notification_id = notification.id
                return notification
            # Cleared before the look, so that an append between look and wait ends the wait.
            self._wake.clear()
            found = self._recorder.select_notifications(
                start=self._last_notification_id or 0, limit=_PAGE, topics=self._topics, inclusive_of_start=False
            )
            if found:
                self._page = iter(found)
            else:
                self._wake.wait(self.poll_seconds)
        raise StopIteration


class LogTrackingRecorder(TrackingRecorder):
    """Remembers what a follower has processed. A subclass writes its rows in the same transaction::

    with self.log.database.projecting() as connection:
        connection.execute(...)
        self.track(connection, tracking)
    """

    def __init__(self, log: Log) -> None:
        self.log = log

    def insert_tracking(self, tracking: Tracking) -> None:
        """Records the tracking. Raises IntegrityError when it, or a later one, was recorded before."""
        with _library_errors(), self.log.database.projecting() as connection:
            self.track(connection, tracking)

    def track(self, connection: Connection, tracking: Tracking) -> None:
        # Fenced: of two followers that processed the same event one finds no row to move, and rolls back.
        mark = "?" if self.log.database.sqlite else "%s"
        moved = connection.exec_driver_sql(
            f"INSERT INTO trackings VALUES ({mark}, {mark}) ON CONFLICT (application_name) DO UPDATE "  # noqa: S608
            "SET notification_id = excluded.notification_id "
            "WHERE trackings.notification_id < excluded.notification_id",
            (tracking.application_name, tracking.notification_id),
        )
        if moved.rowcount != 1:
            raise IntegrityError(
                f"notification {tracking.notification_id} of {tracking.application_name!r} was processed before"
            )

    def max_tracking_id(self, application_name: str) -> int | None:
        mark = "?" if self.log.database.sqlite else "%s"
        with _library_errors(), self.log.database.reading() as connection:
            found: int | None = connection.exec_driver_sql(
                f"SELECT notification_id FROM trackings WHERE application_name = {mark}",  # noqa: S608
                (application_name,),
            ).scalar()
        return found


class LogProcessRecorder(LogTrackingRecorder, LogApplicationRecorder, ProcessRecorder):
    """Appends events and tracking in one transaction: what came of a notification is recorded once or not at all."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int] | None:
        tracking: Tracking | None = kwargs.pop("tracking", None)
        within: Within | None = kwargs.pop("within", None)

        def record(connection: Connection, positions: list[int]) -> None:
            if within is not None:
                within(connection, positions)
            if tracking is not None:
                self.track(connection, tracking)

        return self._append(stored_events, within=record, **kwargs)


class Factory(InfrastructureFactory[LogTrackingRecorder]):
    """Makes recorders on one database, which ``MINUTEBOOK_DATABASE`` names; ``close`` gives it back."""

    DATABASE = "MINUTEBOOK_DATABASE"

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        url = self.env.get(self.DATABASE)
        if not url:
            raise InputError(
                f"set {self.DATABASE} to sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME",
                code="bad_database_url",
            )
        self.database = Database(url)
        try:
            self.log = Log(self.database)
        except BaseException:
            self.database.close()
            raise

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """A recorder of streams. Raises ProgrammingError for snapshots: streams here are short by design (M4)."""
        if purpose != "events":
            raise ProgrammingError(f"the log keeps no {purpose}: its streams are short; switch snapshotting off")
        return LogAggregateRecorder(self.log)

    def application_recorder(self) -> ApplicationRecorder:
        return LogApplicationRecorder(self.log)

    def tracking_recorder(
        self, tracking_recorder_class: type[LogTrackingRecorder] | None = None
    ) -> LogTrackingRecorder:
        topic = self.env.get(self.TRACKING_RECORDER_TOPIC)
        chosen = tracking_recorder_class or (resolve_topic(topic) if topic else LogTrackingRecorder)
        made: LogTrackingRecorder = chosen(self.log)
        return made

    def process_recorder(self) -> ProcessRecorder:
        return LogProcessRecorder(self.log)

    def close(self) -> None:
        self.database.close()


def _stream(originator_id: UUID | str) -> UUID:
    if isinstance(originator_id, UUID):
        return originator_id
    raise ProgrammingError(f"the log identifies streams by UUID, not by {originator_id!r}: use uuid5 of the name")


def _stored(event: LoggedEvent) -> StoredEvent:
    if not event.schema:
        return StoredEvent(event.stream, event.version, event.topic, event.facts)
    return EnvelopedEvent(event.stream, event.version, event.topic, event.facts, **_rest(event))


def _notification(event: LoggedEvent) -> Notification:
    if not event.schema:
        return Notification(event.stream, event.version, event.topic, event.facts, event.position)
    return EnvelopedNotification(event.stream, event.version, event.topic, event.facts, event.position, **_rest(event))


def _rest(event: LoggedEvent) -> dict[str, Any]:
    return {
        "schema": event.schema,
        "envelope": event.envelope,
        "time": timestamp(event.time),
        "payload": event.payload,
        "salt": event.salt,
        "body_digest": event.body_digest,
    }
