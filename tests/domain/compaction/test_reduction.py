"""Tool payloads are shown shorter, deterministically, and never so that they mislead (C3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.domain.errors import StoreError
from minutebook.domain.events import encode_payload
from minutebook.domain.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    View,
)
from minutebook.domain.policy import Policy, ToolHint
from minutebook.domain.reduction import newest_results, parts_from_json, parts_to_json, reduce
from minutebook.domain.tokens import count_parts

POLICY = Policy(window=8_000, reserve=1_000, trigger=4_000)
NewTalk = Callable[[], Any]


def _all(messages: list[Message]) -> range:
    return range(len(messages))


def _result(parts: tuple[Part, ...]) -> ToolResult:
    return next(part for part in parts if isinstance(part, ToolResult))


def test_a_long_result_becomes_its_tool_its_arguments_an_overview_and_where_it_is_kept(new_talk: NewTalk) -> None:
    talk = new_talk()
    body = "\n".join(f"line {number} of the log" for number in range(900))
    kept = talk.tool("bash", {"command": "npm test", "timeout": 30}, body)

    shorter = reduce(talk.messages, _all(talk.messages), policy=POLICY, session="build 42")

    text = _result(shorter[kept.id]).text
    assert list(shorter) == [kept.id]
    assert "bash finished" in text
    assert "command=npm test" in text
    assert f"{len(body):,} characters in 900 lines" in text
    assert "line 0 of the log" in text
    assert "line 899 of the log" in text
    assert f"log position {kept.position}, message {kept.id}" in text
    assert f"`minutebook trace {kept.position}`" in text
    assert "`minutebook session messages 'build 42'`" in text
    assert len(text) < 2_000


def test_a_placeholder_does_not_read_like_a_tool_failure(new_talk: NewTalk) -> None:
    talk = new_talk()
    kept = talk.tool("read", {"path": "src/ledger.py"}, "def f():\n    return 1\n" * 300)

    text = _result(reduce(talk.messages, _all(talk.messages), policy=POLICY)[kept.id]).text.lower()

    assert text.startswith("[minutebook: read finished;")
    for alarming in ("error", "fail", "unavailable", "not found", "cleared", "truncated", "missing", "removed"):
        assert alarming not in text


def test_a_result_that_reported_an_error_still_says_so(new_talk: NewTalk) -> None:
    talk = new_talk()
    kept = talk.tool("bash", {"command": "make"}, "cc: error\n" * 400)
    failed = replace(kept, view=View("tool", (replace(_result(kept.parts), is_error=True),)))

    reduced = _result(reduce([*talk.messages[:-1], failed], [1], policy=POLICY)[kept.id])

    assert reduced.is_error
    assert "reported an error" in reduced.text


def test_important_arguments_are_shown_and_bounded(new_talk: NewTalk) -> None:
    talk = new_talk()
    arguments = {"blob": "x" * 9_000, "path": "a/b.py", "query": "q" * 4_000, "url": "https://example.org/" + "u" * 900}
    kept = talk.tool("search", arguments, "hit\n" * 2_000)

    text = _result(reduce(talk.messages, _all(talk.messages), policy=POLICY)[kept.id]).text
    called = next(line for line in text.split("\n") if line.startswith("Called with: "))

    assert "path=a/b.py" in called
    assert "query=qqq" in called
    assert "xxx" not in called
    assert len(called) <= len("Called with: ") + 500


def test_a_json_result_is_described_by_its_keys(new_talk: NewTalk) -> None:
    talk = new_talk()
    rows = [{"id": n, "state": "open", "title": "t" * 40} for n in range(100)]
    kept = talk.tool("api", {"url": "https://example.org"}, json.dumps(rows))

    text = _result(reduce(talk.messages, _all(talk.messages), policy=POLICY)[kept.id]).text

    assert "a JSON array of 100 items, the first with keys: id, state, title" in text


def test_long_arguments_are_cut_inside_their_json(new_talk: NewTalk) -> None:
    talk = new_talk()
    given_arguments = {"path": "a.py", "content": "y = 1\n" * 500, "edits": [{"old": "o" * 900}] * 40, "n": 7}
    talk.tool("write", given_arguments, "ok")
    call = talk.messages[0]

    shorter = next(p for p in reduce(talk.messages, _all(talk.messages), policy=POLICY)[call.id])

    assert isinstance(shorter, ToolCall)
    arguments = json.loads(shorter.arguments)
    assert arguments["path"] == "a.py"
    assert arguments["n"] == 7
    assert arguments["content"].startswith("y = 1\ny = 1")
    assert f"log position {call.position}" in arguments["content"]
    assert len(arguments["edits"]) == POLICY.argument_items_max + 1
    assert (shorter.id, shorter.name) == (call.calls[0].id, call.calls[0].name)


@pytest.mark.parametrize("broken", ['{"command": "ls', "not json " * 100, "[" * 90_000, '{"n": NaN}' + " " * 600])
def test_arguments_that_are_no_json_become_json(new_talk: NewTalk, broken: str) -> None:
    talk = new_talk()
    talk.tool("bash", broken + " " * 600 + "z" * 600, "ok")

    shorter = reduce(talk.messages, [0], policy=POLICY)["m1"][0]

    assert isinstance(shorter, ToolCall)
    assert isinstance(json.loads(shorter.arguments), dict)


def test_identical_older_results_collapse_to_the_newest(new_talk: NewTalk) -> None:
    talk = new_talk()
    same = "the same listing of the same folder\n" * 10
    first = talk.tool("ls", {"path": "."}, same)
    second = talk.tool("ls", {"path": "."}, same)
    newest = talk.tool("ls", {"path": "."}, same)

    shorter = reduce(talk.messages, _all(talk.messages), policy=POLICY)

    assert set(shorter) == {first.id, second.id}
    assert f"log position {newest.position}" in _result(shorter[first.id]).text
    assert f"log position {newest.position}" in _result(shorter[second.id]).text


def test_images_in_an_old_result_are_named_not_shown() -> None:
    image = Media("image", "image/png", 48_211, {"data": "iVBOR" * 2_000})
    message = Message(7, "m", View("tool", (ToolResult("c", "", media=(image, image)),)), "openai", {}, 3_200)

    result = _result(reduce([message], [0], policy=POLICY, session="s")["m"])

    assert result.media == ()
    assert "2 of image image/png, 96,422 bytes" in result.text
    assert "`minutebook trace 7`" in result.text


def test_the_users_own_text_is_never_reduced_but_output_in_their_place_is(new_talk: NewTalk) -> None:
    talk = new_talk()
    typed = talk.user("please read this specification carefully\n" * 300)
    pasted = talk.add({"role": "user", "content": "$ git log\n" + "commit abc\n" * 900}, "tool")

    assert set(reduce(talk.messages, _all(talk.messages), policy=POLICY)) == {pasted.id}
    assert typed.id == "m1"


def test_the_arguments_of_a_call_that_waits_are_left_alone(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.tool("write", {"content": "a" * 5_000}, "ok")
    talk.call("write", {"content": "b" * 5_000})

    assert set(reduce(talk.messages, _all(talk.messages), policy=POLICY)) == {"m1"}


def test_what_is_short_stays_and_only_chosen_messages_change(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.tool("bash", {"command": "true"}, "ok")
    talk.tool("bash", {"command": "cat"}, "w " * 3_000)

    assert reduce(talk.messages, [0, 1, 2], policy=POLICY) == {}
    assert set(reduce(talk.messages, _all(talk.messages), policy=POLICY)) == {"m4"}


@pytest.mark.parametrize(("size", "reduced"), [(1_999, False), (2_000, False), (2_001, True)])
def test_long_begins_one_character_after_the_limit(new_talk: NewTalk, size: int, reduced: bool) -> None:
    talk = new_talk()
    talk.tool("bash", {"command": "cat"}, "#a1 " * (size // 4) + "x" * (size % 4))

    assert bool(reduce(talk.messages, _all(talk.messages), policy=POLICY)) is reduced


def test_a_tight_reduction_starts_from_the_original_again(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.tool("bash", {"command": "cat"}, "one row of a long listing with many words in it, and a number\n" * 900)
    usual = reduce(talk.messages, [1], policy=POLICY)

    tight = reduce(talk.messages, [1], policy=POLICY, shown=usual, tight=True)

    assert count_parts(tight["m2"]) < count_parts(usual["m2"])
    assert reduce(talk.messages, [1], policy=POLICY, shown=usual) == {}


def test_a_result_of_fifty_megabytes_is_reduced_in_little_time(new_talk: NewTalk) -> None:
    talk = new_talk()
    kept = talk.tool("bash", {"command": "cat big"}, "0123456789 abcdef\n" * 2_800_000)

    assert len(_result(reduce(talk.messages, [1], policy=POLICY)[kept.id]).text) < 2_000


def test_newest_results_names_the_last_answer(new_talk: NewTalk) -> None:
    talk = new_talk()
    assert newest_results(talk.messages) is None
    talk.tool("a", {}, "1")
    talk.tool("b", {}, "2")
    talk.user("thanks")
    assert newest_results(talk.messages) == 3


TEXT = st.text(st.characters(codec="utf-8"), max_size=40).flatmap(
    lambda seed: st.integers(0, 120).map(lambda times: seed * times)
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)
MEDIA = st.builds(Media, st.sampled_from(["image", "file"]), st.just("image/png"), st.integers(0, 10**6), JSON_VALUES)
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, TEXT),
    st.builds(Reasoning, TEXT, JSON_VALUES),
    st.builds(ToolCall, st.sampled_from("abc"), st.sampled_from(["bash", "read"]), JSON_VALUES.map(json.dumps) | TEXT),
    st.builds(
        ToolResult,
        st.sampled_from("abc"),
        TEXT,
        st.sampled_from(["", "bash"]),
        st.booleans(),
        st.lists(MEDIA, max_size=2).map(tuple),
    ),
    MEDIA,
    st.builds(Opaque, JSON_VALUES),
)
HISTORIES = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.lists(PARTS, max_size=3)), max_size=8)


def _messages(drawn: list[tuple[Any, list[Part]]]) -> list[Message]:
    return [
        Message(5 * n, f"m{n}", View(role, tuple(parts)), "openai", {}, count_parts(parts) + 4, trust="tool")
        for n, (role, parts) in enumerate(drawn, 1)
    ]


@given(HISTORIES)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_reduction_is_deterministic_smaller_idempotent_and_keeps_the_structure(drawn: Any) -> None:
    messages = _messages(drawn)
    made = reduce(messages, range(len(messages)), policy=POLICY)
    assert made == reduce(messages, range(len(messages)), policy=POLICY)
    by_id = {message.id: message for message in messages}
    for name, parts in made.items():
        before = by_id[name].parts
        assert count_parts(parts) < count_parts(before)
        assert [type(part) for part in parts] == [type(part) for part in before]
        for new, old in zip(parts, before, strict=True):
            if isinstance(new, ToolResult) and isinstance(old, ToolResult):
                assert (new.call_id, new.name, new.is_error) == (old.call_id, old.name, old.is_error)
            if isinstance(new, ToolCall) and isinstance(old, ToolCall):
                assert (new.id, new.name) == (old.id, old.name)
                assert new.arguments == old.arguments or json.loads(new.arguments) is not None
        encode_payload({"parts": parts_to_json(parts)})
    again = [replace(m, view=View(m.role, made.get(m.id, m.parts))) for m in messages]
    assert reduce(again, range(len(messages)), policy=POLICY) == {}


@given(st.lists(PARTS, max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_parts_come_back_from_json_as_they_were(parts: list[Part]) -> None:
    stored = json.loads(encode_payload({"parts": parts_to_json(parts)}))
    assert parts_from_json(stored["parts"]) == tuple(parts)


@pytest.mark.parametrize("damaged", [[{"type": "strange"}], [{}], ["text"], [{"type": "text"}]])
def test_damaged_parts_are_refused_with_a_code(damaged: list[Any]) -> None:
    with pytest.raises(StoreError) as caught:
        parts_from_json(damaged)
    assert caught.value.code == "parts_unreadable"


def test_a_text_that_is_no_json_is_cut_once_and_then_stays() -> None:
    # given arguments that are no JSON and longer than they may be
    call = ToolCall("a", "bash", "0\x1f\r0𐀀" * 102)
    message = Message(1, "m1", View("assistant", (call,)), "openai", {}, count_parts((call,)) + 4)
    answer = Message(2, "m2", View("tool", (ToolResult("a", "done"),)), "openai", {}, 5, trust="tool")
    # when they are cut, and what came of it is looked at again
    made = reduce([message, answer], [0, 1], policy=POLICY)
    again = reduce([replace(message, view=View("assistant", made["m1"])), answer], [0, 1], policy=POLICY)
    # then nothing more changes, not even the spaces of the JSON
    assert made
    assert again == {}


# --- hints for single tools


def test_a_hint_keeps_a_tool_whole_until_nothing_else_helps(new_talk: NewTalk) -> None:
    talk = new_talk()
    plan = talk.tool("read_plan", {"path": "plan.md"}, "a step of the plan\n" * 400)
    other = talk.tool("bash", {"command": "ls"}, "a file\n" * 1_000)
    policy = replace(POLICY, tool_hints=(ToolHint("read_*", keep=True),))

    assert set(reduce(talk.messages, _all(talk.messages), policy=policy)) == {other.id}
    assert set(reduce(talk.messages, _all(talk.messages), policy=policy, tight=True)) == {plan.id, other.id}
    assert set(reduce(talk.messages, _all(talk.messages), policy=POLICY)) == {plan.id, other.id}


def test_a_hint_says_what_is_long_for_a_tool_and_which_arguments_tell(new_talk: NewTalk) -> None:
    talk = new_talk()
    short = talk.tool("sql", {"path": "db", "statement": "SELECT 1"}, "a row of the answer\n" * 60)
    policy = replace(POLICY, tool_hints=(ToolHint("sql", result_chars_long=500, arguments=("statement",)),))

    assert reduce(talk.messages, _all(talk.messages), policy=POLICY) == {}
    text = _result(reduce(talk.messages, _all(talk.messages), policy=policy)[short.id]).text
    assert "Called with: statement=SELECT 1, path=db" in text


def test_the_first_hint_that_matches_counts_and_names_are_matched_whole() -> None:
    policy = replace(POLICY, tool_hints=(ToolHint("read_plan", result_chars_long=9), ToolHint("read_*", keep=True)))

    assert policy.hint("read_plan").result_chars_long == 9
    assert policy.hint("read_file").keep
    assert not policy.hint("thread_read_file").keep
    assert not policy.hint("").keep
    assert policy.digest() != POLICY.digest()
