"""What an older policy showed stays byte-identical after every later change: recorded logs, recorded digests (C11)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from golden import Golden, load, record, recorded

from minutebook import Minutebook
from minutebook.domain.catalogue import CompactionCommitted, ContextShown, ReductionDecided
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log


@pytest.fixture(params=recorded())
def golden(request: pytest.FixtureRequest) -> Golden:
    return load(request.param)


@pytest.fixture
def replayed(golden: Golden, database_url: str, place: Path) -> tuple[Golden, str, Path]:
    """A fresh database that holds the recorded events, byte for byte."""
    database = Database(database_url)
    log = Log(database)
    positions = log.append_stored(golden.events)
    assert positions == list(range(1, len(golden.events) + 1))
    assert [event.chain for event in log.read()] == golden.chain, "the chain is the recorded one"
    database.close()
    return golden, database_url, place


def test_every_digest_of_a_recorded_log_is_found_again(replayed: tuple[Golden, str, Path]) -> None:
    golden, url, place = replayed
    with Minutebook.open(place, database=url, access="look") as book:
        assert len(golden.contexts) > 50
        for told in golden.contexts:
            context = book.session(told["session"]).context(at=told["at"])
            found = (context.digest, context.tokens, len(context.messages))
            assert found == (told["digest"], told["tokens"], told["messages"]), told


def test_every_request_that_was_shown_is_proved_again(replayed: tuple[Golden, str, Path]) -> None:
    """The digests that the events themselves hold: under three windows, before and after undo, redo and fork."""
    golden, url, place = replayed
    with Minutebook.open(place, database=url, access="look") as book:
        shown = list(book._runtime.log.read(topics=(ContextShown.TOPIC,)))
        windows = set()
        for event in shown:
            body = event.body
            assert isinstance(body, ContextShown)
            assert (body.policy, body.renderer) == (golden.policy, golden.renderer)
            windows.add(body.window)
            assert event.session is not None
            context = book.session(event.session).context(at=body.seen)
            assert (context.digest, context.proved) == (body.digest, True), event.position
            assert (context.policy, context.window) == (body.policy, body.window), event.position
        assert len(shown) > 30
        assert len(windows) >= 3


def test_a_recorded_story_holds_what_can_change_a_context(golden: Golden) -> None:
    topics = {event.topic for event in golden.events}
    assert topics >= {
        "CompactionCommitted", "CompactionRejected", "CompactionUndone", "CompactionRedone", "ReductionDecided",
        "MemoryFrozen", "PreambleRecorded", "SessionForked", "RevisionCommitted",
    }  # fmt: skip
    decided = [event for event in golden.events if event.topic in (CompactionCommitted.TOPIC, ReductionDecided.TOPIC)]
    assert {json.loads(event.state)["policy"] for event in decided} == {golden.policy}
    assert all(event.payload for event in decided), "what is shown stands in the event"


def test_a_recorded_log_verifies_and_rebuilds(replayed: tuple[Golden, str, Path]) -> None:
    golden, url, place = replayed
    with Minutebook.open(place, database=url, automatic=False) as book:
        head = book.head
        book.projections.rebuild("context")
        told = golden.contexts[-1]
        assert book.session(told["session"]).context(at=told["at"]).digest == told["digest"]
        checks = [check for check in book.verify().checks if "file" not in check["name"]]
        assert all(check["ok"] for check in checks), checks
        assert book.head == head


def test_a_recorded_version_is_never_written_again(golden: Golden) -> None:
    with pytest.raises(FileExistsError):
        record(golden.name)
