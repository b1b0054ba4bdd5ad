"""A new generation of a projection beside the live one, swapped in by one transaction (E2).

The same path serves a new version of the code and tables that were damaged: the live rows are never read. Readers
go on with the old generation until the swap. The shadow has its own fenced cursor, so an interrupted rebuild is
taken up where it stopped, and two at once share the work instead of spoiling it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, update

from ...domain.errors import StoreError
from . import checkpoints, cursors
from .binding import Bound, bind, create, drop, lock_tables, missing, one_builder, rename
from .cursors import BUILDING, Cursor
from .failpoints import failpoint
from .feed import BATCH
from .schema import cursors as cursors_table
from .schema import parked
from .worker import DELAYS, ENVIRONMENT, TRANSIENT, Overtaken, Worker

if TYPE_CHECKING:
    from .runner import Projections

Progress = Callable[[str, int, int], None]
"""Called with the projection, the position reached and the head."""

NEAR = BATCH // 2
"""Events that the swap may still apply inside its transaction: fewer than a batch, or it would never begin."""


def rebuild(engine: Projections, bound: Bound, progress: Progress | None = None) -> None:
    """Builds the projection from the log and swaps it in.

    Raises StoreError ``rebuild_failed`` when an event cannot be applied; the live generation is then kept, unless
    it was unusable itself.
    """
    started, shadow = _begin(engine, bound)
    failpoint("rebuild.begun")
    worker = Worker(
        engine.database, engine.log, shadow, engine.clock, name=bound.name + BUILDING, seconds_max=engine.seconds_max
    )

    def watch(position: int, head: int) -> None:
        if progress is not None:
            progress(bound.name, position, head)
        failpoint("rebuild.step")

    for _ in range(1_000):
        cursor = worker.catch_up(until_lag=NEAR, progress=watch)
        if cursor is None:
            if _finished(engine, bound, started):
                return
            raise StoreError(
                f"the rebuild of {bound.name!r} was removed by another process; run it again", code="rebuild_failed"
            )
        if _swap(engine, bound, worker, cursor):
            failpoint("rebuild.swapped")
            return
    raise StoreError(f"the rebuild of {bound.name!r} does not catch up with the log", code="rebuild_failed")


def discard(engine: Projections, name: str) -> None:
    """Removes what an interrupted rebuild left, so that the next one starts afresh."""
    with engine.database.projecting() as connection:
        found = cursors.find(connection, name + BUILDING, lock=True)
        if found is not None:
            _remove(connection, found)


def _begin(engine: Projections, bound: Bound) -> tuple[int, Bound]:
    """The generation that is live now, and the shadow of the next one: a left-over one is taken up, if it can be."""
    with engine.database.projecting() as connection:
        one_builder(connection)
        live = cursors.find(connection, bound.name, lock=True)
        generation = 0 if live is None else live.generation
        shadow = bind(bound, suffix=f"__g{generation + 1}")
        found = cursors.find(connection, bound.name + BUILDING, lock=True)
        if found is not None:
            usable = (
                found.version == bound.version
                and found.generation == generation + 1
                and not found.halted
                and found.tables == shadow.table_names
                and found.position <= engine.log.head(connection).position
                and not missing(connection, shadow)
            )
            if usable:
                return generation, shadow
            _remove(connection, found)
        create(connection, shadow)
        now = engine.now()
        names = shadow.table_names
        cursors.start(connection, bound.name + BUILDING, bound.version, generation + 1, names, now)
    return generation, shadow


def _finished(engine: Projections, bound: Bound, started: int) -> bool:
    with engine.database.reading() as connection:
        live = cursors.find(connection, bound.name)
    return live is not None and live.generation > started


def _swap(engine: Projections, bound: Bound, worker: Worker, cursor: Cursor) -> bool:
    """The last batch, and the shadow in place of the live tables: one transaction. False: another round is needed."""
    for delay in (*DELAYS, None):
        try:
            with engine.database.projecting() as connection:
                return _swapped(connection, bound, worker)
        except Overtaken:
            return False
        except StoreError as error:
            if error.code == "rebuild_failed":
                discard(engine, bound.name)
            if error.code not in TRANSIENT:
                if error.code in ENVIRONMENT or error.code == "rebuild_failed":
                    raise
                worker.catch_up()
                return False
            if delay is None:
                raise
            time.sleep(delay)
        except Exception:
            # An event of the last batch cannot be applied: the worker finds out which, and halts or parks the shadow.
            worker.catch_up()
            return False
    return False


def _swapped(connection: Connection, bound: Bound, worker: Worker) -> bool:
    live = cursors.find(connection, bound.name, lock=True)
    cursor = worker.cursor(connection, lock=True)
    if cursor is None:
        return False
    if cursor.halted:
        if live is not None and live.version == bound.version and not live.halted:
            raise StoreError(
                f"projection {bound.name!r} could not be rebuilt: {cursor.error}; the stored generation was kept; "
                "mend the cause and rebuild again",
                code="rebuild_failed",
                projection=bound.name,
            )
    else:
        batch = worker.feed.batch(connection, cursor.position)
        if len(batch.events) >= BATCH:
            return False
        if batch.end != cursor.position:
            cursor = worker.step(connection, cursor, batch)
        if worker.feed.batch(connection, cursor.position).end != cursor.position:
            return False
    failpoint("rebuild.swapping")
    _exchange(connection, bound, worker, live, cursor)
    return True


def _exchange(connection: Connection, bound: Bound, worker: Worker, live: Cursor | None, cursor: Cursor) -> None:
    if connection.dialect.name == "postgresql":
        # In the order in which readers lock them: two orders would be a deadlock.
        lock_tables(connection, bound, "ACCESS EXCLUSIVE")
    old = dict.fromkeys([*(() if live is None else live.tables), *bound.table_names])
    drop(connection, [name for name in old if name not in cursor.tables])
    for shadow, name in zip(worker.bound.table_names, bound.table_names, strict=True):
        rename(connection, shadow, name)
    cursors.remove(connection, bound.name)
    connection.execute(
        update(cursors_table)
        .where(cursors_table.c.name == worker.name)
        .values(
            name=bound.name,
            status="halted" if cursor.halted else "live" if live is None or not live.resting else live.status,
            tables=json.dumps(bound.table_names),
        )
    )
    checkpoints.forget(connection, bound.name)
    connection.execute(delete(parked).where(parked.c.projection == bound.name))
    connection.execute(update(parked).where(parked.c.projection == worker.name).values(projection=bound.name))


def _remove(connection: Connection, cursor: Cursor) -> None:
    drop(connection, cursor.tables)
    cursors.remove(connection, cursor.name)
    connection.execute(delete(parked).where(parked.c.projection == cursor.name))
