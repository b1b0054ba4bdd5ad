"""Messages into the log: all of an append or none, each once under its id, in a fork too (M1, M3, M6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from ...domain.catalogue import MessageRecorded, SessionForked, Usage
from ...domain.errors import MessageError, SessionError, StreamConflict
from ...domain.events import LoggedEvent
from ...domain.streams import message_stream, session_stream
from .conversation import RunRef
from .leases import Lease, write_lease
from .runtime import Runtime
from .sources import Source, decode


@dataclass(frozen=True, slots=True)
class Entry:
    """One message on its way into the log."""

    id: str
    source: Source
    actor: str
    line: int | None = None
    usage: Usage | None = None


def record(
    runtime: Runtime,
    session: str,
    entries: Sequence[Entry],
    *,
    run: RunRef | None,
    lease: Lease | None = None,
    named: bool = False,
) -> list[int]:
    """Records all messages or none; the same ids with the same content return their earlier positions (M3).

    ``named``: the ids are the caller's own, so one may be taken in the history that a fork shares.
    Raises SessionError ``run_closed``, MessageError ``message_conflict`` or ``duplicate_id``.
    """
    ids = [entry.id for entry in entries]
    if len(set(ids)) != len(ids):
        raise MessageError("two messages of one append have the same id; give each its own", code="duplicate_id")
    now = runtime.now()
    events = [message_event(runtime, session, entry, run.run if run else None, now) for entry in entries]
    if named:
        inherited = _inherited(runtime, session, events)
        if any(earlier is not None for earlier in inherited):
            return _positions(session, events, inherited)
    expects = [(run.stream, run.version)] if run else []
    renew = None
    if run is not None and lease is not None and lease.due():
        held = run

        def renew(connection: Connection, positions: list[int]) -> None:
            write_lease(runtime, connection, held.session, held.run)

    try:
        return runtime.log.append(events, expects=expects, within=renew)
    except StreamConflict as conflict:
        return _recorded_before(runtime, session, events, run, conflict)


def message_event(runtime: Runtime, session: str, entry: Entry, run: str | None, now: datetime) -> MessageRecorded:
    source = entry.source
    return MessageRecorded(
        envelope=runtime.envelope(
            message_stream(runtime.workspace, session, entry.id),
            1,
            actor=entry.actor,
            session=session,
            run=run,
            trust=source.trust,
            time=now,
        ),
        payload=source.payload,
        message=entry.id,
        role=source.view.role,
        form=source.form,
        tokens=source.tokens,
        counter=source.counter,
        size=len(source.payload),
        calls=source.calls,
        results=source.results,
        encoding=source.encoding,
        line=entry.line,
        usage=entry.usage,
        redacted=source.redacted,
    )


def _recorded_before(
    runtime: Runtime, session: str, events: Sequence[MessageRecorded], run: RunRef | None, conflict: StreamConflict
) -> list[int]:
    found = [runtime.log.last(event.originator_id) for event in events]
    if all(earlier is None for earlier in found):
        if run is None:
            raise conflict
        raise SessionError(
            f"run {run.run!r} is no longer open, so nothing can be added to it; start a new run",
            code="run_closed",
            run=run.run,
        ) from conflict
    return _positions(session, events, found, conflict)


def _inherited(runtime: Runtime, session: str, events: Sequence[MessageRecorded]) -> list[LoggedEvent | None]:
    """For each id the message that has it in the history which the session shares with its parents (M6)."""
    found: list[LoggedEvent | None] = [None] * len(events)
    for parent, upto in ancestors(runtime, session):
        for place, event in enumerate(events):
            earlier = runtime.log.last(message_stream(runtime.workspace, parent, event.message))
            if earlier is not None and earlier.position <= upto and found[place] is None:
                found[place] = earlier
    return found


def ancestors(runtime: Runtime, session: str) -> list[tuple[str, int]]:
    """The sessions that a fork shares history with, nearest first, each with the last shared position."""
    found: list[tuple[str, int]] = []
    upto: int | None = None
    while True:
        first = runtime.log.stream(session_stream(runtime.workspace, session), limit=1)
        body = first[0].body if first and first[0].topic == SessionForked.TOPIC else None
        if not isinstance(body, SessionForked):
            return found
        upto = body.parent_position if upto is None else min(upto, body.parent_position)
        found.append((body.parent, upto))
        session = body.parent


def _positions(
    session: str,
    events: Sequence[MessageRecorded],
    found: Sequence[LoggedEvent | None],
    conflict: StreamConflict | None = None,
) -> list[int]:
    for event, earlier in zip(events, found, strict=True):
        if earlier is None or not (earlier.erased or _same(event, earlier)):
            raise MessageError(
                f"message id {event.message!r} is taken in session {session!r} by other content"
                if earlier is not None
                else f"message {event.message!r} is new but others of this append were recorded before",
                code="message_conflict",
                id=event.message,
            ) from conflict
        if earlier.erased:
            raise MessageError(
                f"message id {event.message!r} was erased from session {session!r}; use a new id",
                code="message_erased",
                id=event.message,
            ) from conflict
    return [earlier.position for earlier in found if earlier is not None]


def _same(event: MessageRecorded, earlier: LoggedEvent) -> bool:
    """Equal content under one id, in whatever order its keys were given: a caller builds a message anew to retry."""
    if earlier.payload == event.payload:
        return True
    body = earlier.body
    assert isinstance(body, MessageRecorded)
    assert event.payload is not None
    assert earlier.payload is not None
    found = (decode(event.payload, event.encoding), decode(earlier.payload, body.encoding))
    # As text: in Python 1, 1.0 and True are equal, in JSON they are three things.
    return json.dumps(found[0], sort_keys=True) == json.dumps(found[1], sort_keys=True)
