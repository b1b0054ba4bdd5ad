"""For any history, however broken, and any cut: legal for all APIs, nothing silently lost, same input same bytes."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.domain.context import Preamble, Shown, SummaryShown, build, neutral_json
from minutebook.domain.forms import anthropic, codex, openai, openai_responses, openhands
from minutebook.domain.legality import check_anthropic, check_openai, check_openai_responses
from minutebook.domain.message import Message, Reasoning, Text, ToolCall, ToolResult
from minutebook.domain.rendering import Target, losses, to_anthropic, to_openai, to_openai_responses
from minutebook.domain.tokens import count_source
from minutebook.domain.units import protected, units

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "transcripts"
HERE = ROOT / "tests/data/transcripts"

READERS = {
    "openai": openai.view,
    "anthropic": anthropic.view,
    "openai-responses": openai_responses.view,
    "codex": codex.view,
    "openhands": openhands.view,
}
WRITERS: dict[Target, tuple[Any, Any]] = {
    "openai": (to_openai, check_openai),
    "openai-responses": (to_openai_responses, check_openai_responses),
    "anthropic": (to_anthropic, check_anthropic),
}


def history(sources: list[Any], form: str) -> list[Message]:
    return [
        Message(number, f"m{number}", READERS[form](source), form, source, count_source(source))
        for number, source in enumerate(sources, 1)
    ]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def assert_shown_well(visible: list[Shown | SummaryShown], preamble: Preamble) -> None:
    built = build(visible, preamble)
    again = build(visible, preamble)
    assert neutral_json(built) == neutral_json(again)
    for target, (write, check) in WRITERS.items():
        request = write(built)
        assert check(request) == [], (target, check(request))
        assert json.dumps(request) == json.dumps(write(again))
        assert_nothing_silently_lost(visible, request, losses(built, target))


def assert_nothing_silently_lost(visible: list[Shown | SummaryShown], request: Any, lost: tuple[str, ...]) -> None:
    said = "\0".join(strings(request))
    inputs = [
        block["input"]
        for message in request.get("messages", ())
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_use"
    ]
    confessed = {loss.partition(": ")[0] for loss in lost}
    for item in visible:
        if isinstance(item, SummaryShown):
            assert item.text in said
            continue
        for part in item.message.parts if item.parts is None else item.parts:
            match part:
                case Text(text) | ToolResult(_, text):
                    assert text.strip() in said, part
                case ToolCall(_, _, arguments):
                    if arguments not in said:
                        assert not arguments.strip() or json.loads(arguments) in inputs, part
                case Reasoning(text):
                    # A provider takes the pieces of a summary one by one.
                    carried = all(piece in said for piece in text.split("\n\n"))
                    assert carried or item.message.id in confessed, part
                case _:
                    assert not list(strings(part.raw)) or item.message.id in confessed | {item.message.id}


WORDS = st.sampled_from(["go on", "why?", "", "  ", "文件在哪里", "done ", "\n", 'a "b"'])
IDS = st.sampled_from(["c1", "c2", "c3", "", "bad id!", "x" * 60, "函数", "c1_2"])
NAMES = st.sampled_from(["read", "run.shell", "", "n" * 200, "write"])
ARGUMENTS = st.sampled_from(["{}", '{"path": "a.py"}', "", "not json", "[1]", '{"a":1,"a":2}', '{"n":NaN}', "null"])
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "id", "tool_calls", "function", "source", "x"]),
            inner | st.sampled_from(["user", "assistant", "tool", "tool_use", "tool_result", "image", "thinking"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)

openai_calls = st.lists(
    st.builds(
        lambda i, n, a: {"id": i, "type": "function", "function": {"name": n, "arguments": a}}, IDS, NAMES, ARGUMENTS
    ),
    max_size=3,
)
openai_content = WORDS | st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, WORDS)
    | st.just({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}})
    | st.just({"type": "mystery", "payload": "42"}),
    max_size=3,
)
openai_message = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, openai_content),
    st.builds(lambda content: {"role": "system", "content": content}, WORDS),
    st.builds(lambda content: {"role": "assistant", "content": content}, openai_content),
    st.builds(
        lambda content, calls: {"role": "assistant", "content": content, "tool_calls": calls},
        openai_content | st.none(),
        openai_calls,
    ),
    st.builds(lambda text: {"role": "assistant", "content": None, "reasoning_content": text}, WORDS),
    st.builds(lambda i, content: {"role": "tool", "tool_call_id": i, "content": content}, IDS, openai_content),
    st.builds(lambda i, content: {"role": "tool", "tool_call_id": i, "content": content}, IDS, openai_content),
    JUNK,
)

anthropic_text = st.builds(lambda text: {"type": "text", "text": text}, WORDS)
anthropic_image = st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}})
anthropic_result = st.builds(
    lambda i, content, error: {"type": "tool_result", "tool_use_id": i, "content": content, "is_error": error},
    IDS,
    WORDS | st.lists(anthropic_text | anthropic_image | st.just({"query": "q", "result": "r"}), max_size=2),
    st.booleans(),
)
anthropic_use = st.builds(
    lambda i, n, value: {"type": "tool_use", "id": i, "name": n, "input": value},
    IDS,
    NAMES,
    st.sampled_from([{}, {"path": "a.py"}, None, [1], {"deep": {"er": [1.5, "ü"]}}]),
)
anthropic_thinking = st.sampled_from(
    [
        {"type": "thinking", "thinking": "let me see", "signature": "c2ln"},
        {"type": "thinking", "thinking": "unsigned thought"},
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
    ]
)
anthropic_message = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, WORDS),
    st.builds(
        lambda content: {"role": "user", "content": content},
        st.lists(anthropic_text | anthropic_image | anthropic_result | JUNK, max_size=4),
    ),
    st.builds(lambda content: {"role": "user", "content": content}, st.lists(anthropic_result, max_size=3)),
    st.builds(
        lambda content: {"role": "assistant", "content": content},
        st.lists(anthropic_text | anthropic_use | anthropic_thinking, max_size=4),
    ),
    st.builds(lambda content: {"role": "system", "content": content}, WORDS),
    JUNK,
)

responses_part = st.one_of(
    st.builds(lambda kind, text: {"type": kind, "text": text}, st.sampled_from(["input_text", "output_text"]), WORDS),
    st.just({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "high"}),
    st.just({"type": "input_image", "file_id": "file-1"}),
    st.just({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}),
    st.just({"type": "refusal", "refusal": "no"}),
    JUNK,
)
responses_content = WORDS | st.lists(responses_part, max_size=3)
responses_reasoning = st.sampled_from(
    [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "c2VhbA"},
        {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "unsealed"}]},
    ]
)
responses_item = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, responses_content),
    st.builds(lambda role, content: {"type": "message", "role": role, "content": content},
              st.sampled_from(["user", "assistant", "developer"]), responses_content),
    st.builds(lambda i, n, a: {"type": "function_call", "call_id": i, "name": n, "arguments": a},
              IDS, NAMES, ARGUMENTS | st.just({"a": 1})),
    st.builds(lambda i, n, a: {"type": "custom_tool_call", "call_id": i, "name": n, "input": a, "status": "completed"},
              IDS, NAMES, ARGUMENTS),
    st.builds(lambda i, words: {"type": "local_shell_call", "call_id": i, "action": {"type": "exec", "command": words}},
              IDS, st.lists(WORDS, max_size=2)),
    st.builds(lambda kind, i, output: {"type": kind, "call_id": i, "output": output},
              st.sampled_from(["function_call_output", "custom_tool_call_output"]), IDS, responses_content),
    st.builds(lambda i, text: {"type": "function_call_output", "call_id": i,
                               "output": {"content": text, "success": False}}, IDS, WORDS),
    responses_reasoning,
    responses_reasoning,
    st.just({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}),
    st.just({"type": "compaction", "encrypted_content": "c2VhbGVk"}),
    JUNK,
)  # fmt: skip

PREAMBLES = st.builds(
    Preamble,
    st.sampled_from(["", "You are an agent."]),
    st.sampled_from(["", "Notes: port 8080"]),
    st.sampled_from(
        [
            (),
            ({"type": "function", "function": {"name": "run.shell", "parameters": {"type": "object"}}},),
            ({"name": "read", "description": "reads", "input_schema": {"type": "object", "properties": {}}}, 7),
        ]
    ),
)


def openai_turn(ids: list[str], texts: list[str]) -> list[Any]:
    made = [{"id": i, "type": "function", "function": {"name": "read", "arguments": "{}"}} for i in ids]
    answers = [
        {"role": "tool", "tool_call_id": i, "content": f"result {i} {text}"}
        for i, text in zip(ids, texts, strict=False)
    ]
    return [{"role": "assistant", "content": texts[0], "tool_calls": made}, *answers]


def responses_turn(ids: list[str], texts: list[str]) -> list[Any]:
    kind = "custom_tool_call" if len(texts[0]) % 2 else "function_call"
    key = "input" if kind == "custom_tool_call" else "arguments"
    calls = [{"type": kind, "call_id": i, "name": "read", key: "{}"} for i in ids]
    answers = [
        {"type": f"{kind}_output", "call_id": i, "output": f"result {i} {text}"}
        for i, text in zip(ids, texts, strict=False)
    ]
    thought = {"type": "reasoning", "id": f"rs_{len(ids)}", "summary": [], "encrypted_content": "c2VhbGVk"}
    return [thought, *calls, *answers]


def anthropic_turn(ids: list[str], texts: list[str]) -> list[Any]:
    uses = [{"type": "tool_use", "id": i, "name": "read", "input": {}} for i in ids]
    answers = [
        {"type": "tool_result", "tool_use_id": i, "content": f"result {i} {text}"}
        for i, text in zip(ids, texts, strict=False)
    ]
    answers.insert(len(texts[0]) % 2, {"type": "text", "text": f"and {texts[0]}"})
    half = len(texts[-1]) % len(answers)
    split = [{"role": "user", "content": blocks} for blocks in (answers[:half], answers[half:]) if blocks]
    return [{"role": "assistant", "content": uses}, *split]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Well-formed turns of calls and results, then broken: lost, doubled, moved, with others between."""
    form = draw(st.sampled_from(["openai", "anthropic", "openai-responses", "codex"]))
    turn, message = {
        "openai": (openai_turn, openai_message),
        "anthropic": (anthropic_turn, anthropic_message),
    }.get(form, (responses_turn, responses_item))
    sources: list[Any] = []
    for _ in range(draw(st.integers(0, 3))):
        ids = draw(st.lists(IDS, min_size=1, max_size=3))
        sources += turn(ids, draw(st.lists(WORDS, min_size=3, max_size=3)))
    for other in draw(st.lists(message, max_size=5)):
        sources.insert(draw(st.integers(0, len(sources))), other)
    for _ in range(draw(st.integers(0, 3))):
        if sources:
            moved = sources.pop(draw(st.integers(0, len(sources) - 1)))
            for _ in range(draw(st.integers(0, 2))):
                sources.insert(draw(st.integers(0, len(sources))), moved)
    if form == "codex":
        sources = [{"type": "response_item", "payload": source} for source in sources]
    return history(sources, form)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), PREAMBLES, st.data())
def test_any_cut_of_any_history_is_legal_and_loses_nothing_silently(
    messages: list[Message], preamble: Preamble, data: st.DataObject
) -> None:
    before = copy.deepcopy([message.source for message in messages])
    whole = units(messages)
    low = data.draw(st.integers(0, len(whole)))
    high = data.draw(st.integers(low, len(whole)))
    hidden = {index for unit in whole[low:high] for index in unit.indices}
    visible: list[Shown | SummaryShown] = []
    for index, message in enumerate(messages):
        if index not in hidden:
            visible.append(Shown(message, None, message.tokens))
        elif index == min(hidden):
            covers = tuple(messages[number].id for number in sorted(hidden))
            visible.append(SummaryShown(message.position, "k1", "## Goal\nhistory", covers, 9))
    assert_shown_well(visible, preamble)
    assert [message.source for message in messages] == before


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.data())
def test_even_a_cut_through_units_is_legal(messages: list[Message], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(messages), max_size=len(messages)))
    visible: list[Shown | SummaryShown] = [
        Shown(message, None, message.tokens) for message, kept in zip(messages, keep, strict=True) if kept
    ]
    assert_shown_well(visible, Preamble())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.integers(0, 5), st.integers(0, 9))
def test_units_cover_every_history_and_protection_keeps_them_whole(
    messages: list[Message], first: int, recent: int
) -> None:
    whole = units(messages)
    assert [index for unit in whole for index in unit.indices] == list(range(len(messages)))
    assert all(len(unit) > 0 for unit in whole)
    protection = protected(messages, first=first, recent=recent, open_run=None)
    assert set(range(min(first, len(messages)))) <= protection.indices
    for unit in whole:
        drawn = [index for index in unit.indices if protection.reasons.get(index, "system") != "system"]
        assert not drawn or set(unit.indices) <= protection.indices


@settings(max_examples=150, deadline=None)
@given(JUNK)
def test_every_json_value_has_a_view_and_a_count(source: Any) -> None:
    for reader in READERS.values():
        assert reader(source).role in ("system", "user", "assistant", "tool", "summary")
    assert count_source(source) > 0


def transcripts() -> list[tuple[str, str, list[Any]]]:
    """(name, form, messages): two small ones ship with the tests, the rest are read where the shared data is."""
    found: list[tuple[str, str, list[Any]]] = []
    for path in sorted([*(HERE / "openai-chat").glob("*.json"), *(SHARED / "openai-chat").glob("*.json")]):
        log = json.loads(path.read_bytes())
        found.append((path.stem, "openai", log if isinstance(log, list) else log["messages"]))
    for folder in (HERE, SHARED):
        if (folder / "cline").is_dir():
            cline = json.loads((folder / "cline/session.messages.json").read_bytes())
            found.append(("cline", "anthropic", cline["messages"]))
    rollouts = [HERE / "codex/rollout-excerpt.jsonl", *sorted((SHARED / "codex").glob("rollout*.jsonl"))]
    for path in rollouts:
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        found.append((path.stem, "codex", [row for row in rows if row["type"] in ("response_item", "event_msg")]))
    pair = json.loads((HERE / "openai-responses/thinking-part.json").read_bytes())
    found.append(("responses", "openai-responses", [*pair["request"]["input"], *pair["response"]["output"]]))
    found.append(("openhands", "openhands", json.loads((HERE / "openhands/basic.json").read_bytes())))
    if SHARED.is_dir():
        logs = sorted((SHARED / "swe-agent").glob("*.traj"))
        found.extend((path.stem, "openai", json.loads(path.read_bytes())["history"]) for path in logs)
        for number, trajectory in enumerate(json.loads((SHARED / "tau-bench/gpt-4o-airline-dev.json").read_bytes())):
            found.append((f"tau-bench-{number}", "openai", trajectory["traj"]))
    return found


@pytest.mark.skipif(not SHARED.is_dir(), reason="shared data is absent: only the transcripts in tests/data are tried")
def test_the_shared_transcripts_are_tried() -> None:
    assert len(transcripts()) == 36


@pytest.mark.parametrize(
    ("name", "form", "sources"), transcripts(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_real_transcript_is_legal_at_every_cut(name: str, form: str, sources: list[Any]) -> None:
    messages = history(sources, form)
    before = copy.deepcopy(sources)
    whole = units(messages)
    shown = [Shown(message, None, message.tokens) for message in messages]
    preamble = Preamble("prompt", "memory")
    assert_shown_well(list(shown), preamble)
    for low in range(0, len(whole), max(1, len(whole) // 8)):
        for high in range(low + 1, len(whole) + 1, max(1, len(whole) // 8)):
            start, stop = whole[low].start, whole[high - 1].stop
            covers = tuple(message.id for message in messages[start:stop])
            summary = SummaryShown(messages[start].position, "k1", "what was done", covers, 5)
            assert_shown_well([*shown[:start], summary, *shown[stop:]], preamble)
    assert sources == before


def test_a_well_formed_openai_transcript_comes_back_verbatim() -> None:
    for name, form, sources in transcripts():
        if form == "openai" and all(message.get("content") != [] and "agent" not in message for message in sources):
            built = build([Shown(item, None, item.tokens) for item in history(sources, form)], Preamble())
            assert to_openai(built)["messages"] == sources, name
            assert not losses(built, "openai")
