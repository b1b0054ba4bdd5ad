"""A store of an older schema becomes one of today's, after a backup that was proved (E7, ADR 0017)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from ...domain.errors import StoreError
from ..store.address import database_url
from ..store.alone import alone, require_alone, upkeep
from ..store.database import Database
from ..store.export import exported
from ..store.failpoints import failpoint
from ..store.faults import guard
from ..store.keeping import appearing, copy_pages, kept_folder, one_at_a_time, proved, refuse_taken
from ..store.load import check
from ..store.log import Head, Log
from ..store.migrations import migrate_postgres, migrate_sqlite
from ..store.place import is_file
from ..store.postgres import SCHEMA_LOCK, schema_version
from ..store.version import APPLICATION_ID, SCHEMA_VERSION, check_version
from .workspace import Workspace


def upgrade(
    workspace: Workspace, url: str | Path, *, backup: Path | None, keep: bool, timeout: float
) -> dict[str, Any]:
    """Brings the store to today's schema: ``from``, ``to``, ``changed``, ``backup``, ``head``, ``chain``.

    The backup goes to ``backup``, or into ``.tinyagent/kept``; with ``keep`` off none is made. One that is up to date
    already is left alone. Raises StoreError ``schema_newer``, ``store_in_use``, ``not_a_book``, ``backup_damaged``
    (the log is damaged: nothing was changed), InputError ``file_exists``.
    """
    address = database_url(url)
    if backup is not None:
        refuse_taken(backup)
    with one_at_a_time(workspace.folder, timeout):
        failpoint("upgrade.locked")
        if address.get_backend_name() == "sqlite":
            return _sqlite(workspace, address, backup, keep, timeout)
        return _postgres(workspace, address, backup, keep, timeout)


def _answer(found: int, backup: Path | None, head: Head | None) -> dict[str, Any]:
    return {
        "from": found,
        "to": SCHEMA_VERSION,
        "changed": found != SCHEMA_VERSION,
        "backup": None if backup is None else str(backup),
        "head": None if head is None else head.position,
        "chain": None if head is None else head.chain.hex(),
    }


def _place(workspace: Workspace, backup: Path | None, found: int, end: str) -> Path:
    if backup is not None:
        return backup
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    return kept_folder(workspace.folder) / f"schema-{found}-{now}.{end}"


def _nothing_there() -> StoreError:
    return StoreError(
        "there is no book here to upgrade; name its folder with --workspace, or its database with --database",
        code="not_a_book",
    )


# --- SQLite


def _sqlite(workspace: Workspace, url: URL, backup: Path | None, keep: bool, timeout: float) -> dict[str, Any]:
    path = Path(url.database or "")
    if not url.database or url.database == ":memory:" or not is_file(path):
        raise _nothing_there()
    with guard():
        # Looked at first, so that what is up to date, newer or no book needs nobody out of it.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=timeout)) as connection:
            found = _found(connection)
        if found == SCHEMA_VERSION:
            return _answer(found, None, None)
        with alone(path, timeout) as connection:
            found = _found(connection)
            if found == SCHEMA_VERSION:  # another upgrade was first
                return _answer(found, None, None)
            saved, head = None, None
            if keep:
                saved = _place(workspace, backup, found, "db")
                with appearing(saved) as waiting:
                    copy_pages(connection, waiting)
                    _, head = proved(waiting, guards=False)
                failpoint("upgrade.backed_up")
            migrate_sqlite(connection, found)
            failpoint("upgrade.committed")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return _answer(found, saved, head)


def _found(connection: sqlite3.Connection) -> int:
    ours = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if ours != APPLICATION_ID or not version:
        raise _nothing_there()
    if version > SCHEMA_VERSION:
        check_version(version)
    return version


# --- PostgreSQL


def _postgres(workspace: Workspace, url: URL, backup: Path | None, keep: bool, timeout: float) -> dict[str, Any]:
    database = Database(upkeep(url), as_is=True, lock_timeout=timeout)
    try:
        with guard(), database.views.begin() as connection:
            found = _version(connection)
            if found == SCHEMA_VERSION:
                return _answer(found, None, None)
            # Another upgrade may be under way, and takes as long as its backup does.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            found = _version(connection)
            if found == SCHEMA_VERSION:
                return _answer(found, None, None)
            require_alone(connection)
            connection.exec_driver_sql("SELECT set_config('lock_timeout', %s, true)", (f"{int(timeout * 1000)}ms",))
            # Who comes meanwhile reads, and appends nothing that the backup would lack.
            connection.exec_driver_sql("LOCK TABLE log_head, events IN SHARE ROW EXCLUSIVE MODE")
            saved, head = None, None
            if keep:
                saved = _place(workspace, backup, found, "jsonl")
                with appearing(saved) as waiting:
                    write_export(Log(database), waiting)
                    with waiting.open("rb") as lines:
                        head = check(lines)
                failpoint("upgrade.backed_up")
            migrate_postgres(connection, found)
        failpoint("upgrade.committed")
    finally:
        database.close()
    return _answer(found, saved, head)


def _version(connection: Connection) -> int:
    version = schema_version(connection)
    if version is None:
        raise _nothing_there()
    if version > SCHEMA_VERSION:
        check_version(version)
    return version


def write_export(log: Log, target: Path) -> None:
    """The whole log, of all workspaces, as JSON Lines into a file that is there."""
    with closing(exported(log)) as lines, target.open("wb") as file:
        for line in lines:
            file.write(line)
