"""Tables and guards of the log, created and checked once, under a lock, with a version (E7, engine.md)."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from ...domain.chain import GENESIS
from ...domain.errors import StoreError
from .database import Database
from .failpoints import failpoint
from .faults import guard
from .version import APPLICATION_ID, SCHEMA_VERSION, check_version

_big = BigInteger().with_variant(Integer(), "sqlite")
_uuid = LargeBinary(16).with_variant(Uuid(as_uuid=True), "postgresql")
# Text on SQLite, so that a person can read the log with any SQLite tool; bytes on PostgreSQL.
_json = Text().with_variant(LargeBinary(), "postgresql")

metadata = MetaData()

events = Table(
    "events",
    metadata,
    Column("position", _big, primary_key=True, autoincrement=False),
    Column("stream", _uuid, nullable=False),
    Column("version", _big, nullable=False),
    Column("topic", Text, nullable=False),
    Column("schema", Integer),
    Column("workspace", Text),
    Column("session", Text),
    Column("run", Text),
    Column("actor", Text),
    Column("trust", Text),
    Column("causation", _big),
    Column("time", Text),
    Column("facts", _json, nullable=False),
    Column("payload", _json),
    Column("salt", LargeBinary),
    Column("body_digest", LargeBinary),
    Column("chain", LargeBinary, nullable=False),
    UniqueConstraint("stream", "version"),
)
Index("events_by_session", events.c.session, events.c.position)
Index("events_by_topic", events.c.topic, events.c.position)

log_head = Table(
    "log_head",
    metadata,
    Column("k", SmallInteger, primary_key=True, autoincrement=False),
    Column("last_id", _big, nullable=False),
    Column("chain_hash", LargeBinary, nullable=False),
)

erased = Table(
    "erased",
    metadata,
    Column("position", _big, primary_key=True, autoincrement=False),
    Column("by_position", _big, nullable=False),
)

cursors = Table(
    "cursors",
    metadata,
    Column("name", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("position", _big, nullable=False),
    Column("status", Text, nullable=False),
    Column("error", Text),
    Column("heartbeat", Text),
    Column("tables", Text),
)
"""Where each projection stands; moved in the transaction that writes its rows (``runner``).

``tables`` is a JSON list: what this generation is stored in, so that it can be dropped without its code.
"""

parked = Table(
    "parked",
    metadata,
    Column("projection", Text, primary_key=True),
    Column("position", _big, primary_key=True, autoincrement=False),
    Column("stream", Text, nullable=False),
    Column("error", Text, nullable=False),
)
"""Events that a projection could not apply and put aside, with the later ones of their streams (E6)."""

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("fence", _big, nullable=False),
    Column("expires", Text, nullable=False),
)
"""Who is at work now: no history, so no events; losing this table loses nothing but patience."""

trackings = Table(
    "trackings",
    metadata,
    Column("application_name", Text, primary_key=True),
    Column("notification_id", _big, nullable=False),
)
"""For followers built on the ``eventsourcing`` library (its tracking recorders)."""

store_schema = Table("store_schema", metadata, Column("version", Integer, primary_key=True, autoincrement=False))
"""PostgreSQL's place for the schema version; SQLite has ``user_version``."""

# The log is append-only. INSERT OR REPLACE passes UPDATE and DELETE triggers by (tried): hence the insert guard.
_SQLITE_GUARDS = (
    """CREATE TRIGGER events_insert BEFORE INSERT ON events
    WHEN NEW.position IS NOT (SELECT last_id + 1 FROM log_head WHERE k = 1)
      OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: a row must follow the head'); END""",
    """CREATE TRIGGER events_head AFTER INSERT ON events
    BEGIN UPDATE log_head SET last_id = NEW.position, chain_hash = NEW.chain WHERE k = 1; END""",
    """CREATE TRIGGER events_update BEFORE UPDATE ON events
    WHEN NEW.payload IS NOT NULL OR NEW.salt IS NOT NULL
      OR NOT EXISTS (SELECT 1 FROM erased WHERE position = OLD.position)
      OR NEW.position IS NOT OLD.position OR NEW.stream IS NOT OLD.stream OR NEW.version IS NOT OLD.version
      OR NEW.topic IS NOT OLD.topic OR NEW.schema IS NOT OLD.schema OR NEW.workspace IS NOT OLD.workspace
      OR NEW.session IS NOT OLD.session OR NEW.run IS NOT OLD.run OR NEW.actor IS NOT OLD.actor
      OR NEW.trust IS NOT OLD.trust OR NEW.causation IS NOT OLD.causation OR NEW.time IS NOT OLD.time
      OR NEW.facts IS NOT OLD.facts OR NEW.body_digest IS NOT OLD.body_digest OR NEW.chain IS NOT OLD.chain
    BEGIN SELECT RAISE(ABORT, 'log_append_only: only a named payload can be erased'); END""",
    """CREATE TRIGGER events_delete BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'log_append_only: events are never deleted'); END""",
    """CREATE TRIGGER head_update BEFORE UPDATE ON log_head
    WHEN NEW.k IS NOT OLD.k OR NEW.last_id IS NOT OLD.last_id + 1
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.last_id AND chain = NEW.chain_hash)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: the head moves with the events'); END""",
    """CREATE TRIGGER head_delete BEFORE DELETE ON log_head
    BEGIN SELECT RAISE(ABORT, 'log_append_only: the head stays'); END""",
    """CREATE TRIGGER head_insert BEFORE INSERT ON log_head WHEN EXISTS (SELECT 1 FROM log_head)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: there is one head'); END""",
    """CREATE TRIGGER erased_update BEFORE UPDATE ON erased
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END""",
    """CREATE TRIGGER erased_delete BEFORE DELETE ON erased
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END""",
    """CREATE TRIGGER erased_insert BEFORE INSERT ON erased
    WHEN EXISTS (SELECT 1 FROM erased WHERE position = NEW.position)
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.position)
      OR NOT EXISTS (SELECT 1 FROM events WHERE position = NEW.by_position)
    BEGIN SELECT RAISE(ABORT, 'log_append_only: an erasure stays named'); END""",
)


def prepare(database: Database) -> None:
    """Creates the schema where there is none, checks it where there is one.

    Raises StoreError ``schema_newer`` (written by a newer minutebook), ``schema_older`` (``migrations``) or
    ``not_a_book``; then the store was left untouched.
    """
    if database.as_is:
        return
    if database.sqlite:
        _prepare_sqlite(database)
    else:
        from .postgres import prepare_postgres

        prepare_postgres(database)
        if database.sqlite:  # a reader, and nothing there to read
            _prepare_sqlite(database)


def sqlite_statements() -> list[str]:
    """What makes the schema on SQLite: tables, indexes, guards."""
    tables = [table for table in metadata.sorted_tables if table is not store_schema]
    indexes = sorted((index for table in tables for index in table.indexes), key=lambda index: str(index.name))
    made: list[CreateTable | CreateIndex] = [*map(CreateTable, tables), *map(CreateIndex, indexes)]
    return [*(str(element.compile(dialect=sqlite.dialect())) for element in made), *_SQLITE_GUARDS]


def guard_statements() -> tuple[str, ...]:
    """The guards of the log on SQLite; all are made again by a migration."""
    return _SQLITE_GUARDS


def _prepare_sqlite(database: Database) -> None:
    empty_reader = database.access != "write" and (database.absent or database.path is None)
    with guard(), database.views.connect() as connection:
        run = connection.exec_driver_sql
        # In this order, so that a book that another process makes meanwhile is never seen by halves.
        filled = run("SELECT count(*) FROM sqlite_master").scalar_one()
        ours = run("PRAGMA application_id").scalar_one() == APPLICATION_ID
        version = run("PRAGMA user_version").scalar_one()
        if ours and version:
            check_version(version)
            return
        if filled and not ours:
            raise StoreError(
                "this SQLite file belongs to another program; point minutebook to another file "
                "(this one was left untouched)",
                code="not_a_book",
            )
        if database.access != "write" and not empty_reader:
            raise StoreError(
                "the database holds no book yet; run 'minutebook init' or 'minutebook import'", code="not_a_book"
            )
    with guard(), database.engine.connect() as connection:
        run = connection.exec_driver_sql
        run("BEGIN IMMEDIATE")
        try:
            # Another process may have been first while this one waited for the lock.
            version = run("PRAGMA user_version").scalar_one()
            if version:
                check_version(version)
            if not version and run("SELECT count(*) FROM sqlite_master").scalar_one():
                raise StoreError(
                    "the database has tables but no schema version: its header is damaged; restore a backup "
                    "(this file was left untouched)",
                    code="store_corrupt",
                )
            if not version:
                for statement in sqlite_statements():
                    run(statement)
                run("INSERT INTO log_head VALUES (1, 0, ?)", (GENESIS,))
                run(f"PRAGMA application_id={APPLICATION_ID}")
                run(f"PRAGMA user_version={SCHEMA_VERSION}")
            failpoint("start.creating")
            run("COMMIT")
        except BaseException:
            # SQLite has already rolled back when a disk fails it; a second ROLLBACK would hide the reason.
            if connection.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
                run("ROLLBACK")
            raise
    failpoint("start.created")
