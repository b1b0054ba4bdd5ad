"""What a driver says, as an error with a stable code and the mend (section 5); no password ever stands in one.

PostgreSQL is asked by its SQLSTATE, since its words come in the language of the server; SQLite, and a connection that
did not come about, have only words.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from ...domain.errors import InputError, MinutebookError, StoreError

_MENDS: tuple[tuple[str, str, str], ...] = (
    (
        # First: what the system says of a socket reads as if it were said of a disk.
        r"could not (receive data from|send data to) server",
        "store_unreachable",
        "check the server and the database URL, then try again",
    ),
    (
        r"connection to server [^\n]*failed: (No space left|Permission denied|Read-only file|Input/output)",
        "store_unreachable",
        "check the server and the database URL, then try again",
    ),
    (
        r"database is locked|database table is locked",
        "store_locked",
        "another process holds the database; try again, or raise lock_timeout_seconds",
    ),
    (
        r"too many clients|too many connections|remaining connection slots",
        "store_unreachable",
        "no connection is free: close other books, or raise the server's max_connections",
    ),
    (
        r"session is read-only|server is in hot standby|server is not in hot standby",
        "store_read_only",
        "connect to the primary server, or open with read_only=True",
    ),
    (
        r"permission denied for database",
        "store_forbidden",
        "let the role connect to this database, or name another in the database URL",
    ),
    (r"disk is full|No space left", "disk_full", "free some space; nothing of this write was kept"),
    (r"readonly database|read-only", "store_read_only", "make the folder writable, or open with read_only=True"),
    (r"file is not a database|file is encrypted", "not_a_book", "point to another file; this one was left untouched"),
    (r"malformed|corrupt|disk image", "store_corrupt", "run 'minutebook verify' and restore a backup"),
    (r"disk I/O error|could not fsync", "store_io_error", "check the disk; the last write is in doubt until re-opened"),
    (r"unable to open database", "store_unwritable", "check that the folder exists and can be read"),
    (
        r"password authentication|authentication failed|no password supplied|pg_hba\.conf|role \".*\" does not exist",
        "store_login_refused",
        "check user and password in the database URL, and what the server lets in",
    ),
    (
        r"FATAL: .*database \".*\" does not exist",
        "store_unknown_database",
        "make it (createdb), or name another in the database URL",
    ),
    (
        r"invalid connection option|for connection option|bad value for|invalid sslmode|invalid port",
        "bad_connection_option",
        "correct the options after '?' in the database URL",
    ),
    (
        r"connection|server closed|terminating|resolve host|translate host|timeout expired",
        "store_unreachable",
        "check the server and the database URL, then try again",
    ),
)

_STATES: tuple[tuple[str, str, str], ...] = (
    (
        r"55P03|40001|40P01",
        "store_locked",
        "another process holds the database; try again, or raise lock_timeout_seconds",
    ),
    (r"57014", "store_timeout", "try again, or raise the statement_timeout that the server has for this role"),
    (r"53100", "disk_full", "free some space on the server; nothing of this write was kept"),
    (
        r"53300",
        "store_unreachable",
        "no connection is free: close other books, or raise the server's max_connections",
    ),
    (
        r"53...",
        "store_exhausted",
        "the server is out of memory or of another resource: give it more, or end other work there, then try again",
    ),
    (r"25006", "store_read_only", "connect to the primary server, or open with read_only=True"),
    (r"42501", "store_forbidden", "let the role read and write this schema, or open with read_only=True"),
    (r"3D000", "store_unknown_database", "make it (createdb), or name another in the database URL"),
    (r"28...", "store_login_refused", "check user and password in the database URL, and what the server lets in"),
    (r"XX00[12]", "store_corrupt", "run 'minutebook verify' and restore a backup"),
    (r"58030", "store_io_error", "check the disk of the server; the last write is in doubt until re-opened"),
    (
        r"25P0[34]",
        "store_unreachable",
        "try again, or raise the idle_in_transaction_session_timeout or transaction_timeout of the server",
    ),
    (r"08...|57P0.", "store_unreachable", "check the server, then try again"),
)

_NO_SUCH_VALUE = re.compile(r"22003|22021|22P05|.*cannot contain NUL.*")
"""Beyond 64 bits, NUL, or no UTF-8: states, and what psycopg says before the server is asked."""

_PASSWORD = re.compile(r"(://[^\s:/@]*:)[^\s@]*@|(\bpassword\s*=\s*)\S+", re.IGNORECASE)


@contextmanager
def guard() -> Iterator[None]:
    """Turns what a driver says into a StoreError with a stable code and the mend."""
    try:
        yield
    except MinutebookError:
        raise
    except (OverflowError, UnicodeEncodeError) as error:
        # A number beyond 64 bits or half a surrogate pair, before the database has seen it.
        raise _no_such_value(error) from error
    except UnicodeDecodeError as error:
        # A text, or the name in what SQLite says of a damaged schema, is none: neither is an error of the driver.
        raise StoreError(
            f"the database holds a text that is none ({error}): run 'minutebook verify' and restore a backup",
            code="store_corrupt",
        ) from error
    except Exception as error:
        if of_driver(error):
            raise translate(error) from error
        raise


def of_driver(error: BaseException) -> bool:
    """Whether a driver, or SQLAlchemy for it, says so; psycopg is an extra, and so known by its name only."""
    return isinstance(error, sqlite3.Error | SQLAlchemyError) or type(error).__module__.startswith("psycopg")


def sqlstate(error: BaseException | None) -> str | None:
    """The SQLSTATE of what a driver says, or of what SQLAlchemy says for it."""
    state: str | None = getattr(getattr(error, "orig", None) or error, "sqlstate", None)
    return state


def translate(error: BaseException) -> MinutebookError:
    """The error that leaves minutebook for one of a driver."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OverflowError | UnicodeEncodeError):
        return _no_such_value(cause)
    said = hide_password(str(cause)).strip().splitlines()
    text = said[0] if said else type(cause).__name__
    state = sqlstate(error)
    if _NO_SUCH_VALUE.fullmatch(state or text):
        return _no_such_value(cause)
    # Without a state it is SQLite, or PostgreSQL before there was a session: words are all there is.
    # All of them: where a URL names several servers, each has said something.
    value, table = (state, _STATES) if state else ("\n".join(said) or text, _MENDS)
    for pattern, code, mend in table:
        if re.search(pattern, value, re.IGNORECASE):
            return StoreError(f"{text}: {mend}", code=code)
    return StoreError(f"the database refused: {text}; run 'minutebook verify'", code="store_error")


def hide_password(text: str) -> str:
    """The text without what stands in it as the password of a URL or of connection options."""
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}***{'@' if found[1] else ''}", text)


def _no_such_value(error: BaseException) -> InputError:
    return InputError(f"nothing in a book has such a number or name: {error}", code="bad_value")
