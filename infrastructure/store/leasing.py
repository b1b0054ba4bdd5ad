"""The clock of the database, and who follows the log by it: hosts need not agree about time.

Times stand as text that sorts. The rows live in ``leases``: ``project:NAME`` says who brings a projection up to date,
``worker:ID`` that a worker is there and what it would take on. Losing them loses nothing but patience: what a worker
writes is fenced by the cursor.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnClause, Connection, delete, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite

from .schema import leases

PROJECT = "project:"
WORKER = "worker:"


def clock(on_sqlite: bool, seconds: float = 0.0) -> ColumnClause[Any]:
    """So many seconds from now, as an expression of the database."""
    if on_sqlite:
        ahead = f", '{seconds:+.3f} seconds'" if seconds else ""
        return literal_column(f"strftime('%Y-%m-%dT%H:%M:%f', 'now'{ahead})")
    shape = "'YYYY-MM-DD\"T\"HH24:MI:SS.MS'"
    ahead = f" + interval '{seconds:.3f} seconds'" if seconds else ""
    return literal_column(f"to_char((clock_timestamp() AT TIME ZONE 'UTC'){ahead}, {shape})")


def now(connection: Connection) -> datetime:
    """The database's time."""
    text: str = connection.execute(select(clock(connection.dialect.name == "sqlite"))).scalar_one()
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def workers(connection: Connection) -> dict[str, str]:
    """Who follows the log for each projection now, in words: the runtime and its process."""
    return {name.removeprefix(PROJECT): _words(owner) for name, owner in _running(connection, PROJECT)}


def holders(connection: Connection) -> dict[str, str]:
    """The same, as the id of the runtime."""
    found = _running(connection, PROJECT)
    return {name.removeprefix(PROJECT): str(_object(owner).get("runtime", "")) for name, owner in found}


def crew(connection: Connection) -> dict[str, dict[str, Any]]:
    """The workers that are there, with what each wrote of itself."""
    found = {}
    for name, owner in _running(connection, WORKER):
        said = _object(owner)
        if said:
            found[name.removeprefix(WORKER)] = said
    return found


def appear(connection: Connection, worker: str, said: dict[str, Any], seconds: float) -> None:
    """Says for ``seconds`` that a worker is there; those who have not said so for long are forgotten."""
    on_sqlite = connection.dialect.name == "sqlite"
    connection.execute(
        delete(leases).where(leases.c.name.startswith(WORKER), leases.c.expires < clock(on_sqlite, -60.0 * seconds))
    )
    row = {"name": WORKER + worker, "owner": json.dumps(said), "fence": 1, "expires": clock(on_sqlite, seconds)}
    insert = (sqlite if on_sqlite else postgresql).insert(leases).values(row)
    kept = {name: insert.excluded[name] for name in ("owner", "expires")}
    connection.execute(insert.on_conflict_do_update(index_elements=[leases.c.name], set_=kept))


def leave(connection: Connection, worker: str) -> None:
    """The worker is gone."""
    connection.execute(delete(leases).where(leases.c.name == WORKER + worker))


def _running(connection: Connection, prefix: str) -> list[tuple[str, str]]:
    here = clock(connection.dialect.name == "sqlite")
    statement = (
        select(leases.c.name, leases.c.owner)
        .where(leases.c.name.startswith(prefix), leases.c.owner != "", leases.c.expires > here)
        .order_by(leases.c.name)
    )
    return [(row.name, row.owner) for row in connection.execute(statement)]


def _words(owner: str) -> str:
    said = _object(owner)
    return f"{said.get('runtime', '?')} (process {said.get('pid', '?')})"


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
