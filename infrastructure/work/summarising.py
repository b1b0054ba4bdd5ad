"""Asks a summariser for one summary, under a claim and a fence, and puts on record what came of it (C5, C6, C10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from ...domain.acceptance import Accepted, Prepared, Rejected, accept, prepare, read
from ...domain.breaker import Attempt, Rest, rest
from ...domain.catalogue import CompactionFailedEvent, CompactionRejected, Usage
from ...domain.decisions import Summarise
from ...domain.errors import StreamConflict
from ...domain.events import Envelope, encode_payload
from ...domain.extractive import ExtractiveSummarizer
from ...domain.policy import Policy
from ...domain.streams import attempt_stream, compactions_stream
from ...domain.structured import recorded
from ...domain.summary import SummaryRequest
from ...domain.summary_safety import reads_as_instruction, redact_credentials
from ...projections.context import history
from ..store.failpoints import failpoint
from . import claims
from .calling import call, kind, label, method, require_caller, said
from .erasure.fence import append_or_silence, since
from .runtime import Runtime, new_id
from .visible import Seen


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attempt to summarise came to."""

    compaction: str
    status: str
    reasons: tuple[str, ...]
    hidden: tuple[str, ...]
    tokens_before: int
    tokens_after: int


class Summarising:
    """The summaries of one session."""

    def __init__(self, runtime: Runtime, session: str, summarizer: Any) -> None:
        self._runtime = runtime
        self._session = session
        self._summarizer = ExtractiveSummarizer() if summarizer is None else summarizer

    def rest(self, plan: Summarise, policy: Policy) -> Rest | None:
        with self._runtime.projections.reading("context") as (view, connection):
            rows = history.failures(view, connection, self._runtime.workspace, self._session)
        events = self._runtime.log.at(row.position for row in rows)
        attempts = []
        for position in sorted(events):
            body = events[position].body
            if isinstance(body, CompactionRejected | CompactionFailedEvent):
                attempts.append(Attempt(body.settings, body.tokens_before))
        return rest(
            attempts, settings=policy.digest(_author(self._summarizer)), tokens=plan.tokens_before, policy=policy
        )

    def summarise(
        self, plan: Summarise, seen: Seen, policy: Policy, run: str | None, *, patient: bool = False
    ) -> Outcome:
        """One summary at a time in a session: who comes second waits for the first, and then looks again (C6)."""
        failpoint("compact.selected")
        name = f"compact:{self._runtime.workspace}:{self._session}"
        held = claims.take(self._runtime, name, seconds=self._claim_seconds)
        if held is None:
            if patient or not plan.fits_unchanged:
                after = claims.take(
                    self._runtime, name, seconds=1.0, wait_seconds=self._runtime.settings.summarizer_timeout_seconds
                )
                if after is not None:
                    after.release()
            return self._nothing("", "busy", ("another_compressor",), plan)
        try:
            if self._runtime.log.version(compactions_stream(self._runtime.workspace, self._session)) != seen.fence:
                # Somebody was done between our look and our claim: a summary of that look would only be thrown away.
                return self._nothing("", "busy", ("another_compressor",), plan)
            return self._summarise_held(held, plan, seen, policy, run)
        finally:
            held.release()

    def _summarise_held(
        self, held: claims.Claim, plan: Summarise, seen: Seen, policy: Policy, run: str | None
    ) -> Outcome:
        """Asks the summariser outside of any transaction, then commits under claim and fence (C6)."""
        stream = compactions_stream(self._runtime.workspace, self._session)
        compaction = new_id("c")
        spent: list[Usage] = []
        try:
            failpoint("compact.requested")
            verdict = self._ask(prepare(plan, policy, whole=self._reads_all()), policy, held, spent)
            require_caller()
        except BaseException as error:
            # Also an interrupt: what was begun is on record, and nothing has changed (C5).
            self._failed(compaction, plan, policy, run, error, sum(spent, Usage()), seen.mark)
            if not isinstance(error, Exception):
                raise
            return self._nothing(compaction, "failed", (kind(error),), plan)
        if isinstance(verdict, Rejected):
            self._rejected(compaction, plan, policy, run, verdict, seen.mark)
            return self._nothing(compaction, "rejected", verdict.reasons, plan)
        event = verdict.event(compaction)
        event.__dict__["envelope"] = self._runtime.envelope(
            stream, seen.fence + 1, actor="compressor", session=self._session, run=run, trust=plan.trust
        )
        failpoint("compact.validated")

        def holding(connection: Connection, positions: list[int]) -> None:
            held.check(connection, positions)
            failpoint("compact.committing")

        try:
            within = since(self._runtime.log, seen.mark, holding)
            self._runtime.log.append([event], expects=[(stream, seen.fence)], within=within)
        except StreamConflict:
            lost = Rejected(("superseded",), verdict.body, verdict.usage)
            self._rejected(compaction, plan, policy, run, lost, seen.mark)
            return self._nothing(compaction, "rejected", lost.reasons, plan)
        failpoint("compact.committed")
        return Outcome(compaction, "committed", (), plan.covers, plan.tokens_before, verdict.tokens_after)

    def _reads_all(self) -> bool:
        return getattr(self._summarizer, "input_tokens_max", 0) is None

    @property
    def _claim_seconds(self) -> float:
        """A claim outlives one call of the summariser; it is renewed before each."""
        return self._runtime.settings.summarizer_timeout_seconds + 30.0

    def _ask(self, prepared: Prepared, policy: Policy, held: claims.Claim, spent: list[Usage]) -> Accepted | Rejected:
        """Asks chunk by chunk; what each took is put on ``spent``, for the account of an attempt that fails (D10)."""
        body: str | None = None
        for number in range(len(prepared)):
            request = prepared.request(number, body)
            if number:
                held.renew(self._claim_seconds)
            answer = self._call(request)
            failpoint("compact.received")
            if number == len(prepared) - 1:
                verdict = accept(
                    prepared,
                    request,
                    answer,
                    policy=policy,
                    summarizer=label(self._summarizer),
                    extracted=bool(getattr(self._summarizer, "extracted", False)),
                    redact=redact_credentials,
                    injection=reads_as_instruction,
                )
                return replace(verdict, usage=sum(spent, verdict.usage))
            found = read(answer, request, redact=redact_credentials, injection=reads_as_instruction)
            if isinstance(found, Rejected):
                return replace(found, usage=sum(spent, found.usage))
            body, _, completion = found
            spent.append(completion.usage)
        raise AssertionError("a plan has at least one chunk")

    def _call(self, request: SummaryRequest) -> Any:
        require_caller()
        if isinstance(self._summarizer, ExtractiveSummarizer):
            return self._summarizer.summarize(request)
        return call(
            method(self._summarizer, "summarize"),
            request,
            seconds=self._runtime.settings.summarizer_timeout_seconds,
        )

    def _nothing(self, compaction: str, status: str, reasons: tuple[str, ...], plan: Summarise) -> Outcome:
        return Outcome(compaction, status, reasons, (), plan.tokens_before, plan.tokens_before)

    def _rejected(
        self, compaction: str, plan: Summarise, policy: Policy, run: str | None, verdict: Rejected, mark: int
    ) -> None:
        event = CompactionRejected(
            envelope=self._attempt(compaction, run),
            compaction=compaction,
            reasons=verdict.reasons,
            range_digest=plan.range_digest,
            policy=policy.name,
            settings=policy.digest(_author(self._summarizer)),
            summarizer=label(self._summarizer),
            tokens_before=plan.tokens_before,
            usage=verdict.usage,
            payload=encode_payload({"summary": _storable(verdict.text), **recorded(verdict.asked)}),
        )
        append_or_silence(self._runtime.log, mark, event)

    def _failed(
        self,
        compaction: str,
        plan: Summarise,
        policy: Policy,
        run: str | None,
        error: BaseException,
        usage: Usage,
        mark: int,
    ) -> None:
        event = CompactionFailedEvent(
            envelope=self._attempt(compaction, run),
            compaction=compaction,
            error=kind(error),
            range_digest=plan.range_digest,
            policy=policy.name,
            settings=policy.digest(_author(self._summarizer)),
            summarizer=label(self._summarizer),
            tokens_before=plan.tokens_before,
            usage=usage,
            payload=encode_payload({"message": redact_credentials(said(error))[0]}),
        )
        append_or_silence(self._runtime.log, mark, event)

    def _attempt(self, compaction: str, run: str | None) -> Envelope:
        stream = attempt_stream(self._runtime.workspace, compaction)
        return self._runtime.envelope(stream, 1, actor="compressor", session=self._session, run=run)


def _author(summarizer: Any) -> str:
    """Who summarises, and how when somebody chose it: another choice ends the rest after failures (C10)."""
    output = getattr(summarizer, "output", None)
    return f"{label(summarizer)}, {output}" if output in ("structured", "text") else label(summarizer)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
