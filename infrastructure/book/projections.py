"""``book.projections``: where each read model stands, and how to make it again (E2, E6)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from ...domain.errors import StoreError
from ...domain.whole_numbers import whole_number
from ..store import past
from ..store.forking import ForkLock
from ..store.rebuild import Progress
from ..store.runner import By
from ..work import following, looking, moments, verifying
from ..work.following_lane import Report
from ..work.moments import Moment
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from .answers import Answer, Answers
from .catalogue import available

ROWS_SHOWN = 50
"""Rows of each table that ``show`` gives unless it is asked for more."""


class ProjectionsFace:
    """The projections of one book."""

    def __init__(self, runtime: Runtime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._working = ForkLock()

    def list(self) -> Answers:
        """``name``, ``version``, ``cursor``, ``head``, ``lag``, ``lag_seconds``, ``status``, ``error`` and more.

        ``status`` is ``building``, ``live``, ``paused``, ``halted`` or ``retired``; ``note`` says why where that is not
        plain. ``lag_seconds`` is the age of the oldest event not yet applied, by the clock of the store.
        """
        return [Answer(row) for row in looking.projections(self._runtime)]

    def rebuild(self, *names: str, progress: Progress | None = None) -> Answers:
        """Makes the named projections (none named: all) again from the log; readers see the old until the swap.

        ``progress(name, position, head)`` is called after each part. What is interrupted is taken up by the next
        rebuild of the same projection where it stopped.

        Raises InputError ``unknown_projection``, MemoryFault ``memory_drift`` for the memory file in drift.
        """
        self._runtime.require_writing("a rebuild")
        return [Answer(row) for row in verifying.rebuild(self._runtime, self._publisher, names, progress)]

    def available(self) -> Answers:
        """The plug-ins that installed packages offer or the settings name: ``name``, ``package``, ``version``,
        ``target``, ``status`` (available, named, enabled, retired, failed), ``error``. Nothing is imported for it."""
        return [Answer(row) for row in available(self._runtime.projections, self._runtime.settings.projections)]

    @contextmanager
    def at(self, name: str, position: Moment | None = None) -> Iterator[tuple[Any, Connection]]:
        """The projection and a connection to its rows as of a position or time; without one, as of now (E3)::

            with book.projections.at("token_cost", 42) as (projection, connection):
                rows = connection.execute(select(projection.costs)).all()

        The past is computed anew, in a private database that is gone afterwards. Raises InputError
        ``unknown_projection``, ``unknown_position``, ``bad_value``, StoreError ``projection_halted``.
        """
        engine = self._runtime.projections
        upto = moments.position_of(self._runtime, position)
        with engine.reading(name) if upto is None else past.at(engine, name, upto) as (projection, connection):
            yield projection, connection

    def show(self, name: str, *, at: Moment | None = None, table: str | None = None, limit: int = ROWS_SHOWN) -> Answer:
        """The rows of a projection, now or in the past: ``name``, ``version``, ``position``, and under ``tables`` each
        ``table`` with ``columns``, its first ``rows`` in order of their keys, and ``total``.

        Of a table with a column ``workspace`` only this workspace's. Raises as ``at``, and ``unknown_table``.
        """
        whole_number(limit, "limit")
        engine = self._runtime.projections
        upto = moments.position_of(self._runtime, at)
        position = self._runtime.log.head().position if upto is None else upto
        with self.at(name, upto) as (projection, connection):
            tables = past.listed(engine, name, connection, self._runtime.workspace, table, limit)
        return Answer({"name": name, "version": projection.version, "position": position, "tables": tables})

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
