"""From an older schema to today's, in one transaction (E7, ADR 0017).

The log's own tables change only by a step of their version, written once and never changed: an event is for ever. All
else in the schema is made of the log or of the moment (cursors, parked events, leases): such a table is simply brought
to today's shape, its rows kept by the names of their columns. Guards are made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from ...domain.errors import StoreError
from .failpoints import failpoint
from .postgres_guards import APPEND, GUARDS
from .schema import erased as erased_table
from .schema import events, guard_statements, log_head, metadata, store_schema
from .version import SCHEMA_VERSION

LOG: tuple[Table, ...] = (events, log_head, erased_table)
"""Never made anew: what a version changes in them is a step below."""


def _nothing(run: Callable[[str], Any], /) -> None:
    """The tables of the log stay as they are."""


STEPS: dict[int, Callable[[Callable[[str], Any]], None]] = {
    # Stores of version 1 came in several shapes before there was a release: without parked events, without the list of
    # a projection's tables, with a weaker guard of erasures. From 2 on the number says the shape.
    1: _nothing,
}
"""What turns the log's tables of this version into those of the next, on either database."""


def migrate_sqlite(connection: sqlite3.Connection, found: int) -> None:
    """Brings a store that nobody else is in from ``found`` to today's version: all of it, or nothing."""
    run = connection.execute
    run("BEGIN IMMEDIATE")
    try:
        failpoint("upgrade.migrating")
        for trigger, table in run("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if table in {each.name for each in LOG}:
                run(f'DROP TRIGGER "{trigger}"')
        _steps(found, run)
        for table in metadata.sorted_tables:
            if table not in LOG and table is not store_schema:
                _remake(connection, table)
        for table in metadata.sorted_tables:
            for index in sorted(table.indexes, key=lambda index: str(index.name)):
                run(str(CreateIndex(index, if_not_exists=True).compile(dialect=sqlite.dialect())))
        for statement in guard_statements():
            run(statement)
        run(f"PRAGMA user_version={SCHEMA_VERSION}")
        failpoint("upgrade.committing")
        run("COMMIT")
    except BaseException:
        if connection.in_transaction:
            run("ROLLBACK")
        raise


def _remake(connection: sqlite3.Connection, table: Table) -> None:
    # Made again and not altered, so that its text in the schema is that of a fresh store, and verify can compare it.
    run = connection.execute
    had = [row[1] for row in run(f'PRAGMA table_info("{table.name}")')]
    kept = [column.name for column in table.columns if column.name in had]
    names = ", ".join(f'"{name}"' for name in kept)
    rows = run(f'SELECT {names} FROM "{table.name}"').fetchall() if kept else []  # noqa: S608 - names of ours
    run(f'DROP TABLE IF EXISTS "{table.name}"')
    run(str(CreateTable(table).compile(dialect=sqlite.dialect())))
    if rows:
        places = ", ".join("?" * len(kept))
        connection.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({places})', rows)  # noqa: S608


def migrate_postgres(connection: Connection, found: int) -> None:
    """The same in the transaction that the connection has open; tables are altered, so that they keep their grants."""
    run = connection.exec_driver_sql
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    failpoint("upgrade.migrating")
    _steps(found, run)
    columns = run(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    )
    had: dict[str, set[str]] = {}
    for name, column in columns:
        had.setdefault(name, set()).add(column)
    for table in metadata.sorted_tables:
        if table.name not in had:
            run(str(CreateTable(table).compile(dialect=dialect)))
        elif table not in LOG:
            for missing in [column for column in table.columns if column.name not in had[table.name]]:
                run(f"ALTER TABLE {table.name} ADD COLUMN {CreateColumn(missing).compile(dialect=dialect)}")
            for gone in sorted(had[table.name] - set(table.columns.keys())):
                run(f'ALTER TABLE {table.name} DROP COLUMN "{gone}"')
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            run(str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect)))
    for statement in (APPEND, *GUARDS):
        run(statement.replace("CREATE ", "CREATE OR REPLACE ", 1))
    run("DELETE FROM store_schema")
    run("INSERT INTO store_schema VALUES (%s)", (SCHEMA_VERSION,))
    failpoint("upgrade.committing")


def _steps(found: int, run: Callable[[str], Any]) -> None:
    for version in range(found, SCHEMA_VERSION):
        if version not in STEPS:
            raise StoreError(
                f"there is no way from schema version {version} to {version + 1}; upgrade with an older minutebook "
                "first",
                code="schema_unknown",
            )
        STEPS[version](run)
