"""Any projection as of any position: what the live rows were then, and nothing of theirs is touched (E3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from histories import Book
from plugins import Fussy, Parking, TokenCost
from sqlalchemy import select

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import InputError, StoreError
from minutebook.infrastructure.store import past
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.dump import encode, rows
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context
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


def dumped(projections: Projections, name: str, connection: Any) -> list[bytes]:
    return [encode(row) for table in projections._known(name).tables for row in rows(connection, table)]


def live(projections: Projections, name: str) -> list[bytes]:
    with projections.reading(name) as (_, connection):
        return dumped(projections, name, connection)


def then(projections: Projections, name: str, position: int) -> list[bytes]:
    with past.at(projections, name, position) as (_, connection):
        return dumped(projections, name, connection)


def test_at_every_position_the_past_is_what_the_live_rows_were(log: Log) -> None:
    # given a history of messages and memory, and the live rows of each projection after each of its events
    names = ("token_cost", "context", "candidates", "revisions")
    projections = Projections(log, [TokenCost, Context, Candidates, Revisions, MemoryFile])
    book = Book(log)
    seen: dict[int, dict[str, list[bytes]]] = {0: {name: live(projections, name) for name in names}}

    def note() -> None:
        seen[log.head().position] = {name: live(projections, name) for name in names}

    book.open("s")
    note()
    for number in range(4):
        book.message("s", text=f"line {number}")
        note()
    candidate = book.propose("admitted")
    note()
    revision = book.prepare((), inputs=[candidate])
    note()
    log.append([book.committed(revision, [candidate])])
    note()
    before = {name: projections.dump_hash(name) for name in projections.names}

    # when each is looked at as of each position, then it is what stood there
    for position, expected in seen.items():
        for name in names:
            assert then(projections, name, position) == expected[name], (name, position)

    # and the live rows are as they were
    assert {name: projections.dump_hash(name) for name in projections.names} == before


def test_what_was_skipped_or_parked_is_missing_in_the_past_too(log: Log, message: MakeMessage) -> None:
    for kind, position in ((Fussy, 2), (Parking, 2)):
        Fussy.POISON.add("m2")
        projections = Projections(log, [kind])
        if log.head().position == 0:
            log.append([message(number) for number in range(1, 5)])
        projections.catch_up()
        if kind is Fussy:
            # halted: the past is there up to the event, and no further
            assert len(then(projections, "token_cost", 1)) == 2
            with pytest.raises(StoreError) as caught:
                then(projections, "token_cost", position)
            assert (caught.value.code, "up to 1 it can be looked at" in caught.value.message) == (
                "projection_halted",
                True,
            )
            projections.skip("token_cost")
        else:
            projections.rebuild("token_cost")
        assert then(projections, "token_cost", log.head().position) == live(projections, "token_cost")


def test_a_replay_that_meets_a_fault_says_where(log: Log, message: MakeMessage) -> None:
    projections = Projections(log, [Fussy])
    log.append([message(number) for number in range(1, 5)])
    projections.catch_up()
    Fussy.POISON.add("m3")
    with pytest.raises(StoreError) as caught:
        then(projections, "token_cost", 4)
    assert (caught.value.code, "cannot bear m3" in caught.value.message) == ("projection_halted", True)
    assert len(then(projections, "token_cost", 2)) == 3


def test_one_that_is_not_loaded_is_refused_by_name(log: Log) -> None:
    with pytest.raises(InputError) as caught:
        then(Projections(log, [Context]), "token_cost", 0)
    assert caught.value.code == "unknown_projection"


def test_the_private_database_is_gone_afterwards_also_when_the_reader_fails(
    tmp_path: Path, message: MakeMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a place for temporary files that can be watched
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path / "spill"))
    (tmp_path / "spill").mkdir()
    database = Database(tmp_path / "book.db")
    log = Log(database)
    projections = Projections(log, [TokenCost])
    log.append([message(number, "x" * 200) for number in range(1, 3_000)])

    def fail() -> None:
        with past.at(projections, "token_cost", 2_500) as (view, connection):
            assert len(connection.execute(select(view.lines)).all()) == 2_500
            raise ZeroDivisionError

    # when a reader fails in the midst of a look
    with pytest.raises(ZeroDivisionError):
        fail()

    # then nothing is left of it
    assert list((tmp_path / "spill").iterdir()) == []
    database.close()
