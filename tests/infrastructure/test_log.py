"""The log on both databases: order, conflicts, atomicity, guards, one chain (S2, M3, M4)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from erasing import erase
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.chain import GENESIS, body_digest, envelope_digest, next_chain
from minutebook.domain.errors import StoreError, StreamConflict
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import timestamp

Make = Callable[..., MessageRecorded]


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


def assert_chain_holds(log: Log) -> None:
    chain = GENESIS
    for position, event in enumerate(log.read(), start=1):
        assert event.position == position
        time = timestamp(event.time)
        digest = envelope_digest(event.envelope, event.topic, event.schema, time, event.facts, event.body_digest)
        chain = next_chain(chain, position, digest)
        assert chain == event.chain
        if event.payload is not None:
            assert event.salt is not None
            assert body_digest(event.salt, event.payload) == event.body_digest
    assert chain == log.head().chain


def test_what_is_appended_is_read_back_equal(log: Log, message: Make) -> None:
    events = [message(number, f"text {number} § 日本 \\u0000") for number in range(1, 8)]

    assert log.append(events[:1]) == [1]
    assert log.append(events[1:]) == [2, 3, 4, 5, 6, 7]

    read = list(log.read())
    assert [event.body for event in read] == events
    assert [event.payload for event in read] == [event.payload for event in events]
    assert [event.envelope for event in read] == [event.envelope for event in events]
    assert log.head().position == 7
    assert_chain_holds(log)


def test_the_chain_is_the_same_whatever_the_size_of_the_batches(log: Log, message: Make) -> None:
    log.append([message(1)])
    log.append([message(number) for number in range(2, 300)])
    assert_chain_holds(log)


def test_an_expectation_that_does_not_hold_keeps_nothing(log: Log, message: Make) -> None:
    log.append([message(1)])
    stream = message_stream("local", "s", "m1")

    with pytest.raises(StreamConflict) as refused:
        log.append([message(2)], expects=[(stream, 0)])

    assert refused.value.details == {"stream": str(stream), "wanted": 0, "found": 1}
    assert log.append([message(2)], expects=[(stream, 1), (uuid4(), 0)]) == [2]
    assert log.head().position == 2


def test_the_same_version_of_a_stream_twice_keeps_nothing(log: Log, message: Make) -> None:
    log.append([message(1)])
    for batch in ([message(1)], [message(2), message(1)], [message(2), message(2)]):
        with pytest.raises(StreamConflict):
            log.append(batch)
    assert log.head().position == 1
    assert log.append([message(2)]) == [2]
    assert_chain_holds(log)


def test_within_belongs_to_the_transaction_of_the_append(log: Log, message: Make) -> None:
    def move(connection: Connection, positions: list[int]) -> None:
        row = ("memory", 1, 1, positions[-1], "live")
        mark = "?" if log.database.sqlite else "%s"
        connection.exec_driver_sql(
            f"INSERT INTO cursors (name, version, generation, position, status) VALUES ({', '.join([mark] * 5)})", row
        )

    def fail(connection: Connection, positions: list[int]) -> None:
        move(connection, positions)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        log.append([message(1)], within=fail)
    assert log.head().position == 0
    assert log.append([message(1), message(2)], within=move) == [1, 2]
    with log.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT name, position FROM cursors").all() == [("memory", 2)]


def test_an_empty_append_still_checks_what_it_expects(log: Log, message: Make) -> None:
    assert log.append([]) == []
    log.append([message(1)])
    with pytest.raises(StreamConflict):
        log.append([], expects=[(message_stream("local", "s", "m1"), 7)])
    assert log.append([], expects=[(message_stream("local", "s", "m1"), 1)]) == []


def test_reading_takes_filters_on_both_databases(log: Log, message: Make) -> None:
    log.append([message(number, session="a" if number % 2 else "b") for number in range(1, 11)])
    third = message(3, session="a").envelope.stream

    assert [event.position for event in log.read(session="a")] == [1, 3, 5, 7, 9]
    assert [event.position for event in log.read(after=4, before=8, topics=["MessageRecorded", "None"])] == [5, 6, 7]
    assert [event.position for event in log.read(since=timestamp(message(9).envelope.time))] == [9, 10]
    assert [event.position for event in log.read(limit=3)] == [1, 2, 3]
    assert list(log.at([2, 9, 99])) == [2, 9]
    assert log.version(third) == 1
    assert log.version(uuid4()) == 0
    last = log.last(third)
    assert last is not None
    assert last.position == 3


def test_what_is_appended_during_a_look_belongs_to_the_next_one(log: Log, message: Make) -> None:
    """Given a look that has asked for the head, when another event comes, then its pages end at that head."""
    log.append([message(1)])
    with log.database.reading() as connection:
        head = log.head(connection).position
        log.append([message(2)])
        assert [event.position for event in log.page(connection, after=0)] == [head]
    assert log.head().position == 2


def test_threads_that_append_at_once_leave_no_gap_and_one_chain(log: Log, message: Make) -> None:
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for number in range(20):
                log.append([message(worker * 1000 + number), message(worker * 1000 + 500 + number)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert log.head().position == 160
    assert_chain_holds(log)


def test_of_two_logs_that_race_for_a_stream_one_wins(database_url: str, message: Make) -> None:
    databases = [Database(database_url) for _ in range(4)]
    logs = [Log(database) for database in databases]
    outcomes: list[Any] = []

    def work(log: Log) -> None:
        try:
            outcomes.append(log.append([message(1)]))
        except StreamConflict as lost:
            outcomes.append(lost.code)

    threads = [threading.Thread(target=work, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["[1]", "stream_conflict", "stream_conflict", "stream_conflict"]
    for database in databases:
        database.close()


def test_an_erased_payload_leaves_a_tombstone_and_the_chain(log: Log, message: Make) -> None:
    log.append([message(1, "the secret"), message(2)])
    assert erase(log, [1])
    event = log.at([1])[1]
    assert event.erased
    assert event.payload is None
    assert event.body.content == {}
    assert_chain_holds(log)
    with pytest.raises(StoreError) as refused:
        erase(log, [9])
    assert refused.value.code == "unknown_position"
    assert log.head().position == 3


def test_a_reader_cannot_append(database_url: str, message: Make) -> None:
    writing = Database(database_url)
    Log(writing).append([message(1)])
    writing.close()
    database = Database(database_url, access="read_only")
    log = Log(database)
    assert log.head().position == 1
    with pytest.raises(StoreError) as refused:
        log.append([message(2)])
    assert refused.value.code == "read_only"
    with pytest.raises(StoreError) as refused, database.projecting() as connection:
        connection.exec_driver_sql("DELETE FROM cursors")
    assert refused.value.code == "store_read_only"
    database.close()


_FIFTH = (
    "version, topic, schema, workspace, session, run, actor, trust, causation, time, facts, payload, salt, "
    "body_digest, chain FROM events WHERE position = 5"
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET payload = NULL, salt = NULL WHERE position = 5",
        "UPDATE events SET payload = '{}' WHERE position = 2",
        "UPDATE events SET facts = '{}' WHERE position = 2",
        "UPDATE events SET actor = 'somebody' WHERE position = 5",
        "UPDATE events SET position = 11 WHERE position = 10",
        "DELETE FROM events WHERE position = 10",
        "TRUNCATE events",
        "TRUNCATE log_head",
        "TRUNCATE erased",
        f"INSERT INTO events SELECT 12, gen_random_uuid(), {_FIFTH}",
        f"INSERT INTO events SELECT 5, gen_random_uuid(), {_FIFTH} ON CONFLICT (position) DO UPDATE SET actor = 'x'",
        "UPDATE log_head SET last_id = 9",
        "UPDATE log_head SET last_id = 11",
        "UPDATE log_head SET chain_hash = ''",
        "DELETE FROM log_head",
        "INSERT INTO log_head VALUES (2, 9, '')",
        "UPDATE erased SET by_position = 1",
        "DELETE FROM erased",
        "INSERT INTO erased VALUES (11, 10)",
        "INSERT INTO erased VALUES (5, 11)",
    ],
)
def test_postgresql_refuses_every_other_change(postgres_url: str, message: Make, statement: str) -> None:
    database = Database(postgres_url)
    log = Log(database)
    log.append([message(number) for number in range(1, 10)])
    erase(log, [2])
    with pytest.raises(DBAPIError, match="log_append_only"), database.views.begin() as connection:
        connection.exec_driver_sql(statement)
    assert log.head().position == 10
    assert_chain_holds(log)
    database.close()
