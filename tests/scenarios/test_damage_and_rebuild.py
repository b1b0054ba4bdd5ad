"""Damage to any row of any projection is named by verify, and a rebuild brings back equal rows (E1, E2)."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store.binding import bind

TABLES: dict[str, str] = {table.name: bound.name for bound in map(bind, BUILT_IN) for table in bound.tables}
"""Every table of every built-in projection, with the projection that owns it."""


def database(root: Path) -> Path:
    return root / ".tinyagent" / "minutebook.db"


def raw(root: Path, statement: str, *values: object) -> int:
    with closing(sqlite3.connect(database(root), isolation_level=None)) as connection:
        return connection.execute(statement, values).rowcount


def hashes(book: Minutebook) -> dict[str, str]:
    return {name: book._runtime.projections.dump_hash(name) for name in book._runtime.projections.names}


def failing(book: Minutebook) -> set[str]:
    return {check["name"] for check in book.verify()["checks"] if not check["ok"]}


@pytest.fixture(scope="module")
def sound(told: Any) -> dict[str, str]:
    """The hashes of the story's projections as incremental projection made them."""
    with Minutebook.open(told.root, read_only=True) as book:
        return hashes(book)


def test_no_projection_table_is_empty_after_the_story(told: Any) -> None:
    with closing(sqlite3.connect(f"file:{database(told.root)}?mode=ro", uri=True)) as connection:
        counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
    assert all(counts.values()), counts
    assert set(TABLES.values()) == {"context", "candidates", "revisions", "memory_file"}


def columns(root: Path, table: str) -> list[tuple[str, bool]]:
    """Names of the columns, and whether each belongs to the primary key."""
    with closing(sqlite3.connect(database(root))) as connection:
        return [(row[1], bool(row[5])) for row in connection.execute(f"PRAGMA table_info({table})")]


def delete(root: Path, table: str) -> None:
    assert raw(root, f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})") == 1


def alter(root: Path, table: str) -> None:
    column = [name for name, key in columns(root, table) if not key][-1]
    assert raw(
        root,
        f'UPDATE {table} SET "{column}" = CASE WHEN typeof("{column}") = \'integer\' THEN "{column}" + 1 '
        f"ELSE 'damaged' END WHERE rowid = (SELECT min(rowid) FROM {table})",
    ) == 1  # fmt: skip


def insert(root: Path, table: str) -> None:
    """A copy of a row under another key."""
    found = columns(root, table)
    picked = ", ".join(
        f'CASE WHEN typeof("{name}") = \'integer\' THEN "{name}" + 100000 ELSE "{name}" || \'-more\' END'
        if key
        else f'"{name}"'
        for name, key in found
    )
    names = ", ".join(f'"{name}"' for name, _ in found)
    assert raw(root, f"INSERT INTO {table} ({names}) SELECT {picked} FROM {table} LIMIT 1") == 1


def empty(root: Path, table: str) -> None:
    assert raw(root, f"DELETE FROM {table}") > 0


def drop(root: Path, table: str) -> None:
    raw(root, f"DROP TABLE {table}")


DAMAGE: dict[str, Callable[[Path, str], None]] = {
    "delete": delete,
    "alter": alter,
    "add": insert,
    "drop": drop,
}


@pytest.mark.parametrize("table", TABLES)
def test_damage_to_a_table_is_named_and_a_rebuild_brings_equal_rows(
    story: Any, sound: dict[str, str], table: str
) -> None:
    for damage, change in DAMAGE.items():
        change(story.root, table)
        with Minutebook.open(story.root, read_only=True) as book:
            found = {check["name"]: check["detail"] for check in book.verify()["checks"] if not check["ok"]}
            assert found.keys() == {f"projection {TABLES[table]}"}, (damage, found)
            assert table in found[f"projection {TABLES[table]}"], (damage, found)
        with Minutebook.open(story.root, automatic=False) as book:
            book.projections.rebuild(TABLES[table])
            assert hashes(book) == sound, damage
            assert book.head == story.head


def test_a_damaged_read_model_keeps_no_run_from_ending_and_no_book_from_opening(story: Any) -> None:
    """Given the tables of candidates and runs gone, a conversation is recorded and the rebuild can be made (S3)."""
    drop(story.root, "context_runs")
    drop(story.root, "candidates")
    with Minutebook.open(story.root) as book:
        with book.session("other").run() as run:
            run.append({"role": "user", "content": "Go on."})
            run.memory({"operation": "add", "text": "Even now this is recorded."})
        with pytest.raises(MinutebookError, check=lambda error: error.code.startswith("projection_")):
            book.memory.status()
        book.projections.rebuild()
        assert book.memory.status()["last_error"].startswith("projection_")
        assert book.verify()["ok"]


def test_rebuilding_everything_changes_no_answer(story: Any, sound: dict[str, str]) -> None:
    def answers(book: Minutebook) -> list[Any]:
        session = book.session(story.session)
        return [
            book.sessions(),
            [message.answer() for message in session.messages()],
            session.context().answer(),
            session.context(at=40).answer(),
            session.compactions(),
            session.timeline(7),
            book.memory.show(),
            book.memory.revisions(),
            book.memory.blame(),
            book.memory.quarantine(),
            book.usage(),
        ]

    with Minutebook.open(story.root, automatic=False) as book:
        before = answers(book)
        for table in TABLES:
            empty(story.root, table)
        assert failing(book) == {f"projection {name}" for name in TABLES.values()}
        rebuilt = book.projections.rebuild()
        assert {row["name"]: row["digest"] for row in rebuilt} == sound
        assert hashes(book) == sound
        assert answers(book) == before
        assert book.head == story.head


def test_every_projection_is_the_same_incrementally_and_from_nothing(story: Any, conversation: Any) -> None:
    """Given a book that goes on, event by event, then a rebuild at each stop gives the very rows that stand."""
    with Minutebook.open(story.root, automatic=False) as book:
        for stop in range(3):
            with book.session(story.session).run() as run:
                run.append(conversation(2))
                run.context()
                run.memory({"operation": "add", "text": f"Fact number {stop} came at stop {stop}."})
            book.curate()
            book.session(story.session).compact(window=8_000)
            book.projections.list()
            before = hashes(book)
            book.projections.rebuild()
            assert hashes(book) == before


def test_readers_see_the_old_rows_until_the_swap(story: Any) -> None:
    with Minutebook.open(story.root, automatic=False) as book, Minutebook.open(story.root, read_only=True) as reader:
        before = reader.session(story.session).context().digest
        for _ in range(3):
            book.projections.rebuild("context")
            assert reader.session(story.session).context().digest == before


def test_a_cursor_beyond_the_head_is_named_and_mended(story: Any) -> None:
    raw(story.root, "UPDATE cursors SET position = position + 1000 WHERE name = 'context'")
    with Minutebook.open(story.root, read_only=True) as book:
        assert "projection context" in failing(book)
    with Minutebook.open(story.root, automatic=False) as book:
        book.projections.rebuild("context")
        assert book.verify()["ok"]


def test_an_alien_row_in_the_log_is_found(story: Any) -> None:
    with closing(sqlite3.connect(database(story.root), isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            "UPDATE events SET facts = replace(CAST(facts AS TEXT), 'agent', 'nobody') WHERE position = 1"
        )
    with Minutebook.open(story.root, read_only=True) as book:
        assert "log" in failing(book)


def test_an_edited_memory_file_is_named_by_verify(story: Any) -> None:
    memory = story.root / ".tinyagent/memory/MEMORY.md"
    memory.write_text(memory.read_text() + "§\nBy hand.\n")
    with Minutebook.open(story.root, read_only=True) as book:
        assert failing(book) == {"memory_file_on_disk"}
    memory.unlink()
    with Minutebook.open(story.root, read_only=True) as book:
        assert failing(book) == {"memory_file_on_disk"}


def test_rebuild_all_leaves_an_edited_file_alone_and_says_so(story: Any) -> None:
    memory = story.root / ".tinyagent/memory/MEMORY.md"
    edited = memory.read_text() + "§\nBy hand.\n"
    memory.write_text(edited)
    with Minutebook.open(story.root, automatic=False) as book:
        with pytest.raises(MinutebookError, check=lambda error: error.code == "memory_drift"):
            book.projections.rebuild("memory_file")
        notes = {row["name"]: row["note"] for row in book.projections.rebuild()}
        assert "left alone" in notes["memory_file"]
    assert memory.read_text() == edited


def test_a_restored_backup_that_is_older_than_the_file_is_noticed(story: Any, tmp_path: Path) -> None:
    """Given a database copied back from before the last revision, the file is drift: nothing is overwritten."""
    backup = tmp_path / "backup.db"
    with closing(sqlite3.connect(database(story.root))) as source, closing(sqlite3.connect(backup)) as target:
        source.backup(target)
    with Minutebook.open(story.root, automatic=False) as book:
        assert book.curate()["status"] == "committed"
    memory = story.root / ".tinyagent/memory/MEMORY.md"
    newer = memory.read_bytes()
    for side in ("", "-wal", "-shm"):
        database(story.root).with_name(f"minutebook.db{side}").unlink(missing_ok=True)
    shutil.copy(backup, database(story.root))
    with Minutebook.open(story.root, automatic=False) as book:
        found = book.memory.status()
        assert (found["state"], found["cause"]) == ("drift", "database_behind_file")
        assert "written as revision 4, and the newest that this database knows is 3" in found["detail"]
        with pytest.raises(MinutebookError, match="Bring the newer database back") as refused:
            book.curate()
        assert (refused.value.code, refused.value.details["cause"]) == ("memory_drift", "database_behind_file")
        assert memory.read_bytes() == newer
        assert book.memory.sync()["revision"] == 4
        assert memory.read_bytes() == newer
        memory.write_text(memory.read_text() + "§\nBy hand.\n")
        assert (book.memory.status()["state"], book.memory.status()["cause"]) == ("drift", None)


@pytest.fixture(autouse=True)
def _no_leftovers(tmp_path: Path) -> Iterator[None]:
    """No temp file of ours may remain beside MEMORY.md, whatever a scenario did (I6)."""
    yield
    assert [path.name for path in tmp_path.glob("w/.tinyagent/memory/.*")] == []
