"""What is wrong with a PostgreSQL server, as far as a role that may only look can see."""

from __future__ import annotations

from collections.abc import Iterator

from ...store.database import Database
from .kinds import Finding, finding

_OLDEST = 140_000
_RIGHTS = {"events": ("SELECT", "INSERT"), "log_head": ("SELECT", "UPDATE"), "cursors": ("SELECT", "INSERT", "UPDATE")}


def server(database: Database) -> Iterator[Finding]:
    """Settings, version, encoding and rights. Raises StoreError where the server cannot be asked."""
    with database.reading() as connection:

        def shown(name: str) -> str:
            return str(connection.exec_driver_sql(f"SHOW {name}").scalar())

        for name in ("fsync", "full_page_writes"):
            if shown(name) == "off":
                yield finding("server_no_fsync", name=name)
        # As the server has it, and not as this connection was told to.
        commit = connection.exec_driver_sql(
            "SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'"
        ).scalar()
        if commit in ("off", "local", "remote_write"):
            rest = "" if commit == "off" else ", and leaves this one: a standby may lag behind what was acknowledged"
            yield finding("server_async_commit", value=commit, rest=rest)
        if int(shown("server_version_num")) < _OLDEST:
            yield finding("server_old", version=shown("server_version").split()[0])
        if shown("server_encoding") != "UTF8":
            yield finding("server_encoding", encoding=shown("server_encoding"))
        if connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar():
            yield finding("server_standby")
            return
        kept = connection.exec_driver_sql(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'minutebook\\_before\\_restore\\_%%' ORDER BY 1"
        ).scalars()
        for schema in kept.all():
            yield finding("kept_schema", schema=schema)
        role = connection.exec_driver_sql("SELECT current_user").scalar()
        for table, rights in _RIGHTS.items():
            if connection.exec_driver_sql("SELECT to_regclass(%s)", (table,)).scalar() is None:
                continue
            for right in rights:
                may = connection.exec_driver_sql("SELECT has_table_privilege(%s, %s)", (table, right)).scalar()
                if not may:
                    yield finding("server_no_privilege", role=role, what=f"{right} {table}")
