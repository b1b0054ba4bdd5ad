"""Events of older and of newer code in one log: read through an upcast, carried, passed by, or halted at (E7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert

from minutebook import Minutebook, MinutebookError, Projection
from minutebook.domain.events import TOPICS, Envelope, Event, topic
from minutebook.domain.streams import compactions_stream, document_stream, message_stream, runs_stream, session_stream
from minutebook.infrastructure.book import catalogue
from minutebook.verify import main as verify_export

Command = Callable[..., Any]


class PinnedFirst(Event):
    """As the first code wrote it."""

    TOPIC: ClassVar[str] = "TestPinned"
    name: str


class Pinned(Event):
    """As it is written since: the name is a title, and has a weight."""

    TOPIC: ClassVar[str] = "TestPinned"
    class_version: ClassVar[int] = 2
    title: str
    weight: int

    @staticmethod
    def upcast_v1_v2(state: dict[str, Any]) -> None:
        state["title"] = state.pop("name")
        state["weight"] = 1


class Pins(Projection):
    """What is pinned, by title and weight; of today's code."""

    name = "test_pins"
    version = 1
    event_types = frozenset({Pinned})

    def tables(self, metadata: MetaData) -> None:
        self.pins = Table(
            "test_pins", metadata, Column("position", Integer, primary_key=True, autoincrement=False),
            Column("title", Text), Column("weight", Integer),
        )  # fmt: skip

    def apply(self, events: Any, connection: Any) -> None:
        rows = [{"position": e.position, "title": e.body.title, "weight": e.body.weight} for e in events]
        connection.execute(insert(self.pins), rows)


@contextmanager
def code(event: type[Event], monkeypatch: pytest.MonkeyPatch, *, projected: bool = True) -> Iterator[None]:
    """The code of a time: the form of the event that it knows, and a projection of it."""
    topic(event)
    with monkeypatch.context() as patched:
        patched.setattr(catalogue, "BUILT_IN", (*catalogue.BUILT_IN, Pins) if projected else catalogue.BUILT_IN)
        try:
            yield
        finally:
            TOPICS.pop("TestPinned", None)


def pin(book: Minutebook, event: type[Event], version: int, **facts: Any) -> int:
    runtime = book._runtime
    stream = session_stream(runtime.workspace, "pins")
    envelope = Envelope(stream, version, runtime.workspace, datetime.now(UTC), "agent", "pins")
    position: int = runtime.log.append([event(envelope=envelope, **facts)])[0]
    return position


def pins(book: Minutebook) -> list[tuple[str, int]]:
    with book._runtime.projections.reading("test_pins") as (view, connection):
        assert isinstance(view, Pins)
        rows = connection.execute(view.pins.select().order_by(view.pins.c.position))
        return [(row.title, row.weight) for row in rows]


def test_what_older_code_recorded_is_upcast_wherever_it_is_read(
    place: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with code(PinnedFirst, monkeypatch, projected=False), Minutebook.open(place, automatic=False) as book:
        first = pin(book, PinnedFirst, 1, name="the first")
    with code(Pinned, monkeypatch):
        with Minutebook.open(place, automatic=False) as book:
            book.projections.rebuild("test_pins")
            pin(book, Pinned, 2, title="the second", weight=7)
            assert pins(book) == [("the first", 1), ("the second", 7)]
            report = book.verify()
            assert report["ok"], report["checks"]
        line = command("log", "--type", "TestPinned", "--json").lines[0]
        assert (line["position"], line["body"]["name"]) == (first, "the first"), "the log keeps what was written"
        assert command("trace", first).code == 0
        exported = tmp_path / "log.jsonl"
        assert command("export", "--log", "--to", exported).code == 0
        assert verify_export([str(exported)]) == 0
        fresh = tmp_path / "fresh"
        fresh.mkdir()
        monkeypatch.delenv("MINUTEBOOK_DATABASE", raising=False)
        with Minutebook.open(fresh, automatic=False) as other:
            other.import_log(exported)
            assert pins(other) == [("the first", 1), ("the second", 7)]


def test_a_newer_version_of_a_known_event_halts_only_who_wants_it_and_goes_on_after_an_upgrade(
    place: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with code(Pinned, monkeypatch, projected=False), Minutebook.open(place, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "hello"})
        newer = pin(book, Pinned, 1, title="of newer code", weight=3)
    with code(PinnedFirst, monkeypatch), Minutebook.open(place, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "it goes on"})
        assert len(book.find_session("s").context().messages) == 2
        states = {row["name"]: row for row in book.projections.list()}
        assert {name for name, row in states.items() if row["status"] == "halted"} == {"test_pins"}
        assert "upgrade minutebook" in states["test_pins"]["error"]
        with pytest.raises(MinutebookError) as halted:
            pins(book)
        assert halted.value.code == "projection_halted"
        assert "event_of_newer_version" in [row["code"] for row in Minutebook.doctor(place)["findings"]]
        assert [event["position"] for event in book.log(type="TestPinned")] == [newer]
        assert book.trace(newer)[0]["position"] == newer
        assert book.export_log(tmp_path / "log.jsonl")["head"] == book.head
        checks = {check["name"]: check["ok"] for check in book.verify()["checks"]}
        assert checks["log"]
        assert checks["projection context"]
        assert not checks["projection test_pins"]
    with code(Pinned, monkeypatch), Minutebook.open(place, automatic=False) as book:
        book.projections.retry("test_pins")
        assert pins(book) == [("of newer code", 3)]
        assert book.verify()["ok"]


READING: list[tuple[str, ...]] = [
    ("status",), ("session", "list"), ("session", "show", "build-42"), ("session", "messages", "build-42"),
    ("context", "build-42", "--window", "200000"), ("compactions", "build-42"), ("log",), ("memory", "show"),
    ("memory", "log"), ("memory", "blame"), ("memory", "status"), ("memory", "candidates"), ("verify",),
    ("projections", "list"), ("projections", "rebuild", "--all"), ("blame", "build-42"), ("doctor",),
]  # fmt: skip


def test_an_event_of_an_unknown_type_is_passed_by_wherever_it_stands(
    story: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FromTheFuture(Event):
        TOPIC: ClassVar[str] = "TestFromTheFuture"
        anything: str = "at all"

    topic(FromTheFuture)
    positions: list[int] = []
    try:
        with Minutebook.open(story.root, automatic=False) as book:
            runtime = book._runtime
            here = runtime.workspace
            for stream, session in (
                (session_stream(here, "build-42"), "build-42"),
                (runs_stream(here, "build-42"), "build-42"),
                (document_stream(here), None),
                (compactions_stream(here, "build-42"), "build-42"),
                (message_stream(here, "build-42", "m-future"), "build-42"),
            ):
                version = runtime.log.version(stream) + 1
                envelope = Envelope(stream, version, here, datetime.now(UTC), "agent", session)
                positions += runtime.log.append([FromTheFuture(envelope=envelope, payload=b'{"text":"?"}')])
    finally:
        del TOPICS["TestFromTheFuture"]
    for words in READING:
        done = command(*words)
        assert done.code == 0 or words == ("doctor",), (words, done.out, done.err)
    for position in positions:
        assert command("trace", position).code == 0
    lines = command("log", "--json").lines
    assert [line["position"] for line in lines if line["type"] == "TestFromTheFuture"] == positions
    with Minutebook.open(story.root, automatic=False) as book:
        with book.session("build-42").run() as run:
            run.append({"role": "user", "content": "And on it goes."})
            run.context()
            run.memory({"operation": "add", "text": "The future is passed by."})
        assert book.curate()["status"] == "committed"
        memory = story.root / ".tinyagent" / "memory" / "MEMORY.md"
        memory.write_text(memory.read_text() + "§\nBy hand.\n")
        book.memory.sync()
        book.memory.restore(1)
        assert book.verify()["ok"]
        done = book.export_log(tmp_path / "log.jsonl")
        book.backup(tmp_path / "saved")
    assert verify_export([str(tmp_path / "log.jsonl")]) == 0
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    monkeypatch.delenv("MINUTEBOOK_DATABASE", raising=False)
    with Minutebook.open(fresh, automatic=False) as other:
        assert other.import_log(tmp_path / "log.jsonl")["chain"] == done["chain"]
        assert other.verify()["ok"]


def test_a_field_that_its_version_does_not_have_is_damage_and_named(
    place: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Wider(PinnedFirst):
        TOPIC: ClassVar[str] = "TestPinned"
        extra: str = "nobody said so"

    with code(Wider, monkeypatch, projected=False), Minutebook.open(place, automatic=False) as book:
        pin(book, Wider, 1, name="wider")
    with code(PinnedFirst, monkeypatch), Minutebook.open(place, automatic=False) as book:
        report = book.verify()
        assert not report["ok"]
        assert "extra" in report["checks"][0]["detail"]
