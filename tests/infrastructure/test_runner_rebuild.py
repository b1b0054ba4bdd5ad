"""Rebuilding: a shadow generation, swapped in at once, under readers, writers, kills and a second rebuild (E2)."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from histories import Book
from plugins import Fussy, TokenCost
from sqlalchemy import Connection, func, inspect, select

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import MinutebookError, StoreError
from minutebook.domain.events import LoggedEvent
from minutebook.infrastructure.store import cursors
from minutebook.infrastructure.store import rebuild as rebuilding
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.feed import BATCH
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections, Status
from minutebook.infrastructure.store.worker import FIRST
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context, queries
from minutebook.projections.memory_file import MemoryFile
from minutebook.projections.revisions import Revisions

MakeMessage = Callable[..., MessageRecorded]


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


@pytest.fixture(autouse=True)
def no_poison() -> Iterator[None]:
    Fussy.POISON.clear()
    yield
    Fussy.POISON.clear()


def state(projections: Projections, name: str = "token_cost") -> Status:
    return next(row for row in projections.status() if row.name == name)


def tables(log: Log) -> set[str]:
    with log.database.reading() as connection:
        return {name for name in inspect(connection).get_table_names() if name.startswith("token_cost")}


def test_generations_follow_each_other_and_leave_nothing_behind(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(number) for number in range(1, 30)])
    projections.catch_up()
    before = projections.dump_hash("token_cost")
    for generation in (2, 3, 4):
        projections.rebuild()
        assert state(projections).generation == generation
        assert projections.dump_hash("token_cost") == before
        assert tables(log) == {"token_cost", "token_cost_lines"}
        assert projections.verify("token_cost").ok
    # and it lives on in the new tables
    log.append([message(30)])
    projections.catch_up()
    assert projections.count("token_cost") == 31
    assert projections.verify("token_cost").ok


def test_a_new_version_is_rebuilt_when_the_book_is_opened(log: Log, message: MakeMessage) -> None:
    class Dearer(TokenCost):
        version = 2

        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            super().apply(events, connection)
            connection.execute(self.lines.update().values(tokens=self.lines.c.tokens * 0 + 100))

    old = Projections(log, [TokenCost])
    log.append([message(1), message(2)])
    old.catch_up()
    new = Projections(log, [Dearer])
    with new.reading("token_cost") as (view, connection):
        assert connection.execute(select(func.sum(view.lines.c.tokens))).scalar_one() == 200
    # the older code, still running elsewhere, does not spoil it: it computes its own rows in memory
    log.append([message(3)])
    with old.reading("token_cost") as (view, connection):
        assert connection.execute(select(func.sum(view.lines.c.tokens))).scalar_one() == 9
    assert (state(new).cursor, state(old).status, state(old).note) == (
        2,
        "retired",
        "stored in version 2, and this process has version 1",
    )
    with pytest.raises(StoreError) as caught:
        log.append([message(4)], within=lambda connection, positions: _advance(old, connection))
    assert (caught.value.code, log.head().position) == ("projection_changed", 3)


@pytest.mark.parametrize("count", [999, 1000, 1001, 1999, 2000, 2001, 4000])
def test_a_rebuild_ends_whatever_the_length_of_the_log(tmp_path: Path, message: MakeMessage, count: int) -> None:
    database = Database(tmp_path / "book.db")
    log = Log(database)
    projections = Projections(log, [TokenCost])
    log.append([message(number) for number in range(1, count + 1)])
    projections.catch_up()
    projections.rebuild()
    assert projections.count("token_cost") == count + 1
    database.close()


def _advance(projections: Projections, connection: Connection) -> None:
    projections.advance("token_cost", connection)


def test_damage_of_every_kind_is_mended(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(number) for number in range(1, 9)])
    projections.catch_up()
    before = projections.dump_hash("token_cost")
    for damage in (
        "DELETE FROM token_cost_lines",
        "UPDATE token_cost SET tokens = 1",
        "DROP TABLE token_cost_lines",
        "ALTER TABLE token_cost DROP COLUMN tokens",
        "UPDATE cursors SET generation = 1, position = 3",
        "UPDATE cursors SET version = 7",
        "UPDATE cursors SET status = 'halted', error = 'somebody'",
    ):
        with log.database.projecting() as connection:
            connection.exec_driver_sql(damage)
        assert not projections.verify("token_cost").ok, damage
        projections.rebuild("token_cost")
        assert projections.verify("token_cost").ok, damage
        assert projections.dump_hash("token_cost") == before, damage


def test_a_dropped_table_is_said_so_to_a_reader(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    projections.catch_up()
    with log.database.projecting() as connection:
        connection.exec_driver_sql("DROP TABLE token_cost_lines")
    with pytest.raises(MinutebookError) as caught, projections.reading("token_cost") as (view, connection):
        connection.execute(select(view.lines)).all()
    assert caught.value.code == "projection_damaged"
    assert "projections rebuild token_cost" in caught.value.message


def test_an_interrupted_rebuild_is_taken_up_where_it_stopped(log: Log, message: MakeMessage) -> None:
    class Killed(BaseException):
        pass

    for first in range(1, 6001, 500):
        log.append([message(number) for number in range(first, first + 500)])
    projections = Projections(log, [TokenCost])
    projections.catch_up()
    before = projections.dump_hash("token_cost")

    def kill(name: str, position: int, head: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        projections.rebuild("token_cost", progress=kill)
    half = state(projections)
    assert (half.status, half.generation, half.building) == ("live", 1, FIRST)
    assert len(tables(log)) == 4
    # readers and the live worker never noticed
    log.append([message(6001)])
    projections.catch_up()
    reached: list[int] = []
    projections.rebuild("token_cost", progress=lambda name, position, head: reached.append(position))
    assert min(reached) > FIRST
    assert (state(projections).generation, tables(log)) == (2, {"token_cost", "token_cost_lines"})
    assert projections.verify("token_cost").ok
    assert projections.dump_hash("token_cost") != before


def test_a_left_over_of_another_version_is_thrown_away(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    projections.catch_up()
    with log.database.projecting() as connection:
        cursors.start(connection, "token_cost@building", 9, 2, ["token_cost__g2"], "")
        connection.exec_driver_sql("CREATE TABLE token_cost__g2 (x integer)")
    projections.rebuild()
    assert projections.verify("token_cost").ok
    assert tables(log) == {"token_cost", "token_cost_lines"}


def test_an_event_that_cannot_be_applied_keeps_the_stored_generation(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [Fussy])
    log.append([message(number) for number in range(1, 6)])
    projections.catch_up()
    before = projections.dump_hash("token_cost")
    Fussy.POISON.add("m3")
    with pytest.raises(StoreError) as caught:
        projections.rebuild()
    assert (caught.value.code, "position 3" in caught.value.message) == ("rebuild_failed", True)
    assert projections.dump_hash("token_cost") == before
    assert (state(projections).status, state(projections).building) == ("live", None)
    # damaged before the event: the new generation is better than nothing, and says where it stands
    log.append([message(6)])
    Fussy.POISON.add("m6")
    projections.catch_up()
    assert state(projections).status == "halted"
    projections.rebuild()
    assert (state(projections).status, state(projections).cursor) == ("halted", 2)


def test_two_rebuilds_and_a_worker_at_once_end_in_one_sound_generation(log: Log, message: MakeMessage) -> None:
    log.append([message(number) for number in range(1, 2_500)])
    crews = [Projections(log, [TokenCost]) for _ in range(3)]
    crews[0].catch_up()
    failures: list[BaseException] = []

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            failures.append(error)

    tasks = [crews[0].rebuild, crews[1].rebuild, crews[2].catch_up]
    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    log.append([message(number) for number in range(2_500, 2_600)])
    for thread in threads:
        thread.join()
    assert failures == []
    crews[0].catch_up()
    assert crews[0].verify("token_cost").ok
    assert tables(log) == {"token_cost", "token_cost_lines"}
    assert state(crews[0]).generation >= 2


def test_a_rebuild_that_another_has_finished_leaves_the_next_one_alone(log: Log, message: MakeMessage) -> None:
    """Given a rebuild whose shadow was swapped in by another process, when a third has begun, then it is not spoilt."""
    log.append([message(number) for number in range(1, 3 * BATCH)])
    slow, quick = (Projections(log, [TokenCost]) for _ in range(2))
    slow.catch_up()

    def overtaken(_name: str, _position: int, _head: int) -> None:
        if state(quick).generation == 1:
            quick.rebuild()
            rebuilding._begin(quick, quick._known("token_cost"))

    slow.rebuild("token_cost", progress=overtaken)
    assert (state(slow).generation, state(slow).building) == (2, 0)
    slow.rebuild()
    assert (state(slow).generation, state(slow).status, state(slow).building) == (3, "live", None)
    assert slow.verify("token_cost").ok
    assert tables(log) == {"token_cost", "token_cost_lines"}


@pytest.mark.slow
def test_readers_never_see_a_torn_state_while_generations_are_swapped(log: Log, message: MakeMessage) -> None:
    log.append([message(number) for number in range(1, 201)])
    projections = Projections(log, [TokenCost])
    projections.catch_up()
    done = threading.Event()
    torn: list[object] = []
    looks = [0]

    def look() -> None:
        while not done.is_set():
            try:
                with projections.reading("token_cost") as (view, connection):
                    lines = connection.execute(select(func.count()).select_from(view.lines)).scalar_one()
                    total = connection.execute(select(func.sum(view.totals.c.messages))).scalar_one()
                    again = connection.execute(select(func.count()).select_from(view.lines)).scalar_one()
                if not lines == total == again or lines < 200:
                    torn.append((lines, total, again))
                looks[0] += 1
            except MinutebookError as error:
                if error.code != "store_locked":
                    torn.append(error)

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for swap in range(6):
            log.append([message(201 + swap)])
            projections.rebuild()
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert torn == []
    assert looks[0] > 0
    assert state(projections).generation == 7


def test_a_dropped_projection_leaves_no_table_and_can_come_back(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [TokenCost, Context])
    log.append([message(1)])
    projections.catch_up()
    others = Projections(log, [Context])
    assert [(row.name, row.status) for row in others.status()] == [("context", "live"), ("token_cost", "retired")]
    others.drop("token_cost")
    assert tables(log) == set()
    assert [row.name for row in others.status()] == ["context"]
    back = Projections(log, [TokenCost, Context])
    back.catch_up()
    assert back.count("token_cost") == 2


def test_the_read_models_can_be_rebuilt_while_a_history_grows(log: Log) -> None:
    projections = Projections(log, [Context])
    book = Book(log)
    book.open("s")
    for _ in range(3):
        positions = book.messages("s", ["hello"] * 12)
        projections.catch_up()
        book.compact("s", positions[2:6])
        projections.rebuild()
    assert projections.verify("context").ok


def test_all_read_models_are_the_same_on_both_databases_and_after_a_rebuild(log: Log) -> None:
    # given a long legal history, projected as it grew
    chance = random.Random(7)
    projections = Projections(log, [Context, Candidates, Revisions, MemoryFile])
    book = Book(log)
    for _ in range(6):
        book.play([(chance.randrange(30), chance.randrange(41), chance.randrange(41)) for _ in range(12)])
        projections.catch_up()
    # then a fresh SQLite in memory, which verify computes, has the same rows, and so has the next generation
    reports = [projections.verify(name) for name in projections.names]
    assert all(report.ok for report in reports), reports
    before = {name: projections.dump_hash(name) for name in projections.names}
    projections.rebuild()
    assert {name: projections.dump_hash(name) for name in projections.names} == before
    with projections.reading("context") as (view, connection):
        for position, sessions in book.past.items():
            for name, expected in sessions.items():
                assert queries.visible(view, connection, "local", name, position) == expected
