"""When the curator runs: at once when asked, else in the background, bounded, one at a time, with back-off (D6).

Nothing here is waited for by a conversation: ``wake`` sets a flag. The reasons are the creation and the close of a
session, enough candidates, a sync, and the start of a book.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from typing import Any

from ...domain.errors import MemoryFault, MinutebookError, StoreError
from ...projections import candidates
from ..store.forking import ForkLock
from .curation_lease import take_lease, wait_for_lease
from .curator import Curator, answer_of
from .evidence import Evidence
from .publisher import Publisher
from .runtime import Runtime

DEBOUNCE_SECONDS = 0.25
CLOSE_SECONDS = 5.0
BACK_OFF_SECONDS_MAX = 3600.0
PATIENCE_SECONDS = 30.0
"""How long an explicit curation waits for another one, unless the locks of this book are waited for longer."""


class Curating:
    """The curator of one book: explicit jobs, and those in the background."""

    def __init__(
        self, runtime: Runtime, publisher: Publisher, curator: Any, evidence: Evidence | None = None, *, automatic: bool
    ) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._evidence = evidence
        self._curator = Curator(runtime, publisher, curator, evidence)
        self._one_at_a_time = ForkLock()
        self._automatic = automatic and runtime.writes and runtime.settings.memory_enabled
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.last_error: str | None = None

    # --- explicit

    def curate(self) -> dict[str, Any]:
        """One job now, after whatever job is under way.

        Raises MemoryFault ``memory_drift`` while the file is not what the log says (D8), ``curation_busy`` when another
        curation does not end.
        """
        patience = max(PATIENCE_SECONDS, self._runtime.settings.lock_timeout_seconds)
        deadline = time.monotonic() + patience
        if not self._one_at_a_time.acquire(timeout=patience):
            raise MemoryFault("this book is curating already; try again when it is done", code="curation_busy")
        try:
            self._wanted.clear()
            self._collect()
            if not self._curator.anything():
                current = self._publisher.document().current
                return answer_of(None, "nothing", None if current is None else current.number, ())
            left = max(0.0, deadline - time.monotonic())
            return self._curator.job(wait_for_lease(self._runtime, self._curator.lease_seconds, patience=left))
        finally:
            self._one_at_a_time.release()

    # --- in the background

    def start(self) -> None:
        """The start of a book is a reason to curate what the last one left."""
        if self._automatic and self._anything():
            self.wake("start")

    def wake(self, reason: str) -> None:
        """Asks for a job soon; returns at once, whatever the curator does."""
        if not self._automatic or (reason == "session_created" and not self._anything()):
            # A new session is a reason to curate what waits then, not what its own runs will propose in a moment.
            return
        self._wanted.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name=f"minutebook-curator-{reason}", daemon=True)
            self._thread.start()

    def wake_at_threshold(self) -> None:
        """A run has succeeded: when enough candidates wait, the curator starts."""
        if self._automatic and self._waiting() >= self._runtime.settings.curate_after_events:
            self.wake("threshold")

    def _anything(self) -> bool:
        """Whether candidates wait, or runs that nobody has read for evidence."""
        if self._waiting():
            return True
        try:
            return self._evidence is not None and self._evidence.collecting.unread()
        except StoreError as error:
            self.last_error = f"{error.code}: {error.message}"
            return False

    def _waiting(self) -> int:
        try:
            return self._pending_count()
        except StoreError as error:
            # Whoever ended a run or opened the book asked for no curation: what keeps it off is for status (S3, D6).
            self.last_error = f"{error.code}: {error.message}"
            return 0

    def stop(self) -> None:
        """The book closes: what was asked for is done now, and waited for a bounded time."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        while not (self._stopping.is_set() and not self._wanted.is_set()):
            if not self._wanted.wait(timeout=0.5):
                return
            # A little later: an explicit job that comes right after the start should find its work undone.
            self._stopping.wait(DEBOUNCE_SECONDS)
            with self._one_at_a_time:
                if not self._wanted.is_set():
                    continue
                self._wanted.clear()
                try:
                    self._once()
                    self.last_error = None
                except MinutebookError as error:
                    # The job's own failure is an event; this is for status, nothing may reach the conversation.
                    self.last_error = f"{error.code}: {error.message}"

    def _once(self) -> None:
        if not self._may_try():
            return
        self._collect()
        waiting = self._curator.waiting()
        if not self._publisher.detect(take_over=waiting).clean or not waiting:
            return
        # Another process is at it: what waits is waiting for both, and whoever is awake later takes what is left.
        lease = take_lease(self._runtime, self._curator.lease_seconds)
        if lease is not None:
            self._curator.job(lease)

    def _collect(self) -> None:
        """Phase 1, which needs no lease: a run that two read at once leaves one packet (D14)."""
        if self._evidence is not None and self._runtime.settings.memory_enabled:
            self._evidence.collecting.collect()

    def _may_try(self) -> bool:
        """Back-off: after n failures in a row the next automatic job waits 2^n seconds."""
        with self._runtime.projections.reading("candidates") as (view, connection):
            failed = candidates.failures(view, connection, self._runtime.workspace)
        if not failed:
            return True
        wait = min(2.0 ** min(len(failed), 20), BACK_OFF_SECONDS_MAX)
        since = self._runtime.now() - datetime.fromisoformat(failed[0].time)
        # A failure that lies ahead says that the clock was set back: to wait for it could take years.
        return not timedelta(0) <= since < timedelta(seconds=wait)

    def _pending_count(self) -> int:
        with self._runtime.projections.reading("candidates") as (view, connection):
            return len(candidates.pending(view, connection, self._runtime.workspace))
