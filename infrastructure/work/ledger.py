"""The memory document's stream in the log: read it, and append one step of a revision at a time (D5)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Literal

from sqlalchemy import Connection

from ...domain.catalogue import DriftDetected, RevisionAbandoned, RevisionCommitted, RevisionPrepared
from ...domain.document import render
from ...domain.errors import MemoryFault
from ...domain.events import TOPICS, Envelope, Event, LoggedEvent, encode_payload
from ...domain.message import Trust
from ...domain.revision import Draft, MemoryDocument, Revision, fold, revision_of
from ...domain.streams import document_stream
from ...domain.structured import recorded
from ..store.failpoints import failpoint
from ..store.log import Expectation, Log

Advance = Callable[[Connection], None]
"""Moves the cursor of the ``memory_file`` projection, in the transaction of the committed revision (D5)."""

DriftKind = Literal["drift", "missing", "unadopted", "unreadable"]
RECOVERY_ACTOR = "minutebook"
_TAIL = 2
"""Events read first from the end: nearly always the current revision, prepared and committed. Then more at a time."""
_APART = 2
"""Events of one revision, at least: none is prepared before the one before is committed or abandoned."""

_SOON = 256
"""Events after a preparation among which its commit is looked for: displaced revisions and drift may come between."""


class Ledger:
    """The document stream of one workspace. Whoever appends holds the lock; the stream fences all the same."""

    def __init__(self, log: Log, workspace: str, clock: Callable[[], datetime], advance: Advance | None) -> None:
        self.log = log
        self.workspace = workspace
        self.clock = clock
        self.advance = advance
        self.stream = document_stream(workspace)

    # --- read

    def document(self) -> MemoryDocument:
        """The document as it stands, from the log alone and from no more of it than needed."""
        tail: list[LoggedEvent] = []
        before, size = self.log.version(self.stream) + 1, _TAIL
        while before > 1:
            after, size = max(0, before - 1 - size), size * 4
            tail[:0] = self.log.stream(self.stream, after=after, limit=before - 1 - after)
            before = after + 1
            document = fold(tail)
            if document.current is not None:
                return document
        return fold(tail)

    def revision(self, number: int) -> Revision | None:
        """A revision by its number, committed or not: numbers rise along the stream, two events or more apart.

        The first look is where it stands if nothing but revisions was recorded; then every other look halves what is
        left, so that a stream of mishaps costs no more than twice a bisection.
        """
        low, high = 0, self.log.version(self.stream)
        guess, halving = _APART * (number - 1), True
        while low < high:
            middle = min(max(guess, low), high - 1)
            found = self._preparation(middle, high)
            at = None if found is None else _number(found)
            if found is not None and at == number:
                return revision_of(found)
            if found is None or at is None or at > number:
                high, guess = middle, (low + middle) // 2
                continue
            low = found.version
            guess = (low + high) // 2 if halving else low + _APART * (number - at) - 1
            halving = not halving
        return None

    def committed(self, revision: Revision) -> bool:
        """Whether a revision was committed: the answer follows soon after its preparation, nearly always at once."""
        after, size = self._version_at(revision.position), _TAIL
        end = after + _SOON
        while after < end:
            events = self.log.stream(self.stream, after=after, limit=size)
            for event in events:
                match event.body if event.topic in TOPICS else None:
                    case RevisionCommitted(revision=number) | RevisionAbandoned(revision=number):
                        if number == revision.number:
                            return event.topic == RevisionCommitted.TOPIC
                    case _:
                        pass
            if len(events) < size:
                return False
            after, size = events[-1].version, size * 4
        return False

    def holds(self, digest: str) -> bool:
        """Whether a revision of this log, whichever, was made of these bytes; displaced ones were a person's."""
        bodies = (event.body for event in self.log.stream(self.stream) if event.topic in TOPICS)
        return any(
            isinstance(body, RevisionPrepared) and body.digest == digest and body.kind != "displaced" for body in bodies
        )

    def _preparation(self, after: int, until: int) -> LoggedEvent | None:
        """The first ``RevisionPrepared`` with ``after < version <= until``."""
        while after < until:
            events = self.log.stream(self.stream, after=after, limit=min(_TAIL, until - after))
            for event in events:
                if event.topic == RevisionPrepared.TOPIC:
                    return event
            if not events:
                return None
            after = events[-1].version
        return None

    def _version_at(self, position: int) -> int:
        return self.log.at([position])[position].version

    # --- append

    def prepare(
        self,
        document: MemoryDocument,
        draft: Draft,
        base_digest: str | None,
        *,
        also: Sequence[Event] = (),
        expects: Sequence[Expectation] = (),
        fence: Advance | None = None,
    ) -> Revision:
        """Step 2: the revision is decided. ``also`` are events of other streams that belong to the same decision,
        ``fence`` runs in the transaction and may refuse it (a lease that was lost, D15)."""
        prepared = self._prepared(document, draft, base_digest)

        def within(connection: Connection, positions: list[int]) -> None:
            failpoint("publish.preparing")
            if fence is not None:
                fence(connection)

        positions = self.log.append([*also, prepared], expects=expects, within=within)
        return _as_revision(prepared, draft, positions[-1])

    def require_valid(self, revision: Revision, data: bytes) -> None:
        """Before the pointer moves: what the log holds of the new revision is what will be written, and its receipt
        names checks where a curator made it (D15). Raises MemoryFault ``generation_invalid``."""
        stored = self.log.at([revision.position]).get(revision.position)
        body = None if stored is None else stored.body
        if not isinstance(body, RevisionPrepared) or body.revision != revision.number:
            wrong = "is not in the log"
        elif not body.digest == sha256(data).hexdigest() == sha256(render(body.content["entries"])).hexdigest():
            wrong = "has another digest than its entries"
        elif len(body.entries) != len(body.content["entries"]):
            wrong = "does not say of each entry where it came from"
        elif body.kind == "curated" and body.job is not None and not (body.receipt and body.inputs):
            wrong = "has no receipt of its checks and inputs"
        else:
            return
        raise MemoryFault(
            f"revision {revision.number} {wrong}; it was abandoned, nothing was changed: run 'minutebook verify'",
            code="generation_invalid",
        )

    def commit(self, version: int, revision: Revision, point: str = "publish.committing") -> None:
        """Step 5: the file holds the revision. The cursor moves in the same transaction."""
        committed = RevisionCommitted(
            envelope=self._envelope(
                version + 1, revision.actor, revision.trust, revision.session, revision.run, revision.position
            ),
            revision=revision.number,
            digest=revision.digest,
            inputs=revision.inputs,
        )
        self.log.append([committed], within=self._advancing(point))

    def record(self, document: MemoryDocument, draft: Draft) -> Revision:
        """Prepares and commits in one transaction a revision that the file holds already (a manual one)."""
        prepared = self._prepared(document, draft, document.digest)
        committed = RevisionCommitted(
            envelope=self._envelope(document.version + 2, draft.actor, draft.trust, draft.session, draft.run),
            revision=prepared.revision,
            digest=prepared.digest,
            inputs=draft.inputs,
        )
        positions = self.log.append([prepared, committed], within=self._advancing("sync.committing"))
        return _as_revision(prepared, draft, positions[0])

    def record_displaced(self, document: MemoryDocument, raw: bytes, *, actor: str = "person") -> int:
        """Keeps bytes that stood in the file as a displaced revision; the same bytes are not kept twice."""
        digest = sha256(raw).hexdigest()
        for number, known in document.displaced.items():
            if known == digest:
                return number
        number, parent = document.next, 0 if document.current is None else document.current.number
        prepared = RevisionPrepared(
            envelope=self._envelope(document.version + 1, actor, "user"),
            payload=encode_payload({"raw": base64.b64encode(raw).decode()}),
            revision=number,
            kind="displaced",
            parent=parent,
            base_digest=document.digest,
            digest=digest,
            entries=(),
        )
        committed = RevisionCommitted(
            envelope=self._envelope(document.version + 2, actor, "user"), revision=number, digest=digest
        )
        self.log.append([prepared, committed], within=self._advancing())
        return number

    def abandon(
        self, document: MemoryDocument, number: int, reason: str, drift: tuple[DriftKind, str | None] | None = None
    ) -> None:
        """A prepared revision comes to nothing, because of ``drift`` if that is given; its inputs stay pending."""
        events: list[Event] = [
            RevisionAbandoned(
                envelope=self._envelope(document.version + 1, RECOVERY_ACTOR), revision=number, reason=reason
            )
        ]
        if drift is not None and drift not in document.drift:
            events.append(self._drift(document.version + 2, document.digest, drift))
        self.log.append(events)

    def report(self, document: MemoryDocument, drift: tuple[DriftKind, str | None]) -> bool:
        """Records what the file was found to be, once per finding (D8); false when it was known."""
        if drift in document.drift:
            return False
        self.log.append([self._drift(document.version + 1, document.digest, drift)])
        return True

    # --- events

    def _prepared(self, document: MemoryDocument, draft: Draft, base_digest: str | None) -> RevisionPrepared:
        data = render(draft.texts)
        digest = sha256(data).hexdigest()
        if digest == base_digest:
            raise MemoryFault("the revision would change nothing; there is nothing to publish", code="memory_unchanged")
        return RevisionPrepared(
            envelope=self._envelope(
                document.version + 1, draft.actor, draft.trust, draft.session, draft.run, draft.causation
            ),
            payload=encode_payload({"entries": list(draft.texts), **recorded(draft.asked)}),
            revision=document.next,
            kind=draft.kind,
            parent=0 if document.current is None else document.current.number,
            base_digest=base_digest,
            digest=digest,
            entries=draft.facts,
            inputs=draft.inputs,
            job=draft.job,
            curator=draft.curator,
            usage=draft.usage,
            restored_from=draft.restored_from,
            overrides=draft.overrides,
            receipt=draft.receipt,
            fence=draft.fence,
            evidence=draft.evidence,
        )

    def _drift(self, version: int, expected: str | None, drift: tuple[DriftKind, str | None]) -> DriftDetected:
        kind, found = drift
        return DriftDetected(
            envelope=self._envelope(version, RECOVERY_ACTOR), kind=kind, expected=expected, found=found
        )

    def _envelope(
        self,
        version: int,
        actor: str,
        trust: Trust = "operator",
        session: str | None = None,
        run: str | None = None,
        causation: int | None = None,
    ) -> Envelope:
        return Envelope(self.stream, version, self.workspace, self.clock(), actor, session, run, trust, causation)

    def _advancing(self, point: str | None = None) -> Callable[[Connection, list[int]], None]:
        def within(connection: Connection, positions: list[int]) -> None:
            if self.advance is not None:
                self.advance(connection)
            if point is not None:
                failpoint(point)

        return within


def _number(event: LoggedEvent) -> int:
    body = event.body
    assert isinstance(body, RevisionPrepared)
    return body.revision


def _as_revision(prepared: RevisionPrepared, draft: Draft, position: int) -> Revision:
    return Revision(
        number=prepared.revision,
        kind=prepared.kind,
        parent=prepared.parent,
        base_digest=prepared.base_digest,
        digest=prepared.digest,
        facts=draft.facts,
        texts=draft.texts,
        inputs=draft.inputs,
        position=position,
        actor=draft.actor,
        trust=draft.trust,
        session=draft.session,
        run=draft.run,
    )
