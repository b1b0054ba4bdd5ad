"""What can stand at the path of the database, and who may enter: each with its code (section 5)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stores import Make, filled, in_a_child, refused

from minutebook.domain.errors import InputError, MinutebookError, StoreError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log
from minutebook.infrastructure.store.version import APPLICATION_ID

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

ACCESS = ["write", "look", "read_only"]


# --- what stands at the path


@pytest.mark.parametrize("access", ACCESS)
@pytest.mark.parametrize("content", [b"just a text file, longer than a header " * 9, b"\x00" * 4096, b"x"])
def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path, content: bytes, access: str) -> None:
    path = tmp_path / "book.db"
    path.write_bytes(content)
    assert refused(path, access).code == "not_a_book"
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["book.db"]


@pytest.mark.parametrize("access", ACCESS)
def test_another_programs_database_is_refused_untouched(tmp_path: Path, access: str) -> None:
    path = tmp_path / "book.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, note TEXT)")
    other.close()
    before = path.read_bytes()
    assert refused(path, access).code == "not_a_book"
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["book.db"]


@pytest.mark.parametrize("access", ACCESS)
def test_a_newer_schema_is_refused_untouched(tmp_path: Path, message: Make, access: str) -> None:
    path = tmp_path / "book.db"
    filled(path, message)
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    before = path.read_bytes()
    error = refused(path, access)
    assert error.code == "schema_newer"
    assert error.details["found"] == 99
    assert path.read_bytes() == before


def test_a_newer_schema_on_postgresql_is_refused(postgres_url: str) -> None:
    database = Database(postgres_url)
    Log(database)
    with database.views.begin() as connection:
        connection.exec_driver_sql("UPDATE store_schema SET version = 99")
    with pytest.raises(StoreError) as caught:
        Log(database)
    assert caught.value.code == "schema_newer"
    database.close()


def test_another_programs_postgresql_schema_is_refused_untouched(postgres_url: str) -> None:
    database = Database(postgres_url)
    with database.views.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE events (id integer)")
    with pytest.raises(StoreError) as caught:
        Log(database)
    assert caught.value.code == "not_a_book"
    with database.reading() as connection:
        tables = connection.exec_driver_sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").scalar()
    assert tables == 1
    database.close()


def test_a_database_whose_version_was_lost_is_refused_untouched(tmp_path: Path, message: Make) -> None:
    path = tmp_path / "book.db"
    filled(path, message)
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 0")
    other.close()
    assert refused(path).code == "store_corrupt"
    assert sqlite3.connect(path).execute("SELECT count(*) FROM events").fetchone() == (3,)


def test_a_file_of_no_bytes_becomes_a_book_and_is_none_for_a_reader(tmp_path: Path, message: Make) -> None:
    path = tmp_path / "book.db"
    path.touch()
    assert refused(path, "read_only").code == "not_a_book"
    assert path.read_bytes() == b""
    filled(path, message)
    database = Database(path, access="read_only")
    assert Log(database).head().position == 3
    database.close()


@pytest.mark.parametrize("access", ACCESS)
@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "dangling link"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, message: Make, kind: str, access: str) -> None:
    path = tmp_path / "book.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        target = tmp_path / "elsewhere.db"
        if kind == "link":
            filled(target, message)
        path.symlink_to(target)
    assert refused(path, access).code == "store_not_a_file"
    assert (tmp_path / "elsewhere.db").exists() is (kind == "link")


@pytest.mark.parametrize("access", ["look", "read_only"])
def test_a_reader_of_a_book_that_does_not_exist_sees_an_empty_one_and_makes_nothing(
    tmp_path: Path, access: Any
) -> None:
    database = Database(tmp_path / "none" / "book.db", access=access)
    log = Log(database)
    assert log.head().position == 0
    assert list(log.read()) == []
    database.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b?#%.db", "日本 ü.db", "file:x.db", "it's;--.db", "%41.db", ":memory:x"])
def test_odd_names_are_only_names(tmp_path: Path, message: Make, name: str) -> None:
    path = tmp_path / "a folder?mode=memory#%20" / name
    filled(path, message)
    assert path.stat().st_size > 0
    database = Database(path, access="read_only")
    assert Log(database).head().position == 3
    database.close()


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("mysql://localhost/x", "bad_database_url"),
        ("no url", "bad_database_url"),
        ("postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1", "store_unreachable"),
    ],
)
def test_a_url_that_leads_nowhere_has_a_code(url: str, code: str) -> None:
    with pytest.raises(MinutebookError) as caught:
        Log(Database(url))
    assert caught.value.code == code


def test_a_nul_in_the_path_is_an_error_of_ours(tmp_path: Path) -> None:
    assert refused(tmp_path / "a\0b.db").code == "store_unwritable"


def test_files_and_folder_are_the_owners_alone(tmp_path: Path, message: Make) -> None:
    old = os.umask(0)
    try:
        path = tmp_path / "folder" / "book.db"
        database = Database(path)
        Log(database).append([message(1)])
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert modes == {"book.db": 0o600, "book.db-wal": 0o600, "book.db-shm": 0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        database.close()
    finally:
        os.umask(old)


# --- permissions


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that a user without rights can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="minutebook-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def without_rights(work: Callable[[], Any]) -> Any:
    """The same when the child is not root, to whom no folder is read-only."""

    def drop_and_work() -> Any:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        return work()

    return in_a_child(drop_and_work)


def test_a_book_in_a_read_only_folder_can_be_read_and_not_written(shared_folder: Path, message: Make) -> None:
    path = shared_folder / "book.db"
    filled(path, message)
    path.chmod(0o444)
    shared_folder.chmod(0o555)

    def read() -> Any:
        database = Database(path, access="read_only")
        log = Log(database)
        return log.head().position, verify_log(log).ok

    assert without_rights(read) == (3, True)
    assert without_rights(lambda: refused(path).code) == "store_unwritable"
    assert without_rights(lambda: refused(shared_folder / "new.db").code) == "store_unwritable"
    assert [file.name for file in shared_folder.iterdir()] == ["book.db"]


def test_a_reader_without_rights_is_told_so(shared_folder: Path, message: Make) -> None:
    path = shared_folder / "book.db"
    filled(path, message)  # 0600: of the owner alone.
    code = without_rights(lambda: refused(path, "read_only").code)
    assert code == "store_unwritable"


def test_the_application_id_is_a_promise() -> None:
    assert APPLICATION_ID == 0x6D626F6B
    with pytest.raises(InputError):
        Database("oracle://x")


@pytest.mark.parametrize("access", ["write", "look", "read_only"])
def test_a_damaged_name_in_the_schema_is_damage_and_no_traceback(tmp_path: Path, message: Make, access: str) -> None:
    """SQLite says which part of its schema is malformed, and repeats the bytes: they need not be UTF-8 any more."""
    path = tmp_path / "book.db"
    filled(path, message)
    data = path.read_bytes()
    assert data.count(b"indexevents_by_topicevents") == 1
    path.write_bytes(data.replace(b"indexevents_by_topicevents", b"index\xf4vents_by_topicevents"))
    assert refused(path, access).code == "store_corrupt"
