"""One JSON document: logged requests with their responses, lists of conversations, trajectories, event streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.errors import InputError
from minutebook.domain.forms import openhands
from minutebook.domain.message import Text, ToolCall, ToolResult
from minutebook.infrastructure.work.transcripts import Transcript, read, read_all

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "transcripts"

USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]}
RESPONSE = {"object": "response", "created_at": 1757686928, "output": [SAID], "usage": {"input_tokens": 9}}


def doc(value: Any, indent: int | None = 1) -> bytes:
    return json.dumps(value, indent=indent).encode()


def sources(transcript: Transcript) -> list[Any]:
    return [message.source for message in transcript.messages]


# --- OpenAI Responses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([USER, CALL, OUTPUT], [USER, CALL, OUTPUT]),
        ({"model": "m", "input": [USER, CALL, OUTPUT]}, [USER, CALL, OUTPUT]),
        ({"input": "hi", "instructions": "be short"}, ["hi"]),
        (RESPONSE, [SAID]),
        ({"input": [USER], "output": [SAID]}, [USER, SAID]),
        ({"request": {"input": [USER], "model": "m"}, "response": RESPONSE}, [USER, SAID]),
        ({"input": "hi", "response": RESPONSE, "id": 7}, ["hi", SAID]),
    ],
    ids=["list", "request", "text", "response", "both", "pair", "beside"],
)
def test_items_of_the_responses_api_are_found_in_every_shape_of_log(
    document: Any, expected: list[Any], indent: int | None
) -> None:
    transcript = read(doc(document, indent))

    assert transcript.format == "openai-responses"
    assert sources(transcript) == expected
    assert transcript.messages[0].begins or document is RESPONSE
    assert all(skip.reason.startswith("not a message: key") for skip in transcript.skipped)


def test_items_can_stand_one_a_line() -> None:
    transcript = read(b"\n".join(doc(row, None) for row in (USER, CALL, OUTPUT, SAID)))

    assert [message.id for message in transcript.messages] == ["line-1", "fc_1", "line-3", "msg_1"]
    assert [message.trust for message in transcript.messages] == ["user", "model", "tool", "model"]


def test_a_response_gives_its_usage_to_its_last_item_and_its_time_to_all() -> None:
    [said] = read(doc(RESPONSE)).messages

    assert said.usage is not None
    assert said.usage.input_tokens == 9
    assert said.time is not None
    assert said.time.year == 2025


def test_a_recorded_pair_of_request_and_response_is_one_conversation() -> None:
    path = SAMPLES / "openai-responses" / "thinking-part.json"
    raw = json.loads(path.read_bytes())

    transcript = read(path)

    assert sources(transcript) == [*raw["request"]["input"], *raw["response"]["output"]]
    assert [skip.reason for skip in transcript.skipped] == [
        f"not a message: key 'request.{key}' of the document" for key in raw["request"] if key != "input"
    ]


def test_a_chat_history_is_not_taken_for_items() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}

    assert read(doc([USER, call])).format == "openai-chat"
    assert read(doc([USER])).format == "openai-chat"


def test_an_item_that_is_not_known_is_reported() -> None:
    transcript = read(
        doc([USER, CALL, OUTPUT, {"type": "king"}, {"role": "king", "content": "x"}, {"role": "user"}, 7])
    )

    assert [skip.reason for skip in transcript.skipped] == [
        "not a message: king",
        "malformed: unknown role king",
        "malformed: a message without content",
        "not an object",
    ]


# --- Anthropic messages --------------------------------------------------------------------------------


def test_a_recorded_anthropic_pair_is_one_conversation_with_the_answer_verbatim() -> None:
    path = SAMPLES / "anthropic" / "parallel-tool-calls.json"
    raw = json.loads(path.read_bytes())

    transcript = read(path)

    assert transcript.format == "anthropic-messages"
    assert sources(transcript) == [*raw["request"]["messages"], raw["response"]]
    answer = transcript.messages[-1]
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (771, 77)
    assert "not a message: key 'request.system' of the document" in [skip.reason for skip in transcript.skipped]


@pytest.mark.parametrize("indent", [None, 1])
def test_messages_and_response_can_stand_beside_each_other_and_a_response_alone(indent: int | None) -> None:
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "so"}],
        "stop_reason": "end_turn",
    }

    beside = read(doc({"system": "s", "messages": [USER], "response": said}, indent))
    alone = read(doc(said, indent))

    assert (beside.format, sources(beside)) == ("anthropic-messages", [USER, said])
    assert (alone.format, sources(alone)) == ("anthropic-messages", [said])


# --- several conversations in one file -----------------------------------------------------------------


def trajectory(task: Any, trial: Any, text: str = "hi") -> dict[str, Any]:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": text}]
    return {"task_id": task, "reward": 0.0, "traj": messages, "trial": trial}


def test_every_trajectory_is_a_session_named_by_task_and_trial() -> None:
    path = SAMPLES / "tau-bench" / "two-trajectories.json"
    raw = json.loads(path.read_bytes())

    transcripts = read_all(path)

    assert [sources(transcript) for transcript in transcripts] == [found["traj"] for found in raw]
    for transcript, found in zip(transcripts, raw, strict=True):
        assert transcript.session.startswith(f"tau-bench-{found['task_id']}-{found['trial']}-")
        assert {message.form for message in transcript.messages} == {"openai"}


@pytest.mark.parametrize("lines", [True, False])
def test_a_list_that_has_grown_names_the_same_sessions(lines: bool) -> None:
    found = [trajectory(1, 0), trajectory(1, 0), trajectory(1, 0, "other"), trajectory("../x", None), trajectory(2, 1)]

    def written(count: int) -> bytes:
        return b"\n".join(doc(one, None) for one in found[:count]) if lines else doc(found[:count])

    names = [transcript.session for transcript in read_all(written(5))]
    assert len(set(names)) == 5
    assert names[1] == f"{names[0]}-2"
    for count in range(2, 5):
        assert [transcript.session for transcript in read_all(written(count))] == names[:count]


def test_what_is_no_conversation_is_reported_with_the_first() -> None:
    first, second = read_all(doc([7, trajectory(1, 0), {"traj": []}, {"x": 1}, trajectory(2, 0)]))

    assert [(skip.line, skip.reason) for skip in first.skipped[3:]] == [
        (6, "element 1 of the file: no conversation"),
        (7, "element 3 of the file: no message in it"),
        (8, "element 4 of the file: no conversation"),
    ]
    assert first.lines == 8
    assert second.lines == 5


def test_one_trajectory_can_be_read_as_one_and_several_cannot() -> None:
    assert read(doc(trajectory(1, 0))).format == read(doc([trajectory(1, 0)], None)).format == "tau-bench"
    with pytest.raises(InputError, match="holds 2 conversations") as refused:
        read(doc([trajectory(1, 0), trajectory(2, 0)]))
    assert refused.value.code == "several_conversations"


def test_training_examples_one_a_line_are_conversations_of_their_own() -> None:
    found = read_all(b"\n".join(doc({"messages": [{"role": "user", "content": text}]}, None) for text in "abc"))

    assert [transcript.messages[0].source["content"] for transcript in found] == ["a", "b", "c"]
    assert {transcript.format for transcript in found} == {"openai-chat"}


# --- SWE-agent and OpenHands ---------------------------------------------------------------------------


def test_after_the_issue_nobody_asks_a_swe_agent_anything() -> None:
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a demonstration", "is_demo": True},
        {"role": "user", "content": "the issue"},
        {"role": "assistant", "content": "ls", "action": "ls"},
        {"role": "user", "content": "a.py"},
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "y", "tool_call_ids": ["c"]},
    ]

    transcript = read(doc({"trajectory": [], "history": history, "info": {}}))

    assert transcript.format == "swe-agent"
    assert [message.trust for message in transcript.messages] == [
        "operator", "operator", "user", "model", "tool", "model", "tool",
    ]  # fmt: skip
    assert [message.line for message in transcript.messages if message.begins] == [3]


def test_an_openhands_event_is_the_call_that_the_model_made_or_what_came_of_it() -> None:
    path = SAMPLES / "openhands" / "basic.json"
    raw = json.loads(path.read_bytes())

    transcript = read(path)

    asked, edit, edited, finish = [openhands.view(message.source) for message in transcript.messages]
    assert [message.id for message in transcript.messages] == ["event-0", "event-3", "event-4", "event-5"]
    assert (asked.role, finish.role) == ("user", "assistant")
    made = raw[1]["tool_call_metadata"]["model_response"]["choices"][0]["message"]["tool_calls"][0]
    assert edit.parts[1] == ToolCall(made["id"], "str_replace_editor", made["function"]["arguments"])
    assert edited.parts == (ToolResult(made["id"], raw[2]["content"], "str_replace_editor"),)
    assert isinstance(finish.parts[0], Text)
    assert transcript.messages[1].usage is not None
    assert transcript.messages[1].usage.input_tokens == 3486


def test_openhands_states_end_a_run_and_its_own_summary_is_of_the_lowest_trust() -> None:
    def action(number: int, kind: str, source: str = "agent", **args: Any) -> dict[str, Any]:
        return {"id": number, "source": source, "action": kind, "args": args}

    state = {"id": 5, "source": "environment", "observation": "agent_state_changed", "content": ""}
    events = [
        action(1, "system", content="s"),
        action(2, "message", "user", content="a", image_urls=["https://example.org/a.png"]),
        action(3, "condensation", summary="what was done"),
        action(4, "run", command="ls", thought="look"),
        {**state, "extras": {"agent_state": "error"}},
        {"id": 6, "source": "agent", "cause": 4, "observation": "run", "content": "x", "success": False},
    ]

    transcript = read(doc(events))

    assert [message.trust for message in transcript.messages] == ["operator", "user", "external", "model", "tool"]
    assert [(run.outcome, run.reason) for run in transcript.runs] == [("failed", "error")]
    call = openhands.view(events[3]).parts[1]
    assert call == ToolCall("event-4", "run", '{"command":"ls"}')
    assert openhands.view(events[5]).parts == (ToolResult("event-4", "x", "run", is_error=True),)
