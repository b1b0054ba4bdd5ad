"""Reads a message of the Anthropic messages API into the neutral view (M1).

Total: every JSON value has a view, one part for each block and in their order. A message that holds nothing
but tool results is neutral ``tool``; one that mixes them with text stays ``user``.
"""

from __future__ import annotations

from ..jsontext import compact
from ..media import recognise
from ..message import JSON, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, View
from .openai import ROLES, identifier, read_result

BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use", "search_result"}
)
"""Block types that only this form has; by them a message is recognised."""


def view(source: JSON) -> View:
    """What an Anthropic message says; ``arguments`` of a call is its input as compact JSON in the given order."""
    if isinstance(source, str):
        return View("user", (Text(source),) if source else ())
    if not isinstance(source, dict):
        return View("user", (Opaque(source),))
    name = source.get("role")
    role: Role = ROLES.get(name, "user") if isinstance(name, str) else "user"
    parts = _content(source.get("content"), role)
    if role in ("user", "tool"):
        role = "tool" if parts and all(isinstance(part, ToolResult) for part in parts) else "user"
    return View(role, parts)


def speaks(source: JSON) -> bool:
    """Whether a message can only be of this form: a block that the OpenAI form has not."""
    content = source.get("content") if isinstance(source, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict)
        and ((isinstance(block.get("type"), str) and block["type"] in BLOCKS) or isinstance(block.get("source"), dict))
        for block in content
    )


def _content(content: JSON, role: Role) -> tuple[Part, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, list):
        return tuple([_block(block, role) for block in content])
    return (Opaque(content),)


def _block(block: JSON, role: Role) -> Part:
    if isinstance(block, str):
        return Text(block)
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "thinking"}:
            text = block.get("thinking")
            return Reasoning(text if isinstance(text, str) else "", block)
        case {"type": "redacted_thinking"}:
            return Reasoning("", block)
        case {"type": "tool_use", "name": str(name)} if role == "assistant":
            value = block.get("input")
            return ToolCall(identifier(block.get("id")), name, value if isinstance(value, str) else compact(value))
        case {"type": "tool_result"}:
            answer, media = read_result(block.get("content"))
            named = block.get("name")
            return ToolResult(
                identifier(block.get("tool_use_id")),
                answer,
                named if isinstance(named, str) else "",
                block.get("is_error") is True,
                media,
            )
    return recognise(block) or Opaque(block)
