"""The memory document as an aggregate: which revision holds, which one waits, what comes next (D5, D8, D9).

The stream of a document holds, per revision, ``RevisionPrepared`` and then ``RevisionCommitted`` or
``RevisionAbandoned``; numbers rise with every preparation and are never used again. A *displaced* revision keeps
bytes that stood in the file and were taken away from it: it is history and never the current one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .catalogue import (
    DriftDetected,
    EntryFact,
    Override,
    RevisionAbandoned,
    RevisionCommitted,
    RevisionKind,
    RevisionPrepared,
    Usage,
)
from .events import TOPICS, LoggedEvent
from .message import Trust

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision as it was prepared; ``texts`` stand in the order of ``facts``, None once erased (E8)."""

    number: int
    kind: RevisionKind
    parent: int
    base_digest: str | None
    digest: str
    facts: tuple[EntryFact, ...] = ()
    texts: tuple[str, ...] | None = ()
    raw: bytes | None = None
    inputs: tuple[str, ...] = ()
    position: int = 0
    actor: str = "person"
    trust: Trust = "user"
    session: str | None = None
    run: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """What the log says of a memory file; the fold of its stream, or of its tail from the current revision on.

    ``version`` fences every change. ``current`` is the last committed revision that is not a displaced one,
    ``prepared`` the one that was neither committed nor abandoned. ``drift`` holds what was reported since,
    ``displaced`` the digests of displaced revisions since, by number.
    """

    version: int = 0
    last: int = 0
    current: Revision | None = None
    prepared: Revision | None = None
    drift: frozenset[tuple[str, str | None]] = frozenset()
    displaced: dict[int, str] = field(default_factory=dict)

    @property
    def next(self) -> int:
        """The number of the revision to come."""
        return self.last + 1

    @property
    def digest(self) -> str | None:
        """What the file must hash to; None before the first revision: there should be no file."""
        return None if self.current is None else self.current.digest

    @property
    def entries(self) -> tuple[str, ...]:
        return () if self.current is None else self.current.texts or ()

    @property
    def facts(self) -> tuple[EntryFact, ...]:
        return () if self.current is None else self.current.facts


@dataclass(frozen=True, slots=True)
class Draft:
    """A revision that was decided on and is to be published; ``facts`` in the order of ``texts``."""

    kind: RevisionKind
    texts: tuple[str, ...]
    facts: tuple[EntryFact, ...]
    inputs: tuple[str, ...] = ()
    job: str | None = None
    curator: str | None = None
    usage: Usage = _NO_USAGE
    restored_from: int | None = None
    overrides: tuple[Override, ...] = ()
    receipt: tuple[str, ...] = ()
    fence: int | None = None
    evidence: tuple[str, ...] = ()
    actor: str = "person"
    trust: Trust = "user"
    session: str | None = None
    run: str | None = None
    causation: int | None = None
    asked: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.facts):
            raise ValueError(f"{len(self.texts)} texts and {len(self.facts)} facts: each entry has one of each")


def evolve(document: MemoryDocument, event: LoggedEvent) -> MemoryDocument:
    """The document after one more event of its stream; events of unknown types only move the version.

    Raises StoreError ``unknown_event`` at a newer version of a known one: the document would not be what it is (E7).
    """
    document = replace(document, version=event.version)
    if event.topic not in TOPICS:
        return document
    match event.body:
        case RevisionPrepared() as body:
            document = replace(document, last=max(document.last, body.revision))
            # A displaced revision is prepared and committed in one append, perhaps while another one waits.
            return document if body.kind == "displaced" else replace(document, prepared=revision_of(event))
        case RevisionCommitted(revision=number, digest=digest):
            if document.prepared is not None and document.prepared.number == number:
                return replace(document, current=document.prepared, prepared=None, drift=frozenset(), displaced={})
            return replace(document, displaced={**document.displaced, number: digest})
        case RevisionAbandoned(revision=number):
            waits = document.prepared is not None and document.prepared.number != number
            return document if waits else replace(document, prepared=None)
        case DriftDetected(kind=kind, found=found):
            return replace(document, drift=document.drift | {(kind, found)})
    return document


def fold(events: Iterable[LoggedEvent]) -> MemoryDocument:
    """The document from its stream, or from a tail that begins at the preparation of the current revision."""
    document = MemoryDocument()
    for event in events:
        document = evolve(document, event)
    return document


def revision_of(event: LoggedEvent) -> Revision:
    """The revision that a ``RevisionPrepared`` tells of."""
    body = event.body
    assert isinstance(body, RevisionPrepared)
    texts: tuple[str, ...] | None = None
    raw: bytes | None = None
    if not event.erased:
        raw = _raw(body.content.get("raw"))
        texts = () if body.kind == "displaced" else tuple(body.content.get("entries", ()))
    return Revision(
        number=body.revision,
        kind=body.kind,
        parent=body.parent,
        base_digest=body.base_digest,
        digest=body.digest,
        facts=body.entries,
        texts=texts,
        raw=raw,
        inputs=body.inputs,
        position=event.position,
        actor=event.actor,
        trust=event.envelope.trust,
        session=event.session,
        run=event.run,
    )


def _raw(value: object) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except binascii.Error:
        return None
