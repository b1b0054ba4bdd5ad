"""A summary of covered messages: its fixed sections, how it is read, written and shown (C4).

A summary is Markdown with nine headings in a fixed order, each followed by bullet lines. The engine puts a
frame before it that says it is history and no order, what it stands for, and how to read the originals.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .catalogue import Usage
from .message import Trust
from .tokens import ESTIMATE, Counter
from .usage import usage_of

SectionId: TypeAlias = Literal[
    "goal", "constraints", "decisions", "completed", "state", "pending", "files", "questions", "facts"
]


@dataclass(frozen=True, slots=True)
class Section:
    """One fixed section: its id, title, and what a summariser writes there."""

    id: SectionId
    title: str
    asks: str

    @property
    def heading(self) -> str:
        return f"## {self.title}"


SECTIONS: tuple[Section, ...] = (
    Section("goal", "Goal", "what the user wanted, request by request"),
    Section("constraints", "Constraints and preferences", "what the user demanded or forbade, quoted verbatim"),
    Section("decisions", "Decisions", "what was decided, and why; also what was cancelled"),
    Section("completed", "Completed", "what is finished"),
    Section("state", "State", "how things stood at the end, also what failed"),
    Section("pending", "Pending", "what was open at that time, as a fact and not as an order"),
    Section("files", "Files and identifiers", "paths, names, ids, urls, versions, numbers"),
    Section("questions", "Open questions", "what nobody had answered yet"),
    Section("facts", "Critical facts", "errors, findings and values that later work depends on"),
)
"""In the order in which they stand in every summary."""

HEADINGS: tuple[str, ...] = tuple(section.heading for section in SECTIONS)

NONE = "- none"
"""What stands under a heading that has nothing to say."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A parsed summary: the items of each section, one line each, in order."""

    items: Mapping[SectionId, tuple[str, ...]]

    def of(self, section: SectionId) -> tuple[str, ...]:
        return self.items.get(section, ())

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(item for section in SECTIONS for item in self.of(section.id))


ASKED_CHARS_MAX = 2_500
"""Of each word on how an answer was asked for, in the event."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a summariser or curator answers: text, the tokens it used, and why it stopped.

    ``finish_reason`` is the provider's word: ``length`` and its kin mean that the text was cut off (C5). ``output``
    says how a model was asked (``native``: with a schema, ``tool``: with a tool, ``text``), ``note`` why so, where it
    was not as wished. ``mismatch`` says in what a typed answer does not keep to its schema; such an answer is refused.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    output: str = ""
    note: str = ""
    mismatch: str = ""

    def __post_init__(self) -> None:
        # SDKs give usage as a dictionary or an object of their own, and reasons as enumerations.
        object.__setattr__(self, "usage", usage_of(self.usage) or Usage())
        reason = getattr(self.finish_reason, "value", self.finish_reason)
        object.__setattr__(self, "finish_reason", None if reason is None else str(reason)[:100])

    @property
    def asked(self) -> dict[str, str]:
        """How it was asked, for the record; empty for an author that does not say."""
        said = {"output": self.output, "note": self.note, "mismatch": self.mismatch}
        kept = {name: str(value)[:ASKED_CHARS_MAX] for name, value in said.items() if value}
        return {name: text.encode("utf-8", "replace").decode() for name, text in kept.items()}


SegmentKind: TypeAlias = Literal["request", "constraint", "decision", "failure", "cancelled", "earlier", "names"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Something that a summary must represent (C5): its text, and the message that it comes from.

    ``text`` may be shortened (an ellipsis stands where it was); ``position`` is the log position of the source, or
    None for an item of an earlier summary, which names its sources itself. ``section`` is where it belongs. Of
    ``names``, which are parted by commas, one is enough; all other kinds are represented by their words.
    """

    kind: SegmentKind
    text: str
    section: SectionId
    position: int | None = None
    id: str = ""
    whole: str = field(default="", repr=False)
    """What was shortened to ``text`` (bounded too): a summary may represent any part of it."""

    @property
    def tag(self) -> str:
        return "" if self.position is None else tag(self.position)


@dataclass(frozen=True, slots=True)
class Material:
    """One covered message as a summariser reads it: payloads shortened, never raw.

    ``text`` is all of it; ``said`` is only what its author wrote, ``calls`` its tool calls as (name, arguments),
    ``outputs`` a glimpse of its tool results, in which names are looked for and nothing is quoted.
    """

    position: int
    id: str
    role: str
    text: str
    trust: Trust
    said: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    outputs: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """All that a summariser gets, and all that the validator needs (C4, C5, C12).

    ``prompt`` is the whole text to send to a model (a schema may go beside it: ``structured``); ``sections`` the
    headings that the answer must have, in order; ``messages`` the material; ``required`` what must be represented;
    ``earlier`` the summary that this one supersedes (or, in a later chunk, the summary so far), without its frame;
    ``tokens_max`` bounds the answer; ``tokens_replaced`` is what the framed answer must be smaller than. ``unlisted``
    are positions of more such segments, for which the bound has no room. ``positions`` and ``ids`` are
    the sources that may be named; ``payloads`` the raw tool arguments and results that must not come back.
    ``counter`` counts the answer against ``tokens_max`` and ``tokens_replaced``.
    """

    prompt: str
    sections: tuple[str, ...]
    messages: tuple[Material, ...]
    required: tuple[Segment, ...]
    earlier: str | None
    tokens_max: int
    tokens_replaced: int
    positions: frozenset[int] = field(repr=False)
    ids: frozenset[str] = field(repr=False)
    payloads: tuple[str, ...] = field(repr=False)
    instructions: str = field(repr=False, default="")
    unlisted: tuple[int, ...] = ()
    chunk: int = 1
    chunks: int = 1
    counter: Counter = ESTIMATE


# --- source tags -------------------------------------------------------------------------------------

_TAG = re.compile(r"\[@(\d{1,18}(?:, ?@\d{1,18})*)\]")
_ID_TAG = re.compile(r"\[m:([^\]\s]{1,300})\]")


def tag(*positions: int) -> str:
    """How a summary names its sources: ``[@12]``, or ``[@12, @15]``; the numbers are log positions."""
    return "[" + ", ".join(f"@{position}" for position in positions) + "]"


def tags(text: str) -> frozenset[int]:
    """All log positions that the tags in ``text`` name."""
    return frozenset(int(number) for group in _TAG.findall(text) for number in re.findall(r"\d+", group))


def id_tags(text: str) -> frozenset[str]:
    """All message ids named in the form ``[m:ID]``, which is understood too."""
    return frozenset(_ID_TAG.findall(text))


def untagged(text: str) -> str:
    """``text`` without its source tags."""
    return _ID_TAG.sub("", _TAG.sub("", text)).strip()


# --- reading -----------------------------------------------------------------------------------------

_THINKING = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}[ \t]*(?:#{1,6}[ \t]*)?([^#\n]{1,80}?)[ \t]*:?[ \t]*#{0,6}[ \t]*")
_BULLET = re.compile(r"[ \t]*[-*•][ \t]+")
_EMPTY = frozenset({"none", "none.", "(none)", "n/a", "nothing", "nothing.", "-", "", "*none*", "_none_"})
_TITLES: Mapping[str, SectionId] = {section.title.casefold(): section.id for section in SECTIONS}


def clean(text: str) -> str:
    """``text`` in NFC with LF line ends, without control, zero-width and direction characters and surrogates."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(line if line.isprintable() else _printable(line) for line in text.split("\n"))


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else " " if c.isspace() else "" for c in line)


def unwrapped(text: str) -> str:
    """``text`` without thinking blocks and without a code fence around the whole; unclosed thinking ends it."""
    out: list[str] = []
    rest = text
    while (found := _THINKING.search(rest)) is not None:
        out.append(rest[: found.start()])
        closing = f"</{found.group(1).lower()}>"
        end = rest.lower().find(closing, found.end())
        rest = "" if end < 0 else rest[end + len(closing) :]
    body = ("".join(out) + rest).strip()
    if body.startswith("```") and body.endswith("```") and body.count("```") == 2:
        body = body[3:-3].partition("\n")[2]
    return body.strip()


def headings(text: str) -> tuple[tuple[SectionId, int], ...]:
    """The known headings of ``text`` with their line numbers (from 0), in the order in which they stand."""
    found: list[tuple[SectionId, int]] = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith("#") and len(line) < 200 and (match := _HEADING.fullmatch(line.rstrip())):
            section = _TITLES.get(" ".join(match.group(1).replace("&", "and").split()).casefold())
            if section is not None:
                found.append((section, number))
    return tuple(found)


def parse(text: str) -> Summary | tuple[str, ...]:
    """The summary that ``text`` holds, or why it is none: ``empty``, ``section_missing``, ``section_order``.

    What stands before the first heading (a polite opening, our own frame) is not part of it.
    """
    body = unwrapped(clean(text))
    found = headings(body)
    order = [section for section, _ in found]
    reasons: list[str] = []
    if not found:
        return ("empty",) if len(body) < 200 else ("section_missing",)
    if any(section.id not in order for section in SECTIONS):
        reasons.append("section_missing")
    if order != [section.id for section in SECTIONS if section.id in order]:
        reasons.append("section_order")
    if reasons:
        return tuple(reasons)
    lines = body.split("\n")
    stops = [line for _, line in found[1:]] + [len(lines)]
    items = {
        section: tuple(_items(lines[start + 1 : stop])) for (section, start), stop in zip(found, stops, strict=True)
    }
    return ("empty",) if not any(items.values()) else Summary(items)


def _items(lines: Sequence[str]) -> list[str]:
    out = []
    for line in lines:
        item = " ".join(_BULLET.sub("", line, count=1).split()) if _BULLET.match(line) else " ".join(line.split())
        if item.casefold() not in _EMPTY and not item.startswith("```"):
            out.append(item)
    return out


# --- writing -----------------------------------------------------------------------------------------


def render(summary: Summary) -> str:
    """The canonical Markdown of a summary, without a frame; ``parse`` reads it back equal."""
    blocks = []
    for section in SECTIONS:
        items = summary.of(section.id)
        blocks.append("\n".join([section.heading, *([f"- {item}" for item in items] or [NONE])]))
    return "\n\n".join(blocks)


FRAME_TITLE = "[Summary of earlier work: history, not a request]"


def frame(body: str, *, covered: int, first: int, last: int, session: str, summarizer: str, extracted: bool) -> str:
    """The text that the model is shown: ``body`` after a header that marks it as history (C4).

    ``covered`` messages between the log positions ``first`` and ``last`` are named as replaced, with the
    commands that print them; ``extracted`` says honestly that no model wrote the text (C12).
    """
    made = "Quoted by rule, no model wrote it" if extracted else f"Written by {summarizer}"
    return (
        f"{FRAME_TITLE}\n"
        f"It stands for {covered:,} earlier messages (log positions {first} to {last}). Nothing in it asks for "
        f"action; the newest user message decides what to do. {made}. [@N] is a log position: read the original "
        f"with `minutebook recall N`, all with `minutebook session messages {shlex.quote(session)}`.\n\n{body}"
    )


def body_of(text: str) -> str:
    """A shown summary without its frame: from the first known heading on; all of it when there is none."""
    found = headings(text)
    return "\n".join(text.split("\n")[found[0][1] :]).strip() if found else text.strip()
