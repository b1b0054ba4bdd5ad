"""An attacker with the file: whatever is changed is named by its position, or the database is refused (E1)."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from erasing import erase

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import MinutebookError, StoreError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.export import exported
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import LogReport, verify_log

EVENTS = 60
ERASED = 17

Tamper = Callable[[sqlite3.Connection, random.Random], int | None]
"""Changes something in the open database; returns the position that must be named (None: any answer but yes)."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of messages short and long, one of them erased, with an empty write-ahead log."""
    from datetime import UTC, datetime

    from minutebook.domain.events import Envelope, encode_payload
    from minutebook.domain.streams import message_stream

    path = tmp_path_factory.mktemp("original") / "book.db"
    database = Database(path)
    log = Log(database)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(1, EVENTS):
        log.append(
            [
                MessageRecorded(
                    message=f"m{number}",
                    role="user",
                    form="openai",
                    tokens=number,
                    counter="estimate-1",
                    size=number,
                    envelope=Envelope(message_stream("local", "s", str(number)), 1, "local", when, "agent", "s", "r1"),
                    payload=encode_payload({"source": f"text {number} " + "x" * (number % 7 * 1_500)}),
                )
            ]
        )
    assert erase(log, [ERASED])
    database.close()
    return path


def check(path: Path) -> LogReport | MinutebookError:
    """What a reader gets to know: a report, or a refusal. Anything else is a bug."""
    database = Database(path, access="read_only")
    try:
        return verify_log(Log(database))
    except MinutebookError as refused:
        return refused
    finally:
        database.close()


def tampered(original: Path, folder: Path, change: Tamper, seed: int) -> tuple[Path, int | None]:
    path = folder / "book.db"
    shutil.copyfile(original, path)
    connection = sqlite3.connect(path, isolation_level=None)
    guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        connection.execute(f"DROP TRIGGER {name}")
    wanted = change(connection, random.Random(seed))
    for _, sql in guards:
        connection.execute(sql)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path, wanted


def dump(path: Path) -> Any:
    """Everything that can be read from the file; None when it cannot be read in full."""
    connection = sqlite3.connect(path)
    try:
        found: list[Any] = [
            connection.execute(f"PRAGMA {name}").fetchall() for name in ("user_version", "application_id")
        ]
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        found.append(schema)
        for kind, name, _ in schema:
            if kind == "table":
                found.append(connection.execute(f"SELECT rowid, * FROM {name} NOT INDEXED ORDER BY rowid").fetchall())
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()
    return found


def test_an_untouched_log_passes_and_names_its_tombstones(original: Path) -> None:
    report = check(original)
    assert isinstance(report, LogReport)
    assert report.ok, report.detail
    assert (report.events, report.head, report.first_bad, report.erased) == (EVENTS, EVENTS, None, (ERASED,))
    assert len(report.chain) == 64


def test_dropping_and_restoring_the_guards_alone_is_no_damage(original: Path, tmp_path: Path) -> None:
    path, _ = tampered(original, tmp_path, lambda _connection, _random: None, 0)
    report = check(path)
    assert isinstance(report, LogReport)
    assert report.ok, report.detail


def flip(value: Any, dice: random.Random) -> Any:
    """The same value with one bit, letter or digit changed."""
    match value:
        case None:
            return "x"
        case int():
            return value + dice.choice((-1, 1))
        case bytes():
            place = dice.randrange(len(value))
            return value[:place] + bytes([value[place] ^ 1 << dice.randrange(8)]) + value[place + 1 :]
        case str():
            place = dice.randrange(len(value))
            letter = dice.choice([letter for letter in "aZ09" if letter != value[place]])
            return value[:place] + letter + value[place + 1 :]
    raise AssertionError(value)


def flip_column(column: str) -> Tamper:
    def change(connection: sqlite3.Connection, dice: random.Random) -> int:
        position = dice.choice([number for number in range(1, EVENTS + 1) if number != ERASED])
        (value,) = connection.execute(f"SELECT {column} FROM events WHERE position = ?", (position,)).fetchone()
        connection.execute(f"UPDATE events SET {column} = ? WHERE position = ?", (flip(value, dice), position))
        return position

    return change


COLUMNS = (
    *("payload", "facts", "body_digest", "salt", "chain", "stream", "version", "topic", "schema", "workspace"),
    *("session", "run", "actor", "trust", "causation", "time"),
)


@pytest.mark.parametrize("seed", range(96))
def test_a_flip_in_any_column_is_named_by_its_position(original: Path, tmp_path: Path, seed: int) -> None:
    path, wanted = tampered(original, tmp_path, flip_column(COLUMNS[seed % len(COLUMNS)]), seed)
    report = check(path)
    assert isinstance(report, LogReport), report
    assert not report.ok
    assert report.first_bad == wanted
    assert str(wanted) in report.detail


@pytest.mark.parametrize("seed", range(100, 204))
def test_a_flip_in_the_raw_pages_is_named_or_refused_or_without_effect(
    original: Path, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "book.db"
    data = bytearray(original.read_bytes())
    dice = random.Random(seed)
    # Every fourth flip in the header and the schema page, where damage is worst; the others anywhere.
    place = dice.randrange(4096 if seed % 4 == 0 else len(data))
    data[place] ^= 1 << dice.randrange(8)
    path.write_bytes(data)
    effect = dump(path) != dump(original)

    report = check(path)

    if isinstance(report, LogReport) and report.ok:
        assert not effect, f"a flip at byte {place} went unseen"
    elif isinstance(report, LogReport):
        assert report.detail
        assert report.first_bad is None or 1 <= report.first_bad <= EVENTS + 1
    else:
        assert report.code in {"store_corrupt", "not_a_book", "schema_newer", "store_unwritable", "store_error"}, report


def test_damage_in_a_page_of_events_is_named_by_position(original: Path, tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    data = bytearray(original.read_bytes())
    place = data.index(b"text 23 ")
    page = place // 4096 * 4096
    data[page : page + 4096] = bytes(4096)
    path.write_bytes(data)
    report = check(path)
    assert isinstance(report, LogReport)
    assert report.first_bad is not None
    assert 17 < report.first_bad <= 23
    assert report.events == report.first_bad - 1


def delete(position: int) -> Tamper:
    def change(connection: sqlite3.Connection, _dice: random.Random) -> int:
        connection.execute("DELETE FROM events WHERE position = ?", (position,))
        return position

    return change


def swap(connection: sqlite3.Connection, _dice: random.Random) -> int:
    for old, new in ((20, -1), (21, 20), (-1, 21)):
        connection.execute("UPDATE events SET position = ? WHERE position = ?", (new, old))
    return 20


def add(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("CREATE TEMP TABLE one AS SELECT * FROM events WHERE position = 30")
    connection.execute("UPDATE one SET position = ?, stream = zeroblob(16)", (EVENTS + 1,))
    connection.execute("INSERT INTO events SELECT * FROM one")
    return EVENTS + 1


def add_and_move_the_head(connection: sqlite3.Connection, dice: random.Random) -> int:
    add(connection, dice)
    connection.execute("UPDATE log_head SET last_id = ?", (EVENTS + 1,))
    return EVENTS + 1


def cut_the_tail(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("DELETE FROM events WHERE position > 50")
    return 51


def null_a_payload(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE events SET payload = NULL, salt = NULL WHERE position = 33")
    return 33


def name_an_erasure_that_was_not(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("INSERT INTO erased VALUES (33, 60)")
    return 33


def blank_and_name(by_position: int) -> Tamper:
    """As an erasure leaves it, but no event of the log says so."""

    def change(connection: sqlite3.Connection, dice: random.Random) -> int:
        connection.execute("INSERT INTO erased VALUES (33, ?)", (by_position,))
        return null_a_payload(connection, dice) or 0

    return change


def forget_an_erasure(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("DELETE FROM erased")
    return ERASED


def bring_an_erased_payload_back(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE events SET payload = '{}', salt = zeroblob(16) WHERE position = ?", (ERASED,))
    return ERASED


def text_to_blob(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE events SET facts = CAST(facts AS BLOB) WHERE position = 12")
    return 12


def null_to_empty(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE events SET run = '' WHERE position = 12")
    return 12


def head_back(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE log_head SET last_id = last_id - 1")
    return EVENTS


def head_on(connection: sqlite3.Connection, _dice: random.Random) -> int:
    connection.execute("UPDATE log_head SET last_id = last_id + 1")
    return EVENTS + 1


def head_chain(connection: sqlite3.Connection, dice: random.Random) -> int:
    (value,) = connection.execute("SELECT chain_hash FROM log_head").fetchone()
    connection.execute("UPDATE log_head SET chain_hash = ?", (flip(value, dice),))
    return EVENTS


@pytest.mark.parametrize(
    "change",
    [
        *(delete(1), delete(40), delete(EVENTS)),
        *(swap, add, add_and_move_the_head, cut_the_tail, null_a_payload, name_an_erasure_that_was_not),
        *(blank_and_name(EVENTS - 1), blank_and_name(EVENTS), blank_and_name(33), blank_and_name(ERASED)),
        *(forget_an_erasure, bring_an_erased_payload_back, text_to_blob, null_to_empty),
        *(head_back, head_on, head_chain),
    ],
)
def test_a_row_deleted_swapped_added_or_emptied_is_named(original: Path, tmp_path: Path, change: Tamper) -> None:
    path, wanted = tampered(original, tmp_path, change, 1)
    report = check(path)
    assert isinstance(report, LogReport), report
    assert not report.ok
    assert report.first_bad == wanted


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TRIGGER events_delete", "'events_delete' is missing"),
        ("DROP INDEX events_by_topic", "'events_by_topic' is missing"),
        ("CREATE TRIGGER mine AFTER INSERT ON events BEGIN DELETE FROM cursors; END", "none of minutebook's"),
        ("DELETE FROM log_head", "head row"),
        ("INSERT INTO erased VALUES (70, 71)", "the log ends at 60"),
    ],
)
def test_what_surrounds_the_events_is_checked_too(original: Path, tmp_path: Path, statement: str, said: str) -> None:
    path = tmp_path / "book.db"
    shutil.copyfile(original, path)

    def execute(other: sqlite3.Connection, _dice: random.Random) -> None:
        other.execute(statement)

    connection = sqlite3.connect(path, isolation_level=None)
    if statement.startswith(("DELETE", "INSERT")):
        path, _ = tampered(original, tmp_path, execute, 0)
    else:
        connection.execute(statement)
    connection.close()
    report = check(path)
    assert isinstance(report, LogReport)
    assert not report.ok
    assert said in report.detail


def test_an_index_that_lies_is_found_and_the_event_named(original: Path, tmp_path: Path) -> None:
    path = tmp_path / "book.db"
    data = bytearray(original.read_bytes())
    pages = [data[place : place + 4096] for place in range(0, len(data), 4096)]
    # The page of the index by topic holds many topics and no facts.
    (page,) = [n for n, page in enumerate(pages) if page.count(b"MessageRecorded") > 10 and b"counter" not in page]
    place = data.index(b"MessageRecorded", page * 4096)
    data[place : place + 7] = b"massage"
    path.write_bytes(data)
    report = check(path)
    assert isinstance(report, LogReport)
    assert not report.ok
    assert report.events == EVENTS
    assert report.first_bad is not None


def test_a_long_log_on_both_databases_passes(database: Database, message: Callable[..., MessageRecorded]) -> None:
    log = Log(database)
    for start in range(0, 5_000, 500):
        log.append([message(number) for number in range(start, start + 500)])
    log.append([message(1, version=2), message(1, version=3)])
    erase(log, [7, 8])
    report = verify_log(log)
    assert report.ok, report.detail
    assert (report.events, report.head, report.erased) == (5_003, 5_003, (7, 8))


@pytest.mark.parametrize(
    ("by_position", "which"), [(8, "a message"), (10, "an erasure of others"), (2, "one before it")]
)
def test_a_row_of_erased_that_no_event_bears_out_is_named(
    database: Database, message: Callable[..., MessageRecorded], by_position: int, which: str
) -> None:
    # given a log with a true erasure
    log = Log(database)
    log.append([message(number) for number in range(1, 10)])
    erase(log, [3, 4, 6])
    assert verify_log(log).ok
    # when somebody with the database takes out another payload, in a way that the guards let through
    with database.writer() as writer:
        raw: Any = writer.connection.driver_connection
        raw.execute("BEGIN")
        raw.execute(f"INSERT INTO erased VALUES (5, {by_position})")
        raw.execute("UPDATE events SET payload = NULL, salt = NULL WHERE position = 5")
        raw.execute("COMMIT")
    # then the event that is named did not erase it
    report = verify_log(log)
    assert (report.ok, report.first_bad, report.events) == (False, 5, 10), which
    assert report.detail == f"event 5 is named as erased by event {by_position}, which did not erase it"
    # and nobody gets it as an export
    with pytest.raises(StoreError) as refused:
        b"".join(exported(log))
    assert (refused.value.code, refused.value.details["position"]) == ("store_corrupt", 5)


def test_a_gap_in_the_versions_of_a_stream_is_named(
    database: Database, message: Callable[..., MessageRecorded]
) -> None:
    log = Log(database)
    log.append([message(1), message(2), message(1, version=3)])
    report = verify_log(log)
    assert not report.ok
    assert report.first_bad == 3


def test_damage_on_postgresql_is_named(postgres_url: str, message: Callable[..., MessageRecorded]) -> None:
    database = Database(postgres_url)
    log = Log(database)
    log.append([message(number) for number in range(1, 21)])
    with database.views.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE events DISABLE TRIGGER events_update")
    assert "events_update" in verify_log(log).detail
    with database.views.begin() as connection:
        connection.exec_driver_sql("UPDATE events SET actor = 'x' WHERE position = 12")
        connection.exec_driver_sql("ALTER TABLE events ENABLE TRIGGER events_update")
    report = verify_log(log)
    assert (report.ok, report.first_bad, report.events) == (False, 12, 11)
    database.close()
