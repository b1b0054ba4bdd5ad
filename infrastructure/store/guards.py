"""Are the guards of the log still in place? For ``verify`` (E1)."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection

from .schema import metadata, sqlite_statements

_GUARDED = ("events", "log_head", "erased")
_POSTGRES_GUARDS = {
    ("events", "events_follow"),
    ("events", "events_update"),
    ("events", "events_refuse"),
    ("log_head", "head_update"),
    ("log_head", "log_head_refuse"),
    ("erased", "erased_insert"),
    ("erased", "erased_refuse"),
}


def missing_guards(connection: Connection, sqlite: bool) -> list[str]:
    """What is not as it was created: tables, indexes and triggers of the log, each named in a sentence."""
    return _sqlite(connection) if sqlite else _postgres(connection)


def _sqlite(connection: Connection) -> list[str]:
    look = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    # What SQLite itself makes of our statements, so that nothing depends on how it keeps their text.
    scratch = sqlite3.connect(":memory:")
    try:
        for statement in sqlite_statements():
            scratch.execute(statement)
        wanted = {row[1]: row for row in scratch.execute(look)}
    finally:
        scratch.close()
    found = {row[1]: tuple(row) for row in connection.exec_driver_sql(look)}
    faults = [
        f"{kind} {name!r} is {'not as it was created' if name in found else 'missing'}"
        for name, (kind, _, _, _) in wanted.items()
        if found.get(name) != wanted[name]
    ]
    faults += [
        f"trigger {name!r} on {table!r} is none of minutebook's"
        for name, (kind, _, table, _) in found.items()
        if kind == "trigger" and table in _GUARDED and name not in wanted
    ]
    return faults


def _postgres(connection: Connection) -> list[str]:
    rows = connection.exec_driver_sql(
        "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = current_schema() AND NOT t.tgisinternal AND t.tgenabled <> 'D'"
    )
    found = {(table, name) for table, name in rows if table in metadata.tables}
    faults = [f"trigger {name!r} on {table!r} is missing or disabled" for table, name in _POSTGRES_GUARDS - found]
    return sorted(faults)
