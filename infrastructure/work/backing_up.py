"""One file from which a store can be brought back: of SQLite its own pages, of a server the exported log (E7)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...domain.errors import InputError, StoreError
from ..store.failpoints import failpoint
from ..store.faults import guard
from ..store.keeping import appearing, copy_pages, proved
from ..store.load import check
from ..store.log import Log
from .publisher import Publisher
from .runtime import Runtime
from .safe_file import Bytes
from .upgrading import write_export
from .workspace import FOLDER, Workspace

NOTES = "backup"
"""The one table that a copy of the pages has beside those of the store: what stood in the folder, not in the log."""


def back_up(runtime: Runtime, publisher: Publisher, target: Path, *, all_workspaces: bool = False) -> dict[str, Any]:
    """Writes a proved copy of a live store: ``file``, ``format``, ``events``, ``head``, ``chain``, ``bytes``.

    SQLite: a database file with every table, and the bytes of the memory file as they stand. PostgreSQL: the exported
    log. Raises InputError ``file_exists``, ``not_a_file``, ``bad_path``; StoreError ``not_a_book``,
    ``backup_damaged``, ``other_workspaces``, ``disk_full``.
    """
    log = runtime.log
    if log.database.absent and not runtime.writes:
        raise StoreError("there is no book here yet, so there is nothing to back up", code="not_a_book")
    _refuse_inside(publisher.workspace, target)
    with appearing(target) as waiting:
        failpoint("backup.copying")
        if log.database.sqlite:
            with guard():
                with log.database.reading() as connection:
                    raw: Any = connection.connection.driver_connection
                    copy_pages(raw, waiting)
                _note(waiting, runtime, publisher)
            failpoint("backup.copied")
            head = proved(waiting)[1]
        else:
            if not all_workspaces:
                _refuse_others(log, runtime.workspace)
            write_export(log, waiting)
            failpoint("backup.copied")
            with waiting.open("rb") as lines:
                head = check(lines)
        size = waiting.stat().st_size
    return {
        "file": str(target),
        "format": "sqlite" if log.database.sqlite else "minutebook-log",
        "events": head.position,
        "head": head.position,
        "chain": head.chain.hex(),
        "bytes": size,
        "memory_file": publisher.state().state,
    }


def _refuse_inside(workspace: Workspace, target: Path) -> None:
    if target.resolve().is_relative_to(workspace.folder.resolve()):
        raise InputError(
            f"{str(target)!r} lies in {FOLDER}, with what it is to replace one day; name a place outside, best on "
            "another disk",
            code="bad_path",
        )


def _refuse_others(log: Log, workspace: str) -> None:
    with log.database.reading() as connection:
        found = connection.exec_driver_sql(
            "SELECT 1 FROM events WHERE workspace IS NOT NULL AND workspace NOT IN (%s, '') LIMIT 1", (workspace,)
        ).one_or_none()
    if found is not None:
        raise StoreError(
            "this database holds other workspaces too, and its log has one chain through all of them; add "
            "--all-workspaces if you may take them all out",
            code="other_workspaces",
        )


def _note(copy: Path, runtime: Runtime, publisher: Publisher) -> None:
    """Puts into the copy what a folder has beside its log, and nothing could tell from it."""
    look = publisher.workspace.look()
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        run = connection.execute
        run("BEGIN")
        run(f"DROP TABLE IF EXISTS {NOTES}")
        run(f"CREATE TABLE {NOTES} (name TEXT PRIMARY KEY, value BLOB)")
        rows: list[tuple[str, str | bytes]] = [("workspace_id", runtime.workspace), ("made", runtime.now().isoformat())]
        if isinstance(look, Bytes):
            rows += [("memory_file", look.data), ("memory_digest", look.digest)]
        connection.executemany(f"INSERT INTO {NOTES} VALUES (?, ?)", rows)  # noqa: S608 - a constant
        run("COMMIT")


def noted(copy: Path, name: Path) -> dict[str, str | bytes]:
    """What stood beside the log when the copy was made; nothing in one that is a plain copy of a database.

    Raises StoreError ``backup_damaged``, which calls it ``name``.
    """
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            found = dict(connection.execute(f"SELECT name, value FROM {NOTES}").fetchall())  # noqa: S608 - a constant
        except sqlite3.OperationalError:
            return {}
    data, digest = found.get("memory_file"), found.get("memory_digest")
    if data is not None and (not isinstance(data, bytes) or sha256(data).hexdigest() != digest):
        raise StoreError(
            f"{str(name)!r} is not what a backup must be: the memory file in it is damaged; take another one",
            code="backup_damaged",
        )
    return found
