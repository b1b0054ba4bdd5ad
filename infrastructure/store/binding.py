"""A projection bound to tables: the live ones, or those of a generation that is being built (E2).

The class knows its tables by one name. For a shadow generation another instance declares the same tables, and they
are renamed before their first use; so the same ``apply`` fills either, and plug-ins need not know.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, MetaData, Table, inspect
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql import quoted_name

from ...domain.errors import InputError, MinutebookError
from ...domain.events import LoggedEvent
from ...projections.projection import Projection
from .bounded import is_foreign
from .confinement import confined
from .declared import THE_LOGS, check_class, check_tables

TABLES_LOCK = 0x6D626F6B_0002
"""The advisory lock of whoever makes tables of projections; the log's own schema has another."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A projection with its tables in order of creation; ``suffix`` is empty for the live ones."""

    projection: Projection
    tables: tuple[Table, ...]
    suffix: str = ""
    source: Projection | type[Projection] | None = None
    foreign: frozenset[str] = THE_LOGS
    """Tables of others, which a plug-in neither writes nor reads."""

    @property
    def name(self) -> str:
        return self.projection.name

    @property
    def version(self) -> int:
        return self.projection.version

    @property
    def table_names(self) -> tuple[str, ...]:
        return tuple(table.name for table in self.tables)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it names in the database: tables and indexes."""
        return (*self.table_names, *(str(index.name) for table in self.tables for index in table.indexes))

    @property
    def plug_in(self) -> bool:
        """Written by somebody else: it is confined to its own tables."""
        return is_foreign(self.projection)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        """The projection's ``apply``, in the transaction that ``connection`` has open.

        Raises StoreError ``plug_in_misbehaved`` for what a plug-in may not do there, and whatever it raises.
        """
        if not self.plug_in:
            self.projection.apply(events, connection)
            return
        with confined(connection, self.name, self.table_names, self.foreign):
            self.projection.apply(events, connection)


def bind(projection: Projection | type[Projection] | Bound, suffix: str = "") -> Bound:
    """An instance of its own, with tables of its own. Raises InputError ``bad_projection``."""
    if isinstance(projection, Bound):
        # Made anew from its class, where it was given as one: what an instance keeps on itself is not handed on.
        again = bind(projection.source or projection.projection, suffix)
        return replace(again, foreign=projection.foreign)
    try:
        if not suffix and isinstance(projection, type) and _is_built_in(projection):
            instance, tables = _declared_once(projection.__module__, projection.__name__)
            return Bound(copy.copy(instance), tables, suffix, projection)
        instance, tables = _declared(projection() if isinstance(projection, type) else copy.copy(projection))
    except MinutebookError:
        raise
    except (Exception, SystemExit) as error:
        said = projection if isinstance(projection, type) else type(projection)
        raise InputError(
            f"projection {said.__name__} cannot declare its tables: {type(error).__name__}: {error}; ask its author",
            code="bad_projection",
        ) from error
    if suffix:
        for table in tables:
            _rename(table, suffix)
    return Bound(instance, tables, suffix, projection)


def _declared(instance: Projection) -> tuple[Projection, tuple[Table, ...]]:
    metadata = MetaData()
    name = check_class(instance)
    instance.tables(metadata)
    check_tables(name, metadata)
    return instance, tuple(metadata.sorted_tables)


@cache
def _declared_once(module: str, name: str) -> tuple[Projection, tuple[Table, ...]]:
    # Under these names the tables never change, so all books of a process share them: a third of an opening.
    return _declared(getattr(sys.modules[module], name)())


def _is_built_in(projection: type[Projection]) -> bool:
    """One of ours by its own name, not a class that was made for one book."""
    if projection.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return False
    return getattr(sys.modules.get(projection.__module__), projection.__name__, None) is projection


def apart(bounds: Iterable[Bound]) -> dict[str, Bound]:
    """Projections by name, each told which tables are others'.

    Raises InputError ``bad_projection`` where two have the same name, or mean the same table or index.
    """
    found: dict[str, Bound] = {}
    owner: dict[str, str] = {}
    for bound in bounds:
        if bound.name in found:
            raise InputError(f"two projections are named {bound.name!r}; rename one", code="bad_projection")
        found[bound.name] = bound
        for name in bound.names:
            if name in owner:
                raise InputError(
                    f"projections {owner[name]!r} and {bound.name!r} both declare {name!r}; rename one",
                    code="bad_projection",
                )
            owner[name] = bound.name
    tables = THE_LOGS.union(*(bound.table_names for bound in found.values()))
    return {name: replace(bound, foreign=tables - {*bound.table_names}) for name, bound in found.items()}


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
