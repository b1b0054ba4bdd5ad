"""Which schema a store has, looked up without touching it: a newer or an older one is refused unchanged (E7)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ...domain.errors import StoreError
from .place import holds_bytes

SCHEMA_VERSION = 2
"""Raised with every change of the tables or guards below ``schema``, or of an event that older code must not pass by.

``migrations`` says how a store of each version becomes one of the next.
"""
APPLICATION_ID = 0x6D626F6B  # "mbok": SQLite's application_id, so that a foreign file is known as such.

SQLITE_MIN = (3, 36, 0)
"""The first with all that is used: RETURNING is of 3.35, a database in memory that connections share of 3.36."""


def require_sqlite() -> None:
    """Raises StoreError ``sqlite_too_old`` before anything is made with a library that could not go on."""
    if sqlite3.sqlite_version_info < SQLITE_MIN:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old: minutebook needs {'.'.join(map(str, SQLITE_MIN))} or newer; "
            "use a Python with a newer SQLite, or PostgreSQL",
            code="sqlite_too_old",
        )


def check_version(found: int) -> None:
    """Raises StoreError ``schema_newer`` or ``schema_older``."""
    if found > SCHEMA_VERSION:
        raise StoreError(
            f"this store has schema version {found} and was written by a newer minutebook (this one knows "
            f"{SCHEMA_VERSION}); upgrade minutebook; the store was left untouched",
            code="schema_newer",
            found=found,
            known=SCHEMA_VERSION,
        )
    if found < SCHEMA_VERSION:
        raise StoreError(
            f"this store has schema version {found} and this minutebook works with {SCHEMA_VERSION}; end what still "
            "uses the store and run 'minutebook upgrade', which makes a backup first; the store was left untouched",
            code="schema_older",
            found=found,
            known=SCHEMA_VERSION,
        )


def peek(path: Path) -> int | None:
    """The schema version of a book's SQLite file; None where no book can be seen there (SQLite says more, then).

    Not a byte of the file or of its write-ahead log is changed: where the log may hold a newer first page, a
    connection that only reads leaves it where it is. SQLite itself looks, since a file that it has open must not be
    opened and closed by others (``place.create_private``).
    """
    how = "mode=ro" if holds_bytes(f"{path}-wal") else "immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as connection:
            ours = connection.execute("PRAGMA application_id").fetchone()[0]
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    except (sqlite3.Error, OSError):
        return None
    return version if ours == APPLICATION_ID and version else None
