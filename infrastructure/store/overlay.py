"""A projection in a private SQLite: the live rows with the tail folded in, or computed anew from the log (M2, E1).

Readers that may write nothing see the newest state this way, ``verify`` compares with it, and any projection can be
looked at as of any position. It lives in memory, or (``spill``) in SQLite's own temporary file for large ones.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine, insert, select
from sqlalchemy.pool import StaticPool

from ...domain.errors import StoreError
from .binding import Bound, bind, create
from .feed import Feed, readable
from .log import Log

COPY = 5_000
"""Rows copied at a time."""


@contextmanager
def scratch(bound: Bound, *, spill: bool = False) -> Iterator[tuple[Bound, Connection]]:
    """A private database that holds the empty tables of the projection."""
    copy = bind(bound.projection)
    # An empty name is SQLite's private temporary file: it stays in memory until it grows, and is gone when closed.
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect("" if spill else ":memory:", isolation_level=None, check_same_thread=False),
        poolclass=StaticPool,
    )
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
            connection.exec_driver_sql("BEGIN")
            create(connection, copy)
            yield copy, connection
            connection.rollback()
    finally:
        engine.dispose()


def copy_rows(source: Connection, live: Bound, target: Connection, copy: Bound) -> None:
    """Copies every live row; the two sides declare the same tables in the same order."""
    for there, here in zip(live.tables, copy.tables, strict=True):
        result = source.execute(select(there).execution_options(yield_per=COPY))
        for rows in result.partitions(COPY):
            target.execute(insert(here), [row._asdict() for row in rows])


def fold(
    log: Log,
    source: Connection,
    copy: Bound,
    target: Connection,
    *,
    after: int,
    upto: int | None = None,
    without: Collection[int] = (),
) -> int:
    """Applies the events after a position to the private tables; returns how far it got.

    Raises StoreError ``projection_halted`` when an event cannot be applied.
    """
    feed = Feed(log, copy.projection)
    for batch in feed.batches(source, after, upto=upto):
        events = [event for event in batch.events if event.position not in without]
        try:
            if events:
                copy.projection.apply(readable(events), target)
        except Exception as error:
            raise StoreError(
                f"projection {copy.name!r} cannot be computed between positions {batch.start} and {batch.end}: "
                f"{type(error).__name__}: {error}; see 'minutebook projections list'",
                code="projection_halted",
                projection=copy.name,
            ) from error
        after = batch.end
    return after
