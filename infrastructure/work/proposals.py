"""The memory tool's call becomes a candidate; a person's word about a candidate becomes an event (D2, D3, D13)."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from ...domain.calls import read_call
from ...domain.catalogue import (
    CandidateApproved,
    CandidateDeclined,
    CandidateProposed,
    CandidateQuarantined,
    CandidateSetAside,
    Finding,
    MessageRecorded,
)
from ...domain.curation import likeness_refusals
from ...domain.errors import InputError, MemoryFault, MinutebookError, SessionError, StreamConflict
from ...domain.events import Event, encode_payload
from ...domain.identifiers import check_identifier
from ...domain.limits import MemoryLimits
from ...domain.message import JSON, TRUST_ORDER, Trust, lowest_trust
from ...domain.operations import Add, Applied, Batch, Line, Operation, Remove, Replace, apply, parse_operation, texts
from ...domain.redaction import Redact
from ...domain.streams import candidate_stream
from ..store.failpoints import failpoint
from .conversation import RunRef, end_run, open_session, start_run
from .provenance import from_outside
from .publisher import Publisher
from .runtime import Runtime, new_id

PERSON = "@person"
"""The reserved session of the person at the keyboard; lists do not show it (D3)."""
EVIDENCE_MAX = 20
"""Messages of the run, the newest, that a candidate names as what it rests on (D9)."""


def propose(
    runtime: Runtime,
    publisher: Publisher,
    ref: RunRef,
    operation: JSON,
    *,
    actor: str,
    trust: Trust,
    call_id: str | None = None,
    proposed: int = 0,
) -> dict[str, Any]:
    """Records a candidate and says what will happen to it; a refusal is an answer too, for the model to act on.

    Raises SessionError ``run_closed``.
    """
    settings = runtime.settings
    lines = live_lines(publisher)
    try:
        if not settings.memory_enabled:
            raise MemoryFault("memory is switched off in this workspace; go on without it", code="memory_disabled")
        if trust not in TRUST_ORDER:
            raise InputError(f"source must be one of {', '.join(TRUST_ORDER)}, not {trust!r}", code="bad_source")
        call = read_call(operation)
        given = parse_operation(call.arguments, MemoryLimits.of(settings))
        call_id = call.id if call_id is None else call_id
        candidate = _candidate_id(ref, call_id, given, runtime.redact)
        # Before any limit or target: a call that is sent again asks for nothing new.
        if call_id and (answer := _again(runtime, candidate, lines)):
            return answer
        if proposed >= settings.candidates_per_run_max:
            raise MemoryFault(
                f"this run has proposed {proposed} changes, the most that one run may; go on in the next run",
                code="too_many_candidates",
            )
        applied = apply(lines, given, candidate)
        pinned = applied.pinned
    except MinutebookError as error:
        return _answer(None, "refused", f"{error.code}: {error.message}", lines, error=error.code)
    if actor != "person" and from_outside(runtime, publisher, ref.session, texts(pinned)):
        trust = lowest_trust(trust, "tool")
    findings = tuple(finding for text in texts(pinned) for finding in _findings(runtime, text, trust))
    if (forgotten := next((finding for finding in findings if finding.code == "erased"), None)) is not None:
        # Not even as a refused candidate: that would bring the text back into the log (E8, D16).
        return _answer(None, "refused", f"erased: {forgotten.message}", lines, error="erased")
    findings += _repeats(applied, candidate)
    event = CandidateProposed(
        envelope=runtime.envelope(
            candidate_stream(runtime.workspace, candidate),
            1,
            actor=actor,
            session=ref.session,
            run=ref.run,
            trust=trust,
        ),
        candidate=candidate,
        operation=pinned.operation,
        findings=findings,
        messages=_evidence(runtime, ref),
        payload=encode_payload({"operation": _redacted(pinned, runtime.redact).model_dump(mode="json")}),
    )
    failpoint("candidate.received")
    try:
        runtime.log.append([event], expects=[(ref.stream, ref.version)])
    except StreamConflict as error:
        if call_id and (answer := _again(runtime, candidate, lines)):
            return answer  # The same call came twice at once.
        raise SessionError(
            f"run {ref.run!r} is no longer open; start a new run", code="run_closed", run=ref.run
        ) from error
    failpoint("candidate.stored")
    return _taken(runtime, event, lines)


def _taken(runtime: Runtime, event: CandidateProposed, lines: tuple[Line, ...], before: str = "") -> dict[str, Any]:
    """What a recorded candidate is answered: that the curation will refuse it, or what happens next."""
    if event.findings:
        return _answer(event.candidate, "flagged", before + _warning(event.findings), lines, event.findings)
    return _answer(event.candidate, "proposed", before + _prospect(runtime, event.envelope.trust), lines)


def _again(runtime: Runtime, candidate: str, lines: tuple[Line, ...]) -> dict[str, Any] | None:
    """The answer of a call that was recorded before, the same as then; None when it was not."""
    for event in runtime.log.stream(candidate_stream(runtime.workspace, candidate), limit=1):
        if isinstance(body := event.body, CandidateProposed):
            return _taken(runtime, body, lines, "This call was recorded before; nothing was added. ")
    return None


def propose_as_person(
    runtime: Runtime, publisher: Publisher, operation: JSON, *, also: Sequence[Event] = ()
) -> dict[str, Any]:
    """A person's proposal: a run of one operation in the session ``@person`` (D3).

    ``also`` are events that hold only together with its admission. Raises StreamConflict when one of them is late.
    """
    open_session(runtime, PERSON)
    ref = _person_run(runtime)
    answer: dict[str, Any] = {}
    try:
        answer = propose(runtime, publisher, ref, operation, actor="person", trust="user")
    finally:
        failed = None if answer.get("candidate") else RuntimeError("the operation was refused")
        if also:
            failpoint("forget.decided")
        end_run(runtime, ref, error=failed, also=() if failed else also)
    if answer["status"] == "proposed":
        answer |= {"status": "admitted", "message": "The next curation takes it in: minutebook memory curate"}
    return answer


def _person_run(runtime: Runtime) -> RunRef:
    # Another person's proposal is over in a moment: wait for it rather than refuse.
    deadline = time.monotonic() + max(runtime.settings.lock_timeout_seconds, 0.1)
    while True:
        try:
            return start_run(runtime, PERSON, actor="person")
        except SessionError as error:
            if error.code != "run_open" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def approve(runtime: Runtime, candidate: str) -> dict[str, Any]:
    """Lets a candidate pass to the curator that is in quarantine, or was set aside: then it starts afresh (D4, D13).

    Raises MemoryFault ``not_quarantined``.
    """
    return _decide(runtime, candidate, "approved")


def decline(runtime: Runtime, candidate: str) -> dict[str, Any]:
    """Refuses a candidate that is in quarantine or was set aside. Raises MemoryFault ``not_quarantined``."""
    return _decide(runtime, candidate, "declined")


def _decide(runtime: Runtime, candidate: str, what: str) -> dict[str, Any]:
    runtime.require_writing("this")
    stream = candidate_stream(runtime.workspace, check_identifier(candidate, what="candidate"))
    last = runtime.log.last(stream)
    if last is None or last.topic not in (CandidateQuarantined.TOPIC, CandidateSetAside.TOPIC):
        raise MemoryFault(
            f"candidate {candidate!r} neither waits in quarantine nor was set aside; 'minutebook memory candidates' "
            "shows where each stands",
            code="not_quarantined",
        )
    envelope = runtime.envelope(
        stream,
        last.version + 1,
        actor="person",
        session=last.session,
        run=last.run,
        trust=last.envelope.trust,
        causation=last.position,
    )
    event: Event = (
        CandidateApproved(envelope=envelope, candidate=candidate)
        if what == "approved"
        else CandidateDeclined(envelope=envelope, candidate=candidate)
    )
    failpoint("candidate.deciding")
    try:
        runtime.log.append([event])
    except StreamConflict as error:
        raise MemoryFault(f"somebody else decided about {candidate!r} just now", code="not_quarantined") from error
    failpoint("candidate.decided")
    return {"candidate": candidate, "status": what}


def live_lines(publisher: Publisher) -> tuple[Line, ...]:
    """The entries of the current revision, as operations see them."""
    document = publisher.document()
    return tuple(Line(fact.entry, text) for fact, text in zip(document.facts, document.entries, strict=False))


def operation_of(payload: bytes | None) -> Operation | None:
    """The operation that a candidate holds; None when it was erased."""
    if payload is None:
        return None
    return parse_operation(json.loads(payload)["operation"], MemoryLimits(operations_per_batch_max=10_000))


def _candidate_id(ref: RunRef, call_id: str | None, operation: Operation, redact: Redact) -> str:
    """The same call with the same operation is the same candidate; some providers give every call the same id."""
    if call_id is None:
        return new_id("k")
    # Of the redacted operation: an id is public, and a short digest of a password could be guessed back.
    name = f"{ref.session}\n{ref.run}\n{call_id}\n{_redacted(operation, redact).model_dump_json()}"
    return f"k-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _evidence(runtime: Runtime, ref: RunRef) -> tuple[str, ...]:
    """The messages of the run so far, the newest of them, by their ids."""
    messages: deque[str] = deque(maxlen=EVIDENCE_MAX)
    for event in runtime.log.read(topics=(MessageRecorded.TOPIC,), session=ref.session, after=ref.position):
        if event.run == ref.run and isinstance(body := event.body, MessageRecorded):
            messages.append(body.message)
    return tuple(messages)


def _findings(runtime: Runtime, text: str, trust: Trust) -> tuple[Finding, ...]:
    """What the checks say of a text, and what a scanner of the settings finds besides."""
    return runtime.check(text, trust, entry_chars_max=runtime.settings.entry_chars_max)


def _repeats(applied: Applied, candidate: str) -> tuple[Finding, ...]:
    """What memory says already: told now, so that the model can replace instead, and judged again at the curation."""
    final = set(applied.entries)
    new = [change.after for change in applied.changes if change.after is not None and change.after in final]
    return tuple(
        Finding(code=refusal.check, message=refusal.message)
        for line in new
        for refusal in likeness_refusals(line, [other for other in applied.entries if other != line], candidate)
    )


def _redacted(operation: Operation, redact: Redact) -> Operation:
    """The operation without credentials: what would be refused anyway need not stand in the log (D4)."""
    match operation:
        case Add() | Replace():
            return operation.model_copy(update={"text": redact(operation.text)[0]})
        case Batch():
            parts = tuple(_redacted(part, redact) for part in operation.operations)
            return operation.model_copy(update={"operations": parts})
        case Remove():
            return operation


def _warning(findings: tuple[Finding, ...]) -> str:
    named = "; ".join(dict.fromkeys(f"{finding.code}: {finding.message}" for finding in findings))
    return f"As it stands the curation will refuse this ({named[:1_000]}). Propose it anew without what is named."


def _prospect(runtime: Runtime, trust: Trust) -> str:
    low = TRUST_ORDER.index(trust) >= TRUST_ORDER.index("tool")
    if low and runtime.settings.quarantine_tool_candidates:
        return "Recorded. It came from outside, so a person has to approve it before it is taken in."
    return "Recorded. When this run succeeds it is checked and taken in; it is not in the memory file yet."


def _answer(
    candidate: str | None,
    status: str,
    message: str,
    lines: tuple[Line, ...],
    findings: tuple[Finding, ...] = (),
    error: str | None = None,
) -> dict[str, Any]:
    return {
        "candidate": candidate,
        "status": status,
        "message": message,
        "error": error,
        "findings": [finding.model_dump(mode="json") for finding in findings],
        "entries": [{"id": line.id, "text": line.text} for line in lines],
    }
