"""Erasing payload bytes: the one change that the guards of the log let through (E8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from ...domain.errors import StoreError
from .binding import TABLES_LOCK
from .database import Database
from .failpoints import failpoint

_FOUND = "SELECT payload IS NOT NULL FROM events WHERE position = ?"
_NAME = (
    "INSERT INTO erased SELECT position, ? FROM events WHERE position = ? "
    "AND NOT EXISTS (SELECT 1 FROM erased WHERE erased.position = events.position)"
)
_ERASE = "UPDATE events SET payload = NULL, salt = NULL WHERE position = ?"

_HURRY_MS = 200
"""How long a try waits for readers that nobody asked to wait for."""


def erase_in(database: Database, writer: Connection, positions: Sequence[int], by_position: int) -> None:
    """Names the positions in ``erased`` and sets payload and salt to NULL, in the transaction that ``writer`` has open.

    Raises StoreError ``unknown_position`` when one of them is not in the log.
    """
    connection: Any = writer.connection.driver_connection
    cursor = connection.cursor()

    def run(statement: str, *arguments: int) -> Any:
        return cursor.execute(statement if database.sqlite else statement.replace("?", "%s"), arguments)

    try:
        there = []
        for position in (*positions, by_position):
            found = run(_FOUND, position).fetchone()
            if found is None:
                raise StoreError(
                    f"there is no event {position} to erase; 'minutebook log' lists positions",
                    code="unknown_position",
                    position=position,
                )
            there.append(bool(found[0]))
        for position, full in zip(positions, there, strict=False):
            # What is gone, or was never there, needs no naming: there is nothing to erase.
            if full:
                run(_NAME, by_position, position)
                run(_ERASE, position)
        # Kept states of past looks may hold what was erased; dropped, not emptied, so that no page of them stays.
        if not database.sqlite:
            run("SELECT pg_advisory_xact_lock(?)", TABLES_LOCK)
        run("DROP TABLE IF EXISTS checkpoints")
    finally:
        cursor.close()


def scrub(database: Database, writer: Connection) -> bool:
    """Truncates the write-ahead log (SQLite) or vacuums the table (PostgreSQL); false while a reader is in the way."""
    connection: Any = writer.connection.driver_connection
    if not database.sqlite:
        connection.execute("VACUUM events")
        return True
    return _truncated(database, connection)


def wipe(database: Database, writer: Connection, tables: Sequence[str], *, patient: bool) -> str | None:
    """Makes sure that no page, log or dead row holds what was erased. Returns what stands in the way, else None.

    SQLite overwrites what it deletes, and yet a page that was split or merged keeps a copy of what it held (tried:
    ``secure_delete`` alone left the text in 31 of 150 files). So the file is written anew, and the write-ahead log,
    which has the old pages, is truncated; a reader that still uses them is waited for only if ``patient``.

    PostgreSQL: the dead rows of ``tables`` are removed, once no snapshot can see them any more.
    """
    connection: Any = writer.connection.driver_connection
    if not database.sqlite:
        return _vacuumed(connection, tables)
    with _waiting(connection, database, patient):
        # First of all: to write the file anew for nothing, at every try, would be dear.
        if not _truncated(database, connection):
            return READER
        failpoint("erase.vacuum")
        connection.execute("VACUUM")
        failpoint("erase.truncate")
        return None if _truncated(database, connection) else READER


def in_the_way(database: Database, writer: Connection) -> str | None:
    """What keeps ``wipe`` from its end just now; nobody is waited for."""
    connection: Any = writer.connection.driver_connection
    if not database.sqlite:
        return SNAPSHOT if connection.execute(_OLDER).fetchone()[0] else None
    with _waiting(connection, database, patient=False):
        return None if _truncated(database, connection) else READER


READER = (
    "a reader still uses the write-ahead log, which holds what was erased; let it end (another book that is open, "
    "a backup, a tool that looks into the database), then run 'minutebook erase finish'"
)
SNAPSHOT = (
    "a transaction that is older than the erasure is still open in the database and can see what was erased; "
    "let it end, then run 'minutebook erase finish'"
)


def _truncated(database: Database, connection: Any) -> bool:
    if database.path is None:
        return True  # In memory there is no file to search.
    busy, frames, _moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy and frames == 0


@contextmanager
def _waiting(connection: Any, database: Database, patient: bool) -> Iterator[None]:
    patience = int(database.lock_timeout * 1000)
    connection.execute(f"PRAGMA busy_timeout={patience if patient else min(_HURRY_MS, patience)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout={patience}")


# A row that was erased has the transaction that erased it as its xmin: an older snapshot still sees the row before.
_OLDER = """SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
  AND age(backend_xmin) >= (SELECT min(age(e.xmin)) FROM erased n JOIN events e ON e.position = n.position)"""


def _vacuumed(connection: Any, tables: Sequence[str]) -> str | None:
    if connection.execute(_OLDER).fetchone()[0]:
        return SNAPSHOT
    for table in tables:
        quoted = table.replace('"', '""')
        failpoint("erase.vacuum")
        connection.execute(f'VACUUM "{quoted}"')
    failpoint("erase.truncate")
    return None
