"""What a provider reports about a call, from whatever shape it comes in (M5, D10)."""

from __future__ import annotations

from typing import Any

from .catalogue import Usage
from .errors import InputError

TOKENS_MAX = 2**50
"""More than any provider will report, and small enough to be added up for ever."""


def usage_of(usage: Any) -> Usage | None:
    """Usage out of a dictionary or an SDK object, in OpenAI's or Anthropic's names. Raises InputError ``bad_usage``."""
    if usage is None:
        return None

    def take(*names: str) -> int:
        for name in names:
            value = usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                if value > TOKENS_MAX:
                    raise InputError(
                        f"{name} is beyond {TOKENS_MAX:,} tokens, which no provider reports; correct it",
                        code="bad_usage",
                    )
                return value
        return 0

    return Usage(
        input_tokens=take("input_tokens", "prompt_tokens"), output_tokens=take("output_tokens", "completion_tokens")
    )
