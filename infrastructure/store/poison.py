"""What a person can do about an event that a projection cannot apply: try again, or pass over it by an event (E6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select, update

from ...domain.catalogue import ProjectionSkipped
from ...domain.errors import StoreError
from ...domain.events import Envelope
from ...domain.streams import projection_stream
from . import cursors
from .binding import Bound
from .feed import readable
from .schema import cursors as cursors_table
from .schema import parked

if TYPE_CHECKING:
    from .runner import Projections


def retry(engine: Projections, bound: Bound) -> None:
    """A halted projection is live again; what it parked is applied, each event in a transaction of its own."""
    with engine.database.projecting() as connection:
        connection.execute(
            update(cursors_table)
            .where(cursors_table.c.name == bound.name, cursors_table.c.status == "halted")
            .values(status="live", error=None)
        )
    with engine.database.reading() as connection:
        skipped = engine.skipped(bound.name, connection)
        statement = select(parked.c.position, parked.c.stream).where(parked.c.projection == bound.name)
        waiting = [(row.position, row.stream) for row in connection.execute(statement.order_by(parked.c.position))]
        events = engine.log.at([position for position, _ in waiting], connection)
    stuck: set[str] = set()
    for position, stream in waiting:
        if stream in stuck:
            continue
        here = (parked.c.projection == bound.name, parked.c.position == position)
        try:
            with engine.database.projecting() as connection:
                taken = connection.execute(delete(parked).where(*here)).rowcount
                if taken and position not in skipped:
                    bound.projection.apply(readable([events[position]]), connection)
        except Exception as error:
            # Whatever it is, it is said in the row, and the later events of the stream go on waiting.
            stuck.add(stream)
            text = f"position {position} ({events[position].topic}): {type(error).__name__}: {error}"[:1_000]
            with engine.database.projecting() as connection:
                connection.execute(update(parked).where(*here).values(error=text))


def skip(engine: Projections, bound: Bound, *, reason: str, actor: str, workspace: str) -> None:
    """Appends the event that lets the projection pass over what it stands at. Raises StoreError ``nothing_to_skip``."""
    with engine.database.reading() as connection:
        cursor = cursors.find(connection, bound.name)
        statement = select(func.min(parked.c.position)).where(parked.c.projection == bound.name)
        position: int | None = connection.execute(statement).scalar()
        if cursor is not None and cursor.halted:
            batch = engine.feed(bound.name).batch(connection, cursor.position, upto=cursor.position + 1)
            position = batch.events[0].position if batch.events else None
    if position is None:
        raise StoreError(
            f"projection {bound.name!r} is not halted at an event and has nothing parked", code="nothing_to_skip"
        )
    stream = projection_stream(bound.name)
    version = engine.log.version(stream)
    event = ProjectionSkipped(
        projection=bound.name,
        position=position,
        reason=reason,
        envelope=Envelope(stream, version + 1, workspace, engine.clock(), actor),
    )
    engine.log.append([event], expects=[(stream, version)])
