"""The context that a model sees: neutral messages in an order that every API takes (C9, C11).

``build`` takes what is visible - originals, reduced originals, summaries - at any cut and of any history, and
repairs what no API would take: results are brought behind their calls, a call without one gets a synthetic
result, a result without its call becomes text that says so, ids that come again are told apart. Originals are
never changed; ``minutebook.domain.rendering`` writes the result for OpenAI and Anthropic.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, assert_never

from .message import JSON, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, Trust
from .neutral import content_json
from .pairing import Pairing, Place, pair
from .tokens import ESTIMATE, Counter, count_parts, count_text, count_tools

RENDERER = "neutral-1"
"""Recorded with every digest: a build that shows the same visible list differently gets another name (C11)."""

NO_RESULT = "No result was recorded for this call."
"""Stands where a call has no result; never stored. Worded so that it does not read like a failure of the tool."""

State: TypeAlias = Literal["original", "reduced", "summary", "synthetic"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A message that is visible; ``parts`` stand for its own when it is shown reduced; ``tokens`` as it is shown."""

    message: Message
    parts: tuple[Part, ...] | None
    tokens: int


@dataclass(frozen=True, slots=True)
class SummaryShown:
    """The summary of a live compaction, at the place of what it covers (ids of messages, in order)."""

    position: int
    compaction: str
    text: str
    covers: tuple[str, ...]
    tokens: int
    trust: Trust = "model"


Visible: TypeAlias = tuple[Shown | SummaryShown, ...]


@dataclass(frozen=True, slots=True)
class Preamble:
    """What stands before the messages: the caller's system prompt, the memory block (last, C11), tool schemas.

    ``counter`` counts them, and what ``build`` adds to the messages.
    """

    system: str = ""
    memory: str = ""
    tools: tuple[JSON, ...] = ()
    counter: Counter = field(default=ESTIMATE, compare=False, repr=False)

    @property
    def text(self) -> str:
        return "\n\n".join([part for part in (self.system, self.memory) if part])

    @property
    def tokens(self) -> int:
        count = self.counter.count
        return count_text(self.text, count) + count_tools(self.tools, count)


@dataclass(frozen=True, slots=True)
class Line:
    """One neutral message. ``origin`` is the recorded one; a mixed message whose result was late gives two lines."""

    position: int
    id: str
    role: Role
    parts: tuple[Part, ...]
    state: State
    covers: tuple[str, ...] = ()
    origin: Message | None = None

    def to_dict(self) -> dict[str, JSON]:
        """Position, id, role, content (text, or a list of parts), state, covers (surface.md)."""
        return {
            "position": self.position,
            "id": self.id,
            "role": self.role,
            "content": content_json(self.parts),
            "state": self.state,
            "covers": list(self.covers),
        }


@dataclass(frozen=True)
class Built:
    """A request in neutral form. ``tokens`` counts preamble and lines; ``notes`` say what the repair changed."""

    preamble: Preamble
    lines: tuple[Line, ...]
    tokens: int
    notes: tuple[str, ...] = field(default=())

    @property
    def system(self) -> str:
        return self.preamble.text

    @property
    def tools(self) -> tuple[JSON, ...]:
        return self.preamble.tools

    @cached_property
    def messages(self) -> list[dict[str, JSON]]:
        return [line.to_dict() for line in self.lines]


def build(visible: Sequence[Shown | SummaryShown], preamble: Preamble) -> Built:
    """The neutral request for any visible list and any cut (C9). Pure: same input, same bytes; linear."""
    notes: list[str] = []
    lines = [_line(item) for item in visible]
    paired = pair([(line.role, line.parts) for line in lines])
    lines = _distinct(lines, paired, notes)
    built = _order(lines, paired, notes)
    synthetic = sum([count_parts(line.parts, preamble.counter.count) for line in built if line.state == "synthetic"])
    tokens = preamble.tokens + sum([item.tokens for item in visible]) + synthetic
    return Built(preamble, tuple(built), tokens, tuple(notes))


def turn_numbers(lines: Sequence[Line]) -> list[int]:
    """For each line its turn: neighbouring assistant lines are one turn, and what follows up to the next is its own."""
    numbers: list[int] = []
    number, before = 0, ""
    for line in lines:
        if line.role == "assistant" and before != "assistant":
            number += 1
        before = line.role
        numbers.append(number)
    return numbers


def neutral_json(built: Built) -> bytes:
    """Canonical JSON of what is shown - system, tools, messages - with sorted keys: the bytes that are digested."""
    value = {"system": built.system, "tools": list(built.tools), "messages": built.messages}
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 has no bytes for
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def digest(built: Built) -> str:
    """SHA-256 of ``neutral_json`` in hex, by which a context is proved later (C11)."""
    return hashlib.sha256(neutral_json(built)).hexdigest()


# --- from what is visible to lines --------------------------------------------------------------------


def _line(item: Shown | SummaryShown) -> Line:
    match item:
        case SummaryShown():
            parts: tuple[Part, ...] = (Text(item.text),)
            return Line(item.position, item.compaction, "summary", parts, "summary", item.covers)
        case Shown(message, reduced):
            parts = message.parts if reduced is None else reduced
            role: Role = message.role if message.role != "summary" else "user"
            if role != "assistant":
                parts = tuple([_said_by_another(part, role) for part in parts])
            if role == "tool" and not any(isinstance(part, ToolResult) for part in parts):
                role = "user"
            state: State = "original" if reduced is None else "reduced"
            return Line(message.position, message.id, role, parts, state, origin=message)
    assert_never(item)


def _said_by_another(part: Part, role: Role) -> Part:
    """Calls and reasoning are the assistant's, results are no system's: elsewhere they can only be text."""
    match part:
        case ToolCall(_, name, arguments):
            return Text(f"[Tool call {name}]\n{arguments}")
        case Reasoning(text):
            return Text(text)
        case ToolResult(_, text) if role == "system":
            return Text(f"[Tool result]\n{text}")
        case _:
            return part


def _distinct(lines: list[Line], paired: Pairing, notes: list[str]) -> list[Line]:
    """Tells calls of one turn apart that share an id, and their results with them.

    An id that comes again in a later turn stays: its results stand right behind it, and OpenAI itself gave such
    ids (16 of the 24 recorded tau-bench trajectories). The Anthropic writer, whose API refuses that, renames it.
    """
    changed: dict[int, list[Part]] = {}
    turns = turn_numbers(lines)
    turn: dict[str, int] = {}
    current = -1
    for place in paired.calls:
        if turns[place[0]] != current:
            turn, current = {}, turns[place[0]]
        call = _call(lines, place)
        number = turn[call.id] = turn.get(call.id, 0) + 1
        if number == 1:
            continue
        name = _free(call.id, number, turn)
        turn[name] = 1
        notes.append(f"{lines[place[0]].id}: call id {call.id!r} stands twice in one turn, shown as {name!r}")
        _parts(changed, lines, place[0])[place[1]] = replace(call, id=name)
        answer = paired.answers.get(place)
        if answer is not None:
            parts = _parts(changed, lines, answer[0])
            result = parts[answer[1]]
            assert isinstance(result, ToolResult)
            parts[answer[1]] = replace(result, call_id=name)
    if not changed:
        return lines
    return [_with(line, changed[index]) if index in changed else line for index, line in enumerate(lines)]


def _free(name: str, number: int, taken: dict[str, int]) -> str:
    while (made := f"{name}_{number}") in taken:
        number += 1
    return made


def _call(lines: list[Line], place: Place) -> ToolCall:
    part = lines[place[0]].parts[place[1]]
    assert isinstance(part, ToolCall)
    return part


def _parts(changed: dict[int, list[Part]], lines: list[Line], index: int) -> list[Part]:
    return changed.setdefault(index, list(lines[index].parts))


def _with(line: Line, parts: Sequence[Part], role: Role | None = None) -> Line:
    return Line(line.position, line.id, role or line.role, tuple(parts), line.state, line.covers, line.origin)


# --- order: every result behind its call ----------------------------------------------------------------


def _order(lines: list[Line], paired: Pairing, notes: list[str]) -> list[Line]:
    out: list[Line] = []
    used: set[Place] = set()  # results that stand behind their call already
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.role == "assistant" and any(isinstance(part, ToolCall) for part in line.parts):
            stop = _group(lines, index)
            index = _turn(lines, index, stop, paired, out, used, notes)
            continue
        rest = _rest(line, index, paired, used, notes)
        if rest is not None:
            out.append(rest)
        index += 1
    return out


def _group(lines: list[Line], start: int) -> int:
    """Neighbouring assistant messages up to the last that has a call: one turn, whose results come after it."""
    stop = index = start + 1
    while index < len(lines) and lines[index].role == "assistant":
        index += 1
        if any(isinstance(part, ToolCall) for part in lines[index - 1].parts):
            stop = index
    return stop


def _turn(
    lines: list[Line], start: int, stop: int, paired: Pairing, out: list[Line], used: set[Place], notes: list[str]
) -> int:
    """Writes a turn and all its results; returns the index at which to go on."""
    places = [
        (index, number)
        for index in range(start, stop)
        for number, part in enumerate(lines[index].parts)
        if isinstance(part, ToolCall)
    ]
    answers = sorted([paired.answers[place] for place in places if place in paired.answers])
    missing = [place for place in places if place not in paired.answers]
    mine = set(answers)
    used |= mine
    for index in range(start, stop):
        rest = _rest(lines[index], index, paired, used, notes)
        if rest is not None:
            out.append(rest)
    sources = sorted({index for index, _ in answers})
    next_index = stop
    for index in sources:
        whole = index == next_index and _belongs(lines[index], index, mine)
        last = index == sources[-1] and not missing
        if whole and (last or all(isinstance(part, ToolResult) for part in lines[index].parts)):
            out.append(lines[index])
            next_index = index + 1
            continue
        results = [lines[index].parts[number] for place, number in answers if place == index]
        out.append(_with(lines[index], results, "tool"))
    for index, number in missing:
        out.append(_synthetic(lines[index], _call(lines, (index, number))))
    return next_index


def _belongs(line: Line, index: int, mine: set[Place]) -> bool:
    """Whether all results of a message belong to the turn before it, so that it can stand as it is."""
    return all(not isinstance(part, ToolResult) or (index, number) in mine for number, part in enumerate(line.parts))


def _synthetic(line: Line, call: ToolCall) -> Line:
    result = ToolResult(call.id, NO_RESULT, call.name)
    return Line(line.position, f"{line.id}/{call.id}", "tool", (result,), "synthetic")


def _rest(line: Line, index: int, paired: Pairing, used: set[Place], notes: list[str]) -> Line | None:
    """What is left of a message when results that stand elsewhere are taken out; None when that is all there was."""
    if not any(isinstance(part, ToolResult) for part in line.parts):
        return line
    parts: list[Part] = []
    for number, part in enumerate(line.parts):
        if not isinstance(part, ToolResult):
            parts.append(part)
        elif (index, number) not in used:
            parts.extend(_stray(part, duplicate=(index, number) in paired.duplicates))
            notes.append(f"{line.id}: result of call {part.call_id!r} shown as text, it has no call of its own here")
    if not parts:
        return None
    return _with(line, parts, "user" if line.role == "tool" else None)


def _stray(result: ToolResult, *, duplicate: bool) -> list[Part]:
    name = f" of {result.name}" if result.name else ""
    if duplicate:
        head = f"[A further result of the tool call {result.call_id}{name}]"
    else:
        head = f"[Result of the tool call {result.call_id}{name}, which is not part of this context]"
    return [Text(f"{head}\n{result.text}"), *result.media]
