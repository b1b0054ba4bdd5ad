"""A worker: follows the log and brings projections up to date, beside others on this machine and elsewhere.

Each projection has a claim on the database's clock, and who has it moves the projection on. The workers that are there
share out what there is to do: each computes the same list from the same rows, gives back what is another's and takes
what is its own. A worker that died, was stopped or lost its server loses its claims when they run out. Claims only
share the work: what is written is fenced by the cursor, so two at once write nothing twice.

Looking at the head of the log is the truth: often while there is something to do, more and more rarely while there is
not. An append of this process and PostgreSQL's NOTIFY only shorten a wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import Any

from ...domain.catalogue import Owner
from ...domain.errors import MinutebookError, StoreError
from ..store import cursors, leasing
from ..store.failpoints import failpoint
from ..store.forking import ForkLock
from ..store.listening import Listening
from . import claims
from .following_lane import FATAL, Lane, Report
from .identity import is_dead
from .runtime import Runtime

POLL_SECONDS_MIN = 0.02
"""Between two looks while the log grows; doubled by each that finds nothing, up to ``worker_poll_seconds_max``."""
LOOK_SECONDS = 0.1
"""How soon a wait notices that it should end."""
AWAY_SECONDS_MAX = 5.0
"""Between two tries to reach a store that is away."""
STOP_SECONDS = 10.0
"""How long the end waits for batches under way, beyond what a plug-in may take."""


def once(runtime: Runtime, names: Sequence[str], report: Report) -> bool:
    """Brings the projections to the head of the log and returns whether all are there. Raises StoreError."""
    engine = runtime.projections
    for name in names:
        engine.catch_up(name)
    rows = {row.name: row for row in engine.status()}
    for name in names:
        row = rows[name]
        report({"event": "caught_up" if row.status == "live" else row.status, "projection": name,
                "cursor": row.cursor, "head": row.head, "error": row.error})  # fmt: skip
    return all(rows[name].status == "live" for name in names)


class Follower:
    """One worker of one book; ``run`` returns when ``stop`` is set, or when nobody can be told any more."""

    def __init__(self, runtime: Runtime, names: Sequence[str], *, stop: threading.Event, report: Report) -> None:
        self._runtime = runtime
        self._names = tuple(names)
        self._stop = stop
        self._lock = ForkLock()
        self._tell = report
        self._wake = threading.Event()
        self._lanes: dict[str, Lane] = {}
        self._away: str | None = None
        self._deaf: BaseException | None = None
        self._lease = runtime.settings.worker_lease_seconds
        self._poll_max = runtime.settings.worker_poll_seconds_max

    def run(self) -> None:
        """Follows the log. Raises StoreError for what no waiting mends."""
        listening = Listening(self._runtime.log.database, self._wake.set)
        forget = self._runtime.log.on_append(lambda position: self._wake.set())
        listening.start()
        self._report({"event": "started", "worker": self._runtime.id, "projections": list(self._names)})
        try:
            self._follow()
        finally:
            forget()
            self._leave()
            listening.stop()
            self._report({"event": "stopped", "worker": self._runtime.id})
        if self._deaf is not None:
            raise self._deaf

    @property
    def _ending(self) -> bool:
        return self._stop.is_set() or self._deaf is not None

    def _follow(self) -> None:
        head, pause, keep_at = -1, POLL_SECONDS_MIN, 0.0
        while not self._ending:
            try:
                if time.monotonic() >= keep_at:
                    self._keep()
                    keep_at = time.monotonic() + self._lease / 3
                found = self._runtime.log.head().position
                self._back()
            except StoreError as error:
                if error.code in FATAL:
                    raise
                self._gone(error)
                pause = min(max(2 * pause, 0.2), AWAY_SECONDS_MAX)
                self._rest(pause)
                continue
            if found == head:
                pause = min(2 * pause, self._poll_max)
            else:
                head, pause = found, POLL_SECONDS_MIN
                for lane in self._lanes.values():
                    lane.wake.set()
            self._rest(min(pause, max(0.0, keep_at - time.monotonic())))

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._ending and (left := until - time.monotonic()) > 0:
            if self._wake.wait(min(left, LOOK_SECONDS)):
                break
        self._wake.clear()

    # --- claims

    def _keep(self) -> None:
        """Says that this worker is there, keeps its claims, and takes or gives back what is due."""
        me = self._runtime.id
        said = {**self._runtime.owner.model_dump(), "names": list(self._names)}
        beating = [lane.name for lane in self._lanes.values() if lane.well]
        with self._runtime.log.database.projecting() as connection:
            leasing.appear(connection, me, said, self._lease)
            kept = {name for name, lane in self._lanes.items() if lane.claim.renew_in(connection, self._lease)}
            cursors.beat(connection, beating, self._runtime.projections.now())
            crew = {worker: row for worker, row in leasing.crew(connection).items() if not self._dead(row)}
            holders = leasing.holders(connection)
        failpoint("work.kept")
        due = {name for name, worker in share_out(crew, holders).items() if worker == me}
        for name in [name for name in self._lanes if name not in kept or name not in due]:
            self._give_back(name, self._lease / 3, lost=name not in kept)
        for name in sorted(due - self._lanes.keys()):
            claim = claims.take(self._runtime, leasing.PROJECT + name, seconds=self._lease, again=True)
            if claim is not None:
                failpoint("work.leased")
                lane = Lane(self._runtime.projections, name, claim, self._report, self._poll_max)
                self._lanes[name] = lane
                self._report({"event": "taken", "projection": name})
                lane.start()

    def _dead(self, row: Mapping[str, Any]) -> bool:
        """A worker of this host whose process is gone need not be waited for."""
        with suppress(ValueError):
            owner = Owner.model_validate({name: row.get(name) for name in Owner.model_fields})
            now = self._runtime.now()
            return is_dead(owner, now=now, last_seen=now, lease_seconds=1.0) is not None
        return False

    def _give_back(self, name: str, seconds: float, *, lost: bool) -> None:
        """A lane that does not end in that time is fenced off: its next batch finds the claim gone."""
        lane = self._lanes.pop(name)
        lane.end(seconds)
        if not lost:
            lane.claim.release()
        self._report({"event": "lost" if lost else "released", "projection": name})

    def _leave(self) -> None:
        """What was held is free at once; where the store is away, it is when it runs out."""
        for lane in self._lanes.values():
            lane.leave()
        with suppress(MinutebookError):
            for name in list(self._lanes):
                self._give_back(name, STOP_SECONDS + self._runtime.projections.seconds_max, lost=False)
            with self._runtime.log.database.projecting() as connection:
                leasing.leave(connection, self._runtime.id)

    # --- telling

    def _report(self, said: dict[str, Any]) -> None:
        with self._lock:
            if self._deaf is None:
                try:
                    self._tell(said)
                except BaseException as error:
                    # Whoever read us has gone (a closed pipe): in whatever thread that shows, the worker ends with it.
                    self._deaf = error
                    self._wake.set()

    def _gone(self, error: StoreError) -> None:
        if self._away != error.code:
            self._away = error.code
            self._report({"event": "waiting", "error": error.code, "message": error.message})

    def _back(self) -> None:
        if self._away is not None:
            self._away = None
            self._report({"event": "back"})


def share_out(crew: Mapping[str, Mapping[str, Any]], holders: Mapping[str, str]) -> dict[str, str]:
    """Which worker is to follow which projection: as even as what each would take allows, and with few moves.

    ``crew`` has the ``names`` that each worker would take, ``holders`` the worker that has each projection now.
    Every worker computes it from the same rows, and so comes to the same.
    """
    wanted = {worker: set(row.get("names") or ()) for worker, row in crew.items()}
    names = sorted(set().union(*wanted.values())) if wanted else []
    most = ceil(len(names) / max(1, len(wanted)))
    load = dict.fromkeys(sorted(wanted), 0)
    found: dict[str, str] = {}
    for name in names:
        holder = holders.get(name, "")
        if name in wanted.get(holder, ()) and load[holder] < most:
            found[name] = holder
            load[holder] += 1
    for name in names:
        if name not in found:
            worker = min(
                (worker for worker in load if name in wanted[worker]), key=lambda worker: (load[worker], worker)
            )
            found[name] = worker
            load[worker] += 1
    return found
