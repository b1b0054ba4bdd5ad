"""Every stored form of every event is kept, and today's code reads it (E7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import event_fixtures as kept
import pytest

from minutebook.domain.chain import body_digest
from minutebook.domain.errors import StoreError
from minutebook.domain.events import TOPICS, Envelope, Event, parse, topic
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import EnvelopedEvent, facts_of, timestamp
from minutebook.infrastructure.store.verification import verify_log

FILES = sorted(kept.EVENTS.glob("*/v*.json"))


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_every_type_and_version_has_its_fixture() -> None:
    """When this fails: run tests/support/event_fixtures.py; a new field needs a new version and an upcast first."""
    wanted = {
        kept.path_of(name, version)
        for name, cls in kept.types_of_today().items()
        for version in range(1, cls.class_version + 1)
    }
    assert set(FILES) == wanted


def test_no_fixture_was_changed() -> None:
    found = {path.relative_to(kept.EVENTS).as_posix(): sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert found == kept.digests()


def test_the_generator_only_adds() -> None:
    before = {path: path.read_bytes() for path in [*FILES, kept.DIGESTS]}
    assert kept.add() == []
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_fixture_is_read_as_an_event_of_today(path: Path) -> None:
    found = read(path)
    cls = TOPICS[found["topic"]]
    for facts in found["facts"].values():
        event = parse(found["topic"], found["schema"], facts.encode(), "a fixture")
        assert type(event) is cls
        facts_of(event)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.stem == f"v{kept.types_of_today()[path.parent.name].class_version}"],
    ids=lambda path: path.parent.name,
)
def test_a_field_that_comes_or_goes_needs_a_new_version(path: Path) -> None:
    """Stored again, the version of today gives the same bytes: no field was added, dropped, renamed or retyped."""
    found = read(path)
    event = parse(found["topic"], found["schema"], found["facts"]["full"].encode(), "a fixture")
    assert facts_of(event).decode() == found["facts"]["full"]
    assert event == kept.sample(type(event))


@pytest.fixture
def registered() -> Iterator[Callable[[type[Event]], type[Event]]]:
    """Puts event classes into the allow-list for one test; a class of a topic that is there takes its place."""
    before = dict(TOPICS)

    def put(cls: type[Event]) -> type[Event]:
        TOPICS.pop(cls.TOPIC, None)
        return topic(cls)

    yield put
    TOPICS.clear()
    TOPICS.update(before)


@pytest.mark.parametrize("change", ["new field that must be", "field gone", "field renamed", "field of another type"])
def test_a_model_that_changed_without_a_version_no_longer_reads_its_fixture(
    registered: Callable[[type[Event]], type[Event]], change: str
) -> None:
    class Before(Event):
        TOPIC: ClassVar[str] = "SessionForked"
        parent: str
        parent_position: int

    class MustHave(Before):
        TOPIC: ClassVar[str] = "SessionForked"
        reason: str

    class Gone(Event):
        TOPIC: ClassVar[str] = "SessionForked"
        parent: str

    class Renamed(Event):
        TOPIC: ClassVar[str] = "SessionForked"
        parent: str
        position: int

    class Retyped(Event):
        TOPIC: ClassVar[str] = "SessionForked"
        parent: int
        parent_position: int

    changed: dict[str, type[Event]] = {
        "new field that must be": MustHave, "field gone": Gone, "field renamed": Renamed,
        "field of another type": Retyped,
    }  # fmt: skip
    found = read(kept.path_of("SessionForked", 1))
    registered(Before)
    parse("SessionForked", 1, found["facts"]["full"].encode(), "a fixture")
    registered(changed[change])
    with pytest.raises(StoreError) as refused:
        parse("SessionForked", 1, found["facts"]["full"].encode(), "a fixture")
    assert refused.value.code == "event_unreadable"


def stored(found: dict[str, Any], facts: str) -> EnvelopedEvent:
    """A fixture as the log takes it."""
    where = found["envelope"]
    envelope = Envelope(
        UUID(where["stream"]), where["version"], where["workspace"], datetime.fromisoformat(where["time"]),
        where["actor"], where["session"], where["run"], where["trust"], where["causation"],
    )  # fmt: skip
    payload = None if found["payload"] is None else found["payload"].encode()
    salt = None if payload is None else b"s" * 16
    return EnvelopedEvent(
        originator_id=envelope.stream,
        originator_version=envelope.version,
        topic=found["topic"],
        state=facts.encode(),
        schema=found["schema"],
        envelope=envelope,
        time=timestamp(envelope.time),
        payload=payload,
        salt=salt,
        body_digest=None if payload is None or salt is None else body_digest(salt, payload),
    )


@pytest.mark.parametrize("form", ["full", "least"])
def test_every_fixture_goes_through_a_store(database: Database, form: str) -> None:
    log = Log(database)
    every = [read(path) for path in FILES]
    log.append_stored([stored(found, found["facts"][form]) for found in every])
    events = list(log.read())
    assert [event.topic for event in events] == [found["topic"] for found in every]
    for event, found in zip(events, every, strict=True):
        assert (event.schema, event.facts.decode()) == (found["schema"], found["facts"][form])
        assert (event.payload.decode() if event.payload else None) == found["payload"]
        assert type(event.body) is TOPICS[event.topic]
    report = verify_log(log)
    assert report.ok, report.detail
