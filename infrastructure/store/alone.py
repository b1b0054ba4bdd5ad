"""To have a store for oneself while it is changed as a whole: nobody else is in it, and who comes waits (D12, E7)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.engine import URL

from ...domain.errors import StoreError
from .place import is_held

UPKEEP = "minutebook-upkeep"
"""How connections that change a store as a whole call themselves on a server; all others say ``minutebook``."""

_PAUSE_SECONDS = 0.05


@contextmanager
def alone(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """The only connection to a SQLite file, which syncs on every commit. Raises StoreError ``store_in_use``.

    In WAL mode every other connection, also an idle one, holds a shared lock on the file; a connection in exclusive
    mode needs them gone, and those that come later find the file locked and wait. Raises sqlite3.Error where SQLite
    cannot open the file at all.
    """
    if is_held(path):
        raise in_use("a book that is open in this very process")
    deadline = time.monotonic() + timeout
    while True:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=0, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            break
        except sqlite3.OperationalError as error:
            connection.close()
            if "locked" not in str(error):
                raise
            if time.monotonic() > deadline:
                raise in_use("another process") from error
            time.sleep(_PAUSE_SECONDS)
        except BaseException:
            connection.close()
            raise
    with closing(connection):
        yield connection


def require_alone(connection: Connection) -> None:
    """The same on PostgreSQL, at this moment: who has a connection to the database. Raises ``store_in_use``."""
    others = connection.exec_driver_sql(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'minutebook' AND pid <> pg_backend_pid()"
    ).scalar_one()
    if others:
        raise in_use(f"{others} other connections" if others > 1 else "another connection")


def upkeep(url: URL) -> URL:
    """The URL by which a store on a server is changed as a whole."""
    return url if url.get_backend_name() == "sqlite" else url.update_query_dict({"application_name": UPKEEP})


def in_use(who: str) -> StoreError:
    return StoreError(
        f"the store is in use by {who}: end all that has it open (agents, workers, 'log --follow'), then try again; "
        "nothing was changed",
        code="store_in_use",
    )
