"""A worker is killed (SIGKILL) at each step; the next one goes on, and the rows are what they would have been (E6)."""

from __future__ import annotations

import os
import random
import signal
import threading
import warnings
from collections.abc import Callable

from histories import Book
from soak import Place

from minutebook import Minutebook, Settings
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.log import Log

STEPS = ("project.begun", "project.moved", "project.applied", "project.committed", "work.kept", "work.leased")


def drill(seed: int, place: Place) -> str:
    chance = random.Random(seed)
    settings = Settings(curation_automatic=False, workspace_id="of the workers", worker_lease_seconds=2.0)
    url = place.url
    grown: Book | None = None
    killed = 0
    for step in STEPS:
        # The events are put into the log by somebody who brings no projection up to date.
        database = Database(url)
        log = Log(database)
        grown = grown or Book(log)
        grown.log = log
        grown.play([(chance.randrange(30), chance.randrange(41), chance.randrange(41)) for _ in range(6)])
        if "kept" not in grown.sessions:
            grown.open("kept")
        grown.messages("kept", ["hello"] * chance.randrange(2, 30))
        database.close()
        times = chance.randrange(1, 4) if step.startswith("project.") else 1

        def worked(step: str = step, times: int = times) -> None:
            with (
                armed(step, f"kill:{times}"),
                Minutebook.open(place.folder / "w", database=url, settings=settings) as working,
            ):
                working.projections.work(stop=threading.Event())

        status = _in_a_child(worked)
        assert os.WIFSIGNALED(status), (step, status)
        assert os.WTERMSIG(status) == signal.SIGKILL, (step, status)
        killed += 1
        with Minutebook.open(place.folder / "w", database=url, settings=settings) as book:
            # the next one takes over at once what a dead process of this host held
            assert book.projections.work(once=True) or _only_held(book)
            checks = book.verify()["checks"]
            assert all(check["ok"] for check in checks if check["name"] != "memory_file_on_disk"), (step, checks)
            engine = book._runtime.projections
            before = {name: engine.dump_hash(name) for name in engine.names}
            engine.rebuild()
            assert {name: engine.dump_hash(name) for name in engine.names} == before, step
    return f"killed at {killed} steps"


def _only_held(book: Minutebook) -> bool:
    """The memory file may hold its cursor before what no file reflects."""
    return all(row["status"] == "live" for row in book.projections.list())


def _in_a_child(work: Callable[[], None]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: there are none of ours
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(77)
    return os.waitpid(child, 0)[1]
