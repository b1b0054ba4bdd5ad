"""Every event that minutebook writes, by aggregate. The reference page ``events`` is printed from here."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from .events import Event, Frozen, topic
from .message import JSON, Form, Trust

# --- session -----------------------------------------------------------------------------------------


@topic
class SessionOpened(Event):
    """A session began; ``origin`` says whether an agent opened it or a transcript was imported."""

    TOPIC: ClassVar[str] = "SessionOpened"
    origin: Literal["agent", "import"] = "agent"
    format: str | None = None


@topic
class SessionForked(Event):
    """A session began as a fork: it shares the parent's history up to ``parent_position`` (M6)."""

    TOPIC: ClassVar[str] = "SessionForked"
    parent: str
    parent_position: int


@topic
class SessionClosed(Event):
    """The caller is done with a session; it can be opened again."""

    TOPIC: ClassVar[str] = "SessionClosed"


@topic
class SessionReopened(Event):
    """A closed session goes on."""

    TOPIC: ClassVar[str] = "SessionReopened"


class SkippedLine(Frozen):
    """A line of a transcript that is no message, with its number (from 1) and the reason."""

    line: int
    reason: str


@topic
class TranscriptImported(Event):
    """A transcript file was read into a session: every line is taken or listed as skipped (section 5)."""

    TOPIC: ClassVar[str] = "TranscriptImported"
    format: str
    digest: str
    lines: int
    messages: int
    runs: int
    first_position: int | None = None
    last_position: int | None = None
    skipped: tuple[SkippedLine, ...] = ()


# --- runs --------------------------------------------------------------------------------------------


class Owner(Frozen):
    """Who holds a run or a lease: host (machine, boot and pid namespace), process, its start, the runtime (M2)."""

    host: str
    pid: int
    started: str
    runtime: str


@topic
class RunStarted(Event):
    """A run began; ``imported`` runs come from a transcript and never feed memory by themselves."""

    TOPIC: ClassVar[str] = "RunStarted"
    owner: Owner | None = None
    lease_seconds: float = 0.0
    imported: bool = False


class Usage(Frozen):
    """Tokens that a provider reported; compressor and curator keep accounts of their own (D10)."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


@topic
class RunSucceeded(Event):
    """A run ended well: its candidates are admitted in the same transaction (D3)."""

    TOPIC: ClassVar[str] = "RunSucceeded"
    usage: Usage = Usage()


@topic
class RunFailed(Event):
    """A run ended by an exception; ``error`` is its class, the message is payload ``{"message"}``."""

    TOPIC: ClassVar[str] = "RunFailed"
    error: str
    usage: Usage = Usage()


@topic
class RunInterrupted(Event):
    """A run whose owner is gone was ended by somebody else (M2)."""

    TOPIC: ClassVar[str] = "RunInterrupted"
    reason: Literal["owner_gone", "lease_expired", "book_closed"]


# --- messages ----------------------------------------------------------------------------------------


@topic
class MessageRecorded(Event):
    """A message, kept verbatim (M1). Payload ``{"source": <the original object>}``.

    ``tokens`` were counted by ``counter`` (M5); ``encoding`` says which JSON reader gives the original back
    exactly (``orjson``, or ``json`` for what only Python's own reader keeps: big integers, lone surrogates).
    ``redacted`` counts the credentials that were taken out first, where ``redact_messages`` is on.
    """

    TOPIC: ClassVar[str] = "MessageRecorded"
    message: str
    role: str
    form: Form
    tokens: int
    counter: str
    size: int
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    encoding: Literal["orjson", "json"] = "orjson"
    line: int | None = None
    usage: Usage | None = None
    redacted: int = 0


# --- context -----------------------------------------------------------------------------------------


class ReductionFact(Frozen):
    """One message shown shorter than it is; the shorter content stands in the payload under the same id (C3)."""

    message: str
    position: int
    tokens_before: int
    tokens_after: int


@topic
class ReductionDecided(Event):
    """Old tool payloads are shown reduced from here on (C3).

    Payload ``{"reductions": {message id: {"parts": [neutral parts]}}}``: the very content that is shown.
    """

    TOPIC: ClassVar[str] = "ReductionDecided"
    policy: str
    reductions: tuple[ReductionFact, ...]


@topic
class CompactionCommitted(Event):
    """A validated summary stands for the covered messages (C6). One event, whatever the number of messages.

    ``covers`` are message ids in order, named by the engine; ``anchor`` is the position at which the summary
    is shown (that of the first covered message). Payload ``{"summary": text, "reductions": {...}}``; where a
    model says how it was asked also ``"asked": {"output", "note"}``.
    """

    TOPIC: ClassVar[str] = "CompactionCommitted"
    compaction: str
    covers: tuple[str, ...]
    anchor: int
    upto: int
    supersedes: str | None = None
    range_digest: str
    policy: str
    summarizer: str
    summary_tokens: int
    tokens_before: int
    tokens_after: int
    reductions: tuple[ReductionFact, ...] = ()
    usage: Usage = Usage()
    trust: Trust = "model"


@topic
class CompactionRejected(Event):
    """A summary came and was refused; nothing changed (C5). Payload ``{"summary": the refused text}``.

    Where a model says how it was asked also ``"asked": {"output", "note", "mismatch"}``.
    """

    TOPIC: ClassVar[str] = "CompactionRejected"
    compaction: str
    reasons: tuple[str, ...]
    range_digest: str
    policy: str
    settings: str = ""
    summarizer: str
    tokens_before: int
    usage: Usage = Usage()


@topic
class CompactionFailedEvent(Event):
    """No summary came: the summariser raised, timed out or was cancelled; nothing changed (C5).

    ``usage`` is what earlier chunks of the attempt used (D10). Payload ``{"message": what it said}``.
    """

    TOPIC: ClassVar[str] = "CompactionFailed"
    compaction: str
    error: str
    range_digest: str
    policy: str
    settings: str = ""
    summarizer: str
    tokens_before: int
    usage: Usage = Usage()


@topic
class CompactionUndone(Event):
    """The live compaction was taken back; automatic compaction of the session rests (C7).

    Not where its summary was ``erased`` (E8): nobody asked for the rest, and there is nothing to redo.
    """

    TOPIC: ClassVar[str] = "CompactionUndone"
    class_version: ClassVar[int] = 2
    compaction: str
    cause: Literal["asked", "erased"] = "asked"

    @staticmethod
    def upcast_v1_v2(state: dict[str, JSON]) -> None:
        """Before there was erasure somebody always asked."""
        state["cause"] = "asked"


@topic
class CompactionRedone(Event):
    """The last undone compaction is live again (C7)."""

    TOPIC: ClassVar[str] = "CompactionRedone"
    compaction: str


@topic
class MemoryFrozen(Event):
    """The memory block that a session shows from here on in this runtime (D7). Payload ``{"block": text}``."""

    TOPIC: ClassVar[str] = "MemoryFrozen"
    revision: int
    digest: str
    runtime: str
    block_digest: str


@topic
class PreambleRecorded(Event):
    """The caller's system prompt and tool schemas, once per change (C11). Payload ``{"system", "tools"}``."""

    TOPIC: ClassVar[str] = "PreambleRecorded"
    preamble: str
    tokens: int


@topic
class ContextShown(Event):
    """A context was handed out that differs from the last one: its digest proves it later (C11)."""

    TOPIC: ClassVar[str] = "ContextShown"
    runtime: str
    digest: str
    renderer: str
    policy: str
    seen: int
    preamble: str | None
    memory_revision: int | None
    window: int
    tokens: int
    messages: int


# --- candidates and curation -------------------------------------------------------------------------


class Finding(Frozen):
    """What a check says of a text: ``code`` (stable), a message for people, ``span`` (start, end) in characters."""

    code: str
    message: str
    span: tuple[int, int] | None = None


class Override(Finding):
    """A finding that a person let pass, and the entry it was about (D8); before version 0.1 it named none."""

    entry: str = ""


@topic
class CandidateProposed(Event):
    """A memory operation was proposed; nothing is written yet (D2). Payload ``{"operation": {...}}``.

    ``findings`` are those of the entry checks at that moment; a text with a credential is stored redacted.
    """

    TOPIC: ClassVar[str] = "CandidateProposed"
    candidate: str
    operation: Literal["add", "replace", "remove", "batch"]
    findings: tuple[Finding, ...] = ()
    messages: tuple[str, ...] = ()


@topic
class CandidateAdmitted(Event):
    """The run succeeded (or a person approved): the candidate waits for the curator (D3)."""

    TOPIC: ClassVar[str] = "CandidateAdmitted"
    candidate: str


@topic
class CandidateQuarantined(Event):
    """Of low trust: it waits for a person (D13)."""

    TOPIC: ClassVar[str] = "CandidateQuarantined"
    candidate: str
    reason: str


@topic
class CandidateApproved(Event):
    """A person let a quarantined candidate pass (D13)."""

    TOPIC: ClassVar[str] = "CandidateApproved"
    candidate: str


@topic
class CandidateDeclined(Event):
    """A person refused a quarantined candidate (D13)."""

    TOPIC: ClassVar[str] = "CandidateDeclined"
    candidate: str


@topic
class CandidateWithdrawn(Event):
    """Its run did not succeed (D3)."""

    TOPIC: ClassVar[str] = "CandidateWithdrawn"
    candidate: str
    reason: Literal["run_failed", "run_interrupted"]


class Refusal(Frozen):
    """Why a candidate or an entry was refused: the check, and the candidate or entry id; never the secret (D4)."""

    check: str
    entry: str
    message: str = ""


@topic
class CandidateRefused(Event):
    """The checks of a curation refused this candidate for good (D4)."""

    TOPIC: ClassVar[str] = "CandidateRefused"
    candidate: str
    job: str
    reasons: tuple[Refusal, ...]


@topic
class CandidateSetAside(Event):
    """It failed too often; it no longer holds the others up and stays named in ``status`` (D4)."""

    TOPIC: ClassVar[str] = "CandidateSetAside"
    candidate: str
    attempts: int
    reason: str


@topic
class CurationRejected(Event):
    """A curator's answer was refused as a whole; its inputs stay pending (D4). Payload ``{"answer"}`` redacted.

    Where a model says how it was asked also ``"asked": {"output", "note", "mismatch"}``.
    """

    TOPIC: ClassVar[str] = "CurationRejected"
    job: str
    inputs: tuple[str, ...]
    reasons: tuple[Refusal, ...]
    curator: str
    usage: Usage = Usage()


@topic
class CurationFailed(Event):
    """A curator raised, timed out or could not start; its inputs stay pending (D6). Payload ``{"message"}``."""

    TOPIC: ClassVar[str] = "CurationFailed"
    job: str
    inputs: tuple[str, ...]
    error: str
    curator: str


# --- evidence ----------------------------------------------------------------------------------------


class ClaimFact(Frozen):
    """One claim of a packet: what kind, what stands behind it, how far it is trusted; the text is in the payload.

    ``findings`` are the codes of the checks that keep it from ever becoming memory (D14).
    """

    claim: str
    kind: Literal["remember", "correction", "forget", "decision", "confirmed", "finding", "summary"]
    basis: Literal["user", "tool", "none"]
    trust: Trust
    messages: tuple[str, ...] = ()
    language: str = "any"
    findings: tuple[str, ...] = ()


@topic
class EvidenceCollected(Event):
    """A run that succeeded was read for evidence (D14). One event a packet; a run that says nothing has none.

    Payload ``{"hash", "content", "disk"}``: the content that is hashed (sources with digests, files as the messages
    tell, texts of the claims) and the same files as they were in the workspace then.
    """

    TOPIC: ClassVar[str] = "EvidenceCollected"
    packet: str
    extractor: str
    messages: int
    claims: tuple[ClaimFact, ...]
    files: int = 0
    redacted: int = 0
    left_out: int = 0
    usage: Usage = Usage()


@topic
class RunsSurveyed(Event):
    """The runs that ended up to ``upto`` were looked through by an extractor; they are not read again (D14)."""

    TOPIC: ClassVar[str] = "RunsSurveyed"
    upto: int
    runs: int
    packets: int
    extractor: str


@topic
class ClaimPromoted(Event):
    """A claim was borne out and became a candidate: by the user's word, by a tool, or said in independent runs (D14).

    ``supports`` names the other claims that say the same.
    """

    TOPIC: ClassVar[str] = "ClaimPromoted"
    claim: str
    packet: str
    candidate: str
    basis: tuple[Literal["user", "tool", "repeated"], ...]
    supports: tuple[str, ...] = ()


@topic
class ClaimSettled(Event):
    """A claim needs no promotion any more: memory says it (``known``), a newer one corrects it (``superseded``), or
    what it asks to forget is not there or not one thing (``unmatched``). ``by`` names the entry, candidate or claim."""

    TOPIC: ClassVar[str] = "ClaimSettled"
    claim: str
    packet: str
    outcome: Literal["known", "superseded", "unmatched"]
    by: str | None = None


class SourceFact(Frozen):
    """A message by its session and id."""

    session: str
    message: str


@topic
class LearningBlocked(Event):
    """Something must not be learnt again, from the same or equivalent evidence, until a person allows it (D16).

    ``sources`` are the messages it was learnt from. Payload ``{"text"}``: what was forgotten; none after an erasure.
    """

    TOPIC: ClassVar[str] = "LearningBlocked"
    block: str
    reason: Literal["forgotten", "erased"] = "forgotten"
    target: str | None = None
    sources: tuple[SourceFact, ...] = ()


@topic
class LearningAllowed(Event):
    """A person lifted a block: the fact may be learnt again (D16)."""

    TOPIC: ClassVar[str] = "LearningAllowed"
    block: str


# --- memory document ---------------------------------------------------------------------------------

RevisionKind = Literal["curated", "manual", "restored", "displaced", "erased"]


class EntryFact(Frozen):
    """One entry of a revision: its id and where it came from (D9). The text stands in the payload, same order."""

    entry: str
    since: int
    candidates: tuple[str, ...] = ()
    run: str | None = None
    session: str | None = None
    messages: tuple[str, ...] = ()
    actor: str = "person"
    trust: Trust = "user"
    shared: bool = False


@topic
class RevisionPrepared(Event):
    """A new revision is decided and about to be written (D5). Payload ``{"entries": [text, ...]}``.

    A displaced revision keeps what stood in the file instead: payload ``{"raw": base64}``, no entries.
    ``receipt`` names the checks that passed, ``evidence`` the packets it rests on, ``fence`` the lease it was made
    under (D15). Where a model curated and says how it was asked, the payload
    holds also ``"asked": {"output", "note"}``.
    """

    TOPIC: ClassVar[str] = "RevisionPrepared"
    class_version: ClassVar[int] = 2
    revision: int
    kind: RevisionKind
    parent: int
    base_digest: str | None
    digest: str
    entries: tuple[EntryFact, ...]
    inputs: tuple[str, ...] = ()
    job: str | None = None
    curator: str | None = None
    usage: Usage = Usage()
    restored_from: int | None = None
    overrides: tuple[Override, ...] = ()
    receipt: tuple[str, ...] = ()
    fence: int | None = None
    evidence: tuple[str, ...] = ()

    @staticmethod
    def upcast_v1_v2(state: dict[str, JSON]) -> None:
        """Before version 2 no revision named a fence or evidence."""
        state.setdefault("fence", None)
        state.setdefault("evidence", [])


@topic
class RevisionCommitted(Event):
    """The file holds the revision (D5)."""

    TOPIC: ClassVar[str] = "RevisionCommitted"
    revision: int
    digest: str
    inputs: tuple[str, ...] = ()


@topic
class RevisionAbandoned(Event):
    """A prepared revision came to nothing; its inputs stay pending (D5)."""

    TOPIC: ClassVar[str] = "RevisionAbandoned"
    revision: int
    reason: str


@topic
class DriftDetected(Event):
    """The file is not what the log says: edited, missing, or not a file of ours (D8, D11)."""

    TOPIC: ClassVar[str] = "DriftDetected"
    kind: Literal["drift", "missing", "unadopted", "unreadable"]
    expected: str | None
    found: str | None


# --- erasure -----------------------------------------------------------------------------------------

ErasedKind = Literal["session", "message", "entry"]
Span: TypeAlias = tuple[int, int]
"""Positions from the first to the second, both included."""


@topic
class ErasureRequested(Event):
    """Somebody asked that a session, a message or an entry is erased (E8). Payload ``{"reason": text}``.

    ``target`` is its id, ``position`` that of the message. ``spans`` are the payloads that go, as far as they were
    there then; ``entries`` and ``candidates`` those of memory that go; ``keep`` what was to stay though it was derived.
    """

    TOPIC: ClassVar[str] = "ErasureRequested"
    erasure: str
    kind: ErasedKind
    target: str
    position: int | None = None
    everywhere: bool = False
    entries: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    elsewhere: int = 0


@topic
class PayloadsErased(Event):
    """The payloads at ``spans`` are gone, in the transaction of this event (E8).

    ``entries`` are the entries that memory shows no more, in any revision. Payload
    ``{"entries": [[entry, revision, text], ...]}``: what other entries, ``kept``, said in the revisions that went.
    """

    TOPIC: ClassVar[str] = "PayloadsErased"
    erasure: str
    spans: tuple[Span, ...]
    entries: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class ErasedCount(Frozen):
    """How many payloads of a topic were erased."""

    topic: str
    events: int


@topic
class ErasureCompleted(Event):
    """The receipt: no file or table of ours holds the text any more (E8). Only ever written when that is so.

    ``wiped`` says by what; ``revision`` is the one that memory went over to; ``elsewhere`` counts the events that
    repeat the words and were left, as it was asked.
    """

    TOPIC: ClassVar[str] = "ErasureCompleted"
    erasure: str
    kind: ErasedKind
    target: str
    requested: int
    events: int
    erased: tuple[ErasedCount, ...] = ()
    entries: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    revision: int | None = None
    rebuilt: tuple[str, ...] = ()
    wiped: Literal["vacuumed_and_truncated", "vacuumed", "in_memory"]
    elsewhere: int = 0


@topic
class RelearningBlocked(Event):
    """What an erasure took out of memory is not learned again (D16, E8). Payload ``{"salt", "whole", "less"}``.

    Slow, salted digests of the words of each text, and of all its words but one; never the words.
    """

    TOPIC: ClassVar[str] = "RelearningBlocked"
    erasure: str
    texts: int


@topic
class RelearningAllowed(Event):
    """A person lifted that block; its digests were erased with it (D16)."""

    TOPIC: ClassVar[str] = "RelearningAllowed"
    erasure: str


# --- projections -------------------------------------------------------------------------------------


@topic
class ProjectionSkipped(Event):
    """A person let a projection pass over an event that it cannot apply; ``verify`` keeps naming it (E6).

    Payload ``{"reason": text}``, where one was given.
    """

    TOPIC: ClassVar[str] = "ProjectionSkipped"
    projection: str
    position: int
    reason: str = ""


@topic
class ProjectionEnabled(Event):
    """A workspace runs a plug-in from here on: its settings name it, and this package in this release brought it (E5).

    Once for each change: another release or version of the code is an event of its own.
    """

    TOPIC: ClassVar[str] = "ProjectionEnabled"
    projection: str
    projection_version: int
    package: str
    release: str


@topic
class ProjectionDisabled(Event):
    """The settings of a workspace no longer name a plug-in: it runs there no more, its rows stay (E5)."""

    TOPIC: ClassVar[str] = "ProjectionDisabled"
    projection: str


@topic
class ProjectionPaused(Event):
    """A person holds a projection at ``position`` until it is resumed. Payload ``{"reason": text}``."""

    TOPIC: ClassVar[str] = "ProjectionPaused"
    projection: str
    position: int


@topic
class ProjectionRetired(Event):
    """A person took a projection out of service at ``position``; its rows stay. Payload ``{"reason": text}``."""

    TOPIC: ClassVar[str] = "ProjectionRetired"
    projection: str
    position: int


@topic
class ProjectionResumed(Event):
    """A paused or retired projection goes on from ``position``. Payload ``{"reason": text}``."""

    TOPIC: ClassVar[str] = "ProjectionResumed"
    projection: str
    position: int


@topic
class ProjectionDropped(Event):
    """The tables and the cursor of a projection were removed (E5). Payload ``{"reason": text}``."""

    TOPIC: ClassVar[str] = "ProjectionDropped"
    projection: str
    position: int
