"""What evidence and forgetting kept of what is erased: packets with their claims, and the words of blocks (D14, D16).

A packet goes as a whole: its content is what its hash is of. What a claim became is found by the facts of its
promotion, so a later look finds the same when the words are gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....domain import catalogue as events
from ....domain.events import LoggedEvent
from ..runtime import Runtime
from .targets import Target

_KEPT = (events.EvidenceCollected.TOPIC, events.LearningBlocked.TOPIC)
_BECAME = (events.ClaimPromoted.TOPIC, events.ClaimSettled.TOPIC)


def read_by(event: LoggedEvent, body: events.EvidenceCollected) -> set[str]:
    """The messages that a packet was made of: those of its claims, and while its content is there all of its run."""
    content = {} if event.erased else body.content.get("content", {})
    return {name for claim in body.claims for name in claim.messages} | {
        str(name) for name, *_ in content.get("messages", ())
    }


def summaries_of(event: LoggedEvent, body: events.EvidenceCollected) -> set[str]:
    """The compactions whose summaries a packet has read."""
    content = {} if event.erased else body.content.get("content", {})
    return {str(name) for name, *_ in content.get("summaries", ())}


def claims_said(runtime: Runtime) -> Iterator[tuple[LoggedEvent, tuple[str, ...]]]:
    """What each packet claims and each block keeps, as far as it is still there."""
    for event in runtime.log.read(topics=_KEPT, workspace=runtime.workspace):
        if event.erased or not event.known:
            continue
        match event.body:
            case events.EvidenceCollected() as body:
                claims = body.content.get("content", {}).get("claims", ())
                yield event, tuple(str(claim.get("text", "")) for claim in claims)
            case events.LearningBlocked() as body:
                yield event, (str(body.content.get("text", "")),)
            case _:
                pass


def of_evidence(
    runtime: Runtime, target: Target, entries: Collection[str], candidates: Collection[str], *, everywhere: bool
) -> Iterator[tuple[LoggedEvent, str | None]]:
    """Packets whose claims became what goes, and blocks that keep words of it, each with those words.

    ``everywhere``: also the packets of claims that said the same, and were therefore counted in or settled.
    """
    packets = _packets(runtime, entries, candidates, everywhere=everywhere)
    for event in runtime.log.read(topics=_KEPT, workspace=runtime.workspace):
        match event.body if event.known else None:
            case events.EvidenceCollected() as body if body.packet in packets:
                yield event, None
            case events.LearningBlocked() as body if body.target in entries or _rests(event, body, target):
                yield event, None if event.erased else body.content.get("text")
            case _:
                pass


def _packets(runtime: Runtime, entries: Collection[str], candidates: Collection[str], *, everywhere: bool) -> set[str]:
    packets: set[str] = set()
    claims: set[str] = set()
    if not entries and not candidates:
        return packets
    for event in runtime.log.read(topics=_BECAME, workspace=runtime.workspace):
        match event.body if event.known else None:
            case events.ClaimPromoted() as body if body.candidate in candidates:
                packets.add(body.packet)
                claims.update(body.supports if everywhere else ())
            case events.ClaimSettled() as body if everywhere and (body.by in entries or body.by in candidates):
                packets.add(body.packet)
            case _:
                pass
    for event in runtime.log.read(topics=_KEPT[:1], workspace=runtime.workspace) if claims else ():
        match event.body if event.known else None:
            case events.EvidenceCollected() as read if any(fact.claim in claims for fact in read.claims):
                packets.add(read.packet)
            case _:
                pass
    return packets


def _rests(event: LoggedEvent, body: events.LearningBlocked, target: Target) -> bool:
    """Whether what was forgotten had been learnt from what goes."""
    if target.kind == "session":
        return any(source.session == target.id for source in body.sources)
    named = events.SourceFact(session=target.session or "", message=target.id)
    return target.kind == "message" and named in body.sources
