"""Reads a message of a Claude Code session: the list of row objects that make it (M1).

Claude Code writes one line per content block of an assistant's message, each with the same message id;
together they are one message, whose blocks stand in the order of the lines. A row is
``{"type": "user"/"assistant", "message": {"role", "content"}, ...}`` with Anthropic content blocks.
A single row object is read as a list of one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..message import JSON, Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, View
from .pi import arguments_text, base64_size


def view(source: JSON) -> View:
    """What the rows of a message say in neutral terms; anything unexpected is an Opaque part."""
    rows = source if isinstance(source, list) else [source]
    parts = tuple(part for row in rows for part in _row(row))
    first = rows[0] if rows and isinstance(rows[0], dict) else {}
    return View(_role(first, parts), parts)


def _role(first: dict[str, JSON], parts: tuple[Part, ...]) -> Role:
    if first.get("isCompactSummary") is True:
        return "summary"
    if first.get("type") == "assistant":
        return "assistant"
    # A user row that only answers calls speaks for the tools; one that mixes text in stays the user's.
    return "tool" if parts and all(isinstance(part, ToolResult) for part in parts) else "user"


def _row(row: JSON) -> Iterator[Part]:
    message = row.get("message") if isinstance(row, dict) else None
    if not isinstance(message, dict):
        yield Opaque(row)
        return
    content = message.get("content")
    if isinstance(content, str):
        yield Text(content)
    elif isinstance(content, list):
        yield from (_part(block) for block in content)
    elif content is not None:
        yield Opaque(content)


def _part(block: JSON) -> Part:
    match block:
        case str():
            return Text(block)
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "thinking", "thinking": str(thinking)}:
            return Reasoning(thinking, block)
        case {"type": "redacted_thinking"}:
            return Reasoning("", block)
        case {"type": "tool_use", "id": str(call), "name": str(name)}:
            arguments = arguments_text(block.get("input"))
            return Opaque(block) if arguments is None else ToolCall(call, name, arguments)
        case {"type": "tool_result", "tool_use_id": str(call)}:
            return _result(call, block)
        case {"type": "image" | "document" as kind, "source": dict()}:
            return _media(str(kind), block)
        case _:
            return Opaque(block)


def _result(call: str, block: dict[str, JSON]) -> ToolResult:
    content = block.get("content")
    inner = content if isinstance(content, list) else [] if content is None else [content]
    texts: list[str] = []
    media: list[Media] = []
    for raw in inner:
        # Only text and media count inside a result; a call or a thought in it is never the message's own.
        is_known = isinstance(raw, str) or (isinstance(raw, dict) and raw.get("type") in ("text", "image", "document"))
        part = _part(raw) if is_known else Opaque(raw)
        if isinstance(part, Text):
            texts.append(part.text)
        else:
            media.append(part if isinstance(part, Media) else Media("part", "", 0, raw))
    return ToolResult(call, "\n".join(texts), is_error=block.get("is_error") is True, media=tuple(media))


def _media(kind: str, block: dict[str, JSON]) -> Media:
    source = block["source"]
    media_type, data = source.get("media_type"), source.get("data")
    return Media(
        kind,
        media_type if isinstance(media_type, str) else "",
        base64_size(data) if source.get("type") == "base64" and isinstance(data, str) else 0,
        block,
    )
