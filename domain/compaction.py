"""When a context is reduced or summarised, what is hidden, and what may be committed: pure decisions (C1, C2, C8).

``decide`` says what a request needs: nothing (``Fits``), shorter payloads (``Reduce``), a summary
(``Summarise``) or that it cannot be made (``Refuse``). The caller then asks a summariser (``prepare``) and
brings its answer to ``accept``, which names what is committed or why nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256

from .acceptance import Accepted, Prepared, Rejected, accept, prepare
from .breaker import Attempt, Rest, rest
from .context import Shown, SummaryShown, Visible
from .decisions import Decision, Fits, Reduce, Reduction, Refuse, Summarise, needed
from .message import Message, lowest_trust
from .policy import Policy
from .relief import last_reductions, reductions, with_reductions
from .summary_checks import FRAME_TOKENS
from .units import protected

__all__ = [
    "Accepted", "Attempt", "Decision", "Fits", "Policy", "Prepared", "Reduce", "Reduction", "Refuse", "Rejected",
    "Rest", "Summarise", "accept", "decide", "needed", "prepare", "range_digest", "rest",
]  # fmt: skip

BODY_TOKENS_MIN = 130
"""The nine headings and a few words: no summary is shorter."""


def decide(
    visible: Visible,
    preamble_tokens: int,
    policy: Policy,
    open_run: str | None = None,
    *,
    session: str = "-",
    reported: int | None = None,
    suspended: bool = False,
    force: bool = False,
    supersedes: str | None = None,
) -> Decision:
    """What the next request needs (C1, C2, C8).

    ``visible`` is what it would show, each with its tokens; ``preamble_tokens`` counts system prompt, memory
    and tools. ``reported`` is the size of this request in the provider's own count, where known: it is
    preferred (M5), but where it alone says that nothing can fit, the count decides. ``suspended``: after an undo
    nothing is done while the request fits (C7). ``force``: an explicit compaction goes past the trigger and past
    what little it may gain. ``supersedes`` names the compaction whose originals stand in ``visible`` again, to be
    compacted anew (C7).
    """
    tokens = preamble_tokens + sum([item.tokens for item in visible]) if reported is None else reported
    fits = policy.fits(tokens)
    many = sum([_messages(item) for item in visible]) > policy.messages_max
    if not force and fits:
        if not policy.triggered(tokens) and not many:
            return Fits(tokens)
        if suspended or not policy.enabled:
            return Fits(tokens, "suspended by an undo" if policy.enabled else "compaction is switched off")
    table = _Table(visible, preamble_tokens, tokens, policy, open_run, session)
    # A summary helps against too many messages only where what is protected is not too many by itself.
    many = many and sum([_messages(table.shown[index]) for index in table.protection.indices]) < policy.messages_max
    force = force or (many and policy.enabled)
    if not (policy.enabled or force):
        return replace(table.refuse(()), compaction_off=True)
    gain = policy.gain_tokens(tokens - table.hidden_tokens, again=table.earlier is not None)
    if fits and not force and table.hidden_tokens < policy.gain_tokens_min:
        return table.too_little()  # the usual answer just after a compaction: kept cheap
    saved = sum([reduction.saved for reduction in table.reductions])
    after = tokens - saved
    reduced = Reduce(table.reductions, tokens, after)
    if table.reductions and not force and policy.fits(after) and not policy.triggered(after):
        return reduced
    plan = table.plan(supersedes)
    if fits and not force and plan is not None and table.new_tokens < gain:
        plan = None
    if plan is not None:
        return plan
    if fits:
        return reduced if saved >= policy.gain_tokens_min else table.too_little()
    if table.reductions and policy.fits(after):
        return reduced
    last = table.last_resort()
    if isinstance(last, Refuse) and reported is not None and policy.fits(table.counted):
        # Nobody can ask again, and so nobody could ever report another count: a wrong one would end the session.
        return Fits(table.counted, _disputed(tokens, table.counted), crowded=True)
    return last


def _messages(item: Shown | SummaryShown) -> int:
    """Messages of the OpenAI chat API, where each result is one of its own."""
    if isinstance(item, SummaryShown):
        return 1
    results = len(item.message.results)
    return results + (len(item.message.parts) > results or not results)


def _disputed(reported: int, counted: int) -> str:
    return (
        f"the reported usage comes to {reported:,} tokens, which do not fit, and {counted:,} are counted, which do: "
        "the count is taken; give append() the usage of one call, not a running total, or raise context_window"
    )


def range_digest(covered: Sequence[Message], supersedes: str | None) -> str:
    """Names exactly what a compaction hides: the fence of its commit (C6)."""
    lines = [f"supersedes {supersedes or '-'}", *(f"{message.position} {message.id}" for message in covered)]
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


class _Table:
    """The visible messages of one decision with what protects them: everything that the branches share."""

    def __init__(
        self, visible: Visible, preamble: int, tokens: int, policy: Policy, open_run: str | None, session: str
    ) -> None:
        self.visible = visible
        self.preamble = preamble
        self.tokens = tokens
        self.counted = preamble + sum([item.tokens for item in visible])
        self.policy = policy
        self.session = session
        self.shown = [item for item in visible if isinstance(item, Shown)]
        self.messages = [item.message for item in self.shown]
        summaries = [item for item in visible if isinstance(item, SummaryShown)]
        self.earlier = summaries[-1] if summaries else None
        self.protection = protected(
            self.messages, first=policy.protect_first, recent=policy.protect_recent, open_run=open_run
        )
        self.free = [index for index in range(len(self.messages)) if index not in self.protection]
        self.hidden_tokens = sum([self.shown[index].tokens for index in self.free])

    @cached_property
    def reductions(self) -> tuple[Reduction, ...]:
        """What shorter payloads save outside what is protected (C3)."""
        return reductions(self.shown, self.free, self.policy, self.session)

    @property
    def new_tokens(self) -> int:
        """What a summary would hide beside the earlier one, payloads counted as reduced."""
        return self.hidden_tokens - sum([reduction.saved for reduction in self.reductions])

    def too_little(self) -> Fits:
        """Nothing is worth doing; where that is for want of room it is said, with what would help (C10)."""
        policy = self.policy
        held = self.preamble + sum([self.shown[index].tokens for index in self.protection.indices])
        room = policy.limit - held - (self.earlier.tokens if self.earlier else policy.summary_tokens + FRAME_TOKENS)
        if room >= policy.window * policy.crowded_share:
            return Fits(self.tokens, "too little to gain")
        reason = (
            f"too little to gain: the window is too small for what is protected ({held:,} of {policy.limit:,} tokens "
            f"that fit), and a summary makes room for {max(room, 0):,} at most; raise context_window, or lower "
            "protect_recent or protect_first"
        )
        return Fits(self.tokens, reason, crowded=True)

    def plan(self, supersedes: str | None) -> Summarise | None:
        """The summary of everything that is not protected; None when it would not be worth its frame, or not fit."""
        policy, earlier = self.policy, self.earlier
        covered = tuple(self.messages[index] for index in self.free)
        earlier_tokens = earlier.tokens if earlier else 0
        if not covered or self.new_tokens < policy.range_tokens_min:
            return None
        hidden = self.hidden_tokens + earlier_tokens
        replaced = self.new_tokens + earlier_tokens
        hidden_ids = {message.id for message in covered}
        kept = tuple(
            item
            for item in self.visible
            if item is not earlier and not (isinstance(item, Shown) and item.message.id in hidden_ids)
        )
        room = policy.limit - (self.tokens - hidden)
        if room < policy.summary_tokens + FRAME_TOKENS:
            room += sum([r.saved for r in last_reductions(kept, policy, self.session, enough=None)])
        tokens_max = min(policy.summary_tokens, replaced - FRAME_TOKENS - self.new_tokens // 5, room - FRAME_TOKENS)
        if tokens_max < BODY_TOKENS_MIN:
            return None
        stale = earlier.compaction if earlier else supersedes
        saved = sum([reduction.saved for reduction in self.reductions])
        return Summarise(
            covered=covered,
            earlier=earlier,
            kept=kept,
            covers=(*(earlier.covers if earlier else ()), *(message.id for message in covered)),
            anchor=min([covered[0].position, *([earlier.position] if earlier else [])]),
            upto=covered[-1].position,
            supersedes=stale,
            range_digest=range_digest(covered, stale),
            trust=lowest_trust(*{message.trust for message in covered}, *([earlier.trust] if earlier else [])),
            tokens_before=self.tokens,
            tokens_hidden=hidden,
            tokens_replaced=replaced,
            tokens_max=tokens_max,
            fits_unchanged=policy.fits(self.tokens),
            reductions=self.reductions,
            fits_reduced=policy.fits(self.tokens - saved),
            session=self.session,
        )

    def last_resort(self) -> Reduce | Refuse:
        """Payloads inside what is protected, oldest first, the newest answered result last, until it fits (C8)."""
        after = self.tokens - sum([reduction.saved for reduction in self.reductions])
        view = with_reductions(self.visible, self.reductions)
        more = last_reductions(view, self.policy, self.session, enough=after - self.policy.limit)
        left = after - sum([reduction.saved for reduction in more])
        if not self.policy.fits(left):
            return self.refuse(more)
        first = {shown.message.id: shown.tokens for shown in self.shown}
        merged = {reduction.message.id: reduction for reduction in (*self.reductions, *more)}
        done = tuple(replace(reduction, tokens_before=first[name]) for name, reduction in merged.items())
        ordered = tuple(sorted(done, key=lambda reduction: reduction.message.position))
        return Reduce(ordered, self.tokens, left, last_resort=True)

    def refuse(self, possible: Sequence[Reduction]) -> Refuse:
        """Why it cannot be: sizes after the reductions that would have been possible inside what is protected."""
        groups: dict[str, tuple[str, ...]] = {
            str(reason): tuple(self.messages[index].id for index in indices)
            for reason, indices in self.protection.groups().items()
        }
        saved = {reduction.message.id: reduction.saved for reduction in possible}
        held = sum(
            [self.shown[index].tokens - saved.get(self.messages[index].id, 0) for index in self.protection.indices]
        )
        # What is not protected cannot vanish: at the least its smallest summary stays, or itself where it is smaller.
        rest = min(BODY_TOKENS_MIN + FRAME_TOKENS, self.new_tokens + (self.earlier.tokens if self.earlier else 0))
        return Refuse(
            tokens=self.tokens,
            window=self.policy.window,
            reserve=self.policy.reserve,
            preamble_tokens=self.preamble,
            protected_tokens=self.preamble + held + rest,
            summary_tokens=rest,
            protected=groups,
        )
