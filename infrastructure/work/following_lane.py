"""One projection in a worker: a thread of its own, so that one that hangs or fails holds up no other (E6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from ...domain.errors import MinutebookError
from ..store.cursors import Cursor
from ..store.runner import Projections
from .claims import Claim

Report = Callable[[dict[str, Any]], None]
"""Called with what happened: ``event``, mostly ``projection``, and what belongs to it. One call at a time."""

FATAL = frozenset({
    "store_closed", "store_corrupt", "store_forbidden", "store_unknown_database", "not_a_book", "schema_newer",
    "read_only", "store_error",
})  # fmt: skip
"""No waiting mends these: the worker ends and says why."""

PROGRESS_SECONDS = 1.0
"""Between two reports of progress of one projection."""
BACK_OFF_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Before each further try after a failure; the last one again and again."""


class Lane:
    """Follows the log for one projection as long as its claim is held."""

    def __init__(self, engine: Projections, name: str, claim: Claim, report: Report, poll_seconds_max: float) -> None:
        self.name = name
        self.claim = claim
        self.wake = threading.Event()
        self.well = True
        """Whether the last try came to an end; a sign of life is only given for one that does."""
        self._engine = engine
        self._report = report
        self._poll_max = poll_seconds_max
        self._leaving = threading.Event()
        self._lost = False
        self._told: tuple[str, int | None] | None = None
        self._told_at = 0.0
        self._thread = threading.Thread(target=self._run, name=f"minutebook-work-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        """Asks it to end after the batch under way."""
        self._leaving.set()
        self.wake.set()

    def end(self, seconds: float) -> None:
        """Asks it to end, and waits so long for that."""
        self.leave()
        self._thread.join(seconds)

    def _run(self) -> None:
        failures = 0
        while not self._leaving.is_set() and not self._lost:
            self.wake.clear()
            try:
                cursor = self._engine.follow(self.name, self._fence, self._progress)
                self.well, failures = True, 0
                self._tell(cursor)
            except Exception as error:
                # Also what is a fault of ours: it is said, tried again, and keeps no other projection waiting.
                self.well = False
                code = error.code if isinstance(error, MinutebookError) else "internal_error"
                text = error.message if isinstance(error, MinutebookError) else f"{type(error).__name__}: {error}"
                if self._told is None or self._told[0] != code:
                    self._told = (code, None)
                    self._report({"event": "failed", "projection": self.name, "error": code, "message": text})
                self._leaving.wait(BACK_OFF_SECONDS[min(failures, len(BACK_OFF_SECONDS) - 1)])
                failures += 1
                continue
            self.wake.wait(self._poll_max)

    def _fence(self, connection: Connection) -> bool:
        if not self._leaving.is_set() and not self.claim.held(connection):
            self._lost = True
        return not self._leaving.is_set() and not self._lost

    def _progress(self, position: int, head: int) -> None:
        if time.monotonic() - self._told_at >= PROGRESS_SECONDS and position < head:
            self._told_at = time.monotonic()
            self._report({"event": "progress", "projection": self.name, "cursor": position, "head": head})

    def _tell(self, cursor: Cursor) -> None:
        """What is new since the last report: another standing at once, a further position now and then."""
        event = "caught_up" if cursor.status in ("live", "building") else cursor.status
        if self._told == (event, cursor.position) or self._leaving.is_set() or self._lost:
            return
        soon = self._told is not None and self._told[0] == event
        if soon and time.monotonic() - self._told_at < PROGRESS_SECONDS:
            return
        self._told, self._told_at = (event, cursor.position), time.monotonic()
        self._report({"event": event, "projection": self.name, "cursor": cursor.position, "error": cursor.error})
