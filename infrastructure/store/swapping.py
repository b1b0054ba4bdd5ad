"""What a restore does to the store that stands there: sets it aside whole, and puts another in its place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection

from ...domain.errors import StoreError
from .alone import in_use, require_alone
from .failpoints import failpoint
from .keeping import sync
from .load import fill_postgres, head_of
from .log import Head
from .place import is_held
from .postgres import SCHEMA_LOCK, create, schema_version
from .schema import metadata
from .system import telling
from .version import SCHEMA_VERSION, check_version

_COMPANIONS = ("-wal", "-shm", "-journal")

# Where SQLite has the bytes that its processes lock (its file format says so): a connection in WAL mode holds a shared
# lock on the range for as long as it lives.
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510

Judge = Callable[[Head, bytes | None, int], None]
"""Refuses, or does not: the head that is there, its chain at the backup's head, how many erasures came after it."""


# --- a SQLite file that SQLite cannot open


@contextmanager
def held_alone(path: Path) -> Iterator[int]:
    """A descriptor of the file, by which other processes are kept out. Raises StoreError ``store_in_use``."""
    if is_held(path):
        raise in_use("a book that is open in this very process")
    with telling(f"{path.name!r} cannot be opened"):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    try:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except OSError as error:
            raise in_use("another process") from error
        yield descriptor
    finally:
        os.close(descriptor)


def copy_bytes(path: Path, held: int, aside: Path) -> list[Path]:
    """The file and what SQLite has beside it, byte for byte, under the name of ``aside``; returns what was made.

    The file is read by the descriptor that holds it: another one of this process would let go of the lock when closed.
    """
    made = [Path(f"{aside}.db")]
    with telling(f"{path.name!r} cannot be kept"):
        with _fresh(made[0]) as new:
            place = 0
            while part := os.pread(held, 1 << 20, place):
                new.write(part)
                place += len(part)
        for end in _COMPANIONS:
            source = Path(f"{path}{end}")
            if source.exists():
                made.append(Path(f"{aside}.db{end}"))
                with source.open("rb") as old, _fresh(made[-1]) as new:
                    shutil.copyfileobj(old, new, 1 << 20)
        sync(aside.parent)
    return made


@contextmanager
def _fresh(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def replace_unreadable(ready: Path, path: Path) -> None:
    """Puts a whole SQLite file in the place of one that cannot be opened, whose bytes are kept already."""
    waiting = path.with_name(f"{ready.name}.new")
    with telling(f"{path.name!r} cannot be replaced"):
        try:
            with ready.open("rb") as old, _fresh(waiting) as new:
                shutil.copyfileobj(old, new, 1 << 20)
            # First these: a write-ahead log that is left would be played into the new file.
            for end in _COMPANIONS:
                Path(f"{path}{end}").unlink(missing_ok=True)
            sync(path.parent)
            failpoint("restore.committing")
            os.replace(waiting, path)
            sync(path.parent)
        finally:
            waiting.unlink(missing_ok=True)


# --- PostgreSQL


def replace_postgres(
    connection: Connection, lines: Path, *, schema: str, judge: Judge, only: str | None
) -> Head | None:
    """Sets the tables of the store aside into ``schema`` and fills new ones, in the transaction that is open.

    Returns the head that was there. Raises what ``judge`` raises, ``store_in_use``, ``other_workspaces``.
    """
    run = connection.exec_driver_sql
    run("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
    found = schema_version(connection)
    was: Head | None = None
    if found is not None:
        if found > SCHEMA_VERSION:
            check_version(found)
        require_alone(connection)
        run("LOCK TABLE log_head, events IN ACCESS EXCLUSIVE MODE")
        was = _judged(connection, lines, judge, only)
        failpoint("restore.keeping")
        _set_aside(connection, schema)
    create(connection)
    fill_postgres(connection, lines)
    return was


def _judged(connection: Connection, lines: Path, judge: Judge, only: str | None) -> Head:
    run = connection.exec_driver_sql
    position, chain = run("SELECT last_id, chain_hash FROM log_head WHERE k = 1").one()
    if only is not None:
        other: Any = run("SELECT workspace FROM events WHERE workspace NOT IN (%s, '') LIMIT 1", (only,)).scalar()
        if other is not None:
            raise StoreError(
                f"this database holds other workspaces too ({other!r} is one), and a restore takes them all back; add "
                "--all-workspaces if you may do that",
                code="other_workspaces",
            )
    end = head_of(lines).position
    there = run("SELECT chain FROM events WHERE position = %s", (end,)).scalar()
    erased = run("SELECT count(*) FROM erased WHERE by_position > %s", (end,)).scalar_one()
    was = Head(position, bytes(chain))
    judge(was, None if there is None else bytes(there), erased)
    return was


def _set_aside(connection: Connection, schema: str) -> None:
    run = connection.exec_driver_sql
    quote = connection.dialect.identifier_preparer.quote
    run(f"CREATE SCHEMA {quote(schema)}")
    tables = run("SELECT to_jsonb(c) ->> 'tables' FROM cursors c").scalars()
    named = {name for text in tables if text for name in json.loads(text)}
    present = set(run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").scalars())
    for name in sorted((set(metadata.tables) | named) & present):
        run(f"ALTER TABLE {quote(name)} SET SCHEMA {quote(schema)}")
    functions = run(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace "
        "AND proname LIKE 'minutebook\\_%%'"
    ).scalars()
    for function in functions.all():
        run(f"ALTER FUNCTION {function} SET SCHEMA {quote(schema)}")
