"""Tables that were made of events: cleared of what was erased from the log (E8).

Four read models hold ids and positions, or are told by the event. Evidence and the search index hold texts and terms,
and what a plug-in has kept nobody knows: these are made again from the log, or dropped where nobody has them.
"""

from __future__ import annotations

import re

from sqlalchemy import select, update

from ....domain.catalogue import PayloadsErased
from ....domain.errors import StoreError
from ...store import cursors
from ...store.cursors import BUILDING
from ...store.rebuild import discard
from ...store.schema import cursors as cursors_table
from ...store.schema import parked
from ..runtime import Runtime

WITHOUT_TEXTS = ("context", "candidates", "revisions", "memory_file")
_SAID = re.compile(r"(position \d+ \(\w+\): \w+): .*", re.DOTALL)
_TAKEN_OUT = r"\1: [taken out by an erasure; 'projections retry' says it again]"


def cleared(runtime: Runtime) -> tuple[str, ...]:
    """Brings every table past the last erasure. Returns those that were made again or dropped.

    Raises StoreError ``projection_halted``, ``rebuild_failed`` and others: then a table may still hold the text.
    """
    engine = runtime.projections
    last = runtime.log.newest_of(PayloadsErased.TOPIC)
    with runtime.log.database.reading() as connection:
        found = cursors.every(connection)
    for cursor in found:
        # A generation that is being built holds what the log said before; whoever builds it begins anew.
        if cursor.name.endswith(BUILDING) and cursor.position < last:
            discard(engine, cursor.name.removesuffix(BUILDING))
    engine.catch_up("revisions")
    if (row := next(row for row in engine.status() if row.name == "revisions")).cursor < last:
        raise StoreError(
            f"projection 'revisions' stands at {row.cursor}, before the erasure at {last}: {row.error or row.status}; "
            "mend it, then run 'minutebook projections retry revisions' and 'minutebook erase finish'",
            code="projection_halted",
        )
    made: list[str] = []
    for cursor in found:
        if cursor.name in WITHOUT_TEXTS or cursor.name.endswith(BUILDING):
            continue
        if cursor.name in engine.names:
            engine.rebuild(cursor.name)
        else:
            engine.drop(cursor.name)
        made.append(cursor.name)
    _silence(runtime)
    return tuple(made)


def _silence(runtime: Runtime) -> None:
    """An error may quote the event that it is about: its kind and its place stay, its words go."""
    with runtime.log.database.projecting() as connection:
        for row in connection.execute(select(cursors_table.c.name, cursors_table.c.error)).all():
            if row.error and (said := _SAID.sub(_TAKEN_OUT, row.error)) != row.error:
                here = cursors_table.c.name == row.name
                connection.execute(update(cursors_table).where(here).values(error=said))
        for row in connection.execute(select(parked)).all():
            if (said := _SAID.sub(_TAKEN_OUT, row.error)) != row.error:
                here_too = (parked.c.projection == row.projection, parked.c.position == row.position)
                connection.execute(update(parked).where(*here_too).values(error=said))


def stored_tables(runtime: Runtime) -> list[str]:
    """Every table that rows were changed in: PostgreSQL clears each of its dead rows."""
    with runtime.log.database.reading() as connection:
        named = [name for cursor in cursors.every(connection) for name in cursor.tables]
    return ["events", "cursors", "parked", *dict.fromkeys(named)]
