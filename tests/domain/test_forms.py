"""Reading messages: what is known has its part, what is unknown stays, and nothing raises (M1)."""

from __future__ import annotations

from typing import Any

import pytest

from minutebook.domain.forms import anthropic, guess, openai
from minutebook.domain.message import Media, Opaque, Reasoning, Text, ToolCall, ToolResult, View


def test_arguments_of_a_call_are_kept_to_the_letter_even_when_they_are_no_json() -> None:
    broken = '{"path":  "a.py", '
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": broken}}
    assert openai.view({"role": "assistant", "content": None, "tool_calls": [call]}) == View(
        "assistant", (ToolCall("c1", "read", broken),)
    )


def test_an_assistant_message_reads_reasoning_text_refusal_and_calls_in_order() -> None:
    source = {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "hm",
        "refusal": "not that",
        "tool_calls": [{"id": 7, "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}, "junk"],
    }
    assert openai.view(source).parts == (
        Reasoning("hm"),
        Text("I look."),
        Text("not that"),
        ToolCall("7", "sql", "SELECT 1"),
        Opaque("junk"),
    )


def test_the_old_function_form_pairs_by_name() -> None:
    call = openai.view({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})
    answer = openai.view({"role": "function", "name": "f", "content": "1"})
    assert call.parts == (ToolCall("function:f", "f", "{}"),)
    assert answer == View("tool", (ToolResult("function:f", "1", "f"),))


def test_developer_is_system_and_an_unknown_role_is_the_user() -> None:
    assert openai.view({"role": "developer", "content": "x"}).role == "system"
    assert openai.view({"role": "bashExecution", "content": "x"}) == View("user", (Text("x"),))
    assert openai.view({"content": "x"}).role == anthropic.view({"content": "x"}).role == "user"


def test_images_sounds_and_files_are_media_with_their_decoded_size() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "file", "file": {}},
    ]
    view = openai.view({"role": "user", "content": parts})
    assert view.parts == (
        Media("image", "image/png", 3, parts[0]),
        Media("image", "", 0, parts[1]),
        Media("audio", "audio/mpeg", 3, parts[2]),
        Media("file", "application/pdf", 3, parts[3]),
        Opaque(parts[4]),
    )


def test_blocks_of_a_tool_result_are_its_text_and_media() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    content = [{"type": "text", "text": "a"}, image, {"query": "q", "result": "r"}]
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": True}
    assert anthropic.view({"role": "user", "content": [block]}) == View(
        "tool",
        (
            ToolResult(
                "t", 'a\n{"query":"q","result":"r"}', is_error=True, media=(Media("image", "image/png", 3, image),)
            ),
        ),
    )


def test_a_message_that_mixes_results_and_text_is_the_users() -> None:
    block = {"type": "tool_result", "tool_use_id": "t"}
    assert anthropic.view({"role": "user", "content": [block, {"type": "text", "text": "x"}]}).role == "user"
    assert anthropic.view({"role": "user", "content": [block]}).role == "tool"


def test_every_block_of_an_assistant_message_is_one_part() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    sealed = {"type": "redacted_thinking", "data": "x"}
    unknown = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {"ü": [1, 2.5]}}
    view = anthropic.view({"role": "assistant", "content": [thinking, sealed, unknown, use]})
    assert view.parts == (
        Reasoning("hm", thinking),
        Reasoning("", sealed),
        Opaque(unknown),
        ToolCall("t", "f", '{"ü":[1,2.5]}'),
    )


def test_a_call_in_a_user_message_is_unknown_there() -> None:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    assert anthropic.view({"role": "user", "content": [use]}).parts == (Opaque(use),)


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"content": [value], "input": value} if levels < 10 else [value]
    return value


@pytest.mark.parametrize(
    "source",
    [
        None,
        7,
        "text",
        [],
        {},
        {"role": []},
        {"role": {}},
        {"role": "user", "content": 3},
        {"role": "tool"},
        {"role": "assistant", "tool_calls": 7},
        {"role": "assistant", "tool_calls": [{}]},
        {"content": [[[]]]},
        {"role": "assistant", "content": [{"type": []}, {"type": "tool_use"}]},
        {"content": nested(5_000)},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": nested(5_000)}]},
    ],
    ids=range(15),
)
def test_nonsense_has_a_view_in_both_forms(source: Any) -> None:
    for reader in (openai.view, anthropic.view):
        assert reader(source).role in ("system", "user", "assistant", "tool")


def test_the_form_of_an_untagged_message_is_told_by_its_blocks() -> None:
    assert guess({"role": "user", "content": "x"}) == "openai"
    assert guess({"role": "user", "content": [{"type": "text", "text": "x"}]}) == "openai"
    assert guess({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}) == "anthropic"
    assert guess({"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}) == "anthropic"
    assert guess({"role": "assistant", "content": None, "tool_calls": []}) == "openai"
    assert guess([1]) == "openai"
