"""Curation jobs: pending candidates in, the next revision of MEMORY.md out, or a failure on record (D4, D6)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...domain.catalogue import (
    CandidateRefused,
    CandidateSetAside,
    CurationFailed,
    CurationRejected,
    Refusal,
    Usage,
)
from ...domain.checks import redact_credentials
from ...domain.curation import Accepted, Candidate, Entry, Rejected, RuleCurator, build_request, decide
from ...domain.errors import MemoryFault, MinutebookError, StoreError, StreamConflict
from ...domain.events import Event, encode_payload
from ...domain.limits import MemoryLimits
from ...domain.message import lowest_trust
from ...domain.revision import Draft
from ...domain.streams import candidate_stream, job_stream
from ...domain.summary import Completion
from ...domain.tokens import count_text
from ...projections import candidates
from .calling import call, label, method
from .proposals import operation_of
from .publisher import Publisher
from .runtime import Runtime, new_id
from .writer import With

INPUTS_MAX = 200
"""Candidates of one job; the rest waits for the next (D15)."""
RETRIES = 5
"""Times that a job decides anew because another writer was first."""
CUT_OFF = frozenset({"length", "max_tokens", "content_filter"})
DEBOUNCE_SECONDS = 0.25
CLOSE_SECONDS = 5.0
BACK_OFF_SECONDS_MAX = 3600.0


@dataclass(frozen=True, slots=True)
class Inputs:
    """The candidates of one job, with the events that made them pending: their versions are a fence."""

    rows: tuple[candidates.CandidateRow, ...]
    values: tuple[Candidate, ...]
    versions: dict[str, int]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row.candidate for row in self.rows)

    def redacted(self) -> tuple[Refusal, ...]:
        """Those that were proposed with a credential: what is stored of them is not what was meant (D4)."""
        return tuple(
            Refusal(check="credential", entry=row.candidate, message="it held a credential when it was proposed")
            for row in self.rows
            if "credential" in row.findings
        )

    def without(self, names: frozenset[str]) -> Inputs:
        return Inputs(
            tuple(row for row in self.rows if row.candidate not in names),
            tuple(value for value in self.values if value.id not in names),
            self.versions,
        )


class Curating:
    """The curator of one book: explicit jobs, and those in the background."""

    def __init__(self, runtime: Runtime, publisher: Publisher, curator: Any, *, automatic: bool) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._curator = RuleCurator() if curator is None else curator
        self._limits = MemoryLimits.of(runtime.settings)
        self._job_lock = threading.Lock()
        self._automatic = automatic and runtime.writes and runtime.settings.memory_enabled
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.last_error: str | None = None

    # --- explicit

    def curate(self) -> dict[str, Any]:
        """One job now. Raises MemoryFault ``memory_drift`` while the file is not what the log says (D8)."""
        with self._job_lock:
            self._wanted.clear()
            return self._job()

    # --- in the background (D6)

    def start(self) -> None:
        """The start of a book is a reason to curate what the last one left."""
        if self._automatic and self._waiting() > 0:
            self.wake("start")

    def wake(self, reason: str) -> None:
        """Asks for a job soon; returns at once, whatever the curator does."""
        if not self._automatic:
            return
        self._wanted.set()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name=f"minutebook-curator-{reason}", daemon=True)
            self._thread.start()

    def wake_at_threshold(self) -> None:
        """A run has succeeded: when enough candidates wait, the curator starts."""
        if self._automatic and self._waiting() >= self._runtime.settings.curate_after_events:
            self.wake("threshold")

    def _waiting(self) -> int:
        try:
            return self._pending_count()
        except StoreError as error:
            # Whoever ended a run or opened the book asked for no curation: what keeps it off is for status (S3, D6).
            self.last_error = f"{error.code}: {error.message}"
            return 0

    def stop(self) -> None:
        """The book closes: what was asked for is done now, and waited for a bounded time."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        while not (self._stopping.is_set() and not self._wanted.is_set()):
            if not self._wanted.wait(timeout=0.5):
                return
            # A little later: an explicit job that comes right after the start should find its work undone.
            self._stopping.wait(DEBOUNCE_SECONDS)
            with self._job_lock:
                if not self._wanted.is_set():
                    continue
                self._wanted.clear()
                try:
                    if self._may_try() and self._publisher.detect().clean:
                        self._job()
                    self.last_error = None
                except MinutebookError as error:
                    # The job's own failure is an event; this is for status, nothing may reach the conversation.
                    self.last_error = f"{error.code}: {error.message}"

    def _may_try(self) -> bool:
        """Back-off: after n failures in a row the next automatic job waits 2^n seconds."""
        with self._runtime.projections.reading("candidates") as (view, connection):
            failed = candidates.failures(view, connection, self._runtime.workspace)
        if not failed:
            return True
        wait = min(2.0 ** min(len(failed), 20), BACK_OFF_SECONDS_MAX)
        return self._runtime.now() - datetime.fromisoformat(failed[0].time) >= timedelta(seconds=wait)

    def _pending_count(self) -> int:
        with self._runtime.projections.reading("candidates") as (view, connection):
            return len(candidates.pending(view, connection, self._runtime.workspace))

    # --- the job

    def _job(self) -> dict[str, Any]:
        if not self._runtime.settings.memory_enabled:
            return _answer(None, "nothing", None, ())
        state = self._publisher.detect()
        if not state.clean:
            raise state.error()
        for _ in range(RETRIES):
            inputs = self._inputs()
            if not inputs.rows:
                return _answer(None, "nothing", None, ())
            job = new_id("j")
            try:
                secrets = inputs.redacted()
                if secrets:
                    inputs = self._refuse_redacted(job, inputs, secrets)
                answer = self._attempt(job, inputs) if inputs.rows else _answer(job, "rejected", None, ())
            except StreamConflict:
                continue
            answer["reasons"] = [reason.model_dump(mode="json") for reason in secrets] + answer["reasons"]
            return answer
        return _answer(None, "failed", None, (Refusal(check="busy", entry="job", message="others kept writing"),))

    def _inputs(self) -> Inputs:
        runtime = self._runtime
        with runtime.projections.reading("candidates") as (view, connection):
            rows = candidates.pending(view, connection, runtime.workspace)[:INPUTS_MAX]
        events = runtime.log.at(row.position for row in rows)
        kept, values, versions = [], [], {}
        for row in rows:
            last = runtime.log.last(candidate_stream(runtime.workspace, row.candidate))
            operation = operation_of(events[row.position].payload)
            if last is None or last.position != row.pending_since or operation is None:
                continue  # Settled meanwhile, or erased: nothing is left to take in.
            kept.append(row)
            versions[row.candidate] = last.version
            values.append(
                Candidate(
                    row.candidate,
                    operation,
                    events[row.position].envelope.trust,
                    row.run,
                    row.session,
                    row.messages,
                    row.actor,
                )
            )
        return Inputs(tuple(kept), tuple(values), versions)

    def _attempt(self, job: str, inputs: Inputs) -> dict[str, Any]:
        document = self._publisher.document()
        current = tuple(Entry(fact, text) for fact, text in zip(document.facts, document.entries, strict=True))
        request = build_request(current, inputs.values, self._limits, count_text)
        usage = Usage()
        try:
            answer = self._ask(request)
        except Exception as error:
            return self._failed(job, inputs, type(error).__name__, str(error))
        text: Any = answer
        if isinstance(answer, Completion):
            text, usage = answer.text, answer.usage
            if answer.finish_reason in CUT_OFF:
                reason = Refusal(check="truncated", entry="answer", message="the answer was cut off")
                return self._rejected(job, inputs, (reason,), usage, text)
        if not isinstance(text, str | bytes):
            reason = Refusal(check="not_text", entry="answer", message=f"an answer of type {type(text).__name__}")
            return self._rejected(job, inputs, (reason,), usage, "")
        decision = decide(
            current,
            inputs.values,
            text,
            job=job,
            revision=document.next,
            limits=self._limits,
            count=count_text,
        )
        if isinstance(decision, Rejected):
            return self._rejected(job, inputs, decision.reasons, usage, text)
        return self._publish(job, inputs, decision, usage, document.version)

    def _ask(self, request: Any) -> Any:
        if isinstance(self._curator, RuleCurator):
            return self._curator.curate(request)
        return call(method(self._curator, "curate"), request, seconds=self._runtime.settings.curator_timeout_seconds)

    def _publish(self, job: str, inputs: Inputs, decision: Accepted, usage: Usage, version: int) -> dict[str, Any]:
        refused = {name: tuple(reasons) for name, reasons in decision.refused.items()}
        if not decision.changed:
            for name in decision.consumed:
                refused[name] = (
                    Refusal(check="no_effect", entry=name, message="the memory is the same with and without it"),
                )
        events = [self._refusal(job, inputs, name, reasons) for name, reasons in refused.items()]
        reasons = tuple(reason for each in refused.values() for reason in each)
        if not decision.changed:
            if not refused:
                ignored = tuple(
                    Refusal(check="ignored", entry=name, message="the curator's answer took nothing of it in")
                    for name in decision.pending
                )
                return self._rejected(job, inputs, ignored, usage, "")
            self._append([*events, self._rejection(job, tuple(refused), reasons, usage, "")])
            return _answer(job, "rejected", None, reasons)
        consumed = [value for value in inputs.values if value.id in decision.consumed]
        draft = Draft(
            kind="curated",
            texts=tuple(entry.text for entry in decision.entries),
            facts=tuple(entry.fact for entry in decision.entries),
            inputs=decision.consumed,
            job=job,
            curator=label(self._curator),
            usage=usage,
            receipt=decision.checks,
            actor="curator",
            trust=lowest_trust(*(value.trust for value in consumed)) if consumed else "model",
        )
        fences = [
            (candidate_stream(self._runtime.workspace, name), inputs.versions[name]) for name in decision.consumed
        ]
        try:
            done = self._publisher.publish(draft, version=version, transaction=With(also=events, expects=fences))
        except MemoryFault as fault:
            self._failed(job, inputs, fault.code, fault.message)
            raise
        return _answer(job, "committed", done.revision, reasons)

    # --- what came to nothing

    def _refuse_redacted(self, job: str, inputs: Inputs, secrets: tuple[Refusal, ...]) -> Inputs:
        names = frozenset(reason.entry for reason in secrets)
        events = [self._refusal(job, inputs, reason.entry, (reason,)) for reason in secrets]
        left = inputs.without(names)
        if not left.rows:
            events.append(self._rejection(job, tuple(sorted(names)), secrets, Usage(), ""))
        self._append(events)
        return left

    def _refusal(self, job: str, inputs: Inputs, name: str, reasons: Sequence[Refusal]) -> Event:
        row = next(row for row in inputs.rows if row.candidate == name)
        return CandidateRefused(
            envelope=self._runtime.envelope(
                candidate_stream(self._runtime.workspace, name),
                inputs.versions[name] + 1,
                actor="curator",
                session=row.session,
                run=row.run,
                causation=row.position,
            ),
            candidate=name,
            job=job,
            reasons=tuple(reasons),
        )

    def _rejected(
        self, job: str, inputs: Inputs, reasons: tuple[Refusal, ...], usage: Usage, answer: str | bytes
    ) -> dict[str, Any]:
        text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
        self._append(
            [self._rejection(job, inputs.ids, reasons, usage, text), *self._set_aside(inputs, reasons[0].check)]
        )
        return _answer(job, "rejected", None, reasons)

    def _rejection(
        self, job: str, inputs: tuple[str, ...], reasons: tuple[Refusal, ...], usage: Usage, answer: str
    ) -> Event:
        kept = answer[:20_000].encode("utf-8", "replace").decode()
        return CurationRejected(
            envelope=self._runtime.envelope(job_stream(self._runtime.workspace, job), 1, actor="curator"),
            job=job,
            inputs=inputs,
            reasons=reasons,
            curator=label(self._curator),
            usage=usage,
            payload=encode_payload({"answer": redact_credentials(kept)[0]}) if kept else None,
        )

    def _failed(self, job: str, inputs: Inputs, error: str, message: str) -> dict[str, Any]:
        kept = redact_credentials(message[:10_000].encode("utf-8", "replace").decode())[0]
        event = CurationFailed(
            envelope=self._runtime.envelope(job_stream(self._runtime.workspace, job), 1, actor="curator"),
            job=job,
            inputs=inputs.ids,
            error=error,
            curator=label(self._curator),
            payload=encode_payload({"message": kept}),
        )
        self._append([event, *self._set_aside(inputs, error)])
        return _answer(job, "failed", None, (Refusal(check=error, entry="job", message=kept[:500]),))

    def _set_aside(self, inputs: Inputs, reason: str) -> list[Event]:
        """Candidates that failed too often: they no longer hold the others up, and stay named (D4)."""
        most = self._runtime.settings.curation_attempts_max
        return [
            CandidateSetAside(
                envelope=self._runtime.envelope(
                    candidate_stream(self._runtime.workspace, row.candidate),
                    inputs.versions[row.candidate] + 1,
                    actor="curator",
                    session=row.session,
                    run=row.run,
                    causation=row.position,
                ),
                candidate=row.candidate,
                attempts=row.attempts + 1,
                reason=reason[:200],
            )
            for row in inputs.rows
            if row.attempts + 1 >= most
        ]

    def _append(self, events: Sequence[Event]) -> None:
        self._runtime.log.append(events)


def _answer(job: str | None, status: str, revision: int | None, reasons: Sequence[Refusal]) -> dict[str, Any]:
    return {
        "job": job,
        "status": status,
        "revision": revision,
        "reasons": [reason.model_dump(mode="json") for reason in reasons],
    }
