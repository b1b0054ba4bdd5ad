"""An exported log into an empty store: all of it, checked line by line, or nothing (E4, E7)."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, Protocol
from uuid import UUID

from sqlalchemy import Connection

from ...domain.errors import InputError, StoreError
from .export import FORMAT, VERSION
from .log import Head, Log
from .verification import Fault, Tombstones, Walk, check_streams

LINE_BYTES_MAX = 1 << 30
"""More than the largest event can take: a line without an end is refused before it fills the memory."""
PAGE_EVENTS, PAGE_BYTES = 1_000, 8 << 20
"""Rows inserted at a time."""

_COLUMNS = ("position", "stream", "version", "topic", "schema", "workspace", "session", "run", "actor", "trust",
            "causation", "time", "facts", "payload", "salt", "body_digest", "chain")  # fmt: skip
_KEYS = frozenset({*_COLUMNS, "erased_by"})
_TYPES = ("int8", "uuid", "int8", "text", "int4", "text", "text", "text", "text", "text",
          "int8", "text", "bytea", "bytea", "bytea", "bytea", "bytea")  # fmt: skip
UNIQUE_VIOLATION = "23505"
"""SQLSTATE of PostgreSQL."""


class Lines(Protocol):
    """A file, as far as it is needed."""

    def readline(self, size: int, /) -> bytes: ...


def load(log: Log, lines: Lines) -> Head:
    """Fills an empty store in one transaction; returns the head, which is the one that the export names.

    Raises StoreError ``store_not_empty``, InputError ``not_an_export``, ``export_newer`` or ``export_damaged`` (with
    ``line``); then the store is empty as before.
    """
    reading = _Reading(lines, log.database.sqlite)
    wanted = reading.header()
    database = log.database
    with database.writer() as writer:
        connection: Any = writer.connection.driver_connection
        connection.execute("BEGIN IMMEDIATE" if database.sqlite else "BEGIN")
        try:
            _require_empty(connection, database.sqlite)
            insert = _insert_sqlite if database.sqlite else _insert_postgres
            for page in reading.pages():
                with _proving():
                    insert(connection, page)
            reading.compare(wanted)
            _name_erased(connection, reading.erased, database.sqlite)
            _check_streams(writer)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction if database.sqlite else not connection.closed:
                connection.execute("ROLLBACK")
            raise
    if database.sqlite:
        log.scrub()  # The whole log went through the write-ahead log, which would stay as long as that.
    return wanted


def check(lines: Lines) -> Head:
    """Reads an export to its end and proves each line of it. Raises InputError as ``load``."""
    reading = _Reading(lines, True)
    wanted = reading.header()
    for _ in reading.pages():
        pass
    reading.compare(wanted)
    return wanted


def head_of(path: Path) -> Head:
    """The head that the first line of an export names."""
    with path.open("rb") as lines:
        return _Reading(lines, True).header()


def fill_postgres(connection: Connection, path: Path) -> None:
    """Fills a fresh store in the transaction that is open. Raises as ``load``."""
    with path.open("rb") as lines:
        reading = _Reading(lines, False)
        wanted = reading.header()
        raw: Any = connection.connection.driver_connection
        for page in reading.pages():
            with _proving():
                _insert_postgres(raw, page)
        reading.compare(wanted)
        _name_erased(raw, reading.erased, False)
        _check_streams(connection)


def _require_empty(connection: Any, sqlite: bool) -> None:
    statement = "SELECT last_id FROM log_head WHERE k = 1"
    head = connection.execute(statement if sqlite else f"{statement} FOR UPDATE").fetchone()[0]
    if head:
        raise StoreError(
            f"this book has {head:,} events already, and an exported log goes into an empty one only; name another "
            "folder with --workspace, or another database",
            code="store_not_empty",
            head=head,
        )


# --- reading


class _Reading:
    """The lines as rows, each proved by the chain before it is given out."""

    def __init__(self, lines: Lines, sqlite: bool) -> None:
        self.erased: list[tuple[int, int]] = []
        self._lines = lines
        self._sqlite = sqlite
        # The rows are checked in the form in which SQLite gives them, whichever database takes them.
        self._walk = Walk(True)
        self._line = 0
        self._size = 0

    def header(self) -> Head:
        line = self._next()
        try:
            value = json.loads(line.decode(), object_pairs_hook=_object)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise InputError(
                "this is no exported log: its first line does not name the format; name what "
                "'minutebook export --log' wrote",
                code="not_an_export",
            )
        version, head, chain = value.get("version"), value.get("head"), value.get("chain")
        if type(version) is int and version > VERSION:
            raise InputError(
                f"the export has version {version} and was written by a newer minutebook (this one knows {VERSION}); "
                "upgrade minutebook",
                code="export_newer",
                found=version,
                known=VERSION,
            )
        if type(version) is not int or version != VERSION:
            raise self._damaged(f"the form has version {version!r}, and there is only {VERSION}")
        if value.keys() != {"format", "version", "head", "chain"} or type(head) is not int or not 0 <= head < 1 << 63:
            raise self._damaged("the first line has not the keys of a header")
        try:
            wanted = Head(head, _bytes(chain, 32))
        except (TypeError, ValueError) as error:
            raise self._damaged("the first line has no chain of 64 digits") from error
        self._head = head
        self._tombstones = Tombstones(head)
        return wanted

    def pages(self) -> Iterator[list[tuple[Any, ...]]]:
        """Rows, a page at a time."""
        page: list[tuple[Any, ...]] = []
        size = 0
        while line := self._next():
            page.append(self._row(line))
            size += len(line)
            if len(page) == PAGE_EVENTS or size >= PAGE_BYTES:
                yield page
                page, size = [], 0
        if page:
            yield page

    def compare(self, wanted: Head) -> None:
        """After the last line."""
        try:
            self._walk.compare(wanted.position, wanted.chain)
        except Fault as fault:
            raise self._damaged(fault.detail) from fault

    def _next(self) -> bytes:
        line = self._lines.readline(LINE_BYTES_MAX)
        self._line += 1
        if len(line) == LINE_BYTES_MAX:
            raise self._damaged(f"the line is longer than {LINE_BYTES_MAX:,} bytes")
        return line

    def _row(self, line: bytes) -> tuple[Any, ...]:
        try:
            value = json.loads(line.decode(), object_pairs_hook=_object, parse_constant=_no_number)
            row, erased_by = _columns(value)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            cut = "" if line.endswith(b"\n") else "; the file ends within it"
            raise self._damaged(f"the line is no event{cut}") from error
        position = row[0]
        if position > self._head:
            raise self._damaged(f"event {position} stands after the head, which the first line says is {self._head}")
        try:
            if erased_by is not None:
                self._tombstones.name(position, erased_by)
                self._walk.erased = {position: erased_by}
                self.erased.append((position, erased_by))
            self._walk.take(row)
            # Whoever is named stands before the head: none can be left waiting at the end.
            self._tombstones.meet(position, row[3], row[4], row[10], row[12])
        except Fault as fault:
            raise self._damaged(fault.detail) from fault
        except UnicodeEncodeError as error:
            raise self._damaged("a text holds half of a surrogate pair") from error
        if self._sqlite:
            return row
        facts, payload = row[12], row[13]
        if type(facts) is str:
            facts = facts.encode()
        return (position, UUID(bytes=row[1]), *row[2:12], facts, payload and payload.encode(), *row[14:])

    def _damaged(self, what: str) -> InputError:
        return InputError(
            f"line {self._line} of the export does not fit: {what}; nothing was imported; take another copy of "
            "the file, or export again",
            code="export_damaged",
            line=self._line,
        )


def _columns(value: dict[str, Any]) -> tuple[tuple[Any, ...], int | None]:
    """A line as the row that it was, and what erased it. Raises ValueError, TypeError."""
    if value.keys() != _KEYS:
        raise ValueError("other keys")
    facts, erased_by = value["facts"], value["erased_by"]
    if value["schema"] is None:
        # Of another application: SQLite keeps its facts as bytes.
        facts = base64.b64decode(facts["base64"], validate=True) if type(facts) is dict else facts.encode()
    if not (erased_by is None or type(erased_by) is int) or type(value["position"]) is not int:
        raise TypeError("no position")
    for name in ("position", "version", "schema", "causation"):
        if type(value[name]) is int and not -(1 << 63) <= value[name] < 1 << 63:
            raise ValueError("beyond 64 bits")
    return (
        value["position"],
        _bytes(value["stream"].replace("-", ""), 16),
        *(value[name] for name in _COLUMNS[2:12]),
        facts,
        value["payload"],
        None if value["salt"] is None else _bytes(value["salt"]),
        None if value["body_digest"] is None else _bytes(value["body_digest"], 32),
        _bytes(value["chain"], 32),
    ), erased_by


def _bytes(text: Any, size: int | None = None) -> bytes:
    value = bytes.fromhex(text)
    # Back again, since spaces and capitals would be let through.
    if value.hex() != text or (size is not None and len(value) != size):
        raise ValueError("no hex digits")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


# --- writing


def _insert_sqlite(connection: Any, page: list[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(_COLUMNS))})", page)  # noqa: S608


def _insert_postgres(connection: Any, page: list[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(
        f"COPY events ({', '.join(_COLUMNS)}) FROM STDIN WITH (FORMAT BINARY)"
    ) as copy:  # fmt: skip
        copy.set_types(_TYPES)
        for row in page:
            copy.write_row(row)


def _name_erased(connection: Any, erased: list[tuple[int, int]], sqlite: bool) -> None:
    place = "?" if sqlite else "%s"
    cursor = connection.cursor()
    try:
        cursor.executemany(f"INSERT INTO erased VALUES ({place}, {place})", erased)  # noqa: S608
    finally:
        cursor.close()


def _check_streams(writer: Connection) -> None:
    try:
        check_streams(writer)
    except Fault as fault:
        raise _forged(fault.detail) from fault


@contextmanager
def _proving() -> Iterator[None]:
    """What the guards of the log refuse is no fault of the database: the file says what no log can have said."""
    try:
        yield
    except Exception as error:
        if isinstance(error, sqlite3.IntegrityError) or getattr(error, "sqlstate", None) == UNIQUE_VIOLATION:
            raise _forged("two events claim the same version of a stream") from error
        raise


def _forged(what: str) -> InputError:
    return InputError(
        f"the export does not fit: {what}; nothing was imported; export again from the book itself",
        code="export_damaged",
    )
