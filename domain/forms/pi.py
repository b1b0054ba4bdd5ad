"""Reads a message of a pi session: the row object of one line, or a bare message object (M1).

Shapes: ``{"type": "message", "message": {"role", "content", ...}}`` with the roles user, assistant, toolResult,
bashExecution, custom, hookMessage, branchSummary, compactionSummary; and the rows ``compaction``,
``branch_summary`` and ``custom_message``, which carry their text themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..message import JSON, Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, View

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "tool",
    "bashExecution": "user",
    "custom": "user",
    "hookMessage": "user",
    "branchSummary": "summary",
    "compactionSummary": "summary",
    "compaction": "summary",
    "branch_summary": "summary",
    "custom_message": "user",
}


def view(source: JSON) -> View:
    """What a pi message says in neutral terms; anything unexpected is one Opaque part of a user message."""
    if not isinstance(source, dict):
        return View("user", (Opaque(source),))
    inner = source.get("message")
    body, kind = (inner, inner.get("role")) if isinstance(inner, dict) else (source, source.get("role"))
    if not isinstance(kind, str):
        kind = source.get("type")
    role = _ROLES.get(kind) if isinstance(kind, str) else None
    if role is None:
        return View("user", (Opaque(body),))
    if role == "summary":
        return View(role, _content(body.get("summary", body.get("content"))))
    if role == "tool":
        return View(role, (_result(body),))
    if kind == "bashExecution":
        return View(role, (Text(shell_text(body)),))
    return View(role, _content(body.get("content")))


def shell_text(body: Mapping[str, JSON]) -> str:
    """A command that the user ran in pi's own prompt, as one reads it in a terminal."""
    lines = [f"$ {_text(body.get('command'))}", _text(body.get("output")).rstrip("\n")]
    code = body.get("exitCode")
    if isinstance(code, int) and code != 0:
        lines.append(f"[exit code {code:d}]" if abs(code) < 2**31 else "[exit code unknown]")
    if body.get("cancelled") is True:
        lines.append("[cancelled by the user]")
    if body.get("truncated") is True:
        lines.append("[output cut by pi]")
    return "\n".join(line for line in lines if line)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _content(content: JSON) -> tuple[Part, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_part(block) for block in content) if isinstance(content, list) else (Opaque(content),)


def _part(block: JSON) -> Part:
    match block:
        case str():
            return Text(block)
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "thinking", "thinking": str(thinking)}:
            return Reasoning(thinking, block)
        case {"type": "toolCall", "id": str(call), "name": str(name)}:
            arguments = arguments_text(block.get("arguments"))
            return Opaque(block) if arguments is None else ToolCall(call, name, arguments)
        case {"type": "image", "data": str(data)}:
            return Media("image", _text(block.get("mimeType")), base64_size(data), block)
        case _:
            return Opaque(block)


def _result(body: Mapping[str, JSON]) -> Part:
    call = body.get("toolCallId")
    if not isinstance(call, str):
        return Opaque(body)
    parts = _content(body.get("content"))
    return ToolResult(
        call,
        "\n".join(part.text for part in parts if isinstance(part, Text)),
        name=_text(body.get("toolName")),
        is_error=body.get("isError") is True,
        media=tuple(
            part if isinstance(part, Media) else Media("part", "", 0, part.raw)
            for part in parts
            if isinstance(part, (Media, Opaque))
        ),
    )


def arguments_text(value: JSON) -> str | None:
    """The JSON text of tool arguments that a source keeps as a value: stable, readable; None if it has none.

    Text that UTF-8 cannot hold (lone surrogates) is escaped, so that the result can always be encoded.
    """
    try:
        text = json.dumps({} if value is None else value, ensure_ascii=False)
        return text if text.isascii() or _encodes(text) else json.dumps(value)
    except (RecursionError, TypeError, ValueError):
        return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def base64_size(data: str) -> int:
    """How many bytes a base64 text stands for, without decoding it."""
    length = len(data)
    return max(0, length * 3 // 4 - (length - len(data.rstrip("="))) if length % 4 == 0 else length * 3 // 4)
