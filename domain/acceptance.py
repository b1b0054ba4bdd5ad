"""From a planned summary to what is committed: the requests for the summariser, and the verdict on its answer.

Nothing here changes anything: an answer is either ``Accepted`` with all fields of the event that commits it, or
``Rejected`` with stable reasons, and then the context stays as it is, byte for byte (C5, C6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from .catalogue import CompactionCommitted, Usage
from .context import Shown, SummaryShown, Visible
from .decisions import Reduction, Summarise
from .events import encode_payload
from .message import Message
from .parts import parts_to_json
from .policy import Policy
from .relief import last_reductions, with_reductions
from .structured import recorded
from .summary import Completion, Segment, Summary, SummaryRequest, body_of, frame, parse, render
from .summary_checks import InjectionCheck, completion_of, validate
from .summary_request import build, chunks, earlier_summary, required
from .summary_safety import reads_as_instruction, redact_credentials
from .tokens import ESTIMATE, Counter, count_text

Redact: TypeAlias = Callable[[str], tuple[str, int]]
"""Replaces credentials in a text and says how many (``summary_safety``)."""

REFUSED_CHARS_MAX = 200_000
"""Of a refused text this much is kept in the event of the refusal."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan ready for a summariser: its chunks, and what must be represented.

    Ask in order: ``request(0, None)``, then ``request(n, body)`` with the body that was read from the answer
    before (``read``); the answer to the last one goes to ``accept``.
    """

    plan: Summarise
    chunks: tuple[tuple[Message, ...], ...]
    required: tuple[Segment, ...]
    unlisted: tuple[int, ...]
    counter: Counter = ESTIMATE

    def __len__(self) -> int:
        return len(self.chunks)

    def request(self, number: int, so_far: str | None = None) -> SummaryRequest:
        """The request for chunk ``number`` (from 0); ``so_far`` is the body that covers the chunks before it."""
        earlier = body_of(self.plan.earlier.text) if self.plan.earlier and number == 0 else so_far
        return build(
            self.plan.covered,
            chunk=self.chunks[number],
            chunk_number=number + 1,
            chunk_count=len(self.chunks),
            earlier=earlier,
            must=self.required,
            unlisted=self.unlisted,
            tokens_max=self.plan.tokens_max,
            tokens_replaced=self.plan.tokens_replaced,
            counter=self.counter,
        )


@dataclass(frozen=True, slots=True)
class Accepted:
    """A summary that may be committed: its text as it is shown, and every number of the event."""

    plan: Summarise
    text: str
    body: str
    redacted: int
    summarizer: str
    policy: str
    summary_tokens: int
    tokens_after: int
    reductions: tuple[Reduction, ...]
    usage: Usage
    asked: Mapping[str, str] = field(default_factory=dict)

    def visible(self, compaction: str) -> Visible:
        """What the context shows once it is committed: the summary at the place of the first message it covers (C7)."""
        plan = self.plan
        summary = SummaryShown(plan.anchor, compaction, self.text, plan.covers, self.summary_tokens, plan.trust)
        kept = with_reductions(plan.kept, self.reductions)
        before = tuple(item for item in kept if _position(item) < plan.anchor)
        return (*before, summary, *kept[len(before) :])

    def event(self, compaction: str) -> CompactionCommitted:
        """The event that commits it, without its envelope; its payload holds what is shown from here on."""
        plan = self.plan
        event = CompactionCommitted(
            compaction=compaction,
            covers=plan.covers,
            anchor=plan.anchor,
            upto=plan.upto,
            supersedes=plan.supersedes,
            range_digest=plan.range_digest,
            policy=self.policy,
            summarizer=self.summarizer,
            summary_tokens=self.summary_tokens,
            tokens_before=plan.tokens_before,
            tokens_after=self.tokens_after,
            reductions=tuple(reduction.fact for reduction in self.reductions),
            usage=self.usage,
            trust=plan.trust,
        )
        shown = {r.message.id: {"parts": parts_to_json(r.parts)} for r in self.reductions}
        event.__dict__["payload"] = encode_payload({"summary": self.text, "reductions": shown, **recorded(self.asked)})
        return event


def _position(item: Shown | SummaryShown) -> int:
    return item.message.position if isinstance(item, Shown) else item.position


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that changes nothing: why, and the text that was refused, credentials redacted."""

    reasons: tuple[str, ...]
    text: str
    usage: Usage
    asked: Mapping[str, str] = field(default_factory=dict)


def prepare(plan: Summarise, policy: Policy, *, whole: bool = False) -> Prepared:
    """The chunks and required segments of ``plan``; ``whole``: the summariser reads a range of any size (C2)."""
    earlier = earlier_summary(plan.earlier.text if plan.earlier else None)
    must, unlisted = required(plan.covered, earlier, plan.tokens_max, policy.counter)
    limit = None if whole else policy.summarizer_input_tokens
    return Prepared(plan, chunks(plan.covered, limit), must, unlisted, policy.counter)


def read(
    answer: Any,
    request: SummaryRequest,
    *,
    redact: Redact = redact_credentials,
    injection: InjectionCheck = reads_as_instruction,
) -> tuple[str, int, Completion] | Rejected:
    """The canonical body of an answer, the number of credentials redacted in it, the answer; or why it is refused."""
    completion = completion_of(answer)
    if completion is None:
        usage = answer.usage if isinstance(answer, Completion) else Usage()
        return Rejected(("not_text",), f"(an answer of type {type(answer).__name__})", usage)
    if len(completion.text) > REFUSED_CHARS_MAX:
        # Too long for any bound: refused before redaction reads a megabyte.
        reasons = validate(completion, request, injection=injection) or ("too_long",)
        return Rejected(reasons, redact(completion.text[:REFUSED_CHARS_MAX])[0], completion.usage, completion.asked)
    text, redacted = redact(completion.text)
    clean = replace(completion, text=text)
    reasons = validate(clean, request, injection=injection)
    summary = parse(text)
    if reasons or not isinstance(summary, Summary):
        return Rejected(reasons or ("section_missing",), text, completion.usage, completion.asked)
    return render(summary), redacted, clean


def accept(
    prepared: Prepared,
    request: SummaryRequest,
    answer: Any,
    *,
    policy: Policy,
    summarizer: str,
    extracted: bool = False,
    redact: Redact = redact_credentials,
    injection: InjectionCheck = reads_as_instruction,
) -> Accepted | Rejected:
    """The verdict on the answer to the last ``request`` (C5): the sizes are counted anew on what would be shown.

    Adds the reductions inside protected content without which the request would not fit (C8); when even they
    do not suffice the reason is ``does_not_fit``.
    """
    plan = prepared.plan
    found = read(answer, request, redact=redact, injection=injection)
    if isinstance(found, Rejected):
        return found
    body, redacted, completion = found
    text = frame(
        body,
        covered=len(plan.covers),
        first=plan.anchor,
        last=plan.upto,
        session=plan.session,
        summarizer=summarizer,
        extracted=extracted,
    )
    tokens = count_text(text, policy.counter.count)
    if tokens >= plan.tokens_replaced:
        return Rejected(("not_smaller",), body, completion.usage, completion.asked)
    after = plan.tokens_before - plan.tokens_hidden + tokens
    made: tuple[Reduction, ...] = ()
    if not policy.fits(after):
        kept = tuple(item for item in plan.kept if isinstance(item, Shown))
        made = last_reductions(kept, policy, plan.session, enough=after - policy.limit)
        after -= sum([reduction.saved for reduction in made])
        if not policy.fits(after):
            return Rejected(("does_not_fit",), body, completion.usage, completion.asked)
    spent, asked = completion.usage, completion.asked
    return Accepted(plan, text, body, redacted, summarizer, policy.name, tokens, after, made, spent, asked)
