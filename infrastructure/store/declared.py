"""What a projection may declare: names of its own, short enough for every generation, and nothing beyond its tables.

Names are the whole of the separation: two projections, or one and the log, must never mean the same table or index.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from sqlalchemy import Enum, MetaData, Table

from ...domain.errors import InputError
from ...domain.events import Event
from ...projections.projection import Projection
from . import schema

NAME_MAX = 54
"""Characters of a table, index or constraint: PostgreSQL cuts at 63, and a generation adds up to nine (__g999999)."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_OWN = re.compile(r"[a-z][a-z0-9_]*")
_CONVENTION = re.compile(r"(ix|uq|fk|ck|pk)_")

THE_LOGS = frozenset(
    {
        "checkpoints",
        *schema.metadata.tables,
        *(str(index.name) for table in schema.metadata.tables.values() for index in table.indexes),
    }
)
"""The names of the log's own tables and indexes, and of what is kept of past looks."""


def check_class(projection: Projection) -> str:
    """The name of a projection whose class says all that it must. Raises InputError ``bad_projection``."""
    name = getattr(projection, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or "__" in name or name.endswith("_"):
        _refuse(
            f"projection {type(projection).__name__} has the name {name!r}; use lower case letters, digits and single "
            "underscores, at most 41"
        )
    taken = next((each for each in sorted(THE_LOGS) if each == name or each.startswith(f"{name}_")), None)
    if taken is not None or name.split("_")[0] in ("sqlite", "pg"):
        _refuse(
            f"the name {name!r} belongs to {'the log, which has ' + repr(taken) if taken else 'the database'}; "
            "choose another"
        )
    version: Any = projection.version
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version < 2**31:
        _refuse(f"projection {name!r} has the version {version!r}; give a whole number from 1 on")
    kinds: Any = projection.event_types
    if isinstance(kinds, str) or not all(
        isinstance(each, str) or (isinstance(each, type) and issubclass(each, Event)) for each in kinds
    ):
        _refuse(f"projection {name!r} names no event types in 'event_types'; give a frozenset of topics")
    if type(projection).apply is Projection.apply:
        _refuse(f"projection {name!r} has no 'apply'; write it, or nothing would be projected")
    return name


def check_tables(name: str, metadata: MetaData) -> None:
    """Refuses tables that others could mean too, or that two databases would fill differently: ``bad_projection``."""
    if not metadata.tables:
        _refuse(f"projection {name!r} declares no table; declare one on the metadata that 'tables' is given")
    for table in metadata.tables.values():
        _check_table(name, table, metadata)


def _check_table(name: str, table: Table, metadata: MetaData) -> None:
    where = f"projection {name!r} declares the table {table.name!r}"
    if table.schema is not None:
        _refuse(f"{where} in the schema {table.schema!r}; leave the schema out, the database says where tables go")
    if not _owned(table.name, name):
        _refuse(f"{where}; its tables must be named {name!r} or '{name}_...', so that no two projections meet")
    _check_name(where, "the table", table.name)
    parts: list[Any] = [*table.indexes, *table.constraints]
    for each in parts:
        # One without a name gets one from the database, made of the table's.
        if isinstance(each.name, str) and each.name:
            if not _owned(_CONVENTION.sub("", each.name), name):
                _refuse(f"{where} with {each.name!r}; indexes and constraints must be named '{name}_...' too")
            _check_name(where, "it", each.name)
    for key in table.foreign_keys:
        target = key.target_fullname.rpartition(".")[0]
        if target not in metadata.tables:
            _refuse(
                f"{where} with a foreign key to {target!r}; only its own tables can be meant, others are made again"
            )
    if table.autoincrement_column is not None:
        _refuse(
            f"{where} whose key {table.autoincrement_column.name!r} the database would number, differently after a "
            "rebuild; say autoincrement=False and give it a value"
        )
    for column in table.columns:
        if isinstance(column.type, Enum) and column.type.native_enum:
            _refuse(f"{where} with the type {column.type.name!r} of its own; say native_enum=False, or use Text")
        for default in (column.default, column.onupdate, column.server_default, column.server_onupdate):
            if default is not None and not getattr(default, "is_scalar", False) and not _literal(default):
                _refuse(
                    f"{where} whose column {column.name!r} has a default that is computed; a clock or a random number "
                    "differs after a rebuild: set the value in 'apply', from the event"
                )


def _literal(default: Any) -> bool:
    """``server_default="0"``: text as it stands, and no function."""
    return isinstance(getattr(default, "arg", None), str)


def _owned(found: str, name: str) -> bool:
    return found == name or found.startswith(f"{name}_")


def _check_name(where: str, what: str, found: str) -> None:
    if not _OWN.fullmatch(found) or "__" in found:
        _refuse(f"{where} with the name {found!r}; use lower case letters, digits and single underscores")
    if len(found) > NAME_MAX:
        _refuse(
            f"{where}, and the name {found!r} has {len(found)} characters; take at most {NAME_MAX}: a rebuild adds to "
            "them"
        )


def _refuse(text: str) -> NoReturn:
    raise InputError(text, code="bad_projection")
