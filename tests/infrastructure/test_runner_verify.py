"""Damage in any table of any read model is named, never raised raw, and a rebuild brings equal rows back (E1, E2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from histories import Book

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context
from minutebook.projections.memory_file import MemoryFile
from minutebook.projections.revisions import Revisions

ALL = (Context, Candidates, Revisions, MemoryFile)
TABLES = (
    "context_sessions", "context_messages", "context_runs", "context_epochs", "context_compactions",
    "context_freezes", "context_preambles", "context_shown", "candidates", "candidates_jobs",
    "revisions", "revisions_entries", "memory_file",
)  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book in which no table is empty."""
    path = tmp_path_factory.mktemp("verify") / "book.db"
    database = Database(path)
    log = Log(database)
    book = Book(log)
    for name in ("a", "b"):
        book.open(name)
        book.start_run(name)
        positions = book.messages(name, ["hello"] * 20)
        book.end_run(name)
        book.reduce(name, positions[4:6])
        book.compact(name, positions[2:9])
        book.fail(name)
        book.freeze(name)
        book.preamble(name, "p")
        book.show(name, "p")
        candidate = book.propose("admitted", session=name)
        book.fail_job([candidate])
        book.revise(2, 0)
    assert not book.pending
    projections = Projections(log, ALL)
    projections.catch_up()
    assert all(projections.verify(name).ok for name in projections.names)
    database.close()
    return path


@pytest.fixture
def damaged(file: Path, tmp_path: Path) -> Iterator[tuple[Projections, sqlite3.Connection]]:
    """A copy of the book to damage, by a connection of its own that no guard of ours is in the way of."""
    for suffix in ("", "-wal", "-shm"):
        source = file.with_name(file.name + suffix)
        if source.exists():
            (tmp_path / source.name).write_bytes(source.read_bytes())
    database = Database(tmp_path / file.name)
    connection = sqlite3.connect(tmp_path / file.name, isolation_level=None)
    yield Projections(Log(database), ALL), connection
    connection.close()
    database.close()


def owner(table: str) -> str:
    return next(name for name in ("context", "candidates", "revisions", "memory_file") if table.startswith(name))


def test_these_are_all_the_tables(damaged: tuple[Projections, sqlite3.Connection]) -> None:
    projections, _ = damaged
    assert {table for bound in projections._bound.values() for table in bound.table_names} == set(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_any_damage_to_rows_is_named_and_mended(damaged: tuple[Projections, sqlite3.Connection], table: str) -> None:
    projections, connection = damaged
    name = owner(table)
    before = projections.dump_hash(name)
    columns = [(row[1], row[5]) for row in connection.execute(f"PRAGMA table_info({table})")]
    key = [column for column, part in columns if part]
    values = connection.execute(f"SELECT {', '.join(key)} FROM {table} LIMIT 1").fetchone()
    first = " AND ".join(f"{column} = {value!r}" for column, value in zip(key, values, strict=True))
    # given one value changed, and then set back
    for column, part in columns:
        if not part:
            ((right,),) = connection.execute(f"SELECT {column} FROM {table} WHERE {first}").fetchall()
            connection.execute(f"UPDATE {table} SET {column} = 'odd' WHERE {first}")
            report = projections.verify(name)
            assert (report.ok, report.table, report.column) == (False, table, column), report
            assert report.key is not None
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {first}", (right,))
    assert projections.verify(name).ok
    assert projections.dump_hash(name) == before
    # given rows that are gone or too many
    for damage in (f"DELETE FROM {table} WHERE {first}", f"DELETE FROM {table}", _added(table, columns)):
        connection.execute(damage)
        report = projections.verify(name)
        assert (report.ok, report.table, report.key is None) == (False, table, False), (damage, report)
        assert "projections rebuild" in report.detail
        assert all(projections.verify(other).ok for other in projections.names if other != name), damage
        projections.rebuild(name)
        assert projections.verify(name).ok, damage
        assert projections.dump_hash(name) == before, damage


def _added(table: str, columns: list[tuple[str, int]]) -> str:
    values = ", ".join(("99999999" if part else column) for column, part in columns)
    return f"INSERT INTO {table} SELECT {values} FROM {table} LIMIT 1"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DROP TABLE context_epochs", "context_epochs is missing"),
        ("ALTER TABLE context_runs DROP COLUMN owner", "other columns"),
        ("ALTER TABLE context_runs ADD COLUMN extra TEXT", "other columns"),
        ("DROP TABLE context_freezes; CREATE VIEW context_freezes AS SELECT 1 AS x", "context_freezes is missing"),
        ("UPDATE context_runs SET ended = NULL", "column ended: None, the log says"),
        ("UPDATE context_messages SET message = CAST(x'ff00fe' AS TEXT)", "context_messages cannot be read"),
        ("UPDATE context_messages SET tokens = 'many' WHERE position = 5", "column tokens: 'many', the log says 5"),
        ("UPDATE context_messages SET tokens = 9e99 WHERE position = 5", "column tokens"),
        ("UPDATE context_sessions SET workspace = 'else'", "context_sessions row"),
        ("UPDATE cursors SET position = -1 WHERE name = 'context'", "cursor stands at -1"),
    ],
)
def test_odd_damage_is_reported_and_never_raised(
    damaged: tuple[Projections, sqlite3.Connection], damage: str, said: str
) -> None:
    projections, connection = damaged
    before = projections.dump_hash("context")
    connection.executescript("PRAGMA ignore_check_constraints=ON;")
    try:
        connection.executescript(damage)
    except sqlite3.IntegrityError:
        pytest.fail("the table refuses this damage; choose another")
    report = projections.verify("context")
    assert not report.ok
    assert said in report.detail
    projections.rebuild("context")
    assert projections.verify("context").ok
    assert projections.dump_hash("context") == before


def test_a_projection_that_lags_is_checked_up_to_its_cursor(
    damaged: tuple[Projections, sqlite3.Connection],
) -> None:
    projections, _ = damaged
    book = Book(projections.log, "another")
    book.open("c")
    report = projections.verify("context")
    assert report.ok
    assert f"of {projections.log.head().position}" in report.detail
