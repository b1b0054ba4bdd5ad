"""What a message says, as it stands in the original: the text that is searched and quoted (D17)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from .message import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .recall_tool import RECALLED


def said(parts: Iterable[Part]) -> str:
    """The texts of the parts in order, each exactly as given, on lines of their own.

    Of a tool call the name and the exact arguments; of pictures, sounds and unknown parts nothing.
    """
    return "\n".join([text for part in parts if (text := _said(part))])


def original(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts without those that repeat what was recalled: an echo is no second source (D17).

    An agent records the answer of the ``recall`` tool like any tool's result. It is neither indexed, or each search
    would find its own last answer first, nor evidence for what it repeats.
    """
    return tuple(part for part in parts if not is_recalled(part))


def is_recalled(part: Part) -> bool:
    """Whether a part is the recorded answer of the ``recall`` tool."""
    return isinstance(part, ToolResult) and RECALLED in part.text


def _said(part: Part) -> str:
    match part:
        case Text() | Reasoning() | ToolResult():
            return part.text
        case ToolCall():
            return f"{part.name} {part.arguments}"
        case Media() | Opaque():
            return ""
    assert_never(part)
