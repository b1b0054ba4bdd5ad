"""What is wrong with a store that can be opened; every look is one that also a damaged store answers or refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select

from ....domain.catalogue import Owner
from ....domain.errors import MinutebookError
from ....domain.events import TOPICS
from ....projections import candidates
from ....projections.context import history
from ...store.guards import missing_guards
from ...store.schema import leases
from ...store.standing import Status
from ..erasure.records import records
from ..identity import is_dead
from ..publisher import Publisher
from ..runtime import Runtime
from .kinds import Finding, finding
from .machine import told

_WAL_BYTES = 64_000_000
_DEEP_BYTES = 256_000_000
"""Up to this size SQLite looks over every page; more is for ``verify``."""

Look = Callable[[Runtime], Iterator[Finding]]


def store(runtime: Runtime, publisher: Publisher) -> Iterator[Finding]:
    """All looks; one that the store cannot answer is itself a finding."""
    looks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: _log(runtime),
        lambda: _pages(runtime),
        lambda: _newer(runtime),
        lambda: _projections(runtime),
        lambda: _runs(runtime),
        lambda: _erasures(runtime),
        lambda: _leases(runtime),
        lambda: _memory(publisher),
        lambda: _candidates(runtime),
    )
    said: set[str] = set()
    for look in looks:
        try:
            yield from look()
        except MinutebookError as error:
            if error.message not in said:
                said.add(error.message)
                yield finding("store_cannot_be_opened", error=error.code, said=error.message)


def _log(runtime: Runtime) -> Iterator[Finding]:
    database = runtime.log.database
    with database.reading() as connection:
        run = connection.exec_driver_sql
        head = run("SELECT last_id FROM log_head WHERE k = 1").scalar()
        last, time = run("SELECT position, time FROM events ORDER BY position DESC LIMIT 1").one_or_none() or (0, None)
        if head != last:
            yield finding("head_differs", head=head, last=last)
        for said in missing_guards(connection, database.sqlite):
            yield finding("guard_missing", said=said)
    now = runtime.now()
    if time is not None and datetime.fromisoformat(time) > now:
        yield finding("clock_behind", now=now.isoformat(timespec="seconds"), last=str(time)[:19])
    if database.path is not None:
        wal = _size(Path(f"{database.path}-wal"))
        if wal > max(_WAL_BYTES, _size(database.path)):
            yield finding("wal_large", size=told(wal))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _pages(runtime: Runtime) -> Iterator[Finding]:
    database = runtime.log.database
    if database.path is None or _size(database.path) > _DEEP_BYTES:
        return
    with database.reading() as connection:
        said = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    if said != "ok":
        yield finding("pages_damaged", said=said.splitlines()[0])


def _newer(runtime: Runtime) -> Iterator[Finding]:
    database = runtime.log.database
    with database.reading() as connection:
        rows = connection.exec_driver_sql(
            "SELECT topic, schema, count(*), min(position) FROM events WHERE schema > 1 GROUP BY topic, schema"
        ).all()
    for topic, schema, number, first in rows:
        if topic in TOPICS and schema > TOPICS[topic].class_version:
            yield finding("event_of_newer_version", number=number, first=first)


def _projections(runtime: Runtime) -> Iterator[Finding]:
    for row in runtime.projections.status():
        if row.cursor > row.head:
            yield finding("projection_ahead", name=row.name, cursor=row.cursor, head=row.head)
        elif row.status == "halted":
            yield finding("projection_halted", name=row.name, error=row.error)
        elif not row.loaded:
            yield finding("projection_not_loaded", name=row.name)
        elif row.head and (not row.generation or _other_version(runtime, row)):
            yield finding("projection_outdated", name=row.name, note=row.note or row.status)
        elif row.status in ("paused", "retired"):
            yield finding("projection_at_rest", name=row.name, status=row.status, lag=row.lag)
        elif row.lag and not _holds(runtime, row.name):
            yield finding("projection_lags", name=row.name, lag=row.lag)
        if row.parked:
            yield finding("events_parked", name=row.name, number=len(row.parked), first=row.parked[0])
        if row.skipped:
            yield finding("events_skipped", name=row.name, number=len(row.skipped), first=min(row.skipped))


def _other_version(runtime: Runtime, row: Status) -> bool:
    bound = runtime.projections.bound(row.name)
    return bound is not None and row.version != bound.version


def _holds(runtime: Runtime, name: str) -> bool:
    # It waits for what is not settled yet: behind the head is where it belongs.
    return name in runtime.projections.names and runtime.projections.feed(name).projection.holds


def _runs(runtime: Runtime) -> Iterator[Finding]:
    with runtime.projections.reading("context") as (view, connection):
        rows = history.open_runs(view, connection, runtime.workspace)
    for row in rows:
        owner = None if row.owner is None else Owner(**row.owner)
        seen = datetime.fromisoformat(row.started)
        if owner is None or is_dead(owner, now=runtime.now(), last_seen=seen, lease_seconds=float("inf")):
            yield finding("run_of_dead_owner", run=row.run, session=row.session)


def _erasures(runtime: Runtime) -> Iterator[Finding]:
    for record in records(runtime):
        if record.completed is None:
            said = {"erasure": record.erasure, "kind": record.kind, "target": record.target}
            yield finding("erasure_unfinished", **said, position=record.requested.position)


def _leases(runtime: Runtime) -> Iterator[Finding]:
    database = runtime.log.database
    clock = (
        "SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')"
        if database.sqlite
        else "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')"
    )
    with database.reading() as connection:
        now: Any = connection.exec_driver_sql(clock).scalar()
        rows = connection.execute(select(leases.c.name, leases.c.expires).where(leases.c.owner != "")).all()
    for name, expires in rows:
        # The folder that keeps the memory file goes on keeping it when its lease has run out; of a run it is said when
        # its owner was last heard of, and whether that one is dead is asked elsewhere.
        if expires and expires < now and not name.startswith(("file:", "run:")):
            yield finding("stale_lease", name=name, expires=expires)


def _memory(publisher: Publisher) -> Iterator[Finding]:
    prepared = publisher.document().prepared
    if prepared is not None:
        yield finding("revision_unfinished", revision=prepared.number)
    found = publisher.state()
    if not found.clean:
        yield finding(f"memory_{found.state}", detail=found.detail, revision=found.revision)


def _candidates(runtime: Runtime) -> Iterator[Finding]:
    with runtime.projections.reading("candidates") as (view, connection):
        held = candidates.quarantined(view, connection, runtime.workspace)
        aside = candidates.by_status(view, connection, runtime.workspace, "set_aside")
    if held:
        yield finding("candidates_wait", number=len(held))
    if aside:
        yield finding("candidates_set_aside", number=len(aside))
