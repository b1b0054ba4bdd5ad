"""What the context read model answers, now (``at=None``) and as of any position, by index look-ups (E3).

Every function takes the tables, a connection, a workspace and a session, and nothing else: no clock, no log.
The texts stand in the log at the positions that are returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, Update, and_, bindparam, func, or_, select, update

from ..prepared import prepared
from .epochs import Compacted, Ref, Visible, refs_from_json, stack_from_json
from .tables import ContextTables

RESERVED = "@"
"""Sessions whose id starts so are minutebook's own (a person's proposals, D3) and are not listed."""

END = 2**63 - 1
"""Beyond every position."""

AMONG = 100
"""Names that one statement looks for."""
_PLACES = tuple(f"name_{number}" for number in range(AMONG))


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
    statement = prepared(tables.sessions, "session", lambda: _of_session(tables.sessions))
    return statement.mapping(connection, workspace=workspace, session=session)


def lineage(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> list[tuple[str, int | None]]:
    """The sessions whose messages this one has at ``at``, oldest ancestor first, each with its last position (M6)."""
    sessions = tables.sessions
    statement = prepared(
        sessions, "parent", lambda: _of_session(sessions, sessions.c.parent, sessions.c.parent_position)
    )
    found: list[tuple[str, int | None]] = []
    seen: set[str] = set()
    name: str | None = session
    while name is not None and name not in seen:
        seen.add(name)
        found.append((name, at))
        row = statement.one(connection, workspace=workspace, session=name)
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
        row = _newest(tables.epochs, connection, workspace, name, upto)
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
        row = _newest(tables.epochs, connection, workspace, name, upto)
        if row is not None:
            break
        # Before its first epoch a fork shows what its parent shows; a session without parent, all its messages.
        parent = session_row(tables, connection, workspace, name)
        if parent is None or parent["parent"] is None:
            break
        name = parent["parent"]
        upto = parent["parent_position"] if upto is None else min(upto, parent["parent_position"])
    refs = [] if row is None else refs_from_json(row.visible)
    after = 0 if row is None else row.position
    messages = tables.messages
    statement = prepared(messages, "after", lambda: _after(messages, messages.c.position))
    found = statement.tuples(
        connection, workspace=workspace, session=name, after=after, upto=END if upto is None else upto
    )
    refs.extend([("m", position) for (position,) in found])
    return refs


def since(
    tables: ContextTables, connection: Connection, workspace: str, session: str, after: int, upto: int
) -> list[tuple[Any, ...]]:
    """Messages of the session itself after one position and up to another, as (id, position), in order."""
    messages = tables.messages
    statement = prepared(messages, "since", lambda: _after(messages, messages.c.message, messages.c.position))
    return statement.tuples(connection, workspace=workspace, session=session, after=after, upto=upto)


def totals(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> tuple[int, int]:
    """Messages and tokens of the originals that the session has at ``at``, inherited ones included."""
    messages = tables.messages
    statement = prepared(messages, "totals", lambda: _totals(messages))
    count, tokens = 0, 0
    for name, upto in lineage(tables, connection, workspace, session, at):
        upto = END if upto is None else upto
        ((more, their_tokens),) = statement.tuples(connection, workspace=workspace, session=name, upto=upto)
        count, tokens = count + more, tokens + int(their_tokens)
    return count, tokens


def positions_of(
    tables: ContextTables,
    connection: Connection,
    workspace: str,
    session: str,
    ids: Iterable[str],
    at: int | None = None,
) -> dict[str, int]:
    """Positions of messages by id as of ``at``; where a fork used an id of its parent again, the fork's own."""
    messages = tables.messages
    wanted = list(dict.fromkeys(ids))
    statement = prepared(messages, "ids", lambda: _among(messages))
    found: dict[str, int] = {}
    for name, upto in lineage(tables, connection, workspace, session, at):
        here = {"workspace": workspace, "session": name, "upto": END if upto is None else upto}
        for start in range(0, len(wanted), AMONG):
            some = wanted[start : start + AMONG]
            some += some[-1:] * (AMONG - len(some))  # the statement has so many places, and no name more is found
            found.update(statement.tuples(connection, **here, **dict(zip(_PLACES, some, strict=True))))
    return found


def compacted(tables: ContextTables, connection: Connection, positions: Iterable[int]) -> list[Compacted]:
    """What the commits at these positions did, in order of position."""
    statement = prepared(tables.compactions, "done", lambda: _done(tables.compactions))
    rows = [row for position in sorted(positions) for row in statement.tuples(connection, position=position)]
    return [
        Compacted(row[0], row[1], row[2], row[3] or 0, tuple(json.loads(row[4])), tuple(json.loads(row[5])))
        for row in rows
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
    return _newest(tables.freezes, connection, workspace, session, at, runtime=runtime)


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
    return _newest(tables.preambles, connection, workspace, session, at, preamble=id)


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
    return _newest(tables.shown, connection, workspace, session, at, runtime=runtime)


def end_run(
    tables: ContextTables, connection: Connection, workspace: str, session: str, run: str, change: dict[str, Any]
) -> None:
    """Changes the row of a run that is open: for the fold."""
    statement = prepared(tables.runs, ("ended", *change), lambda: _ended(tables.runs, change))
    statement.run(connection, in_workspace=workspace, in_session=session, in_run=run, **change)


# --- statements, each made once for a table


def _ended(runs: Table, change: dict[str, Any]) -> Update:
    here = (
        runs.c.workspace == bindparam("in_workspace"),
        runs.c.session == bindparam("in_session"),
        runs.c.run == bindparam("in_run"),
        runs.c.status == "open",
    )
    values: dict[str, Any] = {name: bindparam(name) for name in change}
    return update(runs).where(*here).values(values)


def _of_session(table: Table, *columns: Column[Any]) -> Select[Any]:
    here = (table.c.workspace == bindparam("workspace"), table.c.session == bindparam("session"))
    return select(*(columns or (table,))).where(*here)


def _upto(table: Table, *columns: Any) -> Select[Any]:
    return _of_session(table, *columns).where(table.c.position <= bindparam("upto"))


def _after(messages: Table, *columns: Any) -> Select[Any]:
    statement = _upto(messages, *columns).where(messages.c.position > bindparam("after"))
    return statement.order_by(messages.c.position)


def _among(messages: Table) -> Select[Any]:
    places: list[Any] = [bindparam(place) for place in _PLACES]
    return _upto(messages, messages.c.message, messages.c.position).where(messages.c.message.in_(places))


def _done(table: Table) -> Select[Any]:
    wanted = (table.c.position, table.c.compaction, table.c.supersedes, table.c.anchor, table.c.covers, table.c.reduced)
    return select(*wanted).where(table.c.position == bindparam("position"))


def _totals(messages: Table) -> Select[Any]:
    return _upto(messages, func.count(), func.coalesce(func.sum(messages.c.tokens), 0))


def _newest(
    table: Table, connection: Connection, workspace: str, session: str, at: int | None, **wanted: str | None
) -> Any | None:
    """The last row at or before ``at`` whose columns have what is wanted of them; None wants nothing."""
    given = {name: value for name, value in wanted.items() if value is not None}

    def make() -> Select[Any]:
        statement = _upto(table, *table.columns).where(*(table.c[name] == bindparam(name) for name in given))
        return statement.order_by(table.c.position.desc()).limit(1)

    statement = prepared(table, ("newest", *given), make)
    upto = END if at is None else at
    return statement.one(connection, workspace=workspace, session=session, upto=upto, **given)
