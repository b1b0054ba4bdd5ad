"""The stores of older code, put back as they were (tests/data/stores), and what a store is made of."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import NullPool, create_engine
from stores import outside

STORES = Path(__file__).resolve().parents[1] / "data" / "stores"


def names(kind: str = "sqlite") -> list[str]:
    """All kept stores on a kind of database."""
    return sorted(path.name.removesuffix(f".{kind}.sql") for path in STORES.glob(f"*.{kind}.sql"))


def put_back(name: str, root: Path) -> str | None:
    """Makes the store again in a workspace, or in the database that ``MINUTEBOOK_DATABASE`` names.

    Returns the id of the workspace that it was told in; None: it can be the one of any.
    """
    url = os.environ.get("MINUTEBOOK_DATABASE")
    folder = root / ".tinyagent"
    folder.mkdir(mode=0o700, exist_ok=True)
    if url:
        text = (STORES / f"{name}.postgres.sql").read_text(encoding="utf-8").replace("public.", "")
        engine = create_engine(url, poolclass=NullPool)
        with engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute(text)
            raw.commit()
        engine.dispose()
    else:
        (folder / "minutebook.db").touch(mode=0o600)
        with closing(sqlite3.connect(folder / "minutebook.db")) as connection:
            connection.executescript((STORES / f"{name}.sqlite.sql").read_text(encoding="utf-8"))
            connection.execute("PRAGMA journal_mode=WAL")
    memory = STORES / f"{name}.md"
    if memory.exists():
        (folder / "memory").mkdir(mode=0o700, exist_ok=True)
        (folder / "memory" / "MEMORY.md").write_bytes(memory.read_bytes())
    with outside(root) as found:
        workspace: str = found.exec_driver_sql("SELECT max(workspace) FROM events").scalar_one()
    return workspace


def shape(root: Path) -> Any:
    """What the database of a workspace is made of: tables, columns, indexes, guards; no rows, no projections."""
    with outside(root) as connection:
        read = connection.exec_driver_sql
        if connection.dialect.name == "sqlite":
            found = read("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
            tables = OURS
            return [tuple(row) for row in found if row[2] in tables]
        columns = read(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = current_schema()"
        ).fetchall()
        indexes = read("SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()").fetchall()
        guards = read(
            "SELECT c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = current_schema() AND NOT t.tgisinternal"
        ).fetchall()
        bodies = read(
            "SELECT proname, prosrc FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
            "WHERE n.nspname = current_schema()"
        ).fetchall()
        return [sorted(tuple(row) for row in rows if row[0] in OURS) for rows in (columns, indexes, guards)] + [
            sorted(tuple(row) for row in bodies)
        ]


def _ours() -> frozenset[str]:
    from minutebook.infrastructure.store.schema import metadata

    return frozenset(metadata.tables)


OURS = _ours()


def content(root: Path) -> list[tuple[Any, ...]]:
    """Every row of the log, and its head."""
    with outside(root) as connection:
        read = connection.exec_driver_sql
        rows = [tuple(row) for row in read("SELECT * FROM events ORDER BY position")]
        return [*rows, *(tuple(row) for row in read("SELECT * FROM log_head"))]


def version(root: Path) -> int:
    with outside(root) as connection:
        sqlite = connection.dialect.name == "sqlite"
        found: int = connection.exec_driver_sql(
            "PRAGMA user_version" if sqlite else "SELECT max(version) FROM store_schema"
        ).scalar_one()
        return found
