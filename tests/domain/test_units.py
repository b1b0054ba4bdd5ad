"""The boundary function: what cannot be parted, what may not be hidden. Scenarios from public fault reports."""

from __future__ import annotations

from typing import Any

import pytest

from minutebook.domain.forms import anthropic, openai
from minutebook.domain.message import Message, Trust
from minutebook.domain.units import LATE_MESSAGES_MAX, Unit, protected, units


def message(source: Any, form: str = "openai", *, run: str | None = None, trust: Trust = "model") -> Message:
    reader = openai.view if form == "openai" else anthropic.view
    return Message(0, "m", reader(source), form, source, 1, run, trust)


def user(text: str = "hello", **more: Any) -> Message:
    return message({"role": "user", "content": text}, **more)


def says(text: str = "ok", **more: Any) -> Message:
    return message({"role": "assistant", "content": text}, **more)


def calls(*ids: str, **more: Any) -> Message:
    made = [{"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}} for name in ids]
    return message({"role": "assistant", "content": None, "tool_calls": made}, **more)


def result(name: str, **more: Any) -> Message:
    return message({"role": "tool", "tool_call_id": name, "content": f"result of {name}"}, **more)


def system(**more: Any) -> Message:
    return message({"role": "system", "content": "rules"}, **more)


def spans(messages: list[Message]) -> list[tuple[int, int]]:
    return [(unit.start, unit.stop) for unit in units(messages)]


def test_a_call_and_its_result_are_one_unit_and_all_else_stands_alone() -> None:
    assert spans([user(), calls("c1"), result("c1"), says(), user()]) == [(0, 1), (1, 3), (3, 4), (4, 5)]


def test_seven_parallel_calls_and_their_results_are_one_unit() -> None:
    # langchain#34282: "one assistant message with 7 parallel calls, keep the last 6 messages"
    names = [f"c{number}" for number in range(7)]
    history = [user(), calls(*names), *[result(name) for name in names], says()]
    assert spans(history) == [(0, 1), (1, 9), (9, 10)]
    assert {"tools", "parallel"} <= units(history)[1].flags


def test_a_wide_fan_out_is_one_unit_whatever_its_width() -> None:
    names = [f"c{number}" for number in range(LATE_MESSAGES_MAX * 5)]
    history = [calls(*names), *[result(name) for name in reversed(names)]]
    assert len(units(history)) == 1
    assert "late" not in units(history)[0].flags


def test_a_pending_approval_swallows_what_came_before_its_answer() -> None:
    # google/adk-python#4740: a call awaits a human, 12 other messages, then its answer
    history = [user(), calls("ask"), *[user() if n % 2 else says() for n in range(12)], result("ask"), says()]
    assert spans(history) == [(0, 1), (1, 15), (15, 16)]


def test_an_absurdly_late_result_is_a_unit_of_its_own() -> None:
    history = [calls("c1"), *[user() for _ in range(LATE_MESSAGES_MAX - 1)], result("c1")]
    assert len(units(history)) == 1
    history = [calls("c1"), *[user() for _ in range(LATE_MESSAGES_MAX)], result("c1")]
    assert len(units(history)) == len(history)
    assert "late" in units(history)[-1].flags
    assert "pending" not in units(history)[0].flags


def test_calls_answered_late_one_after_the_other_do_not_weld_a_session_together() -> None:
    history = [calls("c0")]
    for number in range(1, 400):
        history += [calls(f"c{number}"), result(f"c{number - 1}")]
    assert max(len(unit) for unit in units(history)) <= 2 * LATE_MESSAGES_MAX + 2


def test_overlapping_calls_share_a_unit() -> None:
    assert spans([calls("a"), calls("b"), result("a"), user(), result("b"), user()]) == [(0, 5), (5, 6)]


def test_a_duplicate_result_stays_with_its_call_and_is_marked() -> None:
    history = [calls("c1"), result("c1"), user(), result("c1"), user()]
    assert spans(history) == [(0, 4), (4, 5)]
    assert "duplicate" in units(history)[0].flags


def test_a_result_without_a_call_stands_alone_and_is_marked() -> None:
    history = [user(), result("gone"), calls("late"), user()]
    assert spans(history) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert units(history)[1].flags == {"orphan"}


def test_a_result_before_its_call_is_an_orphan_and_the_call_waits() -> None:
    history = [result("c1"), calls("c1")]
    assert "orphan" in units(history)[0].flags
    assert "pending" in units(history)[1].flags


def test_a_call_id_that_comes_again_belongs_to_the_latest_open_call() -> None:
    history = [calls("c1"), result("c1"), user(), calls("c1"), result("c1")]
    assert spans(history) == [(0, 2), (2, 3), (3, 5)]
    assert "duplicate" not in units(history)[2].flags


def test_a_message_that_mixes_text_and_result_stays_with_the_call() -> None:
    # Hmbown/Codewhale#6119: boundary before a user message with both blocks
    history = [
        message(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}, "anthropic"
        ),
        message(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": "1"},
                    {"type": "text", "text": "go"},
                ],
            },
            "anthropic",
        ),
    ]
    assert units(history) == (Unit(0, 2, frozenset({"tools", "mixed"})),)


def test_reasoning_in_a_message_of_its_own_stays_with_the_call_it_led_to() -> None:
    thought = message({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]})
    assert spans([user(), thought, says(), calls("c"), result("c"), says()]) == [(0, 1), (1, 5), (5, 6)]
    assert spans([user(), thought, says(), user(), calls("c"), result("c")]) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)]


def test_an_old_call_without_result_is_unanswered_and_a_near_one_pending() -> None:
    far = [calls("c1"), *[user() for _ in range(LATE_MESSAGES_MAX + 1)]]
    assert "unanswered" in units(far)[0].flags
    assert "pending" in units(far[:10])[0].flags
    assert "pending" in units([calls("c1", run="r"), *far[1:]], open_run="r")[0].flags


@pytest.mark.parametrize("kept", range(1, 13))
def test_no_unit_boundary_leaves_a_call_and_its_result_on_two_sides(kept: int) -> None:
    # openai-agents-python#4322: window sizes 1..n over nested and parallel calls
    history = [user(), calls("a", "b"), result("b"), result("a"), says(), calls("c"), calls("d"), result("d")]
    history += [result("c"), user(), calls("e"), result("e")]
    starts = [unit.start for unit in units(history)]
    cut = min((start for start in starts if start >= len(history) - kept), default=len(history))
    seen = {call.id for item in history[cut:] for call in item.calls}
    answered = {answer.call_id for item in history[cut:] for answer in item.results}
    assert seen == answered


# --- protection ------------------------------------------------------------------------------------------


def test_the_first_messages_count_system_messages_and_extend_to_whole_units() -> None:
    history = [system(), user(), calls("c"), result("c"), says(), *[user() if n % 2 else says() for n in range(20)]]
    protection = protected(history, first=3, recent=2, open_run=None)
    assert set(range(4)) <= protection.indices
    assert protection.reasons[3] == "unit"
    assert 4 not in protection


def test_the_last_messages_are_counted_without_system_messages_and_extend_to_whole_units() -> None:
    history = [user(), *[says() for _ in range(10)], calls("c"), result("c"), system(), says(), user()]
    protection = protected(history, first=0, recent=3, open_run=None)
    assert protection.indices == {11, 12, 13, 14, 15}
    assert protection.groups() == {"system": (13,), "recent": (12, 14, 15), "unit": (11,)}


def test_the_whole_unfinished_run_is_protected_however_long() -> None:
    history = [user(), says(), *[says(run="r7") for _ in range(30)]]
    protection = protected(history, first=0, recent=8, open_run="r7")
    assert set(range(2, 32)) <= protection.indices
    assert protection.groups()["open_run"] == tuple(range(2, 32))


def test_the_latest_user_request_is_protected_even_behind_many_tool_calls() -> None:
    # claude-code#22376: the last user request disappeared after compaction
    history = [user("old"), user("fix the build")]
    for number in range(20):
        history += [calls(f"c{number}"), result(f"c{number}")]
    protection = protected(history, first=0, recent=8, open_run=None)
    assert protection.reasons[1] == "latest_request"
    assert 0 not in protection


def test_text_that_only_a_tool_brought_is_not_the_latest_request() -> None:
    history = [
        user("fix it", trust="user"),
        user("## summary of before", trust="external"),
        *[says() for _ in range(9)],
    ]
    assert protected(history, first=0, recent=0, open_run=None).indices == {0}


def test_a_system_message_inside_the_range_stays_and_draws_no_unit_after_it() -> None:
    history = [user(), calls("c"), system(), result("c"), *[says() for _ in range(5)], user()]
    protection = protected(history, first=0, recent=1, open_run=None)
    assert protection.indices == {2, 9}


def test_a_pending_call_of_a_finished_run_is_protected_until_its_answer_would_be_late() -> None:
    history = [user(), calls("ask", run="r1"), *[says() for _ in range(12)], user()]
    assert protected(history, first=0, recent=1, open_run=None).reasons[1] == "pending_call"


def test_nothing_is_protected_in_an_empty_history() -> None:
    assert units([]) == ()
    assert len(protected([], first=3, recent=8, open_run="r")) == 0
