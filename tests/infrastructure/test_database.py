"""What can stand at the path, who else can hold it, and what the disk can do: each with its code (section 5)."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import InputError, MinutebookError, StoreError
from minutebook.infrastructure.store.database import APPLICATION_ID, Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

Make = Callable[..., MessageRecorded]
ACCESS = ["write", "look", "read_only"]


def refused(path: Path, access: Any = "write", **options: Any) -> MinutebookError:
    """The error that opening the path gives; fails when it opens."""
    try:
        database = Database(path, access=access, **options)
    except MinutebookError as error:
        return error
    try:
        Log(database)
    except MinutebookError as error:
        return error
    finally:
        database.close()
    return MinutebookError("it opened", code="opened")


def filled(path: Path, message: Make, count: int = 3) -> None:
    database = Database(path)
    Log(database).append([message(number) for number in range(1, count + 1)])
    database.close()


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


def in_a_child(work: Callable[[], Any]) -> Any:
    """What ``work`` returns in a child made by fork."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, pickle.dumps(answer))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer


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


# --- others at the same database


@pytest.mark.parametrize("fresh", [True, False])
def test_a_writer_that_holds_the_lock_is_waited_for_no_longer_than_said(
    tmp_path: Path, message: Make, fresh: bool
) -> None:
    path = tmp_path / "book.db"
    filled(path, message)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    database = Database(path, lock_timeout=0.3)
    log = Log(database)
    if not fresh:
        holder.execute("COMMIT")
        log.append([message(4)])
        holder.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    with pytest.raises(StoreError) as caught:
        log.append([message(9)])
    assert caught.value.code == "store_locked"
    assert 0.2 < time.monotonic() - started < 2.0
    assert log.head().position == (3 if fresh else 4)
    holder.execute("COMMIT")
    assert log.append([message(9)]) == [4 if fresh else 5]
    holder.close()
    database.close()


def test_a_lock_on_postgresql_is_waited_for_no_longer_than_said(postgres_url: str, message: Make) -> None:
    database = Database(postgres_url, lock_timeout=0.3)
    log = Log(database)
    log.append([message(1)])
    with database.views.connect() as holder:
        holder.exec_driver_sql("SELECT * FROM log_head FOR UPDATE")
        with pytest.raises(StoreError) as caught:
            log.append([message(2)])
        assert caught.value.code == "store_locked"
        holder.rollback()
    assert log.append([message(2)]) == [2]
    database.close()


def test_after_the_server_dropped_the_connection_the_next_append_dials_again(postgres_url: str, message: Make) -> None:
    database = Database(postgres_url)
    log = Log(database)
    log.append([message(1)])
    with database.views.connect() as other:
        other.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(StoreError) as caught:
        log.append([message(2)])
    assert caught.value.code == "store_unreachable"
    assert log.append([message(2)]) == [2]
    assert verify_log(log).ok
    database.close()


def test_eight_processes_open_a_fresh_store_at_once(database_url: str) -> None:
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(8), context.SimpleQueue()

    def work(number: int) -> None:
        start.wait()
        try:
            database = Database(database_url)
            position = Log(database).head().position
            database.close()
            answers.put(position)
        except BaseException as error:
            answers.put(f"{type(error).__name__}: {error}")

    processes = [context.Process(target=work, args=(number,)) for number in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [answers.get() for _ in processes] == [0] * 8


def test_a_child_after_fork_appends_on_a_connection_of_its_own(database_url: str, message: Make) -> None:
    database = Database(database_url)
    log = Log(database)
    log.append([message(1)])

    assert in_a_child(lambda: log.append([message(2)])) == [2]
    assert log.append([message(3)]) == [3]
    assert verify_log(log).ok
    database.close()


def test_a_closed_book_says_so(database: Database, message: Make) -> None:
    log = Log(database)
    database.close()
    for use in (lambda: log.append([message(1)]), log.head):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.code == "store_closed"


def test_threads_append_to_a_book_in_memory_at_once(message: Make) -> None:
    database = Database("sqlite://")
    log = Log(database)
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for number in range(20):
                log.append([message(worker * 100 + number)])
                log.head()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert verify_log(log).ok
    database.close()


# --- the disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_keeps_nothing_of_the_write_and_goes_on_when_there_is_room(small_disk: Path, message: Make) -> None:
    (small_disk / "ballast").write_bytes(bytes(300_000))
    database = Database(small_disk / "book.db")
    log = Log(database)
    number, code = 0, ""
    while not code and number < 200:
        number += 1
        try:
            log.append([message(number, "x" * 20_000)])
        except StoreError as error:
            code = error.code
    assert code == "disk_full"
    assert log.head().position == number - 1
    assert verify_log(log).ok

    (small_disk / "ballast").unlink()
    assert log.append([message(number)]) == [number]
    assert verify_log(log).ok
    database.close()


def test_a_book_cannot_be_made_on_a_full_disk(small_disk: Path) -> None:
    with (small_disk / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while ballast.write(bytes(4096)):
            pass
    assert refused(small_disk / "book.db").code == "disk_full"


def test_the_application_id_is_a_promise() -> None:
    assert APPLICATION_ID == 0x6D626F6B
    with pytest.raises(InputError):
        Database("oracle://x")
