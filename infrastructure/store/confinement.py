"""What a plug-in may do with the connection it is given: read and write the rows of its own tables (E5).

Rows and cursor change in one transaction that the engine holds. A plug-in that ended it, or wrote elsewhere, would
break that for good, so every statement is looked at before it runs, and the transaction after. This keeps mistakes out,
not malice: a plug-in is code that runs with the rights of its process, and a driver's own connection is in its reach.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.exc import SQLAlchemyError

from ...domain.errors import StoreError
from .bounded import Exited
from .faults import translate

SAVEPOINT = "minutebook_apply"

_FORBIDDEN = ("commit", "rollback", "close", "begin", "begin_twophase", "invalidate", "detach")

_TEXT = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)
"""Literals and comments: what stands in them is no SQL."""

_FIRST = re.compile(
    r"[\s(]*(SELECT|WITH|VALUES|INSERT|REPLACE|UPDATE|DELETE|SAVEPOINT|RELEASE|ROLLBACK\s+TO)\b", re.IGNORECASE
)
_SEVERAL = re.compile(r";\s*\S")
_IDENTIFIER = r'(?:"[^"]+"|`[^`]+`|\[[^\]]+\]|[\w$]+)'
_DOTTED = rf"{_IDENTIFIER}(?:\s*\.\s*{_IDENTIFIER})?"
_WRITES = re.compile(
    rf"\b(?:(?:INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO|DELETE\s+FROM|(?<!DO\s)(?<!FOR\s)UPDATE(?:\s+OR\s+\w+)?)"
    rf"\s+(?:ONLY\s+)?({_DOTTED})",
    re.IGNORECASE,
)
_READS = re.compile(
    rf"\b(?:FROM|JOIN)\s+(?:ONLY\s+)?({_DOTTED}(?:(?:\s+AS)?\s+\w+)?(?:\s*,\s*{_DOTTED}(?:(?:\s+AS)?\s+\w+)?)*)",
    re.IGNORECASE,
)
_NO_TABLE = frozenset({"set", "of", "skip", "nowait"})
"""What follows UPDATE in ``DO UPDATE SET`` and ``FOR UPDATE OF``."""
_SCHEMAS = frozenset({"main", "public", "temp"})


class BrokeOut(StoreError):
    """The transaction of the engine was ended from inside: rows may be half written, and the cursor has moved."""

    code = "plug_in_misbehaved"


@contextmanager
def confined(connection: Connection, name: str, own: tuple[str, ...], foreign: frozenset[str]) -> Iterator[None]:
    """Runs a plug-in's ``apply``. Raises StoreError ``plug_in_misbehaved`` for what it may not do."""
    connection.exec_driver_sql(f"SAVEPOINT {SAVEPOINT}")
    mine = frozenset(own)

    def look(conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: Any) -> None:
        wrong = _wrong(statement, mine, foreign)
        if wrong:
            raise StoreError(f"projection {name!r} {wrong}", code="plug_in_misbehaved")

    here = threading.get_ident()

    def refused(what: str) -> Any:
        original = getattr(connection, what)

        def refuse(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() != here:
                # The engine itself, which takes the connection away from one that does not return.
                return original(*arguments, **named)
            raise StoreError(
                f"projection {name!r} called {what}() on its connection; leave that out of 'apply': rows and cursor "
                "change in one transaction, which the engine ends",
                code="plug_in_misbehaved",
            )

        return refuse

    event.listen(connection, "before_cursor_execute", look)
    # On the instance: what is handed out stays a Connection, and every way to end it through SQLAlchemy says why not.
    for what in _FORBIDDEN:
        setattr(connection, what, refused(what))
    try:
        yield
    except SystemExit as left:
        raise Exited("apply called sys.exit") from left
    except SQLAlchemyError as error:
        found = translate(error)
        if connection.dialect.name == "sqlite" and found.code == "store_locked":
            # This very transaction has the lock: only another connection of the plug-in can wait for it.
            raise StoreError(
                f"projection {name!r} waits for the database on a second connection; use the one that 'apply' is given",
                code="plug_in_misbehaved",
            ) from error
        raise
    finally:
        for what in _FORBIDDEN:
            delattr(connection, what)
        event.remove(connection, "before_cursor_execute", look)
    _still_ours(connection, name)


def _still_ours(connection: Connection, name: str) -> None:
    """The savepoint is gone when the transaction was ended from inside, by whatever way."""
    try:
        connection.exec_driver_sql(f"RELEASE SAVEPOINT {SAVEPOINT}")
    except SQLAlchemyError as error:
        cause: Any = getattr(error, "orig", None) or error
        state = getattr(cause, "sqlstate", None)
        if state == "25P02":
            raise StoreError(
                f"projection {name!r} went on after a statement that failed; on PostgreSQL nothing works after it: use "
                "connection.begin_nested() around what may fail",
                code="plug_in_misbehaved",
            ) from error
        if state in ("3B001", "25P01") or "no such savepoint" in str(cause):
            raise BrokeOut(
                f"projection {name!r} ended the transaction of the engine itself; mend it, then run 'minutebook "
                f"projections rebuild {name}': its rows may be half written"
            ) from error
        raise


@lru_cache(maxsize=1_024)
def _wrong(statement: str, own: frozenset[str], foreign: frozenset[str]) -> str | None:
    """What is wrong with a statement, in words that follow the name of the projection."""
    plain = _TEXT.sub("''", statement).strip().rstrip(";")
    first = _FIRST.match(plain)
    if first is None or _SEVERAL.search(plain):
        return f"ran {_shown(statement)}; 'apply' may only read and write rows, one statement at a time"
    if first[1].upper().split()[0] in ("SAVEPOINT", "RELEASE", "ROLLBACK"):
        return f"touched the savepoint of the engine: {_shown(statement)}" if SAVEPOINT in plain else None
    for target in _WRITES.finditer(plain):
        table = _table(target[1])
        if table not in own and table not in _NO_TABLE:
            return f"writes to {table!r}, which is none of its tables; a projection writes to what it declared"
    for group in _READS.finditer(plain):
        for part in group[1].split(","):
            table = _table(part)
            if table in foreign and table not in own:
                return f"reads {table!r}, which is another's; what it needs it must be told by its events"
    return None


def _table(reference: str) -> str:
    found = re.match(rf"\s*({_IDENTIFIER})(?:\s*\.\s*({_IDENTIFIER}))?", reference)
    if found is None:
        return reference
    first, second = (_bare(part) for part in (found[1], found[2] or ""))
    if second:
        return second if first in _SCHEMAS else f"{first}.{second}"
    return first


def _bare(identifier: str) -> str:
    return identifier[1:-1] if identifier[:1] in '"`[' else identifier.lower()


def _shown(statement: str) -> str:
    return " ".join(statement.split())[:80]
