"""From any event to what caused it and what came of it (E4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ...domain.catalogue import (
    CandidateProposed,
    CandidateRefused,
    ClaimPromoted,
    CompactionCommitted,
    ContextShown,
    CurationFailed,
    CurationRejected,
    EvidenceCollected,
    MemoryFrozen,
    MessageRecorded,
    PreambleRecorded,
    ProjectionSkipped,
    ReductionDecided,
    RevisionCommitted,
    RevisionPrepared,
    RunFailed,
    RunInterrupted,
    RunStarted,
    RunSucceeded,
    SessionForked,
    TranscriptImported,
)
from ...domain.events import Event, LoggedEvent
from ...domain.streams import candidate_stream, claim_stream, document_stream, message_stream, session_stream
from .runtime import Runtime

Relation = Literal["cause", "self", "effect"]
LISTED_MAX = 500
"""Events named in one trace; a summary can stand for thousands of messages."""


@dataclass(frozen=True, slots=True)
class Link:
    """One event of a chain: how it stands to the event asked for, and why."""

    relation: Relation
    event: LoggedEvent
    why: str


def trace(runtime: Runtime, position: int) -> list[dict[str, Any]]:
    """The chain around a position, in log order. Raises InputError ``unknown_position``, ``bad_value``."""
    found = runtime.event_at(position)
    links: dict[int, Link] = {position: Link("self", found, "this event")}
    if found.known:
        for link in _around(runtime, found):
            links.setdefault(link.event.position, link)
            if len(links) >= LISTED_MAX:
                break
    return [_row(links[place]) for place in sorted(links)]


def _around(runtime: Runtime, event: LoggedEvent) -> Iterator[Link]:
    if event.erased:
        for place in runtime.log.erased_by([event.position]).values():
            yield from (
                Link("effect", other, "its text was erased by this") for other in runtime.log.at([place]).values()
            )
    if event.envelope.causation is not None:
        cause = runtime.log.at([event.envelope.causation])
        yield from (Link("cause", found, "it was caused by this") for found in cause.values())
    for other in runtime.log.stream(event.stream, newest_first=event.version > 50, limit=100):
        if event.topic in _RUN_TOPICS or other.topic in _RUN_TOPICS:
            break  # All runs of a session share a stream: only this run's own events belong here.
        if other.position != event.position and event.topic not in _SHARED_STREAM:
            relation: Relation = "cause" if other.position < event.position else "effect"
            yield Link(relation, other, "the same aggregate")
    yield from _run(runtime, event)
    body = event.body
    match body:
        case MessageRecorded():
            yield from _of_message(runtime, event, body)
        case CompactionCommitted():
            yield from _messages(runtime, event.session, body.covers, "covered by this summary")
        case ReductionDecided():
            yield from _messages(runtime, event.session, [fact.message for fact in body.reductions], "shown reduced")
        case CandidateProposed():
            yield from _messages(runtime, event.session, body.messages, "what the run had said before")
            yield from _uses_of(runtime, body.candidate)
        case EvidenceCollected():
            named = dict.fromkeys(message for claim in body.claims for message in claim.messages)
            yield from _messages(runtime, event.session, list(named), "what its claims rest on")
            for claim in body.claims:
                for other in runtime.log.stream(claim_stream(runtime.workspace, claim.claim), limit=3):
                    yield Link("effect", other, "what became of a claim")
        case ClaimPromoted():
            yield from _candidate(runtime, body.candidate)
        case RevisionPrepared():
            for candidate in body.inputs:
                yield from _candidate(runtime, candidate)
            yield from _revision(runtime, body.parent, event.position, "the revision before it")
            if body.restored_from is not None:
                yield from _revision(runtime, body.restored_from, event.position, "the revision that it restores")
            yield from _outcome(runtime, event, body.revision)
        case RevisionCommitted():
            yield from _preparation(runtime, event, body.revision)
            for other in runtime.log.read(
                topics=(MemoryFrozen.TOPIC,), workspace=runtime.workspace, after=event.position
            ):
                if getattr(other.body, "revision", None) == body.revision:
                    yield Link("effect", other, "a session shows it from here on")
        case MemoryFrozen():
            yield from _revision(runtime, body.revision, event.position, "the revision that it froze")
            yield from _requests(runtime, event, "memory_revision", body.revision)
        case PreambleRecorded():
            yield from _requests(runtime, event, "preamble", body.preamble)
        case SessionForked():
            for other in runtime.log.stream(session_stream(runtime.workspace, body.parent), limit=1):
                yield Link("cause", other, f"the session that it shares up to {body.parent_position}")
        case TranscriptImported() if body.first_position is not None and body.last_position is not None:
            brought = (body.first_position - 1, body.last_position + 1)
            for other in runtime.log.read(
                after=brought[0], before=brought[1], topics=(MessageRecorded.TOPIC,), session=event.session,
                workspace=runtime.workspace, limit=LISTED_MAX,
            ):  # fmt: skip
                yield Link("cause", other, "a message of the transcript")
        case ProjectionSkipped():
            for other in runtime.log.at([body.position]).values():
                yield Link("cause", other, "the event that was passed over")
        case CurationRejected() | CurationFailed():
            for candidate in body.inputs:
                yield from _candidate(runtime, candidate)
        case ContextShown():
            yield from _shown(runtime, event, body)
        case _:
            return


_RUN_TOPICS = frozenset({RunStarted.TOPIC, RunSucceeded.TOPIC, RunFailed.TOPIC, RunInterrupted.TOPIC})
_SHARED_STREAM = frozenset(
    {RevisionPrepared.TOPIC, RevisionCommitted.TOPIC, ContextShown.TOPIC, MemoryFrozen.TOPIC, PreambleRecorded.TOPIC}
)
"""Their streams hold the whole history of a document or a runtime: neighbours in them are no causes."""


def _run(runtime: Runtime, event: LoggedEvent) -> Iterator[Link]:
    if event.session is None or event.run is None:
        return
    for other in runtime.log.read(topics=tuple(_RUN_TOPICS), session=event.session, run=event.run):
        if other.position == event.position:
            continue
        if other.position < event.position:
            yield Link("cause", other, "the run it belongs to")
        else:
            yield Link("effect", other, "how that run ended")


def _of_message(runtime: Runtime, event: LoggedEvent, body: MessageRecorded) -> Iterator[Link]:
    for other in runtime.log.read(
        topics=(CompactionCommitted.TOPIC, ReductionDecided.TOPIC), session=event.session, after=event.position
    ):
        decided = other.body
        if isinstance(decided, CompactionCommitted) and body.message in decided.covers:
            yield Link("effect", other, "a summary that stands for it")
        elif isinstance(decided, ReductionDecided) and any(fact.message == body.message for fact in decided.reductions):
            yield Link("effect", other, "it is shown reduced from here on")
    for other in runtime.log.read(topics=(CandidateProposed.TOPIC,), session=event.session, after=event.position):
        proposed = other.body
        if isinstance(proposed, CandidateProposed) and body.message in proposed.messages:
            yield Link("effect", other, "a memory was proposed after it")
            yield from _uses_of(runtime, proposed.candidate)
    if body.results:
        for other in runtime.log.read(topics=(MessageRecorded.TOPIC,), session=event.session, before=event.position):
            calling = other.body
            if isinstance(calling, MessageRecorded) and set(calling.calls) & set(body.results):
                yield Link("cause", other, "the tool call that it answers")


def _uses_of(runtime: Runtime, candidate: str) -> Iterator[Link]:
    yield from _candidate(runtime, candidate, settled_only=True)
    document = document_stream(runtime.workspace)
    for other in runtime.log.read(topics=(RevisionPrepared.TOPIC,), stream=document):
        prepared = other.body
        if isinstance(prepared, RevisionPrepared) and candidate in prepared.inputs:
            yield Link("effect", other, f"revision {prepared.revision} took it in")
            yield from _outcome(runtime, other, prepared.revision)


def _candidate(runtime: Runtime, candidate: str, *, settled_only: bool = False) -> Iterator[Link]:
    for other in runtime.log.stream(candidate_stream(runtime.workspace, candidate)):
        if other.topic == CandidateProposed.TOPIC:
            if settled_only:
                continue
            yield Link("cause", other, "the candidate that was taken in")
            yield from _run(runtime, other)
            proposed = other.body
            if isinstance(proposed, CandidateProposed):
                yield from _messages(runtime, other.session, proposed.messages, "what the run had said before")
        else:
            refused = other.topic == CandidateRefused.TOPIC
            yield Link("effect" if settled_only else "cause", other, "refused" if refused else "what became of it")


def _revision(runtime: Runtime, number: int, before: int, why: str) -> Iterator[Link]:
    stream = document_stream(runtime.workspace)
    for other in runtime.log.read(topics=(RevisionCommitted.TOPIC,), stream=stream, before=before):
        if getattr(other.body, "revision", None) == number:
            yield Link("cause", other, why)


def _requests(runtime: Runtime, event: LoggedEvent, field: str, value: object) -> Iterator[Link]:
    """The requests of the same runtime that showed it."""
    for other in runtime.log.stream(event.stream, after=event.version):
        if other.topic == ContextShown.TOPIC and getattr(other.body, field, None) == value:
            yield Link("effect", other, "a request that showed it")


def _messages(runtime: Runtime, session: str | None, ids: Iterable[str], why: str) -> Iterator[Link]:
    if session is None:
        return
    for name in list(ids)[:LISTED_MAX]:
        found = runtime.log.last(message_stream(runtime.workspace, session, name))
        if found is not None:
            yield Link("cause", found, why)


def _outcome(runtime: Runtime, prepared: LoggedEvent, revision: int) -> Iterator[Link]:
    for other in runtime.log.stream(prepared.stream, after=prepared.version, limit=5):
        body = other.body
        if getattr(body, "revision", None) == revision:
            yield Link("effect", other, "what became of that revision")
            return


def _preparation(runtime: Runtime, committed: LoggedEvent, revision: int) -> Iterator[Link]:
    for other in runtime.log.stream(committed.stream, after=max(0, committed.version - 6), limit=6):
        body = other.body
        if isinstance(body, RevisionPrepared) and body.revision == revision:
            yield Link("cause", other, "where the revision was decided")
            for candidate in body.inputs:
                yield from _candidate(runtime, candidate)


def _shown(runtime: Runtime, event: LoggedEvent, body: ContextShown) -> Iterator[Link]:
    for other in runtime.log.stream(event.stream):
        if other.position >= event.position:
            return
        found: Event = other.body
        if isinstance(found, MemoryFrozen) and found.revision == body.memory_revision:
            yield Link("cause", other, "the memory that it showed")
        if isinstance(found, PreambleRecorded) and found.preamble == body.preamble:
            yield Link("cause", other, "the system prompt and tools that it showed")


def _row(link: Link) -> dict[str, Any]:
    event = link.event
    return {
        "relation": link.relation,
        "position": event.position,
        "type": event.type,
        "why": link.why,
        "stream": str(event.stream),
        "session": event.session,
        "run": event.run,
        "actor": event.actor,
        "trust": event.envelope.trust,
        "time": event.time.isoformat(),
        "erased": event.erased,
        "text": _text(event),
    }


def _text(event: LoggedEvent) -> str:
    if event.payload is None:
        return ""
    return event.payload[:1_000].decode("utf-8", "replace")
