"""The five standings of a projection, lag in events and seconds, and what its readers see in each (E5, E6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from plugins import Fussy, TokenCost
from sqlalchemy import func, inspect, select

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import InputError, StoreError
from minutebook.infrastructure.store.cursors import STANDINGS
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import By, Projections, Status
from minutebook.projections.context import Context
from minutebook.projections.memory_file import MemoryFile

MakeMessage = Callable[..., MessageRecorded]


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


def state(projections: Projections, name: str = "token_cost") -> Status:
    return next(row for row in projections.status() if row.name == name)


def lines(projections: Projections, name: str = "token_cost") -> int:
    with projections.reading(name) as (view, connection):
        return int(connection.execute(select(func.count()).select_from(view.lines)).scalar_one())


def test_a_projection_is_building_until_it_has_reached_the_head_and_then_live(log: Log, message: MakeMessage) -> None:
    log.append([message(number) for number in range(1, 300)])
    projections = Projections(log, [TokenCost])
    assert state(projections).status == "building"
    worker = projections._workers["token_cost"]
    with log.database.reading() as connection:
        batch = worker.feed.batch(connection, 0, limit=10)
        cursor = projections.cursor("token_cost", connection)
    assert cursor is not None
    worker.apply(cursor, batch)
    assert (state(projections).status, state(projections).cursor) == ("building", 10)
    projections.catch_up()
    assert (state(projections).status, state(projections).cursor) == ("live", 299)
    assert {row.status for row in projections.status()} <= set(STANDINGS)


def test_the_lag_in_seconds_is_the_age_of_the_oldest_event_that_is_missing(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost, MemoryFile])
    old = datetime.now(UTC) - timedelta(hours=2)
    log.append([_dated(message(1), old), _dated(message(2), datetime.now(UTC))])
    behind = state(projections)
    assert (behind.lag, behind.lag_seconds is not None and 7_100 < behind.lag_seconds < 9_000) == (2, True)
    projections.catch_up()
    assert {(row.lag, row.lag_seconds) for row in projections.status()} == {(0, 0.0)}
    # a writer whose clock is ahead of the store's is not behind by less than nothing
    log.append([_dated(message(3), datetime.now(UTC) + timedelta(hours=1))])
    assert state(projections).lag_seconds == 0.0


def _dated(event: MessageRecorded, time: datetime) -> MessageRecorded:
    from dataclasses import replace

    event.__dict__["envelope"] = replace(event.envelope, time=time)
    return event


# --- paused


def test_a_paused_projection_is_read_while_nothing_is_missing_and_refused_afterwards(
    log: Log, message: MakeMessage
) -> None:
    projections, elsewhere = Projections(log, [TokenCost, Context]), Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    projections.catch_up()
    # when a person pauses it, that is an event with actor and reason
    paused = projections.pause("token_cost", By("person", "the disk is being moved", "local"))
    assert (paused.status, paused.cursor) == ("paused", 2)
    (logged,) = log.read(after=2)
    assert (logged.topic, logged.actor, logged.workspace) == ("ProjectionPaused", "person", "local")
    assert logged.body.content == {"reason": "the disk is being moved"}
    # then it is read as it stands: the event about itself is none of its own
    assert (lines(projections), lines(elsewhere)) == (2, 2)
    # but it is never stale in silence, wherever it is read
    log.append([message(3)])
    for reader in (projections, elsewhere):
        with pytest.raises(StoreError) as caught, reader.reading("token_cost"):
            pass
        assert caught.value.code == "projection_paused"
        assert "event 4 is missing" in caught.value.message
        assert "projections resume token_cost" in caught.value.message
    projections.catch_up()
    assert (state(projections).status, state(projections).cursor, state(projections).lag) == ("paused", 2, 2)
    assert state(projections, "context").lag == 0
    # and resumed it goes on where it stood
    assert projections.resume("token_cost").status == "live"
    assert lines(elsewhere) == 3
    assert projections.verify("token_cost").ok
    assert [event.topic for event in log.read(after=4)] == ["ProjectionResumed"]


def test_what_is_paused_twice_or_resumed_unpaused_is_no_event(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    projections.resume("token_cost")
    projections.pause("token_cost")
    projections.pause("token_cost")
    assert [event.topic for event in log.read(after=1)] == ["ProjectionPaused"]


def test_a_batch_under_way_does_not_undo_a_pause(log: Log, message: MakeMessage) -> None:
    from minutebook.infrastructure.store.worker import Overtaken

    projections, other = Projections(log, [TokenCost]), Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    worker = projections._workers["token_cost"]
    with log.database.reading() as connection:
        cursor = projections.cursor("token_cost", connection)
        batch = worker.feed.batch(connection, 0)
    assert cursor is not None
    other.pause("token_cost")
    with pytest.raises(Overtaken):
        worker.apply(cursor, batch)
    assert (state(projections).status, state(projections).cursor) == ("paused", 0)


def test_a_rebuild_of_a_paused_projection_is_current_and_leaves_it_paused(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    projections.catch_up()
    projections.pause("token_cost")
    log.append([message(2)])
    projections.rebuild("token_cost")
    assert (state(projections).status, state(projections).lag, lines(projections)) == ("paused", 0, 2)


def test_a_paused_memory_file_refuses_the_commit_that_it_would_miss(log: Log) -> None:
    from histories import Book

    projections = Projections(log, [MemoryFile])
    book = Book(log)
    candidate = book.propose("admitted")
    number = book.prepare((), inputs=[candidate])
    projections.catch_up()
    projections.pause("memory_file")
    head = log.head().position
    with pytest.raises(StoreError) as caught:
        log.append(
            [book.committed(number, [candidate])],
            within=lambda connection, positions: _advance(projections, connection),
        )
    assert (caught.value.code, log.head().position) == ("projection_paused", head)


def _advance(projections: Projections, connection: object) -> None:
    projections.advance("memory_file", connection)  # type: ignore[arg-type]


def test_a_new_version_of_a_paused_projection_waits_until_it_is_resumed(log: Log, message: MakeMessage) -> None:
    class Newer(TokenCost):
        version = 2

    old = Projections(log, [TokenCost])
    log.append([message(1)])
    old.catch_up()
    old.pause("token_cost")
    new = Projections(log, [Newer])
    waiting = state(new)
    assert (waiting.status, waiting.version, waiting.note) == ("paused", 1, "stored in version 1, the code has 2")
    with pytest.raises(StoreError) as caught, new.reading("token_cost"):
        pass
    assert caught.value.code == "projection_paused"
    resumed = new.resume("token_cost")
    assert (resumed.status, resumed.version, lines(new)) == ("live", 2, 1)


# --- retired and dropped


def test_a_retired_projection_keeps_its_rows_until_it_is_dropped(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost, Context])
    log.append([message(1)])
    projections.catch_up()
    assert projections.retire("token_cost", By(reason="replaced")).status == "retired"
    log.append([message(2)])
    with pytest.raises(StoreError) as caught, projections.reading("token_cost"):
        pass
    assert caught.value.code == "projection_retired"
    # still loaded, it would come back at once
    with pytest.raises(StoreError) as caught:
        projections.drop("token_cost")
    assert caught.value.code == "projection_loaded"
    others = Projections(log, [Context])
    gone = state(others)
    assert (gone.status, gone.loaded, gone.note) == ("retired", False, "not loaded here")
    others.drop("token_cost", By(reason="nobody asks"))
    assert [row.name for row in others.status()] == ["context"]
    with log.database.reading() as connection:
        assert not [name for name in inspect(connection).get_table_names() if name.startswith("token_cost")]
    assert [event.topic for event in log.read(after=1)] == ["ProjectionRetired", "MessageRecorded", "ProjectionDropped"]
    # the log has everything: loaded again it is made again
    assert lines(Projections(log, [TokenCost])) == 2


def test_what_is_not_loaded_is_shown_as_retired_and_why(log: Log, message: MakeMessage) -> None:
    Projections(log, [TokenCost]).catch_up()
    found = state(Projections(log, [Context]))
    assert (found.status, found.loaded) == ("retired", False)
    assert found.note is not None
    assert "drop it" in found.note


def test_what_the_book_needs_is_not_retired_and_what_is_unknown_not_dropped(log: Log) -> None:
    projections = Projections(log, [Context])
    with pytest.raises(StoreError) as caught:
        projections.retire("context")
    assert caught.value.code == "projection_needed"
    for name in ("nothing", "context@building"):
        for decide in (projections.drop, projections.pause, projections.resume, projections.retire):
            with pytest.raises(InputError) as refused:
                decide(name)
            assert refused.value.code == "unknown_projection"


# --- parked events, half-way


def test_a_retry_that_fails_half_way_keeps_the_order_of_each_stream(log: Log, message: MakeMessage) -> None:
    from dataclasses import replace

    from plugins import Parking

    def again(event: MessageRecorded, version: int) -> MessageRecorded:
        later = event.model_copy(update={"message": f"{event.message}-{version}"})
        later.__dict__["envelope"] = replace(event.envelope, version=version)
        return later

    Fussy.POISON.clear()
    Fussy.POISON.update({"m1", "m1-2", "m2"})
    try:
        projections = Projections(log, [Parking])
        first, second = message(1), message(2)
        log.append([first, second, again(first, 2), again(first, 3), again(second, 2), message(3)])
        projections.catch_up()
        assert state(projections).parked == (1, 2, 3, 4, 5)
        # when the first event of one stream is mended, and its second is not
        Fussy.POISON.clear()
        Fussy.POISON.update({"m1-2", "m2"})
        found = projections.retry("token_cost")
        # then each stream goes as far as it can, and no event overtakes an earlier one of its stream
        assert (found.status, found.parked) == ("live", (2, 3, 4, 5))
        assert lines(projections) == 2
        log.append([again(first, 4)])
        projections.catch_up()
        assert state(projections).parked == (2, 3, 4, 5, 7)
        # a skip lets its stream go on, the rest waits
        Fussy.POISON.discard("m2")
        found = projections.skip("token_cost")
        assert (found.parked, found.skipped) == ((3, 4, 7), (2,))
        Fussy.POISON.clear()
        assert projections.retry("token_cost").parked == ()
        assert lines(projections) == 6
    finally:
        Fussy.POISON.clear()
