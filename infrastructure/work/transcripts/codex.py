"""Reads the rows of a Codex rollout; the mapping table stands in docs/reference/transcripts.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ....domain.catalogue import SkippedLine
from ....domain.forms import codex, openai_responses
from ....domain.message import JSON, Text, Trust, View, lowest_trust
from . import responses
from .facts import Ids, identifier, moment, name, usage
from .values import Draft, Ending, ImportedMessage, Row

_OPERATOR = (
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<skill>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<personality_spec>",
    "<model_switch>",
)
"""How user rows begin in which Codex hands over what somebody wrote for all sessions: no request of this one."""
_ABORTED = "<turn_aborted>"
_TOOL = (
    "<environment_context>",
    _ABORTED,
    "<user_shell_command>",
    "<user_action>",
    "<subagent_notification>",
    "<hook_prompt",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
)
"""How user rows begin that Codex made itself: facts about the machine, output of programs, its own prompts."""
_REQUEST = "## My request for Codex:"
"""Editors put what is open before this line; events may tell the request alone."""
_ENDINGS: dict[str, Ending] = {"turn_aborted": "aborted", "error": "error"}
WAITING_MAX = 64
"""More requests than anybody sends before the model answers; Codex writes both tellings within a few rows."""
_IGNORED = frozenset({"ghost_snapshot", "other"})


def is_message(value: JSON) -> bool:
    """Whether this is a row of the second generation that can be a message."""
    if not isinstance(value, dict) or not isinstance(payload := value.get("payload"), dict):
        return False
    match value.get("type"):
        case "response_item":
            return _is_item(payload)
        case "event_msg":
            return payload.get("type") == "user_message" and isinstance(payload.get("message"), str)
        case "compacted":
            return isinstance(payload.get("message"), str)
        case _:
            return False


def is_header(value: JSON) -> bool:
    """Whether a row is one of the first generation's that no other format has: its head, or a state mark."""
    if not isinstance(value, dict) or "type" in value:
        return False
    head = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return (head and ("instructions" in value or "git" in value)) or isinstance(value.get("record_type"), str)


def _is_item(item: JSON) -> bool:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        return responses.is_item(item)
    # An item of a kind that is not known yet is the model's all the same: it is kept.
    return isinstance(kind, str) and kind not in _IGNORED


@dataclass(slots=True)
class _Requests:
    """Pairs the two tellings of a user's turn, ``response_item`` and ``event_msg``, in whichever order they come.

    A telling waits for its like until the model has spoken and the user says something else, or until ``WAITING_MAX``
    others wait: a file of nothing but requests must not take quadratic time.
    """

    waiting: list[tuple[bool, frozenset[str], int]] = field(default_factory=list)
    spoken: bool = False

    def told(self, is_event: bool, texts: frozenset[str], line: int) -> int | None:
        """The line that said the same in the other way, or None when this is the first telling."""
        for index, (other, said, first) in enumerate(self.waiting):
            if other != is_event and said & texts:
                del self.waiting[index]
                return first
        if self.spoken:
            self.waiting.clear()
            self.spoken = False
        if len(self.waiting) == WAITING_MAX:
            del self.waiting[0]
        self.waiting.append((is_event, texts, line))
        return None


def read(rows: Sequence[Row]) -> Draft:
    """All messages of the rows, in file order, and the reason for each row that is none."""
    session: str | None = None
    asked_by: Trust = "user"
    messages: list[ImportedMessage] = []
    skipped: list[SkippedLine] = []
    ids, requests = Ids(), _Requests()
    unpaid = False  # whether the model has spoken since usage was last reported
    for row in rows:
        value = row.value
        reason = row.problem or _reason(value)
        if reason is not None:
            session, asked_by = _session(value, session, asked_by)
            unpaid = _told(value, messages, unpaid)
        else:
            view = codex.view(value)
            own = _own_id(value)
            if (earlier := ids.repeats(own, value)) is None and view.role in ("user", "summary"):
                earlier = requests.told(value.get("type") == "event_msg", _texts(view), row.number)
            if earlier is None:
                messages.append(_message(ids.give(own, row.number, value), row, view, asked_by))
                unpaid = unpaid or view.role == "assistant"
                requests.spoken = requests.spoken or view.role in ("assistant", "tool")
                continue
            reason = f"repeats line {earlier}"
        skipped.append(SkippedLine(line=row.number, reason=reason))
    return Draft(session, tuple(messages), tuple(skipped))


def _session(value: JSON, session: str | None, asked_by: Trust) -> tuple[str | None, Trust]:
    """Id of the session and who asks in it, from the first head of the file; a fork has its parent's as a second."""
    if session is not None or not isinstance(value, dict):
        return session, asked_by
    head = value.get("payload") if value.get("type") == "session_meta" else value if is_header(value) else None
    if not isinstance(head, dict):
        return session, asked_by
    source = head.get("source")
    # A subagent is asked by the agent that called it, never by the user.
    return identifier(head.get("id")), "model" if isinstance(source, dict) and "subagent" in source else asked_by


def _told(value: JSON, messages: list[ImportedMessage], unpaid: bool) -> bool:
    """What an event says of the message before it: how its turn ended, what it took. Returns ``unpaid`` anew."""
    payload = value.get("payload") if isinstance(value, dict) and value.get("type") == "event_msg" else None
    if not isinstance(payload, dict) or not messages:
        return unpaid
    word = payload.get("type")
    if isinstance(word, str) and word in _ENDINGS:
        messages[-1] = replace(messages[-1], ending=_ENDINGS[word])
    info = payload.get("info")
    if word != "token_count" or not isinstance(info, dict) or not unpaid:
        return unpaid
    found = usage(info.get("last_token_usage"), ("input_tokens",), "output_tokens")
    said = next((index for index in range(len(messages) - 1, -1, -1) if messages[index].trust == "model"), None)
    if found is None or said is None:
        return unpaid
    messages[said] = replace(messages[said], usage=found)
    return False


def _own_id(value: JSON) -> JSON:
    payload = value.get("payload")
    item = payload if isinstance(payload, dict) else value
    return None if item.get("type") == "item_reference" else item.get("id")


def _reason(value: JSON) -> str | None:
    """Why a row is not taken; None: it is."""
    if not isinstance(value, dict):
        return "not an object"
    if is_message(value) or ("payload" not in value and not is_header(value) and _is_flat(value)):
        return None
    word, payload = value.get("type"), value.get("payload")
    if is_header(value):
        return "not a message: state" if "record_type" in value else "not a message: head of the session"
    if word == "compacted" and isinstance(payload, dict):
        return "not a message: a compaction without a text"
    if word in ("response_item", "event_msg", "compacted"):
        if not isinstance(payload, dict):
            return f"malformed: a {word} without a payload"
        return f"not a message: {word} {name(payload.get('type', 'no type'))}"
    return f"not a message: {name(value.get('type', 'no type'))}"


def _is_flat(value: dict[str, JSON]) -> bool:
    return responses.is_item(value) or openai_responses.speaks(value)


def _message(id: str, row: Row, view: View, asked_by: Trust) -> ImportedMessage:
    trust, begins, ending = _said(view, asked_by)
    return ImportedMessage(
        id=id,
        form="codex",
        source=row.value,
        trust=trust,
        lines=(row.number,),
        time=moment(row.value.get("timestamp")),
        begins=begins,
        ending=ending,
    )


def _said(view: View, asked_by: Trust) -> tuple[Trust, bool, Ending | None]:
    """Trust, whether it is a request that begins a run, and what it says of its turn."""
    match view.role:
        case "assistant":
            return "model", False, ""
        case "tool":
            return "tool", False, None
        case "system":
            return "operator", False, None
        case "summary":
            # Derived from everything before it, by a program whose sources this log cannot name: the lowest.
            return "external", False, None
    levels: list[Trust] = []
    asks = not any(isinstance(part, Text) for part in view.parts)
    for part in view.parts:
        if isinstance(part, Text):
            text = part.text.lstrip()
            own: Trust = "operator" if text.startswith(_OPERATOR) else "tool" if text.startswith(_TOOL) else asked_by
            asks = asks or not text.startswith((*_OPERATOR, *_TOOL))
            levels.append(own)
            if text.startswith(_ABORTED):
                return "tool", False, "aborted"
    return lowest_trust(*levels or [asked_by]), asks, None


def _texts(view: View) -> frozenset[str]:
    """The ways in which another row may tell the same request: the whole, each part, what follows the editor's."""
    texts = [part.text for part in view.parts if isinstance(part, Text)]
    told = {"\n".join(texts).strip(), *(text.strip() for text in texts)}
    told |= {text.rpartition(_REQUEST)[2].strip() for text in tuple(told)}
    return frozenset(told - {""} or {""})
