"""Curation jobs: pending candidates in, the next revision of MEMORY.md out, or a failure on record (D4, D6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from ...domain.catalogue import (
    CandidateRefused,
    CandidateSetAside,
    CurationFailed,
    CurationRejected,
    Refusal,
)
from ...domain.checks import redact_credentials
from ...domain.curation import Accepted, Entry, Rejected, RuleCurator, build_request, decide
from ...domain.errors import MemoryFault, StreamConflict
from ...domain.events import Event, encode_payload
from ...domain.limits import MemoryLimits
from ...domain.message import lowest_trust
from ...domain.revision import Draft, MemoryDocument
from ...domain.streams import candidate_stream, job_stream, learning_stream
from ...domain.structured import recorded
from ...domain.summary import Completion
from ...domain.summary_checks import CUT_OFF
from ...domain.tokens import count_text
from ..store.failpoints import failpoint
from .calling import call, kind, label, method, said
from .curation_inputs import Inputs, gather
from .curation_lease import CurationLease, give_back, require_lease, require_lease_now, take_lease
from .erasure.fence import append_or_silence, mark, since
from .evidence import EVIDENCE_CHECKS, Evidence
from .publisher import Publisher
from .runtime import Runtime, new_id
from .writer import With

RETRIES = 5
"""Times that a job decides anew because another writer was first."""
_NOBODY = Completion("")
"""For what was decided without an answer."""
LEASE_MARGIN_SECONDS = 30.0
"""What a job may take besides the curator's own time: checks, the file, a slow disk."""


class Curator:
    """Runs the jobs of one book, one after the other; when is for ``schedule`` to say."""

    def __init__(self, runtime: Runtime, publisher: Publisher, curator: Any, evidence: Evidence | None = None) -> None:
        self._runtime = runtime
        self._evidence = evidence
        self._publisher = publisher
        self._curator = RuleCurator() if curator is None else curator
        self._limits = MemoryLimits.of(runtime.settings)
        self.lease_seconds = runtime.settings.curator_timeout_seconds + LEASE_MARGIN_SECONDS

    def anything(self) -> bool:
        """Whether a job would have anything to do. Raises MemoryFault ``memory_drift`` when it may do nothing (D8)."""
        if not self._runtime.settings.memory_enabled:
            return False
        waiting = self.waiting()
        state = self._publisher.detect(take_over=waiting)
        if not state.clean:
            raise state.error()
        return waiting

    def waiting(self) -> bool:
        """Whether candidates wait, or claims that are borne out, however the file stands."""
        if not self._runtime.settings.memory_enabled:
            return False
        return bool(gather(self._runtime).rows) or (self._evidence is not None and bool(self._evidence.promoting.due()))

    def job(self, lease: CurationLease) -> dict[str, Any]:
        """One job under a lease that it gives back. Raises MemoryFault when the file could not be written."""
        held = [lease]
        try:
            if self._evidence is not None:
                self._evidence.promoting.promote()
            return self._job(held)
        finally:
            give_back(self._runtime, held[0])

    # --- the job

    def _job(self, held: list[CurationLease]) -> dict[str, Any]:
        for attempt in range(RETRIES):
            if attempt and not self._renewed(held):
                break
            failpoint("curate.leased")
            inputs = gather(self._runtime)
            if not inputs.rows:
                return answer_of(None, "nothing", None, ())
            job = new_id("j")
            nothing_else = answer_of(job, "rejected", None, ())
            try:
                unfit = self._unfit(inputs)
                if unfit:
                    inputs = self._refuse(job, inputs, unfit)
                answer = self._attempt(job, inputs, held[0]) if inputs.rows else nothing_else
            except StreamConflict:
                continue
            answer["reasons"] = [reason.model_dump(mode="json") for reason in unfit] + answer["reasons"]
            return answer
        return answer_of(None, "failed", None, (Refusal(check="busy", entry="job", message="others kept writing"),))

    def _unfit(self, inputs: Inputs) -> tuple[Refusal, ...]:
        """What no answer can make fit: a redacted proposal, evidence that is not what it was (D4, D15)."""
        secrets = inputs.redacted()
        if self._evidence is None:
            return secrets
        promoting, named = self._evidence.promoting, {reason.entry for reason in secrets}
        faults = promoting.faults(promoting.pins(name for name in inputs.ids if name not in named))
        return (*secrets, *faults.values())

    def _renewed(self, held: list[CurationLease]) -> bool:
        lease = take_lease(self._runtime, self.lease_seconds)
        if lease is not None:
            held[0] = lease
        return lease is not None

    def _attempt(self, job: str, inputs: Inputs, lease: CurationLease) -> dict[str, Any]:
        document = self._publisher.document()
        current = tuple(Entry(fact, text) for fact, text in zip(document.facts, document.entries, strict=True))
        request = build_request(current, inputs.values, self._limits, count_text, self._runtime.check)
        try:
            answer = self._ask(request)
            failpoint("curate.answered")
        except Exception as error:
            return self._failed(job, inputs, kind(error), said(error))
        completion = answer if isinstance(answer, Completion) else _NOBODY
        text: Any = completion.text if completion is answer else answer
        if not isinstance(text, str | bytes):
            reason = Refusal(check="not_text", entry="answer", message=f"an answer of type {type(text).__name__}")
            return self._rejected(job, inputs, (reason,), completion, "")
        if (completion.finish_reason or "").lower() in CUT_OFF:
            reason = Refusal(check="truncated", entry="answer", message="the answer was cut off")
            return self._rejected(job, inputs, (reason,), completion, text)
        if completion.mismatch:
            reason = Refusal(
                check="schema_mismatch",
                entry="answer",
                message=f"the answer does not keep to its schema: {completion.mismatch}",
            )
            return self._rejected(job, inputs, (reason,), completion, text)
        decision = decide(
            current,
            inputs.values,
            text,
            job=job,
            revision=document.next,
            limits=self._limits,
            count=count_text,
            check=self._runtime.check,
        )
        failpoint("curate.decided")
        if isinstance(decision, Rejected):
            return self._rejected(job, inputs, decision.reasons, completion, text)
        return self._publish(job, inputs, decision, completion, document, lease)

    def _ask(self, request: Any) -> Any:
        if isinstance(self._curator, RuleCurator):
            return self._curator.curate(request)
        return call(method(self._curator, "curate"), request, seconds=self._runtime.settings.curator_timeout_seconds)

    def _publish(
        self,
        job: str,
        inputs: Inputs,
        decision: Accepted,
        completion: Completion,
        document: MemoryDocument,
        lease: CurationLease,
    ) -> dict[str, Any]:
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
                ignored = tuple(_ignored(name) for name in decision.pending)
                return self._rejected(job, inputs, ignored, completion, "")
            self._append([*events, self._rejection(job, inputs, tuple(refused), reasons, completion, "")])
            return answer_of(job, "rejected", None, reasons)
        # What the answer passed over is tried again, and set aside when that happens too often.
        events += self._passed_over(job, inputs, decision.pending)
        pins = () if self._evidence is None else self._evidence.promoting.pins(decision.consumed)
        consumed = [value for value in inputs.values if value.id in decision.consumed]
        draft = Draft(
            kind="curated",
            texts=tuple(entry.text for entry in decision.entries),
            facts=tuple(entry.fact for entry in decision.entries),
            inputs=decision.consumed,
            job=job,
            curator=label(self._curator),
            usage=completion.usage,
            asked=completion.asked,
            receipt=decision.checks + (EVIDENCE_CHECKS if pins else ()),
            fence=lease.fence,
            evidence=tuple(dict.fromkeys(pin.packet for pin in pins)),
            actor="curator",
            trust=lowest_trust(
                consumed[0].trust if consumed else "model",
                *(value.trust for value in consumed),
                *(entry.fact.trust for entry in decision.entries if entry.fact.since == document.next),
            ),
        )
        fences = [
            (candidate_stream(self._runtime.workspace, name), inputs.versions[name]) for name in decision.consumed
        ]

        fences.append((learning_stream(self._runtime.workspace), inputs.learnt))

        def fence(connection: Connection) -> None:
            require_lease(self._runtime, connection, lease)
            since(self._runtime.log, inputs.mark)(connection, [])
            if self._evidence is not None and self._evidence.promoting.faults(pins, connection):
                raise StreamConflict("the evidence of a candidate is not what it was; look again and decide anew")

        def recheck() -> None:
            require_lease_now(self._runtime, lease)

        try:
            done = self._publisher.publish(
                draft,
                version=document.version,
                transaction=With(also=events, expects=fences, fence=fence, recheck=recheck),
            )
        except MemoryFault as fault:
            if fault.code == "curation_lease_lost":
                # No fault of the candidates: whoever has the lease now decides about them.
                self._failed(job, inputs.without(frozenset(inputs.ids)), fault.code, fault.message)
                raise
            self._failed(job, inputs, fault.code, fault.message)
            raise
        return answer_of(job, "committed", done.revision, reasons)

    # --- what came to nothing

    def _passed_over(self, job: str, inputs: Inputs, names: Sequence[str]) -> list[Event]:
        if not names:
            return []
        reasons = tuple(_ignored(name) for name in names)
        left = inputs.without(frozenset(inputs.ids) - frozenset(names))
        return [self._rejection(job, left, tuple(names), reasons, _NOBODY, ""), *self._set_aside(left, "ignored")]

    def _refuse(self, job: str, inputs: Inputs, secrets: tuple[Refusal, ...]) -> Inputs:
        names = frozenset(reason.entry for reason in secrets)
        events = [self._refusal(job, inputs, reason.entry, (reason,)) for reason in secrets]
        left = inputs.without(names)
        if not left.rows:
            events.append(self._rejection(job, inputs, tuple(sorted(names)), secrets, _NOBODY, ""))
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
                trust=row.trust,
                causation=row.position,
            ),
            candidate=name,
            job=job,
            reasons=tuple(reasons),
        )

    def _rejected(
        self, job: str, inputs: Inputs, reasons: tuple[Refusal, ...], completion: Completion, answer: str | bytes
    ) -> dict[str, Any]:
        text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
        self._append(
            [
                self._rejection(job, inputs, inputs.ids, reasons, completion, text),
                *self._set_aside(inputs, reasons[0].check),
            ],
            inputs.mark,
        )
        return answer_of(job, "rejected", None, reasons)

    def _rejection(
        self,
        job: str,
        inputs: Inputs,
        names: tuple[str, ...],
        reasons: tuple[Refusal, ...],
        completion: Completion,
        answer: str,
    ) -> Event:
        kept = answer[:20_000].encode("utf-8", "replace").decode()
        content = {**({"answer": redact_credentials(kept)[0]} if kept else {}), **recorded(completion.asked)}
        return CurationRejected(
            envelope=self._runtime.envelope(
                job_stream(self._runtime.workspace, job), 1, actor="curator", trust=inputs.trust
            ),
            job=job,
            inputs=names,
            reasons=reasons,
            curator=label(self._curator),
            usage=completion.usage,
            payload=encode_payload(content) if content else None,
        )

    def _failed(self, job: str, inputs: Inputs, error: str, message: str) -> dict[str, Any]:
        kept = redact_credentials(message[:10_000].encode("utf-8", "replace").decode())[0]
        event = CurationFailed(
            envelope=self._runtime.envelope(
                job_stream(self._runtime.workspace, job), 1, actor="curator", trust=inputs.trust
            ),
            job=job,
            inputs=inputs.ids,
            error=error,
            curator=label(self._curator),
            payload=encode_payload({"message": kept}),
        )
        self._append([event, *self._set_aside(inputs, error)], inputs.mark)
        return answer_of(job, "failed", None, (Refusal(check=error, entry="job", message=kept[:500]),))

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
                    trust=row.trust,
                    causation=row.position,
                ),
                candidate=row.candidate,
                attempts=row.attempts + 1,
                reason=reason[:200],
            )
            for row in inputs.rows
            if row.attempts + 1 >= most
        ]

    def _append(self, events: Sequence[Event], seen: int | None = None) -> None:
        log = self._runtime.log
        append_or_silence(log, mark(log) if seen is None else seen, *events)


def answer_of(job: str | None, status: str, revision: int | None, reasons: Sequence[Refusal]) -> dict[str, Any]:
    return {
        "job": job,
        "status": status,
        "revision": revision,
        "reasons": [reason.model_dump(mode="json") for reason in reasons],
    }


def _ignored(name: str) -> Refusal:
    return Refusal(check="ignored", entry=name, message="the curator's answer took nothing of it in")
