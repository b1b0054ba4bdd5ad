"""Is the log what was appended? Every link, digest and row is computed again and compared (E1).

What this can see: a changed, missing, added or moved row, a payload that is not the one that was recorded or that no
event erased, a head that does not fit, damaged pages, guards that were taken away. What it cannot: a tail that was cut
off together with a head rewritten to fit; keep ``head`` and ``chain`` of a report outside to notice that.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain as chained
from typing import Any
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from ...domain.catalogue import PayloadsErased, RelearningAllowed
from ...domain.chain import GENESIS, columns_digest, next_chain
from ...domain.errors import MinutebookError, StoreError
from ...domain.events import TOPICS, parse
from .database import Database
from .guards import missing_guards
from .log import Log
from .proof import FIRST, pass_over
from .rows import POSTGRES_COLUMNS, foreign_digest

# SQLite's own types matter: a text that became a blob has the same bytes and is damage all the same.
_RAW = POSTGRES_COLUMNS
_PROBES = 4
LOOK = 500
"""Rows that are looked at closely where one is not evidently right, before the short cut is tried again."""


@dataclass(frozen=True, slots=True)
class LogReport:
    """What ``verify_log`` found.

    ``events`` were read and are good; ``head`` and ``chain`` (hex) are what the head row says. ``first_bad`` is the
    first position that is wrong or missing, None where damage touches no event (an index, a guard). ``erased`` are
    the positions of tombstones, ``unknown`` counts events whose topic or version this code does not know.
    """

    ok: bool
    events: int
    head: int
    first_bad: int | None
    detail: str
    chain: str = ""
    erased: tuple[int, ...] = ()
    unknown: int = 0


class Fault(Exception):
    def __init__(self, position: int | None, detail: str) -> None:
        super().__init__(detail)
        self.position = position
        self.detail = detail


def verify_log(log: Log, *, deep: bool = True, guards: bool = True) -> LogReport:
    """Checks the whole log in one snapshot; memory does not grow with it. Raises StoreError when it cannot be read.

    ``deep`` lets SQLite compare every index with its table; without it only the pages are checked.
    ``guards`` is off for a store of another schema, whose guards are not today's.
    """
    walk = Walk(log.database.sqlite)
    head, link, detail, bad = 0, b"", "", None
    with _Pages(log.database, deep) as pages, log.database.reading() as connection:
        try:
            head, link = head_row(connection)
            walk.erased = erased_rows(connection)
            _walk(connection, walk)
            walk.compare(head, link)
            _compare_erased(connection, walk.erased, head)
            check_streams(connection)
            pages.compare(connection)
            for fault in missing_guards(connection, log.database.sqlite) if guards else ():
                raise Fault(None, fault)
        except Fault as fault:
            bad, detail = fault.position, fault.detail
        except (sqlite3.Error, DBAPIError) as error:
            # Outside of the walk: a damaged index or table that is not the events.
            detail = f"the database cannot be read in full: {getattr(error, 'orig', None) or error}"
    tombstones = tuple(sorted(position for position in walk.erased if position <= walk.position))
    return LogReport(
        not detail, walk.position, head, bad, detail or "the chain holds", link.hex(), tombstones, walk.unknown
    )


class Walk:
    """The state of one pass over the rows: where it is, and the chain there."""

    def __init__(self, sqlite: bool) -> None:
        self.position = 0
        self.chain = GENESIS
        self.unknown = 0
        self.erased: dict[int, int] = {}
        self._shapes: set[tuple[type, ...]] = set()
        self._stream = bytes if sqlite else UUID
        self._json = str if sqlite else bytes

    def take(self, row: Any) -> None:
        """Checks the next row. Raises Fault."""
        (position, stream, version, topic, schema, workspace, session, run, actor, trust, cause, time, facts, payload,
         salt, body, link) = row  # fmt: skip
        wanted = self.position + 1
        if position != wanted:
            raise Fault(wanted, f"event {wanted} is missing" if position > wanted else f"event {position} is misplaced")
        shape = tuple(map(type, row))
        if shape not in self._shapes:
            self._check_shape(wanted, shape)
            self._shapes.add(shape)
        if type(stream) is UUID:
            stream = stream.bytes
        if type(facts) is str:
            facts = facts.encode()
        if schema is None:
            digest = foreign_digest(stream, version, topic, facts)
        else:
            digest = columns_digest(
                stream, version, topic, schema, workspace, session, run, actor, trust, cause, time, facts, body
            )
        self.chain = next_chain(self.chain, wanted, digest)
        if self.chain != link:
            raise Fault(wanted, f"event {wanted} is not what was appended: its link of the chain does not fit")
        if body is not None and payload is not None and salt is not None and wanted not in self.erased:
            if sha256(salt + (payload.encode() if type(payload) is str else payload)).digest() != body:
                raise Fault(wanted, f"the payload of event {wanted} is not what was appended")
        elif body is not None or payload is not None or salt is not None or wanted in self.erased:
            self._check_gone(wanted, payload, salt, body)
        if schema is not None:
            known = TOPICS.get(topic)
            if known is None or schema > known.class_version:
                self.unknown += 1
            elif schema < known.class_version:
                self._check_facts(wanted, topic, schema, facts)
            else:
                try:
                    known.__pydantic_validator__.validate_json(facts)
                except ValueError:
                    self._check_facts(wanted, topic, schema, facts)
        self.position = wanted

    def compare(self, head: int, link: bytes) -> None:
        """The head row against the last event. Raises Fault."""
        if head > self.position:
            raise Fault(self.position + 1, f"events {self.position + 1} to {head} are missing: the head names them")
        if head < self.position:
            raise Fault(head + 1, f"event {head + 1} stands after the head, which names {head}")
        if link != self.chain:
            raise Fault(head, f"the head's chain is not that of event {head}")

    def _check_shape(self, position: int, shape: tuple[type, ...]) -> None:
        none = type(None)
        wanted: tuple[tuple[type, ...], ...]
        if shape[4] is none:
            wanted = ((int,), (self._stream,), (int,), (str,), *((none,),) * 8, (bytes,), *((none,),) * 3, (bytes,))
        else:
            wanted = (
                *((int,), (self._stream,), (int,), (str,), (int,), (str,), (str, none), (str, none), (str,), (str,)),
                *((int, none), (str,), (self._json,), (self._json, none), (bytes, none), (bytes, none), (bytes,)),
            )
        if any(found not in allowed for found, allowed in zip(shape, wanted, strict=True)):
            raise Fault(position, f"event {position} has a column of another type than was appended")

    def _check_gone(self, position: int, payload: Any, salt: bytes | None, body: bytes | None) -> None:
        if body is None:
            raise Fault(position, f"event {position} has a payload, or an erasure, that was not appended with it")
        if payload is not None and position in self.erased:
            raise Fault(position, f"event {position} is named as erased, but its payload is still there")
        if payload is not None:
            raise Fault(position, f"the payload of event {position} has lost its salt")
        if salt is not None or position not in self.erased:
            raise Fault(position, f"the payload of event {position} is gone and no erasure names it")

    def _check_facts(self, position: int, topic: str, schema: int, facts: bytes) -> None:
        try:
            parse(topic, schema, facts, f"event {position}")
        except StoreError as error:
            raise Fault(position, error.message) from error


def _walk(connection: Connection, walk: Walk) -> None:
    more = True
    while more:
        pass_over(connection, walk)
        more = _look(connection, walk)


def _look(connection: Connection, walk: Walk) -> bool:
    """Looks closely at the next rows; False: there are no more. Raises Fault."""
    rows = raw_rows(connection, walk, LOOK)
    count = 0
    try:
        for row in rows:
            walk.take(row)
            count += 1
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # The driver reads one row ahead, so the damage may lie one row further: go on one by one.
        for _ in range(_PROBES):
            try:
                found = connection.exec_driver_sql(
                    f"SELECT {_RAW} FROM events WHERE position = {walk.position + 1}"  # noqa: S608 - a number
                ).one_or_none()
            except (DBAPIError, UnicodeDecodeError):
                break
            if found is None:
                break
            walk.take(tuple(found))
        wanted = walk.position + 1
        raise Fault(wanted, f"event {wanted} cannot be read: {str(error).splitlines()[0][:200]}") from error
    return count == LOOK


def raw_rows(connection: Connection, walk: Walk, limit: int | None = None) -> Iterator[Any]:
    """The rows after the walk's position as the database holds them, at most so many."""
    after = walk.position or FIRST
    tail = "" if limit is None else f" LIMIT {limit}"
    statement = f"SELECT {_RAW} FROM events WHERE position > {after} ORDER BY position{tail}"  # noqa: S608 - numbers
    raw: Any = connection.connection
    if walk._stream is bytes:
        cursor = raw.cursor()
        try:
            yield from cursor.execute(statement)
        finally:
            cursor.close()
        return
    # A cursor on the server: the client would otherwise hold the whole log.
    with raw.cursor("minutebook_verify", binary=True) as cursor:
        cursor.itersize = 2_000
        cursor.execute(statement)
        yield from cursor


def head_row(connection: Connection) -> tuple[int, bytes]:
    rows = connection.exec_driver_sql("SELECT k, last_id, chain_hash FROM log_head").all()
    if len(rows) != 1 or rows[0][0] != 1 or type(rows[0][1]) is not int or type(rows[0][2]) is not bytes:
        raise Fault(None, "the head row is not one row with a position and a chain")
    return rows[0][1], rows[0][2]


def erased_rows(connection: Connection) -> dict[int, int]:
    rows = connection.exec_driver_sql("SELECT position, by_position FROM erased").all()
    return {position: by_position for position, by_position in rows}  # noqa: C416 - rows are no pairs to mypy


class Tombstones:
    """Payloads that are named as erased, each until the event comes by that is said to have erased it."""

    def __init__(self, head: int) -> None:
        self._head = head
        self._waiting: dict[int, list[int]] = {}

    def name(self, position: Any, by_position: Any) -> None:
        """Raises Fault where no event can have done it."""
        if not all(type(value) is int and 0 < value <= self._head for value in (position, by_position)):
            raise Fault(None, f"an erasure names {position!r} by {by_position!r}, and the log ends at {self._head}")
        if by_position <= position:
            raise _not_erased(position, by_position)
        self._waiting.setdefault(by_position, []).append(position)

    def meet(self, at: int, topic: str, schema: int | None, cause: int | None, facts: str | bytes) -> None:
        """The next event: did it erase what names it? Raises Fault."""
        if at not in self._waiting:
            return
        spans, reach = _said_erased(topic, schema, cause, facts), 0
        for position in sorted(self._waiting.pop(at)):
            while spans and spans[-1][0] <= position:
                reach = max(reach, spans.pop()[1])
            if position > reach:
                raise _not_erased(position, at)

    def end(self) -> None:
        """After the last event that can have erased anything. Raises Fault."""
        for by_position, positions in sorted(self._waiting.items()):
            raise _not_erased(min(positions), by_position)


def _said_erased(topic: str, schema: int | None, cause: int | None, facts: str | bytes) -> list[tuple[int, int]]:
    """The spans that an event erased, the last one first: its own, or the block that it lifted."""
    if topic == RelearningAllowed.TOPIC and cause is not None:
        return [(cause, cause)]
    if topic != PayloadsErased.TOPIC or schema is None:
        return []
    try:
        spans = [(first, last) for first, last in json.loads(facts)["spans"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    return sorted(spans, reverse=True) if all(type(each) is int for each in chained.from_iterable(spans)) else []


def _not_erased(position: int, by_position: int) -> Fault:
    return Fault(position, f"event {position} is named as erased by event {by_position}, which did not erase it")


def _compare_erased(connection: Connection, erased: dict[int, int], head: int) -> None:
    tombstones = Tombstones(head)
    for position, by_position in erased.items():
        tombstones.name(position, by_position)
    for row in connection.exec_driver_sql(
        "SELECT position, topic, schema, causation, facts FROM events WHERE topic IN "
        "('PayloadsErased', 'RelearningAllowed') AND position IN (SELECT by_position FROM erased)"
    ):
        tombstones.meet(*row)
    tombstones.end()


def check_streams(connection: Connection) -> None:
    # Most streams have one event, so this looks at few rows; versions of foreign streams may begin at 0.
    found = connection.exec_driver_sql(
        "SELECT min(e.position) FROM events e WHERE e.version < 0 OR (e.version > 1 AND NOT EXISTS "
        "(SELECT 1 FROM events p WHERE p.stream = e.stream AND p.version = e.version - 1 AND p.position < e.position))"
    ).scalar()
    if found is not None:
        raise Fault(found, f"event {found} does not follow the version before it in its stream")


class _Pages:
    """SQLite's own look at every page and index, in a thread beside the walk: it is one long call that needs no Python.

    Where the database is in memory, or a server's, nothing runs beside; a server has no such look.
    """

    def __init__(self, database: Database, deep: bool) -> None:
        self._database = database
        self._statement = f"PRAGMA {'integrity_check' if deep else 'quick_check'}(1)"
        self._driver: Any = None
        self._lock = threading.Lock()
        self._said: str | MinutebookError = "nothing was looked at" if database.sqlite else "ok"
        self._thread: threading.Thread | None = None
        if database.sqlite and database.path is not None:
            self._thread = threading.Thread(target=self._look, name="minutebook-pages", daemon=True)
            self._thread.start()

    def compare(self, connection: Connection) -> None:
        """Waits for what it says. Raises Fault."""
        if self._thread is not None:
            self._thread.join()
        elif self._database.sqlite:
            self._said = self._ask(connection)
        if isinstance(self._said, MinutebookError):
            raise Fault(None, f"the database cannot be read in full: {self._said.message}")
        if self._said != "ok":
            named = re.search(
                r"row (\d+) missing from index events_|row (\d+) missing from index sqlite_autoindex_events", self._said
            )
            position = int(next(filter(None, named.groups()))) if named else None
            raise Fault(position, f"SQLite finds damage: {self._said.splitlines()[0]}")

    def __enter__(self) -> _Pages:
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody asks any more: breaks off what still runs."""
        while self._thread is not None and self._thread.is_alive():
            with self._lock:
                if self._driver is not None:
                    self._driver.interrupt()
            self._thread.join(0.05)

    def _look(self) -> None:
        try:
            with self._database.reading() as connection:
                with self._lock:
                    self._driver = connection.connection.driver_connection
                try:
                    self._said = self._ask(connection)
                finally:
                    with self._lock:
                        self._driver = None
        except MinutebookError as error:
            self._said = error

    def _ask(self, connection: Connection) -> str:
        rows = connection.exec_driver_sql(self._statement).all()
        return " ".join(map(str, chained.from_iterable(rows)))
