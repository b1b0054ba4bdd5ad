"""Backups while another process writes, restores and upgrades killed at any moment: the old store or the new (E7)."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import past

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.version import SCHEMA_VERSION

_VARIABLE = "MINUTEBOOK_" + "DATABASE"


def drill(seed: int, place: Any) -> str:
    chance = random.Random(seed)
    rounds = 2 if place.short else chance.randrange(6, 12)
    root = place.folder / "w"
    root.mkdir()
    with _named(None if place.sqlite else place.url):
        saved = _back_up_while_written_to(root, chance, place.folder)
        killed = _kill_restores(root, chance, saved, rounds)
    if not place.sqlite:
        return f"{killed} of {rounds} restores killed"
    old = place.folder / "old"
    old.mkdir()
    upgrades = _kill_upgrades(old, chance, rounds)
    return f"{killed} of {rounds} restores killed, {upgrades} of {rounds} upgrades"


@contextmanager
def _named(url: str | None) -> Iterator[None]:
    before = os.environ.pop(_VARIABLE, None)
    if url is not None:
        os.environ[_VARIABLE] = url
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
        if before is not None:
            os.environ[_VARIABLE] = before


def _child(work: Callable[[], Any]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def _back_up_while_written_to(root: Path, chance: random.Random, folder: Path) -> Path:
    """The last of three backups; each holds what was acknowledged before it began."""
    Minutebook.open(root, automatic=False).close()
    read, write = os.pipe()

    def writing() -> None:
        with Minutebook.open(root, automatic=False) as book:
            session = book.session("busy")
            while True:
                position = session.append({"role": "user", "content": "x" * chance.randrange(10, 5_000)})
                os.write(write, b"%d\n" % position)

    writer = _child(writing)
    os.close(write)
    saved = folder / "none"
    with os.fdopen(read) as acknowledged:
        for number in range(3):
            for _ in range(chance.randrange(3, 15)):
                last = int(acknowledged.readline())
            saved = folder / f"saved-{number}"
            with Minutebook.open(root, read_only=True) as book:
                assert book.backup(saved)["head"] >= last
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    return saved


def _kill_restores(root: Path, chance: random.Random, saved: Path, rounds: int) -> int:
    patient = Settings.load(root, lock_timeout_seconds=60)
    began = time.monotonic()
    Minutebook.restore(root, saved, replace=True, settings=patient)
    whole = time.monotonic() - began
    restored = past.content(root)
    killed = 0
    for number in range(rounds):
        with Minutebook.open(root, automatic=False) as book:
            book.session(f"after-{number}").append({"role": "user", "content": "after the backup"})
            book.memory.propose({"operation": "add", "text": f"Number {number} came after the backup."})
            book.curate()
        before = past.content(root)
        child = _child(lambda: Minutebook.restore(root, saved, replace=True, settings=patient))
        time.sleep(chance.random() * whole)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        now = past.content(root)
        # Started with the restored log, a book may have ended a run of a dead owner: the backup's events come first.
        assert now == before or now[: len(restored) - 1] == restored[:-1], "neither the old store nor the restored one"
        done = Minutebook.restore(root, saved, replace=True, settings=patient)
        assert done["ok"], done["checks"]
        assert done["memory_file"] == "clean"
    return killed


def _kill_upgrades(root: Path, chance: random.Random, rounds: int) -> int:
    killed = 0
    for number in range(rounds):
        place = root / str(number)
        place.mkdir()
        with _named(None):
            past.put_back(chance.choice([name for name in past.names() if name != "v1-ecd203e"]), place)
            before = past.content(place)
            child = _child(partial(Minutebook.upgrade, place))
            time.sleep(chance.random() * 0.1)
            os.kill(child, signal.SIGKILL)
            killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            assert past.content(place) == before
            assert past.version(place) in (1, SCHEMA_VERSION)
            try:
                Minutebook.upgrade(place)
            except MinutebookError as error:
                raise AssertionError(f"{error.code}: {error.message}") from error
            with Minutebook.open(place, automatic=False) as book:
                report = book.verify()
                assert report["ok"], report["checks"]
    return killed
