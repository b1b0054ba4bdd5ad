"""Who else can hold the database, and what the disk can do: each with its code (section 5)."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stores import Make, filled, in_a_child, refused

from minutebook.domain.errors import StoreError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

ACCESS = ["write", "look", "read_only"]


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
    assert 0.2 < time.monotonic() - started < 60, "as long as lock_timeout says, not for ever"
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
