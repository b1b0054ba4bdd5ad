"""Reads items of the OpenAI Responses API; the mapping table stands in docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Sequence

from ....domain.catalogue import SkippedLine
from ....domain.forms import openai_responses
from ....domain.message import JSON, Role, Trust
from .facts import Ids, moment, name, usage
from .values import Draft, ImportedMessage, Row

_ROLES = frozenset({"system", "developer", "user", "assistant"})
_TRUST: dict[Role, Trust] = {
    "system": "operator",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
    # The provider's own compaction, sealed: derived from everything before it.
    "summary": "external",
}


def is_item(value: JSON) -> bool:
    """Whether this is an item: one that only this form has, or a message with a known role and content."""
    if not isinstance(value, dict):
        return False
    if value.get("type", "message") == "message":
        role = value.get("role")
        return isinstance(role, str) and role in _ROLES and isinstance(value.get("content"), (str, list))
    return openai_responses.speaks(value)


def is_responses(rows: Sequence[Row]) -> bool:
    """Whether rows of messages are items: more that only this form has than calls and results of the chat forms."""
    items = chats = 0
    for row in rows:
        value = row.value
        items += _is_marked(row) or openai_responses.speaks(value)
        chats += isinstance(value, dict) and (
            bool(value.get("tool_calls")) or value.get("role") in ("tool", "function")
        )
    return items > chats


def _is_marked(row: Row) -> bool:
    return isinstance(row.about, dict) and row.about.get("form") == "openai-responses"


def read(rows: Sequence[Row]) -> Draft:
    """All items of the rows, in order, and the reason for each row that is none."""
    messages: list[ImportedMessage] = []
    skipped: list[SkippedLine] = []
    ids = Ids()
    for row in rows:
        reason = row.problem or _reason(row)
        own = _own_id(row.value)
        if reason is None and (earlier := ids.repeats(own, row.value)) is not None:
            reason = f"repeats line {earlier}"
        if reason is not None:
            skipped.append(SkippedLine(line=row.number, reason=reason))
        else:
            messages.append(_message(ids.give(own, row.number, row.value), row))
    return Draft(None, tuple(messages), tuple(skipped))


def _own_id(value: JSON) -> JSON:
    # A reference carries the id of another item.
    is_own = isinstance(value, dict) and value.get("type") != "item_reference"
    return value.get("id") if is_own else None


def _reason(row: Row) -> str | None:
    value = row.value
    if isinstance(value, str) and _is_marked(row):
        return None if value else "not a message: an empty text"
    if not isinstance(value, dict):
        return "not an object"
    if is_item(value):
        return None
    if value.get("type", "message") != "message":
        return f"not a message: {name(value['type'])}"
    role = value.get("role")
    if role is None:
        return "not a message: no role"
    if not isinstance(role, str) or role not in _ROLES:
        return f"malformed: unknown role {name(role)}"
    return "malformed: a message without content"


def _message(id: str, row: Row) -> ImportedMessage:
    about = row.about if isinstance(row.about, dict) else {}
    role = openai_responses.view(row.value).role
    return ImportedMessage(
        id=id,
        form="openai-responses",
        source=row.value,
        trust=_TRUST[role],
        lines=(row.number,),
        time=moment(about.get("timestamp")),
        usage=usage(about.get("usage"), ("input_tokens",), "output_tokens") if role == "assistant" else None,
        begins=role == "user",
        ending="" if role == "assistant" else None,
    )
