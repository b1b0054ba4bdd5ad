"""One at a time across processes: a row with an owner, a fence and an expiry on the database's own clock (C6, D6).

A claim is no lock: its owner can be dead, or asleep and wake up late. So it runs out, each taking raises the fence,
and who commits under a claim checks in the same transaction that it still holds it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnClause, Connection, delete, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite

from ...domain.errors import StreamConflict
from ..store.schema import leases
from .runtime import Runtime

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that was taken; ``fence`` tells it from every earlier and later one of the same name."""

    runtime: Runtime
    name: str
    fence: int

    def check(self, connection: Connection, positions: list[int]) -> None:
        """For ``Log.append(within=...)``. Raises StreamConflict when the claim ran out and somebody else took it."""
        held = connection.execute(
            select(leases.c.fence).where(leases.c.name == self.name, leases.c.owner == self.runtime.id)
        ).scalar()
        if held != self.fence:
            raise StreamConflict(f"the claim {self.name!r} was lost to another process; look again and retry")

    def renew(self, seconds: float) -> None:
        """Holds it for ``seconds`` from now; does nothing when it was lost, ``check`` will tell."""
        with self.runtime.log.database.projecting() as connection:
            _, until = _clock(self.runtime, seconds)
            connection.execute(
                leases.update().where(leases.c.name == self.name, leases.c.fence == self.fence).values(expires=until)
            )

    def release(self) -> None:
        """Lets the next one have it; the row stays, for its fence must never go back."""
        with self.runtime.log.database.projecting() as connection:
            connection.execute(
                leases.update()
                .where(leases.c.name == self.name, leases.c.fence == self.fence)
                .values(owner="", expires="")
            )


def take(runtime: Runtime, name: str, *, seconds: float, wait_seconds: float = 0.0) -> Claim | None:
    """Takes a claim for ``seconds``, waiting at most ``wait_seconds`` for its holder; None when it is held."""
    deadline = time.monotonic() + wait_seconds
    while True:
        with runtime.log.database.projecting() as connection:
            fence = _take(runtime, connection, name, seconds)
        if fence is not None:
            return Claim(runtime, name, fence)
        if time.monotonic() >= deadline:
            return None
        time.sleep(_POLL_SECONDS)


def forget(runtime: Runtime, name: str) -> None:
    """Removes a claim's row: for tests and for ``doctor``."""
    with runtime.log.database.projecting() as connection:
        connection.execute(delete(leases).where(leases.c.name == name))


def _take(runtime: Runtime, connection: Connection, name: str, seconds: float) -> int | None:
    now, until = _clock(runtime, seconds)
    insert = (sqlite if runtime.log.database.sqlite else postgresql).insert(leases)
    free = (leases.c.owner == "") | (leases.c.expires < now)
    statement = insert.values(name=name, owner=runtime.id, fence=1, expires=until).on_conflict_do_update(
        index_elements=[leases.c.name],
        set_={
            "owner": runtime.id,
            "fence": leases.c.fence + 1,
            "expires": until,
        },
        where=free,
    )
    return connection.execute(statement.returning(leases.c.fence)).scalar()


def _clock(runtime: Runtime, seconds: float) -> tuple[ColumnClause[Any], ColumnClause[Any]]:
    """Now, and ``seconds`` from now, by the database's clock, as text that sorts."""
    if runtime.log.database.sqlite:
        now, shift = (
            "strftime('%Y-%m-%dT%H:%M:%f', 'now')",
            f"strftime('%Y-%m-%dT%H:%M:%f', 'now', '{seconds:+.3f} seconds')",
        )
    else:
        shape = "'YYYY-MM-DD\"T\"HH24\\:MI\\:SS.MS'"
        clock = "clock_timestamp() AT TIME ZONE 'UTC'"
        now, shift = f"to_char({clock}, {shape})", f"to_char({clock} + interval '{seconds:.3f} seconds', {shape})"
    return literal_column(now), literal_column(shift)
