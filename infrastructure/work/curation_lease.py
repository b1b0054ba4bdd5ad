"""One curation at a time for a workspace, whoever runs it: a lease row with a fence, on the database's clock (D6, M05).

The lease spares work and money: what a curation commits is fenced by the streams that it read in any case, and by this
lease's fence. So losing the table, or a lease, loses no memory.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection

from ...domain.catalogue import Owner
from ...domain.errors import MemoryFault
from .identity import is_dead
from .runtime import Runtime

_POLL_SECONDS = 0.05

# The clock of the database: hosts that share one need not agree about the time, leases must.
_SQLITE_NOW = "strftime('%Y-%m-%dT%H:%M:%f', 'now'{})"
_POSTGRES_NOW = "to_char((clock_timestamp(){}) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')"


@dataclass(frozen=True, slots=True)
class CurationLease:
    """A lease that was taken: its name and the fence that nobody else gets again."""

    name: str
    fence: int


def take_lease(runtime: Runtime, seconds: float) -> CurationLease | None:
    """The curation lease of the workspace for so many seconds, or None while another owner that may live has it."""
    name = f"curate:{runtime.workspace}"
    now, later = _clock(runtime, seconds)
    mark = "?" if runtime.log.database.sqlite else "%s"
    owner = runtime.owner.model_dump_json()
    with runtime.log.database.projecting() as connection:
        for held in (runtime.owner.model_dump_json(), _dead_holder(runtime, connection, name, mark)):
            # One statement decides, so that of two who see the same dead holder only one takes over.
            fence = connection.exec_driver_sql(
                f"INSERT INTO leases VALUES ({mark}, {mark}, 1, {later}) "  # noqa: S608 - placeholders and constants
                "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires = excluded.expires, "
                f"fence = leases.fence + 1 WHERE leases.expires <= {now} OR leases.owner = {mark} "
                "RETURNING fence",
                (name, owner, held),
            ).scalar()
            if fence is not None:
                return CurationLease(name, int(fence))
    return None


def wait_for_lease(runtime: Runtime, seconds: float, *, patience: float) -> CurationLease:
    """The same, waited for; an explicit curation gets its turn. Raises MemoryFault ``curation_busy``."""
    deadline = time.monotonic() + patience
    while (lease := take_lease(runtime, seconds)) is None:
        if time.monotonic() >= deadline:
            raise MemoryFault(
                "another process is curating the memory of this workspace; try again when it is done",
                code="curation_busy",
            )
        time.sleep(_POLL_SECONDS)
    return lease


def require_lease(runtime: Runtime, connection: Connection, lease: CurationLease) -> None:
    """For the transaction of a commit. Raises MemoryFault ``curation_lease_lost``: nothing is changed then (D15)."""
    mark = "?" if runtime.log.database.sqlite else "%s"
    fence = connection.exec_driver_sql(
        f"SELECT fence FROM leases WHERE name = {mark}",  # noqa: S608 - a placeholder
        (lease.name,),
    ).scalar()
    if fence != lease.fence:
        raise MemoryFault(
            "this curation took longer than its lease and another one has begun; its candidates stay pending",
            code="curation_lease_lost",
        )


def give_back(runtime: Runtime, lease: CurationLease) -> None:
    """Ends a lease; the row stays, with its fence, so that a fence is never used twice."""
    now, _ = _clock(runtime, 0)
    mark = "?" if runtime.log.database.sqlite else "%s"
    with runtime.log.database.projecting() as connection:
        connection.exec_driver_sql(
            f"UPDATE leases SET expires = {now} WHERE name = {mark} AND fence = {mark}",  # noqa: S608 - placeholders
            (lease.name, lease.fence),
        )


def _clock(runtime: Runtime, seconds: float) -> tuple[str, str]:
    """The database's expression of now, and of so many seconds later."""
    if runtime.log.database.sqlite:
        return _SQLITE_NOW.format(""), _SQLITE_NOW.format(f", '+{seconds:.3f} seconds'")
    return _POSTGRES_NOW.format(""), _POSTGRES_NOW.format(f" + interval '{seconds:.3f} seconds'")


def _dead_holder(runtime: Runtime, connection: Connection, name: str, mark: str) -> str:
    """The owner of the lease as stored, when it is a process of this host that is gone; else what no owner is."""
    text: Any = connection.exec_driver_sql(
        f"SELECT owner FROM leases WHERE name = {mark}",  # noqa: S608 - a placeholder
        (name,),
    ).scalar()
    if not isinstance(text, str):
        return ""
    try:
        owner = Owner.model_validate_json(text)
    except ValidationError:
        return ""
    now = runtime.now()
    return text if is_dead(owner, now=now, last_seen=now, lease_seconds=1.0) else ""
