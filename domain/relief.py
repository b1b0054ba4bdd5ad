"""What shorter payloads would save in what is shown, and in which order they are taken (C3, C8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .context import Shown, Visible
from .decisions import Reduction
from .policy import Policy
from .reduction import newest_results, reduce_counted


def reductions(
    shown: Sequence[Shown], indices: Sequence[int], policy: Policy, session: str, *, tight: bool = False
) -> tuple[Reduction, ...]:
    """The reductions of ``shown`` at ``indices`` that really save tokens, oldest first (C3)."""
    made = reduce_counted(
        [item.message for item in shown],
        indices,
        policy=policy,
        session=session,
        shown={item.message.id: item.parts for item in shown if item.parts is not None},
        tight=tight,
    )
    out = []
    for index in sorted(indices):
        item = shown[index]
        if item.message.id in made:
            parts, after = made[item.message.id]
            if after < item.tokens:
                out.append(Reduction(item.message, parts, item.tokens, after))
    return tuple(out)


def last_reductions(visible: Visible, policy: Policy, session: str, *, enough: int | None) -> tuple[Reduction, ...]:
    """Reductions anywhere in ``visible`` until ``enough`` tokens are saved (None: all there are), one a message.

    Older before newer, usual before tight; the message with the newest answered result comes last of all (C8).
    """
    shown = [item for item in visible if isinstance(item, Shown)]
    newest = newest_results([item.message for item in shown])
    older = [index for index in range(len(shown)) if index != newest]
    saved, chosen = 0, dict[str, Reduction]()
    for indices in (older, [newest] if newest is not None else []):
        for tight in (False, True):
            for reduction in reductions(shown, indices, policy, session, tight=tight):
                if enough is not None and saved >= enough:
                    return tuple(chosen.values())
                before = chosen.get(reduction.message.id)
                if before is None or reduction.tokens_after < before.tokens_after:
                    saved += reduction.saved - (before.saved if before else 0)
                    chosen[reduction.message.id] = reduction
    return tuple(chosen.values())


def with_reductions(visible: Visible, made: Sequence[Reduction]) -> Visible:
    """``visible`` as it is shown with the given reductions."""
    by_id = {reduction.message.id: reduction for reduction in made}
    return tuple(
        replace(item, parts=by_id[item.message.id].parts, tokens=by_id[item.message.id].tokens_after)
        if isinstance(item, Shown) and item.message.id in by_id
        else item
        for item in visible
    )
