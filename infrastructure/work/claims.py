"""One at a time across processes: a row with an owner, a fence and an expiry on the database's own clock (C6, D6, D15).

A claim is no lock: its owner can be dead, or asleep and wake up late. So it runs out, a dead owner on this host loses
it at once, each taking raises the fence, and who commits under a claim checks in the same transaction that it still
holds it. Losing the table loses no history: streams and their versions are the last fence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnClause, Connection, delete, select, update

from ...domain.catalogue import Owner
from ...domain.errors import StreamConflict
from ...projections.projection import inserter
from ..store.leasing import clock
from ..store.schema import leases
from .identity import is_dead
from .runtime import Runtime

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that was taken; ``fence`` tells it from every earlier and later one of the same name."""

    runtime: Runtime
    name: str
    fence: int

    def held(self, connection: Connection) -> bool:
        """Whether nobody else has taken it since: a claim that ran out and was left alone still holds."""
        return connection.execute(select(leases.c.fence).where(leases.c.name == self.name)).scalar() == self.fence

    def in_force(self, connection: Connection) -> bool:
        """The same, and that its time has not run out: for whoever must not act on what it knew before a long sleep."""
        now, _ = _clock(self.runtime, 0.0)
        statement = select(leases.c.fence).where(leases.c.name == self.name, leases.c.expires > now)
        return connection.execute(statement).scalar() == self.fence

    def check(self, connection: Connection, positions: list[int]) -> None:
        """For ``Log.append(within=...)``. Raises StreamConflict when the claim ran out and somebody else took it."""
        if not self.held(connection):
            raise StreamConflict(f"the claim {self.name!r} was lost to another process; look again and retry")

    def renew(self, seconds: float) -> None:
        """Holds it for ``seconds`` from now; does nothing when it was lost, ``check`` will tell."""
        with self.runtime.log.database.projecting() as connection:
            self.renew_in(connection, seconds)

    def renew_in(self, connection: Connection, seconds: float) -> bool:
        """The same in a transaction of the caller's; False when it was lost."""
        _, until = _clock(self.runtime, seconds)
        return connection.execute(update(leases).where(*self._mine).values(expires=until)).rowcount == 1

    def release(self) -> None:
        """Lets the next one have it; the row stays, for its fence must never go back."""
        with self.runtime.log.database.projecting() as connection:
            connection.execute(update(leases).where(*self._mine).values(owner="", expires=""))

    @property
    def _mine(self) -> tuple[Any, ...]:
        return (leases.c.name == self.name, leases.c.fence == self.fence)


def take(
    runtime: Runtime, name: str, *, seconds: float, wait_seconds: float = 0.0, again: bool = False
) -> Claim | None:
    """Takes a claim for ``seconds``, waiting at most ``wait_seconds`` for its holder; None when it is held.

    ``again``: this runtime may take over what it holds itself.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        with runtime.log.database.projecting() as connection:
            fence = _take(runtime, connection, name, seconds, again)
        if fence is not None:
            return Claim(runtime, name, fence)
        if time.monotonic() >= deadline:
            return None
        time.sleep(_POLL_SECONDS)


def hold(runtime: Runtime, name: str, decide: Callable[[str, bool], str | None], *, seconds: float) -> None:
    """Takes or renews a claim in the name of something that outlives processes (a folder).

    ``decide`` gets who had it last ("" for nobody) and whether that one's time is still running, and says who has it
    from now on; None leaves it as it is. Nobody else decides meanwhile.
    """
    with runtime.log.database.projecting() as connection:
        now, until = _clock(runtime, seconds)
        insert = inserter(connection.dialect.name)(leases)
        # The row first, so that there is one to lock: two who begin at once come one after the other.
        connection.execute(insert.values(name=name, owner="", fence=1, expires="").on_conflict_do_nothing())
        mine = leases.c.name == name
        statement = select(leases.c.owner, leases.c.expires > now).where(mine).with_for_update()
        before, running = connection.execute(statement).one()
        owner = decide(before, bool(running))
        if owner is not None:
            fence = leases.c.fence + int(before != owner)
            connection.execute(update(leases).where(mine).values(owner=owner, expires=until, fence=fence))


def holder(runtime: Runtime, name: str) -> tuple[str, bool]:
    """Who took a claim last ("" when nobody did), and whether its time is still running."""
    now, _ = _clock(runtime, 0.0)
    with runtime.log.database.reading() as connection:
        statement = select(leases.c.owner, leases.c.expires > now).where(leases.c.name == name)
        row = connection.execute(statement).one_or_none()
    return ("", False) if row is None else (row[0], bool(row[1]))


def forget(runtime: Runtime, name: str) -> None:
    """Removes a claim's row; what was decided under it stays fenced by its streams."""
    with runtime.log.database.projecting() as connection:
        connection.execute(delete(leases).where(leases.c.name == name))


def _take(runtime: Runtime, connection: Connection, name: str, seconds: float, again: bool) -> int | None:
    now, until = _clock(runtime, seconds)
    owner = runtime.owner.model_dump_json()
    takeable = ["", *([owner] if again else []), *_dead_holder(runtime, connection, name)]
    # One statement decides, so that of two who see the same dead holder only one takes over.
    insert = inserter(connection.dialect.name)(leases)
    statement = insert.values(name=name, owner=owner, fence=1, expires=until).on_conflict_do_update(
        index_elements=[leases.c.name],
        set_={"owner": owner, "fence": leases.c.fence + 1, "expires": until},
        where=leases.c.owner.in_(takeable) | (leases.c.expires <= now),
    )
    fence: int | None = connection.execute(statement.returning(leases.c.fence)).scalar()
    return fence


def _dead_holder(runtime: Runtime, connection: Connection, name: str) -> list[str]:
    """The holder as stored, when it is a process of this host that is gone."""
    text = connection.execute(select(leases.c.owner).where(leases.c.name == name)).scalar()
    try:
        owner = Owner.model_validate_json(text or "")
    except ValidationError:
        return []
    now = runtime.now()
    return [str(text)] if is_dead(owner, now=now, last_seen=now, lease_seconds=1.0) else []


def _clock(runtime: Runtime, seconds: float) -> tuple[ColumnClause[Any], ColumnClause[Any]]:
    """Now, and ``seconds`` from now, by the database's clock."""
    here = runtime.log.database.sqlite
    return clock(here), clock(here, seconds)
