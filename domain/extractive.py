"""The summariser without a model: it quotes, by rule, and says so (C12).

It keeps what a person would look for: requests, constraints word for word, decisions, failures, what was said to
be finished, paths, identifiers, numbers; each with the log position it comes from. What an earlier summary listed
is carried forward. Where the bound is too small for everything it says at which positions there is more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .grounding import holds_name, names_of
from .ledger import Kind, ledger, names
from .placeholder import clip, one_line
from .segments import prose, sentences
from .settling import OPEN_THEN, How, Task, is_over, over, settled, task
from .summary import (
    Completion,
    Material,
    SectionId,
    Segment,
    Summary,
    SummaryRequest,
    parse,
    render,
    tag,
    tags,
    untagged,
)
from .summary_checks import FRAME_TOKENS, InjectionCheck, carries_payload
from .summary_request import RAW_RUN_CHARS, UNLISTED
from .summary_safety import reads_as_instruction
from .tokens import Counter
from .words import folded, words

Item: TypeAlias = tuple[SectionId, str]

_DONE = re.compile(
    r"\b(?:done|finished|completed?|fixed|added|created|implemented|updated|removed|renamed|merged|committed|pushed|"
    r"published|passes|passed|works now|all tests|wrote|refactored|deployed|verified|resolved|closed)\b|[✅✓☑]|完成|已",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"\b(?:because|root cause|the (?:problem|issue|bug|reason|cause) (?:is|was)|found|turns out|means that|note that|"
    r"depends on|requires|returns|fails|version|port|default|limit|located|expects|error)\b|因为|原因|発見",
    re.IGNORECASE,
)
_UNCHECKED = re.compile(r"[ \t]*(?:[-*][ \t]+)?\[ \][ \t]*(.{3,200})")
_CHECKED = re.compile(r"[ \t]*(?:[-*][ \t]+)?\[[xX]\][ \t]*(.{3,200})")
_OPEN_ENDS = ("?", "？", ":", ",", "{", "(", "[", "|", ";", "...")
_WRITES = re.compile(r"write|edit|create|patch|replace|insert|apply|delete|move|rename", re.IGNORECASE)

UNLISTED_MAX = 40
FILES_SHARE_MAX = 0.42
"""Of the bound of a summary, for paths and identifiers through all compactions of a session."""
FILES_STEP_FIRST, FILES_STEP_LATER = 0.7, 0.35
"""Of what is left of that room, for the new ones of a first and of a later compaction."""
_SHARES: tuple[tuple[SectionId, float], ...] = (
    ("state", 0.12), ("files", 0.40), ("completed", 0.24), ("pending", 0.05), ("questions", 0.04), ("facts", 0.15)
)  # fmt: skip
"""How the room that the required items leave is shared out; what one section leaves goes to the next."""


class ExtractiveSummarizer:
    """Summarises by quotation, without a model, network or chance: the same request gives the same text (C12)."""

    name = "extractive-1"
    extracted = True
    input_tokens_max: int | None = None
    """It reads a range of any size in one piece."""

    def __init__(self, injection: InjectionCheck = reads_as_instruction) -> None:
        self._injection = injection

    def summarize(self, request: SummaryRequest) -> Completion:
        """The summary of ``request.messages`` that keeps every ``request.required`` segment; uses no tokens."""
        bound = min(request.tokens_max, request.tokens_replaced - FRAME_TOKENS - 1)
        room = bound - request.counter.count(render(Summary({}))) - 4
        page = _Page(room, request.payloads, request.counter)
        earlier = parse(request.earlier) if request.earlier else None
        kept = earlier if isinstance(earlier, Summary) else Summary({})
        self._require(page, request, kept)
        self._unlisted(page, request)
        self._fill(page, request, kept)
        self._name(page, request)
        if not page.items:
            page.add("state", _bare(request.messages), must=True)
        return Completion(_fitted(page, bound), finish_reason="stop")

    def _require(self, page: _Page, request: SummaryRequest, kept: Summary) -> None:
        ends = settled(request.messages, kept)
        said_before = {" ".join(words(untagged(item))) for item in kept.lines}
        for segment in request.required:
            if segment.kind == "names":
                continue  # the ledger names them; where it has no room, _name does
            text = untagged(segment.text) if segment.kind == "earlier" else segment.text
            if segment.kind == "constraint" and " ".join(words(text)) in said_before:
                continue  # carried forward with its older source
            strange = segment.kind == "failure" and reads_as_instruction(text, "tool")
            if strange or (segment.kind == "decision" and self._injection(text)):
                text = "a tool call failed, its words are not repeated here" if segment.kind == "failure" else ""
            end = next((ends[p] for p in _places(segment) if p in ends), None) if segment.section == "goal" else None
            if end is not None:
                # A request that is over no longer stands under Goal, where an agent would take it up again.
                places = tag(*sorted({*_places(segment), end.by}))
                page.add(*_ended(end.how, f"{untagged(segment.text)} {places}"), must=True)
            elif segment.kind == "earlier":
                page.add(segment.section, segment.text, must=True)
            elif text:
                cancelled = "cancelled: " if segment.kind == "cancelled" else ""
                page.add(segment.section, f"{cancelled}{text} {segment.tag}", must=True)

    def _unlisted(self, page: _Page, request: SummaryRequest) -> None:
        if request.unlisted:
            shown = tag(*request.unlisted[-UNLISTED_MAX:])
            page.add("facts", f"{len(request.unlisted)} {UNLISTED}: {shown}")

    def _fill(self, page: _Page, request: SummaryRequest, kept: Summary) -> None:
        room, spare = page.room, 0.0
        for section, part in _SHARES:
            allowed = part * room + spare
            if section == "files":
                # What is listed once stays listed (C7): a part of what is left of the section's room, so that it
                # is never full and never crowds out what the user asked.
                step = FILES_STEP_LATER if request.earlier else FILES_STEP_FIRST
                listed = sum(page.cost(item) for item in kept.of("files"))
                allowed = min(allowed, max(FILES_SHARE_MAX * request.tokens_max - listed, 0) * step)
            for text in self._offers(section, request, kept, page):
                cost = page.cost(text)
                if allowed < 8:
                    break
                if cost <= allowed and not self._injection(text) and page.add(section, text):
                    allowed -= cost
            spare = max(allowed, 0.0)

    def _name(self, page: _Page, request: SummaryRequest) -> None:
        for segment in request.required:
            standing = folded("\n".join(item for items in page.items.values() for item in items))
            if segment.kind == "names" and not holds_name(standing, segment):
                page.add("files", f"names: {', '.join(names_of(segment)[:3])}", must=True)

    def _offers(self, section: SectionId, request: SummaryRequest, kept: Summary, page: _Page) -> Iterator[str]:
        assistant = [m for m in request.messages if m.role == "assistant" and m.said.strip()]
        match section:
            case "state":
                offers = _state(assistant)
            case "files":
                offers = _files(request.messages, kept, page)
            case "completed":
                offers = _completed(request.messages)
            case "pending":
                ended = over(request.messages, request.required)
                offers = (item for item in _pending(assistant) if not is_over(item, ended))
            case "questions":
                offers = _questions(request.messages)
            case _:
                offers = _facts(assistant)
        yield from offers
        if section not in ("state", "pending", "questions"):  # how things stood then is no longer how they stand
            yield from (item for item in kept.of(section) if UNLISTED not in item)


@dataclass(slots=True)
class _Page:
    """The summary while it is written: items by section, the tokens left, which items may go again."""

    room: int
    payloads: tuple[str, ...]
    counter: Counter
    items: dict[SectionId, list[str]] = field(default_factory=dict)
    optional: list[Item] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def cost(self, text: str) -> int:
        return self.counter.count(f"- {text}\n") + 1

    def add(self, section: SectionId, text: str, *, must: bool = False) -> bool:
        text = " ".join(text.split())
        key = untagged(text).casefold()
        if key in self.seen or not text or (not must and self.cost(text) > self.room):
            return False
        self.seen.add(key)
        self.room -= self.cost(text)
        self.items.setdefault(section, []).append(text)
        if not must:
            self.optional.append((section, text))
        return True


def _fitted(page: _Page, bound: int) -> str:
    """The text of the page: raw runs cut, and the least telling items dropped until it keeps to its bound."""
    while True:
        text = _text(page)
        if carries_payload(text, [item for items in page.items.values() for item in items], page.payloads):
            page.items = {section: [_short(item) for item in items] for section, items in page.items.items()}
            page.optional = [(section, _short(item)) for section, item in page.optional]
            text = _text(page)
        if page.counter.count(text) <= bound or not page.optional:
            return text
        section, item = page.optional.pop()
        page.items[section].remove(item)


def _text(page: _Page) -> str:
    """The page in canonical form; what names its source stands in the order of the history."""
    return render(Summary({section: tuple(sorted(items, key=_place)) for section, items in page.items.items()}))


def _places(segment: Segment) -> frozenset[int]:
    return tags(segment.text) if segment.position is None else frozenset([segment.position])


def _ended(how: How, text: str) -> Item:
    match how:
        case "confirmed":
            return ("completed", f"done, as the user confirmed: {text}")
        case "replaced":
            return ("decisions", f"taken back by the user: {text}")


def _place(item: str) -> int:
    return min(tags(item), default=0)


def _short(item: str) -> str:
    sources = tags(item)
    bare = clip(untagged(item), RAW_RUN_CHARS * 3 // 4)
    return f"{bare} {tag(*sorted(sources))}" if sources else bare


# --- what each section is offered, most telling first -----------------------------------------------


def _bare(messages: Sequence[Material]) -> str:
    """What can be said of any range, in few words: a summary is never empty."""
    calls = sum(len(message.calls) for message in messages)
    places = tag(messages[0].position, messages[-1].position) if messages else ""
    return f"{len(messages)} messages, {calls} tool calls {places}"


def _state(assistant: Sequence[Material]) -> Iterator[str]:
    for message in reversed(assistant[-3:]):
        # Boxes left open stand under Pending, unless they are over; here they would read as work to do.
        told = "\n".join(line for line in message.said.split("\n") if not _UNCHECKED.match(line))
        if words(told):
            yield f"last reported: {one_line(told, 360)} {tag(message.position)}"


def _completed(messages: Sequence[Material]) -> Iterator[str]:
    """Checked boxes, and what the assistant said last before the user spoke again, newest first."""
    closing: list[Material] = []
    last: Material | None = None
    for message in messages:
        if message.role == "assistant" and message.said.strip():
            last = message
        elif message.role == "user" and message.said.strip() and last is not None:
            closing.append(last)
            last = None
    closing.extend([last] if last is not None else [])
    for message in reversed(closing):
        told = [
            s for s in sentences(prose(message.said)) if _DONE.search(s) and len(s) > 8 and not s.endswith(_OPEN_ENDS)
        ]
        for line in message.said.split("\n"):
            if checked := _CHECKED.match(line):
                yield f"{one_line(checked.group(1), 160)} {tag(message.position)}"
        if told:
            yield f"{one_line(' '.join(told[:3]), 240)} {tag(message.position)}"


def _pending(assistant: Sequence[Material]) -> Iterator[str]:
    """Boxes left open in the newest list of the assistant; nothing is guessed."""
    later: list[Task] = []
    for message in reversed(assistant):
        lines = message.said.split("\n")
        if any(_CHECKED.match(line) or _UNCHECKED.match(line) for line in lines):
            for line in lines:
                if (unchecked := _UNCHECKED.match(line)) and not _reported(unchecked.group(1), later):
                    yield f"{OPEN_THEN}{one_line(unchecked.group(1), 160)} {tag(message.position)}"
            return
        later.extend(task(s) for s in sentences(prose(message.said)) if _DONE.search(s))


def _reported(box: str, later: Sequence[Task]) -> bool:
    """True when one sentence after the list says of a box that it is done."""
    return any(task(box).is_in(told) for told in later)


def _questions(messages: Sequence[Material]) -> Iterator[str]:
    """Questions of the assistant that no user message followed."""
    for message in reversed(messages):
        if message.role == "user" and message.said.strip():
            return
        if message.role == "assistant":
            for sentence in sentences(message.said):
                if sentence.endswith(("?", "？")):
                    yield f"{one_line(sentence, 200)} {tag(message.position)}"


def _facts(assistant: Sequence[Material]) -> Iterator[str]:
    """Findings of the assistant, those first that name most for their length; newer before older when equal."""
    scored: list[tuple[float, int, str]] = []
    for number, message in enumerate(assistant):
        for sentence in sentences(prose(message.said)):
            if 25 <= len(sentence) <= 260 and _FINDING.search(sentence) and not sentence.endswith(_OPEN_ENDS):
                score = 1 + 2 * len({name for name, _ in names(sentence)}) - len(sentence) / 200
                scored.append((-score, -number, f"{sentence} {tag(message.position)}"))
    yield from (text for _, _, text in sorted(scored))


def _files(messages: Sequence[Material], kept: Summary, page: _Page) -> Iterator[str]:
    """The ledger in lines of names: changed files, other paths, urls, ids, numbers; nothing that stands already."""
    standing = {name for items in page.items.values() for item in items for name, _ in names(item)}
    standing |= {name for item in kept.of("files") for name, _ in names(item)}
    changed = {
        name
        for message in messages
        for tool, arguments in message.calls
        if _WRITES.search(tool)
        for name, kind in names(arguments)
        if kind == "path"
    }
    groups: dict[str, list[str]] = {}
    for name, kind in ledger(messages):
        if name not in standing and not (kind == "number" and len(name) < 3):
            groups.setdefault("changed" if name in changed else _label(kind), []).append(name)
    lines = {label: _lines(label, found) for label, found in groups.items()}
    # In turn, so that a long list of one kind leaves room for the others.
    for turn in range(max((len(found) for found in lines.values()), default=0)):
        for label in ("changed", "paths", "ids", "urls", "numbers"):
            if turn < len(lines.get(label, ())):
                yield lines[label][turn]


def _label(kind: Kind) -> str:
    return {"path": "paths", "url": "urls", "id": "ids", "number": "numbers"}[kind]


def _lines(label: str, found: Sequence[str]) -> list[str]:
    return [f"{label}: {', '.join(found[i : i + 6])}" for i in range(0, len(found), 6)]
