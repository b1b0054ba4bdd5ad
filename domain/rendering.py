"""Writes a built context as the request of an API, and says what that API has no place for (M1, C9).

Pure functions of the built context; the originals are read, never changed. Whatever was built, the request is
legal by the rules that ``minutebook.domain.legality`` checks.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from .context import Built
from .message import JSON
from .rendering_anthropic import AnthropicWriter
from .rendering_openai import OpenAIWriter
from .rendering_responses import ResponsesWriter

Target: TypeAlias = Literal["openai", "openai-responses", "anthropic"]
TARGETS: tuple[Target, ...] = ("openai", "openai-responses", "anthropic")


def to_openai(built: Built) -> dict[str, JSON]:
    """``{"messages": [...]}`` for the OpenAI chat API, with ``"tools"`` when there are any."""
    return OpenAIWriter(built).request()


def to_openai_responses(built: Built) -> dict[str, JSON]:
    """``{"input": [...]}`` for the OpenAI Responses API, with ``"instructions"`` and ``"tools"`` when there are any."""
    return ResponsesWriter(built).request()


def to_anthropic(built: Built) -> dict[str, JSON]:
    """``{"messages": [...]}`` for the Anthropic messages API, with ``"system"`` and ``"tools"`` when there are any."""
    return AnthropicWriter(built).request()


def losses(built: Built, target: Target) -> tuple[str, ...]:
    """What the request of ``target`` does not carry as it was given: one line each, led by the message's id (M1)."""
    match target:
        case "openai":
            writer: OpenAIWriter | ResponsesWriter | AnthropicWriter = OpenAIWriter(built)
        case "openai-responses":
            writer = ResponsesWriter(built)
        case "anthropic":
            writer = AnthropicWriter(built)
        case _:
            assert_never(target)
    writer.request()
    return tuple(dict.fromkeys(writer.losses))
