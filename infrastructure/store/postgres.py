"""The log on PostgreSQL: one function call appends a batch, computes the chain and checks expectations (S1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from ...domain.chain import GENESIS
from ...domain.errors import StoreError
from .database import Database, guard
from .mapper import EnvelopedEvent
from .postgres_guards import APPEND, GUARDS, MOVED_ON
from .rows import conflict, digest_of, overtaken
from .schema import SCHEMA_VERSION, check_version, metadata

_SCHEMA_LOCK = 0x6D626F6B_0001
_UNIQUE_VIOLATION = "23505"


def prepare_postgres(database: Database) -> None:
    """Creates the schema under an advisory lock, or checks its version. Raises as ``schema.prepare``."""
    with guard(), database.views.connect() as connection:
        version = _version(connection)
    if version is not None:
        check_version(version)
        return
    if database.access != "write":
        raise StoreError(
            "the database holds no book yet; run 'minutebook init' or 'minutebook import'", code="not_a_book"
        )
    with guard(), database.views.begin() as connection:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
        # Another process may have been first while this one waited for the lock.
        version = _version(connection)
        if version is not None:
            check_version(version)
            return
        _create(connection)


def _version(connection: Connection) -> int | None:
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


def _create(connection: Connection) -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    run = connection.exec_driver_sql
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


def append_postgres(
    database: Database,
    stored: Sequence[StoredEvent],
    expects: Sequence[tuple[UUID, int]],
    within: Callable[[Connection, list[int]], None] | None,
) -> list[int]:
    """Appends in one round trip; with ``within`` in one transaction around both. As ``Log.append``."""
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
                return _positions(connection.execute(_CALL, arguments), stored)
            connection.execute("BEGIN")
            try:
                positions = _positions(connection.execute(_CALL, arguments), stored)
                within(writer, positions)
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
        return positions


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
