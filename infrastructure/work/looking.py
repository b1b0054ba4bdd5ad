"""Reading compositions: lists and pages that join a projection with the log; nothing here appends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from ...domain.catalogue import CompactionCommitted, MessageRecorded
from ...domain.erasure import ERASED
from ...domain.errors import InputError, SessionError
from ...domain.events import TOPICS, LoggedEvent
from ...domain.neutral import content_json
from ...domain.parts import parts_from_json
from ...domain.whole_numbers import whole_number
from ...projections.context import history
from . import conversation
from .erasure.records import tombstones
from .runtime import Runtime
from .visible import Reader, message_of

# --- sessions


def sessions(runtime: Runtime) -> list[dict[str, Any]]:
    """One line a session, the latest first."""
    with runtime.projections.reading("context") as (view, connection):
        rows = history.sessions(view, connection, runtime.workspace)
    return [_session_line(row) for row in rows]


def session_row(runtime: Runtime, session: str) -> dict[str, Any]:
    with runtime.projections.reading("context") as (view, connection):
        row = history.session(view, connection, runtime.workspace, session)
    if row is None:
        raise SessionError(f"there is no session {session!r}", code="unknown_session")
    return _session_line(row)


def _session_line(row: history.SessionRow) -> dict[str, Any]:
    return {
        "session": row.session,
        "messages": row.messages,
        "runs": row.runs,
        "tokens": row.tokens,
        "compactions": row.compactions,
        "origin": row.origin,
        "format": row.format,
        "parent": row.parent,
        "parent_position": row.parent_position,
        "closed": row.closed,
        "first_position": row.first_position,
        "last_position": row.last_position,
        "last_time": row.last_time,
    }


def sessions_with_open_run(runtime: Runtime) -> list[str]:
    with runtime.projections.reading("context") as (view, connection):
        return [run.session for run in history.open_runs(view, connection, runtime.workspace)]


# --- messages


def messages(
    runtime: Runtime, session: str, *, at: int | None, limit: int | None, before: int | None
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each original with what is known of it, in order."""
    conversation.require_session(runtime, session)
    with runtime.projections.reading("context") as (view, connection):
        rows = history.messages(view, connection, runtime.workspace, session, at, limit=limit, before=before)
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        reductions = {row.reduction for row in part if row.reduction is not None}
        events = runtime.log.at([row.position for row in part] + list(reductions))
        gone = tombstones(runtime, [event.position for event in events.values() if event.erased])
        for row in part:
            yield _message(row, events, gone)


def _message(
    row: history.MessageRow, events: dict[int, LoggedEvent], gone: dict[int, dict[str, Any]]
) -> tuple[Any, dict[str, Any]]:
    event = events[row.position]
    message = message_of(event)
    content = content_json(message.parts)
    known = {
        "position": row.position,
        "id": row.message,
        "role": row.role,
        "content": content,
        "state": "erased" if event.erased else row.state,
        "reason": row.reason or None,
        "covered_by": row.compaction,
        "summary_position": row.summary,
        "run": row.run,
        "session": row.session,
        "trust": row.trust,
        "form": row.form,
        "tokens": row.tokens,
        "total": row.total,
        "time": event.time.isoformat(),
        "source": None if event.erased else message.source,
    }
    if event.erased:
        known["erased"] = gone.get(row.position)
    if row.reduction is not None:
        shown = events[row.reduction].body.content.get("reductions", {}).get(row.message)
        if shown is not None:
            known["shown"] = content_json(parts_from_json(shown["parts"]))
    return message.source, known


def recall(runtime: Runtime, position: int, around: int) -> list[dict[str, Any]]:
    """The original at a position with its neighbours in the session (D17)."""
    whole_number(around, "around")
    found = runtime.event_at(position)
    if found.topic != MessageRecorded.TOPIC or found.session is None:
        raise InputError(
            f"event {position} is a {found.topic} and no message; 'minutebook trace {position}' shows it",
            code="not_a_message",
        )
    with runtime.projections.reading("context") as (view, connection):
        table = view.messages
        here = (table.c.workspace == runtime.workspace, table.c.session == found.session)
        later = select(table.c.position).where(*here, table.c.position > position).order_by(table.c.position)
        after = list(connection.execute(later.limit(around)).scalars()) if around else []
        end = after[-1] if after else position
        rows = history.messages(
            view, connection, runtime.workspace, found.session, None, limit=around + 1 + len(after), before=end + 1
        )
    events = runtime.log.at(
        [row.position for row in rows] + [row.reduction for row in rows if row.reduction is not None]
    )
    gone = tombstones(runtime, [row.position for row in rows if events[row.position].erased])
    return [_message(row, events, gone)[1] for row in rows]


# --- compactions


def compactions(runtime: Runtime, session: str) -> list[dict[str, Any]]:
    """Every attempt at a compaction of a session, oldest first."""
    conversation.require_session(runtime, session)
    with runtime.projections.reading("context") as (view, connection):
        rows = history.compactions(view, connection, runtime.workspace, session)
    events = runtime.log.at(row.position for row in rows)
    return [_compaction(row, events[row.position]) for row in rows]


def _compaction(row: history.CompactionRow, event: LoggedEvent) -> dict[str, Any]:
    body = event.body
    covers = list(body.covers) if isinstance(body, CompactionCommitted) else []
    text = ERASED if event.erased else body.content.get("summary") or body.content.get("message")
    return {
        "compaction": row.compaction,
        "status": row.status,
        "reason": ",".join(row.reasons) or row.error,
        "hidden": covers,
        "tokens_before": row.tokens_before,
        "tokens_after": row.tokens_before if row.tokens_after is None else row.tokens_after,
        "position": row.position,
        "supersedes": row.supersedes,
        "policy": row.policy,
        "summarizer": row.summarizer,
        "trust": row.trust,
        "time": row.time,
        "text": text,
    }


def usage(runtime: Runtime) -> dict[str, Any]:
    """Tokens that compressor and curator used, from the log (D10)."""
    totals: dict[str, dict[str, int]] = {}
    accounts = {
        "compressor": ("CompactionCommitted", "CompactionRejected", "CompactionFailed"),
        "curator": ("RevisionPrepared", "CurationRejected"),
        "evidence": ("EvidenceCollected",),
        "runs": ("RunSucceeded", "RunFailed"),
    }
    for account, topics in accounts.items():
        total = {"input_tokens": 0, "output_tokens": 0}
        for event in runtime.log.read(topics=topics, workspace=runtime.workspace):
            spent = getattr(event.body, "usage", None)
            if spent is not None:
                total["input_tokens"] += spent.input_tokens
                total["output_tokens"] += spent.output_tokens
        totals[account] = total
    return totals


# --- the log


def log(
    runtime: Runtime,
    *,
    after: int = 0,
    before: int | None = None,
    type: str | None = None,
    session: str | None = None,
    run: str | None = None,
    stream: str | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Events as the command line prints them. Raises InputError ``unknown_type``, ``bad_option``."""
    for what, number in (("after", after), ("before", before), ("limit", limit)):
        if number is not None:
            whole_number(number, what)
    found = runtime.log.read(
        after=after,
        before=before,
        topics=() if type is None else (_topic(type),),
        session=session,
        run=run,
        stream=None if stream is None else _uuid(stream),
        workspace=runtime.workspace,
        since=moment(since),
        until=moment(until),
        limit=limit,
    )
    return (event_line(event) for event in found)


def event_line(event: LoggedEvent) -> dict[str, Any]:
    """One event as a dictionary; the payload stands in ``body.payload``, None when there is none or it was erased."""
    body: dict[str, Any] = json.loads(event.facts)
    body["payload"] = None if event.payload is None else json.loads(event.payload)
    if event.erased:
        body["erased"] = True
    return {
        "position": event.position,
        "type": event.type,
        "stream": str(event.stream),
        "version": event.version,
        "time": event.time.isoformat(),
        "session": event.session,
        "run": event.run,
        "actor": event.actor,
        "trust": event.envelope.trust,
        "causation": event.envelope.causation,
        "body": body,
    }


def _topic(name: str) -> str:
    for known in TOPICS:
        if known.casefold() == str(name).casefold():
            return known
    raise InputError(
        f"there is no event type {name!r}; there are: {', '.join(sorted(TOPICS))}", code="unknown_type", type=name
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(str(text))
    except ValueError as error:
        raise InputError(
            f"{text!r} is no stream id (a UUID, as 'minutebook log --json' prints)", code="bad_option"
        ) from error


def moment(text: str | None) -> str | None:
    """A time as a caller writes it, in its stored form. Raises InputError ``bad_option``."""
    from datetime import UTC, datetime

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise InputError(f"{text!r} is no time; write it as 2026-11-30T10:00:00+00:00", code="bad_option") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="microseconds")


# --- projections and the status page


def projections(runtime: Runtime) -> list[dict[str, Any]]:
    """Where each projection stands; a look brings them up to date first, as far as it may."""
    engine = runtime.projections
    for name in engine.names:
        if engine.near(name):
            engine.refresh(name)
    rows = [
        {
            "name": row.name,
            "version": row.version,
            "cursor": row.cursor,
            "head": row.head,
            "lag": row.lag,
            "status": row.status,
            "error": row.error,
            "lag_seconds": row.lag_seconds,
            "note": row.note,
            "heartbeat": row.heartbeat,
            "worker": row.worker,
            "loaded": row.loaded,
            "generation": row.generation,
            "building": row.building,
            "parked": list(row.parked),
            "skipped": list(row.skipped),
        }
        for row in engine.status()
    ]
    return [*rows, *_not_loaded(runtime, rows)]


def _not_loaded(runtime: Runtime, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Says of the plug-ins that are wanted and cannot be loaded why not; gives the rows of those that have none."""
    stored = {row["name"]: row for row in rows}
    head = runtime.log.head().position
    new: list[dict[str, Any]] = []
    for name, error in runtime.projections.failed.items():
        if name in runtime.projections.names:
            continue  # one that took the name of another, which is well
        # Nothing is wrong with one that was retired, or that nobody has enabled yet.
        status = {"plug_in_retired": "retired", "plug_in_not_enabled": "building"}.get(error.code, "halted")
        said = {"status": status, "error" if status == "halted" else "note": f"not loaded: {error.message}"}
        if name in stored:
            stored[name].update(said)
            continue
        blank = dict.fromkeys(rows[0]) if rows else {}
        new.append({**blank, "name": name, "cursor": 0, "head": head, "lag": head, "parked": [], "skipped": [], **said})
    return new


def status(runtime: Runtime, root: Path, memory: dict[str, Any]) -> dict[str, Any]:
    """One page about everything."""
    head = runtime.log.head()
    listed = sessions(runtime)
    with runtime.projections.reading("context") as (view, connection):
        running = history.open_runs(view, connection, runtime.workspace)
        failing = {
            row["session"]: history.failures(view, connection, runtime.workspace, row["session"]) for row in listed[:50]
        }
    notes = [f"{name}: {len(rows)} failed since the last success" for name, rows in failing.items() if rows]
    return {
        "workspace": str(root),
        "workspace_id": runtime.workspace,
        "head": head.position,
        "chain": head.chain.hex(),
        "sessions": len(listed),
        "messages": sum(row["messages"] for row in listed),
        "open_runs": len(running),
        "memory": memory,
        "projections": projections(runtime),
        "compaction_note": "; ".join(notes) or None,
        "context": _context_size(runtime, str(listed[0]["session"])) if listed else None,
        "latest": listed[:10],
    }


def _context_size(runtime: Runtime, session: str) -> dict[str, Any]:
    """What the latest session shows, counted here and, where the caller gave it, as the provider counted (M5)."""
    seen = Reader(runtime, session).see()
    return {
        "session": session,
        "tokens": sum([item.tokens for item in seen.visible]),
        "counter": runtime.counter.name,
        "reported_tokens": seen.reported,
    }
