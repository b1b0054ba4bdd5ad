"""Reads the events of an OpenHands stream; the mapping table stands in docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....domain.catalogue import SkippedLine, Usage
from ....domain.forms import openhands
from ....domain.message import JSON, Role, Trust
from .facts import Ids, moment, name, usage
from .values import Draft, Ending, ImportedMessage, Row

_TRUST: dict[Role, Trust] = {
    "system": "operator",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
    # Derived from everything before it, by a program whose sources this log cannot name: the lowest.
    "summary": "external",
}
_SOURCES = ("user", "agent", "environment")
_ENDINGS: dict[str, Ending] = {"error": "error", "stopped": "aborted", "rejected": "aborted"}


def is_message(value: JSON) -> bool:
    """Whether this is an event that a model was shown."""
    return _is_event(value) and _word(value) not in openhands.SILENT


def _is_event(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), int):
        return False
    if value.get("source") not in _SOURCES:
        return False
    action = isinstance(value.get("action"), str) and isinstance(value.get("args"), dict)
    return action or (isinstance(value.get("observation"), str) and "content" in value)


def _word(value: dict[str, JSON]) -> JSON:
    action = value.get("action")
    return action if isinstance(action, str) else value.get("observation")


def read(rows: Sequence[Row]) -> Draft:
    """All messages of the rows, in order, and the reason for each row that is none."""
    messages: list[ImportedMessage] = []
    skipped: list[SkippedLine] = []
    ids = Ids()
    paid: set[str] = set()
    for row in rows:
        value = row.value
        reason = row.problem or _reason(value)
        own = f"event-{value['id']}" if reason is None else None
        if reason is None and (earlier := ids.repeats(own, value)) is not None:
            reason = f"repeats line {earlier}"
        if reason is None:
            messages.append(_message(ids.give(own, row.number, value), row, paid))
            continue
        skipped.append(SkippedLine(line=row.number, reason=reason))
        ending = _ending(value)
        if ending is not None and messages:
            messages[-1] = replace(messages[-1], ending=ending)
    return Draft(None, tuple(messages), tuple(skipped))


def _reason(value: JSON) -> str | None:
    """Why a row is not taken; None: it is."""
    if not isinstance(value, dict):
        return "not an object"
    if not _is_event(value):
        return "not a message: no action or observation"
    return None if is_message(value) else f"not a message: {name(_word(value))}"


def _ending(value: JSON) -> Ending | None:
    match value:
        case {"observation": "agent_state_changed", "extras": {"agent_state": str(state)}}:
            return _ENDINGS.get(state)
    return None


def _message(id: str, row: Row, paid: set[str]) -> ImportedMessage:
    value = row.value
    role = openhands.view(value).role
    by_hand = role == "user" and value.get("action") != "message"
    return ImportedMessage(
        id=id,
        form="openhands",
        source=value,
        # The user gave the command, a program wrote what came of it: as in pi, the lower of the two.
        trust="tool" if by_hand else _TRUST[role],
        lines=(row.number,),
        time=moment(value.get("timestamp")),
        usage=_usage(value, paid) if role == "assistant" else None,
        begins=role == "user" and not by_hand,
        ending="" if role == "assistant" else None,
    )


def _usage(value: JSON, paid: set[str]) -> Usage | None:
    """What the answer behind an action took; counted once where it led to several actions."""
    match value.get("tool_call_metadata"):
        case {"model_response": {"id": str(answer), "usage": counts}} if answer not in paid:
            paid.add(answer)
            return usage(counts, ("prompt_tokens",), "completion_tokens")
    return None
