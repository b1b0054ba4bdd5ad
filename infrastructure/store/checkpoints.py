"""What a replay may begin from instead of the first event: images of past looks, kept and never trusted (E3).

A checkpoint is made by a replay, never from live rows. It counts only for the very log, code and decisions that it was
made from: the chain at its position, the version and release of the projection, what was skipped, parked and erased up
to there, and the digest of its own bytes. Where anything differs it is passed by, and the replay begins earlier.
``verify`` and a rebuild rest on none; an erasure drops them all. Losing the table loses nothing but time.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, Text, delete, func, inspect, select
from sqlalchemy.schema import CreateTable

from ...domain.errors import StoreError
from ...projections.projection import BIG, upsert
from .binding import one_builder
from .schema import erased

if TYPE_CHECKING:
    from .runner import Projections

EVERY = 50_000
"""Events between two checkpoints: one to four seconds of replay (measured: 14,000 to 39,000 events a second)."""

BYTES_MAX = 32_000_000
"""Of an image before it is compressed; rows that need more are replayed each time, so that memory stays flat."""

KEPT_MAX = 20
"""Checkpoints of one projection; the oldest positions go first."""

checkpoints = Table(
    "checkpoints",
    MetaData(),
    Column("projection", Text, primary_key=True),
    Column("position", BIG, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("image", LargeBinary, nullable=False),
)
"""Made by the first that is kept; no part of the schema of the log."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a replay may begin, and the database image that it begins with."""

    position: int
    image: bytes


def nearest(
    engine: Projections, connection: Connection, name: str, upto: int, without: Collection[int]
) -> Checkpoint | None:
    """The last checkpoint at or before ``upto`` that still holds for what ``connection`` sees."""
    table = checkpoints
    # Read on a connection of its own: a long look must not hold the table, which an erasure drops.
    with engine.database.reading() as brief:
        if not there(brief):
            return None
        mine = (table.c.projection == name, table.c.position <= upto, table.c.size <= BYTES_MAX)
        listed = select(table.c.position, table.c.key, table.c.size).where(*mine).order_by(table.c.position.desc())
        for row in brief.execute(listed).all():
            image = select(table.c.image).where(table.c.projection == name, table.c.position == row.position)
            packed = brief.execute(image).scalar_one()
            if row.key == _key(engine, connection, name, row.position, without, packed):
                found = _unpacked(packed, row.size)
                if found is not None:
                    return Checkpoint(row.position, found)
    return None


def _unpacked(packed: bytes, size: int) -> bytes | None:
    """The image, if it has the size that it should have; no more than that is ever unpacked."""
    try:
        image = zlib.decompressobj().decompress(packed, size + 1)
    except zlib.error:
        return None
    return image if len(image) == size else None


def keep(
    engine: Projections, connection: Connection, name: str, position: int, without: Collection[int], scratch: Connection
) -> bool:
    """Keeps the state of a replay at ``position``, where this book may write and it is not too large."""
    if engine.database.access == "read_only":
        return False
    image = _image(scratch)
    if image is None:
        return False
    packed = zlib.compress(image, 1)
    gone = _erased(connection, position)
    row = {
        "projection": name,
        "position": position,
        "key": _key(engine, connection, name, position, without, packed),
        "size": len(image),
        "image": packed,
    }
    try:
        with engine.database.projecting() as writing:
            # After an erasure that this look did not see, its image would bring back what is gone; the erasure takes
            # the same lock, so that one of the two always sees the other.
            one_builder(writing)
            if _erased(writing, position) != gone:
                return False
            if not there(writing):
                writing.execute(CreateTable(checkpoints))
            writing.execute(upsert(checkpoints, writing), row)
            _thin(writing, name)
    except StoreError:
        # Whoever may not write, or has no room, looks all the same; the next look costs the same again.
        return False
    return True


def forget(connection: Connection, name: str | None = None) -> None:
    """Removes the checkpoints of a projection, or all: what they hold may have been erased, or be wrong."""
    if there(connection):
        connection.execute(
            delete(checkpoints) if name is None else delete(checkpoints).where(checkpoints.c.projection == name)
        )


def there(connection: Connection) -> bool:
    """Whether any was ever kept in this database."""
    return inspect(connection).has_table(checkpoints.name)


def _key(
    engine: Projections, connection: Connection, name: str, position: int, without: Collection[int], packed: bytes
) -> str:
    """Everything that a checkpoint depends on, as one digest."""
    found = engine.log.at([position], connection).get(position)
    bound = engine._known(name)
    skipped = engine.skipped(name, connection)
    parts: list[Any] = [
        name,
        bound.version,
        engine.origins.get(name),
        [str(CreateTable(table)) for table in bound.tables],
        b"" if found is None else found.chain,
        _erased(connection, position),
        sorted(each for each in {*without, *skipped} if each <= position),
        hashlib.sha256(packed).hexdigest(),
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _erased(connection: Connection, position: int) -> int:
    statement = select(func.count()).select_from(erased).where(erased.c.position <= position)
    return int(connection.execute(statement).scalar_one())


def _image(scratch: Connection) -> bytes | None:
    driver: Any = scratch.connection.driver_connection
    pages, size = (driver.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size"))
    if pages * size > BYTES_MAX:
        return None
    # The header says how many pages there are only after a commit.
    driver.execute("COMMIT")
    image: bytes = driver.serialize()
    driver.execute("BEGIN")
    return image


def _thin(connection: Connection, name: str) -> None:
    table = checkpoints
    kept = connection.execute(
        select(table.c.position).where(table.c.projection == name).order_by(table.c.position.desc()).limit(KEPT_MAX)
    ).scalars()
    connection.execute(delete(table).where(table.c.projection == name, table.c.position.not_in(list(kept))))
