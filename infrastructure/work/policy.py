"""The compaction policy that settings give."""

from __future__ import annotations

from ...domain.policy import Policy
from ...domain.tokens import ESTIMATE, Counter
from ..settings import Settings


def policy_of(settings: Settings, window: int | None = None, *, counter: Counter = ESTIMATE) -> Policy:
    """The policy that settings give, perhaps for another window; ``counter`` counts what it decides."""
    if window is not None:
        reserve = settings.answer_reserve
        if reserve is not None and reserve >= window:
            reserve = None
        settings = settings.model_copy(update={"context_window": window, "answer_reserve": reserve})
    return Policy(
        window=settings.context_window,
        reserve=settings.reserve,
        trigger=settings.trigger,
        enabled=settings.compaction_enabled,
        protect_first=settings.protect_first,
        protect_recent=settings.protect_recent,
        summary_tokens_max=settings.summary_tokens_max,
        summarizer_input_tokens=settings.summarizer_input_tokens,
        tool_hints=settings.tool_hints,
        counter=counter,
    )
