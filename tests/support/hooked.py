"""Calls that fail by hooks of Python: statements of the driver everywhere, calls of the system where no strace is.

``install`` must run before a book is opened; ``arm`` and ``disarm`` begin and end the fault.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from typing import Any

SAID = {
    "EIO": "disk I/O error",
    "ENOSPC": "database or disk is full",
    "EACCES": "unable to open database file",
    "EROFS": "attempt to write a readonly database",
}
"""What SQLite says of such an error of the system."""
STATEMENTS = ("execute", "commit")
OF_PYTHON = ("open", "write", "fsync", "rename", "link", "unlink", "mkdir")


class Fault:
    """The n-th call fails, once or from then on, while it is armed."""

    def __init__(self, call: str, error: str, number: int, ever: bool) -> None:
        self.call, self.error, self.number, self.ever = call, error, number, ever
        self.armed = False
        self.passed = 0
        self.hit = 0

    def due(self, call: str) -> bool:
        if not self.armed or call != self.call:
            return False
        self.passed += 1
        if self.passed == self.number or (self.ever and self.passed > self.number):
            self.hit += 1
            return True
        return False

    def statement(self, text: str) -> None:
        call = "commit" if text.lstrip()[:6].upper() == "COMMIT" else "execute"
        # To take back what was begun is no work on the disk: SQLite does it whatever the disk says.
        if not text.lstrip()[:8].upper().startswith("ROLLBACK") and self.due(call):
            raise sqlite3.OperationalError(SAID[self.error])

    def install(self) -> None:
        if self.call in STATEMENTS:
            self._driver()
            return
        number, plain = getattr(errno, self.error), getattr(os, self.call)

        def failing(*arguments: Any, **options: Any) -> Any:
            if self.due(self.call):
                raise OSError(number, os.strerror(number))
            return plain(*arguments, **options)

        setattr(os, self.call, failing)

    def _driver(self) -> None:
        fault, connect = self, sqlite3.connect

        class Cursor(sqlite3.Cursor):
            def execute(self, sql: str, *rest: Any) -> Any:
                fault.statement(sql)
                return super().execute(sql, *rest)

            def executemany(self, sql: str, rows: Any, /) -> Any:
                fault.statement(sql)
                return super().executemany(sql, rows)

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *rest: Any) -> Any:
                fault.statement(sql)
                return super().execute(sql, *rest)

            def executemany(self, sql: str, rows: Any, /) -> Any:
                fault.statement(sql)
                return super().executemany(sql, rows)

            def cursor(self, factory: Any = Cursor) -> Any:
                return super().cursor(factory)

            def commit(self) -> None:
                if self.in_transaction:
                    fault.statement("COMMIT")
                super().commit()

        def connecting(*arguments: Any, **options: Any) -> Any:
            return connect(*arguments, **{"factory": Connection, **options})

        opening: Callable[..., Any] = connecting
        sqlite3.connect = opening
