"""Neutral parts as JSON values and back: the form in which reduced content is stored in a payload (C3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from .errors import StoreError
from .message import JSON, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult


def parts_to_json(parts: Iterable[Part]) -> list[JSON]:
    """Parts as a list of JSON objects, each with a ``type``; ``parts_from_json`` is its exact inverse."""
    return [_to_json(part) for part in parts]


def parts_from_json(value: Sequence[Any]) -> tuple[Part, ...]:
    """The parts that ``parts_to_json`` wrote. Raises StoreError ``parts_unreadable`` on anything else."""
    try:
        return tuple(_from_json(item) for item in value)
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            "the stored content of a reduced message cannot be read; "
            "run 'minutebook verify' to see whether the log is damaged",
            code="parts_unreadable",
        ) from error


def _to_json(part: Part) -> JSON:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            return {"type": "reasoning", "text": part.text, "raw": part.raw}
        case ToolCall():
            return {"type": "call", "id": part.id, "name": part.name, "arguments": part.arguments}
        case ToolResult():
            return {
                "type": "result",
                "call_id": part.call_id,
                "text": part.text,
                "name": part.name,
                "is_error": part.is_error,
                "media": [_to_json(media) for media in part.media],
            }
        case Media():
            return {
                "type": "media",
                "kind": part.kind,
                "media_type": part.media_type,
                "size": part.size,
                "raw": part.raw,
            }
        case Opaque():
            return {"type": "opaque", "raw": part.raw}
        case _:
            assert_never(part)


def _from_json(value: JSON) -> Part:
    match value["type"]:
        case "text":
            return Text(value["text"])
        case "reasoning":
            return Reasoning(value["text"], value["raw"])
        case "call":
            return ToolCall(value["id"], value["name"], value["arguments"])
        case "result":
            return ToolResult(
                call_id=value["call_id"],
                text=value["text"],
                name=value["name"],
                is_error=value["is_error"],
                media=tuple(_media(item) for item in value["media"]),
            )
        case "media":
            return _media(value)
        case "opaque":
            return Opaque(value["raw"])
        case other:
            raise KeyError(other)


def _media(value: JSON) -> Media:
    return Media(value["kind"], value["media_type"], value["size"], value["raw"])
