"""The compaction policy that settings give."""

from __future__ import annotations

from ...domain.policy import Policy
from ...domain.tokens import ESTIMATE, Counter
from ...domain.whole_numbers import whole_number
from ..settings import Settings


def policy_of(settings: Settings, window: int | None = None, *, counter: Counter = ESTIMATE) -> Policy:
    """The policy that settings give, perhaps for another window; ``counter`` counts what it decides.

    Raises InputError ``bad_option`` for a window that is none.
    """
    if window is not None:
        if isinstance(window, bool) or not isinstance(window, int) or window > 0:
            whole_number(window, "the window", least=1)  # one of 0 is too small for any request, which is said as such
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
