"""The spike before the schema was settled, kept as a test: erase bytes, search the files, verify the chain (E8)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from erasing import erase

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.chain import GENESIS, body_digest, envelope_digest, next_chain
from minutebook.domain.errors import StoreError
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import timestamp

START = datetime(2026, 1, 1, tzinfo=UTC)


def message(number: int, text: str) -> MessageRecorded:
    name = f"m{number}"
    return MessageRecorded(
        message=name,
        role="user",
        form="openai",
        tokens=3,
        counter="estimate-1",
        size=len(text),
        envelope=Envelope(
            message_stream("local", "s", name), 1, "local", START + timedelta(seconds=number), "agent", "s"
        ),
        payload=encode_payload({"source": {"role": "user", "content": text}}),
    )


def canary(number: int) -> str:
    # Long enough to fill overflow pages for some of them: freed pages must be wiped too.
    return f"canary-{number:03d}-" + "x" * (20 if number % 3 else 9_000)


def files_with(folder: Path, text: str) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if text.encode() in file.read_bytes())


def assert_chain_holds(log: Log) -> None:
    chain = GENESIS
    for event in log.read():
        digest = envelope_digest(
            event.envelope, event.topic, event.schema, timestamp(event.time), event.facts, event.body_digest
        )
        chain = next_chain(chain, event.position, digest)
        assert chain == event.chain, event.position
        if event.payload is not None:
            assert event.salt is not None
            assert body_digest(event.salt, event.payload) == event.body_digest
    assert chain == log.head().chain


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "book.db", lock_timeout=0.2)
    yield database
    database.close()


@pytest.fixture
def log(database: Database) -> Log:
    log = Log(database)
    log.append([message(number, canary(number)) for number in range(1, 101)])
    return log


@pytest.mark.parametrize("number", [7, 42, 99])
def test_an_erased_payload_is_in_no_file_and_the_chain_still_holds(log: Log, tmp_path: Path, number: int) -> None:
    assert files_with(tmp_path, f"canary-{number:03d}") != []

    truncated = erase(log, [number])

    assert truncated
    assert files_with(tmp_path, f"canary-{number:03d}") == []
    assert files_with(tmp_path, "canary-008") != []
    tombstone = log.at([number])[number]
    assert tombstone.erased
    assert tombstone.salt is None
    assert tombstone.body.envelope.session == "s"
    assert_chain_holds(log)


def test_with_an_open_reader_the_write_ahead_log_keeps_the_bytes_and_erase_says_so(
    log: Log, database: Database, tmp_path: Path
) -> None:
    with database.reading() as reader:
        assert log.head(reader).position == 100
        assert erase(log, [42]) is False
        assert files_with(tmp_path, "canary-042") != []

    assert log.scrub() is True
    assert files_with(tmp_path, "canary-042") == []
    assert_chain_holds(log)


def test_an_erasure_can_be_repeated_and_is_named_once(log: Log, database: Database) -> None:
    assert erase(log, [42, 43])
    assert erase(log, [42, 44])
    with database.reading() as reader:
        rows = reader.exec_driver_sql("SELECT position, by_position FROM erased ORDER BY position").all()
    assert [tuple(row) for row in rows] == [(42, 101), (43, 101), (44, 102)]


@pytest.mark.parametrize("positions", [[42, 102], [0, 42]])
def test_an_erasure_that_names_no_event_erases_nothing(log: Log, positions: list[int]) -> None:
    with pytest.raises(StoreError) as refused:
        erase(log, positions)
    assert refused.value.code == "unknown_position"
    assert not log.at([42])[42].erased
    assert log.head().position == 100


_FIFTH = (
    "version, topic, schema, workspace, session, run, actor, trust, causation, time, facts, payload, salt, "
    "body_digest, chain FROM events WHERE position = 5"
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET payload = NULL, salt = NULL WHERE position = 5",
        "UPDATE events SET payload = '{}' WHERE position = 42",
        "UPDATE events SET salt = x'00' WHERE position = 42",
        "UPDATE events SET facts = '{}' WHERE position = 42",
        "UPDATE events SET actor = 'somebody' WHERE position = 5",
        "UPDATE OR REPLACE events SET position = 5 WHERE position = 42",
        "DELETE FROM events WHERE position = 42",
        "DELETE FROM events WHERE position = 101",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE position = 5",
        f"INSERT OR REPLACE INTO events SELECT 102, stream, {_FIFTH}",
        f"INSERT INTO events SELECT 104, zeroblob(16), {_FIFTH}",
        "UPDATE log_head SET last_id = 100",
        "UPDATE log_head SET last_id = 102",
        "UPDATE log_head SET chain_hash = zeroblob(32)",
        "DELETE FROM log_head",
        "INSERT OR REPLACE INTO log_head VALUES (1, 100, zeroblob(32))",
        "INSERT INTO log_head VALUES (2, 100, zeroblob(32))",
        "UPDATE erased SET by_position = 1",
        "DELETE FROM erased",
        "INSERT OR REPLACE INTO erased VALUES (42, 1)",
        "INSERT INTO erased VALUES (102, 101)",
        "INSERT INTO erased VALUES (5, 102)",
    ],
)
def test_after_an_erasure_every_other_change_is_still_refused(log: Log, tmp_path: Path, statement: str) -> None:
    erase(log, [42])
    other = sqlite3.connect(tmp_path / "book.db", isolation_level=None)
    before = list(other.iterdump())
    with pytest.raises(sqlite3.IntegrityError, match="log_append_only"):
        other.execute(statement)
    assert list(other.iterdump()) == before
    other.close()
    assert_chain_holds(log)
