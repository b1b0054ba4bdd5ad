"""The checkers: each rule of the two APIs, broken once, is named."""

from __future__ import annotations

from typing import Any

import pytest

from minutebook.domain.legality import check_anthropic, check_openai

U: dict[str, Any] = {"role": "user", "content": "go"}
A: dict[str, Any] = {"role": "assistant", "content": "ok"}


def call(*ids: str, name: str = "f", arguments: Any = "{}") -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def tool(name: str, content: Any = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": content}


def use(*ids: str, name: str = "f", value: Any = None) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": i, "name": name, "input": {} if value is None else value} for i in ids]
    return {"role": "assistant", "content": blocks}


def results(*ids: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, **more} for i in ids]}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    "messages",
    [
        [U, A],
        [A],
        [{"role": "system", "content": "s"}, U, call("a", "b"), tool("b"), tool("a"), A, U],
        [U, call("a"), tool("a"), call("a"), tool("a", "")],
        [{"role": "user", "name": "ann", "content": [text("x")]}],
    ],
)
def test_a_legal_openai_request_has_no_fault(messages: list[Any]) -> None:
    assert check_openai({"messages": messages}) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([], "at least one"),
        ([7], "no object"),
        ([{"role": "summary", "content": "x"}], "role 'summary'"),
        ([U, call("a")], "ends before"),
        ([U, call("a"), U], "before the results"),
        ([U, call("a", "b"), tool("a"), A], "before the results"),
        ([U, tool("a")], "does not call"),
        ([U, call("a"), tool("a"), tool("a")], "does not call"),
        ([U, call("a", "a"), tool("a"), tool("a")], "stands twice"),
        ([U, call("a b"), tool("a b")], "id 'a b'"),
        ([U, call("x" * 41), tool("x" * 41)], "id 'xxx"),
        ([U, call("a", name="f.g"), tool("a")], "name 'f.g'"),
        ([U, call("a", arguments={}), tool("a")], "no function call"),
        ([U, {**A, "tool_calls": []}], "at least one call"),
        ([U, {"role": "assistant", "content": None}], "content"),
        ([{"role": "user", "content": ""}], "empty content"),
        ([{"role": "user", "content": []}], "content"),
        ([{"role": "user", "content": [text("")]}], "not legal"),
        ([{"role": "user", "content": [{"type": "image", "source": {}}]}], "not legal"),
        ([{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}], "not legal"),
        ([{**U, "ts": 1}], "unknown fields"),
        ([{**U, "name": "a b"}], "name"),
        ([{"role": "user", "content": "\ud800"}], "can be sent"),
    ],
)
def test_each_openai_rule_is_kept(messages: list[Any], fault: str) -> None:
    assert any(fault in found for found in check_openai({"messages": messages})), check_openai({"messages": messages})


@pytest.mark.parametrize(
    "messages",
    [
        [U, A],
        [U, use("a", "b"), {"role": "user", "content": [*results("b", "a")["content"], text("and")]}],
        [U, {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "s"}, text("x")]}, U],
    ],
)
def test_a_legal_anthropic_request_has_no_fault(messages: list[Any]) -> None:
    assert check_anthropic({"messages": messages, "system": "s"}) == []


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([], "at least one"),
        ([A], "role 'assistant'"),
        ([U, U], "role 'user' after"),
        ([U, A, A], "role 'assistant' after"),
        ([{"role": "system", "content": "x"}], "role 'system'"),
        ([U, use("a")], "ends before"),
        ([U, use("a"), U], "results for []"),
        ([U, use("a", "b"), results("a")], "results for"),
        ([U, A, results("a")], "results for"),
        ([U, use("a"), results("a", "a")], "results for"),
        ([U, use("a"), results("a"), use("a"), results("a")], "used before"),
        ([U, use("a"), {"role": "user", "content": [text("x"), *results("a")["content"]]}], "do not come first"),
        ([U, use("a:b"), results("a:b")], "not legal"),
        ([U, use("a", name="n" * 129), results("a")], "not legal"),
        ([U, use("a", value=[1]), results("a")], "not legal"),
        ([U, use("a"), results("a", content="")], "not legal"),
        ([U, use("a"), results("a", is_error=True)], "not legal"),
        ([{"role": "user", "content": " "}], "not legal"),
        ([{"role": "user", "content": []}], "empty content"),
        ([U, {"role": "assistant", "content": [THINKING]}], "ends with reasoning"),
        ([U, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, text("x")]}], "not legal"),
        ([{"role": "user", "content": [THINKING]}], "not legal"),
        ([U, {**A, "id": "msg_1"}], "fields"),
        ([U, {"role": "assistant", "content": "ok "}], "white space"),
        ([{"role": "user", "content": [{**text("x"), "cache_control": {}}]}], "not legal"),
        (
            [U, {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s"}, text("x")]}],
            "without a result",
        ),
    ],
)
def test_each_anthropic_rule_is_kept(messages: list[Any], fault: str) -> None:
    found = check_anthropic({"messages": messages})
    assert any(fault in one for one in found), found


def test_tools_and_system_are_checked_too() -> None:
    good = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    assert check_openai({"messages": [U], "tools": [good]}) == []
    assert check_openai({"messages": [U], "tools": [good, good]})
    assert check_openai({"messages": [U], "tools": []})
    assert check_anthropic({"messages": [U], "tools": [good]})
    assert check_anthropic({"messages": [U], "tools": [{"name": "f", "input_schema": {"type": "object"}}]}) == []
    assert check_anthropic({"messages": [U], "tools": [{"name": "f", "input_schema": {"type": "array"}}]})
    assert check_anthropic({"messages": [U], "system": ""})
    assert check_openai([]) == check_anthropic([]) == ["the request is no object"]
    assert check_openai({"messages": [U], "model": "x"})
