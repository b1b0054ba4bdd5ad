"""The Responses form: items are read in full, written legally and as they were, and the checker refuses what is not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.context import NO_RESULT, Built, Preamble, Shown, SummaryShown, build
from minutebook.domain.forms import codex, guess, openai, openai_responses, view
from minutebook.domain.legality import check_openai_responses
from minutebook.domain.memory_tool import MEMORY_TOOL
from minutebook.domain.message import Form, Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, View
from minutebook.domain.rendering import losses, to_anthropic, to_openai, to_openai_responses
from minutebook.domain.tokens import count_source

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "transcripts"

USER = {"role": "user", "content": "hi"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}
PATCH = {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin Patch"}
PATCHED = {"type": "custom_tool_call_output", "call_id": "p", "output": "done"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]}
SEARCH = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}


def shown(sources: list[Any], form: Form = "openai-responses") -> list[Shown]:
    messages = [
        Message(number, f"m{number}", view(form, source), form, source, count_source(source))
        for number, source in enumerate(sources, 1)
    ]
    return [Shown(message, None, message.tokens) for message in messages]


def built(sources: list[Any], form: Form = "openai-responses", preamble: Preamble | None = None) -> Built:
    return build(shown(sources, form), preamble or Preamble())


def sent(sources: list[Any], form: Form = "openai-responses") -> list[Any]:
    request = to_openai_responses(built(sources, form))
    assert check_openai_responses(request) == []
    items = request["input"]
    assert isinstance(items, list)
    return items


# --- reading -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (CALL, View("assistant", (ToolCall("c", "f", "{}"),))),
        ({**CALL, "arguments": "{broken"}, View("assistant", (ToolCall("c", "f", "{broken"),))),
        ({**CALL, "arguments": {"a": 1}}, View("assistant", (ToolCall("c", "f", '{"a":1}'),))),
        ({**CALL, "namespace": "mcp__repl__"}, View("assistant", (ToolCall("c", "mcp__repl__f", "{}"),))),
        (PATCH, View("assistant", (ToolCall("p", "apply_patch", "*** Begin Patch"),))),
        (
            {"type": "local_shell_call", "id": "ls_1", "call_id": None, "action": {"type": "exec", "command": ["ls"]}},
            View("assistant", (ToolCall("ls_1", "local_shell", '{"type":"exec","command":["ls"]}'),)),
        ),
        (OUTPUT, View("tool", (ToolResult("c", "x"),))),
        (PATCHED, View("tool", (ToolResult("p", "done"),))),
        ({**OUTPUT, "output": {"content": "no", "success": False}}, View("tool", (ToolResult("c", "no", "", True),))),
        ({**OUTPUT, "output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]},
         View("tool", (ToolResult("c", "a\nb"),))),
        (THOUGHT, View("assistant", (Reasoning("", THOUGHT),))),
        (SEARCH, View("assistant", (Opaque(SEARCH),))),
        ({"role": "developer", "content": "be short"}, View("system", (Text("be short"),))),
        (SAID, View("assistant", (Text("so"),))),
        ("hi", View("user", (Text("hi"),))),
    ],
    ids=range(15),
)  # fmt: skip
def test_an_item_is_read_in_full(item: Any, expected: View) -> None:
    assert openai_responses.view(item) == expected


def test_summaries_and_text_of_reasoning_are_its_text() -> None:
    item = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "first"}, {"type": "summary_text", "text": "then"}, 7],
        "content": [{"type": "reasoning_text", "text": "and so"}],
    }
    assert openai_responses.view(item).parts == (Reasoning("first\n\nthen\n\nand so", item),)


def test_pictures_and_files_of_items_are_media() -> None:
    parts = [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    ]
    found = openai_responses.view({"role": "user", "content": parts}).parts
    assert found == (
        Media("image", "image/png", 3, parts[0]),
        Media("image", "", 0, parts[1]),
        Media("file", "application/pdf", 3, parts[2]),
        Media("file", "", 0, parts[3]),
    )
    output = openai_responses.view({**OUTPUT, "output": parts[:1]})
    assert output.parts == (ToolResult("c", "", media=(found[0],)),)


@pytest.mark.parametrize("item", [THOUGHT, CALL, OUTPUT, PATCH, SEARCH, SAID, {"type": "item_reference", "id": "x"}])
def test_the_form_of_an_item_is_told_by_what_only_it_has(item: Any) -> None:
    assert guess(item) == "openai-responses"
    assert guess(USER) == "openai"


def test_a_chat_message_with_parts_of_items_keeps_its_calls_and_its_result() -> None:
    text = [{"type": "output_text", "text": "x"}]
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert guess({"role": "assistant", "content": text, "tool_calls": [call]}) == "openai"
    assert guess({"role": "tool", "tool_call_id": "c", "content": [{"type": "input_text", "text": "x"}]}) == "openai"


def test_an_event_of_codex_is_read_with_its_pictures() -> None:
    payload = {"type": "user_message", "message": "look", "images": ["data:image/png;base64,AAAA", 7],
               "local_images": ["/tmp/a.png"]}  # fmt: skip
    found = codex.view({"type": "event_msg", "payload": payload})
    assert [type(part) for part in found.parts] == [Text, Media, Opaque, Text]
    assert found.parts[-1] == Text("[Image: /tmp/a.png]")


# --- writing -------------------------------------------------------------------------------------------

WHOLE = [USER, THOUGHT, CALL, OUTPUT, SEARCH, PATCH, PATCHED, {**SAID, "phase": "final_answer"}]


def test_items_are_sent_as_they_came() -> None:
    assert sent(WHOLE) == WHOLE
    assert losses(built(WHOLE), "openai-responses") == ()


def test_rows_of_codex_are_sent_as_the_items_that_they_hold() -> None:
    rows = [{"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": item} for item in WHOLE]
    assert sent(rows, "codex") == WHOLE


def test_a_recorded_conversation_is_sent_without_the_ids_that_bind_it_to_stored_responses() -> None:
    raw = json.loads((SAMPLES / "openai-responses" / "thinking-part.json").read_bytes())
    items = [*raw["request"]["input"], *raw["response"]["output"]]
    before = copy.deepcopy(items)

    found = sent(items)

    assert items == before
    kept = {"role", "type", "content", "summary", "encrypted_content"}
    expected = [{key: value for key, value in item.items() if key in kept} for item in items]
    for item in expected:
        if isinstance(item.get("content"), list):
            item["content"] = [{"type": part["type"], "text": part["text"]} for part in item["content"]]
    assert [{key: value for key, value in item.items() if key != "id"} for item in found] == expected
    assert [item["id"] for item in found if item["type" if "type" in item else "role"] == "reasoning"] == [
        item["id"] for item in items if item.get("type") == "reasoning"
    ]
    assert losses(built(items), "openai-responses") == ()


def test_reasoning_whose_item_is_hidden_or_that_is_not_sealed_is_not_sent_and_that_is_said() -> None:
    unsealed = {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "hm"}]}
    for items in ([USER, THOUGHT], [USER, THOUGHT, USER, SAID], [USER, unsealed, CALL, OUTPUT]):
        assert not any(item.get("type") == "reasoning" for item in sent(items))
        assert any("reasoning" in loss for loss in losses(built(items), "openai-responses"))


def test_the_same_reasoning_twice_is_sent_once() -> None:
    found = sent([USER, THOUGHT, SAID, THOUGHT, SAID])
    assert [item.get("type") for item in found] == [None, "reasoning", "message", "message"]


def test_a_call_without_an_output_gets_one_and_an_output_without_a_call_becomes_text() -> None:
    found = sent([USER, CALL, {**OUTPUT, "call_id": "other"}, SAID])
    assert {"type": "function_call_output", "call_id": "c", "output": NO_RESULT} in found
    assert [item["type"] for item in found if "type" in item].count("function_call_output") == 1
    assert "not part of this context" in json.dumps(found)


def test_a_late_output_stands_behind_its_call_and_an_id_that_comes_again_gets_another() -> None:
    again = [CALL, {**OUTPUT, "output": "y"}]
    found = sent([USER, CALL, {"role": "user", "content": "and?"}, OUTPUT, SAID, *again])
    assert [item.get("type", item.get("role")) for item in found] == [
        "user", "function_call", "function_call_output", "user", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert [item["call_id"] for item in found if "call_id" in item] == ["c", "c", "c_2", "c_2"]


def test_chat_and_anthropic_histories_are_written_as_items() -> None:
    png = "iVBORw0KGgo="
    chat = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {
            "url": f"data:image/png;base64,{png}", "detail": "low"}}]},
        {"role": "assistant", "content": "b", "tool_calls": [
            {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ("1", "2")]},
        {"role": "tool", "tool_call_id": "2", "content": "two"},
        {"role": "tool", "tool_call_id": "1", "content": "one"},
    ]  # fmt: skip
    assert sent(chat, "openai") == [
        {"type": "message", "role": "system", "content": "s"},
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{png}", "detail": "low"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "2", "output": "two"},
        {"type": "function_call_output", "call_id": "1", "output": "one"},
    ]  # fmt: skip
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}
    blocks = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                                          {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image], "is_error": True},
                                     {"type": "text", "text": "and?"}]},
    ]  # fmt: skip
    assert sent(blocks, "anthropic") == [
        {"type": "message", "role": "user", "content": "a"},
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "t", "output": [
            {"type": "input_image", "image_url": f"data:image/png;base64,{png}"}]},
        {"type": "message", "role": "user", "content": "and?"},
    ]  # fmt: skip
    assert losses(built(blocks, "anthropic"), "openai-responses") == (
        "m2: reasoning of 2 characters not carried: it is not sealed",
        "m3: error mark of the result of 't' not carried",
    )


def test_items_are_carried_into_the_other_forms_and_what_is_not_is_said() -> None:
    rendered = built(WHOLE)
    chat, blocks = to_openai(rendered), to_anthropic(rendered)
    assert "apply_patch" in json.dumps(chat)
    assert "apply_patch" in json.dumps(blocks)
    for target in ("openai", "anthropic"):
        found = losses(rendered, target)
        assert any(loss.startswith("m2: reasoning") for loss in found)
        assert any(loss.startswith("m5: part of type 'web_search_call' shown as JSON text") for loss in found)


def test_memory_comes_last_in_the_instructions_and_tools_have_the_flat_form() -> None:
    tools = (
        MEMORY_TOOL.to_openai(),
        MEMORY_TOOL.to_anthropic() | {"name": "other"},
        {"type": "web_search"},
        {"type": "x"},
    )
    plain = to_openai_responses(built([USER], preamble=Preamble("prompt", "memory", tools)))
    assert plain["instructions"] == "prompt\n\nmemory"
    assert [tool.get("name", tool["type"]) for tool in plain["tools"]] == ["memory", "other", "web_search"]
    assert plain["tools"][0] == MEMORY_TOOL.to_openai_responses()
    assert check_openai_responses(plain) == []
    led = to_openai_responses(
        built([{"role": "developer", "content": "d"}, USER], preamble=Preamble("prompt", "memory"))
    )
    assert led["instructions"] == "prompt"
    assert [item["content"] for item in led["input"]] == ["d", "memory", "hi"]
    assert led["input"][0]["role"] == "developer"


def test_a_summary_is_a_message_of_the_user_and_nothing_at_all_is_a_request_too() -> None:
    summary = SummaryShown(1, "k1", "what was done", ("m1",), 5)
    request = to_openai_responses(build([summary, *shown([USER])], Preamble()))
    assert request["input"][0] == {"type": "message", "role": "user", "content": "what was done"}
    assert check_openai_responses(to_openai_responses(build((), Preamble()))) == []


# --- the checker ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "items",
    [
        [],
        "hi",
        [7],
        [{"role": "king", "content": "x"}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": "x", "id": "msg_1"}],
        [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}],
        [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
        [{"role": "assistant", "content": [{"type": "output_text", "text": "x", "annotations": []}]}],
        [{"role": "assistant", "content": "x", "phase": "middle"}],
        [{"role": "user", "content": [{"type": "input_image", "image_url": "file:///a.png"}]}],
        [{"role": "user", "content": [{"type": "input_image", "image_url": "https://a", "file_id": "f"}]}],
        [{"role": "user", "content": [{"type": "input_file", "filename": "", "file_data": "data:x"}]}],
        [CALL],
        [OUTPUT],
        [OUTPUT, CALL],
        [CALL, USER, OUTPUT],
        [CALL, OUTPUT, OUTPUT],
        [CALL, CALL, OUTPUT, OUTPUT],
        [CALL, OUTPUT, CALL, OUTPUT],
        [CALL, {**OUTPUT, "call_id": "d"}],
        [CALL, {**PATCHED, "call_id": "c"}],
        [{**CALL, "arguments": {}}, OUTPUT],
        [{**CALL, "name": "a.b"}, OUTPUT],
        [{**CALL, "call_id": "x" * 65}, {**OUTPUT, "call_id": "x" * 65}],
        [{**CALL, "id": "fc_1"}, OUTPUT],
        [CALL, {**OUTPUT, "output": None}],
        [CALL, {**OUTPUT, "output": []}],
        [CALL, {**OUTPUT, "status": "completed"}],
        [THOUGHT],
        [THOUGHT, USER],
        [THOUGHT, THOUGHT, SAID],
        [THOUGHT, SAID, THOUGHT, SAID],
        [{"type": "reasoning", "summary": []}, SAID],
        [{**THOUGHT, "summary": "text"}, SAID],
        [{**THOUGHT, "encrypted_content": ""}, SAID],
        [{**SEARCH, "id": "ws_1"}],
        [{"type": "item_reference", "id": "x"}],
        [{"role": "user", "content": "\ud800"}],
        [{"role": "user", "content": "x", "type": []}],
    ],
    ids=range(41),
)
def test_the_checker_refuses(items: Any) -> None:
    assert check_openai_responses({"input": items}) != []


@pytest.mark.parametrize(
    "request_",
    [
        7,
        {},
        {"input": [USER], "model": "m"},
        {"input": [USER], "instructions": " "},
        {"input": [USER], "tools": []},
        {"input": [USER], "tools": [{"type": "function", "name": "f", "parameters": {}}]},
        {"input": [USER], "tools": [{"type": "function", "function": {"name": "f"}}]},
        {"input": [USER], "tools": [{"type": "function", "name": "a b", "parameters": {}, "strict": False}]},
    ],
    ids=range(8),
)
def test_the_checker_refuses_a_request(request_: Any) -> None:
    assert check_openai_responses(request_) != []


def test_the_checker_takes_what_is_legal() -> None:
    parallel = [USER, THOUGHT, CALL, PATCH, PATCHED, OUTPUT, SAID]
    for items in (WHOLE, parallel, [USER], [SAID]):
        assert check_openai_responses({"input": items}) == []


def test_input_text_in_a_chat_message_is_still_read_by_the_chat_form() -> None:
    assert openai.view({"role": "user", "content": [{"type": "input_text", "text": "x"}]}).parts == (Text("x"),)
