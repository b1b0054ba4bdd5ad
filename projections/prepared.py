"""Statements that are put together once and run on the driver itself: what folding a million events rests on.

To put a statement of SQLAlchemy together, and to have it recognised as one that was there before, takes 50 to 500 us;
SQLite answers it in 5 (measured). A statement here is compiled once for each kind of database. Rows come as named
tuples, and errors are SQLAlchemy's, as if it had run the statement.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Select, Table
from sqlalchemy.exc import DBAPIError

COPY = 20
"""From so many rows on PostgreSQL takes them by COPY, at a fifth of the price of single INSERTs (measured)."""

Row = Any
"""A named tuple; the columns are known where the statement is."""


class Prepared:
    """A SELECT or an UPDATE whose ``bindparam`` are given by name at each run; none of them may be a list."""

    def __init__(self, statement: Any) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Callable[[Mapping[str, Any]], Any]]] = {}
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        self._names = tuple(str(column.key) for column in columns)
        named: Any = namedtuple("Row", self._names, rename=True)  # type: ignore[misc]
        self._row: Callable[[Iterable[Any]], Row] = named._make

    def all(self, connection: Connection, **values: Any) -> list[Row]:
        """Every row."""
        return list(map(self._row, self._run(connection, values).fetchall()))

    def tuples(self, connection: Connection, **values: Any) -> list[tuple[Any, ...]]:
        """Every row without the names of its columns, for long lists."""
        rows: list[tuple[Any, ...]] = self._run(connection, values).fetchall()
        return rows

    def one(self, connection: Connection, **values: Any) -> Row | None:
        """The first row, or None."""
        row = self._run(connection, values).fetchone()
        return None if row is None else self._row(row)

    def mapping(self, connection: Connection, **values: Any) -> dict[str, Any] | None:
        """The first row by column, or None."""
        row = self._run(connection, values).fetchone()
        return None if row is None else dict(zip(self._names, row, strict=True))

    def run(self, connection: Connection, **values: Any) -> int:
        """Changes rows; returns how many."""
        count: int = self._run(connection, values).rowcount
        return count

    def _run(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        text, arguments = self._compiled.get(connection.dialect.name) or self._compile(connection)
        given = arguments(values)
        with _named(connection, text, given):
            return cursor(connection).execute(text, given)

    def _compile(self, connection: Connection) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
        compiled = self._statement.compile(dialect=connection.dialect)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        order = compiled.positiontup

        def by_place(values: Mapping[str, Any]) -> Any:
            every = {**fixed, **values}
            return [every[name] for name in order or ()]

        def by_name(values: Mapping[str, Any]) -> Any:
            return {**fixed, **values}

        made = (str(compiled), by_name if order is None else by_place)
        self._compiled[connection.dialect.name] = made
        return made


def prepared(table: Table, key: Hashable, make: Callable[[], Any]) -> Prepared:
    """The statement that is kept with the table under this key; made at first need, since a table may be renamed."""
    kept: dict[Hashable, Prepared] = table.info.setdefault("prepared", {})
    found = kept.get(key)
    if found is None:
        found = kept[key] = Prepared(make())
    return found


def write(table: Table, connection: Connection, rows: Sequence[tuple[Any, ...] | Mapping[str, Any]]) -> None:
    """Inserts rows, each a tuple in the order of the table's columns, or a mapping with all of them."""
    if not rows:
        return
    texts: dict[str, tuple[str, str]] = table.info.setdefault("writes", {})
    insert, copy = texts.get(connection.dialect.name) or _texts(table, connection, texts)
    given = _tuples(table, rows)
    with _named(connection, insert, None):
        if connection.dialect.name != "postgresql" or len(rows) < COPY:
            cursor(connection).executemany(insert, given)
            return
        with cursor(connection).copy(copy) as target:
            for row in given:
                target.write_row(row)


def replace(table: Table, connection: Connection, rows: Sequence[tuple[Any, ...] | Mapping[str, Any]]) -> None:
    """The same; a row takes the place of the one with its primary key."""
    if not rows:
        return
    texts: dict[str, tuple[str, str]] = table.info.setdefault("writes", {})
    insert, _ = texts.get(connection.dialect.name) or _texts(table, connection, texts)
    quoted = connection.dialect.identifier_preparer.format_column
    keys = [quoted(column) for column in table.primary_key.columns]
    others = [quoted(column) for column in table.columns if not column.primary_key]
    changes = ", ".join(f"{name} = excluded.{name}" for name in others)
    text = f"{insert} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    with _named(connection, text, None):
        cursor(connection).executemany(text, _tuples(table, rows))


def _texts(table: Table, connection: Connection, kept: dict[str, tuple[str, str]]) -> tuple[str, str]:
    preparer = connection.dialect.identifier_preparer
    columns, name = ", ".join(map(preparer.format_column, table.columns)), preparer.format_table(table)
    places = ", ".join(["?" if connection.dialect.paramstyle == "qmark" else "%s"] * len(table.columns))
    made = (f"INSERT INTO {name} ({columns}) VALUES ({places})", f"COPY {name} ({columns}) FROM STDIN")  # noqa: S608
    kept[connection.dialect.name] = made
    return made


def _tuples(table: Table, rows: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
    if isinstance(rows[0], tuple):
        return rows
    names = [column.name for column in table.columns]
    return [tuple([row[name] for name in names]) for row in rows]


def raw(connection: Connection, text: str, arguments: tuple[Any, ...] = ()) -> Any:
    """Runs a text of SQL whose places are question marks (and which has no other), and returns the cursor."""
    if connection.dialect.paramstyle != "qmark":
        text = text.replace("?", "%s")
    with _named(connection, text, arguments):
        return cursor(connection).execute(text, arguments)


def cursor(connection: Connection) -> Any:
    """A cursor of the driver, in the transaction that the connection has open."""
    raw: Any = connection.connection
    return raw.cursor()


@contextmanager
def _named(connection: Connection, text: str, arguments: Any) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        driver: Any = connection.dialect.dbapi
        if not isinstance(error, driver.Error):
            raise
        raise DBAPIError.instance(text, arguments, error, driver.Error, dialect=connection.dialect) from error
