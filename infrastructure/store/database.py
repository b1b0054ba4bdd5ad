"""Connections: one writer that syncs on every commit, and a pool for readers and projections (engine.md).

SQLite runs in WAL mode. The log's connection has ``synchronous=FULL``, set and read back: an acknowledged event
survives power loss. Projections use ``NORMAL``: they can be made again from the log, and the WAL keeps their
rows and cursor together, so they cost no fsync of their own.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.pool import QueuePool

from ...domain.errors import StoreError
from .address import database_url
from .failpoints import failpoint
from .faults import guard, of_driver, sqlstate
from .forking import unforked
from .place import create_private, hold, holds_bytes, is_file, let_go, require_local
from .version import APPLICATION_ID, check_version, peek, require_sqlite

Access = Literal["write", "look", "read_only"]
"""``write``: everything. ``look``: projections may advance and leave checkpoints. ``read_only``: nothing is written."""

# An acknowledged event survives power loss also where the server's default says otherwise.
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"

IDLE_SECONDS = 60.0
"""How long a server lets a transaction of a projection do nothing, at least."""
_READ_ONLY = "25006"
"""SQLSTATE: the server lets nobody write, as one does that another has taken over from."""

_LIVE: weakref.WeakSet[Database] = weakref.WeakSet()


class Database:
    """One database under one book: its URL, its engines and its writer connection."""

    def __init__(
        self, url: str | Path | URL, *, access: Access = "write", lock_timeout: float = 5.0, as_is: bool = False
    ) -> None:
        """``as_is`` takes a store of whatever schema version, for what mends or moves it; nothing is made in it."""
        self.as_is = as_is
        self.url = database_url(url)
        self.access: Access = access
        self.lock_timeout = lock_timeout
        self.idle_seconds = IDLE_SECONDS
        self.sqlite = self.url.get_backend_name() == "sqlite"
        if self.sqlite:
            require_sqlite()
        self.path = self._sqlite_path()
        self.absent = self.path is not None and not is_file(self.path)
        if self.path is not None and not self.absent and not as_is:
            # Before anything is written: opening alone may move a write-ahead log into its file.
            found = peek(self.path)
            if found is not None:
                check_version(found)
        if self.path is not None and access == "write":
            require_local(self.path)
            create_private(self.path)
            failpoint("start.placed")
        self._file = None if self.path is None else hold(self.path)
        self._lock = threading.RLock()
        self._closed = False
        self._writer: Connection | None = None
        self.written = False
        """Whether the log was written through this object; then a server that refuses to be written is news."""
        self._memory = _memory_name() if self.path is None or (self.absent and access != "write") else None
        # A shared memory database lives as long as its last connection: this one keeps it.
        self._anchor = self._connect("FULL") if self.sqlite and self._memory else None
        self.views = self._engine("NORMAL")
        self.engine = self._engine("FULL")
        _LIVE.add(self)

    # --- the writer of the log

    @contextmanager
    def writer(self) -> Iterator[Connection]:
        """The connection that appends, for one thread at a time. Raises StoreError ``read_only``."""
        if self.access != "write":
            raise StoreError("the book was opened for reading; open it for writing to change it", code="read_only")
        with self._lock, guard(), self._whole():
            self._check_open()
            new = self._writer is None
            if self._writer is None:
                self._writer = self.engine.connect()
            try:
                if new and not self.sqlite:
                    self._writer.exec_driver_sql(_DURABLE)
                yield self._writer
                self.written = True
            except Exception as error:
                if sqlstate(error) == _READ_ONLY:
                    self._dial_anew()
                raise
            finally:
                self._settle()

    def _dial_anew(self) -> None:
        """Another server may be the one to write to: what is connected to this one would stay with it for ever."""
        assert self._writer is not None
        self._writer.invalidate()
        self.views.dispose()

    def _settle(self) -> None:
        # The append commits on the driver's connection; this only tells SQLAlchemy that it is over.
        assert self._writer is not None
        if not self._rolled_back(self._writer):
            # The server is gone or was restarted: the next append dials again.
            writer, self._writer = self._writer, None
            writer.close()

    def _rolled_back(self, connection: Connection) -> bool:
        """Leaves no transaction open; a connection that was lost is thrown away, which is False.

        Left to the pool, a lost one would be found out there, with a traceback in the log of SQLAlchemy.
        """
        if self.sqlite:
            connection.rollback()
            return True
        try:
            if not connection.invalidated:
                connection.rollback()
                driver: Any = connection.connection.driver_connection
                # SQLAlchemy does not know of what went over the driver's own cursors.
                driver.rollback()
                if not driver.closed:
                    return True
        except Exception as error:
            if not of_driver(error):
                raise
        connection.invalidate()
        return False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading, in one consistent snapshot."""
        with guard(), self._viewing() as connection:
            if self.sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                # The server's own default sees what others commit between one statement and the next.
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def projecting(self, patience: float | None = None) -> Iterator[Connection]:
        """A transaction for projection rows and cursors; commits at the end, rolls back on an exception.

        ``patience``: seconds to wait for locks, where it is to be less than ``lock_timeout``.
        """
        with guard(), self._whole(), self._viewing() as connection:
            if self.sqlite:
                self._begin(connection, patience)
            else:
                # The rows can be made again from the log: their commit need not wait for the disk. Who is stopped in
                # the middle (SIGSTOP, a dead network) must not keep others off the cursor for ever.
                connection.exec_driver_sql(
                    "SET LOCAL synchronous_commit = off; "
                    f"SET LOCAL idle_in_transaction_session_timeout = {int(self.idle_seconds * 1000)}"
                )
                if patience is not None and patience < self.lock_timeout:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(patience * 1000))}")
            yield connection
            connection.commit()

    def _whole(self) -> AbstractContextManager[None]:
        """A transaction that no other thread's fork tears."""
        return unforked() if self.sqlite else nullcontext()

    def _begin(self, connection: Connection, patience: float | None) -> None:
        if patience is None or patience >= self.lock_timeout:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        connection.exec_driver_sql(f"PRAGMA busy_timeout={int(patience * 1000)}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(self.lock_timeout * 1000)}")

    @contextmanager
    def _viewing(self) -> Iterator[Connection]:
        self._check_open()
        try:
            with self.views.connect() as connection:
                try:
                    yield connection
                finally:
                    self._rolled_back(connection)
        finally:
            # Given back while close() empties the pool, it would wait there for nobody; asked when it is back.
            if self._closed:
                self.views.pool.dispose()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the book was closed; open it again", code="store_closed")

    def close(self) -> None:
        """Gives every connection back; the last one of a process checkpoints SQLite's write-ahead log."""
        with self._lock:
            self._closed = True
            if self._writer is not None:
                writer, self._writer = self._writer, None
                self._rolled_back(writer)
                writer.close()
            # The pools and not the engines: an engine would begin a new pool, and what a thread still holds
            # would come back to the old one.
            self.engine.pool.dispose()
            self.views.pool.dispose()
            if self._anchor is not None:
                self._anchor.close()
            if self._file is not None:
                let_go(self._file)
                self._file = None
        _LIVE.discard(self)

    def become_empty(self) -> None:
        """Puts an empty book in memory in place of a server that has none: a reader makes nothing there (M2)."""
        self.engine.dispose()
        self.views.dispose()
        self.url, self.sqlite, self.absent, self._memory = URL.create("sqlite"), True, True, _memory_name()
        self._anchor = self._connect("FULL")
        self.views = self._engine("NORMAL")
        self.engine = self._engine("FULL")

    # --- making engines

    def _sqlite_path(self) -> Path | None:
        if not self.sqlite or not self.url.database or self.url.database == ":memory:":
            return None
        return Path(self.url.database)

    def _engine(self, synchronous: str) -> Engine:
        if not self.sqlite:
            from .server import server_engine

            return server_engine(
                self.url,
                isolation="AUTOCOMMIT" if synchronous == "FULL" else "READ COMMITTED",
                read_only=self.access == "read_only",
                lock_timeout=self.lock_timeout,
            )
        # The driver opens no transactions of its own (isolation_level=None): BEGIN IMMEDIATE is ours to say.
        return create_engine("sqlite://", creator=lambda: self._connect(synchronous), poolclass=QueuePool)

    def _connect(self, synchronous: str) -> sqlite3.Connection:
        if self._memory:
            # A reader of a book that does not exist sees an empty one and creates nothing.
            connection = sqlite3.connect(self._memory, uri=True, isolation_level=None, check_same_thread=False)
        else:
            connection = sqlite3.connect(
                self._file_uri(),
                uri=True,
                timeout=self.lock_timeout,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
        try:
            self._pragmas(connection, synchronous)
        except BaseException:
            connection.close()
            raise
        return connection

    def _file_uri(self) -> str:
        assert self.path is not None
        base = self.path.resolve().as_uri()
        if self.access != "read_only":
            return f"{base}?mode=rw"
        # A WAL database in a folder that cannot be written opens only as immutable, and only when no WAL is left.
        frozen = not os.access(self.path.parent, os.W_OK) and not holds_bytes(f"{self.path}-wal")
        return f"{base}?immutable=1" if frozen else f"{base}?mode=ro"

    def _pragmas(self, connection: sqlite3.Connection, synchronous: str) -> None:
        run = connection.execute
        run(f"PRAGMA busy_timeout={int(self.lock_timeout * 1000)}")
        run("PRAGMA trusted_schema=OFF")
        run("PRAGMA cell_size_check=ON")
        if self.access == "write" and self.path is not None:
            _refuse_foreign(connection)
            _switch_to_wal(connection, self.lock_timeout)
        if self.access == "read_only":
            # The empty book that stands for an absent one is made by its first connection, which must write.
            run(f"PRAGMA query_only={'OFF' if self._memory else 'ON'}")
            return
        run(f"PRAGMA synchronous={synchronous}")
        run("PRAGMA secure_delete=ON")
        wanted = {"FULL": 2, "NORMAL": 1}[synchronous]
        if run("PRAGMA synchronous").fetchone()[0] != wanted:
            raise StoreError(
                f"this SQLite does not take synchronous={synchronous}; use another build of SQLite", code="not_durable"
            )


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    # Before anything is written: the switch to WAL alone would change another program's file.
    # The tables are counted first: another process that makes the book commits tables and id together, so whoever
    # sees the one sees the other. The other way round one of eight processes was refused (tried).
    filled = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    marked = connection.execute("PRAGMA application_id").fetchone()[0]
    if marked != APPLICATION_ID and (filled or marked):
        raise StoreError(
            "this SQLite file belongs to another program; point minutebook to another file "
            "(this one was left untouched)",
            code="not_a_book",
        )


def _switch_to_wal(connection: sqlite3.Connection, timeout: float) -> None:
    # The first switch fails at once, without waiting, while another process writes (tried): so wait here.
    deadline = time.monotonic() + max(timeout, 1.0)
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
            continue
        if mode != "wal":
            raise StoreError(
                f"this file system does not carry SQLite's WAL (journal mode {mode!r}); move the workspace to a "
                "local disk or use PostgreSQL",
                code="not_durable",
            )
        return


_memory_names = itertools.count(1)


def _memory_name() -> str:
    # Not cache=shared, where a reader makes a writer fail at once instead of waiting (tried).
    return f"file:/minutebook-{os.getpid()}-{next(_memory_names)}?vfs=memdb"


def _after_fork() -> None:
    # A connection must not cross a fork: the child drops them unclosed and opens its own.
    for database in list(_LIVE):
        database._lock = threading.RLock()
        database._writer = None
        database.engine.dispose(close=False)
        database.views.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
