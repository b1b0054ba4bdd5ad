"""A rebuild that is stopped in the middle, by Ctrl-C or for good, beside readers, writers and another rebuild (E2)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from large_logs import Row, grow, template
from stores import child_environment

from minutebook import Minutebook, Settings

EVENTS = 23_000
"""Three stretches: a rebuild of the context is in the middle of its work more than once."""
QUIET = Settings(curation_automatic=False)
WAIT = 60.0


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return template()


@pytest.fixture
def large(place: Path, rows: list[Row]) -> Iterator[Minutebook]:
    """An open book whose log is long; the projection that is rebuilt is up to date."""
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        grow(book._runtime.log, rows, EVENTS)
        book._runtime.projections.catch_up("context")
        with book.session("mine").run() as run:
            run.append({"role": "user", "content": "What stands here stays here."})
        book._runtime.projections.catch_up("context")
        yield book


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    """Starts 'minutebook projections rebuild NAME' in a process of its own, stopped at a failpoint."""
    started: list[subprocess.Popen[str]] = []

    def run(name: str = "context", failpoint: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "minutebook", "--workspace", str(place), "projections", "rebuild", name]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(MINUTEBOOK_FAILPOINT=failpoint, HOME=os.environ.get("HOME", "/")),
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def until(holds: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def standing(book: Minutebook) -> Any:
    return next(row for row in book._runtime.projections.status() if row.name == "context")


def still_well(book: Minutebook, digest: str, generation: int) -> None:
    """Readers see what they saw, a writer writes, and the live worker goes on."""
    row = standing(book)
    assert (row.status, row.generation) == ("live", generation)
    assert book.session("mine").context().digest == digest
    before = len(book.session("other").messages()) if "other" in names(book) else 0
    with book.session("other").run() as run:
        run.append({"role": "user", "content": "Meanwhile."})
    assert len(book.session("other").messages()) == before + 1


def names(book: Minutebook) -> set[str]:
    return {row["session"] for row in book.sessions()}


def note(reached: list[int], name: str, position: int, head: int) -> None:
    reached.append(position)


def sound(book: Minutebook) -> bool:
    return book._runtime.projections.verify("context").ok


def test_a_stopped_rebuild_is_taken_up_where_it_stopped(large: Minutebook, start: Start, tmp_path: Path) -> None:
    digest = large.session("mine").context().digest
    parked = tmp_path / "parked"
    for how in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        generation = standing(large).generation
        # given a rebuild with one stretch done
        process = start(failpoint=f"rebuild.step=park({parked}):1")
        until(parked.exists, "the first stretch")
        first = standing(large).building
        assert 0 < first < large.head
        still_well(large, digest, generation)
        # when it is stopped
        process.send_signal(how)
        if how is not signal.SIGKILL:
            parked.unlink()
        _, said = process.communicate(timeout=WAIT)
        parked.unlink(missing_ok=True)
        # then it says so, if it can, nothing has changed, and what was done is kept
        assert process.returncode == (130 if how is signal.SIGINT else -how), said
        assert "Traceback" not in said
        assert ("goes on where this one stopped" in said) is (how is signal.SIGINT)
        still_well(large, digest, generation)
        kept = standing(large).building
        assert kept >= first
        # and the next one begins there
        reached: list[int] = []
        large.projections.rebuild("context", progress=partial(note, reached))
        assert min(reached) > kept
        assert standing(large).building is None
        still_well(large, digest, generation + 1)
        assert sound(large)


def test_a_rebuild_that_is_killed_at_any_step_leaves_a_sound_projection(large: Minutebook, start: Start) -> None:
    digest = large.session("mine").context().digest
    for point in ("rebuild.begun", "rebuild.step", "rebuild.swapping", "rebuild.swapped"):
        generation = standing(large).generation
        process = start(failpoint=f"{point}=kill")
        process.communicate(timeout=WAIT)
        assert process.returncode == -signal.SIGKILL, point
        generation += point == "rebuild.swapped"
        still_well(large, digest, generation)
        large.projections.rebuild("context")
        still_well(large, digest, generation + 1)
    assert sound(large)


def test_two_rebuilds_and_a_worker_in_processes_of_their_own_leave_one_sound_generation(
    large: Minutebook, start: Start
) -> None:
    digest = large.session("mine").context().digest
    generation = standing(large).generation
    processes = [start(), start()]
    while any(process.poll() is None for process in processes):
        still_well_or_newer(large, digest, generation)
    for process in processes:
        _, said = process.communicate(timeout=WAIT)
        assert process.returncode == 0, said
    assert standing(large).generation in (generation + 1, generation + 2)
    assert standing(large).building is None
    assert sound(large)


def still_well_or_newer(book: Minutebook, digest: str, generation: int) -> None:
    assert standing(book).generation >= generation
    assert book.session("mine").context().digest == digest
    with book.session("other").run() as run:
        run.append({"role": "user", "content": "Meanwhile."})
