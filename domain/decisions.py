"""What can be decided about a context: it fits, is reduced, is summarised, or cannot be made (C1, C2, C8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .catalogue import ReductionFact
from .context import Shown, SummaryShown
from .errors import CompactionNeeded, ContextWindowExceeded
from .message import Message, Part, Trust
from .policy import Policy
from .summary_checks import FRAME_TOKENS


@dataclass(frozen=True, slots=True)
class Reduction:
    """One message shown shorter: the parts that are shown, and what that saves."""

    message: Message
    parts: tuple[Part, ...]
    tokens_before: int
    tokens_after: int

    @property
    def fact(self) -> ReductionFact:
        return ReductionFact(
            message=self.message.id,
            position=self.message.position,
            tokens_before=self.tokens_before,
            tokens_after=self.tokens_after,
        )

    @property
    def saved(self) -> int:
        return self.tokens_before - self.tokens_after


@dataclass(frozen=True, slots=True)
class Fits:
    """Nothing changes; ``reason`` tells why nothing is done although the trigger is reached.

    ``crowded``: what is protected leaves so little room that summaries will come thick and fast (C10).
    """

    tokens: int
    reason: str = ""
    crowded: bool = False


@dataclass(frozen=True, slots=True)
class Reduce:
    """These messages are shown shorter; no summary. ``last_resort``: also inside what is protected (C8)."""

    reductions: tuple[Reduction, ...]
    tokens_before: int
    tokens_after: int
    last_resort: bool = False


@dataclass(frozen=True, slots=True)
class Summarise:
    """A summary is to stand for ``covered`` and for what ``earlier`` covers already (C2, C7).

    ``kept`` is what stays, as shown now; ``tokens_replaced`` what a summary must be smaller than (payloads
    counted as reduced); ``tokens_max`` its bound. When the attempt fails: ``fits_unchanged`` says whether the
    context fits as it is, ``fits_reduced`` whether it would with ``reductions`` alone (C1, C5).
    """

    covered: tuple[Message, ...]
    earlier: SummaryShown | None
    kept: tuple[Shown | SummaryShown, ...]
    covers: tuple[str, ...]
    anchor: int
    upto: int
    supersedes: str | None
    range_digest: str
    trust: Trust
    tokens_before: int
    tokens_hidden: int
    tokens_replaced: int
    tokens_max: int
    fits_unchanged: bool
    reductions: tuple[Reduction, ...]
    fits_reduced: bool
    session: str

    @property
    def tokens_after_most(self) -> int:
        """The request after a summary of the largest allowed size: what a dry run shows (C11)."""
        return self.tokens_before - self.tokens_hidden + self.tokens_max + FRAME_TOKENS


@dataclass(frozen=True, slots=True)
class Refuse:
    """The request cannot be made to fit (C8): its sizes in tokens, and what is protected, by reason.

    ``protected_tokens`` is what has to stay: system prompt, memory, tools, protected messages with their payloads
    reduced, and ``summary_tokens`` for the smallest summary of the rest.
    """

    tokens: int
    window: int
    reserve: int
    preamble_tokens: int
    protected_tokens: int
    summary_tokens: int
    protected: dict[str, tuple[str, ...]]
    compaction_off: bool = False

    def error(self) -> ContextWindowExceeded:
        """The error for the caller; nothing was changed."""
        mend = (
            "raise context_window"
            if not self.compaction_off
            else "switch compaction_enabled on, or raise context_window"
        )
        kinds = ", ".join(f"{len(ids)} {reason.replace('_', ' ')}" for reason, ids in self.protected.items())
        return ContextWindowExceeded(
            f"the request takes {self.tokens:,} tokens and {self.window - self.reserve:,} fit (window "
            f"{self.window:,} less {self.reserve:,} for the answer); protected are {self.protected_tokens:,} tokens "
            f"(system prompt, memory and tools {self.preamble_tokens:,}; messages: {kinds or 'none'}; the smallest "
            f"summary of the rest {self.summary_tokens:,}); {mend}, "
            "lower protect_first or protect_recent, or shorten what the run holds",
            tokens=self.tokens,
            window=self.window,
            reserve=self.reserve,
            protected_tokens=self.protected_tokens,
            preamble_tokens=self.preamble_tokens,
            summary_tokens=self.summary_tokens,
            protected={reason: list(ids) for reason, ids in self.protected.items()},
        )


Decision: TypeAlias = Fits | Reduce | Summarise | Refuse


def needed(tokens: int, policy: Policy) -> CompactionNeeded:
    """The error of a reader, who may not compact (C8)."""
    return CompactionNeeded(
        f"the context takes {tokens:,} tokens and {policy.limit:,} fit; run 'minutebook compact', or ask in a run",
        tokens=tokens,
        window=policy.window,
        reserve=policy.reserve,
    )
