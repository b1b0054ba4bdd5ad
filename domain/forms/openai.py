"""Reads a message of the OpenAI chat API into the neutral view (M1).

Total: every JSON value has a view. An unknown part is ``Opaque``; a message without a known role is the
user's. Roles ``developer`` and ``function`` are read as ``system`` and ``tool``.
"""

from __future__ import annotations

from ..jsontext import compact
from ..media import recognise
from ..message import JSON, Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, View

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
TEXTS = frozenset({"text", "input_text", "output_text"})


def view(source: JSON) -> View:
    """What an OpenAI chat message says. A tool message is one ``ToolResult``; a refusal is ``Text``."""
    if isinstance(source, str):
        return View("user", (Text(source),) if source else ())
    if not isinstance(source, dict):
        return View("user", (Opaque(source),))
    name = source.get("role")
    role = ROLES.get(name, "user") if isinstance(name, str) else "user"
    if role == "tool":
        return View("tool", (_result(source),))
    if role == "assistant":
        return View("assistant", (*_reasoning(source), *read_content(source.get("content")), *_said(source)))
    return View(role, tuple(read_content(source.get("content"))))


def read_content(content: JSON) -> list[Part]:
    """The parts of a message's content: a text, or a list of parts; nothing for null and the empty text."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if isinstance(content, list):
        return [_part(item) for item in content]
    return [Opaque(content)]


def _part(item: JSON) -> Part:
    if isinstance(item, str):
        return Text(item)
    if isinstance(item, dict):
        kind = item.get("type")
        if isinstance(kind, str):
            if kind in TEXTS and isinstance(item.get("text"), str):
                return Text(item["text"])
            if kind == "refusal" and isinstance(item.get("refusal"), str):
                return Text(item["refusal"])
            if kind in ("thinking", "reasoning"):
                return Reasoning(_string(item.get("thinking")) or _string(item.get("text")), item)
        media = recognise(item)
        if media is not None:
            return media
    return Opaque(item)


def _reasoning(source: dict[str, JSON]) -> list[Part]:
    """Reasoning as several servers give it beside the content; signed blocks win over the plain text."""
    blocks = source.get("thinking_blocks")
    if isinstance(blocks, list) and blocks:
        return [
            Reasoning(_string(block.get("thinking")), block) if isinstance(block, dict) else Opaque(block)
            for block in blocks
        ]
    for key in ("reasoning_content", "reasoning"):
        if isinstance(source.get(key), str) and source[key]:
            return [Reasoning(source[key])]
    return []


def _said(source: dict[str, JSON]) -> list[Part]:
    """Refusal, spoken answer and tool calls of an assistant message."""
    parts: list[Part] = []
    if isinstance(source.get("refusal"), str) and source["refusal"]:
        parts.append(Text(source["refusal"]))
    audio = source.get("audio")
    if isinstance(audio, dict):
        if isinstance(audio.get("transcript"), str) and audio["transcript"]:
            parts.append(Text(audio["transcript"]))
        parts.append(Media("audio", "", len(_string(audio.get("data"))) * 3 // 4, audio))
    calls = source.get("tool_calls")
    if isinstance(calls, list):
        parts.extend(_call(item) for item in calls)
    elif calls is not None:
        parts.append(Opaque(calls))
    legacy = source.get("function_call")
    if isinstance(legacy, dict):
        name = _string(legacy.get("name"))
        parts.append(ToolCall(_legacy_id(name), name, _arguments(legacy.get("arguments"))))
    return parts


def _call(item: JSON) -> Part:
    match item:
        case {"function": dict(function)}:
            arguments = _arguments(function.get("arguments"))
            return ToolCall(identifier(item.get("id")), _string(function.get("name")), arguments)
        case {"custom": dict(custom)}:
            return ToolCall(identifier(item.get("id")), _string(custom.get("name")), _arguments(custom.get("input")))
    return Opaque(item)


def _result(source: dict[str, JSON]) -> ToolResult:
    name = _string(source.get("name"))
    call = _legacy_id(name) if source.get("role") == "function" else identifier(_answered(source))
    text, media = read_result(source.get("content"))
    return ToolResult(call, text, name, media=media)


def _answered(source: dict[str, JSON]) -> JSON:
    """The id of the call that a tool message answers; SWE-agent keeps it as a list of one."""
    listed = source.get("tool_call_ids")
    if "tool_call_id" not in source and isinstance(listed, list) and len(listed) == 1:
        return listed[0]
    return source.get("tool_call_id")


def read_result(content: JSON) -> tuple[str, tuple[Media, ...]]:
    """Text and media of what a tool answered, in either API's form; an unknown piece is read as JSON text."""
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    media: list[Media] = []
    for item in content if isinstance(content, list) else [content]:
        match _part(item):
            case Text(text):
                texts.append(text)
            case Media() as found:
                media.append(found)
            case _:
                texts.append(compact(item))
    return "\n".join(texts), tuple(media)


def identifier(value: JSON) -> str:
    """A call id as text: a missing one is empty, a number its digits."""
    return value if isinstance(value, str) else "" if value is None else compact(value)


def _legacy_id(name: str) -> str:
    # The old form pairs by name: the id is made of it, and may well come again in a session.
    return f"function:{name}"


def _arguments(value: JSON) -> str:
    return value if isinstance(value, str) else "" if value is None else compact(value)


def _string(value: JSON) -> str:
    return value if isinstance(value, str) else ""
