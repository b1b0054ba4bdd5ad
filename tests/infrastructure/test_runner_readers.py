"""Readers that may not write, or cannot: the tail is folded in memory and no file is touched (M2)."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from histories import Book
from plugins import Fussy, TokenCost

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import StoreError
from minutebook.infrastructure.store.database import Access, Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections import candidates, revisions
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context, history, queries
from minutebook.projections.memory_file import MemoryFile, desired
from minutebook.projections.revisions import Revisions

MakeMessage = Callable[..., MessageRecorded]
ALL = (Context, Candidates, Revisions, MemoryFile)


@pytest.fixture
def lagging(tmp_path: Path) -> Iterator[Path]:
    """A book whose projections stand somewhere in the middle of its history."""
    path = tmp_path / "book" / "book.db"
    database = Database(path)
    log = Log(database)
    projections = Projections(log, ALL)
    book = Book(log)
    book.open("s")
    positions = book.messages("s", ["hello"] * 30)
    book.propose("admitted")
    book.revise(1, 0)
    projections.catch_up()
    book.compact("s", positions[3:10])
    book.messages("s", ["more"] * 4)
    book.propose("admitted")
    book.revise(1, 0)
    database.close()
    yield path
    Fussy.POISON.clear()


def opened(path: Path, access: Access, kinds: tuple[type, ...] = ALL) -> Projections:
    return Projections(Log(Database(path, access=access, lock_timeout=0.1)), kinds)


def answers(projections: Projections) -> list[object]:
    """What every read model says."""
    found: list[object] = []
    with projections.reading("context") as (view, connection):
        found.append(queries.visible(view, connection, "local", "s"))
        found.append(history.messages(view, connection, "local", "s"))
        found.append(history.sessions(view, connection, "local"))
        found.append(history.compactions(view, connection, "local", "s"))
    with projections.reading("candidates") as (view, connection):
        found.append(candidates.by_status(view, connection, "local"))
    with projections.reading("revisions") as (view, connection):
        found.append(revisions.log(view, connection, "local"))
        found.append(revisions.blame(view, connection, "local"))
    with projections.reading("memory_file") as (view, connection):
        found.append(desired(view, connection, "local"))
    return found


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in sorted(folder.iterdir())}


def test_a_read_only_look_equals_the_live_one_and_touches_no_file(lagging: Path) -> None:
    before = snapshot(lagging.parent)
    reader = opened(lagging, "read_only")
    assert reader.status()[0].lag > 0
    seen = answers(reader)
    reader.database.close()
    after = snapshot(lagging.parent)
    # SQLite makes an empty -wal and a -shm while it reads, and leaves them: the book itself is as it was.
    assert after["book.db"] == before["book.db"]
    assert set(after) - set(before) <= {"book.db-wal", "book.db-shm"}
    writer = opened(lagging, "write")
    assert answers(writer) == seen
    assert writer.status()[0].lag == 0


def test_a_read_only_look_works_in_a_folder_that_cannot_be_written(lagging: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    lagging.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert len(answers(opened(lagging, "read_only"))) == 8
    finally:
        lagging.parent.chmod(0o700)


def test_a_look_advances_the_projection_where_it_can(lagging: Path) -> None:
    looker = opened(lagging, "look")
    seen = answers(looker)
    assert looker.status()[0].lag == 0
    looker.database.close()
    assert answers(opened(lagging, "write")) == seen


def test_a_look_at_a_locked_database_folds_the_tail_in_memory(lagging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minutebook.infrastructure.store.worker.DELAYS", (0.01,))
    expected = answers(opened(lagging, "read_only"))
    other = Database(lagging)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with other.projecting():
            held.set()
            release.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(5)
    try:
        looker = opened(lagging, "look")
        assert answers(looker) == expected
        assert looker.status()[0].lag > 0
    finally:
        release.set()
        thread.join()


def test_a_projection_that_was_never_built_is_folded_from_the_beginning(lagging: Path) -> None:
    reader = opened(lagging, "read_only", (TokenCost,))
    with reader.reading("token_cost") as (view, connection):
        assert connection.execute(view.lines.select()).all()
    assert reader.status()[0].status == "building"


def test_a_read_only_look_at_poison_is_an_error_and_not_a_stale_answer(lagging: Path) -> None:
    Fussy.POISON.add("m3")
    reader = opened(lagging, "read_only", (Fussy,))
    with pytest.raises(StoreError) as caught, reader.reading("token_cost"):
        pass
    assert caught.value.code == "projection_halted"


def test_a_book_that_does_not_exist_reads_as_an_empty_one(tmp_path: Path) -> None:
    reader = opened(tmp_path / "none.db", "read_only")
    with reader.reading("context") as (view, connection):
        assert history.sessions(view, connection, "local") == []
    assert list(tmp_path.iterdir()) == []
