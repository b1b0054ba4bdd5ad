"""The compaction policy as a value: every number that decides what a context shows (C1-C5, C10).

A policy is frozen and has a name. The name is written on every event that the policy decided, so that a
later version of the code (with another policy) shows the same past (C11).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from hashlib import sha256

from .tokens import ESTIMATE, Counter

POLICY = "policy-2"


@dataclass(frozen=True, slots=True)
class ToolHint:
    """What a reduction should know about the results of one tool; ``tool`` is its name, ``*`` stands for any text."""

    tool: str
    keep: bool = False
    """Shown whole for as long as the request can be made to fit by anything else."""
    result_chars_long: int | None = None
    """In place of the policy's."""
    arguments: tuple[str, ...] = ()
    """Arguments that tell what a call was about, named before the usual ones."""


NO_HINT = ToolHint("*")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is long, what stays, and what must fit; sizes in tokens unless the name says characters.

    ``window``, ``reserve`` and ``trigger`` come from the settings; ``trigger`` is counted with the reserve
    (C1). All else has a default with its reason.
    """

    window: int
    reserve: int
    trigger: int
    name: str = POLICY
    enabled: bool = True
    protect_first: int = 3
    protect_recent: int = 8
    messages_max: int = 2_000
    """The OpenAI chat API answers 400 to more than 2,048; what is over is for system prompt and synthetic results."""
    summary_tokens_max: int = 4_000
    summary_share_max: float = 0.125
    """Of the window: a summary that fills half a small window would call for the next one at once."""
    summarizer_input_tokens: int = 60_000
    """Material of one summariser call; more is folded in chunks (C2)."""

    range_tokens_min: int = 160
    """A smaller range is not worth a summary: its frame and headings alone take about so much."""
    gain_share_min: float = 0.08
    """Share of the window that a change must promise while the request still fits: each change breaks the
    provider's prompt cache, and a range of one message a turn would mean a summary a turn."""
    gain_share_again: float = 0.15
    """The same once a summary is live: it is written anew with each, and at 0.08 a window of 4,000 tokens was
    summarised every other request, one of 6,000 every third (measured)."""
    gain_share_above: float = 0.25
    """The same for a later summary that leaves the request above the trigger, where the next is due at once."""
    crowded_share: float = 0.15
    """Of the window: when what is protected leaves less room, the window is too small and that is said (C10)."""
    growth_share: float = 0.10
    """After failures the summariser is tried again when the request has grown by this share (C10)."""
    attempts_max: int = 2
    """Failures after which the summariser rests (C10)."""

    result_chars_long: int = 2_000
    """A longer tool result becomes a placeholder (C3)."""
    result_chars_tight: int = 600
    """The same inside protected content, when nothing else makes the request fit (C8)."""
    argument_chars_long: int = 500
    """Longer call arguments are cut inside their JSON (C3)."""
    argument_string_chars: int = 200
    """What stays of one string inside such arguments."""
    argument_items_max: int = 20
    """What stays of one list or object inside such arguments."""
    duplicate_chars_min: int = 200
    """Identical results of at least this length collapse to a reference."""
    placeholder_argument_chars: int = 500
    """Important arguments in a placeholder, together (C3)."""
    placeholder_overview_chars: int = 700
    """First and last lines, or JSON keys, in a placeholder."""
    tool_hints: tuple[ToolHint, ...] = ()
    """Per tool; the first that matches counts (C3)."""
    counter: Counter = ESTIMATE
    """Counts what a decision makes: reduced messages, summaries, and the bound of a summary (M5)."""

    @property
    def limit(self) -> int:
        """The largest request that fits: the window less the reserve for the answer (C1)."""
        return self.window - self.reserve

    def hint(self, tool: str) -> ToolHint:
        """What is known about the results of ``tool``."""
        return next((hint for hint in self.tool_hints if fnmatchcase(tool, hint.tool)), NO_HINT)

    def fits(self, tokens: int) -> bool:
        """True when a request of ``tokens`` leaves the reserve free."""
        return tokens <= self.limit

    def triggered(self, tokens: int) -> bool:
        """True when a request of ``tokens``, with the reserve, has reached the trigger (C1)."""
        return tokens + self.reserve >= self.trigger

    @property
    def summary_tokens(self) -> int:
        """The bound of a summary under this window."""
        return min(self.summary_tokens_max, max(200, int(self.window * self.summary_share_max)))

    @property
    def gain_tokens_min(self) -> int:
        """What a change must promise to be made while the request still fits."""
        return int(self.window * self.gain_share_min)

    def gain_tokens(self, after: int, *, again: bool) -> int:
        """What a change must promise that leaves ``after`` tokens, ``again`` when a summary is live already."""
        if not again:
            return self.gain_tokens_min
        return int(self.window * (self.gain_share_above if self.triggered(after) else self.gain_share_again))

    def digest(self, summarizer: str = "") -> str:
        """Names these settings together with the summariser; another digest ends the rest after failures (C10)."""
        numbers = tuple(getattr(self, item.name) for item in fields(self) if item.name != "counter")
        who = summarizer if self.counter.name == ESTIMATE.name else f"{summarizer}, {self.counter.name}"
        return sha256(repr((numbers, who)).encode()).hexdigest()[:16]
