"""Sessions, runs and messages: what an agent does, recorded event by event (M1 to M6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from ...domain.catalogue import (
    CandidateAdmitted,
    CandidateProposed,
    CandidateQuarantined,
    CandidateWithdrawn,
    RunFailed,
    RunInterrupted,
    RunStarted,
    RunSucceeded,
    SessionClosed,
    SessionForked,
    SessionOpened,
    SessionReopened,
    Usage,
)
from ...domain.errors import SessionError, StreamConflict
from ...domain.events import Event, LoggedEvent, encode_payload
from ...domain.identifiers import check_identifier
from ...domain.message import TRUST_ORDER
from ...domain.streams import runs_stream, session_stream
from ..store.failpoints import failpoint
from .calling import kind, said
from .identity import is_dead
from .leases import drop_lease, heard, write_lease
from .runtime import Runtime, new_id

RETRIES = 5
"""Times that a decision is made anew when another writer was first."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """An open run: its session, its id, and the version of the runs stream that says it is open."""

    session: str
    run: str
    stream: UUID
    version: int
    position: int


# --- sessions


def open_session(runtime: Runtime, session: str, *, origin: str = "agent", form: str | None = None) -> bool:
    """Opens a session or goes on with it, and says whether it is new; interrupts a run in it whose owner is gone.

    Raises ``bad_identifier``.
    """
    check_identifier(session)
    stream = session_stream(runtime.workspace, session)
    new = False
    for _ in range(RETRIES):
        last = runtime.log.last(stream)
        event: Event
        if last is None:
            envelope = runtime.envelope(stream, 1, actor="caller", session=session)
            event = SessionOpened(envelope=envelope, origin="import" if origin == "import" else "agent", format=form)
        elif last.topic == SessionClosed.TOPIC:
            envelope = runtime.envelope(stream, last.version + 1, actor="caller", session=session)
            event = SessionReopened(envelope=envelope)
        else:
            break
        try:
            runtime.log.append([event])
            new = last is None
            break
        except StreamConflict:
            continue
    interrupt_if_dead(runtime, session)
    return new


def known_session(runtime: Runtime, session: str) -> bool:
    return runtime.log.last(session_stream(runtime.workspace, session)) is not None


def require_session(runtime: Runtime, session: str) -> None:
    check_identifier(session)
    if not known_session(runtime, session):
        raise SessionError(
            f"there is no session {session!r}; 'minutebook session list' names those there are",
            code="unknown_session",
            session=session,
        )


def close_session(runtime: Runtime, session: str) -> None:
    """Closes a session. Raises SessionError ``run_open`` while a live run is open in it."""
    require_session(runtime, session)
    if interrupt_if_dead(runtime, session):
        raise run_is_open(session)
    stream = session_stream(runtime.workspace, session)
    last = runtime.log.last(stream)
    if last is not None and last.topic != SessionClosed.TOPIC:
        envelope = runtime.envelope(stream, last.version + 1, actor="caller", session=session)
        runtime.log.append([SessionClosed(envelope=envelope)])


def fork_session(runtime: Runtime, parent: str, at: int, child: str) -> None:
    """Begins ``child`` with the history of ``parent`` up to position ``at`` (M6)."""
    require_session(runtime, parent)
    check_identifier(child)
    if child.startswith("@"):
        raise SessionError(
            f"session names that begin with '@' are reserved, and {child!r} is one; choose another",
            code="bad_identifier",
        )
    runtime.require_position(at)
    stream = session_stream(runtime.workspace, child)
    envelope = runtime.envelope(stream, 1, actor="caller", session=child)
    try:
        runtime.log.append([SessionForked(envelope=envelope, parent=parent, parent_position=at)])
    except StreamConflict as error:
        raise SessionError(f"there is a session {child!r} already; choose another id", code="session_exists") from error


# --- runs


def start_run(runtime: Runtime, session: str, run: str | None = None, *, actor: str = "caller") -> RunRef:
    """Opens a run. Raises SessionError ``run_open`` when another live run is open in the session (M2)."""
    run = run or new_id("run")
    check_identifier(run)
    stream = runs_stream(runtime.workspace, session)
    for _ in range(RETRIES):
        if interrupt_if_dead(runtime, session):
            raise run_is_open(session)
        version = runtime.log.version(stream)
        envelope = runtime.envelope(stream, version + 1, actor=actor, session=session, run=run)
        started = RunStarted(envelope=envelope, owner=runtime.owner, lease_seconds=runtime.settings.lease_seconds)
        try:
            positions = runtime.log.append(
                [started], within=lambda connection, _: write_lease(runtime, connection, session, run)
            )
        except StreamConflict:
            continue
        return RunRef(session, run, stream, version + 1, positions[0])
    raise run_is_open(session)


def open_run(runtime: Runtime, session: str) -> LoggedEvent | None:
    """The start of the run that is open in a session."""
    last = runtime.log.last(runs_stream(runtime.workspace, session))
    return last if last is not None and last.topic == RunStarted.TOPIC else None


def interrupt_if_dead(runtime: Runtime, session: str) -> bool:
    """Ends an open run whose owner is gone, with its candidates withdrawn. True when a live run is open (M2)."""
    started = open_run(runtime, session)
    if started is None:
        return False
    body = started.body
    assert isinstance(body, RunStarted)
    if body.owner is not None:
        now, seen = heard(runtime, started)
        reason = is_dead(body.owner, now=now, last_seen=seen, lease_seconds=body.lease_seconds)
        if reason is None:
            return True
    else:
        reason = "owner_gone"
    _interrupt(runtime, started, reason)
    return False


def interrupt(runtime: Runtime, ref: RunRef) -> None:
    """Ends a run of our own because its book is closing."""
    started = open_run(runtime, ref.session)
    if started is not None and started.run == ref.run:
        _interrupt(runtime, started, "book_closed")


def _interrupt(runtime: Runtime, started: LoggedEvent, reason: str) -> None:
    session, run = started.session, started.run
    assert session is not None
    assert run is not None
    envelope = runtime.envelope(
        started.stream, started.version + 1, actor="minutebook", session=session, run=run, causation=started.position
    )
    ended = RunInterrupted(envelope=envelope, reason=reason)
    withdrawn = [
        CandidateWithdrawn(
            envelope=runtime.envelope(
                event.stream, event.version + 1, actor="minutebook", session=session, run=run,
                trust=event.envelope.trust, causation=event.position,
            ),
            candidate=_candidate(event),
            reason="run_interrupted",
        )
        for event in proposals(runtime, session, run)
    ]  # fmt: skip
    failpoint("run.interrupting")
    try:
        runtime.log.append(
            [ended, *withdrawn], within=lambda connection, _: drop_lease(runtime, connection, session, run)
        )
    except StreamConflict:
        return  # Somebody else ended it: that is what was wanted.
    failpoint("run.interrupted")


def proposals(runtime: Runtime, session: str, run: str) -> Iterator[LoggedEvent]:
    """Candidates that a run proposed and that nothing has happened to yet."""
    for event in runtime.log.read(topics=(CandidateProposed.TOPIC,), session=session, run=run):
        if runtime.log.version(event.stream) == event.version:
            yield event


def _candidate(event: LoggedEvent) -> str:
    body = event.body
    assert isinstance(body, CandidateProposed)
    return body.candidate


def end_run(
    runtime: Runtime,
    ref: RunRef,
    *,
    error: BaseException | None = None,
    usage: Usage | None = None,
    also: Sequence[Event] = (),
) -> None:
    """Ends a run; success admits its candidates, or quarantines those of low trust, in one transaction (D3, D13).

    ``also`` are events of other streams that belong to the same decision.
    """
    envelope = runtime.envelope(ref.stream, ref.version + 1, actor="caller", session=ref.session, run=ref.run)
    ended: Event
    if error is None:
        ended = RunSucceeded(envelope=envelope, usage=usage or Usage())
    else:
        ended = RunFailed(
            envelope=envelope,
            error=kind(error),
            usage=usage or Usage(),
            payload=encode_payload({"message": said(error)}),
        )
    following = [_settle(runtime, event, succeeded=error is None) for event in proposals(runtime, ref.session, ref.run)]
    failpoint("candidate.ending")
    try:
        runtime.log.append(
            [ended, *following, *also],
            expects=[(ref.stream, ref.version)],
            within=lambda connection, _: drop_lease(runtime, connection, ref.session, ref.run),
        )
    except StreamConflict as conflict:
        if also and runtime.log.version(ref.stream) == ref.version:
            interrupt(runtime, ref)  # It was one of the others that came late: whoever asked decides anew.
            raise
        raise SessionError(
            f"run {ref.run!r} was ended by somebody else; start a new run", code="run_closed", run=ref.run
        ) from conflict
    failpoint("candidate.ended")


def _settle(runtime: Runtime, event: LoggedEvent, *, succeeded: bool) -> Event:
    trust = event.envelope.trust
    envelope = runtime.envelope(
        event.stream,
        event.version + 1,
        actor=event.actor,
        session=event.session,
        run=event.run,
        trust=trust,
        causation=event.position,
    )
    candidate = _candidate(event)
    if not succeeded:
        return CandidateWithdrawn(envelope=envelope, candidate=candidate, reason="run_failed")
    low = TRUST_ORDER.index(trust) >= TRUST_ORDER.index("tool")
    if low and runtime.settings.quarantine_tool_candidates:
        return CandidateQuarantined(envelope=envelope, candidate=candidate, reason=f"trust_{trust}")
    return CandidateAdmitted(envelope=envelope, candidate=candidate)


def run_is_open(session: str) -> SessionError:
    return SessionError(
        f"a run is open in session {session!r} and its owner is alive; wait for it, or fork the session",
        code="run_open",
        session=session,
    )
