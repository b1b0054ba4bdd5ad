"""Our events through the library's application: save, get, upcast, follow, conflict (S1, E7)."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest
from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import IntegrityError, ProgrammingError, StoredEvent

from minutebook.domain.catalogue import MessageRecorded, RunStarted, RunSucceeded
from minutebook.domain.errors import InputError, StoreError
from minutebook.domain.events import TOPICS, Envelope, Event, topic
from minutebook.domain.streams import runs_stream
from minutebook.infrastructure.store.application import Minutes
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.recorders import Factory, LogApplicationRecorder, LogProcessRecorder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STREAM = runs_stream("local", "s")


def envelope(version: int, stream: UUID = STREAM) -> Envelope:
    return Envelope(stream, version, "local", NOW, "agent", "s", f"r{version}")


@dataclass(frozen=True)
class Runs:
    """An aggregate in the immutable style: a fold over the runs of a session."""

    id: UUID
    version: int
    open: bool


def fold(start: Runs | None, events: Iterable[Event]) -> Runs | None:
    for happened in events:
        start = Runs(happened.originator_id, happened.originator_version, isinstance(happened, RunStarted))
    return start


@pytest.fixture
def app(database_url: str) -> Iterator[Minutes]:
    with Minutes(env={"MINUTEBOOK_DATABASE": database_url}) as app:
        yield app


def log_of(app: Application[UUID]) -> Log:
    assert isinstance(app.recorder, LogApplicationRecorder)
    return app.recorder.log


def test_events_are_saved_and_an_aggregate_is_folded_from_them(app: Minutes) -> None:
    app.save(RunStarted(envelope=envelope(1)), RunSucceeded(envelope=envelope(2)))
    app.save(RunStarted(envelope=envelope(3)))

    runs: Any = app.repository.get(STREAM, projector_func=fold)
    assert runs == Runs(STREAM, 3, True)
    earlier: Any = app.repository.get(STREAM, version=2, projector_func=fold)
    assert earlier == Runs(STREAM, 2, False)
    with pytest.raises(AggregateNotFoundError):
        app.repository.get(uuid4(), projector_func=fold)


def test_an_event_comes_back_with_its_envelope_and_payload(
    app: Minutes, message: Callable[..., MessageRecorded]
) -> None:
    saved = message(1, "the text § 日本")
    app.save(saved)
    (found,) = app.events.get(saved.originator_id)
    assert found == saved
    assert log_of(app).head().position == 1


def test_an_expectation_passes_through_save(app: Minutes) -> None:
    app.save(RunStarted(envelope=envelope(1)))
    other = uuid4()
    with pytest.raises(IntegrityError):
        app.save(RunSucceeded(envelope=envelope(1, other)), expects=[(STREAM, 0)])
    app.save(RunSucceeded(envelope=envelope(1, other)), expects=[(STREAM, 1)])
    with pytest.raises(IntegrityError):
        app.save(RunStarted(envelope=envelope(1)))
    assert log_of(app).head().position == 2


@pytest.fixture
def renamed() -> Iterator[Callable[..., Event]]:
    """An event class that has grown two versions since."""

    @topic
    class Renamed(Event):
        TOPIC: ClassVar[str] = "TestRenamed"
        class_version: ClassVar[int] = 3
        title: str
        size: int

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            state["title"] = state.pop("name")

        @staticmethod
        def upcast_v2_v3(state: dict[str, Any]) -> None:
            state["size"] = len(state["title"])

    yield Renamed
    del TOPICS["TestRenamed"]


@pytest.mark.parametrize(("version", "facts"), [(1, {"name": "abc"}), (2, {"title": "abc"})])
def test_older_versions_of_an_event_are_upcast_by_mapper_and_log(
    app: Minutes, renamed: Callable[..., Event], version: int, facts: dict[str, str]
) -> None:
    stored = app.mapper.to_stored_event(renamed(title="-", size=1, envelope=envelope(1)))
    old = type(stored)(**{**vars(stored), "schema": version, "state": json.dumps(facts).encode()})
    app.recorder.insert_events([old])

    (found,) = app.events.get(STREAM)
    assert found == renamed(title="abc", size=3, envelope=envelope(1))
    assert next(log_of(app).read()).body == found


def test_a_newer_version_and_an_unknown_topic_are_refused_and_nothing_is_imported(app: Minutes) -> None:
    planted = StoredEvent(STREAM, 1, "antigravity:Planted", b"{}")
    app.recorder.insert_events([planted])
    with pytest.raises(StoreError) as refused:
        list(app.events.get(STREAM))
    assert refused.value.code == "unknown_event"
    assert "antigravity" not in sys.modules
    logged = next(log_of(app).read())
    assert not logged.known
    assert logged.topic == "antigravity:Planted"


def test_a_follower_gets_what_was_there_and_then_what_comes(
    app: Minutes, message: Callable[..., MessageRecorded]
) -> None:
    app.save(message(1), message(2))
    seen: list[Any] = []
    with app.recorder.subscribe(gt=1) as subscription:
        thread = threading.Timer(0.05, lambda: app.save(message(3)))
        thread.start()
        for notification in subscription:
            seen.append(app.mapper.to_domain_event(notification))
            if len(seen) == 2:
                break
        thread.join()
    assert seen == [message(2), message(3)]


def test_a_subscription_sees_what_another_process_appended(
    database_url: str, message: Callable[..., MessageRecorded]
) -> None:
    # Another application object is as blind to this one's signal as another process would be: only polling helps.
    with (
        Minutes(env={"MINUTEBOOK_DATABASE": database_url}) as one,
        Minutes(env={"MINUTEBOOK_DATABASE": database_url}) as two,
        one.recorder.subscribe() as subscription,
    ):
        two.save(message(1))
        assert next(subscription).id == 1


class Counter(Aggregate):
    """An aggregate in the library's own declarative style."""

    @event("Started")
    def __init__(self) -> None:
        self.count = 0

    @event("Counted")
    def add(self, by: int) -> None:
        self.count += by


def test_any_application_of_the_library_can_use_the_log(database_url: str) -> None:
    env = {"PERSISTENCE_MODULE": "minutebook.infrastructure.store.recorders", "MINUTEBOOK_DATABASE": database_url}
    with Application[UUID](env=env) as app:
        counter = Counter()
        counter.add(by=2)
        app.save(counter)
        counter.add(by=5)
        app.save(counter)
        again: Counter = app.repository.get(counter.id)
        assert again.count == 7
        assert [item.id for item in app.notification_log.select(start=1, limit=10)] == [1, 2, 3]


def test_what_the_factory_cannot_do_it_says(sqlite_url: str) -> None:
    with pytest.raises(InputError, match="MINUTEBOOK_DATABASE"):
        Factory({})
    factory = Factory({"MINUTEBOOK_DATABASE": sqlite_url})
    with pytest.raises(ProgrammingError, match="snapshots"):
        factory.aggregate_recorder("snapshots")
    recorder = factory.process_recorder()
    assert isinstance(recorder, LogProcessRecorder)
    with pytest.raises(ProgrammingError, match="UUID"):
        recorder.insert_events([StoredEvent("a name", 1, "topic", b"")])
    factory.close()
