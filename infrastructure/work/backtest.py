"""What another policy would have done to a session, request by request, without a model and without an event (C11).

The recorded messages are played again in order. Before each answer of the assistant stands a request, and once more
at the end; each goes through the same pure functions that decide a live one (``decide``, ``prepare``, ``accept``),
with the extractive summariser. Two things of the live path are left out and named here: provider-reported sizes
(they belong to requests that this policy would not have sent), and undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from ...domain.acceptance import Accepted, Rejected, accept, prepare, read
from ...domain.breaker import Attempt, rest
from ...domain.compaction import decide
from ...domain.context import Preamble, Shown, SummaryShown, Visible, build
from ...domain.decisions import Decision, Fits, Reduce, Reduction, Refuse, Summarise
from ...domain.errors import CompactionFailed, ContextWindowExceeded, InputError
from ...domain.extractive import ExtractiveSummarizer
from ...domain.message import Message
from ...domain.policy import Policy
from ...domain.relief import with_reductions
from ...projections.context import history
from ..settings import Settings
from . import conversation
from .policy import policy_of
from .runtime import Runtime
from .visible import message_of

ROUNDS = 4
"""Decisions of one request, as in the compressor: a summary, then perhaps reductions inside what is protected."""

OVERRIDES = {
    "window": "context_window",
    "threshold": "compaction_threshold",
    "threshold_tokens": "compaction_threshold_tokens",
    "reserve": "answer_reserve",
    "protect_first": "protect_first",
    "protect_recent": "protect_recent",
    "summary_tokens_max": "summary_tokens_max",
}
"""What can be asked for, and the setting that each stands for."""


@dataclass(slots=True)
class Turn:
    """One request: the last message it saw, its size before and after what was done, and what was done."""

    position: int
    messages: int
    tokens_before: int
    tokens: int
    actions: list[str] = field(default_factory=list)
    hidden: int = 0
    error: str | None = None


def backtest(runtime: Runtime, session: str, preamble: Preamble, overrides: dict[str, Any]) -> dict[str, Any]:
    """Plays the session under another policy. Raises InputError ``bad_setting``, SessionError ``unknown_session``."""
    conversation.require_session(runtime, session)
    policy = policy_of(_settings(runtime.settings, overrides), counter=runtime.counter)
    replay = Replay(session, policy, preamble)
    messages = list(_messages(runtime, session))
    for number, message in enumerate(messages):
        if message.role == "assistant" and number and messages[number - 1].role != "assistant":
            replay.request(message.run)
        replay.add(message)
    if messages:
        replay.request(None)
    return {"session": session, **replay.answer()}


def _settings(settings: Settings, overrides: dict[str, Any]) -> Settings:
    unknown = sorted(set(overrides) - set(OVERRIDES))
    if unknown:
        raise InputError(
            f"a back-test takes {', '.join(OVERRIDES)}, not {', '.join(unknown)}",
            code="bad_setting",
            setting=unknown[0],
        )
    given = {OVERRIDES[name]: value for name, value in overrides.items() if value is not None}
    values = {**settings.model_dump(), **given}
    window = given.get("context_window")
    if isinstance(window, int) and "answer_reserve" not in given:
        values["answer_reserve"] = None if (settings.answer_reserve or 0) >= window else settings.answer_reserve
    if "compaction_threshold" in given and "compaction_threshold_tokens" not in given:
        values["compaction_threshold_tokens"] = None
    return Settings.checked(values)


def _messages(runtime: Runtime, session: str) -> Iterator[Message]:
    with runtime.projections.reading("context") as (view, connection):
        rows = history.messages(view, connection, runtime.workspace, session)
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        events = runtime.log.at(row.position for row in part)
        yield from (message_of(events[row.position]) for row in part)


class Replay:
    """The context of one session under one policy, message by message."""

    def __init__(self, session: str, policy: Policy, preamble: Preamble) -> None:
        self.session = session
        self.policy = policy
        self.preamble = preamble
        self.visible: Visible = ()
        self.turns: list[Turn] = []
        self._summarizer = ExtractiveSummarizer()
        self._preamble_tokens = preamble.tokens
        self._tokens = 0
        self._all_tokens = 0
        self._untouched_tokens = 0
        self._open_calls: set[str] = set()
        self._failed: list[Attempt] = []
        self._compactions = 0

    def add(self, message: Message) -> None:
        """The next recorded message."""
        self.visible = (*self.visible, Shown(message, None, message.tokens))
        self._tokens += message.tokens
        self._all_tokens += message.tokens
        self._open_calls |= {call.id for call in message.calls}
        self._open_calls -= {result.call_id for result in message.results}

    def request(self, open_run: str | None) -> None:
        """What the model would have been asked here: decides until nothing more is to be done, as a live run does."""
        before = self._size()
        self._untouched_tokens += self._preamble_tokens + self._all_tokens
        turn = Turn(self._last_position(), len(self.visible), before, before)
        for _ in range(ROUNDS):
            tokens = self._size()
            around = tokens - self._tokens
            decision = decide(self.visible, around, self.policy, open_run, session=self.session)
            if isinstance(decision, Fits) or self._apply(decision, turn):
                break
        turn.tokens, turn.messages = self._size(), len(self.visible)
        if turn.error is None and not self.policy.fits(turn.tokens):
            turn.error = CompactionFailed.code
        self.turns.append(turn)

    def _apply(self, decision: Decision, turn: Turn) -> bool:
        """Carries a decision out; true when nothing more is to be done for this request."""
        match decision:
            case Fits():
                return True
            case Refuse():
                turn.error = ContextWindowExceeded.code
                return True
            case Reduce():
                self._reduce(decision.reductions, turn)
                return False
            case Summarise():
                verdict = self._summarise(decision, turn)
                if isinstance(verdict, Accepted):
                    self._compactions += 1
                    self._failed = []
                    self._show(verdict.visible(f"backtest-{self._compactions}"))
                    turn.actions.append("compact")
                    turn.hidden += len(decision.covered)
                    return False
                if decision.fits_unchanged:
                    return True
                if decision.fits_reduced and decision.reductions:
                    self._reduce(decision.reductions, turn)
                    return False
                turn.error = CompactionFailed.code
                return True
            case _:
                assert_never(decision)

    def _summarise(self, plan: Summarise, turn: Turn) -> Accepted | Rejected | None:
        settings = self.policy.digest(self._summarizer.name)
        if rest(self._failed, settings=settings, tokens=plan.tokens_before, policy=self.policy):
            return None
        verdict = self._ask(plan)
        if isinstance(verdict, Rejected):
            self._failed.append(Attempt(settings, plan.tokens_before))
            turn.actions.append(f"rejected: {', '.join(verdict.reasons)}")
        return verdict

    def _ask(self, plan: Summarise) -> Accepted | Rejected:
        prepared = prepare(plan, self.policy, whole=True)
        body: str | None = None
        for number in range(len(prepared) - 1):
            request = prepared.request(number, body)
            found = read(self._summarizer.summarize(request), request)
            if isinstance(found, Rejected):
                return found
            body = found[0]
        request = prepared.request(len(prepared) - 1, body)
        answer = self._summarizer.summarize(request)
        return accept(prepared, request, answer, policy=self.policy, summarizer=self._summarizer.name, extracted=True)

    def _reduce(self, made: Sequence[Reduction], turn: Turn) -> None:
        self._show(with_reductions(self.visible, made))
        turn.actions.append(f"reduce {len(made)}")

    def _show(self, visible: Visible) -> None:
        self.visible = visible
        self._tokens = sum([item.tokens for item in visible])

    def _size(self) -> int:
        # Only a call that waits adds something that is not in the messages: its synthetic result.
        if self._open_calls:
            return build(self.visible, self.preamble).tokens
        return self._preamble_tokens + self._tokens

    def _last_position(self) -> int:
        last = self.visible[-1]
        return last.message.position if isinstance(last, Shown) else last.position

    # --- what it came to

    def answer(self) -> dict[str, Any]:
        """Sums, the turns, and the end: what is hidden, what is reduced, the live summary."""
        policy = self.policy
        summary = next((item for item in self.visible if isinstance(item, SummaryShown)), None)
        largest = max(self.turns, key=lambda turn: turn.tokens if turn.error is None else -1, default=None)
        return {
            "policy": {
                "name": policy.name,
                "window": policy.window,
                "reserve": policy.reserve,
                "trigger": policy.trigger,
                "protect_first": policy.protect_first,
                "protect_recent": policy.protect_recent,
                "summary_tokens_max": policy.summary_tokens_max,
                "enabled": policy.enabled,
            },
            "summarizer": self._summarizer.name,
            "requests": len(self.turns),
            "preamble_tokens": self._preamble_tokens,
            "tokens_total": sum(turn.tokens for turn in self.turns if turn.error is None),
            "tokens_total_unchanged": self._untouched_tokens,
            "tokens_last": self.turns[-1].tokens if self.turns else self._preamble_tokens,
            "largest": None
            if largest is None or largest.error is not None
            else {"position": largest.position, "tokens": largest.tokens},
            "reductions": sum(action.startswith("reduce") for turn in self.turns for action in turn.actions),
            "compactions": self._compactions,
            "rejected": sum(action.startswith("rejected") for turn in self.turns for action in turn.actions),
            "errors": [{"position": turn.position, "error": turn.error} for turn in self.turns if turn.error],
            "hidden": [] if summary is None else list(summary.covers),
            "reduced": [item.message.id for item in self.visible if isinstance(item, Shown) and item.parts is not None],
            "summary": None if summary is None else summary.text,
            "turns": [
                {
                    "position": turn.position,
                    "messages": turn.messages,
                    "tokens_before": turn.tokens_before,
                    "tokens": turn.tokens,
                    "actions": turn.actions,
                    "hidden": turn.hidden,
                    "error": turn.error,
                }
                for turn in self.turns
            ],
        }
