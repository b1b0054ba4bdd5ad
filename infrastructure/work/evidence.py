"""Phase 1: completed runs are found, read once, and leave packets of claims in the log (D14).

Runs of agents that succeeded are eligible, in the order in which they ended; imported ones only when asked for by
session. Who reads a run says so in the run's own evidence stream: two who read it at once make one packet.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...domain.catalogue import (
    ClaimFact,
    CompactionCommitted,
    EvidenceCollected,
    MessageRecorded,
    RunsSurveyed,
    RunStarted,
    RunSucceeded,
    Usage,
)
from ...domain.derivation import Said
from ...domain.errors import StreamConflict
from ...domain.events import encode_payload
from ...domain.evidence import EXTRACTOR, Claim, Packet, SummarySeen, claim_id, evidence_hash, read_run
from ...domain.evidence.opaque import MASK
from ...domain.message import Message, lowest_trust
from ...domain.streams import evidence_stream, survey_stream
from ...domain.summary import SectionId, Summary, parse, tags, untagged
from ..store.failpoints import failpoint
from .conversation import require_session
from .erasure.blocks import CODE as ERASED
from .erasure.fence import mark, since
from .extracting import RUNS_MAX as MODEL_RUNS_MAX
from .extracting import Extracting
from .files_seen import files_on_disk
from .promoting import Promoting
from .proposals import PERSON
from .provenance import told
from .publisher import Publisher
from .runtime import Runtime
from .visible import message_of

RUNS_MAX = 100
"""Runs that one collection reads; the rest waits for the next (D15)."""
MESSAGES_MAX = 5_000
"""Messages of one run, the first, that are read for evidence; a packet says how many there were."""
SURVEY_LEAST = 20
"""Runs that were read for nothing until the log notes how far; before that, to read them again is cheaper."""
_RETAINED: tuple[SectionId, ...] = ("constraints", "decisions", "facts")


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that succeeded: where it began and ended; ``aside``: imported, or a person's own, and read when asked."""

    session: str
    run: str
    first: int
    last: int
    aside: bool


EVIDENCE_CHECKS = ("evidence_hash", "evidence_sources", "evidence_redaction")
"""What a receipt names besides, where a revision rests on evidence: it was looked at again in the transaction (D15)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Both phases of the evidence of one book."""

    collecting: Collecting
    promoting: Promoting


class Collecting:
    """Phase 1 of one book."""

    def __init__(self, runtime: Runtime, root: Path, extracting: Extracting | None = None) -> None:
        """``root`` is the workspace in which the runs worked; ``extracting`` asks a model beside the rules."""
        self._runtime = runtime
        self._root = root
        self._extracting = extracting
        self.extractor = EXTRACTOR if extracting is None else extracting.name
        self._runs_max = RUNS_MAX if extracting is None else MODEL_RUNS_MAX

    def collect(self) -> dict[str, int]:
        """Reads the runs that ended since the last time, at most ``RUNS_MAX``: ``runs``, ``packets``, ``claims``."""
        runtime = self._runtime
        survey = survey_stream(runtime.workspace)
        for _ in range(3):
            seen = mark(runtime.log)
            last = runtime.log.last(survey)
            after = last.body.upto if last is not None and isinstance(last.body, RunsSurveyed) else 0
            ended = list(self._ended(after))
            if not ended:
                break
            eligible = [run for run in ended if not run.aside]
            events = [event for run in eligible for event in self._packet(run)]
            if not events and len(ended) < SURVEY_LEAST:
                return {"runs": len(eligible), "packets": 0, "claims": 0}
            failpoint("evidence.read")
            version = 0 if last is None else last.version
            note = RunsSurveyed(
                envelope=runtime.envelope(survey, version + 1, actor="evidence"),
                upto=ended[-1].last,
                runs=len(eligible),
                packets=len(events),
                extractor=self.extractor,
            )
            try:
                runtime.log.append([*events, note], within=since(runtime.log, seen))
            except StreamConflict:
                continue  # somebody else read some of them, or what was read is erased
            return {"runs": len(eligible), "packets": len(events), "claims": sum(len(one.claims) for one in events)}
        return {"runs": 0, "packets": 0, "claims": 0}

    def unread(self) -> bool:
        """Whether a run has ended that is to be read."""
        last = self._runtime.log.last(survey_stream(self._runtime.workspace))
        after = last.body.upto if last is not None and isinstance(last.body, RunsSurveyed) else 0
        return any(not run.aside for run in self._runs(after=after, session=None, limit=SURVEY_LEAST))

    def collect_session(self, session: str) -> dict[str, int]:
        """Reads every run of one session that succeeded, imported ones too. Raises SessionError ``unknown_session``."""
        runtime = self._runtime
        require_session(runtime, session)
        runs = packets = claims = 0
        for run in self._runs(after=0, session=session, limit=None):
            runs += 1
            for _ in range(3):
                seen = mark(runtime.log)
                events = self._packet(run)
                if not events:
                    break
                try:
                    runtime.log.append(events, within=since(runtime.log, seen))
                except StreamConflict:
                    continue  # somebody else read it, or what was read is erased
                packets += len(events)
                claims += sum(len(event.claims) for event in events)
                break
        return {"runs": runs, "packets": packets, "claims": claims}

    # --- one run

    def _ended(self, after: int) -> list[Ended]:
        return self._runs(after=after, session=None, limit=self._runs_max)

    def _runs(self, *, after: int, session: str | None, limit: int | None) -> list[Ended]:
        runtime = self._runtime
        found = []
        for event in runtime.log.read(
            topics=(RunSucceeded.TOPIC,), workspace=runtime.workspace, session=session, after=after, limit=limit
        ):
            if event.session is None or event.run is None:
                continue
            started = runtime.log.stream(event.stream, after=event.version - 2, upto=event.version - 1)
            body = started[0].body if started and started[0].known else None
            if isinstance(body, RunStarted):
                aside = body.imported or event.session == PERSON
                found.append(Ended(event.session, event.run, started[0].position, event.position, aside))
        return found

    def _packet(self, run: Ended) -> list[EvidenceCollected]:
        """The packet of a run as an event; none when it says nothing, or was read by this extractor before."""
        runtime = self._runtime
        stream = evidence_stream(runtime.workspace, run.session, run.run)
        before = runtime.log.stream(stream)
        read_by = {event.body.extractor for event in before if isinstance(event.body, EvidenceCollected)}
        # What a model has read, the rules have read too.
        if self.extractor in read_by or (self._extracting is None and read_by):
            return []
        messages = self._messages(run)
        packet = read_run(
            run.session,
            run.run,
            messages,
            self._summaries(run),
            redact=runtime.redact,
            before=self._before(run),
            earlier=lambda: self._earlier(run),
            root=str(self._root),
        )
        usage = Usage()
        if self._extracting is not None and messages:
            packet, usage = self._extracting.read(packet, messages, lambda: self._earlier(run))
        if not packet.claims or packet.extractor in read_by:
            return []
        version = before[-1].version + 1 if before else 1
        return [self._event(packet, run, runtime.envelope, stream, version, usage)]

    def _event(
        self, packet: Packet, run: Ended, envelope: Any, stream: Any, version: int, usage: Usage
    ) -> EvidenceCollected:
        content = packet.content()
        rested_on = {path for claim in packet.claims for path in claim.files}
        disk = files_on_disk(self._root, packet.files, self._runtime.redact, rested_on)
        claims = tuple(self._fact(packet.id, number, claim) for number, claim in enumerate(packet.claims))
        return EvidenceCollected(
            envelope=envelope(
                stream,
                version,
                actor="evidence",
                session=run.session,
                run=run.run,
                trust=lowest_trust(*(claim.trust for claim in claims)),
                causation=run.last,
            ),
            packet=packet.id,
            extractor=packet.extractor,
            messages=packet.messages_total,
            claims=claims,
            files=len(packet.files),
            redacted=packet.redacted,
            left_out=packet.left_out,
            usage=usage,
            payload=encode_payload(
                {"hash": evidence_hash(content), "content": content, "disk": [asdict(one) for one in disk]}
            ),
        )

    def _fact(self, packet: str, number: int, claim: Claim) -> ClaimFact:
        settings = self._runtime.settings
        findings = [
            finding.code
            for finding in self._runtime.check(claim.text, claim.trust, entry_chars_max=settings.entry_chars_max)
            if finding.code not in ("forgotten", ERASED)  # a block can be lifted: who promotes asks for it
        ]
        if MASK in claim.text or "[redacted:" in claim.text:
            findings.append("credential")
        return ClaimFact(
            claim=claim_id(packet, number),
            kind=claim.kind,
            basis=claim.basis,
            trust=claim.trust,
            messages=claim.messages,
            language=claim.language,
            findings=tuple(dict.fromkeys(findings)),
        )

    # --- its material

    def _messages(self, run: Ended) -> list[Message]:
        events = self._runtime.log.read(
            topics=(MessageRecorded.TOPIC,),
            workspace=self._runtime.workspace,
            session=run.session,
            run=run.run,
            after=run.first,
            before=run.last,
            limit=MESSAGES_MAX,
        )
        return [message_of(event) for event in events if not event.erased]

    def _before(self, run: Ended) -> Message | None:
        """The last message of the session before the run: a user often accepts it in the next run's first words."""
        newest = self._runtime.log.newest(
            before=run.first,
            topics=(MessageRecorded.TOPIC,),
            session=run.session,
            workspace=self._runtime.workspace,
            page=1,
        )
        found = next(newest, None)
        return None if found is None or found.erased else message_of(found)

    def _earlier(self, run: Ended) -> list[Said]:
        return told(self._runtime, run.session, before=run.first)

    def _summaries(self, run: Ended) -> list[SummarySeen]:
        """Summaries that were committed while the run was open, their lines with the messages that they name."""
        runtime = self._runtime
        found = []
        for event in runtime.log.read(
            topics=(CompactionCommitted.TOPIC,),
            workspace=runtime.workspace,
            session=run.session,
            after=run.first,
            before=run.last,
        ):
            body = event.body
            summary = parse(str(body.content.get("summary", "")))
            if isinstance(body, CompactionCommitted) and isinstance(summary, Summary):
                lines = tuple(
                    (section, untagged(line), self._named(line))
                    for section in _RETAINED
                    for line in summary.of(section)
                )
                found.append(SummarySeen(body.compaction, lines, body.trust))
        return found

    def _named(self, line: str) -> tuple[str, ...]:
        events = self._runtime.log.at(tags(line))
        return tuple(
            event.body.message
            for _, event in sorted(events.items())
            if event.workspace == self._runtime.workspace and isinstance(event.body, MessageRecorded)
        )


def evidence_of(runtime: Runtime, publisher: Publisher, root: Path, extractor: Any) -> Evidence:
    """The evidence of a book whose runs work in ``root``; ``extractor`` None: the rules read alone."""
    extracting = None if extractor is None else Extracting(runtime, extractor)
    return Evidence(Collecting(runtime, root, extracting), Promoting(runtime, publisher, root))
