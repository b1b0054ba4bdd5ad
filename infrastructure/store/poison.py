"""What a person can do about an event that a projection cannot apply: try again, or pass over it by an event (E6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, delete, func, select, update

from ...domain.catalogue import ProjectionSkipped
from ...domain.errors import StoreError
from ...domain.events import Envelope
from ...domain.streams import projection_stream
from . import bounded, cursors
from .binding import Bound
from .feed import readable
from .lifecycle import By
from .schema import parked
from .worker import ENVIRONMENT, said

if TYPE_CHECKING:
    from .runner import Projections


def retry(engine: Projections, bound: Bound) -> None:
    """A halted projection is live again; what it parked is applied in order, each event in a transaction of its own.

    One that still cannot be applied goes on waiting, with all later ones of its stream. Raises StoreError for what is
    no fault of an event: what was applied before stays so, and the rest waits.
    """
    with engine.database.projecting() as connection:
        cursor = cursors.find(connection, bound.name, lock=True)
        if cursor is not None and cursor.halted:
            cursors.place(connection, cursor, "building")
    stuck: set[str] = set()
    while (waiting := _next(engine, bound, stuck)) is not None:
        position, stream = waiting
        try:
            _unpark(engine, bound, position)
        except Exception as error:
            if isinstance(error, StoreError) and error.code in ENVIRONMENT:
                raise
            # Whatever it is, it is said in the row, and the later events of the stream go on waiting.
            stuck.add(stream)
            with engine.database.projecting() as connection:
                text = said(engine.log.at([position], connection)[position], error)
                connection.execute(update(parked).where(*_row(bound, position)).values(error=text))


def _next(engine: Projections, bound: Bound, stuck: set[str]) -> tuple[int, str] | None:
    """The first parked event whose stream is not stuck; asked anew, since a worker may park more meanwhile."""
    with engine.database.reading() as connection:
        statement = select(parked.c.position, parked.c.stream).where(parked.c.projection == bound.name)
        for row in connection.execute(statement.order_by(parked.c.position)):
            if row.stream not in stuck:
                return row.position, row.stream
    return None


def _unpark(engine: Projections, bound: Bound, position: int) -> None:
    with engine.database.projecting() as connection:
        # The cursor's row keeps a worker from looking at the stream while this event leaves it.
        cursors.find(connection, bound.name, lock=True)
        taken = connection.execute(delete(parked).where(*_row(bound, position))).rowcount
        if not taken or position in engine.skipped(bound.name, connection):
            return
        event = engine.log.at([position], connection).get(position)
        if event is None:
            raise StoreError(
                f"event {position} is missing from the log: it was deleted, or the file is damaged; run 'minutebook "
                "verify' and restore a backup",
                code="log_hole",
                position=position,
            )
        bounded.apply(bound, readable([event]), connection, engine.seconds_max)


def _row(bound: Bound, position: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return parked.c.projection == bound.name, parked.c.position == position


def skip(engine: Projections, bound: Bound, by: By) -> None:
    """Appends the event that lets the projection pass over what it stands at. Raises StoreError ``nothing_to_skip``."""
    with engine.database.reading() as connection:
        cursor = cursors.find(connection, bound.name)
        statement = select(func.min(parked.c.position)).where(parked.c.projection == bound.name)
        position: int | None = connection.execute(statement).scalar()
        if cursor is not None and cursor.halted:
            position = engine.feed(bound.name).stands_before(connection, cursor.position)
    if position is None:
        raise StoreError(
            f"projection {bound.name!r} is not halted at an event and has nothing parked", code="nothing_to_skip"
        )
    stream = projection_stream(bound.name)
    version = engine.log.version(stream)
    event = ProjectionSkipped(
        projection=bound.name,
        position=position,
        envelope=Envelope(stream, version + 1, by.workspace, engine.clock(), by.actor),
        payload=by.payload(),
    )
    engine.log.append([event], expects=[(stream, version)])
