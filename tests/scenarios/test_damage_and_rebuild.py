"""Damage to any row of any projection is named by verify, and a rebuild brings back equal rows (E1, E2)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Float, Integer, Table, func, make_url, select, text
from stores import outside

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store.binding import bind

BOUND = {table.name: (bound.name, table) for bound in map(bind, BUILT_IN) for table in bound.tables}
ELSEWHERE = {"search_index_staged", "search_index_blocks", "search_index_postings"}
"""Empty in a story this short: they are damaged in ``test_search_index``, on a log that fills them."""
TABLES: dict[str, str] = {name: owner for name, (owner, _) in BOUND.items() if name not in ELSEWHERE}
"""The tables of every built-in projection, with the projection that owns each."""


def raw(root: Path, statement: Any) -> int:
    with outside(root) as connection:
        return connection.execute(text(statement) if isinstance(statement, str) else statement).rowcount


def hashes(book: Minutebook) -> dict[str, str]:
    return {name: book._runtime.projections.dump_hash(name) for name in book._runtime.projections.names}


def failing(book: Minutebook) -> set[str]:
    return {check["name"] for check in book.verify()["checks"] if not check["ok"]}


def test_no_projection_table_is_empty_after_the_story(story: Any) -> None:
    with outside(story.root) as connection:
        counts = {
            name: connection.execute(select(func.count()).select_from(BOUND[name][1])).scalar() for name in TABLES
        }
    assert all(counts.values()), counts
    assert set(TABLES.values()) == {"context", "candidates", "evidence", "revisions", "memory_file", "search_index"}


def one(root: Path, table: Table) -> tuple[Any, list[Any]]:
    """A row, and what finds it again."""
    keys = list(table.primary_key.columns)
    with outside(root) as connection:
        row = connection.execute(select(table).order_by(*keys).limit(1)).one()
    return row, [key == row._mapping[key.name] for key in keys]


def other(column: Column[Any], value: Any) -> Any:
    """Another value for the column."""
    return (value or 0) + 100_000 if isinstance(column.type, Integer | Float) else f"{value}-more"


def delete(root: Path, table: Table) -> None:
    _, here = one(root, table)
    assert raw(root, table.delete().where(*here)) == 1


def alter(root: Path, table: Table) -> None:
    row, here = one(root, table)
    column = [column for column in table.columns if not column.primary_key][-1]
    assert raw(root, table.update().where(*here).values({column: other(column, row._mapping[column.name])})) == 1


def insert(root: Path, table: Table) -> None:
    """A copy of a row under another key."""
    row, _ = one(root, table)
    values = dict(row._mapping)
    for column in table.primary_key.columns:
        values[column.name] = other(column, values[column.name])
    raw(root, table.insert().values(values))


def empty(root: Path, table: Table) -> None:
    assert raw(root, table.delete()) > 0 or table.name in ELSEWHERE, table.name


def drop(root: Path, table: Table) -> None:
    raw(root, f"DROP TABLE {table.name}")


DAMAGE: dict[str, Callable[[Path, Table], None]] = {
    "delete": delete,
    "alter": alter,
    "add": insert,
    "drop": drop,
}


@pytest.mark.parametrize("table", TABLES)
def test_damage_to_a_table_is_named_and_a_rebuild_brings_equal_rows(story: Any, table: str) -> None:
    for damage, change in DAMAGE.items():
        change(story.root, BOUND[table][1])
        with Minutebook.open(story.root, read_only=True) as book:
            found = {check["name"]: check["detail"] for check in book.verify()["checks"] if not check["ok"]}
            assert found.keys() == {f"projection {TABLES[table]}"}, (damage, found)
            assert table in found[f"projection {TABLES[table]}"], (damage, found)
        with Minutebook.open(story.root, automatic=False) as book:
            book.projections.rebuild(TABLES[table])
            assert hashes(book) == story.sound, damage
            assert book.head == story.head


def test_a_damaged_read_model_keeps_no_run_from_ending_and_no_book_from_opening(story: Any) -> None:
    """Given the tables of candidates and runs gone, a conversation is recorded and the rebuild can be made (S3)."""
    drop(story.root, BOUND["context_runs"][1])
    drop(story.root, BOUND["candidates"][1])
    with Minutebook.open(story.root) as book:
        with book.session("other").run() as run:
            run.append({"role": "user", "content": "Go on."})
            run.memory({"operation": "add", "text": "Even now this is recorded."})
        with pytest.raises(MinutebookError, check=lambda error: error.code.startswith("projection_")):
            book.memory.status()
        assert (book._curating.last_error or "").startswith("projection_")  # status would say so, if it could be had
        book.projections.rebuild()
        # the curator that runs by itself may have been here since, and found nothing wrong any more
        assert (book.memory.status()["last_error"] or "projection_").startswith("projection_")
        assert book.verify()["ok"]


def test_rebuilding_everything_changes_no_answer(story: Any) -> None:
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
        for _, table in BOUND.values():
            empty(story.root, table)
        assert failing(book) == {f"projection {name}" for name in TABLES.values()}
        rebuilt = book.projections.rebuild()
        assert {row["name"]: row["digest"] for row in rebuilt} == story.sound
        assert hashes(book) == story.sound
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
    with outside(story.root) as connection:
        run = connection.exec_driver_sql
        if connection.dialect.name == "sqlite":
            for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                run(f"DROP TRIGGER {name}")
            run("UPDATE events SET facts = replace(CAST(facts AS TEXT), 'agent', 'nobody') WHERE position = 1")
        else:
            run("ALTER TABLE events DISABLE TRIGGER USER")
            run(
                "UPDATE events SET facts = convert_to(replace(convert_from(facts, 'UTF8'), 'agent', 'nobody'), 'UTF8') "
                "WHERE position = 1"
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


@contextmanager
def backup(story: Any, where: str, request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """A copy of the database as it is now; gives what puts it back."""
    if where == "postgres":
        now = make_url(os.environ["MINUTEBOOK_DATABASE"])
        with request.getfixturevalue("new_postgres")(now.database) as copy:
            patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
            yield lambda: patch.setenv("MINUTEBOOK_DATABASE", copy.render_as_string(hide_password=False))
        return
    file = story.root / ".tinyagent" / "minutebook.db"
    kept = story.root.parent / "backup.db"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(kept)) as target:
        source.backup(target)

    def put_back() -> None:
        for side in ("", "-wal", "-shm"):
            file.with_name(f"minutebook.db{side}").unlink(missing_ok=True)
        shutil.copy(kept, file)

    yield put_back


def test_a_restored_backup_that_is_older_than_the_file_is_noticed(
    story: Any, where: str, request: pytest.FixtureRequest
) -> None:
    """Given a database copied back from before the last revision, the file is drift: nothing is overwritten."""
    with backup(story, where, request) as put_back:
        with Minutebook.open(story.root, automatic=False) as book:
            assert book.curate()["status"] == "committed"
        memory = story.root / ".tinyagent/memory/MEMORY.md"
        newer = memory.read_bytes()
        put_back()
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
