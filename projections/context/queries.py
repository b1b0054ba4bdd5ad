"""What the context read model answers, now (``at=None``) and as of any position, by index look-ups (E3).

Every function takes the tables, a connection, a workspace and a session, and nothing else: no clock, no log.
The texts stand in the log at the positions that are returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, func, or_, select

from .epochs import Compacted, Ref, Visible, refs_from_json, stack_from_json
from .tables import ContextTables

RESERVED = "@"
"""Sessions whose id starts so are minutebook's own (a person's proposals, D3) and are not listed."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What was visible from ``position`` on; ``undo`` and ``redo`` are the compactions that can be undone or redone."""

    position: int
    session: str
    kind: str
    visible: tuple[Ref, ...]
    live: str | None
    undo: tuple[tuple[str, int], ...]
    redo: tuple[tuple[str, int], ...]


def session_row(tables: ContextTables, connection: Connection, workspace: str, session: str) -> dict[str, Any] | None:
    """The stored row of one session, or None."""
    statement = select(tables.sessions).where(
        tables.sessions.c.workspace == workspace, tables.sessions.c.session == session
    )
    row = connection.execute(statement).mappings().one_or_none()
    return None if row is None else dict(row)


def lineage(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> list[tuple[str, int | None]]:
    """The sessions whose messages this one has at ``at``, oldest ancestor first, each with its last position (M6)."""
    sessions = tables.sessions
    found: list[tuple[str, int | None]] = []
    seen: set[str] = set()
    name: str | None = session
    while name is not None and name not in seen:
        seen.add(name)
        found.append((name, at))
        statement = select(sessions.c.parent, sessions.c.parent_position).where(
            sessions.c.workspace == workspace, sessions.c.session == name
        )
        row = connection.execute(statement).one_or_none()
        if row is None or row.parent is None:
            break
        name, at = row.parent, row.parent_position if at is None else min(at, row.parent_position)
    return found[::-1]


def answers(tables: ContextTables, connection: Connection, workspace: str, session: str) -> Select[Any]:
    """The positions of a session's answers in order: what the model said each time that it was asked.

    Of assistant messages that follow each other only the first is one, and none that nothing stands before.
    """
    table = tables.messages
    segments = [
        and_(table.c.session == name, *(() if upto is None else (table.c.position <= upto,)))
        for name, upto in lineage(tables, connection, workspace, session)
    ]
    before = func.lag(table.c.role).over(order_by=table.c.position).label("before")
    listed = select(table.c.position, table.c.role, before).where(table.c.workspace == workspace, or_(*segments))
    inner = listed.subquery()
    return (
        select(inner.c.position)
        .where(inner.c.role == "assistant", inner.c.before != "assistant")
        .order_by(inner.c.position)
    )


def epoch(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> Epoch | None:
    """The epoch in force at ``at``: that of the parent before a fork; None while nothing was reduced or compacted."""
    for name, upto in reversed(lineage(tables, connection, workspace, session, at)):
        row = connection.execute(_newest(tables.epochs, workspace, name, upto)).one_or_none()
        if row is not None:
            return Epoch(
                row.position,
                name,
                row.kind,
                tuple(refs_from_json(row.visible)),
                row.live,
                tuple(stack_from_json(row.undo)),
                tuple(stack_from_json(row.redo)),
            )
    return None


def visible(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> Visible:
    """References to what the model sees of the session at ``at``, in order; see ``epochs`` for their form."""
    name, upto = session, at
    while True:
        row = connection.execute(_newest(tables.epochs, workspace, name, upto)).one_or_none()
        if row is not None:
            break
        # Before its first epoch a fork shows what its parent shows; a session without parent, all its messages.
        parent = session_row(tables, connection, workspace, name)
        if parent is None or parent["parent"] is None:
            break
        name = parent["parent"]
        upto = parent["parent_position"] if upto is None else min(upto, parent["parent_position"])
    refs = [] if row is None else refs_from_json(row.visible)
    messages = tables.messages
    statement = select(messages.c.position).where(messages.c.workspace == workspace, messages.c.session == name)
    if row is not None:
        statement = statement.where(messages.c.position > row.position)
    if upto is not None:
        statement = statement.where(messages.c.position <= upto)
    refs.extend(("m", position) for position in connection.execute(statement.order_by(messages.c.position)).scalars())
    return refs


def totals(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> tuple[int, int]:
    """Messages and tokens of the originals that the session has at ``at``, inherited ones included."""
    messages = tables.messages
    count, tokens = 0, 0
    for name, upto in lineage(tables, connection, workspace, session, at):
        statement = select(func.count(), func.coalesce(func.sum(messages.c.tokens), 0)).where(
            messages.c.workspace == workspace, messages.c.session == name
        )
        if upto is not None:
            statement = statement.where(messages.c.position <= upto)
        row = connection.execute(statement).one()
        count, tokens = count + row[0], tokens + int(row[1])
    return count, tokens


def positions_of(
    tables: ContextTables, connection: Connection, workspace: str, session: str, ids: Iterable[str]
) -> dict[str, int]:
    """Positions of messages by id; where a fork used an id of its parent again, the fork's own."""
    messages = tables.messages
    wanted = list(dict.fromkeys(ids))
    found: dict[str, int] = {}
    for name, upto in lineage(tables, connection, workspace, session):
        for start in range(0, len(wanted), 500):
            statement = select(messages.c.message, messages.c.position).where(
                messages.c.workspace == workspace,
                messages.c.session == name,
                messages.c.message.in_(wanted[start : start + 500]),
            )
            if upto is not None:
                statement = statement.where(messages.c.position <= upto)
            found.update((row.message, row.position) for row in connection.execute(statement))
    return found


def compacted(tables: ContextTables, connection: Connection, positions: Iterable[int]) -> list[Compacted]:
    """What the commits at these positions did, in order of position."""
    table = tables.compactions
    statement = select(
        table.c.position, table.c.compaction, table.c.supersedes, table.c.anchor, table.c.covers, table.c.reduced
    ).where(table.c.position.in_(list(positions)))
    return [
        Compacted(row[0], row[1], row[2], row[3] or 0, tuple(json.loads(row[4])), tuple(json.loads(row[5])))
        for row in connection.execute(statement.order_by(table.c.position))
    ]


# --- what was frozen and shown


def freeze(
    tables: ContextTables,
    connection: Connection,
    workspace: str,
    session: str,
    at: int | None = None,
    *,
    runtime: str | None = None,
) -> Any | None:
    """The last memory freeze at or before ``at`` (position, runtime, revision, digest, block_digest), or None (D7)."""
    return connection.execute(_newest(tables.freezes, workspace, session, at, runtime=runtime)).one_or_none()


def preamble(
    tables: ContextTables,
    connection: Connection,
    workspace: str,
    session: str,
    at: int | None = None,
    *,
    id: str | None = None,
) -> Any | None:
    """The last recorded system prompt and tools (position, preamble, tokens) at or before ``at``, or None (C11)."""
    return connection.execute(_newest(tables.preambles, workspace, session, at, preamble=id)).one_or_none()


def last_shown(
    tables: ContextTables,
    connection: Connection,
    workspace: str,
    session: str,
    at: int | None = None,
    *,
    runtime: str | None = None,
) -> Any | None:
    """The last context that was handed out: a row of ``context_shown``, or None (C11)."""
    return connection.execute(_newest(tables.shown, workspace, session, at, runtime=runtime)).one_or_none()


def _newest(table: Table, workspace: str, session: str, at: int | None, **wanted: str | None) -> Select[Any]:
    """The last row at or before ``at`` whose columns have what is wanted of them; None wants nothing."""
    statement = select(table).where(table.c.workspace == workspace, table.c.session == session)
    statement = statement.where(*(table.c[name] == value for name, value in wanted.items() if value is not None))
    if at is not None:
        statement = statement.where(table.c.position <= at)
    return statement.order_by(table.c.position.desc()).limit(1)
