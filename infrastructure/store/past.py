"""Any projection as of any position, by replay into a private database that is gone afterwards (E3).

A long replay leaves checkpoints behind, so that the next one is short (``checkpoints``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, func, select

from ...domain.errors import InputError, StoreError
from . import checkpoints, cursors, overlay
from .dump import rows
from .schema import parked

if TYPE_CHECKING:
    from .runner import Projections


@contextmanager
def at(engine: Projections, name: str, position: int) -> Iterator[tuple[Any, Connection]]:
    """The projection and a connection to its rows as of ``position``; the live ones are not touched.

    What a person skipped and what is parked is left out, as in the live rows. Raises StoreError
    ``projection_halted`` where an event up to there cannot be applied.
    """
    bound = engine._known(name)
    with engine.database.reading() as connection:
        cursor = cursors.find(connection, name)
        if cursor is not None and cursor.halted and cursor.version == bound.version and position > cursor.position:
            raise StoreError(
                f"projection {name!r} is halted at {cursor.error}; up to {cursor.position} it can be looked at, and "
                f"further when 'minutebook projections retry {name}' has gone on",
                code="projection_halted",
                projection=name,
            )
        aside = set(connection.execute(select(parked.c.position).where(parked.c.projection == name)).scalars())
        begin = checkpoints.nearest(engine, connection, name, position, aside)
        # The replay reads in the same snapshot and writes to a file that has no name.
        with overlay.scratch(bound, spill=True, image=begin.image if begin else None) as (copy, target):
            after, every = begin.position if begin else 0, checkpoints.EVERY
            for stop in (*range(after - after % every + every, position + 1, every), position):
                after = overlay.fold(engine.log, connection, copy, target, after=after, upto=stop, without=aside)
                if stop % every == 0 and after == stop:
                    checkpoints.keep(engine, connection, name, stop, aside, target)
            yield copy.projection, target


def listed(
    engine: Projections, name: str, connection: Connection, workspace: str, table: str | None, limit: int
) -> list[dict[str, Any]]:
    """The tables of a projection with their first rows; of a table that has a ``workspace`` only that one's (D17).

    Raises InputError ``unknown_table``.
    """
    declared = {each.name: each for each in engine._known(name).tables}
    if table is not None and table not in declared:
        raise InputError(
            f"projection {name!r} has no table {table!r}; it has {', '.join(declared)}", code="unknown_table"
        )
    chosen = [declared[table]] if table is not None else list(declared.values())
    return [_table(connection, each, workspace, limit) for each in chosen]


def _table(connection: Connection, table: Table, workspace: str, limit: int) -> dict[str, Any]:
    mine = [table.c.workspace == workspace] if "workspace" in table.c else []
    total = connection.execute(select(func.count()).select_from(table).where(*mine)).scalar_one()
    return {
        "table": table.name,
        "columns": [column.name for column in table.columns],
        "rows": [list(row) for row in islice(rows(connection, table, *mine), limit)],
        "total": total,
    }
