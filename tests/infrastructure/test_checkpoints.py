"""Checkpoints of past looks: they shorten the next replay, and nothing that they say is taken on trust (E3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from erasing import erase
from plugins import Fussy
from sqlalchemy import Connection, func, select

from minutebook.domain.catalogue import MessageRecorded, ProjectionSkipped
from minutebook.domain.events import Envelope, LoggedEvent
from minutebook.domain.streams import projection_stream
from minutebook.infrastructure.store import checkpoints, past
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.dump import encode, rows
from minutebook.infrastructure.store.lifecycle import By
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections

MakeMessage = Callable[..., MessageRecorded]
HEAD = 35


class Noting(Fussy):
    """Notes what it is given."""

    given: ClassVar[list[int]] = []

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        self.given.extend(event.position for event in events)
        super().apply(events, connection)


class Second(Noting):
    version = 2


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A checkpoint every ten events."""
    monkeypatch.setattr(checkpoints, "EVERY", 10)
    Fussy.POISON.clear()
    yield
    Fussy.POISON.clear()


@pytest.fixture
def log(database: Database, message: MakeMessage) -> Log:
    log = Log(database)
    log.append([message(number) for number in range(1, HEAD + 1)])
    return log


@pytest.fixture
def projections(log: Log) -> Projections:
    found = Projections(log, [Noting])
    found.catch_up()
    return found


def look(projections: Projections, position: int = HEAD) -> tuple[list[bytes], list[int]]:
    """The rows as of a position, and the events that had to be replayed for them."""
    Noting.given.clear()
    with past.at(projections, "token_cost", position) as (view, connection):
        found = [encode(row) for table in (view.totals, view.lines) for row in rows(connection, table)]
    return found, list(Noting.given)


def kept(projections: Projections) -> list[int]:
    with projections.database.reading() as connection:
        if not checkpoints.there(connection):
            return []
        found = connection.execute(select(checkpoints.checkpoints.c.position).order_by("position"))
        return list(found.scalars())


def test_the_next_look_begins_where_the_last_left_a_checkpoint(projections: Projections) -> None:
    # given a first look, which replays everything
    first, replayed = look(projections)
    assert replayed == list(range(1, HEAD + 1))
    assert kept(projections) == [10, 20, 30]

    # when others follow, then they replay the rest only, and show the same
    assert look(projections) == (first, [31, 32, 33, 34, 35])
    assert look(projections, 30)[1] == []
    assert look(projections, 25)[1] == [21, 22, 23, 24, 25]
    assert look(projections, 9)[1] == list(range(1, 10))
    assert projections.verify("token_cost").ok


def change_bytes(projections: Projections) -> None:
    with projections.database.projecting() as connection:
        table = checkpoints.checkpoints
        for row in connection.execute(select(table)).all():
            spoilt = bytes(row.image[:-1]) + bytes([row.image[-1] ^ 1])
            connection.execute(table.update().where(table.c.position == row.position).values(image=spoilt))


def change_all_bytes(projections: Projections) -> None:
    with projections.database.projecting() as connection:
        connection.execute(checkpoints.checkpoints.update().values(image=b"no image", size=8))


def move(projections: Projections) -> None:
    with projections.database.projecting() as connection:
        connection.execute(checkpoints.checkpoints.update().values(position=checkpoints.checkpoints.c.position + 1))


def skip(projections: Projections) -> None:
    """A person lets the projection pass over an event that the checkpoints have."""
    stream = projection_stream("token_cost")
    envelope = Envelope(stream, 1, "local", datetime(2026, 11, 30, tzinfo=UTC), "person")
    projections.log.append([ProjectionSkipped(projection="token_cost", position=3, envelope=envelope)])


SPOILS: dict[str, Callable[[Projections], Any]] = {
    "a changed bit": change_bytes,
    "other bytes": change_all_bytes,
    "another position": move,
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_one_that_is_not_what_was_kept_is_passed_by(projections: Projections, spoil: str) -> None:
    sound, _ = look(projections)
    SPOILS[spoil](projections)
    assert look(projections) == (sound, list(range(1, HEAD + 1)))
    # and the sound ones are there again
    assert look(projections) == (sound, [31, 32, 33, 34, 35])


def test_one_of_another_version_is_passed_by(projections: Projections, log: Log) -> None:
    sound, _ = look(projections)
    newer = Projections(log, [Second])
    assert look(newer) == (sound, list(range(1, HEAD + 1)))


def test_one_from_before_a_skip_is_passed_by(projections: Projections) -> None:
    sound, _ = look(projections)
    skip(projections)
    found, replayed = look(projections)
    assert 3 not in replayed
    assert replayed[0] == 1
    assert len(found) == len(sound) - 1


def test_an_erasure_leaves_none(projections: Projections, log: Log) -> None:
    look(projections)
    erase(log, [5])
    assert kept(projections) == []
    _, replayed = look(projections)
    assert replayed == list(range(1, HEAD + 1))
    assert look(projections)[1] == [31, 32, 33, 34, 35]


def test_a_look_that_began_before_an_erasure_keeps_nothing_after_it(
    projections: Projections, log: Log, database_url: str
) -> None:
    # given a look that begins from a checkpoint, and whose replay meets an erasure by somebody else
    look(projections, 10)
    elsewhere = Database(database_url)

    class Interrupted(Noting):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            if events[0].position == 11:
                erase(Log(elsewhere), [5])
            super().apply(events, connection)

    reader = Projections(log, [Interrupted])

    # when it goes on to its end
    _, replayed = look(reader)
    assert replayed == list(range(11, HEAD + 1))

    # then of what it saw before the erasure nothing is kept
    assert kept(projections) == []
    elsewhere.close()


def test_a_rebuild_and_a_drop_leave_none(projections: Projections, log: Log) -> None:
    look(projections)
    projections.rebuild("token_cost")
    assert kept(projections) == []
    look(projections)
    Projections(log, []).drop("token_cost", By())
    assert kept(projections) == []


def test_only_so_many_are_kept_and_none_that_is_too_large(
    projections: Projections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "KEPT_MAX", 2)
    look(projections)
    assert kept(projections) == [20, 30]
    projections.rebuild("token_cost")
    monkeypatch.setattr(checkpoints, "BYTES_MAX", 4_096)
    assert look(projections)[1] == list(range(1, HEAD + 1))
    assert kept(projections) == []


def test_a_book_that_is_only_read_keeps_none(database_url: str, log: Log, projections: Projections) -> None:
    reading = Database(database_url, access="read_only")
    reader = Projections(Log(reading), [Noting])
    found, replayed = look(reader)
    assert (len(found), replayed) == (HEAD + 1, list(range(1, HEAD + 1)))
    assert kept(reader) == []
    # it uses what others kept
    look(projections)
    assert look(reader) == (found, [31, 32, 33, 34, 35])
    reading.close()


def test_the_log_is_not_written_to(projections: Projections, log: Log) -> None:
    before = log.head()
    look(projections)
    assert log.head() == before
    with projections.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(checkpoints.checkpoints)).scalar_one() == 3
