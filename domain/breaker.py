"""When a summariser that keeps failing is asked again, and when it rests (C10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .policy import Policy


@dataclass(frozen=True, slots=True)
class Attempt:
    """A compaction that came to nothing: under which settings (``Policy.digest``) and at which request size."""

    settings: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Rest:
    """The summariser is not asked: it failed ``failures`` times; ``until`` is the request size that ends the rest."""

    failures: int
    until: int

    def __str__(self) -> str:
        return f"failed {self.failures} times; tried again at {self.until:,} tokens, or when a setting changes"


def rest(failed: Sequence[Attempt], *, settings: str, tokens: int, policy: Policy) -> Rest | None:
    """Whether the summariser rests after these failures since the last success, oldest first (C10).

    None: it may be asked. Twenty calls at about one size ask it twice; growth or another setting asks again.
    """
    grown = 1 + policy.growth_share
    near = sorted(a.tokens for a in failed if a.settings == settings and tokens < a.tokens * grown)
    if len(near) < policy.attempts_max:
        return None
    return Rest(len(near), int(near[len(near) - policy.attempts_max] * grown) + 1)
