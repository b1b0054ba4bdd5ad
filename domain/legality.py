"""Is a request legal by the rules of the APIs? Written from the rules, not from our builder (C9).

``check_openai``, ``check_openai_responses`` and ``check_anthropic`` answer a list of sentences, empty when the
request is legal. They are strict: where an API is lenient in one version and refuses in another, they refuse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .legality_responses import check_openai_responses
from .message import JSON

__all__ = ["check_anthropic", "check_openai", "check_openai_responses"]

_WORD = r"[a-zA-Z0-9_-]"
_OPENAI_NAME = re.compile(_WORD + r"{1,64}")
_OPENAI_ID = re.compile(_WORD + r"{1,40}")
_OPENAI_PERSON = re.compile(r"[^\s<|\\/>]{1,64}")
_ANTHROPIC_NAME = re.compile(_WORD + r"{1,128}")
_ANTHROPIC_ID = re.compile(_WORD + r"{1,128}")
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def check_openai(request: JSON) -> list[str]:
    """Breaches of the OpenAI chat completions rules in ``{"messages", "tools"?}``."""
    return list(_openai(request))


def check_anthropic(request: JSON) -> list[str]:
    """Breaches of the Anthropic messages rules in ``{"messages", "system"?, "tools"?}``."""
    return list(_anthropic(request))


def _sendable(request: JSON) -> Iterator[str]:
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        yield f"the request is no JSON that can be sent: {error}"


def _shape(request: JSON, allowed: frozenset[str]) -> Iterator[str]:
    if not isinstance(request, dict):
        yield "the request is no object"
        return
    extra = set(request) - allowed
    if extra:
        yield f"unknown fields {sorted(extra)} in the request"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages is not a list with at least one message"
    elif not all(isinstance(message, dict) for message in messages):
        yield "a message is no object"


# --- OpenAI ---------------------------------------------------------------------------------------------

_OPENAI_FIELDS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "tool_calls", "audio"},
    "tool": {"role", "content", "tool_call_id", "name"},
}


def _openai(request: JSON) -> Iterator[str]:
    faults = list(_shape(request, frozenset({"messages", "tools"})))
    yield from faults
    if faults:
        return
    yield from _sendable(request)
    waiting: list[str] = []
    for index, message in enumerate(request["messages"]):
        where = f"messages[{index}]"
        role = message.get("role")
        if not isinstance(role, str) or role not in _OPENAI_FIELDS:
            yield f"{where}: role {role!r}"
            continue
        extra = set(message) - _OPENAI_FIELDS[role]
        if extra:
            yield f"{where}: unknown fields {sorted(extra)}"
        if role == "tool":
            call = message.get("tool_call_id")
            if call in waiting:
                waiting.remove(call)
            else:
                yield f"{where}: tool message for {call!r}, which the assistant message before does not call"
            yield from _openai_content(message.get("content"), where, {"text"}, empty=True)
            continue
        if waiting:
            yield f"{where}: comes before the results of calls {waiting}"
            waiting = []
        if "name" in message and not _matches(_OPENAI_PERSON, message["name"]):
            yield f"{where}: name {message['name']!r}"
        if role == "assistant":
            calls = list(_openai_calls(message, where))
            yield from [fault for fault, _ in calls if fault]
            waiting = [call for _, call in calls if call is not None]
            if len(set(waiting)) != len(waiting):
                yield f"{where}: a tool call id stands twice in {waiting}"
            bare = bool(waiting) or bool(message.get("refusal"))
            if not (bare and message.get("content") in (None, "")):
                yield from _openai_content(message.get("content"), where, {"text", "refusal"}, empty=False)
        else:
            kinds = {"text", "image_url", "input_audio", "file"} if role == "user" else {"text"}
            yield from _openai_content(message.get("content"), where, kinds, empty=False)
    if waiting:
        yield f"the request ends before the results of calls {waiting}"
    yield from _openai_tools(request)


def _openai_calls(message: dict[str, Any], where: str) -> Iterator[tuple[str, str | None]]:
    """Pairs (fault or "", call id or None) for the calls of an assistant message."""
    if "tool_calls" not in message:
        return
    calls = message["tool_calls"]
    if not isinstance(calls, list) or not calls:
        yield f"{where}: tool_calls is not a list with at least one call", None
        return
    if len(calls) > 128:
        yield f"{where}: {len(calls)} tool_calls, and an assistant message takes 128", None
    for number, call in enumerate(calls):
        match call:
            case {"id": str(name), "type": "function", "function": {"name": str(tool), "arguments": str()}}:
                legal = _matches(_OPENAI_ID, name) and _matches(_OPENAI_NAME, tool)
                exact = set(call) == {"id", "type", "function"} and set(call["function"]) == {"name", "arguments"}
                yield "" if legal and exact else f"{where}: tool_calls[{number}]: id {name!r}, name {tool!r}", name
            case _:
                yield f"{where}: tool_calls[{number}] is no function call", None


def _openai_content(content: JSON, where: str, kinds: set[str], *, empty: bool) -> Iterator[str]:
    if isinstance(content, str):
        if not content and not empty:
            yield f"{where}: empty content"
        return
    if not isinstance(content, list) or not content:
        yield f"{where}: content is neither text nor a list with at least one part"
        return
    for number, part in enumerate(content):
        if not (isinstance(part, dict) and part.get("type") in kinds and _openai_part(part)):
            yield f"{where}: content[{number}] is not legal here: {str(part)[:80]}"


def _openai_part(part: JSON) -> bool:
    match part:
        case {"type": "text", "text": str(text)}:
            return bool(text) and len(part) == 2
        case {"type": "refusal", "refusal": str(text)}:
            return bool(text) and len(part) == 2
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            image = any(url.startswith(f"data:{kind};base64,") for kind in _IMAGES)
            return (image or url.startswith(("https://", "http://"))) and set(rest) <= {"detail"}
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": "wav" | "mp3"}}:
            return bool(data)
        case {"type": "file", "file": {"file_data": str(data), "filename": str(name)}}:
            return data.startswith("data:") and bool(name)
        case {"type": "file", "file": {"file_id": str(name)}}:
            return bool(name)
    return False


def _openai_tools(request: dict[str, Any]) -> Iterator[str]:
    if "tools" not in request:
        return
    names: set[str] = set()
    for number, tool in enumerate(request["tools"] or [None]):
        match tool:
            case {"type": "function", "function": {"name": str(name), **rest}}:
                schema = rest.get("parameters", {"type": "object"})
                if not (_matches(_OPENAI_NAME, name) and isinstance(schema, dict) and name not in names):
                    yield f"tools[{number}]: {name!r}"
                names.add(name)
            case _:
                yield f"tools[{number}] is no function"


# --- Anthropic ------------------------------------------------------------------------------------------


def _anthropic(request: JSON) -> Iterator[str]:
    faults = list(_shape(request, frozenset({"messages", "system", "tools"})))
    yield from faults
    if faults:
        return
    yield from _sendable(request)
    if "system" in request and not (isinstance(request["system"], str) and request["system"].strip()):
        yield "system is no text, or blank"
    waiting: list[str] = []
    seen: set[str] = set()
    previous: str | None = None
    for index, message in enumerate(request["messages"]):
        where = f"messages[{index}]"
        role = message.get("role")
        if set(message) != {"role", "content"}:
            yield f"{where}: fields {sorted(message)}"
        if role != ("assistant" if previous == "user" else "user"):
            yield f"{where}: role {role!r} after {previous!r}"
        previous = role
        blocks = _blocks(message.get("content"))
        if not blocks:
            yield f"{where}: empty content"
        yield from _anthropic_blocks(blocks, role, where)
        if role == "assistant":
            waiting = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
            for name in waiting:
                if name in seen:
                    yield f"{where}: tool_use id {name!r} was used before"
                seen.add(name)
            if blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
                yield f"{where}: ends with reasoning"
        else:
            results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
            if sorted(results) != sorted(waiting):
                yield f"{where}: results for {results}, calls before it {waiting}"
            if any(block.get("type") != "tool_result" for block in blocks[: len(results)]):
                yield f"{where}: tool results do not come first"
            waiting = []
    if waiting:
        yield f"the request ends before the results of calls {waiting}"
    last = _blocks(request["messages"][-1].get("content"))
    if previous == "assistant" and last and str(last[-1].get("text", "")) != str(last[-1].get("text", "")).rstrip():
        yield "the last assistant message ends with white space"
    yield from _anthropic_tools(request)


def _blocks(content: JSON) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block if isinstance(block, dict) else {} for block in content] if isinstance(content, list) else []


def _anthropic_blocks(blocks: list[dict[str, Any]], role: JSON, where: str) -> Iterator[str]:
    server: set[str] = set()
    for number, block in enumerate(blocks):
        kind = block.get("type")
        if isinstance(kind, str) and role == "assistant":
            if kind in ("server_tool_use", "mcp_tool_use") and isinstance(block.get("id"), str):
                server.add(block["id"])
                continue
            if kind.endswith("_tool_result") and block.get("tool_use_id") in server:
                server.discard(block["tool_use_id"])
                continue
        if not (_assistant_block(block) if role == "assistant" else _user_block(block)):
            yield f"{where}: content[{number}] is not legal here: {str(block)[:80]}"
    if server:
        yield f"{where}: server tools {sorted(server)} without a result"


def _assistant_block(block: JSON) -> bool:
    match block:
        case {"type": "text", "text": str(text)}:
            return bool(text.strip()) and len(block) == 2
        case {"type": "thinking", "thinking": str(), "signature": str(signature)}:
            return bool(signature) and len(block) == 3
        case {"type": "redacted_thinking", "data": str(data)}:
            return bool(data) and len(block) == 2
        case {"type": "tool_use", "id": str(name), "name": str(tool), "input": dict()}:
            return _matches(_ANTHROPIC_ID, name) and _matches(_ANTHROPIC_NAME, tool) and len(block) == 4
    return False


def _user_block(block: JSON, *, inside: bool = False) -> bool:
    match block:
        case {"type": "text", "text": str(text)}:
            return bool(text.strip()) and len(block) == 2
        case {"type": "image", "source": dict(source)}:
            return len(block) == 2 and _source(source, _IMAGES)
        case {"type": "document", "source": dict(source)}:
            return set(block) <= {"type", "source", "title"} and _source(source, frozenset({"application/pdf"}))
        case {"type": "tool_result", "tool_use_id": str()} if not inside:
            content = block.get("content")
            inner = isinstance(content, list) and all(_user_block(item, inside=True) for item in content)
            legal = "content" not in block or (isinstance(content, str) and bool(content.strip())) or inner
            legal = legal and not (block.get("is_error") and not content)
            return legal and set(block) <= {"type", "tool_use_id", "content", "is_error"}
    return False


def _source(source: dict[str, Any], media_types: frozenset[str]) -> bool:
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            return media_type in media_types and bool(data)
        case {"type": "url", "url": str(url)}:
            return url.startswith("https://")
        case {"type": "file", "file_id": str(name)}:
            return bool(name)
        case {"type": "text", "media_type": "text/plain", "data": str(text)}:
            return bool(text.strip()) and "application/pdf" in media_types
    return False


def _anthropic_tools(request: dict[str, Any]) -> Iterator[str]:
    if "tools" not in request:
        return
    names: set[str] = set()
    for number, tool in enumerate(request["tools"] or [None]):
        match tool:
            case {"name": str(name), "input_schema": {"type": "object"}}:
                if not _matches(_ANTHROPIC_NAME, name) or name in names:
                    yield f"tools[{number}]: {name!r}"
                names.add(name)
            case {"type": str(), "name": str(name)} if "input_schema" not in tool:
                names.add(name)  # a tool of the provider's own
            case _:
                yield f"tools[{number}] is no tool"


def _matches(pattern: re.Pattern[str], value: JSON) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
