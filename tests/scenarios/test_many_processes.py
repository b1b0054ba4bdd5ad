"""Several processes in one workspace at once: nothing is lost, and nobody is taken for dead who lives (issue 7)."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crowds import gather, judge, notes
from stores import held, in_a_child, outside

from minutebook import Minutebook, Settings, aio
from minutebook.infrastructure.edges.cli import main
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.forking import ForkLock, fork_waits

HELLO = {"role": "user", "content": "hello"}

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.mark.slow
def test_four_processes_that_append_compact_curate_and_ask_interrupt_no_live_run(tmp_path: Path) -> None:
    """Given a process of each kind, when all work at once, then no run is interrupted and no update is lost.

    The long form is ``make drill-crowd``.
    """
    root = tmp_path / "w"
    gather(root, {"talk": (1, 8)}, {"compact": 1, "curate": 1, "status": 1})
    counts = judge(root)
    assert (counts["messages"], counts["facts"]) == (16, 8)
    assert notes(root, "status", "head")


@pytest.mark.slow
def test_eight_processes_that_talk_curate_follow_and_edit_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / "w"
    gather(root, {"talk": (3, 4), "edit": (1, 3)}, {"curate": 2, "follow": 1, "compact": 1})
    counts = judge(root)
    assert (counts["messages"], counts["facts"], counts["edits"]) == (24, 12, 3)
    assert len(notes(root, "follow", "after")) == 1


def at_once(work: Any, count: int) -> list[Any]:
    """What ``work(number)`` comes to in so many forked processes that begin together."""
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(count), context.SimpleQueue()

    def one(number: int) -> None:
        start.wait()
        try:
            answers.put(work(number))
        except BaseException as error:
            answers.put(f"{type(error).__name__}: {error}")

    processes = [context.Process(target=one, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    found = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    return found


@pytest.mark.slow
def test_sixteen_processes_open_a_fresh_and_then_an_old_store_at_once(tmp_path: Path) -> None:
    """Given no store, and then one whose read models are of an older version and whose run's owner is dead,
    when sixteen processes begin together, then each is let in, and what was to be made is made once."""
    root = tmp_path / "w"

    patient = Settings(lock_timeout_seconds=120.0)  # on a slow machine sixteen take their time

    def work(number: int) -> tuple[int, int]:
        with Minutebook.open(root, settings=patient, automatic=False) as book:
            return number, book.session(f"s{number}").append(HELLO, id="m1")

    fresh = at_once(work, 16)
    assert [answer for answer in fresh if not isinstance(answer, tuple)] == []
    assert len({position for _, position in fresh}) == 16
    with Minutebook.open(root, automatic=False) as book:
        assert len(book.sessions()) == 16
        assert book.verify().ok
        names = book._runtime.projections.names
        sound = {name: book._runtime.projections.dump_hash(name) for name in names}

    def left(_number: int) -> int:
        run = Minutebook.open(root, settings=patient, automatic=False).session("left").run()
        return run.append(HELLO)  # and the process ends, with the run open

    [position] = at_once(left, 1)
    assert isinstance(position, int), position
    with outside(root) as connection:
        connection.exec_driver_sql("UPDATE cursors SET version = version + 1000")
    old = at_once(work, 16)
    assert [answer for answer in old if not isinstance(answer, tuple)] == []
    assert dict(old) == dict(fresh), "the same appends"
    with Minutebook.open(root, automatic=False) as book:
        assert {row["status"] for row in book.projections.list()} == {"live"}
        assert [event["type"] for event in book.log()].count("RunInterrupted") == 1
        assert book.verify().ok
        assert sound.keys() == {row["name"] for row in book.projections.list()}


def test_threads_and_tasks_of_one_process_share_a_workspace(tmp_path: Path) -> None:
    """Given a book of threads and one of asyncio on one workspace, then each message is there once."""
    root = tmp_path / "w"
    told: list[int] = []

    def in_threads(book: Minutebook, number: int) -> None:
        session = book.session(f"thread-{number}")
        with session.run() as run:
            for count in range(6):
                told.append(run.append(HELLO, id=f"m{count}"))
                assert run.context().messages

    async def task(book: Any, number: int) -> None:
        session = await book.session(f"task-{number}")
        async with session.run() as run:
            for count in range(6):
                told.append(await run.append(HELLO, id=f"m{count}"))
                assert (await run.context()).messages

    async def in_tasks() -> None:
        async with aio.Minutebook.open(root, automatic=False) as book:
            await asyncio.gather(*(task(book, number) for number in range(4)))

    with Minutebook.open(root, automatic=False) as book:
        threads = [threading.Thread(target=in_threads, args=(book, number)) for number in range(4)]
        threads.append(threading.Thread(target=lambda: asyncio.run(in_tasks())))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(told) == len(set(told)) == 48
        assert sorted(told) == sorted(
            message["position"] for row in book.sessions() for message in book.session(row["session"]).messages()
        )
        assert "RunInterrupted" not in [event["type"] for event in book.log()]
        assert book.verify().ok


def test_a_child_made_by_fork_goes_on_with_the_book_of_its_parent(tmp_path: Path) -> None:
    """Given an open book and an open run, when the process forks, then both go on, and no run is taken for dead."""
    root = tmp_path / "w"
    with Minutebook.open(root, automatic=False) as book, book.session("parent").run() as run:
        run.append(HELLO)

        def work() -> Any:
            with book.session("child").run() as own:
                own.append([HELLO, HELLO])
                shown = own.context()
                own.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
            book.curate()
            with Minutebook.open(root, automatic=False) as other:
                other.session("grandchild").append(HELLO)
            return len(shown.messages)

        assert in_a_child(work) == 2
        run.append(HELLO)
        assert len(run.context().messages) == 2
        assert [entry["text"] for entry in book.memory.entries()] == ["The build needs make 4.3 or newer."]
        run.succeed()
        assert "RunInterrupted" not in [event["type"] for event in book.log()]
        assert book.verify().ok


def wait_for(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done() and time.monotonic() < until:
        time.sleep(0.01)
    assert done()


def forked(work: Callable[[], Any]) -> int:
    """A child that does the work, and is ended when it hangs; its status is 0 where the work raises nothing."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def test_a_child_made_by_fork_while_another_thread_is_in_a_request_goes_on(tmp_path: Path) -> None:
    """Given a thread that waits for the log in the middle of a request, when the process forks, then the child can ask.

    A lock that the thread held would never open in the child, where that thread is not: it hung for good.
    """
    root, go = tmp_path / "w", tmp_path / "go"
    patient = Settings(lock_timeout_seconds=60.0, curation_automatic=False)

    def hold() -> None:
        with held(root):
            (tmp_path / "held").touch()
            wait_for(go.exists)

    def ask() -> None:
        wait_for(go.exists)
        assert run.context().messages
        assert run.memory({"operation": "add", "text": "The build needs make 4.3."}).status == "proposed"

    with Minutebook.open(root, settings=patient, automatic=False) as book, book.session("s").run() as run:
        run.append(HELLO)
        holder = forked(hold)
        wait_for((tmp_path / "held").exists)
        shown: list[Any] = []
        thread = threading.Thread(target=lambda: shown.append(run.context()))
        thread.start()
        wait_for(run.session._freezer._lock.locked)
        child = forked(ask)
        go.touch()
        thread.join()
        assert [os.waitpid(each, 0)[1] for each in (holder, child)] == [0, 0]
        assert len(shown[0].messages) == 1
        run.succeed()
        assert book.curate().status == "committed"
        assert book.verify().ok


def test_a_child_made_by_fork_while_another_thread_is_in_a_transaction_can_write(tmp_path: Path) -> None:
    """Given a thread in the middle of a transaction, when the process forks, then the child appends.

    SQLite keeps in memory who may write; the child took over that the thread may, and was told ``store_locked``.
    """
    with Minutebook.open(tmp_path / "w", automatic=False) as book:
        book.memory.propose({"operation": "add", "text": "The build needs make 4.3 or newer."})
        inside, end = threading.Event(), threading.Event()

        def middle() -> None:
            inside.set()
            end.wait(60)

        def curate() -> None:
            with armed("publish.preparing", middle):
                book.curate()

        def release() -> None:
            # On SQLite the fork waits for the transaction; on a server it need not.
            until = time.monotonic() + 1.0
            while not fork_waits() and time.monotonic() < until:
                time.sleep(0.01)
            end.set()

        threads = [threading.Thread(target=curate), threading.Thread(target=release)]
        threads[0].start()
        inside.wait(60)
        threads[1].start()
        child = forked(lambda: book.session("child").append(HELLO))
        for thread in threads:
            thread.join()
        assert os.waitpid(child, 0)[1] == 0
        assert [entry["text"] for entry in book.memory.entries()] == ["The build needs make 4.3 or newer."]
        assert len(book.session("child").messages()) == 1
        assert book.verify().ok


def test_a_lock_that_another_thread_holds_is_open_in_a_child_made_by_fork() -> None:
    lock, shut, go = ForkLock(), threading.Event(), threading.Event()

    def let_go() -> tuple[bool, bool]:
        before = lock.locked()
        lock.release()
        return before, lock.locked()

    def hold() -> None:
        with lock:
            shut.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    shut.wait()
    assert in_a_child(lambda: (lock.locked(), lock.acquire(timeout=30.0), lock.locked())) == (False, True, True)
    assert lock.locked()
    go.set()
    thread.join()
    assert not lock.locked()
    with lock:  # what the thread that forks holds is held in the child, and let go there
        assert in_a_child(let_go) == (True, False)
        assert lock.locked()


def test_commands_look_at_a_run_that_is_alive_and_leave_it_alone(tmp_path: Path, capsys: Any) -> None:
    """Given a live run of this process, when every command that opens the book runs, then the run goes on."""
    root = tmp_path / "w"
    with Minutebook.open(root, automatic=False) as book, book.session("s").run() as run:
        run.append(HELLO)
        for words in (("status",), ("verify",), ("memory", "curate"), ("projections", "rebuild", "--all"), ("log",)):
            with pytest.raises(SystemExit) as left:
                main(["--workspace", str(root), *words])
            assert left.value.code in (0, None), capsys.readouterr()
        run.append(HELLO)
        run.succeed()
        assert "RunInterrupted" not in [event["type"] for event in book.log()]
