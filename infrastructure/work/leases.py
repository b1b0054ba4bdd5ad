"""Leases of open runs: how a run on another host shows that its owner lives (M2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from ...domain.events import LoggedEvent
from .runtime import Runtime

if TYPE_CHECKING:
    from .conversation import RunRef


class Lease:
    """When a run's lease was last written: it is renewed at half its time, not at every append (M2)."""

    def __init__(self, written: datetime, seconds: float) -> None:
        self._written = written
        self._half = timedelta(seconds=seconds / 2)

    def due(self, now: datetime) -> bool:
        if now - self._written < self._half:
            return False
        self._written = now
        return True


def renew_lease(runtime: Runtime, run: RunRef, now: datetime) -> None:
    """Renews the lease of a run that reads for long without appending."""
    with runtime.log.database.projecting() as connection:
        write_lease(runtime, connection, run, now)


def write_lease(runtime: Runtime, connection: Connection, run: RunRef, now: datetime) -> None:
    mark = "?" if runtime.log.database.sqlite else "%s"
    connection.exec_driver_sql(
        f"INSERT INTO leases VALUES ({mark}, {mark}, 1, {mark}) "  # noqa: S608 - placeholders only
        "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires = excluded.expires",
        (_lease_name(runtime, run.session, run.run), runtime.id, now.isoformat()),
    )


def last_seen(runtime: Runtime, started: LoggedEvent) -> datetime:
    """When the owner of a run was last heard of: its start, or the last renewal."""
    mark = "?" if runtime.log.database.sqlite else "%s"
    with runtime.log.database.reading() as connection:
        text = connection.exec_driver_sql(
            f"SELECT expires FROM leases WHERE name = {mark}",  # noqa: S608 - a placeholder
            (_lease_name(runtime, started.session, started.run),),
        ).scalar()
    return max(started.time, datetime.fromisoformat(text)) if text else started.time


def _lease_name(runtime: Runtime, session: str | None, run: str | None) -> str:
    return f"run:{runtime.workspace}:{session}:{run}"
