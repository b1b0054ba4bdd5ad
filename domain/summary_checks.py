"""Whether a summary may stand for what it covers: a pure function that answers with stable reason codes (C5).

==========================  =============================================================================
reason                      the summary ...
==========================  =============================================================================
``not_text``                is not text at all
``schema_mismatch``         was asked with a schema and does not keep to it
``empty``                   says nothing: blank, only thinking, only a polite opening, headings without items
``truncated``               was cut off: the provider says so, or it ends in the middle
``section_missing``         lacks one of the nine headings
``section_order``           has them out of order, or one twice
``too_long``                is longer than its bound
``not_smaller``             takes, as shown, as many tokens as what it replaces
``raw_payload``             shares a run of 200 characters with a tool argument or result
``injected_instruction``    carries what reads as an instruction to the model and does not come from the user
``unknown_source``          names a source that it does not cover
``foreign``                 names paths, identifiers or words that do not stand in what it covers: of another range
``prompt_echo``             repeats the instructions of the request
``stale_pending``           lists as pending what was cancelled, ticked off, confirmed, or listed as completed too
``coverage_missing``        does not represent a required segment
==========================  =============================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .grounding import holds_name, is_foreign
from .segments import FAILED, sentences
from .settling import is_over, over
from .summary import (
    SECTIONS,
    Completion,
    SectionId,
    Segment,
    Summary,
    SummaryRequest,
    body_of,
    clean,
    headings,
    id_tags,
    parse,
    render,
    tags,
    untagged,
    unwrapped,
)
from .summary_request import RAW_RUN_CHARS, UNLISTED
from .summary_safety import reads_as_instruction
from .words import folded, negated, share, words

InjectionCheck: TypeAlias = Callable[[str], bool]
"""True for a text that reads as an instruction to the model (``summary_safety``)."""

FRAME_TOKENS = 110
"""What the frame adds to a summary, at most about; the exact count is taken when it is accepted."""

CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "content_filter", "error"})
"""Finish reasons of providers that mean an answer is not whole."""

ECHO_CHARS = 100

DECIDED_IN = frozenset({"goal", "constraints", "decisions", "facts"})
"""Sections in which a decision stands in other words."""

SHORT_REQUEST_WORDS = 24
"""Telling words of about 240 characters."""

POINT_WORDS_MIN = 6
"""Telling words that make a sentence of a long request its point; shorter ones are found in any summary."""

RETOLD_SHARE = 0.85
"""Of the telling words of a line in one message of the user: it retells what they said, and is no injection."""


def completion_of(answer: Any) -> Completion | None:
    """What a summariser answered as a Completion; None when it is neither text nor a Completion with text."""
    if isinstance(answer, Completion):
        return answer if isinstance(answer.text, str) else None
    return Completion(answer) if isinstance(answer, str) else None


def validate(
    answer: Any, request: SummaryRequest, *, injection: InjectionCheck = reads_as_instruction
) -> tuple[str, ...]:
    """The reasons why ``answer`` (text or Completion) may not be used; () when it may. Pure, linear, bounded (C5)."""
    completion = completion_of(answer)
    if completion is None:
        return ("not_text",)
    if len(completion.text) > 40 * request.tokens_max + 10_000:
        return ("too_long",)  # nobody reads a megabyte to say more than that
    cut = ("truncated",) if (completion.finish_reason or "").lower() in CUT_OFF else ()
    if completion.mismatch:
        return ("schema_mismatch", *cut)
    body = unwrapped(clean(completion.text))
    summary = parse(body)
    if not isinstance(summary, Summary):
        partial = ("truncated",) if not cut and _breaks_off(body) else ()
        return _unique((*summary, *cut, *partial, *_echoes(body, request)))
    text = render(summary)
    sizes = _sizes(text, request)
    if "too_long" in sizes:
        return _unique((*cut, *sizes, *_echoes(body, request)))  # what is unbounded is not read line by line
    reasons = [
        *cut,
        *_ends(body_of(body)),
        *sizes,
        *(["raw_payload"] if carries_payload(body, summary.lines, request.payloads) else []),
        *_echoes(body, request),
        *_injected(summary, request, injection),
        *_sources(text, request),
        *(["foreign"] if is_foreign(summary, request, without=UNLISTED) else []),
        *_pending(summary, request),
        *(["coverage_missing"] if uncovered(summary, request.required) else []),
    ]
    return _unique(reasons)


def _unique(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


# --- whole -------------------------------------------------------------------------------------------


def _breaks_off(body: str) -> bool:
    """True when the sections present are the first ones: the rest, or half a heading, was never written."""
    order = [section for section, _ in headings(body)]
    return bool(order) and len(order) < len(SECTIONS) and order == [s.id for s in SECTIONS[: len(order)]]


def _ends(body: str) -> tuple[str, ...]:
    """``truncated`` for a text that stops inside a fence, at a bare bullet or heading, or in a phrase."""
    last = body.rstrip().rpartition("\n")[2].strip()
    open_fence = sum(line.startswith("```") for line in body.split("\n")) % 2 == 1
    bare = last in ("-", "*", "•") or last.startswith("#")
    leads_on = last.endswith((",", ":", "(", "[", " and", " or", " the", " -", "→"))
    open_code = last.count("`") % 2 == 1 and not last.endswith((".", "!", "]", ")"))
    return ("truncated",) if open_fence or bare or leads_on or open_code else ()


def _sizes(text: str, request: SummaryRequest) -> tuple[str, ...]:
    tokens = request.counter.count(text)
    too_long = ("too_long",) if tokens > request.tokens_max else ()
    return (*too_long, "not_smaller") if tokens + FRAME_TOKENS >= request.tokens_replaced else too_long


# --- carried over ------------------------------------------------------------------------------------


def shares_run(text: str, sources: Iterable[str], length: int) -> bool:
    """True when ``text`` has a run of ``length`` characters in common with one of ``sources``; linear in their size.

    Any such run holds a whole block of half its length at a multiple of that half in the source, so that only
    those blocks are looked up; around a hit every run that contains it is.
    """
    half = length // 2
    blocks = {text[i : i + half] for i in range(len(text) - half + 1)}
    runs = {text[i : i + length] for i in range(len(text) - length + 1)}
    if not runs:
        return False
    for source in sources:
        for start in range(0, len(source) - half + 1, half):
            if source[start : start + half] in blocks and any(
                source[i : i + length] in runs for i in range(max(start - half, 0), start + 1)
            ):
                return True
    return False


def carries_payload(body: str, lines: Sequence[str], payloads: Sequence[str]) -> bool:
    """Raw payloads as given, or with white space and bullets evened out: a new wrapping hides none."""
    flat = (" ".join(payload.split()) for payload in payloads)
    return shares_run(body, payloads, RAW_RUN_CHARS) or shares_run(" ".join(lines), flat, RAW_RUN_CHARS)


def _echoes(body: str, request: SummaryRequest) -> tuple[str, ...]:
    return ("prompt_echo",) if shares_run(body, (request.instructions,), ECHO_CHARS) else ()


def _injected(summary: Summary, request: SummaryRequest, injection: InjectionCheck) -> tuple[str, ...]:
    """An instruction in the summary is let through only where it quotes, or nearly, what the user said themselves."""
    said = folded(" ".join(s.text for s in request.required if s.kind != "failure"))
    own = [m for m in request.messages if m.role == "user" and m.trust in ("user", "operator")]
    users = folded("\n".join(m.text for m in own))
    told = [frozenset(words(m.said)) for m in own]
    accepted = frozenset((request.earlier or "").split("\n"))  # what was let through once is quoted as it was
    for line in summary.lines:
        if f"- {line}" not in accepted and injection(line):
            quoted = folded(untagged(line)).strip(' "“”«».…')
            wanted = words(untagged(line))
            retold = len(wanted) >= 3 and any(share(wanted, each) >= RETOLD_SHARE for each in told)
            if quoted not in said and quoted not in users and not retold:
                return ("injected_instruction",)
    return ()


def _sources(text: str, request: SummaryRequest) -> tuple[str, ...]:
    known_ids = request.ids | id_tags(request.earlier or "")
    known = tags(text) <= request.positions and id_tags(text) <= known_ids
    return () if known else ("unknown_source",)


def _pending(summary: Summary, request: SummaryRequest) -> tuple[str, ...]:
    """Something cancelled or finished must never read as pending: agents start it again (anchors rank 3)."""
    usual = Counter(summary.lines)  # a phrase in many sections ("nothing to report") is no task
    done = [words(untagged(item)) for item in summary.of("completed") if usual[item] < 3]
    ended = over(request.messages, request.required)
    for item in summary.of("pending"):
        pending = words(untagged(item))
        if len(pending) < 2:
            continue
        repeated = any(len(other) >= 3 and set(other) == set(pending) for other in done)
        if repeated or is_over(item, ended):
            return ("stale_pending",)
    return ()


# --- coverage ----------------------------------------------------------------------------------------


def uncovered(summary: Summary, required: Sequence[Segment]) -> tuple[Segment, ...]:
    """The required segments that ``summary`` does not represent (C5)."""
    lines = [_Line(item, section.id) for section in SECTIONS for item in summary.of(section.id)]
    everything = frozenset(word for line in lines for word in line.words)
    cited = frozenset(position for line in lines for position in line.tags)
    named = frozenset(identity for line in lines for identity in line.ids)
    return tuple(segment for segment in required if not _represented(segment, lines, everything, cited, named))


class _Line:
    __slots__ = ("ids", "negated", "section", "tags", "text", "words")

    def __init__(self, text: str, section: SectionId) -> None:
        self.section = section
        self.text = folded(text)
        self.tags = tags(text)
        self.ids = id_tags(text)
        self.words = frozenset(words(untagged(text)))
        self.negated = negated(text)


def _represented(
    segment: Segment, lines: Sequence[_Line], everything: frozenset[str], cited: frozenset[int], named: frozenset[str]
) -> bool:
    """How each kind is represented.

    A *constraint* needs one line with most of its telling words and its "not" (or fewer of them, with its source
    tag): a pointer alone does not bind an agent. What an *earlier* summary kept needs the same, by its words. A
    *request*, *decision* or *failure* is represented by its tag, or by enough of its telling words; of a long request
    by enough words of all of it, or by one of its sentences, since a person retells its point; of a failure by what
    went wrong alone, whatever the call was. Of the *names* of a range one is enough.
    """
    wanted = words(untagged(segment.text))
    match segment.kind:
        case "constraint" | "earlier":
            strict = segment.section in ("constraints", "decisions") or segment.kind == "constraint"
            if not strict:
                return share(wanted, everything) >= 0.8
            return any(_binds(line, segment, wanted) for line in lines)
        case "request" | "failure" | "decision" | "cancelled":
            if segment.position in cited or segment.id in named:
                return True
            if segment.kind == "request":
                whole = words(untagged(segment.whole)) or wanted
                told = sum(word in everything for word in whole) >= _request_words(len(whole))
                return told or any(_enough(point, lines, 0.6) for point in _points(segment.whole))
            if segment.kind == "failure":
                why = words(untagged(segment.text.partition(FAILED)[2]))
                return _enough(wanted, lines, 0.3) or (len(why) >= 2 and _enough(why, lines, 0.4))
            if segment.kind == "decision":
                # What was done tells what was decided only when it tells nearly all of it.
                telling = [line for line in lines if line.section in DECIDED_IN]
                return _enough(wanted, telling, 0.4) or _enough(wanted, lines, 0.7)
            return _enough(wanted, lines, 0.5)
        case "names":
            return any(holds_name(line.text, segment) for line in lines)


def _binds(line: _Line, segment: Segment, wanted: list[str]) -> bool:
    if folded(untagged(segment.text)).rstrip(".…") in line.text:
        return True
    cites = segment.position in line.tags or segment.id in line.ids
    needed = 0.4 if cites else 0.6
    keeps_not = line.negated or not negated(segment.text)
    return share(wanted, line.words) >= needed and keeps_not and bool(wanted)


def _points(request: str) -> Iterable[list[str]]:
    """The sentences of a long request that say something: one line that carries one of them retells the request."""
    found = (words(sentence) for sentence in sentences(request))
    return (point for point in found if len(point) >= POINT_WORDS_MIN)


def _request_words(count: int) -> int:
    """Of ``count`` telling words so many must be found: a third of a short request, less of what a long one adds."""
    return max(1, math.ceil(0.34 * min(count, SHORT_REQUEST_WORDS) + 0.1 * max(count - SHORT_REQUEST_WORDS, 0)))


def _enough(wanted: list[str], lines: Sequence[_Line], part: float) -> bool:
    needed = max(1, math.ceil(part * len(wanted)))
    return any(sum(word in line.words for word in wanted) >= needed for line in lines)
