"""A projection bound to tables: the live ones, or those of a generation that is being built (E2).

The class knows its tables by one name. For a shadow generation another instance declares the same tables, and they
are renamed before their first use; so the same ``apply`` fills either, and plug-ins need not know.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, MetaData, Table, inspect
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql import quoted_name

from ...domain.errors import InputError
from ...projections.projection import Projection

TABLES_LOCK = 0x6D626F6B_0002
"""The advisory lock of whoever makes tables of projections; the log's own schema has another."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


@dataclass(frozen=True, slots=True)
class Bound:
    """A projection with its tables in order of creation; ``suffix`` is empty for the live ones."""

    projection: Projection
    tables: tuple[Table, ...]
    suffix: str = ""

    @property
    def name(self) -> str:
        return self.projection.name

    @property
    def version(self) -> int:
        return self.projection.version

    @property
    def table_names(self) -> tuple[str, ...]:
        return tuple(table.name for table in self.tables)


def bind(projection: Projection | type[Projection], suffix: str = "") -> Bound:
    """An instance of its own, with tables of its own. Raises InputError ``bad_projection``."""
    original: Any = projection() if isinstance(projection, type) else projection
    name = getattr(original, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or "__" in name:
        raise InputError(
            f"projection {type(original).__name__} has the name {name!r}; use lower case letters, digits and single "
            "underscores, at most 40",
            code="bad_projection",
        )
    instance: Projection = copy.copy(original)
    metadata = MetaData()
    instance.tables(metadata)
    tables = tuple(metadata.sorted_tables)
    for table in tables:
        if table.name != name and not table.name.startswith(f"{name}_"):
            raise InputError(
                f"projection {name!r} declares the table {table.name!r}; its tables must be named {name!r} or "
                f"'{name}_...', so that no two projections meet",
                code="bad_projection",
            )
        if suffix:
            _rename(table, suffix)
    return Bound(instance, tables, suffix)


def _rename(table: Table, suffix: str) -> None:
    # Index and constraint names are unique in a PostgreSQL schema (an index also in SQLite): they take it too.
    table.name = quoted_name(table.name + suffix, quote=None)
    table.fullname = table.name
    named: list[Any] = [*table.indexes, *table.constraints]
    for each in named:
        if isinstance(each.name, str) and each.name:
            each.name = str(each.name) + suffix


def create(connection: Connection, bound: Bound) -> None:
    """Makes the tables, in place of whatever stands under their names."""
    drop(connection, bound.table_names)
    for table in bound.tables:
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            # A name can be left over where somebody set a generation back; the index is the old table's, soon dropped.
            quoted = connection.dialect.identifier_preparer.quote(str(index.name))
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS {quoted}")
            index.create(connection)


def one_builder(connection: Connection) -> None:
    """Keeps others from making tables until the transaction ends; SQLite's writer is alone in any case.

    Two who make the same table on PostgreSQL at once are not made to wait: one fails (tried, with two new books).
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (TABLES_LOCK,))


def drop(connection: Connection, names: Iterable[str]) -> None:
    """Removes tables (or views that somebody put in their place); missing ones are no error."""
    wanted = list(names)
    inspector = inspect(connection)
    views = set(inspector.get_view_names())
    tables = set(inspector.get_table_names())
    for name in reversed(wanted):
        quoted = connection.dialect.identifier_preparer.quote(name)
        if name in views:
            connection.exec_driver_sql(f"DROP VIEW {quoted}")
        elif name in tables:
            connection.exec_driver_sql(f"DROP TABLE {quoted}")


def rename(connection: Connection, old: str, new: str) -> None:
    quote = connection.dialect.identifier_preparer.quote
    connection.exec_driver_sql(f"ALTER TABLE {quote(old)} RENAME TO {quote(new)}")


def missing(connection: Connection, bound: Bound) -> list[str]:
    """Tables of the projection that are not in the database."""
    present = set(inspect(connection).get_table_names())
    return [name for name in bound.table_names if name not in present]


def lock_tables(connection: Connection, bound: Bound, mode: str) -> None:
    """Locks the tables that there are (PostgreSQL), always in the same order."""
    quote = connection.dialect.identifier_preparer.quote
    lost = set(missing(connection, bound))
    names = ", ".join(quote(name) for name in bound.table_names if name not in lost)
    if names:
        connection.exec_driver_sql(f"LOCK TABLE {names} IN {mode} MODE")
