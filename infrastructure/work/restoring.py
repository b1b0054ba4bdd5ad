"""A backup takes the place of a store: proved first, what was there kept, all of it or nothing (E7, ADR 0018).

The steps are the same on both databases: prove the backup, compare it with what is there, keep that, replace it in one
transaction, bring the memory file back to the log. Killed before the transaction is over the old store stands, after it
the new one, with at most the memory file still to follow: saying the same again ends it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.engine import URL

from ...domain.errors import InputError, StoreError
from ..store.address import database_url
from ..store.alone import alone, upkeep
from ..store.database import Database
from ..store.failpoints import failpoint
from ..store.faults import guard
from ..store.keeping import TEMPORARY, copy_pages, damaged, kept_folder, proved, sync
from ..store.load import check, load
from ..store.log import Head, Log
from ..store.migrations import migrate_sqlite
from ..store.place import create_private, holds_bytes, is_held, require_local
from ..store.swapping import copy_bytes, held_alone, replace_postgres, replace_unreadable
from ..store.system import telling
from ..store.version import SCHEMA_VERSION, check_version, peek
from .backing_up import NOTES, noted
from .exporting import is_export
from .upgrading import write_export
from .workspace import Workspace

_SQLITE = b"SQLite format 3\0"


@dataclass
class Restored:
    """What a restore did; the memory file follows (``file_back``)."""

    head: Head
    aside: Path
    """What copies of the memory file are named after."""
    was: Head | None
    """The head that was there; None: nothing was."""
    kept: list[str]
    """Where what was there is now: files, or a schema of the server."""
    schema: int | None = None
    notes: dict[str, str | bytes] = field(default_factory=dict)
    workspaces: list[str] = field(default_factory=list)


def restore(
    workspace: Workspace, url: str | Path, source: Path, *, replace: bool, all_workspaces: bool, timeout: float,
    workspace_id: Callable[[], str],
) -> Restored:  # fmt: skip
    """Puts the backup in the place of the store of this workspace.

    Raises InputError ``not_a_backup``, ``path_missing``; StoreError ``backup_damaged``, ``schema_newer``,
    ``store_in_use``; and unless ``replace``: ``store_ahead`` (the store has events after the backup), ``store_differs``
    (it is another log).
    """
    address = database_url(url)
    kind = _kind(source)
    with _prepared(workspace, source, kind) as (ready, head, schema, notes):
        failpoint("restore.proved")
        kept = kept_folder(workspace.folder)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        aside = kept / f"before-restore-{stamp}"
        if address.get_backend_name() == "sqlite":
            done = _into_sqlite(address, ready, head, aside, replace, timeout)
        else:
            done = _into_postgres(address, ready, head, aside, replace, all_workspaces, timeout, workspace_id())
        done.schema, done.notes, done.workspaces = schema, notes, _workspaces(ready)
        failpoint("restore.replaced")
        return done


def _workspaces(ready: Path) -> list[str]:
    with guard(), closing(sqlite3.connect(f"{ready.as_uri()}?mode=ro", uri=True)) as connection:
        return [
            row[0]
            for row in connection.execute("SELECT DISTINCT workspace FROM events WHERE workspace > '' ORDER BY 1")
        ]


def _kind(source: Path) -> str:
    with telling(f"{str(source)!r} cannot be read"):
        if not source.exists():
            raise InputError(
                f"there is no {str(source)!r}; name the file that 'minutebook backup' wrote", code="path_missing"
            )
        if not source.is_file():
            raise InputError(f"{str(source)!r} is no regular file; name the file of a backup", code="not_a_backup")
    if is_held(source):
        raise InputError(
            f"{str(source)!r} is the database of an open book; 'minutebook backup' makes a file to restore from",
            code="not_a_backup",
        )
    if is_export(source):
        return "log"
    with telling(f"{str(source)!r} cannot be read"), source.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            return "pages"
    raise InputError(
        f"{str(source)!r} is neither a database nor an exported log; name the file that 'minutebook backup' or "
        "'minutebook export --log' wrote",
        code="not_a_backup",
    )


# --- a proved copy, in today's schema, as a SQLite file of our own


@contextmanager
def _prepared(
    workspace: Workspace, source: Path, kind: str
) -> Iterator[tuple[Path, Head, int | None, dict[str, str | bytes]]]:
    """The backup as a private SQLite file beside the store: proved, upgraded where it is older, its notes apart."""
    name = workspace.folder / f"{TEMPORARY}{secrets.token_hex(8)}.tmp"
    schema: int | None = None
    notes: dict[str, str | bytes] = {}
    try:
        with telling(f"{str(name)!r} cannot be written"):
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        if kind == "log":
            with telling(f"{str(source)!r} cannot be read"), source.open("rb") as lines:
                check(lines)
                lines.seek(0)
                database = Database(name)
                try:
                    load(Log(database), lines)
                finally:
                    database.close()
        else:
            schema, notes = _copied(source, name)
        _, head = proved(name, name=source)
        yield name, head, schema, notes
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            Path(f"{name}{end}").unlink(missing_ok=True)


def _copied(source: Path, name: Path) -> tuple[int, dict[str, str | bytes]]:
    """Copies the pages of a backup and brings them to today's schema; returns the schema that it had, and its notes."""
    found = peek(source)
    if found is None:
        raise InputError(
            f"{str(source)!r} is a database that minutebook did not write, or its header is damaged; name the file of "
            "a backup",
            code="not_a_backup",
        )
    if found > SCHEMA_VERSION:
        check_version(found)
    with guard():
        try:
            with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as connection:
                copy_pages(connection, name)
            notes = noted(name, source)
            with closing(sqlite3.connect(name, isolation_level=None)) as connection:
                connection.execute(f"DROP TABLE IF EXISTS {NOTES}")
                if found < SCHEMA_VERSION:
                    migrate_sqlite(connection, found)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise damaged(source, str(error)) from error
    return found, notes


# --- may it be replaced?


def _refuse_ahead(was: Head | None, chain_there: bytes | None, head: Head, erased: int, replace: bool) -> None:
    """``chain_there`` is the chain that the store has at the head of the backup, None where it does not reach it."""
    if was is None or replace or was.position == 0:
        return
    if was.position > head.position and (chain_there == head.chain or head.position == 0):
        again = f", and the texts of {erased} events that were erased since would come back" if erased else ""
        raise StoreError(
            f"the store has {was.position - head.position:,} events after the backup, which ends at {head.position:,}"
            f"{again}; add --replace to go back all the same: the store as it is is kept aside",
            code="store_ahead",
            head=was.position,
            backup=head.position,
        )
    if chain_there not in (None, head.chain) or was.position > head.position:
        raise _differs(was, head)


def _differs(was: Head, head: Head) -> StoreError:
    return StoreError(
        f"the store (head {was.position:,}) and the backup (head {head.position:,}) are not of the same log; add "
        "--replace to put the backup in its place: the store as it is is kept aside",
        code="store_differs",
    )


# --- SQLite


def _into_sqlite(url: URL, ready: Path, head: Head, aside: Path, replace: bool, timeout: float) -> Restored:
    if not url.database or url.database == ":memory:":
        raise InputError(
            "a database in memory cannot be restored; name a file (sqlite:///book.db)", code="bad_database_url"
        )
    path = Path(url.database)
    require_local(path)
    if not holds_bytes(str(path)):
        create_private(path)
    replaced: list[Path] = []
    was: Head | None = None
    with guard():
        try:
            with ExitStack() as held:
                connection = held.enter_context(alone(path, timeout))
                was = _compare(connection, ready, head, replace)
                with closing(sqlite3.connect(f"{ready.as_uri()}?mode=ro", uri=True)) as pages:
                    if _page_size(connection) != _page_size(pages) and was is not None:
                        raise sqlite3.DatabaseError("another size of page")
                    if was is not None:
                        replaced = [Path(f"{aside}.db")]
                        _keep(connection, replaced[0])
                    try:
                        failpoint("restore.kept")
                        # Through SQLite itself, as one transaction: readers and a kill see the old pages or the new.
                        pages.backup(connection)
                    except BaseException:
                        # What stands there still does; a copy of it would only take the room that may be missing.
                        for copy in replaced:
                            copy.unlink(missing_ok=True)
                        raise
                failpoint("restore.committed")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise
            # Nothing that SQLite can open stands there: its bytes are kept, and the file is replaced.
            if not replace:
                raise StoreError(
                    f"what stands at {path.name!r} is no database that can be opened ({error}); add --replace to put "
                    "the backup in its place: its bytes are kept aside",
                    code="store_unreadable",
                ) from error
            with held_alone(path) as descriptor:
                replaced = copy_bytes(path, descriptor, aside)
                failpoint("restore.kept")
                replace_unreadable(ready, path)
            failpoint("restore.committed")
    return Restored(head, aside, was, [str(path) for path in replaced])


def _page_size(connection: sqlite3.Connection) -> int:
    size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    return size


def _keep(connection: sqlite3.Connection, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        copy_pages(connection, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    sync(target)
    sync(target.parent)


def _compare(connection: sqlite3.Connection, ready: Path, head: Head, replace: bool) -> Head | None:
    """The head of the store that is there; None where it is empty, or too damaged to say."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "log_head" not in tables or "events" not in tables:
        raise StoreError(
            "the database that is there belongs to another program; name another one (it was left untouched)",
            code="not_a_book",
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        check_version(version)
    try:
        position, chain = connection.execute("SELECT last_id, chain_hash FROM log_head WHERE k = 1").fetchone()
        was = Head(position, bytes(chain))
        row = connection.execute("SELECT chain FROM events WHERE position = ?", (head.position,)).fetchone()
        erased = connection.execute("SELECT count(*) FROM erased WHERE by_position > ?", (head.position,)).fetchone()[0]
        there = None if row is None else bytes(row[0])
        with closing(sqlite3.connect(f"{ready.as_uri()}?mode=ro", uri=True)) as pages:
            same = pages.execute("SELECT chain FROM events WHERE position = ?", (was.position,)).fetchone()
    except (sqlite3.Error, TypeError):
        return Head(0, b"")  # damaged: that is what a backup is for, and its pages are kept
    if there is None and same is not None and bytes(same[0]) != was.chain and not replace:
        raise _differs(was, head)
    _refuse_ahead(was, there, head, erased, replace)
    return was


# --- PostgreSQL


def _into_postgres(
    url: URL, ready: Path, head: Head, aside: Path, replace: bool, all_workspaces: bool, timeout: float, mine: str
) -> Restored:
    schema = f"minutebook_{aside.name}".replace("-", "_").replace(".", "_").lower()
    pages = Database(ready, access="read_only")
    lines = Path(f"{ready}.jsonl")
    database = Database(upkeep(url), as_is=True, lock_timeout=timeout)
    try:
        os.close(os.open(lines, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        write_export(Log(pages), lines)
        with guard(), database.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                was = replace_postgres(
                    connection,
                    lines,
                    schema=schema,
                    judge=lambda found, there, erased: _judge(found, there, erased, head, pages, replace),
                    only=None if all_workspaces else mine,
                )
                failpoint("restore.committing")
            failpoint("restore.committed")
    finally:
        database.close()
        pages.close()
        with suppress(OSError):
            lines.unlink()
    return Restored(head, aside, was, [] if was is None else [f"schema {schema}"])


def _judge(was: Head, there: bytes | None, erased: int, head: Head, pages: Database, replace: bool) -> None:
    if there is None and was.position and not replace:
        with pages.reading() as connection:
            same = connection.execute(
                text("SELECT chain FROM events WHERE position = :at"), {"at": was.position}
            ).one_or_none()
        if same is not None and bytes(same[0]) != was.chain:
            raise _differs(was, head)
    _refuse_ahead(was, there, head, erased, replace)
