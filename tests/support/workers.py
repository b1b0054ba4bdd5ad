"""A worker in a process of its own, and what it says, line by line."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stores import PACKAGE

from minutebook import Minutebook

LIMIT_SECONDS = 90.0
"""How long a state is waited for: a machine may be slow, and is not to fail a test for it."""


class WorkerProcess:
    """``minutebook work`` with ``--json``; use it as a context manager, which kills what is left."""

    def __init__(self, root: Path, *arguments: str, **environment: str) -> None:
        self.said: list[dict[str, Any]] = []
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "minutebook", "--workspace", str(root), "--json", "work", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def wait_for(self, event: str, **values: Any) -> dict[str, Any]:
        """The first line, said already or to come, with this event and these values."""
        return self.wait_until(
            lambda said: said["event"] == event and all(said.get(name) == value for name, value in values.items()),
            f"{event} {values}",
        )

    def wait_until(self, wanted: Callable[[dict[str, Any]], bool], words: str = "") -> dict[str, Any]:
        for said in self.said:
            if wanted(said):
                return said
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                said = self._lines.get(timeout=max(0.0, until - time.monotonic()))  # type: ignore[assignment]
            except queue.Empty:
                raise AssertionError(f"the worker did not say {words}; it said {self.said}") from None
            if said is None:
                assert self.process.stderr is not None
                raise AssertionError(f"the worker ended without {words}; it said {self.said}, {self._errors()}")
            self.said.append(said)
            if wanted(said):
                return said

    def _errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()[-2_000:]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Asks it to end, and returns its exit status."""
        self.send(number)
        return self.process.wait(LIMIT_SECONDS)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait(LIMIT_SECONDS)
        self._reader.join(LIMIT_SECONDS)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


class Background:
    """A worker in a thread of this process."""

    def __init__(self, book: Minutebook, *names: str) -> None:
        self.stop, self.said, self.failed = threading.Event(), [], []  # type: ignore[var-annotated]
        self._book, self._names = book, names
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._book.projections.work(*self._names, stop=self.stop, report=self.said.append)
        except BaseException as error:
            self.failed.append(error)

    def heard(self, event: str, **values: Any) -> bool:
        return any(
            each["event"] == event and all(each.get(name) == value for name, value in values.items())
            for each in list(self.said)
        )

    def end(self) -> None:
        self.stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert self.failed == []


def until(wanted: Callable[[], bool], words: str = "it") -> None:
    """Waits until something is so."""
    end = time.monotonic() + LIMIT_SECONDS
    while not wanted():
        assert time.monotonic() < end, f"{words} did not come about"
        time.sleep(0.02)
