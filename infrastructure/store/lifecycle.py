"""What a person decides about a projection: pause it, retire it, let it go on, drop it; each is an event (E5).

The event and what it says are one transaction. The standing is the store's: a log that was imported elsewhere keeps the
events and begins with projections that run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete

from ...domain.catalogue import ProjectionDropped, ProjectionPaused, ProjectionResumed, ProjectionRetired
from ...domain.errors import StoreError
from ...domain.events import Envelope, encode_payload
from ...domain.streams import projection_stream
from . import checkpoints, cursors, leasing
from .binding import drop as drop_tables
from .bounded import is_foreign
from .cursors import BUILDING, Cursor, Standing
from .schema import parked

if TYPE_CHECKING:
    from .runner import Projections

Decided = type[ProjectionPaused] | type[ProjectionResumed] | type[ProjectionRetired] | type[ProjectionDropped]


@dataclass(frozen=True, slots=True)
class By:
    """Who decides, why, and in which workspace that is logged."""

    actor: str = "person"
    reason: str = ""
    workspace: str = ""

    def payload(self) -> bytes | None:
        """The reason is a person's text: it can be erased."""
        return encode_payload({"reason": self.reason}) if self.reason else None


def pause(engine: Projections, name: str, by: By) -> None:
    """Nobody moves the projection on until it is resumed; its readers are refused as soon as an event is missing."""
    _place(engine, name, ProjectionPaused, "paused", by)


def retire(engine: Projections, name: str, by: By) -> None:
    """Takes a plug-in out of service wherever it is loaded; rows stay. Raises StoreError ``projection_needed``."""
    bound = engine.bound(name)
    if bound is not None and not is_foreign(bound.projection):
        raise StoreError(
            f"projection {name!r} is built in, and the book does not work without it; pause it, or rebuild it",
            code="projection_needed",
        )
    _place(engine, name, ProjectionRetired, "retired", by)


def resume(engine: Projections, name: str, by: By) -> None:
    """A paused or retired projection goes on where it stood; another is left as it is."""
    _place(engine, name, ProjectionResumed, "building", by)


def _place(engine: Projections, name: str, event: Decided, status: Standing, by: By) -> None:
    cursor = _stored(engine, name)
    if event is ProjectionResumed:
        if not cursor.resting:
            return
    elif cursor.status == status:
        return

    def within(connection: Connection, positions: list[int]) -> None:
        # A worker may have moved it since: what was decided is about the projection, not about that position.
        current = cursors.find(connection, name, lock=True)
        if current is None or not cursors.place(connection, current, status):
            raise StoreError(
                f"projection {name!r} was dropped meanwhile; nothing was changed", code="unknown_projection"
            )

    _append(engine, event, cursor, by, within)


def drop(engine: Projections, name: str, by: By) -> None:
    """Removes tables and cursor of a projection that is not loaded here; the log has everything (E5).

    Raises StoreError ``projection_loaded``, ``projection_in_use``, InputError ``unknown_projection``.
    """
    cursor = _stored(engine, name)
    if engine.bound(name) is not None:
        raise StoreError(
            f"projection {name!r} is loaded and would be made again at once; take it out of the setting 'projections' "
            "first, or rebuild it",
            code="projection_loaded",
        )

    def within(connection: Connection, positions: list[int]) -> None:
        follower = leasing.workers(connection).get(name)
        if follower is not None:
            raise StoreError(
                f"projection {name!r} is followed by worker {follower}; stop that worker, or take the projection out "
                "of its settings, then drop it",
                code="projection_in_use",
            )
        remove(connection, name)

    _append(engine, ProjectionDropped, cursor, by, within)


def remove(connection: Connection, name: str) -> None:
    """Tables, cursor and parked rows of a projection and of its next generation."""
    for each in (name, name + BUILDING):
        cursor = cursors.find(connection, each, lock=True)
        if cursor is not None:
            drop_tables(connection, cursor.tables)
            cursors.remove(connection, each)
        connection.execute(delete(parked).where(parked.c.projection == each))
    checkpoints.forget(connection, name)


def _stored(engine: Projections, name: str) -> Cursor:
    with engine.database.reading() as connection:
        cursor = cursors.find(connection, name)
    if cursor is None or name.endswith(BUILDING):
        if engine.bound(name) is None or name.endswith(BUILDING):
            raise engine.unknown(name)
        engine.catch_up(name)
        return _stored(engine, name)
    return cursor


def _append(engine: Projections, event: Decided, cursor: Cursor, by: By, within: object) -> None:
    stream = projection_stream(cursor.name)
    version = engine.log.version(stream)
    said = event(
        projection=cursor.name,
        position=cursor.position,
        envelope=Envelope(stream, version + 1, by.workspace, engine.clock(), by.actor),
        payload=by.payload(),
    )
    engine.log.append([said], expects=[(stream, version)], within=within)  # type: ignore[arg-type]
