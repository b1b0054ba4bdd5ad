"""One curation at a time for a workspace, whoever runs it (D6, M05): a claim of its own name.

It spares work and money: what a curation commits is fenced by the streams that it read in any case, and by this
claim's fence. So losing the table, or a claim, loses no memory.
"""

from __future__ import annotations

from typing import TypeAlias

from sqlalchemy import Connection

from ...domain.catalogue import Owner
from ...domain.errors import MemoryFault
from . import claims
from .claims import Claim
from .identity import is_dead
from .runtime import Runtime

CurationLease: TypeAlias = Claim


def take_lease(runtime: Runtime, seconds: float) -> CurationLease | None:
    """The curation lease of the workspace for so many seconds, or None while another owner that may live has it."""
    return claims.take(runtime, _name(runtime), seconds=seconds, again=True)


def wait_for_lease(runtime: Runtime, seconds: float, *, patience: float) -> CurationLease:
    """The same, waited for; an explicit curation gets its turn. Raises MemoryFault ``curation_busy``."""
    lease = claims.take(runtime, _name(runtime), seconds=seconds, wait_seconds=patience, again=True)
    if lease is None:
        raise MemoryFault(
            "another process is curating the memory of this workspace; try again when it is done",
            code="curation_busy",
        )
    return lease


def require_lease(runtime: Runtime, connection: Connection, lease: CurationLease) -> None:
    """For the transaction of a commit. Raises MemoryFault ``curation_lease_lost``: nothing is changed then (D15)."""
    if not lease.in_force(connection):
        raise MemoryFault(
            "this curation took longer than its lease; nothing was changed, and its candidates stay pending: curate "
            "again, or raise curator_timeout_seconds",
            code="curation_lease_lost",
        )


def require_lease_now(runtime: Runtime, lease: CurationLease) -> None:
    """The same on a look of its own, for the moment before the file is written. Raises as ``require_lease``."""
    with runtime.log.database.reading() as connection:
        require_lease(runtime, connection, lease)


def holder_of(runtime: Runtime) -> dict[str, object] | None:
    """Who curates this workspace now, or did when it stopped: ``pid``, ``host``, ``running``; None: nobody (D15)."""
    text, running = claims.holder(runtime, _name(runtime))
    try:
        owner = Owner.model_validate_json(text or "")
    except ValueError:
        return None
    now = runtime.now()
    gone = is_dead(owner, now=now, last_seen=now, lease_seconds=1.0) is not None
    state = "dead" if gone else "running" if running else "expired"
    return {"pid": owner.pid, "host": owner.host, "state": state}


def give_back(runtime: Runtime, lease: CurationLease) -> None:
    """Ends a lease; the row stays, with its fence, so that a fence is never used twice."""
    lease.release()


def _name(runtime: Runtime) -> str:
    return f"curate:{runtime.workspace}"
