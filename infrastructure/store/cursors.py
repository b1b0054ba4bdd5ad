"""Where each projection stands, and the fenced step that moves it (engine.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Update, bindparam, delete, insert, select, update

from ...projections.prepared import Prepared
from .schema import cursors

BUILDING = "@building"
"""Ends the name under which the cursor of a shadow generation stands."""

Standing = Literal["building", "live", "paused", "halted", "retired"]
"""building: on the way to the head for the first time. live: follows the log. paused: a person holds it where it is.
halted: stands before an event that it cannot apply. retired: nobody moves it any more, its rows wait to be dropped."""

STANDINGS: tuple[str, ...] = get_args(Standing)


@dataclass(frozen=True, slots=True)
class Cursor:
    """One row of ``cursors``; everything at or below ``position`` is in the rows, or parked or skipped by name (I4)."""

    name: str
    version: int
    generation: int
    position: int
    status: str
    error: str | None
    heartbeat: str | None
    tables: tuple[str, ...]

    @property
    def halted(self) -> bool:
        return self.status == "halted"

    @property
    def resting(self) -> bool:
        """Whether a person took it out of the engine's hands."""
        return self.status in ("paused", "retired")


def find(connection: Connection, name: str, *, lock: bool = False) -> Cursor | None:
    """The cursor of a projection; ``lock`` keeps other workers off it until the transaction ends (PostgreSQL)."""
    # Asked for by every read of every projection.
    row = (_FOUND_LOCKED if lock else _FOUND).one(connection, name=name)
    return None if row is None else _cursor(row)


_FOUND = Prepared(select(cursors).where(cursors.c.name == bindparam("name")))
_FOUND_LOCKED = Prepared(select(cursors).where(cursors.c.name == bindparam("name")).with_for_update())


def every(connection: Connection) -> list[Cursor]:
    return [_cursor(row) for row in connection.execute(select(cursors).order_by(cursors.c.name))]


def _cursor(row: Any) -> Cursor:
    tables = tuple(json.loads(row.tables)) if row.tables else ()
    return Cursor(row.name, row.version, row.generation, row.position, row.status, row.error, row.heartbeat, tables)


def start(
    connection: Connection, name: str, version: int, generation: int, tables: Iterable[str], heartbeat: str
) -> Cursor:
    """A new cursor at the beginning of the log."""
    row = {
        "name": name,
        "version": version,
        "generation": generation,
        "position": 0,
        "status": "building",
        "error": None,
        "heartbeat": heartbeat,
        "tables": json.dumps(list(tables)),
    }
    connection.execute(insert(cursors), row)
    return Cursor(name, version, generation, 0, "building", None, heartbeat, tuple(tables))


def move(connection: Connection, cursor: Cursor, to: int, heartbeat: str, *, status: str = "live") -> bool:
    """Moves the cursor if nobody else did, nor paused it meanwhile: False means roll back and read again."""
    return _update(connection, cursor, position=to, status=status, error=None, heartbeat=heartbeat)


def halt(connection: Connection, cursor: Cursor, error: str, heartbeat: str) -> bool:
    return _update(connection, cursor, status="halted", error=error, heartbeat=heartbeat)


def place(connection: Connection, cursor: Cursor, status: Standing) -> bool:
    """Gives the projection another standing, if nobody else moved it meanwhile."""
    return _update(connection, cursor, status=status, error=None)


def beat(connection: Connection, names: Iterable[str], heartbeat: str) -> None:
    """A sign of life for projections that have nothing to do."""
    connection.execute(update(cursors).where(cursors.c.name.in_(list(names))).values(heartbeat=heartbeat))


def _update(connection: Connection, cursor: Cursor, **values: Any) -> bool:
    # Made once for each set of columns: putting it together costs more than running it (measured).
    held = {f"was_{name}": getattr(cursor, name) for name in _HELD}
    return connection.execute(_step(tuple(values)), values | held).rowcount == 1


_HELD = ("name", "position", "generation", "version", "status")


@cache
def _step(names: tuple[str, ...]) -> Update:
    return (
        update(cursors)
        .where(*(cursors.c[name] == bindparam(f"was_{name}") for name in _HELD))
        .values({name: bindparam(name) for name in names})
    )


def remove(connection: Connection, name: str) -> None:
    connection.execute(delete(cursors).where(cursors.c.name == name))
