"""What a provider says a request took is preferred, and never makes a request that does not fit pass for one (M5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook import ContextWindowExceeded, Minutebook, Settings
from minutebook.domain.usage import usage_of

WINDOW = 8_000
LIMIT = WINDOW - WINDOW // 8


def opened(place: Path) -> Minutebook:
    return Minutebook.open(place, automatic=False, settings=Settings(context_window=WINDOW))


def long_talk() -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 300} for n in range(40)]


def test_a_larger_system_prompt_than_that_of_the_reported_request_is_counted(place: Path) -> None:
    with opened(place) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Hello."})
        run.context(system="You are brief.")
        run.append({"role": "assistant", "content": "Hello."}, usage={"input_tokens": 20, "output_tokens": 5})
        run.append({"role": "user", "content": "Go on."})

        same = run.context(system="You are brief.")
        assert same.reported_tokens is not None
        longer = run.context(system="You are brief. " + "rule " * 2_000)
        assert longer.reported_tokens is not None
        grown = longer.tokens - same.tokens
        assert grown > 1_000
        assert longer.reported_tokens - same.reported_tokens == grown
        with pytest.raises(ContextWindowExceeded):
            run.context(system="rule " * 20_000)
        tool = {"name": "t", "description": "does " * 20_000, "input_schema": {"type": "object"}}
        with pytest.raises(ContextWindowExceeded):
            run.context(system="You are brief.", tools=[tool])


def test_a_request_of_the_callers_own_making_is_believed_where_it_can_have_had_the_prompt(place: Path) -> None:
    with opened(place) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Hello."})
        run.append({"role": "assistant", "content": "Hello."}, usage={"input_tokens": 812, "output_tokens": 4})
        assert run.context(system="You are brief.").reported_tokens == 816
    with opened(place) as book, book.session("t").run() as run:
        run.append({"role": "user", "content": "Hello."})
        run.append({"role": "assistant", "content": "Hello."}, usage={"input_tokens": 812, "output_tokens": 4})
        longer = run.context(system="rule " * 3_000)
        assert longer.reported_tokens is None
        assert longer.tokens > 3_000


def test_the_prompt_of_an_earlier_runtime_counts_as_well(place: Path) -> None:
    with opened(place) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Hello."})
        run.context(system="rule " * 2_000)
        run.append({"role": "assistant", "content": "Hello."}, usage={"input_tokens": 2_020, "output_tokens": 5})
    with opened(place) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Go on."})
        with_prompt = run.context(system="rule " * 2_000)
        without = run.context(system="Be brief.")
        assert with_prompt.reported_tokens is not None
        assert 2_025 < with_prompt.reported_tokens < 2_060
        assert without.reported_tokens is None or without.reported_tokens < 200


@pytest.mark.parametrize(
    "usage",
    [
        {"total": 3},
        {"input_tokens": 0, "output_tokens": 0},
        {"input_tokens": 3, "output_tokens": 2},
        {"prompt_tokens": None},
    ],
    ids=str,
)
def test_a_count_that_cannot_be_of_this_request_lets_nothing_pass_that_does_not_fit(place: Path, usage: Any) -> None:
    with opened(place) as book, book.session("s").run() as run:
        run.append([*long_talk()[:2]])
    with opened(place) as book:
        with book.session("s").run() as run:
            run.append(long_talk())
        with book.session("s").run() as run:
            run.append({"role": "assistant", "content": "Done."}, usage=usage)
            context = run.context()

        assert context.tokens <= LIMIT
        assert any(message["state"] == "summary" for message in context.messages)


def test_what_anthropic_read_from_its_cache_was_in_the_request(place: Path) -> None:
    usage = {
        "input_tokens": 12,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 5_900,
        "output_tokens": 5,
    }
    assert usage_of(usage) is not None
    with opened(place) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Hello. " * 1_000})
        run.append({"role": "assistant", "content": "Done."}, usage=usage)

        assert run.usage.input_tokens == 6_012
        assert run.context().reported_tokens == 6_017


def test_what_openai_read_from_its_cache_is_counted_once() -> None:
    chat = {"prompt_tokens": 900, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 800}}
    through_a_proxy = {**chat, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 0}
    responses = {"input_tokens": 900, "output_tokens": 9, "input_tokens_details": {"cached_tokens": 800}}
    for usage in (chat, through_a_proxy, responses):
        found = usage_of(usage)
        assert found is not None
        assert (found.input_tokens, found.output_tokens) == (900, 9)


def test_the_usage_of_a_list_is_that_of_its_last_message_in_a_run_and_outside(place: Path) -> None:
    with opened(place) as book:
        session = book.session("s")
        session.append(long_talk()[:3], usage={"input_tokens": 700, "output_tokens": 50})
        usages = [event.body.get("usage") for event in book.log(type="MessageRecorded")]
        assert [usage is not None for usage in usages] == [False, False, True]


@pytest.mark.parametrize("window", [6_000, 8_000, 64_000])
def test_a_running_total_given_as_usage_never_ends_the_session(place: Path, window: int) -> None:
    # given an agent whose framework reports the tokens of all its calls so far, as if they were of the last one
    total = 0
    with Minutebook.open(place, settings=Settings(context_window=window)) as book, book.session("s").run() as run:
        for turn in range(25):
            run.append({"role": "user", "content": f"{turn} " + "word " * 40})
            # when it asks on and on, then it gets a request that fits, by our own count
            context = run.context()
            assert context.tokens <= window - window // 8
            total += context.tokens + 120
            run.append(
                {"role": "assistant", "content": "a " * 100}, usage={"input_tokens": total, "output_tokens": 120}
            )
        # and what is wrong is said, with the mend
        run.append({"role": "assistant", "content": "b"}, usage={"input_tokens": 10**9})
        assert "running total" in run.context().note


def test_a_reported_count_that_does_not_fit_still_compacts(place: Path) -> None:
    with opened(place) as book:
        with book.session("s").run() as run:
            run.append(long_talk()[:12])
            assert run.context().tokens < LIMIT
        with book.session("s").run() as run:
            run.append({"role": "user", "content": "On."})
            run.append(
                {"role": "assistant", "content": "Done."}, usage={"input_tokens": LIMIT + 10, "output_tokens": 1}
            )
            context = run.context()
    assert any(message["state"] == "summary" for message in context.messages)
