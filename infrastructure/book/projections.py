"""``book.projections``: where each read model stands, and how to make it again (E2, E6)."""

from __future__ import annotations

import threading

from ...domain.errors import StoreError
from ..store.runner import By
from ..work import following, looking, verifying
from ..work.following_lane import Report
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from .answers import Answer, Answers


class ProjectionsFace:
    """The projections of one book."""

    def __init__(self, runtime: Runtime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._working = threading.Lock()

    def list(self) -> Answers:
        """``name``, ``version``, ``cursor``, ``head``, ``lag``, ``lag_seconds``, ``status``, ``error`` and more.

        ``status`` is ``building``, ``live``, ``paused``, ``halted`` or ``retired``; ``note`` says why where that is not
        plain. ``lag_seconds`` is the age of the oldest event not yet applied, by the clock of the store.
        """
        return [Answer(row) for row in looking.projections(self._runtime)]

    def rebuild(self, *names: str) -> Answers:
        """Makes the named projections (none named: all) again from the log; readers see the old until the swap.

        Raises InputError ``unknown_projection``, MemoryFault ``memory_drift`` for the memory file in drift.
        """
        self._runtime.require_writing("a rebuild")
        return [Answer(row) for row in verifying.rebuild(self._runtime, self._publisher, names)]

    def retry(self, name: str) -> Answer:
        """Lets a halted projection try again, and applies what it parked, in order."""
        self._runtime.require_writing("a retry")
        self._runtime.projections.retry(name)
        return self._row(name)

    def skip(self, name: str, reason: str = "") -> Answer:
        """Passes over the event that halted a projection, or the first that it parked; the skip is an event (E6).

        Raises StoreError ``nothing_to_skip``.
        """
        self._runtime.require_writing("a skip")
        self._runtime.projections.skip(name, self._by(reason))
        return self._row(name)

    def pause(self, name: str, reason: str = "") -> Answer:
        """Holds a projection where it stands; an event says so. As soon as one is missing from it, its readers are
        refused with ``projection_paused``, and never given a stale answer."""
        self._runtime.require_writing("a pause")
        self._runtime.projections.pause(name, self._by(reason))
        return self._row(name)

    def resume(self, name: str, reason: str = "") -> Answer:
        """A paused or retired projection goes on where it stood; an event says so."""
        self._runtime.require_writing("a resumption")
        self._runtime.projections.resume(name, self._by(reason))
        return self._row(name)

    def retire(self, name: str, reason: str = "") -> Answer:
        """Takes a plug-in out of service wherever it is loaded; its rows stay until they are dropped.

        Raises StoreError ``projection_needed`` for a built-in one.
        """
        self._runtime.require_writing("a retirement")
        self._runtime.projections.retire(name, self._by(reason))
        return self._row(name)

    def drop(self, name: str, reason: str = "") -> Answer:
        """Removes the tables and the cursor of a projection that the settings no longer load (E5).

        Raises StoreError ``projection_loaded``, ``projection_in_use``, InputError ``unknown_projection``.
        """
        self._runtime.require_writing("a drop")
        self._runtime.projections.drop(name, self._by(reason))
        return Answer({"name": name, "status": "dropped"})

    def work(
        self,
        *names: str,
        once: bool = False,
        stop: threading.Event | None = None,
        report: Report | None = None,
    ) -> bool:
        """Follows the log and keeps the named projections (none named: all) up to date, until ``stop`` is set.

        Several workers, in this process, on this machine or elsewhere, share the projections. ``once=True`` ends at the
        head of the log and returns whether every one is there. ``report`` is called with a dictionary for each thing
        that happens, one call at a time, in any thread. Raises InputError ``unknown_projection``, StoreError
        ``worker_running`` and what no waiting mends.
        """
        self._runtime.require_writing("a worker")
        chosen = self._runtime.projections.known(names)
        tell = report or (lambda said: None)
        if once:
            return following.once(self._runtime, chosen, tell)
        if not self._working.acquire(blocking=False):
            raise StoreError(
                "this book has a worker already; end that one, or open the book once more for another",
                code="worker_running",
            )
        try:
            following.Follower(self._runtime, chosen, stop=stop or threading.Event(), report=tell).run()
        finally:
            self._working.release()
        return True

    def _by(self, reason: str) -> By:
        return By("person", reason, self._runtime.workspace)

    def _row(self, name: str) -> Answer:
        return next(row for row in self.list() if row["name"] == name)
