"""Every row of a projection in one fixed order, the same on every database: what hashes and comparisons rest on."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from datetime import date, datetime, time
from typing import Any

import orjson
from sqlalchemy import Column, Connection, Table, Text, select
from sqlalchemy.types import String

from .binding import Bound

CHUNK = 2_000
"""Rows fetched at a time."""


def keys(table: Table) -> list[Column[Any]]:
    """What orders and names a row: the primary key, or every column where there is none."""
    return list(table.primary_key.columns) or list(table.columns)


def rows(connection: Connection, table: Table, *where: Any) -> Generator[tuple[Any, ...], None, None]:
    """All rows, or those that match, in order of their keys, text by code points."""
    order: list[Any] = [
        # SQLite compares bytes; PostgreSQL would compare by the locale of the database.
        column.collate("C")
        if connection.dialect.name == "postgresql" and isinstance(column.type, String | Text)
        else column
        for column in keys(table)
    ]
    statement = select(table).where(*where).order_by(*order).execution_options(yield_per=CHUNK)
    # Closed with the generator: a comparison stops at the first difference.
    with connection.execute(statement) as result:
        for row in result:
            yield tuple(row)


def encode(row: tuple[Any, ...]) -> bytes:
    """One row as bytes, the same whichever database gave it.

    Integers beyond 64 bits and lone surrogates, which only damage can bring, are spelled out.
    """
    try:
        return orjson.dumps(row, default=_spelled, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        return repr(row).encode("utf-8", "backslashreplace")


def _spelled(value: Any) -> Any:
    match value:
        case bytes() | bytearray() | memoryview():
            return {"bytes": bytes(value).hex()}
        case datetime() | date() | time():
            return {"time": value.isoformat()}
        case _:
            return {type(value).__name__: str(value)}


def dump_hash(connection: Connection, bound: Bound) -> str:
    """A hash over every row of every table of the projection."""
    whole = hashlib.sha256()
    for table in bound.tables:
        # The name without the suffix of a generation: a shadow hashes as the live one.
        whole.update(b"table " + table.name.removesuffix(bound.suffix).encode() + b"\n")
        for row in rows(connection, table):
            whole.update(encode(row) + b"\n")
    return whole.hexdigest()
