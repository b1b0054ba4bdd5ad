"""Is a request legal by the rules of the OpenAI Responses API? Written from the rules, not from our builder (C9).

Strict where the API differs between versions: an id comes once, every call is answered, no output stands before
its call, and reasoning stands right before what it led to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .message import JSON

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = {"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call"}
_INPUTS = frozenset({"input_text", "input_image", "input_file"})
_KINDS = {
    "user": _INPUTS,
    "system": frozenset({"input_text"}),
    "developer": frozenset({"input_text"}),
    "assistant": frozenset({"output_text", "refusal"}),
}


def check_openai_responses(request: JSON) -> list[str]:
    """Breaches of the Responses rules in ``{"input", "instructions"?, "tools"?}``; empty when there are none."""
    return list(_request(request))


def _request(request: JSON) -> Iterator[str]:
    if not isinstance(request, dict):
        yield "the request is no object"
        return
    extra = set(request) - {"input", "instructions", "tools"}
    if extra:
        yield f"unknown fields {sorted(extra)} in the request"
    items = request.get("input")
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        yield "input is not a list with at least one item"
        return
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        yield f"the request is no JSON that can be sent: {error}"
    if "instructions" in request and not _filled(request["instructions"]):
        yield "instructions are no text, or blank"
    yield from _items(items)
    yield from _tools(request)


def _items(items: list[dict[str, Any]]) -> Iterator[str]:
    waiting: dict[str, str] = {}
    seen: set[str] = set()
    for index, item in enumerate(items):
        where = f"input[{index}]"
        kind = item.get("type", "message")
        match kind:
            case "message":
                yield from _message(item, where)
            case "reasoning":
                yield from _reasoning(item, items[index + 1] if index + 1 < len(items) else {}, where)
                name = str(item.get("id"))
                if "id" in item and name in seen:
                    yield f"{where}: id {name!r} stands twice"
                seen.add(name)
            case "function_call" | "custom_tool_call":
                yield from _call(item, kind, where)
                name = str(item.get("call_id"))
                if name in seen:
                    yield f"{where}: call id {name!r} was used before"
                seen.add(name)
                waiting[name] = kind
            case "function_call_output" | "custom_tool_call_output":
                name = str(item.get("call_id"))
                if waiting.pop(name, None) != _OUTPUTS[kind]:
                    yield f"{where}: output for {name!r}, which no {_OUTPUTS[kind]} before it waits for"
                yield from _output(item, where)
            case "web_search_call":
                if set(item) != {"type", "status", "action"} or not isinstance(item["action"], dict):
                    yield f"{where}: fields {sorted(item)} of a web search"
            case _:
                yield f"{where}: type {kind!r}"
        # Parallel calls stand together; anything but their outputs between would part a call from its answer.
        if waiting and kind not in (*_CALLS, *_OUTPUTS, "reasoning") and not _beside(item):
            yield f"{where}: comes before the outputs of {sorted(waiting)}"
    if waiting:
        yield f"the request ends before the outputs of {sorted(waiting)}"


def _beside(item: dict[str, Any]) -> bool:
    """What the model itself said in the turn of the calls."""
    return item.get("role") == "assistant" or item.get("type") == "web_search_call"


def _message(item: dict[str, Any], where: str) -> Iterator[str]:
    role = item.get("role")
    if not isinstance(role, str) or role not in _KINDS:
        yield f"{where}: role {role!r}"
        return
    extra = set(item) - {"type", "role", "content"} - ({"phase"} if role == "assistant" else set())
    if extra:
        yield f"{where}: unknown fields {sorted(extra)}"
    if item.get("phase", "final_answer") not in ("commentary", "final_answer"):
        yield f"{where}: phase {item['phase']!r}"
    yield from _content(item.get("content"), _KINDS[role], where)


def _content(content: JSON, kinds: frozenset[str], where: str) -> Iterator[str]:
    if isinstance(content, str) and content:
        return
    if not isinstance(content, list) or not content:
        yield f"{where}: content is neither text nor a list with at least one part"
        return
    for number, part in enumerate(content):
        if not (isinstance(part, dict) and part.get("type") in kinds and _part(part)):
            yield f"{where}: content[{number}] is not legal here: {str(part)[:80]}"


def _part(part: JSON) -> bool:
    match part:
        case {"type": "input_text" | "output_text", "text": str(text)}:
            return bool(text) and len(part) == 2
        case {"type": "refusal", "refusal": str(text)}:
            return bool(text) and len(part) == 2
        case {"type": "input_image", **rest} if rest.get("detail", "auto") in ("low", "high", "auto"):
            rest.pop("detail", None)
            url = rest.get("image_url")
            named = set(rest) == {"file_id"} and _filled(rest["file_id"])
            web = isinstance(url, str) and url.startswith(("https://", "http://", "data:image/"))
            return named or (set(rest) == {"image_url"} and web)
        case {"type": "input_file", "filename": str(name), "file_data": str(data)}:
            return bool(name) and data.startswith("data:") and len(part) == 3
        case {"type": "input_file", "file_url": str(url)}:
            return url.startswith(("https://", "http://")) and len(part) == 2
        case {"type": "input_file", "file_id": str(name)}:
            return bool(name) and len(part) == 2
    return False


def _reasoning(item: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[str]:
    if set(item) - {"id"} != {"type", "summary", "encrypted_content"} or not _filled(item["encrypted_content"]):
        yield f"{where}: fields {sorted(item)} of a reasoning item"
    elif "id" in item and not _filled(item["id"]):
        yield f"{where}: id {item['id']!r}"
    summary = item.get("summary")
    for entry in summary if isinstance(summary, list) else [None]:
        match entry:
            case {"type": "summary_text", "text": str(), **rest} if not rest:
                pass
            case _:
                yield f"{where}: a summary that is no list of summary_text"
    said = after.get("type", "message") == "message" and after.get("role") == "assistant"
    if not said and after.get("type") not in (*_CALLS, "web_search_call"):
        yield f"{where}: reasoning without the item that it led to"


def _call(item: dict[str, Any], kind: str, where: str) -> Iterator[str]:
    if set(item) != {"type", "call_id", "name", _CALLS[kind]} or not isinstance(item[_CALLS[kind]], str):
        yield f"{where}: fields {sorted(item)} of a {kind}"
    name, tool = item.get("call_id"), item.get("name")
    if not (isinstance(name, str) and _NAME.fullmatch(name) and isinstance(tool, str) and _NAME.fullmatch(tool)):
        yield f"{where}: call id {name!r}, name {tool!r}"


def _output(item: dict[str, Any], where: str) -> Iterator[str]:
    if set(item) != {"type", "call_id", "output"}:
        yield f"{where}: fields {sorted(item)} of an output"
    if not isinstance(item.get("output"), str):
        yield from _content(item.get("output"), _INPUTS, where)


def _tools(request: dict[str, Any]) -> Iterator[str]:
    if "tools" not in request:
        return
    names: set[str] = set()
    for number, tool in enumerate(request["tools"] or [None]):
        match tool:
            case {"type": "function", "name": str(name), "parameters": dict(), "strict": bool()}:
                if not _NAME.fullmatch(name) or name in names:
                    yield f"tools[{number}]: {name!r}"
                names.add(name)
            case {"type": str(kind)} if kind != "function":
                pass  # a tool of the provider's own
            case _:
                yield f"tools[{number}] is no tool"


def _filled(value: JSON) -> bool:
    return isinstance(value, str) and bool(value.strip())
