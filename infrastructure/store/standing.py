"""Where every projection stands against the head of the log, in words and figures for people and programs (E6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from ...domain.events import NEVER
from . import cursors, leasing
from .binding import Bound
from .cursors import BUILDING, Cursor
from .schema import parked

if TYPE_CHECKING:
    from .runner import Projections


@dataclass(frozen=True, slots=True)
class Status:
    """How one projection stands.

    ``lag`` counts the events after its cursor, ``lag_seconds`` the age of the oldest of them by the clock of the store
    (None: the event has no time). ``status`` is one of ``cursors.Standing``, ``note`` says why where that is not plain.
    ``parked`` are the positions that it put aside, ``skipped`` those that a person let it pass over, ``building`` how
    far a new generation is. ``loaded``: whether this process has its code; ``worker``: who follows the log for it.
    """

    name: str
    version: int
    cursor: int
    head: int
    lag: int
    status: str
    error: str | None
    heartbeat: str | None
    generation: int
    parked: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    building: int | None = None
    lag_seconds: float | None = 0.0
    loaded: bool = True
    worker: str | None = None
    note: str | None = None


def statuses(engine: Projections) -> list[Status]:
    """One row per projection, known or only stored, against the head of the log; all of one moment."""
    with engine.database.reading() as connection:
        head = engine.log.head(connection).position
        now = leasing.now(connection)
        found = {cursor.name: cursor for cursor in cursors.every(connection)}
        aside: dict[str, list[int]] = {}
        for row in connection.execute(select(parked).order_by(parked.c.position)):
            aside.setdefault(row.projection, []).append(row.position)
        workers = leasing.workers(connection)
        rows = []
        for name in [*engine.names, *(other for other in found if other not in engine.names)]:
            if name.endswith(BUILDING):
                continue
            cursor, bound, shadow = found.get(name), engine.bound(name), found.get(name + BUILDING)
            status, note = _standing(cursor, bound, name in workers, shadow is not None)
            position = 0 if cursor is None else cursor.position
            rows.append(
                Status(
                    name,
                    _version(cursor, bound),
                    position,
                    head,
                    head - position,
                    status,
                    None if cursor is None else cursor.error,
                    None if cursor is None else cursor.heartbeat,
                    0 if cursor is None else cursor.generation,
                    tuple(aside.get(name, ())),
                    engine.skipped(name, connection),
                    None if shadow is None else shadow.position,
                    _age(engine, connection, position, head, now),
                    bound is not None,
                    workers.get(name),
                    note,
                )
            )
    return rows


def _version(cursor: Cursor | None, bound: Bound | None) -> int:
    if cursor is not None:
        return cursor.version
    assert bound is not None
    return bound.version


def _standing(cursor: Cursor | None, bound: Bound | None, followed: bool, shadowed: bool) -> tuple[str, str | None]:
    if cursor is None:
        return "building", "not begun: the next process that writes makes it"
    if bound is None:
        if cursor.status == "retired" or followed:
            return cursor.status, "not loaded here"
        return "retired", "not loaded here: name it in the setting 'projections', or drop it"
    if cursor.resting:
        other = cursor.version != bound.version
        return cursor.status, f"stored in version {cursor.version}, the code has {bound.version}" if other else None
    if cursor.version < bound.version:
        return "building", f"stored in version {cursor.version}, to be rebuilt in version {bound.version}"
    if cursor.version > bound.version:
        return "retired", f"stored in version {cursor.version}, and this process has version {bound.version}"
    return cursor.status, "a new generation is being built" if shadowed else None


def _age(engine: Projections, connection: Connection, position: int, head: int, now: datetime) -> float | None:
    if position >= head:
        return 0.0
    oldest = engine.log.at([position + 1], connection).get(position + 1)
    if oldest is None or oldest.time == NEVER:
        return None
    return max(0.0, round((now - oldest.time).total_seconds(), 3))
