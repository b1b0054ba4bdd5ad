"""What a provider reports about a call, from whatever shape it comes in (M5, D10)."""

from __future__ import annotations

from typing import Any

from .catalogue import Usage
from .errors import InputError

TOKENS_MAX = 2**50
"""More than any provider will report, and small enough to be added up for ever."""

ANTHROPIC_CACHE = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Beside ``input_tokens``, never part of it. A proxy may carry them beside ``prompt_tokens``, which has them in it."""


def usage_of(usage: Any) -> Usage | None:
    """Usage out of a dictionary or an SDK object, in OpenAI's or Anthropic's names; None where it has neither.

    Anthropic counts what its cache took or gave apart from ``input_tokens``, OpenAI within it: the answer is the
    whole request. Raises InputError ``bad_usage``.
    """
    if usage is None:
        return None

    def take(*names: str) -> int | None:
        for name in names:
            value = usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                if value > TOKENS_MAX:
                    raise InputError(
                        f"{name} is beyond {TOKENS_MAX:,} tokens, which no provider reports; correct it",
                        code="bad_usage",
                    )
                return value
        return None

    taken, given = take("prompt_tokens"), take("output_tokens", "completion_tokens")
    if taken is None and (taken := take("input_tokens")) is not None:
        taken += sum([take(name) or 0 for name in ANTHROPIC_CACHE])
    if taken is None and given is None:
        return None
    return Usage(input_tokens=taken or 0, output_tokens=given or 0)
