"""Neutral parts as JSON objects: what is shown at the edge, and what a digest is made of (C11)."""

from __future__ import annotations

from typing import assert_never

from .jsontext import compact, deep
from .message import JSON, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult


def content_json(parts: tuple[Part, ...]) -> JSON:
    """Content of a neutral message: its text when there is nothing else, else a list of part objects."""
    if all(isinstance(part, Text) for part in parts):
        return "\n".join([part.text for part in parts if isinstance(part, Text)])
    return [part_json(part) for part in parts]


def part_json(part: Part) -> dict[str, JSON]:
    """A part as an object with a ``type``; media and unknown parts carry what was given under ``raw``."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Reasoning(text, raw):
            return {"type": "reasoning", "text": text, "raw": _plain(raw)}
        case ToolCall(name, tool, arguments):
            return {"type": "tool_call", "id": name, "name": tool, "arguments": arguments}
        case ToolResult():
            return {
                "type": "tool_result",
                "call_id": part.call_id,
                "name": part.name,
                "text": part.text,
                "is_error": part.is_error,
                "media": [part_json(item) for item in part.media],
            }
        case Media(kind, media_type, size, raw):
            return {"type": "media", "kind": kind, "media_type": media_type, "size": size, "raw": _plain(raw)}
        case Opaque(raw):
            return {"type": "opaque", "raw": _plain(raw)}
    assert_never(part)


def _plain(raw: JSON) -> JSON:
    """``raw`` itself, or its text when it is nested too deep to be encoded inside a context."""
    return compact(raw) if deep(raw) else raw
