"""A compaction frees enough to be worth its price, or it is said that the window is too small (C1, C2, C10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from minutebook.domain.compaction import Accepted, Fits, Reduce, Summarise, accept, decide, prepare
from minutebook.domain.context import Shown, Visible
from minutebook.domain.extractive import ExtractiveSummarizer
from minutebook.domain.policy import Policy
from minutebook.domain.relief import with_reductions

NewTalk: TypeAlias = Callable[[], Any]
NewPolicy: TypeAlias = Callable[..., Policy]


@dataclass
class Played:
    """What a policy did over a conversation: requests made, compactions, tokens that came, reasons given at the end."""

    requests: int = 0
    compactions: int = 0
    came: int = 0
    largest: int = 0
    crowded: int = 0
    reason: str = ""


def play(talk: Any, policy: Policy, preamble: int = 0) -> Played:
    """A request after every message, each made to fit as the engine does it."""
    played, visible = Played(), tuple[Any, ...]()
    for message in talk.messages:
        visible = (*visible, Shown(message, None, message.tokens))
        played.came += message.tokens
        for _ in range(4):
            decision = decide(visible, preamble, policy)
            match decision:
                case Fits(_, reason):
                    played.crowded += decision.crowded
                    played.reason = reason or played.reason
                    break
                case Reduce():
                    visible = with_reductions(visible, decision.reductions)
                case Summarise():
                    visible = _summarised(decision, policy, played)
                case _:
                    raise AssertionError(decision)
        played.requests += 1
        played.largest = max(played.largest, sum(item.tokens for item in visible))
    return played


def _summarised(plan: Summarise, policy: Policy, played: Played) -> Visible:
    prepared = prepare(plan, policy, whole=True)
    request = prepared.request(0)
    verdict = accept(prepared, request, ExtractiveSummarizer().summarize(request), policy=policy, summarizer="x")
    assert isinstance(verdict, Accepted), verdict
    played.compactions += 1
    return verdict.visible(f"c{played.compactions}")


def working(new_talk: NewTalk, turns: int = 60) -> Any:
    talk = new_talk()
    for turn in range(turns):
        talk.user(f"Please look at part {turn} of the parser and say what it needs; keep it short. " * 3)
        for step in range(3):
            talk.tool("grep", {"pattern": f"part_{turn}_{step}"}, f"src/part_{turn}.c:{step}: found a use of it. " * 8)
        talk.assistant(f"Part {turn} needs header_{turn}.h and nothing else; I have checked its uses. " * 3)
    return talk


@pytest.mark.parametrize("window", [3_000, 4_000, 5_000, 6_000, 8_000, 12_000, 16_000])
def test_a_summary_is_not_made_every_few_messages(new_talk: NewTalk, new_policy: NewPolicy, window: int) -> None:
    """Given what is protected near or above the trigger, each summary after the first makes room for a good while."""
    policy = new_policy(window)

    played = play(working(new_talk), policy)

    assert played.compactions >= 2
    assert played.largest <= policy.limit
    per_summary = played.came / played.compactions
    assert per_summary >= window * 0.15, played
    assert played.requests / played.compactions >= 6, played


def test_a_later_summary_that_cannot_bring_the_request_under_the_trigger_waits_until_it_frees_a_quarter(
    new_talk: NewTalk, new_policy: NewPolicy
) -> None:
    talk = working(new_talk, 6)
    policy = new_policy(4_000, trigger=1_000)
    plan = decide(talk.visible, 0, policy, force=True)
    assert isinstance(plan, Summarise)
    visible = _summarised(plan, policy, Played())
    made: Summarise | None = None
    for number in range(200):
        message = talk.user(f"And part {number} as well, please; say what it needs. " * 3)
        visible = (*visible, Shown(message, None, message.tokens))
        decision = decide(visible, 0, policy)
        if isinstance(decision, Summarise):
            made = decision
            break
        assert isinstance(decision, Fits)

    assert made is not None
    assert not made.fits_unchanged or sum(message.tokens for message in made.covered) >= 1_000


def test_a_first_summary_is_made_at_the_trigger_although_much_is_protected(
    new_talk: NewTalk, new_policy: NewPolicy
) -> None:
    talk = working(new_talk, 6)

    assert isinstance(decide(talk.visible, 0, new_policy(6_000, trigger=1_000)), Summarise)


def test_a_window_too_small_for_what_is_protected_is_named_with_its_mend(
    new_talk: NewTalk, new_policy: NewPolicy
) -> None:
    talk = working(new_talk, 25)
    small, large = play(talk, new_policy(2_000), preamble=480), play(talk, new_policy(12_000))

    assert small.crowded
    assert "the window is too small" in small.reason
    assert "context_window" in small.reason
    assert "protect_recent" in small.reason
    assert not large.crowded
