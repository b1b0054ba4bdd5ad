"""A caller's message becomes a MessageRecorded event: kept verbatim, in its own form, counted once (M1, M5)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from ...domain.errors import MessageError
from ...domain.forms import guess, view
from ...domain.message import JSON, Form, ToolCall, ToolResult, Trust, View
from ...domain.redaction import redact_message
from ...domain.tokens import count_message, count_source

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_ROLE_TRUST: dict[str, Trust] = {"system": "operator", "user": "user", "assistant": "model", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Source:
    """An original, encoded for the log: ``payload`` is ``{"source": ...}`` as JSON bytes."""

    form: Form
    view: View
    payload: bytes
    encoding: Literal["orjson", "json"]
    tokens: int
    trust: Trust
    redacted: int = 0

    @property
    def calls(self) -> tuple[str, ...]:
        return tuple(part.id for part in self.view.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[str, ...]:
        return tuple(part.call_id for part in self.view.parts if isinstance(part, ToolResult))


def from_caller(message: Any, *, bytes_max: int, redact: bool = False) -> Source:
    """A message given in Python: an OpenAI or Anthropic dictionary, or an SDK object with ``model_dump``.

    ``redact`` takes credentials out before anything is stored (``redact_messages``).
    Raises MessageError ``bad_message``, ``message_too_large`` or ``message_too_deep``.
    """
    source = _plain(message)
    role = source.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise MessageError(
            f"a message needs a 'role' out of {', '.join(sorted(ROLES))}; this one has {role!r}", code="bad_message"
        )
    if "content" not in source and not source.get("tool_calls"):
        raise MessageError("a message needs 'content' (or 'tool_calls'); add it", code="bad_message")
    count = 0
    if redact:
        source, count = redact_message(source)
    found = encode(source, guess(source), bytes_max=bytes_max)
    return replace(found, redacted=count) if count else found


def encode(source: JSON, form: Form, *, bytes_max: int, trust: Trust | None = None) -> Source:
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
    tokens = count_source(source) if form in ("openai", "anthropic") else count_message(seen.parts)
    return Source(form, seen, b'{"source":' + data + b"}", encoding, tokens, trust)


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
        f"a message is a dictionary in OpenAI or Anthropic form, not {type(message).__name__}; pass the dictionary",
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
