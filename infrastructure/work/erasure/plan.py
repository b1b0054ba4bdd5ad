"""What an erasure takes with it: found by who was derived from whom, as the events say, and by words where asked (E8).

The same search serves the first look (a dry run, a request) and every later one, when the text may be gone already:
then the request names the entries and candidates, and the ids in the facts lead to the rest.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ....domain import catalogue as events
from ....domain.catalogue import ErasureRequested
from ....domain.checks.likeness import normal_form
from ....domain.erasure import Words, positions
from ....domain.errors import InputError
from ....domain.events import LoggedEvent
from ....domain.operations import texts
from ..proposals import operation_of
from ..runtime import Runtime
from .contexts import Lineage, of_contexts
from .evidence import claims_said, of_evidence
from .targets import Target, words_of

_MEMORY = (
    events.CandidateProposed.TOPIC,
    events.RevisionPrepared.TOPIC,
    events.MemoryFrozen.TOPIC,
    events.CurationRejected.TOPIC,
    events.CurationFailed.TOPIC,
    events.PayloadsErased.TOPIC,
)
_WHAT = {
    "MessageRecorded": "message", "CompactionCommitted": "summary", "CompactionRejected": "refused_summary",
    "CompactionFailed": "failed_summary", "ReductionDecided": "reduction", "MemoryFrozen": "memory_block",
    "PreambleRecorded": "prompt", "RunFailed": "run_failure", "CandidateProposed": "candidate",
    "RevisionPrepared": "revision", "CurationRejected": "refused_curation", "CurationFailed": "failed_curation",
    "PayloadsErased": "kept_entries", "ErasureRequested": "reason_of_an_erasure",
    "EvidenceCollected": "evidence", "LearningBlocked": "forgotten_text",
}  # fmt: skip
_ID = ("message", "compaction", "candidate", "preamble", "revision", "job", "erasure", "packet", "block")


@dataclass(frozen=True, slots=True)
class Found:
    """One payload that goes, or that repeats the words and stays: what it is, its id, where it stands."""

    what: str
    position: int
    id: str | None
    session: str | None

    def row(self, done: str) -> dict[str, Any]:
        return {"what": self.what, "id": self.id, "position": self.position, "session": self.session, "done": done}


@dataclass
class Plan:
    """What goes; ``said`` are the texts of entries and candidates that go, ``kept`` what other entries said there."""

    target: Target
    bound: int
    words: Words
    found: dict[int, Found] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)
    candidates: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keep: frozenset[str] = frozenset()
    spared: set[str] = field(default_factory=set)
    kept: dict[tuple[str, int], str] = field(default_factory=dict)
    elsewhere: list[Found] = field(default_factory=list)
    blocked: set[str] = field(default_factory=set)
    """What blocks that go too had kept of what was forgotten: it stays blocked, without its words (D16)."""
    revisions: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    forks: tuple[str, ...] = ()
    everywhere: bool = False

    @property
    def left(self) -> list[int]:
        """Positions whose payload is still there."""
        return sorted(self.found.keys() - self.gone)

    def takes(self, name: str) -> bool:
        """Whether an entry or candidate that was derived goes; what a person keeps is noted."""
        if name in self.keep:
            self.spared.add(name)
        return name not in self.keep

    def add(self, event: LoggedEvent) -> None:
        if event.body_digest is None or event.position in self.found:
            return
        self.found[event.position] = found(event)
        if event.erased:
            self.gone.add(event.position)

    @property
    def said(self) -> tuple[str, ...]:
        """The texts that are not to be learned again."""
        found = [*filter(None, self.entries.values()), *sum(self.candidates.values(), ()), *sorted(self.blocked)]
        return tuple(dict.fromkeys(found))


def found(event: LoggedEvent) -> Found:
    body = event.body if event.known else None
    name = next((getattr(body, key) for key in _ID if getattr(body, key, None) is not None), None)
    return Found(
        _WHAT.get(event.topic, event.topic), event.position, None if name is None else str(name), event.session
    )


def first_plan(runtime: Runtime, target: Target, *, everywhere: bool, keep: frozenset[str]) -> Plan:
    """What goes with a target that nobody asked to erase before; the texts are still there to be compared."""
    plan = Plan(target, runtime.log.head().position + 1, Words(()), keep=keep, everywhere=everywhere)
    _seed(runtime, plan)
    own = [plan.entries.get(target.id, "")] if target.kind == "entry" else words_of(runtime, target)
    plan.words = Words(own)
    if _wide(plan):
        _spread(runtime, plan)
    if unused := sorted(keep - plan.spared):
        raise InputError(
            f"{unused[0]!r} is no entry or candidate that would go; 'erase ... --dry-run' names those that would",
            code="bad_option",
        )
    _close(runtime, plan)
    if plan.words:
        _look_elsewhere(runtime, plan)
    return plan


def next_plan(runtime: Runtime, requested: LoggedEvent, words: Words | None = None) -> Plan:
    """What goes with a target that was requested: as the request says, and what came since by its ids."""
    body = requested.body
    assert isinstance(body, ErasureRequested)
    session = body.target if body.kind == "session" else requested.session
    run = None if body.position is None else runtime.event_at(body.position).run
    target = Target(body.kind, body.target, session, body.position, run)
    plan = Plan(target, requested.position, words or Words(()), keep=frozenset(body.keep), everywhere=body.everywhere)
    plan.entries = dict.fromkeys(body.entries, "")
    plan.candidates = dict.fromkeys(body.candidates, ())
    _seed(runtime, plan)
    for event in _at(runtime, list(positions(body.spans))):
        plan.add(event)
    _close(runtime, plan)
    return plan


def _at(runtime: Runtime, wanted: list[int]) -> Iterator[LoggedEvent]:
    for start in range(0, len(wanted), 500):
        found = runtime.log.at(wanted[start : start + 500])
        yield from (found[position] for position in sorted(found))


def _read(runtime: Runtime, *topics: str) -> Iterator[LoggedEvent]:
    return runtime.log.read(topics=topics, workspace=runtime.workspace)


# --- memory: which entries and candidates


def _seed(runtime: Runtime, plan: Plan) -> None:
    """Candidates that rest on the target, and entries that rest on them or on it, by their own facts (D9)."""
    for event in _read(runtime, events.CandidateProposed.TOPIC, events.RevisionPrepared.TOPIC):
        match event.body if event.known else None:
            case events.CandidateProposed() as body:
                if (body.candidate in plan.candidates or _rests(plan, event, body)) and plan.takes(body.candidate):
                    plan.candidates[body.candidate] = _said(event)
            case events.RevisionPrepared() as body:
                for fact, text in _texts(event, body):
                    if (fact.entry in plan.entries or _comes_of(plan, fact)) and plan.takes(fact.entry):
                        plan.entries[fact.entry] = text or plan.entries.get(fact.entry, "")
            case _:
                pass


def _rests(plan: Plan, event: LoggedEvent, body: events.CandidateProposed) -> bool:
    target = plan.target
    if target.kind == "session":
        return event.session == target.id and event.position < plan.bound
    return target.kind == "message" and event.session == target.session and target.id in body.messages


def _comes_of(plan: Plan, fact: events.EntryFact) -> bool:
    target = plan.target
    if any(name in plan.candidates for name in fact.candidates):
        return True
    match target.kind:
        case "entry":
            return fact.entry == target.id
        case "message":
            return fact.session == target.session and target.id in fact.messages
        case "session":
            return False  # by its candidates: what a person keeps of them is kept


def _said(event: LoggedEvent) -> tuple[str, ...]:
    operation = operation_of(event.payload)
    return () if operation is None else texts(operation)


def _texts(event: LoggedEvent, body: events.RevisionPrepared) -> list[tuple[events.EntryFact, str]]:
    said = list(body.content.get("entries", ()))
    return list(zip(body.entries, said + [""] * (len(body.entries) - len(said)), strict=False))


def _spread(runtime: Runtime, plan: Plan) -> None:
    """Entries and candidates that say the same under other ids, or repeat the words within more of them."""
    same = {normal_form(text) for text in (*plan.words.texts, *plan.entries.values()) if text}

    def says(text: str) -> bool:
        return normal_form(text) in same or plan.words.within_text(text)

    for event in _read(runtime, events.CandidateProposed.TOPIC, events.RevisionPrepared.TOPIC):
        match event.body if event.known else None:
            case events.CandidateProposed() as body:
                if any(says(text) for text in _said(event)) and plan.takes(body.candidate):
                    plan.candidates[body.candidate] = _said(event)
            case events.RevisionPrepared() as body:
                for fact, text in _texts(event, body):
                    if text and says(text) and plan.takes(fact.entry):
                        plan.entries[fact.entry] = text
            case _:
                pass
    for event, said in claims_said(runtime):
        if any(says(text) for text in said):
            plan.add(event)
            plan.blocked.update(said if event.topic == events.LearningBlocked.TOPIC else ())


# --- which payloads


def _wide(plan: Plan) -> bool:
    """Whether what says the same goes too, wherever it was said."""
    return plan.everywhere or plan.target.kind == "entry"


def _close(runtime: Runtime, plan: Plan) -> None:
    target = plan.target
    if target.kind == "session":
        for event in runtime.log.read(before=plan.bound, session=target.id, workspace=runtime.workspace):
            body = event.body if event.known else None
            kept = isinstance(body, events.CandidateProposed) and body.candidate in plan.keep
            # What was said of an earlier erasure is nothing that the session said.
            if not kept and not isinstance(body, events.ErasureRequested | events.PayloadsErased):
                plan.add(event)
    elif target.position is not None:
        plan.add(runtime.event_at(target.position))
    lineage = Lineage(runtime)
    plan.forks = lineage.forks_of(target)
    for event in of_contexts(runtime, target, lineage):
        plan.add(event)
    _of_memory(runtime, plan)
    for event, text in of_evidence(runtime, target, plan.entries, plan.candidates, everywhere=_wide(plan)):
        plan.add(event)
        plan.blocked.update(filter(None, (text,)))


def _of_memory(runtime: Runtime, plan: Plan) -> None:
    """Proposals, revisions, frozen blocks and curations that show what goes, in the order of the log."""
    entries, candidates = plan.entries.keys(), plan.candidates.keys()
    if not entries and not candidates:
        return
    words = Words([*plan.words.texts, *plan.said])
    showing = False
    for event in _read(runtime, *_MEMORY):
        match event.body if event.known else None:
            case events.CandidateProposed() as body:
                takes = body.candidate in candidates
            case events.RevisionPrepared(kind="displaced") as body:
                takes = any(text.encode() in _raw(body.content) for text in words.texts)
            case events.RevisionPrepared() as body:
                showing = takes = any(fact.entry in entries for fact in body.entries)
                if takes:
                    plan.revisions.add(body.revision)
                    _keep(plan, [(fact.entry, fact.since, text) for fact, text in _texts(event, body)])
            case events.MemoryFrozen() as body:
                takes = body.revision in plan.revisions
            case events.PayloadsErased() as body:
                takes = any(name in entries for name in body.kept)
                if takes:
                    _keep(plan, body.content.get("entries", ()))
            case events.CurationRejected() | events.CurationFailed() as body:
                # A curator is shown the entries of its time and may say them in its own words.
                takes = showing or any(name in candidates for name in body.inputs) or words.within(event.payload)
            case _:
                takes = False
        if takes:
            plan.add(event)


def _raw(content: Any) -> bytes:
    try:
        return base64.b64decode(str(content.get("raw", "")), validate=True)
    except binascii.Error:
        return b""


def _keep(plan: Plan, said: Any) -> None:
    for entry, since, text in said:
        if text and entry not in plan.entries:
            plan.kept[entry, since] = text


# --- the same words in other places


def _look_elsewhere(runtime: Runtime, plan: Plan) -> None:
    """Payloads that repeat the target word for word: they go too where that is asked, else they are named."""
    for event in runtime.log.read(workspace=runtime.workspace, before=plan.bound):
        if event.position in plan.found or not plan.words.within(event.payload):
            continue
        if plan.everywhere and event.topic != events.RevisionPrepared.TOPIC:
            plan.add(event)
        else:
            plan.elsewhere.append(found(event))
