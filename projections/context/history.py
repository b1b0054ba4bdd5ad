"""Lists that the context read model answers: sessions, messages with their state, runs, compactions (E3, M2, C7)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Select, Table, bindparam, func, or_, select

from ..prepared import prepared
from . import queries
from .tables import ContextTables

State = Literal["original", "reduced", "compacted"]
CompactionStatus = Literal["committed", "superseded", "undone", "rejected", "failed"]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session: ``messages`` and ``tokens`` count the originals, those inherited by a fork included."""

    session: str
    messages: int
    tokens: int
    runs: int
    compactions: int
    origin: str
    format: str | None
    parent: str | None
    parent_position: int | None
    forked: int | None
    closed: bool
    suspended: bool
    first_position: int
    last_position: int
    last_time: str


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One original and how it is shown at the position asked for.

    ``reason`` is empty, ``tool_payload_reduced`` or ``summarised``; ``reduction`` is the position of the event that
    holds the shorter content; ``compaction`` and ``summary`` are the id and commit position of the compaction whose
    summary stands for it. ``total`` counts the tokens of the session's originals up to and including this one.
    """

    position: int
    session: str
    message: str
    role: str
    form: str
    run: str | None
    tokens: int
    trust: str
    calls: tuple[str, ...]
    results: tuple[str, ...]
    state: State
    reason: str
    reduction: int | None
    compaction: str | None
    summary: int | None
    total: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as of the position asked for; ``owner`` is that of the event, as a dict, or None."""

    run: str
    session: str
    status: Literal["open", "succeeded", "failed", "interrupted"]
    reason: str | None
    imported: bool
    owner: dict[str, Any] | None
    lease_seconds: float
    position: int
    started: str
    ended_position: int | None
    ended: str | None
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """One attempt at a compaction and what became of it by the position asked for; ``covers`` are positions."""

    compaction: str
    session: str
    position: int
    status: CompactionStatus
    reasons: tuple[str, ...]
    error: str | None
    policy: str
    summarizer: str
    range_digest: str
    supersedes: str | None
    anchor: int | None
    upto: int | None
    covers: tuple[int, ...]
    summary_tokens: int
    tokens_before: int
    tokens_after: int | None
    input_tokens: int
    output_tokens: int
    trust: str
    time: str


def sessions(
    tables: ContextTables, connection: Connection, workspace: str, *, reserved: bool = False
) -> list[SessionRow]:
    """The sessions of a workspace, the one with the latest event first; ``@`` sessions only if ``reserved`` (D3)."""
    table = tables.sessions
    statement = select(table).where(table.c.workspace == workspace).order_by(table.c.last_position.desc())
    rows = connection.execute(statement).mappings()
    return [_session(row) for row in rows if reserved or not row["session"].startswith(queries.RESERVED)]


def session(tables: ContextTables, connection: Connection, workspace: str, session: str) -> SessionRow | None:
    """One session, or None when the workspace has none of that id."""
    row = queries.session_row(tables, connection, workspace, session)
    return None if row is None else _session(row)


def _session(row: Any) -> SessionRow:
    return SessionRow(
        row["session"],
        row["messages"] + row["inherited_messages"],
        row["tokens"] + row["inherited_tokens"],
        row["runs"],
        row["compactions"],
        row["origin"],
        row["format"],
        row["parent"],
        row["parent_position"],
        row["forked"],
        bool(row["closed"]),
        bool(row["suspended"]),
        row["first_position"],
        row["last_position"],
        row["last_time"],
    )


def messages(
    tables: ContextTables,
    connection: Connection,
    workspace: str,
    session: str,
    at: int | None = None,
    *,
    limit: int | None = None,
    before: int | None = None,
) -> list[MessageRow]:
    """The originals of a session as of ``at``, in order; with ``limit`` the last so many before position ``before``."""
    table = tables.messages
    found: list[Any] = []
    segments = queries.lineage(tables, connection, workspace, session, at)
    for name, upto in reversed(segments):
        if limit is not None and len(found) >= limit:
            break
        statement = select(table).where(table.c.workspace == workspace, table.c.session == name)
        if upto is not None:
            statement = statement.where(table.c.position <= upto)
        if before is not None:
            statement = statement.where(table.c.position < before)
        statement = statement.order_by(table.c.position.desc())
        if limit is not None:
            statement = statement.limit(limit - len(found))
        found.extend(connection.execute(statement))
    found.reverse()
    if not found:
        return []
    _, total = queries.totals(tables, connection, workspace, session, found[-1].position)
    total -= sum(row.tokens for row in found)
    shown, hidden = _shown(tables, connection, workspace, session, at)
    rows: list[MessageRow] = []
    for row in found:
        total += row.tokens
        rows.append(_message(row, shown, hidden, total))
    return rows


def _shown(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None
) -> tuple[dict[int, int | None], dict[int, tuple[str, int]]]:
    """Visible messages with the event that reduced them, and hidden ones with the compaction that covers them."""
    refs = queries.visible(tables, connection, workspace, session, at)
    shown = {ref[1]: ref[2] if len(ref) == 3 else None for ref in refs if ref[0] != "s"}
    hidden: dict[int, tuple[str, int]] = {}
    for done in queries.compacted(tables, connection, [ref[1] for ref in refs if ref[0] == "s"]):
        hidden.update(dict.fromkeys(done.covers, (done.compaction, done.position)))
    return shown, hidden


def _message(row: Any, shown: dict[int, int | None], hidden: dict[int, tuple[str, int]], total: int) -> MessageRow:
    state: State = "original"
    reason = ""
    reduction = shown.get(row.position)
    compaction: tuple[str | None, int | None] = (None, None)
    if row.position not in shown:
        state, reason = "compacted", "summarised"
        compaction = hidden.get(row.position, compaction)
    elif reduction is not None:
        state, reason = "reduced", "tool_payload_reduced"
    return MessageRow(
        row.position,
        row.session,
        row.message,
        row.role,
        row.form,
        row.run,
        row.tokens,
        row.trust,
        () if row.calls == "[]" else tuple(json.loads(row.calls)),
        () if row.results == "[]" else tuple(json.loads(row.results)),
        state,
        reason,
        reduction,
        *compaction,
        total,
    )


# --- runs


def runs(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> list[RunRow]:
    """The runs of a session as of ``at``, oldest first; a run that ended later is open (M2)."""
    table = tables.runs
    statement = select(table).where(table.c.workspace == workspace, table.c.session == session)
    if at is not None:
        statement = statement.where(table.c.position <= at)
    return [_run(row, at) for row in connection.execute(statement.order_by(table.c.position))]


def open_run(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> RunRow | None:
    """The run that is open in the session at ``at``, or None (M2)."""
    statement = prepared(tables.runs, "open", lambda: _open_at(tables.runs))
    row = statement.one(connection, workspace=workspace, session=session, at=queries.END if at is None else at)
    return None if row is None else _run(row, at)


def _open_at(table: Table) -> Select[Any]:
    at: Any = bindparam("at")
    here = (table.c.workspace == bindparam("workspace"), table.c.session == bindparam("session"))
    ended = or_(table.c.ended_position.is_(None), table.c.ended_position > at)
    return select(table).where(*here, table.c.position <= at, ended).order_by(table.c.position.desc()).limit(1)


def open_runs(tables: ContextTables, connection: Connection, workspace: str) -> list[RunRow]:
    """Every open run of a workspace: for interrupting those whose owner is gone (M2)."""
    table = tables.runs
    statement = select(table).where(table.c.workspace == workspace, table.c.ended_position.is_(None))
    return [_run(row, None) for row in connection.execute(statement.order_by(table.c.position))]


def _run(row: Any, at: int | None) -> RunRow:
    still_open = row.ended_position is None or (at is not None and row.ended_position > at)
    return RunRow(
        row.run,
        row.session,
        "open" if still_open else row.status,
        None if still_open else row.reason,
        bool(row.imported),
        None if row.owner is None else json.loads(row.owner),
        row.lease_seconds,
        row.position,
        row.started,
        None if still_open else row.ended_position,
        None if still_open else row.ended,
        0 if still_open else row.input_tokens,
        0 if still_open else row.output_tokens,
    )


# --- compactions


def compactions(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> list[CompactionRow]:
    """Every attempt at a compaction that the session has at ``at``, a fork's inherited ones included, oldest first."""
    table = tables.compactions
    rows: list[Any] = []
    for name, upto in queries.lineage(tables, connection, workspace, session, at):
        statement = select(table).where(table.c.workspace == workspace, table.c.session == name)
        if upto is not None:
            statement = statement.where(table.c.position <= upto)
        rows.extend(connection.execute(statement.order_by(table.c.position)))
    if not rows:
        return []
    shown = {ref[1] for ref in queries.visible(tables, connection, workspace, session, at) if ref[0] == "s"}
    epoch = queries.epoch(tables, connection, workspace, session, at)
    stack = set() if epoch is None else {position for _, position in epoch.undo}
    return [_compaction(row, _status(row, shown, stack)) for row in rows]


def was_shown(tables: ContextTables, connection: Connection, workspace: str, session: str, digest: str) -> bool:
    """Whether a context with this digest was handed out in the session (C11)."""
    statement = prepared(tables.shown, "digest", lambda: _of_digest(tables.shown))
    return statement.one(connection, workspace=workspace, session=session, digest=digest) is not None


def _of_digest(table: Table) -> Select[Any]:
    here = (table.c.workspace == bindparam("workspace"), table.c.session == bindparam("session"))
    return select(table.c.position).where(*here, table.c.digest == bindparam("digest")).limit(1)


def find_compaction(tables: ContextTables, connection: Connection, workspace: str, compaction: str) -> str | None:
    """The session in which a compaction was made: ``compaction undo C`` names no session."""
    table = tables.compactions
    statement = select(table.c.session).where(table.c.workspace == workspace, table.c.compaction == compaction)
    return connection.execute(statement.order_by(table.c.position).limit(1)).scalar()


def failures(
    tables: ContextTables, connection: Connection, workspace: str, session: str, at: int | None = None
) -> list[CompactionRow]:
    """Attempts that came to nothing since the last compaction that was committed, oldest first (C10)."""
    table = tables.compactions
    here = (table.c.workspace == workspace, table.c.session == session)
    upto = () if at is None else (table.c.position <= at,)
    last = select(func.coalesce(func.max(table.c.position), 0)).where(*here, *upto, table.c.outcome == "committed")
    statement = select(table).where(*here, *upto, table.c.position > last.scalar_subquery())
    return [_compaction(row, row.outcome) for row in connection.execute(statement.order_by(table.c.position))]


def _status(row: Any, shown: set[int], stack: set[int]) -> CompactionStatus:
    if row.outcome != "committed":
        return "failed" if row.outcome == "failed" else "rejected"
    if row.position in shown:
        return "committed"
    return "superseded" if row.position in stack else "undone"


def _compaction(row: Any, status: CompactionStatus) -> CompactionRow:
    return CompactionRow(
        row.compaction,
        row.session,
        row.position,
        status,
        tuple(json.loads(row.reasons)),
        row.error,
        row.policy,
        row.summarizer,
        row.range_digest,
        row.supersedes,
        row.anchor,
        row.upto,
        tuple(json.loads(row.covers)),
        row.summary_tokens,
        row.tokens_before,
        row.tokens_after,
        row.input_tokens,
        row.output_tokens,
        row.trust,
        row.time,
    )
