"""Reads chat messages as the two provider APIs have them; the tables stand in docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ....domain.catalogue import SkippedLine, Usage
from ....domain.message import JSON, Form, Trust
from .facts import Ids, moment, name, usage
from .values import Draft, ImportedMessage, Row

_TRUST: dict[str, Trust] = {
    "system": "operator",
    "developer": "operator",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
    "function": "tool",
}
_ROLES: dict[Form, frozenset[str]] = {
    "openai": frozenset(_TRUST),
    "anthropic": frozenset({"system", "user", "assistant"}),
}
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_ANTHROPIC_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

ChatForm = Literal["openai", "anthropic"]


def is_message(value: JSON, form: ChatForm = "openai") -> bool:
    """Whether this is a chat message: a known role, and content or calls."""
    if not isinstance(value, dict) or value.get("type", "message") != "message":
        return False
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES[form]:
        return False
    has_calls = form == "openai" and ("tool_calls" in value or "function_call" in value)
    return isinstance(value.get("content"), (str, list)) or has_calls


def is_anthropic(values: Sequence[JSON]) -> bool:
    """Whether chat messages are in Anthropic's form: more of its blocks than of OpenAI's calls and results."""
    blocks = calls = 0
    for value in values:
        content = value.get("content")
        if isinstance(content, list):
            blocks += any(_word(part) in _ANTHROPIC_BLOCKS for part in content)
            # A logged answer, which may be nothing but text.
            blocks += value.get("type") == "message" and "stop_reason" in value
        calls += bool(value.get("tool_calls")) or value.get("role") in ("tool", "function")
    return blocks > calls


def _word(part: JSON) -> str:
    word = part.get("type") if isinstance(part, dict) else None
    return word if isinstance(word, str) else ""


def read(rows: Sequence[Row], form: ChatForm, *, told_by_program: bool = False) -> Draft:
    """All messages of the rows, in order, and the reason for each row that is none.

    ``told_by_program``: after the first request nobody asked anything; later user messages are what a program put
    there (SWE-agent), and its demonstrations are the operator's.
    """
    messages: list[ImportedMessage] = []
    skipped: list[SkippedLine] = []
    ids = Ids()
    asked = False
    for row in rows:
        reason = row.problem or _reason(row.value, form)
        if reason is None and (earlier := ids.repeats(row.value.get("id"), row.value)) is not None:
            reason = f"repeats line {earlier}"
        if reason is not None:
            skipped.append(SkippedLine(line=row.number, reason=reason))
        else:
            message = _message(ids.give(row.value.get("id"), row.number, row.value), row, form)
            if told_by_program and message.trust == "user":
                message = _by_program(message, asked)
                asked = asked or message.begins
            messages.append(message)
    return Draft(None, tuple(messages), tuple(skipped))


def _reason(value: JSON, form: ChatForm) -> str | None:
    if not isinstance(value, dict):
        return "not an object"
    role = value.get("role")
    if not isinstance(role, str):
        return "not a message: no role"
    if role not in _ROLES[form]:
        return f"malformed: unknown role {name(role)}"
    return None if is_message(value, form) else "malformed: a message without content"


def _message(id: str, row: Row, form: ChatForm) -> ImportedMessage:
    value = row.value
    about = row.about if isinstance(row.about, dict) else {}
    role = value["role"]
    is_result = form == "anthropic" and _has_result(value.get("content"))
    return ImportedMessage(
        id=id,
        form=form,
        source=value,
        trust="tool" if is_result else _TRUST[role],
        lines=(row.number,),
        time=moment(value.get("timestamp")) or moment(value.get("ts")) or moment(about.get("timestamp")),
        usage=_usage(value, about) if role == "assistant" else None,
        begins=role == "user" and not is_result,
        ending="" if role == "assistant" else None,
    )


def _by_program(message: ImportedMessage, asked: bool) -> ImportedMessage:
    if message.source.get("is_demo") is True or message.source.get("message_type") == "demonstration":
        return replace(message, trust="operator", begins=False)
    return replace(message, trust="tool", begins=False) if asked else message


def _has_result(content: JSON) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def _usage(value: JSON, about: JSON) -> Usage | None:
    counts = about.get("usage", value.get("usage"))
    if isinstance(counts, dict) and "prompt_tokens" in counts:
        return usage(counts, ("prompt_tokens",), "completion_tokens")
    if counts is None:
        # Cline's own name for it; its input count holds what came from the cache.
        return usage(value.get("metrics"), ("inputTokens",), "outputTokens")
    return usage(counts, _ANTHROPIC_INPUTS, "output_tokens")
