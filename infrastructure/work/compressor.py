"""Makes a session's context fit: reduces, summarises, commits, and records what was shown (C1 to C12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from ...domain.catalogue import (
    ReductionDecided,
)
from ...domain.compaction import decide
from ...domain.context import Built, Preamble, Visible, build
from ...domain.decisions import Decision, Fits, Reduce, Reduction, Refuse, Summarise, needed
from ...domain.errors import CompactionFailed, StreamConflict
from ...domain.events import encode_payload
from ...domain.message import JSON
from ...domain.parts import parts_to_json
from ...domain.policy import Policy
from ...domain.relief import with_reductions
from ...domain.streams import compactions_stream
from ..store.failpoints import failpoint
from .calling import require_caller
from .conversation import RunRef
from .erasure.fence import since
from .freezer import Freezer, Frozen
from .policy import policy_of
from .requests import Requests
from .runtime import Runtime
from .summarising import Summarising
from .visible import Reader, Seen

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
    reported: int | None = None
    crowded: bool = False


class Compressor:
    """The context of one session in one runtime."""

    def __init__(self, runtime: Runtime, session: str, summarizer: Any, freezer: Freezer) -> None:
        self._runtime = runtime
        self._session = session
        self._summarising = Summarising(runtime, session, summarizer)
        self._freezer = freezer
        self._reader = Reader(runtime, session)
        self._requests = Requests(runtime, session, freezer)

    # --- showing: what run.context() does

    def show(self, ref: RunRef, *, system: str, tools: tuple[JSON, ...]) -> Looked:
        """The next request, compacted if it must be, with its digest recorded when it differs from the last."""
        policy = policy_of(self._runtime.settings, counter=self._runtime.counter)
        frozen = self._freezer.freeze(ref.run)
        preamble = Preamble(system, "" if frozen is None else frozen.block, tools, self._runtime.counter)
        note, crowded = "", False
        for _ in range(ROUNDS):
            seen = self._reader.see()
            built = build(seen.visible, preamble)
            reported = self._requests.reported(seen, built)
            decision = decide(
                seen.visible,
                _around(built, seen.visible),
                policy,
                seen.open_run,
                session=self._session,
                reported=reported,
                suspended=seen.suspended,
            )
            if isinstance(decision, Fits):
                note, crowded = note or decision.reason, decision.crowded
                break
            if note:
                break
            note = self._apply(decision, seen, policy, ref.run)
        else:
            if not policy.fits(built.tokens):
                raise needed(built.tokens, policy)
        require_caller()
        self._requests.record(built, seen.position, policy, frozen, preamble, ref.run)
        return Looked(self._session, built, seen.position, policy, frozen, True, note, reported, crowded)

    def _apply(self, decision: Decision, seen: Seen, policy: Policy, run: str | None) -> str:
        """Carries a decision out. Returns why nothing more is to be done, or "" to decide anew."""
        match decision:
            case Fits():
                return decision.reason
            case Refuse():
                raise decision.error()
            case Reduce():
                self._reduce(decision.reductions, seen, policy, run)
                return ""
            case Summarise():
                resting = self._summarising.rest(decision, policy)
                outcome = None if resting else self._summarising.summarise(decision, seen, policy, run)
                if outcome is not None and outcome.status == "committed":
                    return ""
                if outcome is not None and outcome.status == "busy" and not decision.fits_unchanged:
                    return ""  # Somebody else has summarised meanwhile: look again.
                why = str(resting) if outcome is None else f"{outcome.status}: {', '.join(outcome.reasons)}"
                if decision.fits_unchanged:
                    return why
                if decision.fits_reduced and decision.reductions:
                    self._reduce(decision.reductions, seen, policy, run)
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

    def _reduce(self, reductions: Sequence[Reduction], seen: Seen, policy: Policy, run: str | None) -> bool:
        require_caller()
        stream = compactions_stream(self._runtime.workspace, self._session)
        event = ReductionDecided(
            envelope=self._runtime.envelope(stream, seen.fence + 1, actor="compressor", session=self._session, run=run),
            policy=policy.name,
            reductions=tuple(reduction.fact for reduction in reductions),
            payload=encode_payload(
                {"reductions": {r.message.id: {"parts": parts_to_json(r.parts)} for r in reductions}}
            ),
        )
        failpoint("compact.reducing")
        try:
            self._runtime.log.append([event], within=since(self._runtime.log, seen.mark))
        except StreamConflict:
            return False  # Somebody else decided first: look again.
        failpoint("compact.reduced")
        return True

    # --- explicit compaction

    def compact(self, *, dry_run: bool, window: int | None, originals: bool = False) -> dict[str, Any]:
        """What ``minutebook compact`` does (C11): past the trigger, but never past what is protected.

        ``originals``: the range of the live compaction is summarised anew from its originals (C7).
        """
        policy = policy_of(self._runtime.settings, window, counter=self._runtime.counter)
        _, preamble = self._requests.last(None)
        hidden: tuple[str, ...] = ()
        answer: dict[str, Any] = {}
        busy: dict[str, Any] = {}
        for _ in range(ROUNDS):
            seen = self._reader.see(originals=originals and not answer)
            decision = decide(
                seen.visible,
                _around(build(seen.visible, preamble), seen.visible),
                policy,
                seen.open_run,
                session=self._session,
                force=not answer,
                supersedes=seen.live if originals and not answer else None,
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
                    self._reduce(decision.reductions, seen, policy, None)
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
                    outcome = self._summarising.summarise(decision, seen, policy, None, patient=True)
                    if outcome.status == "busy":
                        busy = _answer(
                            None, "failed", "another_compressor", (), outcome.tokens_before, outcome.tokens_before
                        )
                        continue
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
        return answer or busy

    # --- looking

    def look(self, *, at: int | None, window: int | None, system: str | None, tools: tuple[JSON, ...] | None) -> Looked:
        """What a model would see, or saw at a position; appends nothing (C8, C11)."""
        policy = policy_of(self._runtime.settings, window, counter=self._runtime.counter)
        seen = self._reader.see(at)
        if at is not None and window is None:
            policy = self._requests.policy_at(seen, self._runtime.settings)
        frozen, earlier = self._requests.last(seen.position)
        preamble = replace(
            earlier,
            system=earlier.system if system is None else system,
            tools=earlier.tools if tools is None else tools,
        )
        visible = seen.visible
        built = build(visible, preamble)
        reported = self._requests.reported(seen, built)
        note, crowded = "", False
        if at is None or window is not None:
            decision = decide(
                visible,
                _around(built, visible),
                policy,
                seen.open_run,
                session=self._session,
                reported=reported if at is None else None,
                suspended=seen.suspended,
            )
            match decision:
                case Fits():
                    note, crowded = decision.reason, decision.crowded
                case Refuse():
                    raise decision.error()
                case Reduce():
                    visible = with_reductions(visible, decision.reductions)
                case Summarise() if not decision.fits_unchanged:
                    if not decision.fits_reduced:
                        raise needed(decision.tokens_before, policy)
                    visible = with_reductions(visible, decision.reductions)
                case Summarise():
                    note = "a summary is due at the next request of a run"
                case _:
                    assert_never(decision)
        if visible is not seen.visible:
            built, reported = build(visible, preamble), None  # that was of another request
        proved = self._requests.proves(built)
        return Looked(self._session, built, seen.position, policy, frozen, proved, note, reported, crowded)


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
