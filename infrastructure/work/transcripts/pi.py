"""Reads the rows of a pi session; the mapping table stands in docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Sequence

from ....domain.catalogue import SkippedLine
from ....domain.message import JSON, Trust
from .facts import Ids, identifier, moment, name, usage
from .values import Draft, Ending, ImportedMessage, Row

_TRUST: dict[str, Trust] = {
    "user": "user",
    "assistant": "model",
    "toolResult": "tool",
    # The user gave the command, a program wrote the output: the lower of the two.
    "bashExecution": "tool",
    "custom": "tool",
    "hookMessage": "tool",
    "custom_message": "tool",
    # Derived from everything before it, by a program whose sources this log cannot name: the lowest.
    "branchSummary": "external",
    "compactionSummary": "external",
    "compaction": "external",
    "branch_summary": "external",
}
_BARE = frozenset({"user", "assistant", "toolResult"})
_ROW_TEXT = {"compaction": "summary", "branch_summary": "summary", "custom_message": "content"}
_INPUTS = ("input", "cacheRead", "cacheWrite")
_HIDDEN = "not a message: a shell command that pi kept out of the model's context"


def kind(value: JSON) -> str | None:
    """Which pi message this row is (a role, or a row type that carries text), or None."""
    if not isinstance(value, dict):
        return None
    match value.get("type"):
        case "message":
            message = value.get("message")
            role = message.get("role") if isinstance(message, dict) else None
            return role if isinstance(role, str) and role in _TRUST and role not in _ROW_TEXT else None
        case str(word) if word in _ROW_TEXT:
            return word if isinstance(value.get(_ROW_TEXT[word]), (str, list)) else None
        case None:
            # A bare message, as pi's own test fixtures have it: told from an OpenAI one by pi's field names.
            role = value.get("role")
            is_pi = role == "toolResult" or ("api" in value and "provider" in value and "stopReason" in value)
            return role if isinstance(role, str) and role in _BARE and is_pi else None
        case _:
            return None


def read(rows: Sequence[Row]) -> Draft:
    """All messages of the rows, in file order, and the reason for each row that is none."""
    session: str | None = None
    messages: list[ImportedMessage] = []
    skipped: list[SkippedLine] = []
    ids = Ids()
    for row in rows:
        value = row.value
        if session is None and isinstance(value, dict) and value.get("type") == "session":
            session = identifier(value.get("id"))
        what = kind(value) if row.problem is None else None
        reason = row.problem or _reason(value, what)
        own = value.get("id") if what is not None else None
        if reason is None and (earlier := ids.repeats(own, value)) is not None:
            reason = f"repeats line {earlier}"
        if reason is not None or what is None:
            skipped.append(SkippedLine(line=row.number, reason=reason or "not a message"))
        else:
            messages.append(_message(ids.give(own, row.number, value), row, what))
    return Draft(session, tuple(messages), tuple(skipped))


def _message(id: str, row: Row, what: str) -> ImportedMessage:
    value = row.value
    inner = value.get("message")
    body = inner if isinstance(inner, dict) else value
    return ImportedMessage(
        id=id,
        form="pi",
        source=value,
        trust=_TRUST[what],
        lines=(row.number,),
        time=moment(value.get("timestamp")) or moment(body.get("timestamp")),
        usage=usage(body.get("usage"), _INPUTS, "output") if what == "assistant" else None,
        begins=what == "user",
        ending=_ending(body) if what == "assistant" else None,
    )


def _ending(body: JSON) -> Ending:
    match body.get("stopReason"):
        case "aborted":
            return "aborted"
        case "error":
            return "error"
        case _:
            return ""


def _reason(value: JSON, what: str | None) -> str | None:
    """Why a row is not taken; None: it is."""
    if not isinstance(value, dict):
        return "not an object"
    message = value.get("message")
    if what is not None:
        hidden = what == "bashExecution" and isinstance(message, dict) and message.get("excludeFromContext") is True
        return _HIDDEN if hidden else None
    if value.get("type") == "message":
        if not isinstance(message, dict):
            return "malformed: a message row without a message"
        return f"malformed: unknown role {name(message.get('role'))}"
    return f"not a message: {name(value.get('type', 'no type'))}"
