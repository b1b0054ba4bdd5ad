"""When the curator runs: never in the way, one at a time across processes, with back-off, on every occasion (D6)."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from stores import child_environment

from minutebook import Minutebook, MinutebookError, RuleCurator, Settings
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.work.curation_lease import give_back, take_lease, wait_for_lease

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import json, sys, time
from minutebook import Minutebook
from minutebook.infrastructure.work.curation_lease import take_lease
book = Minutebook.open(sys.argv[1], database=sys.argv[2] or None, automatic=False)
lease = take_lease(book._runtime, float(sys.argv[3]))
print(json.dumps(lease.fence if lease else None), flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(place: Path, seconds: float = 60.0) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """Another process that takes the lease, says its fence, and goes on living until it is let go or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(place), "", str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(PATH="/usr/bin:/bin"),
    ) as child:
        assert child.stdout is not None
        try:
            yield child, json.loads(child.stdout.readline())
        finally:
            child.kill()


def propose(book: Minutebook, *texts: str, session: str = "s") -> None:
    with book.session(session).run() as run:
        for text in texts:
            run.memory({"operation": "add", "text": text})


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


# --- never in the way


def test_a_curator_that_hangs_keeps_no_append_and_no_context_waiting(tmp_path: Path) -> None:
    """What it costs is measured by ``make bench ONLY=memory``; here it is shown that nobody waits for its end."""
    asked, go_on = threading.Event(), threading.Event()

    def hangs(request: Any) -> str:
        asked.set()
        go_on.wait(300)
        return "[]"

    # given a curator that hangs
    book = Minutebook.open(tmp_path, curator=hangs, settings=Settings(curate_after_events=1))
    try:
        propose(book, "The build needs make 4.3 or newer.")
        assert asked.wait(60)
        # when a run appends, asks for its context and proposes
        with book.session("other").run() as run:
            for number in range(30):
                run.append({"role": "user", "content": f"message {number}"})
                assert run.context().messages
            run.memory({"operation": "add", "text": "Tests run with pytest."})
        # then all of that was done while it hung, and the book closes without it
        assert not go_on.is_set()
        book.close()
        assert not go_on.is_set()
    finally:
        go_on.set()
        book.close()


@pytest.mark.parametrize("occasion", ["create", "close", "threshold", "start"])
def test_each_occasion_curates_what_waits(tmp_path: Path, occasion: str) -> None:
    many = Settings(curate_after_events=100)
    with Minutebook.open(tmp_path, settings=many, automatic=False) as book:
        propose(book, "The build needs make 4.3 or newer.")
    settings = Settings(curate_after_events=2) if occasion == "threshold" else many
    with Minutebook.open(tmp_path, settings=settings, automatic=False) as book:
        assert book.memory.status().pending == 1
    with Minutebook.open(tmp_path, settings=settings) as book:
        if occasion != "start":
            assert until(lambda: book.memory.status().revision == 1)
            propose(book, "Releases are cut on Fridays.", session="s")
        match occasion:
            case "create":
                book.session("new")
            case "close":
                book.session("s").close()
            case "threshold":
                propose(book, "The staging server is stage-3.")
            case _:
                pass
        wanted = {"start": 1}.get(occasion, 2)
        assert until(lambda: book.memory.status().revision >= wanted), occasion


def test_closing_a_book_curates_what_was_asked_for(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book:
        session = book.session("s")
        with session.run() as run:
            run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        session.close()
    with Minutebook.open(tmp_path, read_only=True) as book:
        assert len(book.memory.entries()) == 1


def test_a_failing_curator_is_visible_retried_with_back_off_and_leaves_the_cursor(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    calls = []

    def fails(request: Any) -> str:
        calls.append(now[0])
        raise RuntimeError("no route to the model")

    with Minutebook.open(
        tmp_path, curator=fails, clock=lambda: now[0], settings=Settings(curate_after_events=1, curation_attempts_max=9)
    ) as book:
        propose(book, "The build needs make 4.3 or newer.")
        assert until(lambda: len(calls) == 1 and bool(book.memory.status().failures))
        for _ in range(3):
            book.session("again").close()
            time.sleep(0.4)
        assert len(calls) == 1, "back-off: a second has to pass first"
        now[0] += timedelta(seconds=3)
        book.session("later").close()
        assert until(lambda: book.memory.status().failures == 2)
        status = book.memory.status()
        assert (status.pending, status.revision) == (1, 0)
        assert "RuntimeError" in status.last_error


# --- single flight


def test_a_second_process_does_not_curate_beside_the_first(tmp_path: Path) -> None:
    Minutebook.open(tmp_path).close()
    with (
        holder(tmp_path) as (child, fence),
        Minutebook.open(tmp_path, settings=Settings(curate_after_events=1)) as book,
    ):
        assert fence == 1
        propose(book, "The build needs make 4.3 or newer.")
        time.sleep(1.0)
        status = book.memory.status()
        assert (status.pending, status.revision, status.last_error) == (1, 0, None)
        with pytest.raises(MinutebookError) as refusal:
            wait_for_lease(book._runtime, 1.0, patience=0.2)
        assert refusal.value.code == "curation_busy"
        child.kill()
        child.wait()
        # The holder is dead, and this host can see it: nobody waits for the lease to run out.
        began = time.monotonic()
        assert book.curate().status == "committed"
        assert time.monotonic() - began < 100.0


def test_a_lease_runs_out_on_the_clock_of_the_database(tmp_path: Path) -> None:
    late = datetime(2040, 1, 1, tzinfo=UTC)
    with (
        Minutebook.open(tmp_path, automatic=False) as one,
        Minutebook.open(tmp_path, automatic=False, clock=lambda: late) as two,
    ):
        lease = take_lease(one._runtime, 2.0)
        assert lease is not None
        assert take_lease(two._runtime, 5.0) is None, "a clock of another host decides nothing"
        time.sleep(2.1)
        second = take_lease(two._runtime, 300.0)
        assert second is not None
        assert second.fence == lease.fence + 1
        give_back(one._runtime, lease)
        assert take_lease(one._runtime, 5.0) is None, "an old lease gives nothing back"
        give_back(two._runtime, second)
        assert take_lease(one._runtime, 5.0) is not None


def test_a_job_whose_lease_was_lost_changes_nothing(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book, Minutebook.open(tmp_path, automatic=False) as other:
        propose(book, "The build needs make 4.3 or newer.")

        def lose() -> None:
            with book._runtime.log.database.projecting() as connection:
                connection.execute(text("UPDATE leases SET expires = '2000' WHERE name LIKE 'curate:%'"))
            assert take_lease(other._runtime, 5.0) is not None

        with armed("curate.decided", lose), pytest.raises(MinutebookError) as refusal:
            book.curate()
        assert refusal.value.code == "curation_lease_lost"
        status = book.memory.status()
        assert (status.pending, status.revision, status.failures) == (1, 0, 1)
        assert "curation_lease_lost" in status.last_error
        assert [event.type for event in book.log() if event.type.startswith("Revision")] == []
        other.close()
        assert book.curate().status == "committed"


def test_two_books_that_curate_at_once_call_one_curator_at_a_time(tmp_path: Path) -> None:
    running, most, lock = [0], [0], threading.Lock()

    def slow(request: Any) -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.15)
        with lock:
            running[0] -= 1
        return RuleCurator().curate(request)

    with (
        Minutebook.open(tmp_path, automatic=False, curator=slow) as one,
        Minutebook.open(tmp_path, automatic=False, curator=slow) as two,
    ):
        for round_ in range(3):
            propose(one, f"Server number {round_} is in rack {round_}.", session=f"a{round_}")
            propose(two, f"The port of service {round_} is {9000 + round_}.", session=f"b{round_}")
            threads = [threading.Thread(target=book.curate) for book in (one, two)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert most[0] == 1
        assert len(one.memory.entries()) == 6
