"""A projection in a private SQLite: the live rows with the tail folded in, or computed anew from the log (M2, E1).

Readers that may write nothing see the newest state this way, ``verify`` compares with it, and any projection can be
looked at as of any position. It lives in memory, or (``spill``) in SQLite's own temporary file for large ones.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Connection, create_engine, insert, select
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateTable

from ...domain.errors import StoreError
from ...projections.projection import NotInBulk
from .binding import Bound, bind, create
from .feed import STRETCH, Batch, Feed, readable
from .log import Log
from .schema import events as events_table

COPY = 5_000
"""Rows copied at a time."""

TEMPORARY_KB = 32_000
"""Memory for the pages of temporary tables on SQLite; what is more goes into its own temporary file."""


@contextmanager
def scratch(bound: Bound, *, spill: bool = False, image: bytes | None = None) -> Iterator[tuple[Bound, Connection]]:
    """A private database that holds the empty tables of the projection, or begins as a copy of ``image``."""
    copy = bind(bound)
    # An empty name is SQLite's private temporary file: it stays in memory until it grows, and is gone when closed.
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect("" if spill else ":memory:", isolation_level=None, check_same_thread=False),
        poolclass=StaticPool,
    )
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA synchronous=OFF")
            if image is not None:
                with closing(sqlite3.connect(":memory:")) as kept:
                    kept.deserialize(image)
                    kept.backup(connection.connection.driver_connection)  # type: ignore[arg-type]
            connection.exec_driver_sql("BEGIN")
            if image is None:
                create(connection, copy)
            yield copy, connection
            connection.rollback()
    finally:
        engine.dispose()


@contextmanager
def beside(connection: Connection, bound: Bound) -> Iterator[Bound | None]:
    """Empty temporary tables of the projection in the same snapshot as the live ones; None where none may be made.

    There the database itself can fill them from the log and compare them. They go with the transaction.
    """
    copy = bind(bound.projection, suffix="__check")
    sqlite = connection.dialect.name == "sqlite"
    if not sqlite and not _may_make_temporary(connection):
        yield None
        return
    shut = sqlite and connection.exec_driver_sql("PRAGMA query_only").scalar() == 1
    if shut:
        connection.exec_driver_sql("PRAGMA query_only=OFF")
    try:
        if sqlite:
            connection.exec_driver_sql(f"PRAGMA temp.cache_size=-{TEMPORARY_KB}")
        for table in copy.tables:
            table._prefixes = ["TEMPORARY"]
            connection.execute(CreateTable(table))
            for index in table.indexes:
                index.create(connection)
        yield copy
    finally:
        if shut:
            connection.exec_driver_sql("PRAGMA query_only=ON")


def _may_make_temporary(connection: Connection) -> bool:
    statement = "SELECT has_database_privilege(current_database(), 'TEMP'), current_setting('transaction_read_only')"
    allowed, closed = connection.exec_driver_sql(statement).one()
    return bool(allowed) and closed == "off"


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
    stretch: int = STRETCH,
) -> int:
    """Applies the events after a position to the private tables; returns how far it got.

    Raises StoreError ``projection_halted`` when an event cannot be applied.
    """
    feed = Feed(log, copy.projection)
    # In bulk only where the log and the tables are in one database.
    stretch = stretch if target is source and not without else 0
    while (batch := feed.batch(source, after, upto=upto, stretch=stretch)).end != after:
        try:
            if not batch.bulk:
                events = [event for event in batch.events if event.position not in without]
                if events:
                    copy.apply(readable(events), target)
            elif not _in_bulk(copy, batch, target):
                feed.single_upto = batch.end
                continue
        except Exception as error:
            raise StoreError(
                f"projection {copy.name!r} cannot be computed between positions {batch.start} and {batch.end}: "
                f"{type(error).__name__}: {error}; see 'minutebook projections list'",
                code="projection_halted",
                projection=copy.name,
            ) from error
        after = batch.end
    return after


def _in_bulk(copy: Bound, batch: Batch, target: Connection) -> bool:
    """False, and nothing is written, where an event is not as the way in bulk expects it."""
    run = target.exec_driver_sql
    run("SAVEPOINT stretch")
    try:
        copy.projection.apply_bulk(batch.events, (batch.start, batch.end), events_table, target)
    except NotInBulk:
        run("ROLLBACK TO SAVEPOINT stretch")
        return False
    run("RELEASE SAVEPOINT stretch")
    return True
