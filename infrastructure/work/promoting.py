"""Claims that are borne out become candidates: the one way into memory, whoever proposes (D14, D15).

Everything about one claim is one append, fenced by the claim's own stream: a claim is promoted once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ...domain.catalogue import (
    CandidateAdmitted,
    CandidateProposed,
    CandidateQuarantined,
    ClaimPromoted,
    ClaimSettled,
    MessageRecorded,
    Refusal,
    SessionForked,
)
from ...domain.errors import StreamConflict
from ...domain.events import Event, LoggedEvent, encode_payload
from ...domain.evidence import evidence_hash, scrub, source_digest
from ...domain.evidence.promotion import Forget, Outcome, Promote, Settle, Standing, candidate_text, promotions
from ...domain.forgetting import sources_of
from ...domain.message import TRUST_ORDER, Trust
from ...domain.operations import Add, Line, Operation, Remove, text_digest, texts
from ...domain.streams import candidate_stream, claim_stream, message_stream, session_stream
from ...projections import candidates
from ...projections import evidence as catalogue
from ...projections.evidence import ClaimRow
from ..store.failpoints import failpoint
from .erasure.blocks import Erased
from .erasure.fence import mark, since
from .files_seen import file_on_disk
from .forgetting import block_event
from .proposals import live_lines, operation_of
from .publisher import Publisher
from .runtime import Runtime
from .sources import decode

PROMOTED_MAX = 100
"""Claims of one round; the rest waits for the next (D15)."""
ROOTS_MAX = 50
"""Forks of forks that are followed to the session that a conversation began as."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One packet behind a candidate, pinned: where it stands, and its messages by position and digest (D15)."""

    candidate: str
    packet: str
    position: int
    ordinal: int
    forgotten: bool
    sources: tuple[tuple[int, str | None], ...]


class Promoting:
    """Phase 2 of the evidence of one book, up to the candidates; what follows is the curation."""

    def __init__(self, runtime: Runtime, publisher: Publisher, root: Path) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._root = root
        self._erased = Erased(runtime.log, runtime.workspace)

    def due(self) -> list[Outcome]:
        """What may be promoted or settled now; nothing is recorded."""
        rows = self._rows()
        if not any(row.state == "open" for row in rows):
            return []
        roots: dict[str, str] = {}
        standing = [self._standing(row, roots) for row in rows if row.text and not self._was_erased(row)]
        return promotions(standing, live_lines(self._publisher), self._pending(), PROMOTED_MAX)

    def promote(self) -> dict[str, int]:
        """Records what is due: ``promoted``, ``settled``, ``forgotten``."""
        counts = {"promoted": 0, "settled": 0, "forgotten": 0}
        seen = mark(self._runtime.log)
        due = self.due()
        if not due:
            return counts
        failpoint("evidence.promoting")
        rows = {row.claim: row for row in self._rows()}
        lines = {line.id: line for line in live_lines(self._publisher)}
        for outcome in due:
            name, events = self._events(rows[outcome.claim], outcome, lines)
            try:
                self._runtime.log.append(events, within=since(self._runtime.log, seen))
            except StreamConflict:
                continue  # somebody else settled it, blocked or erased something: the next round sees how it stands
            counts[name] += 1
        return counts

    # --- what stands

    def _rows(self) -> list[ClaimRow]:
        with self._runtime.projections.reading("evidence") as (view, connection):
            return catalogue.claims(view, connection, self._runtime.workspace, "open", "promoted")

    def _was_erased(self, row: ClaimRow) -> bool:
        """Whether a claim says what somebody had erased, as it stands or as an entry would say it (E8)."""
        if row.kind == "forget" or not row.text:
            return False
        said = {row.text, candidate_text(row.kind, row.text)}
        return any(self._erased.erasure_of(text) is not None for text in said)

    def _standing(self, row: ClaimRow, roots: dict[str, str]) -> Standing:
        sound = row.state != "open" or row.basis != "tool" or self.files_hold(row)
        return Standing(
            row.claim, row.packet, row.kind, row.basis, row.trust, row.text or "", row.position, row.run,
            self._root_of(row.session, roots), row.state == "open", sound,
        )  # fmt: skip

    def _root_of(self, session: str, roots: dict[str, str]) -> str:
        """The session that a conversation began as: what two forks say comes from one mouth."""
        if session not in roots:
            name = session
            for _ in range(ROOTS_MAX):
                first = self._runtime.log.stream(session_stream(self._runtime.workspace, name), limit=1)
                body = first[0].body if first and first[0].known else None
                if not isinstance(body, SessionForked):
                    break
                name = body.parent
            roots[session] = name
        return roots[session]

    def _pending(self) -> Mapping[str, tuple[str, ...]]:
        runtime = self._runtime
        with runtime.projections.reading("candidates") as (view, connection):
            rows = candidates.by_status(view, connection, runtime.workspace, "admitted", "approved", "quarantined")
        events = runtime.log.at(row.position for row in rows)
        operations = {row.candidate: operation_of(events[row.position].payload) for row in rows}
        return {name: texts(operation) for name, operation in operations.items() if operation is not None}

    # --- what is recorded

    def _events(self, row: ClaimRow, outcome: Outcome, lines: Mapping[str, Line]) -> tuple[str, list[Event]]:
        match outcome:
            case Promote():
                text = candidate_text(row.kind, row.text or "")
                candidate = _candidate_id(row.claim)
                grounds, supports = outcome.grounds, outcome.supports
                return "promoted", [
                    *self._candidate(row, candidate, Add(text=text)),
                    self._promoted(row, candidate, grounds, supports),
                ]
            case Forget():
                line = None if outcome.entry is None else lines.get(outcome.entry)
                block = block_event(
                    self._runtime,
                    f"b-{_short(row.claim)}",
                    row.text or "" if line is None else line.text,
                    sources_of(row.session, row.messages),
                    line,
                    actor="evidence",
                    session=row.session,
                    run=row.run,
                    trust=row.trust,
                )
                if line is None:
                    return "forgotten", [block, self._settled(row, "known", block.block)]
                candidate = _candidate_id(row.claim)
                remove = Remove(target=line.id, expects=text_digest(line.text))
                return "forgotten", [
                    *self._candidate(row, candidate, remove), block, self._promoted(row, candidate, ("user",), ())
                ]  # fmt: skip
            case Settle():
                return "settled", [self._settled(row, outcome.outcome, outcome.by)]

    def _candidate(self, row: ClaimRow, candidate: str, operation: Operation) -> list[Event]:
        runtime = self._runtime
        stream = candidate_stream(runtime.workspace, candidate)

        def envelope(version: int) -> Any:
            return runtime.envelope(
                stream, version, actor="evidence", session=row.session, run=row.run, trust=row.trust,
                causation=row.position,
            )  # fmt: skip

        findings = tuple(
            finding
            for text in texts(operation)
            for finding in runtime.check(text, row.trust, entry_chars_max=runtime.settings.entry_chars_max)
        )
        low = TRUST_ORDER.index(row.trust) >= TRUST_ORDER.index("tool")
        return [
            CandidateProposed(
                envelope=envelope(1),
                candidate=candidate,
                operation=operation.operation,
                findings=findings,
                messages=row.messages,
                payload=encode_payload({"operation": operation.model_dump(mode="json")}),
            ),
            CandidateQuarantined(envelope=envelope(2), candidate=candidate, reason=f"trust_{row.trust}")
            if low and runtime.settings.quarantine_tool_candidates
            else CandidateAdmitted(envelope=envelope(2), candidate=candidate),
        ]

    def _promoted(self, row: ClaimRow, candidate: str, grounds: Any, supports: tuple[str, ...]) -> ClaimPromoted:
        return ClaimPromoted(
            envelope=self._envelope(row),
            claim=row.claim,
            packet=row.packet,
            candidate=candidate,
            basis=grounds,
            supports=supports,
        )

    def _settled(self, row: ClaimRow, outcome: Any, by: str | None) -> ClaimSettled:
        return ClaimSettled(envelope=self._envelope(row), claim=row.claim, packet=row.packet, outcome=outcome, by=by)

    def _envelope(self, row: ClaimRow) -> Any:
        stream = claim_stream(self._runtime.workspace, row.claim)
        trust: Trust = row.trust
        return self._runtime.envelope(
            stream, self._runtime.log.version(stream) + 1, actor="evidence", session=row.session, run=row.run,
            trust=trust, causation=row.position,
        )  # fmt: skip

    # --- looked at again, immediately before memory changes (D15)

    def pins(self, names: Iterable[str]) -> tuple[Pin, ...]:
        """What the evidence behind these candidates was made of, to be compared again inside the transaction."""
        found = []
        for name in names:
            for row in self._claims_of(name):
                event = self._runtime.log.at([row.position]).get(row.position)
                if row.kind == "forget" or event is None:
                    continue
                content = event.body.content.get("content", {})
                said = {message: digest for message, _, digest in content.get("messages", ())}
                sources = []
                for message in row.messages:
                    last = self._runtime.log.last(message_stream(self._runtime.workspace, row.session, message))
                    sources.append((0 if last is None else last.position, said.get(message)))
                found.append(Pin(name, row.packet, row.position, row.ordinal, row.state == "forgotten", tuple(sources)))
        return tuple(found)

    def faults(self, pins: Iterable[Pin], connection: Connection | None = None) -> dict[str, Refusal]:
        """Candidates whose evidence is not what it was: its hash, its sources, its redaction; by candidate."""
        found: dict[str, Refusal] = {}
        for pin in pins:
            fault = self._fault(pin, connection)
            if fault is not None:
                found[pin.candidate] = Refusal(check=fault[0], entry=pin.candidate, message=fault[1])
        return found

    def _claims_of(self, candidate: str) -> list[ClaimRow]:
        with self._runtime.projections.reading("evidence") as (view, connection):
            return catalogue.claims(view, connection, self._runtime.workspace, candidate=candidate)

    def _fault(self, pin: Pin, connection: Connection | None) -> tuple[str, str] | None:
        if pin.forgotten:
            return "forgotten", "what it says was forgotten meanwhile"
        events = self._runtime.log.at([pin.position, *(position for position, _ in pin.sources)], connection)
        packet = events.get(pin.position)
        if packet is None or packet.payload is None:
            return "evidence_gone", "the evidence it rests on was erased"
        content, told = packet.body.content["content"], packet.body.content["hash"]
        if evidence_hash(content) != told:
            return "evidence_changed", "the hash of its evidence is another than when it was read"
        for position, digest in pin.sources:
            source = events.get(position)
            if source is None or (digest is not None and _digest_of(source) != digest):
                return "evidence_gone", "a message that it rests on is not what it was"
        if scrub(content["claims"][pin.ordinal]["text"], self._runtime.redact)[1]:
            return "credential", "what it says holds a credential"
        return None

    def files_hold(self, row: ClaimRow) -> bool:
        """Whether the files that a tool looked at are still those that it saw, as far as they could be read then."""
        event = self._runtime.log.at([row.position])[row.position]
        content = event.body.content
        if not content:
            return False
        named = content["content"]["claims"][row.ordinal]["files"]
        then = {one["path"]: one["digest"] for one in content["disk"] if one["digest"] is not None}
        return all(
            file_on_disk(self._root, path, self._runtime.redact).digest == then[path] for path in named if path in then
        )


def _digest_of(event: LoggedEvent) -> str | None:
    body = event.body
    if not isinstance(body, MessageRecorded) or event.payload is None:
        return None
    return source_digest(decode(event.payload, body.encoding))


def _candidate_id(claim: str) -> str:
    return f"k-{_short('claim' + claim)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
