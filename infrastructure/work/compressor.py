"""Makes a session's context fit: reduces, summarises, commits, and records what was shown (C1 to C12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from ...domain.acceptance import Accepted, Prepared, Rejected, accept, prepare, read
from ...domain.breaker import Attempt, Rest, rest
from ...domain.catalogue import (
    CompactionFailedEvent,
    CompactionRejected,
    ReductionDecided,
    Usage,
)
from ...domain.compaction import decide
from ...domain.context import Built, Preamble, Visible, build
from ...domain.decisions import Decision, Fits, Reduce, Reduction, Refuse, Summarise, needed
from ...domain.errors import CompactionFailed, StreamConflict
from ...domain.events import Envelope, encode_payload
from ...domain.extractive import ExtractiveSummarizer
from ...domain.message import JSON
from ...domain.parts import parts_to_json
from ...domain.policy import Policy
from ...domain.relief import with_reductions
from ...domain.streams import attempt_stream, compactions_stream
from ...domain.summary import SummaryRequest
from ...domain.summary_safety import reads_as_instruction, redact_credentials
from ...projections.context import history
from .calling import call, label, method
from .conversation import RunRef
from .freezer import Freezer, Frozen
from .policy import policy_of
from .requests import Requests
from .runtime import Runtime, new_id
from .visible import Reader

ROUNDS = 4
"""Decisions of one call: a summary, then perhaps a reduction inside what is protected, and one lost race."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A built context with what is known about it."""

    session: str
    built: Built
    position: int
    policy: Policy
    frozen: Frozen | None
    proved: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attempt to summarise came to."""

    compaction: str
    status: str
    reasons: tuple[str, ...]
    hidden: tuple[str, ...]
    tokens_before: int
    tokens_after: int


class Compressor:
    """The context of one session in one runtime."""

    def __init__(self, runtime: Runtime, session: str, summarizer: Any, freezer: Freezer) -> None:
        self._runtime = runtime
        self._session = session
        self._summarizer = ExtractiveSummarizer() if summarizer is None else summarizer
        self._freezer = freezer
        self._reader = Reader(runtime, session)
        self._requests = Requests(runtime, session, freezer)

    # --- showing: what run.context() does

    def show(self, ref: RunRef, *, system: str, tools: tuple[JSON, ...]) -> Looked:
        """The next request, compacted if it must be, with its digest recorded when it differs from the last."""
        policy = policy_of(self._runtime.settings)
        frozen = self._freezer.freeze(ref.run)
        preamble = Preamble(system, "" if frozen is None else frozen.block, tools)
        note = ""
        for _ in range(ROUNDS):
            seen = self._reader.see()
            built = build(seen.visible, preamble)
            decision = decide(
                seen.visible,
                _around(built, seen.visible),
                policy,
                seen.open_run,
                session=self._session,
                reported=seen.reported,
                suspended=seen.suspended,
            )
            if isinstance(decision, Fits) or note:
                break
            note = self._apply(decision, policy, ref.run)
        if not policy.fits(built.tokens):
            raise needed(built.tokens, policy)
        self._requests.record(built, seen.position, policy, frozen, preamble, ref.run)
        return Looked(self._session, built, seen.position, policy, frozen, True, note)

    def _apply(self, decision: Decision, policy: Policy, run: str | None) -> str:
        """Carries a decision out. Returns why nothing more is to be done, or "" to decide anew."""
        match decision:
            case Fits():
                return decision.reason
            case Refuse():
                raise decision.error()
            case Reduce():
                self._reduce(decision.reductions, policy, run)
                return ""
            case Summarise():
                resting = self._rest(decision, policy)
                outcome = None if resting else self._summarise(decision, policy, run)
                if outcome is not None and outcome.status == "committed":
                    return ""
                why = str(resting) if outcome is None else f"{outcome.status}: {', '.join(outcome.reasons)}"
                if decision.fits_unchanged:
                    return why
                if decision.fits_reduced and decision.reductions:
                    self._reduce(decision.reductions, policy, run)
                    return ""
                raise CompactionFailed(
                    f"the request takes {decision.tokens_before:,} tokens, {policy.limit:,} fit, and the summary did "
                    f"not come ({why}); nothing was changed; mend the summariser, or use a larger window",
                    tokens=decision.tokens_before,
                    window=policy.window,
                    reasons=[] if outcome is None else list(outcome.reasons),
                )
            case _:
                assert_never(decision)

    def _reduce(self, reductions: Sequence[Reduction], policy: Policy, run: str | None) -> bool:
        stream = compactions_stream(self._runtime.workspace, self._session)
        version = self._runtime.log.version(stream)
        event = ReductionDecided(
            envelope=self._runtime.envelope(stream, version + 1, actor="compressor", session=self._session, run=run),
            policy=policy.name,
            reductions=tuple(reduction.fact for reduction in reductions),
            payload=encode_payload(
                {"reductions": {r.message.id: {"parts": parts_to_json(r.parts)} for r in reductions}}
            ),
        )
        try:
            self._runtime.log.append([event])
        except StreamConflict:
            return False  # Somebody else decided first: look again.
        return True

    # --- summarising

    def _rest(self, plan: Summarise, policy: Policy) -> Rest | None:
        with self._runtime.projections.reading("context") as (view, connection):
            rows = history.failures(view, connection, self._runtime.workspace, self._session)
        events = self._runtime.log.at(row.position for row in rows)
        attempts = []
        for position in sorted(events):
            body = events[position].body
            if isinstance(body, CompactionRejected | CompactionFailedEvent):
                attempts.append(Attempt(body.settings, body.tokens_before))
        return rest(attempts, settings=policy.digest(label(self._summarizer)), tokens=plan.tokens_before, policy=policy)

    def _summarise(self, plan: Summarise, policy: Policy, run: str | None) -> Outcome:
        """Asks the summariser outside of any transaction, then commits under the fence that was read before (C6)."""
        stream = compactions_stream(self._runtime.workspace, self._session)
        fence = self._runtime.log.version(stream)
        compaction = new_id("c")
        try:
            verdict = self._ask(prepare(plan, policy, whole=self._reads_all()), policy)
        except BaseException as error:
            # Also an interrupt: what was begun is on record, and nothing has changed (C5).
            self._failed(compaction, plan, policy, run, error)
            if not isinstance(error, Exception):
                raise
            return self._nothing(compaction, "failed", (type(error).__name__,), plan)
        if isinstance(verdict, Rejected):
            self._rejected(compaction, plan, policy, run, verdict)
            return self._nothing(compaction, "rejected", verdict.reasons, plan)
        event = verdict.event(compaction)
        event.__dict__["envelope"] = self._runtime.envelope(
            stream, fence + 1, actor="compressor", session=self._session, run=run, trust=plan.trust
        )
        try:
            self._runtime.log.append([event], expects=[(stream, fence)])
        except StreamConflict:
            lost = Rejected(("superseded",), verdict.body, verdict.usage)
            self._rejected(compaction, plan, policy, run, lost)
            return self._nothing(compaction, "rejected", lost.reasons, plan)
        return Outcome(compaction, "committed", (), plan.covers, plan.tokens_before, verdict.tokens_after)

    def _reads_all(self) -> bool:
        return getattr(self._summarizer, "input_tokens_max", 0) is None

    def _ask(self, prepared: Prepared, policy: Policy) -> Accepted | Rejected:
        body: str | None = None
        usage = Usage()
        for number in range(len(prepared)):
            request = prepared.request(number, body)
            answer = self._call(request)
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
                return replace(verdict, usage=usage + verdict.usage)
            found = read(answer, request, redact=redact_credentials, injection=reads_as_instruction)
            if isinstance(found, Rejected):
                return replace(found, usage=usage + found.usage)
            body, _, completion = found
            usage = usage + completion.usage
        raise AssertionError("a plan has at least one chunk")

    def _call(self, request: SummaryRequest) -> Any:
        if isinstance(self._summarizer, ExtractiveSummarizer):
            return self._summarizer.summarize(request)
        return call(
            method(self._summarizer, "summarize"),
            request,
            seconds=self._runtime.settings.summarizer_timeout_seconds,
        )

    def _nothing(self, compaction: str, status: str, reasons: tuple[str, ...], plan: Summarise) -> Outcome:
        return Outcome(compaction, status, reasons, (), plan.tokens_before, plan.tokens_before)

    def _rejected(self, compaction: str, plan: Summarise, policy: Policy, run: str | None, verdict: Rejected) -> None:
        event = CompactionRejected(
            envelope=self._attempt(compaction, run),
            compaction=compaction,
            reasons=verdict.reasons,
            range_digest=plan.range_digest,
            policy=policy.name,
            settings=policy.digest(label(self._summarizer)),
            summarizer=label(self._summarizer),
            tokens_before=plan.tokens_before,
            usage=verdict.usage,
            payload=encode_payload({"summary": _storable(verdict.text)}),
        )
        self._runtime.log.append([event])

    def _failed(self, compaction: str, plan: Summarise, policy: Policy, run: str | None, error: BaseException) -> None:
        event = CompactionFailedEvent(
            envelope=self._attempt(compaction, run),
            compaction=compaction,
            error=type(error).__name__,
            range_digest=plan.range_digest,
            policy=policy.name,
            settings=policy.digest(label(self._summarizer)),
            summarizer=label(self._summarizer),
            tokens_before=plan.tokens_before,
            payload=encode_payload({"message": redact_credentials(_storable(str(error))[:10_000])[0]}),
        )
        self._runtime.log.append([event])

    def _attempt(self, compaction: str, run: str | None) -> Envelope:
        stream = attempt_stream(self._runtime.workspace, compaction)
        return self._runtime.envelope(stream, 1, actor="compressor", session=self._session, run=run)

    # --- explicit compaction

    def compact(self, *, dry_run: bool, window: int | None) -> dict[str, Any]:
        """What ``minutebook compact`` does (C11): past the trigger, but never past what is protected."""
        policy = policy_of(self._runtime.settings, window)
        _, preamble = self._requests.last(None)
        hidden: tuple[str, ...] = ()
        answer: dict[str, Any] = {}
        for _ in range(ROUNDS):
            seen = self._reader.see()
            decision = decide(
                seen.visible,
                _around(build(seen.visible, preamble), seen.visible),
                policy,
                seen.open_run,
                session=self._session,
                force=not answer,
            )
            match decision:
                case Fits():
                    return answer or _answer(None, "not_needed", decision.reason, (), decision.tokens, decision.tokens)
                case Refuse():
                    raise decision.error()
                case Reduce() if dry_run:
                    return _answer(None, "planned", "reduction_only", (), decision.tokens_before, decision.tokens_after)
                case Summarise() if dry_run:
                    return _answer(
                        None, "planned", None, decision.covers, decision.tokens_before, decision.tokens_after_most
                    )
                case Reduce():
                    self._reduce(decision.reductions, policy, None)
                    before = answer.get("tokens_before", decision.tokens_before)
                    answer = _answer(
                        answer.get("compaction"),
                        "committed",
                        None if hidden else "reduction_only",
                        hidden,
                        before,
                        decision.tokens_after,
                    )
                case Summarise():
                    outcome = self._summarise(decision, policy, None)
                    if outcome.status != "committed":
                        return _answer(
                            outcome.compaction,
                            outcome.status,
                            ",".join(outcome.reasons),
                            (),
                            outcome.tokens_before,
                            outcome.tokens_after,
                        )
                    hidden = outcome.hidden
                    before = answer.get("tokens_before", outcome.tokens_before)
                    answer = _answer(outcome.compaction, "committed", None, hidden, before, outcome.tokens_after)
        return answer

    # --- looking

    def look(self, *, at: int | None, window: int | None, system: str | None, tools: tuple[JSON, ...] | None) -> Looked:
        """What a model would see, or saw at a position; appends nothing (C8, C11)."""
        policy = policy_of(self._runtime.settings, window)
        seen = self._reader.see(at)
        frozen, earlier = self._requests.last(seen.position)
        preamble = replace(
            earlier,
            system=earlier.system if system is None else system,
            tools=earlier.tools if tools is None else tools,
        )
        visible = seen.visible
        if at is None or window is not None:
            decision = decide(
                visible,
                _around(build(visible, preamble), visible),
                policy,
                seen.open_run,
                session=self._session,
                suspended=seen.suspended,
            )
            match decision:
                case Refuse():
                    raise decision.error()
                case Reduce():
                    visible = with_reductions(visible, decision.reductions)
                case Summarise() if not decision.fits_unchanged:
                    if not decision.fits_reduced:
                        raise needed(decision.tokens_before, policy)
                    visible = with_reductions(visible, decision.reductions)
                case _:
                    pass
        built = build(visible, preamble)
        return Looked(self._session, built, seen.position, policy, frozen, self._requests.proves(built))


def _answer(
    compaction: str | None, status: str, reason: str | None, hidden: Sequence[str], before: int, after: int
) -> dict[str, Any]:
    return {
        "compaction": compaction,
        "status": status,
        "reason": reason or None,
        "hidden": list(hidden),
        "tokens_before": before,
        "tokens_after": after,
    }


def _around(built: Built, visible: Visible) -> int:
    """Tokens of a request beside its visible messages: system prompt, memory, tools, synthetic results."""
    return built.tokens - sum(item.tokens for item in visible)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
