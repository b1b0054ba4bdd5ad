"""Workers: processes that follow the log, share the projections, and take over from one that is gone."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stores import outside
from workers import Background, WorkerProcess, until

from minutebook import Minutebook, Settings, aio
from minutebook.domain.errors import InputError, StoreError
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store import leasing
from minutebook.infrastructure.work.following import share_out

NAMES = tuple(sorted(each.name for each in BUILT_IN))
QUICK = {"MINUTEBOOK_WORKER_LEASE_SECONDS": "3"}
"""A lease that runs out while somebody waits for it."""


def said(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"message {number}"}


def cursors(root: Path) -> dict[str, int]:
    """Where the projections stand, seen from outside, which brings none of them up to date."""
    with outside(root) as connection:
        return dict(connection.exec_driver_sql("SELECT name, position FROM cursors").fetchall())


def followers(root: Path) -> dict[str, str]:
    with outside(root) as connection:
        return leasing.holders(connection)


@pytest.fixture
def background(book: Minutebook) -> Iterator[Any]:
    running: list[Background] = []

    def start(*names: str, of: Minutebook | None = None) -> Background:
        running.append(Background(of or book, *names))
        return running[-1]

    yield start
    for each in running:
        each.end()


# --- one worker


def test_a_worker_brings_up_to_date_what_others_append_and_ends_when_asked(place: Path, book: Minutebook) -> None:
    session = book.session("s")
    with WorkerProcess(place) as worker:
        worker.wait_for("started")
        for name in NAMES:
            worker.wait_for("taken", projection=name)
        for number in range(5):
            session.append(said(number))
        head = book.head
        until(lambda: cursors(place)["context"] == head, "the context at the head")
        worker.wait_until(lambda line: line.get("projection") == "context" and line.get("cursor") == head, "caught up")
        listed = {row["name"]: row for row in book.projections.list()}
        assert {row["status"] for row in listed.values()} == {"live"}
        assert all("process" in str(row["worker"]) for row in listed.values())
        assert worker.end(signal.SIGTERM) == 0
        worker.wait_for("stopped")
    # everything that it held is free, and it says no more that it is there
    assert followers(place) == {}
    with outside(place) as connection:
        assert leasing.crew(connection) == {}
    assert {row["worker"] for row in book.projections.list()} == {None}


def test_ctrl_c_ends_a_worker_as_it_should_and_in_words(place: Path, book: Minutebook) -> None:
    import subprocess
    import sys

    from stores import PACKAGE

    book.session("s")
    process = subprocess.Popen(
        [sys.executable, "-m", "minutebook", "--workspace", str(place), "work", "context"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )  # fmt: skip
    try:
        until(lambda: "context" in followers(place))
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=90)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out) == (0, "")
    assert "follows the log for context; Ctrl-C ends it" in errors
    assert "context: taken" in errors
    assert "has ended" in errors
    assert "Traceback" not in errors


def test_once_ends_at_the_head_and_says_whether_all_are_there(command: Any, book: Minutebook, place: Path) -> None:
    book.session("s").append(said(1))
    done = command("work", "--once", "--json")
    assert (done.code, {line["projection"]: line["event"] for line in done.lines}) == (
        0,
        dict.fromkeys(NAMES, "caught_up"),
    )
    assert set(cursors(place).values()) == {book.head}
    book.projections.pause("context")
    done = command("work", "context", "--once")
    assert (done.code, done.err.split(" at ")[0]) == (1, "context: paused")
    refused = command("work", "nothing", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "unknown_projection")


def test_an_idle_worker_gives_a_sign_of_life(place: Path, background: Any) -> None:
    with Minutebook.open(place, automatic=False, settings=Settings(worker_lease_seconds=0.6)) as book:
        book.session("s")
        background("context", of=book)
        until(lambda: "context" in followers(place))
        first = beats(place)["context"]
        until(lambda: beats(place)["context"] > first, "a later heartbeat")
        assert cursors(place)["context"] == book.head


def beats(root: Path) -> dict[str, str]:
    with outside(root) as connection:
        return dict(connection.exec_driver_sql("SELECT name, heartbeat FROM cursors").fetchall())


def test_a_worker_of_this_process_hears_of_an_append_without_looking(place: Path, background: Any) -> None:
    """The signal is a hint: with an hour between two looks it is what brings the append over."""
    rare = Settings(worker_poll_seconds_max=3600, worker_lease_seconds=7200)
    with Minutebook.open(place, automatic=False, settings=rare) as book:
        worker = background("context", of=book)
        until(lambda: worker.heard("caught_up", projection="context"))
        book.session("s").append(said(1))
        until(lambda: cursors(place)["context"] == book.head)
        worker.end()


def test_pausing_halting_and_resuming_reach_a_running_worker(place: Path, book: Minutebook, background: Any) -> None:
    session = book.session("s")
    worker = background("context")
    until(lambda: worker.heard("caught_up", projection="context"))
    book.projections.pause("context", "a look at the disk")
    session_events = book.head
    until(lambda: worker.heard("paused", projection="context"))
    session.append(said(1))
    with pytest.raises(StoreError) as caught:
        session.messages()
    assert caught.value.code == "projection_paused"
    assert cursors(place)["context"] <= session_events
    book.projections.resume("context")
    until(lambda: cursors(place)["context"] == book.head)
    assert [message["content"] for message in session.messages()] == ["message 1"]
    # pausing, resuming and their reasons are in the log of this workspace
    decided = [event for event in book.log() if event["type"].startswith("Projection")]
    assert [(event["type"], event["actor"]) for event in decided] == [
        ("ProjectionPaused", "person"), ("ProjectionResumed", "person"),
    ]  # fmt: skip
    assert decided[0]["body"]["payload"] == {"reason": "a look at the disk"}


def test_an_asynchronous_worker_ends_with_its_task(place: Path) -> None:
    async def scenario() -> None:
        async with aio.Minutebook.open(place, automatic=False) as book:
            session = await book.session("s")
            assert await book.projections.work(once=True)
            heard: list[dict[str, Any]] = []
            task = asyncio.create_task(book.projections.work("context", report=heard.append))
            while not any(each["event"] == "caught_up" for each in heard):
                await asyncio.sleep(0.01)
            await session.append(said(1))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert heard[-1]["event"] == "stopped"
            assert followers(place) == {}

    asyncio.run(asyncio.wait_for(scenario(), 120))


def test_a_reader_is_no_worker(place: Path, book: Minutebook) -> None:
    with Minutebook.open(place, read_only=True) as reader, pytest.raises(StoreError) as caught:
        reader.projections.work(once=True)
    assert caught.value.code == "read_only"
    with pytest.raises(InputError):
        book.projections.work("nothing")


def test_a_worker_that_can_tell_nobody_any_more_ends_and_frees_what_it_held(place: Path, book: Minutebook) -> None:
    heard: list[dict[str, Any]] = []

    def report(happened: dict[str, Any]) -> None:
        heard.append(happened)
        if happened["event"] == "caught_up":
            raise BrokenPipeError("nobody reads")

    with pytest.raises(BrokenPipeError):
        book.projections.work(report=report)
    assert followers(place) == {}
    assert heard[-1]["event"] == "caught_up"


def test_a_book_has_one_worker(book: Minutebook, background: Any) -> None:
    worker = background("context")
    until(lambda: worker.heard("started"))
    with pytest.raises(StoreError) as caught:
        book.projections.work()
    assert caught.value.code == "worker_running"


def test_standings_are_changed_on_the_command_line(command: Any, book: Minutebook, place: Path) -> None:
    book.session("s").append(said(1))
    book.close()
    paused = command("projections", "pause", "context", "--reason", "a look", "--json").answer
    assert (paused["name"], paused["status"]) == ("context", "paused")
    assert command("context", "s", "--json").code == 0
    assert "context: live" in command("projections", "resume", "context").out
    refused = command("projections", "retire", "context", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "projection_needed")
    refused = command("projections", "drop", "context", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "projection_loaded")
    refused = command("projections", "skip", "context", "--reason", "none", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "nothing_to_skip")
    # what the settings no longer load is retired, and can be dropped
    with outside(place) as connection:
        connection.exec_driver_sql("INSERT INTO cursors VALUES ('gone', 1, 1, 0, 'live', NULL, NULL, '[\"gone\"]')")
        connection.exec_driver_sql("CREATE TABLE gone (x integer)")
    listed = {row["name"]: row for row in command("projections", "list", "--json").answer}
    assert (listed["gone"]["status"], listed["gone"]["loaded"]) == ("retired", False)
    assert command("projections", "drop", "gone", "--json").answer == {"name": "gone", "status": "dropped"}
    listed = {row["name"]: row for row in command("projections", "list", "--json").answer}
    assert sorted(listed) == sorted(NAMES)
    logged = command("log", "--json").lines
    assert [event["type"] for event in logged if event["type"].startswith("Projection")] == [
        "ProjectionPaused", "ProjectionResumed", "ProjectionDropped",
    ]  # fmt: skip


# --- several


def test_workers_share_out_evenly_and_move_little() -> None:
    four = ("candidates", "context", "memory_file", "revisions")
    crew = {"a": {"names": list(four)}}
    assert share_out(crew, {}) == dict.fromkeys(four, "a")
    # a second one takes half, and what is kept stays where it is
    both = crew | {"b": {"names": list(four)}}
    shared = share_out(both, dict.fromkeys(four, "a"))
    assert sorted(shared.values()) == ["a", "a", "b", "b"]
    assert share_out(both, shared) == shared
    # one that would take a single projection is given that; what only the other would take stays with the other
    picky = crew | {"b": {"names": ["context"]}}
    assert share_out(picky, {}) == dict.fromkeys(four, "a") | {"context": "b"}
    assert share_out(picky, dict.fromkeys(four, "a")) == dict.fromkeys(four, "a"), "nothing is left with nobody"
    assert share_out({}, {"context": "gone"}) == {}
    assert share_out({"a": {"names": None}}, {}) == {}


def test_two_workers_share_and_one_takes_over_from_one_that_was_killed(place: Path, book: Minutebook) -> None:
    session = book.session("s")
    with WorkerProcess(place, **QUICK) as first:
        first.wait_for("taken", projection="context")
        with WorkerProcess(place, **QUICK) as second:
            until(lambda: sorted(map(str, followers(place).values())).count(first.said[0]["worker"]) == len(NAMES) // 2
                  and len(followers(place)) == len(NAMES))  # fmt: skip
            session.append(said(1))
            until(lambda: set(cursors(place).values()) == {book.head})
            first.process.kill()
            first.process.wait()
            until(lambda: set(followers(place).values()) == {second.wait_for("started")["worker"]}
                  and len(followers(place)) == len(NAMES))  # fmt: skip
            session.append(said(2))
            until(lambda: set(cursors(place).values()) == {book.head})
            assert second.end() == 0
    assert book.verify()["ok"]


def test_a_worker_that_was_stopped_for_a_while_finds_another_in_its_place(place: Path, book: Minutebook) -> None:
    session = book.session("s")
    with WorkerProcess(place, "context", **QUICK) as first:
        first.wait_for("caught_up", projection="context")
        with WorkerProcess(place, "context", **QUICK) as second:
            started = second.wait_for("started")["worker"]
            # given one that sleeps with its claim in hand (it is idle: it holds no lock)
            stop_when_idle(first, place)
            until(lambda: followers(place).get("context") == started, "the second one in its place")
            session.append(said(1))
            until(lambda: cursors(place)["context"] == book.head)
            # when it wakes up, then it finds that out, and spoils nothing
            first.send(signal.SIGCONT)
            first.wait_for("lost", projection="context")
            session.append(said(2))
            until(lambda: cursors(place)["context"] == book.head)
            assert (first.end(), second.end()) == (0, 0)
    assert book.verify()["ok"]
    assert len(session.messages()) == 2


def stop_when_idle(worker: WorkerProcess, root: Path) -> None:
    """SIGSTOP at a moment at which it has no transaction open: a lock of SQLite that sleeps is nobody's to take."""
    for _ in range(100):
        worker.send(signal.SIGSTOP)
        with outside(root) as connection:
            if connection.dialect.name != "sqlite":
                return
            connection.exec_driver_sql("PRAGMA busy_timeout=200")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            except Exception:
                worker.send(signal.SIGCONT)
                continue
            connection.exec_driver_sql("ROLLBACK")
            return
    raise AssertionError("it was never idle")
