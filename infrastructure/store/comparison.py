"""Live rows against rows computed anew from the log: equal, or the first difference by name (E1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    String,
    Table,
    Text,
    and_,
    cast,
    func,
    inspect,
    select,
)
from sqlalchemy.exc import DBAPIError

from ...domain.errors import StoreError
from . import cursors, overlay
from .binding import Bound, missing
from .dump import encode, keys, rows
from .faults import translate
from .schema import parked

if TYPE_CHECKING:
    from .runner import Projections


@dataclass(frozen=True, slots=True)
class ProjectionReport:
    """What the comparison found; ``table``, ``key`` and ``column`` name the first difference where there is one."""

    name: str
    ok: bool
    detail: str
    cursor: int = 0
    table: str | None = None
    key: str | None = None
    column: str | None = None


class _Difference(Exception):
    """The first difference: table, key, column, and what differs, for people."""

    def __init__(self, table: str, key: str | None, column: str | None, detail: str) -> None:
        super().__init__(detail)
        self.table, self.key, self.column, self.detail = table, key, column, detail


def compare(engine: Projections, bound: Bound) -> ProjectionReport:
    """Computes the projection up to the live cursor in a private SQLite and compares every row."""
    name = bound.name
    with engine.database.reading() as connection:
        cursor = cursors.find(connection, name)
        if cursor is None:
            # Neither cursor nor tables: a projection that came with newer code, and that nobody has needed yet.
            if bound.table_names and len(missing(connection, bound)) == len(bound.table_names):
                return ProjectionReport(name, True, "not made yet: the next command that may write makes it")
            return ProjectionReport(name, False, f"it has no cursor; run 'minutebook projections rebuild {name}'")
        head = engine.log.head(connection).position
        trouble = _trouble(engine, connection, bound, cursor, head)
        if trouble is not None:
            return ProjectionReport(name, False, trouble, cursor.position)
        put_aside = set(connection.execute(select(parked.c.position).where(parked.c.projection == name)).scalars())
        try:
            count = _compute_beside(engine, connection, bound, cursor.position, put_aside)
            if count is None:
                count = _compute_apart(engine, connection, bound, cursor.position, put_aside)
        except _Difference as found:
            mend = f"; run 'minutebook projections rebuild {name}'"
            return ProjectionReport(
                name, False, found.detail + mend, cursor.position, found.table, found.key, found.column
            )
        except StoreError as error:
            return ProjectionReport(name, False, error.message, cursor.position)
        if put_aside:
            return ProjectionReport(
                name, False, f"positions not projected: {sorted(put_aside)} (parked)", cursor.position
            )
        skipped = engine.skipped(name, connection)
        if skipped:
            return ProjectionReport(
                name, False, f"positions not projected: {sorted(skipped)} (skipped)", cursor.position
            )
    return ProjectionReport(name, True, f"{count} rows equal at position {cursor.position} of {head}", cursor.position)


def _compute_beside(
    engine: Projections, connection: Connection, bound: Bound, upto: int, without: Collection[int]
) -> int | None:
    """Computes and compares within the database itself; None where it cannot say that all rows are equal."""
    # A projection of somebody else's computes in a database of its own: there it can do no harm.
    if not bound.projection.bulk or not all(map(_comparable, bound.tables)):
        return None
    with overlay.beside(connection, bound) as copy:
        if copy is None:
            return None
        overlay.fold(engine.log, connection, copy, connection, after=0, upto=upto, without=without)
        counts = [_equal(connection, there, here) for there, here in zip(bound.tables, copy.tables, strict=True)]
        return sum(counts) if None not in counts else _same(connection, bound, connection, copy)  # type: ignore[arg-type]


def _comparable(table: Table) -> bool:
    """Whether a database tells any two rows of the table apart by itself: a key, and plain types."""
    plain = (Integer, Text, String)
    return bool(table.primary_key.columns) and all(isinstance(column.type, (*plain, Float)) for column in table.columns)


def _equal(connection: Connection, there: Table, here: Table) -> int | None:
    """How many rows two tables have, where the database finds each row of the one in the other; else None."""
    alike = [_alike(connection, column, here.c[column.name]) for column in there.columns]
    is_key = [same for column, same in zip(there.columns, alike, strict=True) if column.primary_key]
    at = [same for column, same in zip(there.columns, alike, strict=True) if not column.primary_key]
    counts = [select(func.count()).select_from(table) for table in (there, here)]
    pairs = select(func.count()).select_from(there.join(here, and_(*is_key))).where(*at)
    try:
        found = {connection.execute(statement).scalar_one() for statement in (*counts, pairs)}
    except DBAPIError:
        if connection.dialect.name != "sqlite":
            raise
        return None  # it cannot be read in full: who looks row by row says where
    return found.pop() if len(found) == 1 else None


def _alike(connection: Connection, one: Column[Any], other: Column[Any]) -> ColumnElement[bool]:
    if one.primary_key:
        return one == other
    if isinstance(one.type, Float) and connection.dialect.name == "postgresql":
        # To it the two zeros are one number.
        return cast(one, Text).is_not_distinct_from(cast(other, Text))
    return one.is_not_distinct_from(other)


def _compute_apart(
    engine: Projections, connection: Connection, bound: Bound, upto: int, without: Collection[int]
) -> int:
    """Computes in a private SQLite and compares row by row: needs nothing of the database but to read it."""
    with overlay.scratch(bound, spill=True) as (copy, target):
        overlay.fold(engine.log, connection, copy, target, after=0, upto=upto, without=without)
        return _same(connection, bound, target, copy)


def _trouble(
    engine: Projections, connection: Connection, bound: Bound, cursor: cursors.Cursor, head: int
) -> str | None:
    mend = f"; run 'minutebook projections rebuild {bound.name}'"
    if not 0 <= cursor.position <= head:
        return f"its cursor stands at {cursor.position}, the head of the log is {head}" + mend
    if cursor.version != bound.version:
        return f"it is stored in version {cursor.version}, the code has {bound.version}" + mend
    lost = missing(connection, bound)
    if lost:
        return f"table {lost[0]} is missing" + mend
    for table in bound.tables:
        found = {column["name"] for column in inspect(connection).get_columns(table.name)}
        declared = {column.name for column in table.columns}
        if found != declared:
            odd = sorted(found ^ declared)[0]
            return f"table {table.name} has other columns than declared ({odd})" + mend
    if cursor.halted:
        return f"it is halted at {cursor.error}; run 'minutebook projections retry {bound.name}'"
    return None


def _same(live: Connection, bound: Bound, target: Connection, copy: Bound) -> int:
    count = 0
    for there, here in zip(bound.tables, copy.tables, strict=True):
        with closing(rows(live, there)) as found, closing(rows(target, here)) as expected:
            count += _same_table(there, _readable(there, found), expected)
    return count


def _readable(table: Table, iterator: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    while True:
        try:
            row = next(iterator)
        except StopIteration:
            return
        except Exception as error:
            raise _Difference(
                table.name, None, None, f"table {table.name} cannot be read: {translate(error).message}"
            ) from error
        yield row


def _same_table(table: Table, found: Iterator[tuple[Any, ...]], expected: Iterator[tuple[Any, ...]]) -> int:
    names = [column.name for column in table.columns]
    key_at = [names.index(column.name) for column in keys(table)]
    count = 0
    while True:
        live, right = next(found, None), next(expected, None)
        if live is None and right is None:
            return count
        if live is not None and right is not None and (live == right or encode(live) == encode(right)):
            count += 1
            continue
        raise _difference(table.name, names, key_at, live, right)


def _difference(
    table: str, names: list[str], key_at: list[int], live: tuple[Any, ...] | None, right: tuple[Any, ...] | None
) -> _Difference:
    live_key = None if live is None else [live[at] for at in key_at]
    right_key = None if right is None else [right[at] for at in key_at]
    if live is not None and right is not None and live_key == right_key:
        at = next(
            (at for at, pair in enumerate(zip(live, right, strict=True)) if encode(pair[:1]) != encode(pair[1:])), 0
        )
        key = _named(names, key_at, live)
        return _Difference(
            table,
            key,
            names[at],
            f"{table} row {key}, column {names[at]}: {live[at]!r:.80}, the log says {right[at]!r:.80}",
        )
    if live is None or (right is not None and _rank(right_key) < _rank(live_key)):
        assert right is not None
        key = _named(names, key_at, right)
        return _Difference(table, key, None, f"{table} row {key} is missing")
    key = _named(names, key_at, live)
    return _Difference(table, key, None, f"{table} row {key} should not be there")


def _named(names: list[str], key_at: list[int], row: tuple[Any, ...]) -> str:
    return ", ".join(f"{names[at]}={row[at]!r:.80}" for at in key_at)


def _rank(key: list[Any] | None) -> list[tuple[int, Any]]:
    """Keys in the order of SQLite: NULL, numbers, text, the rest."""
    ranked: list[tuple[int, Any]] = []
    for value in key or []:
        match value:
            case None:
                ranked.append((0, 0))
            case int() | float():
                ranked.append((1, value))
            case str():
                ranked.append((2, value.encode("utf-8", "surrogatepass")))
            case _:
                ranked.append((3, repr(value)))
    return ranked
