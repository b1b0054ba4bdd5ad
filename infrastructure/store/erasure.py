"""Erasing payload bytes: the one change that the guards of the log let through (E8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from ...domain.errors import StoreError
from .binding import TABLES_LOCK
from .database import Database

_FOUND = "SELECT payload IS NOT NULL FROM events WHERE position = ?"
_NAME = (
    "INSERT INTO erased SELECT position, ? FROM events WHERE position = ? "
    "AND NOT EXISTS (SELECT 1 FROM erased WHERE erased.position = events.position)"
)
_ERASE = "UPDATE events SET payload = NULL, salt = NULL WHERE position = ?"


def erase_payloads(database: Database, writer: Connection, positions: Sequence[int], by_position: int) -> None:
    """Names the positions in ``erased`` and sets payload and salt to NULL, in one transaction.

    Raises StoreError ``unknown_position`` when one of them is not in the log; then nothing is erased.
    """
    connection: Any = writer.connection.driver_connection
    cursor = connection.cursor()

    def run(statement: str, *arguments: int) -> Any:
        return cursor.execute(statement if database.sqlite else statement.replace("?", "%s"), arguments)

    run("BEGIN IMMEDIATE" if database.sqlite else "BEGIN")
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
        run("COMMIT")
    except BaseException:
        if not database.sqlite or connection.in_transaction:
            run("ROLLBACK")
        raise
    finally:
        cursor.close()


def scrub(database: Database, writer: Connection) -> bool:
    """Truncates the write-ahead log (SQLite) or vacuums the table (PostgreSQL); false while a reader is in the way."""
    connection: Any = writer.connection.driver_connection
    if not database.sqlite:
        connection.execute("VACUUM events")
        return True
    if database.path is None:
        return True  # In memory there is no file to search.
    busy, frames, _moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy and frames == 0
