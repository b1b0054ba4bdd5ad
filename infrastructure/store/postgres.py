"""The log on PostgreSQL: one function call appends a batch, computes the chain and checks expectations (S1)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection
from sqlalchemy.schema import CreateIndex, CreateTable

from ...domain.chain import GENESIS, next_chain
from ...domain.errors import StoreError, StreamConflict
from .database import Database
from .failpoints import failpoint
from .faults import guard, of_driver, sqlstate
from .mapper import EnvelopedEvent
from .postgres_guards import APPEND, GUARDS, MOVED_ON
from .rows import conflict, digest_of, overtaken
from .schema import metadata
from .version import SCHEMA_VERSION, check_version

T = TypeVar("T")

SCHEMA_LOCK = 0x6D626F6B_0001
_UNIQUE_VIOLATION = "23505"
_TAKEN_BACK = frozenset({"40001", "40P01"})
"""A serialization failure, a deadlock."""
_PAUSES = (0.02, 0.1, 0.3)
"""Seconds between tries to reach a server that went away."""


def prepare_postgres(database: Database) -> None:
    """Creates the schema under an advisory lock, or checks its version. Raises as ``schema.prepare``.

    A reader creates nothing: it goes on with an empty book in memory, as it does where a file is absent.
    """
    with guard(), database.views.connect() as connection:
        version = schema_version(connection)
    if version is not None:
        check_version(version)
        return
    if database.access != "write":
        database.become_empty()
        return
    with guard(), database.views.begin() as connection:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        # Another process may have been first while this one waited for the lock.
        version = schema_version(connection)
        if version is not None:
            check_version(version)
            return
        create(connection)
        failpoint("start.creating")
    failpoint("start.created")


def schema_version(connection: Connection) -> int | None:
    """The schema version; None where nothing of ours is. Raises StoreError ``not_a_book``."""
    found = connection.exec_driver_sql(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    )
    names = set(found.scalars())
    if "store_schema" in names:
        version: int | None = connection.exec_driver_sql("SELECT max(version) FROM store_schema").scalar()
        if version is not None:
            return version
    if names & set(metadata.tables):
        raise StoreError(
            "this PostgreSQL schema has tables of another program under the names that minutebook uses "
            f"({', '.join(sorted(names & set(metadata.tables)))}); use another database, or another schema by "
            "'?options=-csearch_path=NAME' in the URL (this one was left untouched)",
            code="not_a_book",
        )
    return None


def create(connection: Connection) -> None:
    """Tables, guards and the first head row, where nothing of ours is."""
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            f"this PostgreSQL database has the encoding {encoding} and cannot hold every text; make one with "
            "createdb --encoding=UTF8 --template=template0",
            code="store_not_utf8",
        )
    run, dialect = connection.exec_driver_sql, connection.dialect
    for table in metadata.sorted_tables:
        run(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            run(str(CreateIndex(index).compile(dialect=dialect)))
    run("INSERT INTO log_head VALUES (1, 0, %s)", (GENESIS,))
    for statement in (APPEND, *GUARDS):
        run(statement)
    run("INSERT INTO store_schema VALUES (%s)", (SCHEMA_VERSION,))


# Binary parameters: a bytea in text form is twice its size. They have no NULL here, because a list of nothing
# but NULLs has no type of its own on the wire: an empty string stands for it, which no payload can be.
_CALL = """SELECT minutebook_append(
    %s::uuid[], %s::bigint[],
    %s::uuid[], %s::bigint[], %s::text[], %s::integer[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
    %s::bigint[], %s::text[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[])"""


_HINT = "SELECT pg_notify('minutebook', %s)"


def append_postgres(
    database: Database,
    stored: Sequence[StoredEvent],
    expects: Sequence[tuple[UUID, int]],
    within: Callable[[Connection, list[int]], None] | None,
) -> list[int]:
    """Appends in one round trip; with ``within`` in one transaction around both. As ``Log.append``.

    A connection that is lost on the way leaves it open whether the server has committed. The log says: the events
    are in it under the very chain that they would have got, or they are said again. That goes on for as long as a
    writer waits for another (``lock_timeout_seconds``), so that a restart of the server is not noticed by the caller.
    """
    deadline = time.monotonic() + database.lock_timeout
    pauses = itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1]))
    doubt, conflict = False, None
    while True:
        try:
            if doubt and (kept := _kept(database, stored)):
                return kept
            if conflict is None:
                return _append(database, stored, expects, within)
        except StreamConflict as error:
            if not doubt:
                raise
            conflict = error  # perhaps with ourselves: the server may still have been at it when we looked
            continue
        except StoreError as error:
            # A read-only server that was none before is one that another took over from.
            moved = error.code == "store_read_only" and (doubt or database.written)
            lost = error.code == "store_unreachable"
            if time.monotonic() >= deadline or not (lost or moved or _undone(error)):
                raise _in_doubt(error) if doubt or lost else error from error
            doubt = doubt or lost
            time.sleep(next(pauses))
            continue
        raise conflict


def patiently(database: Database, act: Callable[[], T]) -> T:
    """Does what can be done again while the server is away, for as long as an append would try."""
    deadline = time.monotonic() + database.lock_timeout
    pauses = itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1]))
    while True:
        try:
            return act()
        except StoreError as error:
            if error.code != "store_unreachable" or time.monotonic() >= deadline:
                raise
            time.sleep(next(pauses))


def _undone(error: StoreError) -> bool:
    """Whether the server took the transaction back by itself, in favour of another: said again, it may go through."""
    return sqlstate(error.__cause__) in _TAKEN_BACK


def _in_doubt(error: StoreError) -> StoreError:
    return StoreError(
        f"{error.message}; whether the last append was kept is open: the same again, under the same id, settles it, "
        "and nothing is stored twice",
        code=error.code,
    )


def _kept(database: Database, stored: Sequence[StoredEvent]) -> list[int]:
    """The positions of these very events, when they are in the log already; one transaction brought all or none."""
    if not stored:
        return []
    first = stored[0]
    with database.reading() as connection:
        row = connection.exec_driver_sql(
            "SELECT e.position, e.chain, p.chain FROM events e LEFT JOIN events p ON p.position = e.position - 1 "
            "WHERE e.stream = %s AND e.version = %s",
            (first.originator_id, first.originator_version),
        ).one_or_none()
    if row is None:
        return []
    position, chain, before = row
    if next_chain(GENESIS if before is None else bytes(before), position, digest_of(first)) != bytes(chain):
        return []  # another writer's event
    return list(range(position, position + len(stored)))


def _append(
    database: Database,
    stored: Sequence[StoredEvent],
    expects: Sequence[tuple[UUID, int]],
    within: Callable[[Connection, list[int]], None] | None,
) -> list[int]:
    arguments = [
        [stream for stream, _ in expects],
        [version for _, version in expects],
        *([list(column) for column in zip(*map(_columns, stored), strict=True)] or [[] for _ in range(16)]),
    ]
    with database.writer() as writer:
        # The writer's connection commits by itself, so a lone call needs no BEGIN and no COMMIT.
        connection: Any = writer.connection.driver_connection
        try:
            if within is None:
                failpoint("append.begun")
                positions = _positions(connection.execute(_CALL, arguments), stored)
                _hint(connection, positions)
                return positions
            connection.execute("BEGIN")
            try:
                failpoint("append.begun")
                positions = _positions(connection.execute(_CALL, arguments), stored)
                failpoint("append.inserted")
                within(writer, positions)
                failpoint("append.commit")
                connection.execute("COMMIT")
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
        except Exception as error:
            match getattr(error, "sqlstate", None):
                case state if state == MOVED_ON:
                    stream, wanted, found = error.diag.message_detail.split()  # type: ignore[attr-defined]
                    raise conflict(UUID(stream), int(wanted), int(found)) from error
                case state if state == _UNIQUE_VIOLATION:
                    raise overtaken() from error
            raise
        _hint(connection, positions)
        return positions


def _hint(connection: Any, positions: list[int]) -> None:
    """Tells who listens that there is something new: it may shorten a wait, and is never the truth.

    In a transaction of its own, which writes nothing and so waits for no disk. What has been appended stays so,
    whether anybody can be told or not.
    """
    if positions:
        try:
            connection.execute(_HINT, [str(positions[-1])], prepare=True)
        except Exception as error:
            if not of_driver(error):
                raise


def _positions(answer: Any, stored: Sequence[StoredEvent]) -> list[int]:
    base: int = answer.fetchone()[0]
    return list(range(base + 1, base + 1 + len(stored)))


def _columns(event: Any) -> tuple[Any, ...]:
    head = (event.originator_id, event.originator_version, event.topic)
    if not isinstance(event, EnvelopedEvent):
        return (*head, *(None,) * 8, event.state, b"", b"", b"", digest_of(event))
    envelope = event.envelope
    return (
        *head,
        event.schema,
        envelope.workspace,
        envelope.session,
        envelope.run,
        envelope.actor,
        envelope.trust,
        envelope.causation,
        event.time,
        event.state,
        event.payload or b"",
        event.salt or b"",
        event.body_digest or b"",
        digest_of(event),
    )
