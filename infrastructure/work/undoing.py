"""Undo and redo of compactions: last in, first out, as events (C7)."""

from __future__ import annotations

from typing import Any

from ...domain.catalogue import CompactionCommitted, CompactionRedone, CompactionUndone
from ...domain.errors import SessionError, StreamConflict
from ...domain.events import Event
from ...domain.streams import compactions_stream
from ...projections.context import history, queries
from ..store.failpoints import failpoint
from .conversation import require_session
from .runtime import Runtime
from .visible import Reader


def undo(runtime: Runtime, compaction: str, session: str | None = None) -> dict[str, Any]:
    """Takes the live compaction back, in the session that made it, or in a fork that shares it (M6).

    Raises SessionError ``unknown_compaction``, ``not_live``, ``unknown_session``.
    """
    return _change(runtime, compaction, session, "undone")


def redo(runtime: Runtime, compaction: str, session: str | None = None) -> dict[str, Any]:
    """Makes the compaction that was undone last live again.

    Raises SessionError ``unknown_compaction``, ``not_undone``, ``unknown_session``.
    """
    return _change(runtime, compaction, session, "redone")


def _change(runtime: Runtime, compaction: str, session: str | None, what: str) -> dict[str, Any]:
    runtime.require_writing("this")
    if session is not None:
        require_session(runtime, session)
    with runtime.projections.reading("context") as (view, connection):
        made_in = history.find_compaction(view, connection, runtime.workspace, compaction)
    session = made_in if session is None or made_in is None else session
    if session is None:
        raise SessionError(
            f"there is no compaction {compaction!r}; 'minutebook compactions SESSION' names those there are",
            code="unknown_compaction",
        )
    stream = compactions_stream(runtime.workspace, session)
    reader = Reader(runtime, session)
    before = sum(item.tokens for item in reader.see().visible)
    version = runtime.log.version(stream)
    with runtime.projections.reading("context") as (view, connection):
        epoch = queries.epoch(view, connection, runtime.workspace, session)
    live = None if epoch is None else epoch.live
    last_undone = None if epoch is None or not epoch.redo else epoch.redo[-1][0]
    if what == "undone" and live != compaction:
        raise SessionError(
            f"compaction {compaction!r} is not the live one"
            + (f"; undo {live!r} first" if live else ": nothing is compacted now"),
            code="not_live",
        )
    if what == "redone" and last_undone != compaction:
        raise SessionError(
            f"compaction {compaction!r} was not undone last"
            + (f"; redo {last_undone!r} first" if last_undone else ": there is nothing to redo"),
            code="not_undone",
        )
    if what == "redone" and epoch is not None and runtime.log.at([epoch.redo[-1][1]])[epoch.redo[-1][1]].erased:
        raise SessionError(
            f"the summary of compaction {compaction!r} was erased; 'minutebook compact' makes a new one",
            code="compaction_erased",
        )
    envelope = runtime.envelope(stream, version + 1, actor="person", session=session)
    event: Event = (
        CompactionUndone(envelope=envelope, compaction=compaction)
        if what == "undone"
        else CompactionRedone(envelope=envelope, compaction=compaction)
    )
    failpoint("compact.changing")
    try:
        runtime.log.append([event])
    except StreamConflict as error:
        raise SessionError(
            f"another compaction of session {session!r} came between; look again", code="not_live"
        ) from error
    failpoint("compact.changed")
    after = sum(item.tokens for item in reader.see().visible)
    assert made_in is not None
    return {
        "compaction": compaction,
        "status": what,
        "reason": None,
        "hidden": _hidden(runtime, made_in, compaction) if what == "redone" else [],
        "tokens_before": before,
        "tokens_after": after,
    }


def _hidden(runtime: Runtime, session: str, compaction: str) -> list[str]:
    for event in runtime.log.read(topics=(CompactionCommitted.TOPIC,), session=session):
        body = event.body
        if isinstance(body, CompactionCommitted) and body.compaction == compaction:
            return list(body.covers)
    return []
