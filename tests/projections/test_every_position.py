"""At every position of any history: event by event, in bulk, replayed and rebuilt give the very same rows (E1-E3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from fresh import ALL, Fresh
from histories import HISTORIES, Step
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins import TokenCost

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, Event
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store import cursors, overlay
from minutebook.infrastructure.store.binding import Bound
from minutebook.infrastructure.store.dump import dump_hash
from minutebook.infrastructure.store.runner import Projections
from minutebook.infrastructure.store.worker import Worker

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def fresh(request: pytest.FixtureRequest) -> Fresh:
    server = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Fresh(server, (*ALL, TokenCost))


def one_by_one(projections: Projections, name: str) -> Iterator[tuple[int, str]]:
    """Moves the live cursor event by event; gives each position that it stands at with the hash of the rows there."""
    worker = Worker(projections.database, projections.log, projections._bound[name], projections.clock)
    while True:
        with projections.database.reading() as connection:
            cursor = cursors.find(connection, name)
            assert cursor is not None
            batch = worker.feed.batch(connection, cursor.position, limit=1)
        if batch.end == cursor.position:
            return
        assert not worker.apply(cursor, batch).halted
        yield batch.end, projections.dump_hash(name)


def replayed(projections: Projections, bound: Bound, upto: int) -> str:
    """The hash of the rows that a replay in a database of its own gives."""
    with projections.database.reading() as source, overlay.scratch(bound) as (copy, target):
        overlay.fold(projections.log, source, copy, target, after=0, upto=upto)
        return dump_hash(target, copy)


def in_bulk(projections: Projections, bound: Bound, upto: int, stretch: int) -> str:
    """The hash of the rows that the way in bulk gives beside the live ones."""
    with projections.database.reading() as connection, overlay.beside(connection, bound) as copy:
        assert copy is not None
        overlay.fold(projections.log, connection, copy, connection, after=0, upto=upto, stretch=stretch)
        return dump_hash(connection, copy)


def test_at_every_position_all_ways_give_the_same_rows(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(8), deadline=None)
    @given(HISTORIES.map(lambda program: program[:14]), st.integers(1, 7))
    def holds(program: list[Step], stretch: int) -> None:
        with fresh.book() as (written, projections):
            written.play(program)
            for name in projections.names:
                bound = projections._bound[name]
                then = dict(one_by_one(projections, name))
                for position, rows in then.items():
                    assert replayed(projections, bound, position) == rows, (name, position)
                    if bound.projection.bulk:
                        assert in_bulk(projections, bound, position, stretch) == rows, (name, position)

    holds()


def test_a_rebuild_after_every_step_gives_the_rows_that_stand(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(4), deadline=None)
    @given(HISTORIES.map(lambda program: program[:10]))
    def holds(program: list[Step]) -> None:
        with fresh.book() as (written, projections):
            for step in program:
                written.play([step])
                for name in projections.names:
                    rows = [rows for _, rows in one_by_one(projections, name)] or [projections.dump_hash(name)]
                    projections.rebuild(name)
                    assert projections.dump_hash(name) == rows[-1], name
                    report = projections.verify(name)
                    assert report.ok, report

    holds()


def test_what_agents_write_goes_in_bulk(fresh: Fresh) -> None:
    """Given messages with ids as providers make them, no stretch is given up and taken one by one."""
    with fresh.book() as (_, projections):
        events = [message(f"msg_{number:04d}", calls=(f"call_{number}", "toolu_01")) for number in range(40)]
        projections.log.append(events)
        bound = projections._bound["context"]
        worker = Worker(projections.database, projections.log, bound, projections.clock)
        worker.stretch = 15
        worker.catch_up()
        assert worker.feed.single_upto == 0
        assert projections.dump_hash("context") == replayed(projections, bound, len(events))


def message(name: str, **facts: Any) -> MessageRecorded:
    envelope = Envelope(message_stream("w", "s", name), 1, "w", WHEN, "agent", "s", "r1", "tool")
    fixed: dict[str, Any] = {"role": "tool", "form": "openai", "tokens": 7, "counter": "estimate-1", "size": 1}
    return MessageRecorded(message=name, **fixed | facts, envelope=envelope)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
LISTS = st.lists(NAMES | st.sampled_from(['a","b', "\\", '"', "é", "call_1", ', "', "\x7f"]), max_size=3)


@st.composite
def messages(draw: st.DrawFn) -> list[Event]:
    """Messages with names that hold whatever a name can hold, in sessions and runs of several workspaces."""
    found: list[Event] = []
    for number in range(draw(st.integers(1, 12))):
        workspace, session = draw(st.sampled_from(["w", "ü"])), draw(st.sampled_from(["s", "t", 'sé"s']))
        name = f"{draw(NAMES)}{number}"
        made = message(
            name,
            role=draw(st.sampled_from(["user", "tool", "rôle", 'r"'])),
            tokens=draw(st.integers(0, 2**40)),
            calls=tuple(draw(LISTS)),
            results=tuple(draw(LISTS)),
        )
        run = draw(st.none() | st.just("r1"))
        envelope = Envelope(message_stream(workspace, session, name), 1, workspace, WHEN, "agent", session, run, "tool")
        found.append(made.model_copy(update={"envelope": envelope}))
    return found


def test_names_of_any_kind_become_the_same_rows_in_bulk(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(24), deadline=None)
    @given(messages(), st.integers(1, 5))
    def holds(events: list[Event], stretch: int) -> None:
        with fresh.book() as (_, projections):
            projections.log.append(events)
            bound = projections._bound["context"]
            rows = replayed(projections, bound, len(events))
            assert in_bulk(projections, bound, len(events), stretch) == rows
            # and so does a worker that takes what it can in bulk
            worker = Worker(projections.database, projections.log, bound, projections.clock)
            worker.stretch = stretch
            assert worker.catch_up() is not None
            assert projections.dump_hash("context") == rows
            assert projections.verify("context").ok

    holds()
