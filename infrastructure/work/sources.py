"""A caller's message becomes a MessageRecorded event: kept verbatim, in its own form, counted once (M1, M5)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from ...domain.errors import InputError, MessageError
from ...domain.forms import guess, view
from ...domain.forms.openai_responses import speaks
from ...domain.message import JSON, Form, ToolCall, ToolResult, Trust, View
from ...domain.redaction import Redact, redact_message
from ...domain.tokens import ESTIMATE, Counter, count_message, count_source

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_ROLE_TRUST: dict[str, Trust] = {
    "system": "operator",
    "user": "user",
    "assistant": "model",
    "tool": "tool",
    # A provider's own compaction: derived from everything before it, tool output too.
    "summary": "external",
}


@dataclass(frozen=True, slots=True)
class Source:
    """An original, encoded for the log: ``payload`` is ``{"source": ...}`` as JSON bytes."""

    form: Form
    view: View
    payload: bytes
    encoding: Literal["orjson", "json"]
    tokens: int
    counter: str
    trust: Trust
    redacted: int = 0

    @property
    def calls(self) -> tuple[str, ...]:
        return tuple(_storable(part.id) for part in self.view.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[str, ...]:
        return tuple(_storable(part.call_id) for part in self.view.parts if isinstance(part, ToolResult))


def from_caller(message: Any, *, bytes_max: int, counter: Counter = ESTIMATE, redact: Redact | None = None) -> Source:
    """A message given in Python, or an SDK object with ``model_dump``: a dictionary in the OpenAI chat or the
    Anthropic form, or an item of the OpenAI Responses API.

    ``redact`` takes credentials out before anything is stored (``redact_messages``).
    Raises MessageError ``bad_message``, ``message_too_large`` or ``message_too_deep``.
    """
    source = _plain(message)
    if "role" not in source and speaks(source):
        return encode(source, "openai-responses", bytes_max=bytes_max, counter=counter)
    role = source.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise MessageError(
            f"a message needs a 'role' out of {', '.join(sorted(ROLES))}; this one has {role!r}", code="bad_message"
        )
    if "content" not in source and not source.get("tool_calls"):
        raise MessageError("a message needs 'content' (or 'tool_calls'); add it", code="bad_message")
    count = 0
    if redact is not None:
        source, count = redact_message(source, redact)
    found = encode(source, guess(source), bytes_max=bytes_max, counter=counter)
    return replace(found, redacted=count) if count else found


def _storable(name: str) -> str:
    """An id as facts can hold it: half of a surrogate pair is spelled out; the original keeps it as it was."""
    return name.encode("utf-8", "backslashreplace").decode()


def preamble_parts(system: Any, tools: Any) -> tuple[str | None, tuple[JSON, ...] | None]:
    """A caller's system prompt and tool schemas, when they can be sent.

    Raises InputError ``bad_system``, ``bad_tools``.
    """
    if system is not None:
        if not isinstance(system, str):
            raise InputError(f"the system prompt must be text, not {type(system).__name__}", code="bad_system")
        try:
            system.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"the system prompt holds half a surrogate pair at character {error.start}; remove it",
                code="bad_system",
            ) from error
    if tools is None:
        return system, None
    if not isinstance(tools, (list, tuple)) or not all(isinstance(tool, dict) for tool in tools):
        raise InputError("tools must be a list of schemas, each a dictionary", code="bad_tools")
    try:
        json.dumps(tools, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the tool schemas are no JSON that can be sent: {error}", code="bad_tools") from error
    return system, tuple(tools)


def encode(
    source: JSON, form: Form, *, bytes_max: int, trust: Trust | None = None, counter: Counter = ESTIMATE
) -> Source:
    """Encodes an original of a known form so that it comes back equal."""
    data, encoding = _exact(source)
    if len(data) > bytes_max:
        raise MessageError(
            f"the message has {len(data):,} bytes, more than message_bytes_max ({bytes_max:,}); raise the setting or "
            "store the payload elsewhere and record a reference",
            code="message_too_large",
            size=len(data),
        )
    seen = view(form, source)
    if trust is None:
        trust = _ROLE_TRUST.get(seen.role, "model")
        if seen.role == "user" and any(isinstance(part, ToolResult) for part in seen.parts):
            trust = "tool"
    # A transcript's rows hold much that no model is shown: only what they say is counted.
    own = form in ("openai", "anthropic")
    tokens = count_source(source, counter.count) if own else count_message(seen.parts, counter.count)
    return Source(form, seen, b'{"source":' + data + b"}", encoding, tokens, counter.name, trust)


def decode(payload: bytes, encoding: str) -> JSON:
    """The original out of a payload, equal to what was given."""
    loads = orjson.loads if encoding == "orjson" else json.loads
    return loads(payload)["source"]


def _plain(message: Any) -> dict[str, Any]:
    if isinstance(message, dict):
        return message
    dump = getattr(message, "model_dump", None)
    if callable(dump):
        found = dump(mode="json", exclude_unset=True)
        if isinstance(found, dict):
            return found
    raise MessageError(
        "a message is a dictionary in OpenAI chat, OpenAI Responses or Anthropic form, "
        f"not {type(message).__name__}; pass the dictionary",
        code="bad_message",
    )


def _exact(source: JSON) -> tuple[bytes, Literal["orjson", "json"]]:
    try:
        data = orjson.dumps(source)
        # orjson writes NaN as null and takes no integer beyond 64 bits: only what comes back equal is kept so.
        if orjson.loads(data) == source:
            return data, "orjson"
    except (TypeError, orjson.JSONDecodeError, RecursionError):
        pass
    try:
        data = json.dumps(source, allow_nan=False, separators=(",", ":")).encode()
        same = json.loads(data) == source
    except RecursionError as error:
        raise MessageError(
            "the message is nested too deeply to be JSON; flatten it", code="message_too_deep"
        ) from error
    except (TypeError, ValueError) as error:
        raise MessageError(f"the message is not JSON: {error}; convert it first", code="bad_message") from error
    if not same:
        raise MessageError(
            "the message would not come back equal (tuples, sets or keys that are not strings?); "
            "use lists, and strings as keys",
            code="bad_message",
        )
    return data, "json"
