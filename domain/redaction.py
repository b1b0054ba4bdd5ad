"""Credentials taken out of a whole message before it is stored, its structure and ids untouched (issue 4, D4).

Off by default: originals are kept complete for ever (M1), and this setting is the one exception that a person chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .checks.credentials import redact_credentials, secrets
from .message import JSON

Redact: TypeAlias = Callable[[str], tuple[str, int]]
"""Takes the credentials out of a text and says how many there were."""

NAMES = frozenset(
    {"id", "type", "role", "name", "model", "tool_call_id", "tool_use_id", "call_id", "signature", "media_type", "uuid",
     "parentUuid", "sessionId", "timestamp", "requestId", "thoughtSignature", "encrypted_content"}
)  # fmt: skip
"""Keys whose values tie messages together or are signed: a provider would refuse the message without them."""
MEDIA_CHARS = 2_000
"""A longer value without any space is an image or a sound in base64, not a text that somebody wrote."""
DEPTH_MAX = 200
"""What is nested deeper is left as it is; the recorder has limits of its own."""


def redact_message(source: JSON, redact: Redact = redact_credentials) -> tuple[JSON, int]:
    """The message with every credential replaced by ``[redacted:kind]``, and how many; the very object when none is.

    Strings are read one by one, those beside a telling key (``{"password": ...}``) together with it.
    """
    return _value(source, "", 0, redact)


def _value(value: JSON, key: str, depth: int, redact: Redact) -> tuple[JSON, int]:
    if isinstance(value, str):
        return (value, 0) if key in NAMES or _is_media(value) else _text(value, key, redact)
    if depth >= DEPTH_MAX:
        return value, 0
    if isinstance(value, dict):
        pairs = {
            name: _value(inner, name if isinstance(name, str) else "", depth + 1, redact)
            for name, inner in value.items()
        }
        total = sum(count for _, count in pairs.values())
        return ({name: inner for name, (inner, _) in pairs.items()}, total) if total else (value, 0)
    if isinstance(value, list):
        items = [_value(inner, key, depth + 1, redact) for inner in value]
        total = sum(count for _, count in items)
        return ([inner for inner, _ in items], total) if total else (value, 0)
    return value, 0


def _is_media(text: str) -> bool:
    return text.startswith("data:") or (len(text) > MEDIA_CHARS and not any(map(str.isspace, text[:MEDIA_CHARS])))


def _text(text: str, key: str, redact: Redact) -> tuple[str, int]:
    redacted, count = redact(text)
    if count or not key or len(text) > 200:
        return redacted, count
    # The name of a field says what a short value alone does not.
    lead = f'{key}="'
    for secret in secrets(f'{lead}{text}"'):
        if secret.start >= len(lead):
            start, stop = secret.start - len(lead), min(secret.stop - len(lead), len(text))
            return f"{text[:start]}[redacted:{secret.kind}]{text[stop:]}", 1
    return text, 0
