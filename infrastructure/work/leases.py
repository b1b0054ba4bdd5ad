"""Leases of open runs: how a run on another host shows that its owner lives (M2).

They are written and judged by the clock of the database, and renewed by one that nobody sets: neither a clock that is
set back nor one that runs ahead on another host ends a run whose owner lives.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from ...domain.events import LoggedEvent
from ..store.leasing import clock
from ..store.leasing import now as now_there
from .runtime import Runtime

if TYPE_CHECKING:
    from .conversation import RunRef


class Lease:
    """When a run's lease was last written: it is renewed at half its time, not at every append (M2)."""

    def __init__(self, seconds: float) -> None:
        self._written = time.monotonic()
        self._half = seconds / 2

    def due(self) -> bool:
        now = time.monotonic()
        if now - self._written < self._half:
            return False
        self._written = now
        return True


def renew_lease(runtime: Runtime, run: RunRef) -> None:
    """Renews the lease of a run that reads for long without appending."""
    with runtime.log.database.projecting() as connection:
        write_lease(runtime, connection, run.session, run.run)


def write_lease(runtime: Runtime, connection: Connection, session: str, run: str) -> None:
    """From the start of a run on: what another host's clock says of its beginning is never asked."""
    sqlite = runtime.log.database.sqlite
    mark = "?" if sqlite else "%s"
    connection.exec_driver_sql(
        f"INSERT INTO leases VALUES ({mark}, {mark}, 1, {clock(sqlite)}) "  # noqa: S608 - placeholders and the clock
        "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires = excluded.expires",
        (_lease_name(runtime, session, run), runtime.id),
    )


def drop_lease(runtime: Runtime, connection: Connection, session: str, run: str) -> None:
    """With the end of the run, in the transaction of its event."""
    mark = "?" if runtime.log.database.sqlite else "%s"
    connection.exec_driver_sql(
        f"DELETE FROM leases WHERE name = {mark}",  # noqa: S608 - a placeholder
        (_lease_name(runtime, session, run),),
    )


def heard(runtime: Runtime, started: LoggedEvent) -> tuple[datetime, datetime]:
    """The database's time, and when the owner of a run was last heard of: its lease, or the start of an older run."""
    mark = "?" if runtime.log.database.sqlite else "%s"
    with runtime.log.database.reading() as connection:
        now = now_there(connection)
        text = connection.exec_driver_sql(
            f"SELECT expires FROM leases WHERE name = {mark}",  # noqa: S608 - a placeholder
            (_lease_name(runtime, started.session, started.run),),
        ).scalar()
    if not text:
        return now, started.time
    found = datetime.fromisoformat(text)
    return now, found if found.tzinfo else found.replace(tzinfo=UTC)


def _lease_name(runtime: Runtime, session: str | None, run: str | None) -> str:
    return f"run:{runtime.workspace}:{session}:{run}"
