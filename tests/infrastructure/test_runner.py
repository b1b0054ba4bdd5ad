"""The engine: batches, fences, poison, parking, holes (E5, E6)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from histories import Book
from plugins import Fussy, Parking, TokenCost
from sqlalchemy import Connection, func, select

from minutebook.domain import streams
from minutebook.domain.catalogue import MessageRecorded, SessionOpened
from minutebook.domain.errors import InputError, StoreError
from minutebook.domain.events import TOPICS, LoggedEvent
from minutebook.infrastructure.store import cursors
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import By, Projections, Status
from minutebook.infrastructure.store.worker import Overtaken
from minutebook.projections.context import Context, queries
from minutebook.projections.memory_file import MemoryFile, desired

MakeMessage = Callable[..., MessageRecorded]


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


@pytest.fixture(autouse=True)
def no_poison() -> Iterator[None]:
    Fussy.POISON.clear()
    yield
    Fussy.POISON.clear()


def state(projections: Projections, name: str) -> Status:
    return next(row for row in projections.status() if row.name == name)


def tokens(projections: Projections, name: str = "token_cost") -> tuple[int, int]:
    """Rows and their tokens, checked against the totals that were added up beside them."""
    with projections.reading(name) as (view, connection):
        lines = connection.execute(select(func.count(), func.coalesce(func.sum(view.lines.c.tokens), 0))).one()
        totals = select(
            func.coalesce(func.sum(view.totals.c.messages), 0), func.coalesce(func.sum(view.totals.c.tokens), 0)
        )
        assert tuple(connection.execute(totals).one()) == tuple(lines)
        return int(lines[0]), int(lines[1])


# --- catching up


def test_a_reader_sees_what_was_appended_before(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost, Context])
    assert tokens(projections) == (0, 0)
    log.append([message(number) for number in range(1, 4)])
    assert tokens(projections) == (3, 9)
    log.append([message(4)])
    assert tokens(projections) == (4, 12)
    with projections.reading("context") as (view, connection):
        assert queries.visible(view, connection, "local", "s") == [("m", position) for position in (1, 2, 3, 4)]


def test_the_status_tells_cursor_head_and_lag(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(number) for number in range(1, 6)])
    before = state(projections, "token_cost")
    assert (before.cursor, before.head, before.lag, before.version) == (0, 5, 5, 1)
    projections.catch_up()
    after = state(projections, "token_cost")
    assert (after.cursor, after.lag, after.status, after.error) == (5, 0, "live", None)
    assert after.heartbeat is not None


def test_the_cursor_passes_over_events_that_are_not_its_own(log: Log) -> None:
    projections = Projections(log, [MemoryFile, TokenCost])
    book = Book(log)
    book.open("s")
    book.messages("s", ["hello"] * 20)
    projections.catch_up()
    assert {row.cursor for row in projections.status()} == {21}


def test_an_event_of_a_newer_version_is_passed_by(
    log: Log, message: MakeMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append([message(1)])
    opened = SessionOpened(envelope=message(2).envelope)
    log.append([opened])
    projections = Projections(log, [Context])
    monkeypatch.delitem(TOPICS, "SessionOpened")
    projections.catch_up()
    assert state(projections, "context").cursor == 2


def test_a_projection_without_types_is_given_every_known_event(log: Log) -> None:
    seen: list[str] = []

    class Everything(TokenCost):
        event_types = frozenset()

        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            seen.extend(event.topic for event in events)

    book = Book(log)
    book.open("s")
    book.message("s")
    Projections(log, [Everything]).catch_up()
    assert seen == ["SessionOpened", "MessageRecorded"]


def test_a_table_outside_its_name_is_refused(log: Log) -> None:
    class Greedy(TokenCost):
        name = "greedy"

    with pytest.raises(InputError) as caught:
        Projections(log, [Greedy])
    assert caught.value.code == "bad_projection"
    with pytest.raises(InputError, match="rename one"):
        Projections(log, [TokenCost, Fussy])
    with pytest.raises(InputError) as caught:
        Projections(log, [TokenCost]).catch_up("tokencost")
    assert caught.value.code == "unknown_projection"


# --- rows and cursor together


def test_a_crash_in_the_middle_of_a_batch_leaves_neither_rows_nor_a_moved_cursor(
    log: Log, message: MakeMessage
) -> None:
    class Crash(KeyboardInterrupt):
        pass

    class Crashing(TokenCost):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            super().apply(events[: len(events) // 2], connection)
            raise Crash

    Projections(log, [TokenCost])
    log.append([message(number) for number in range(1, 9)])
    with pytest.raises(Crash):
        Projections(log, [Crashing]).catch_up()
    sound = Projections(log, [TokenCost])
    assert state(sound, "token_cost").cursor == 0
    with sound.database.reading() as connection:
        lines = sound._bound["token_cost"].tables
        assert sum(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in lines) == 0
    assert tokens(sound) == (8, 24)


def test_two_workers_at_once_apply_every_event_once(log: Log, message: MakeMessage) -> None:
    log.append([message(number) for number in range(1, 2501)])
    crews = [Projections(log, [TokenCost]) for _ in range(3)]
    start = threading.Barrier(3)
    failures: list[BaseException] = []

    def work(crew: Projections) -> None:
        start.wait()
        try:
            for _ in range(3):
                crew.catch_up()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(crew,)) for crew in crews]
    for thread in threads:
        thread.start()
    log.append([message(number) for number in range(2501, 2600)])
    for thread in threads:
        thread.join()
    assert failures == []
    assert tokens(crews[0]) == (2599, 3 * 2599)
    assert crews[0].verify("token_cost").ok


def test_a_worker_that_lost_the_race_writes_nothing(log: Log, message: MakeMessage) -> None:
    slow, quick = Projections(log, [TokenCost]), Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    worker = slow._workers["token_cost"]
    with slow.database.reading() as connection:
        cursor = cursors.find(connection, "token_cost")
        assert cursor is not None
        batch = worker.feed.batch(connection, cursor.position)
    quick.catch_up()
    with pytest.raises(Overtaken):
        worker.apply(cursor, batch)
    assert tokens(slow) == (2, 6)


def test_advance_moves_rows_and_cursor_with_the_append_or_not_at_all(log: Log) -> None:
    projections = Projections(log, [MemoryFile])
    book = Book(log)
    candidate = book.propose("admitted")
    number = book.prepare((), inputs=[candidate])
    projections.catch_up()
    waiting = state(projections, "memory_file")
    assert waiting.cursor == 1  # before the admission that the file does not reflect yet

    def fail(connection: Connection, positions: list[int]) -> None:
        assert projections.advance("memory_file", connection) == positions[-1]
        raise RuntimeError("power cut")

    event = book.committed(number, [candidate])
    with pytest.raises(RuntimeError):
        log.append([event], within=fail)
    assert state(projections, "memory_file").cursor == 1
    log.append([event], within=lambda connection, positions: _advanced(projections, connection, positions))
    with projections.database.reading() as connection:
        row = desired(projections._bound["memory_file"].projection, connection, "local")  # type: ignore[arg-type]
    assert (row.revision, row.digest, row.state) == (1, "digest-1", "committed")
    assert state(projections, "memory_file").lag == 0


def _advanced(projections: Projections, connection: Connection, positions: list[int]) -> None:
    assert projections.advance("memory_file", connection) == positions[-1]


# --- poison


def test_a_poison_event_halts_only_its_projection_and_is_named(log: Log, message: MakeMessage) -> None:
    Fussy.POISON.add("m5")
    projections = Projections(log, [Fussy, Context])
    log.append([message(number) for number in range(1, 10)])
    projections.catch_up()
    halted = state(projections, "token_cost")
    assert (halted.status, halted.cursor, halted.lag) == ("halted", 4, 5)
    assert halted.error == "position 5 (MessageRecorded): ValueError: cannot bear m5"
    assert state(projections, "context").cursor == 9
    with pytest.raises(StoreError) as caught, projections.reading("token_cost"):
        pass
    assert caught.value.code == "projection_halted"
    assert "position 5" in caught.value.message
    # appends and other readers go on
    log.append([message(10)])
    projections.catch_up()
    assert (state(projections, "token_cost").cursor, state(projections, "context").cursor) == (4, 10)


def test_a_halted_projection_goes_on_when_the_cause_is_mended(log: Log, message: MakeMessage) -> None:
    Fussy.POISON.add("m2")
    projections = Projections(log, [Fussy])
    log.append([message(number) for number in range(1, 4)])
    projections.catch_up()
    assert projections.retry("token_cost").status == "halted"
    Fussy.POISON.clear()
    assert projections.retry("token_cost").status == "live"
    assert tokens(projections) == (3, 9)
    assert projections.verify("token_cost").ok


def test_a_skip_is_an_event_that_a_rebuild_follows_and_verify_keeps_naming(log: Log, message: MakeMessage) -> None:
    Fussy.POISON.add("m2")
    projections = Projections(log, [Fussy])
    log.append([message(number) for number in range(1, 4)])
    projections.catch_up()
    skipped = projections.skip("token_cost", By(reason="known bad"))
    assert (skipped.status, skipped.skipped) == ("live", (2,))
    (logged,) = log.read(after=3)
    assert (logged.topic, logged.actor, logged.body.content) == ("ProjectionSkipped", "person", {"reason": "known bad"})
    assert tokens(projections) == (2, 6)
    before = projections.dump_hash("token_cost")
    projections.rebuild("token_cost")
    assert projections.dump_hash("token_cost") == before
    report = projections.verify("token_cost")
    assert (report.ok, "[2] (skipped)" in report.detail) == (False, True)
    with pytest.raises(StoreError) as caught:
        projections.skip("token_cost")
    assert caught.value.code == "nothing_to_skip"


def test_a_parking_projection_puts_aside_the_event_and_what_follows_in_its_stream(
    log: Log, message: MakeMessage
) -> None:
    Fussy.POISON.add("m2")
    projections = Projections(log, [Parking])
    log.append([message(1), message(2), message(3)])
    projections.catch_up()
    log.append([_second(message(2)), message(4)])
    projections.catch_up()
    parked = state(projections, "token_cost")
    assert (parked.status, parked.cursor, parked.parked) == ("live", 5, (2, 4))
    assert tokens(projections) == (3, 9)
    report = projections.verify("token_cost")
    assert (report.ok, "[2, 4] (parked)" in report.detail) == (False, True)
    # a rebuild meets the same, and says the same
    projections.rebuild()
    assert state(projections, "token_cost").parked == (2, 4)
    assert tokens(projections) == (3, 9)
    # mended, they are applied in order
    Fussy.POISON.clear()
    assert projections.retry("token_cost").parked == ()
    assert tokens(projections) == (5, 15)
    assert projections.verify("token_cost").ok


def test_a_parked_event_can_be_skipped(log: Log, message: MakeMessage) -> None:
    Fussy.POISON.add("m2")
    projections = Projections(log, [Parking])
    log.append([message(1), message(2)])
    projections.catch_up()
    found = projections.skip("token_cost")
    assert (found.parked, found.skipped) == ((), (2,))


def _second(event: MessageRecorded) -> MessageRecorded:
    """Another event of the same stream."""
    from dataclasses import replace

    envelope = replace(event.envelope, version=2)
    again = event.model_copy(update={"message": event.message + "-again"})
    again.__dict__["envelope"] = envelope
    return again


def test_a_locked_database_is_waited_for_and_does_not_halt(tmp_path: Any, message: MakeMessage) -> None:
    database = Database(tmp_path / "book.db", lock_timeout=0.05)
    log = Log(database)
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    other = Database(tmp_path / "book.db")
    release = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with other.projecting():
            held.set()
            release.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(5)
    threading.Timer(0.25, release.set).start()
    projections.catch_up()
    thread.join()
    assert state(projections, "token_cost").status == "live"
    assert tokens(projections) == (1, 3)
    database.close()
    other.close()


# --- holes


@pytest.fixture
def sqlite_log(tmp_path: Any) -> Iterator[Log]:
    database = Database(tmp_path / "book.db")
    yield Log(database)
    database.close()


@pytest.mark.parametrize("position", [1, 4, 8])
@pytest.mark.parametrize("projection", [TokenCost, MemoryFile])
def test_a_missing_event_stops_the_projection_with_its_position(
    sqlite_log: Log, message: MakeMessage, position: int, projection: type[TokenCost]
) -> None:
    projections = Projections(sqlite_log, [projection])
    sqlite_log.append([message(number) for number in range(1, 9)])
    with sqlite_log.database.projecting() as connection:
        connection.exec_driver_sql("DROP TRIGGER events_delete")
        connection.exec_driver_sql("DELETE FROM events WHERE position = ?", (position,))
    with pytest.raises(StoreError) as caught:
        projections.catch_up()
    assert caught.value.code == "log_hole"
    assert caught.value.details["position"] == position


def test_a_cursor_beyond_the_head_is_named_and_rebuilt(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    projections.catch_up()
    with log.database.projecting() as connection:
        connection.exec_driver_sql("UPDATE cursors SET position = 90")
    with pytest.raises(StoreError) as caught:
        projections.catch_up()
    assert caught.value.code == "cursor_ahead"
    report = projections.verify("token_cost")
    assert (report.ok, "head of the log is 2" in report.detail) == (False, True)
    projections.rebuild("token_cost")
    assert tokens(projections) == (2, 6)


def test_a_deleted_cursor_means_from_the_beginning(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    projections.catch_up()
    with log.database.projecting() as connection:
        connection.exec_driver_sql("DELETE FROM cursors")
    assert not projections.verify("token_cost").ok
    assert tokens(projections) == (2, 6)
    assert projections.verify("token_cost").ok


def test_workspaces_do_not_see_each_other(log: Log) -> None:
    projections = Projections(log, [Context])
    one, other = Book(log, "one"), Book(log, "other")
    for book in (one, other):
        book.open("s")
        book.messages("s", ["hello"] * 3)
    with projections.reading("context") as (view, connection):
        mine = queries.visible(view, connection, "one", "s")
        theirs = queries.visible(view, connection, "other", "s")
        assert (len(mine), len(theirs), set(mine) & set(theirs)) == (3, 3, set())
        assert queries.visible(view, connection, "third", "s") == []
    assert streams.session_stream("one", "s") != streams.session_stream("other", "s")
