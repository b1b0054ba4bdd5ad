"""The one boundary function: which messages cannot be parted, and which may not be hidden (C2, C9).

Both the cut and the build rest on it (by way of ``pairing``), and it is total: every list of messages, in
whatever order and however broken, falls into units that are contiguous, in order, and cover it.

A unit is

* an assistant message with calls, all its results (parallel, duplicate, in mixed messages) and what stands
  between them; calls whose results overlap share a unit;
* reasoning with the call it led to, when they came as neighbouring assistant messages;
* else a message alone.

What stands between a call and a late result is swallowed by the unit. To bound that, a result that would make
a unit hold more than ``LATE_MESSAGES_MAX`` messages beside pure results is *late*: it is a unit of its own, and
the build puts it back behind its call when both are shown (parallel results, however many, are never late).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .message import Media, Message, Reasoning, Text, ToolResult
from .pairing import Pairing, Place, pair

LATE_MESSAGES_MAX = 64
"""More than any approval, parallel fan-out or interruption in the recorded transcripts (12); a stray result
must not weld half a session together."""

Flag: TypeAlias = Literal[
    "tools", "parallel", "pending", "unanswered", "duplicate", "late", "orphan", "mixed", "reasoning"
]
Reason: TypeAlias = Literal["system", "first", "open_run", "recent", "latest_request", "pending_call", "unit"]

REASONS: dict[Reason, str] = {
    "system": "system message",
    "first": "among the first messages",
    "open_run": "in the unfinished run",
    "recent": "among the recent messages",
    "latest_request": "the latest request of the user",
    "pending_call": "a tool call that still waits for its result",
    "unit": "belongs to a tool call that is protected",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages ``start`` up to, not including, ``stop``: shown together or hidden together."""

    start: int
    stop: int
    flags: frozenset[Flag] = frozenset()

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def indices(self) -> range:
        return range(self.start, self.stop)


@dataclass(frozen=True, slots=True)
class Protection:
    """Which messages may not be summarised away, by index, each with the first reason that holds."""

    reasons: dict[int, Reason] = field(default_factory=dict)

    @property
    def indices(self) -> frozenset[int]:
        return frozenset(self.reasons)

    def __contains__(self, index: object) -> bool:
        return index in self.reasons

    def __len__(self) -> int:
        return len(self.reasons)

    def groups(self) -> dict[Reason, tuple[int, ...]]:
        """Indices by reason, in the order of ``REASONS``; reasons that protect nothing are left out."""
        found: dict[Reason, list[int]] = {reason: [] for reason in REASONS}
        for index, reason in sorted(self.reasons.items()):
            found[reason].append(index)
        return {reason: tuple(indices) for reason, indices in found.items() if indices}


def units(messages: Sequence[Message], *, open_run: str | None = None) -> tuple[Unit, ...]:
    """The indivisible units of a history (C2). Total and deterministic; n log n.

    An unanswered call is ``pending`` when it belongs to ``open_run`` or when a result that came now would not
    be late; else it is ``unanswered`` and will have no result.
    """
    paired = _pair(messages)
    return _units(messages, paired, open_run)


def protected(messages: Sequence[Message], *, first: int, recent: int, open_run: str | None) -> Protection:
    """What a compaction may not hide (C2, C8): never shrunk, extended to whole units.

    The first ``first`` messages (system messages count), the last ``recent`` messages that are not system
    messages, all of ``open_run``, the latest user request, pending calls, and system messages anywhere, which
    stay where they are and draw no unit after them.
    """
    reasons: dict[int, Reason] = {}

    def mark(indices: Sequence[int], reason: Reason) -> None:
        for index in indices:
            reasons.setdefault(index, reason)

    mark([index for index, message in enumerate(messages) if message.role == "system"], "system")
    mark(range(min(max(first, 0), len(messages))), "first")
    if open_run is not None:
        mark([index for index, message in enumerate(messages) if message.run == open_run], "open_run")
    spoken = [index for index, message in enumerate(messages) if message.role != "system"]
    mark(spoken[-recent:] if recent > 0 else [], "recent")
    mark(_latest_requests(messages), "latest_request")
    whole = units(messages, open_run=open_run)
    for unit in whole:
        if "pending" in unit.flags:
            mark(unit.indices, "pending_call")
        elif any(reasons.get(index, "system") != "system" for index in unit.indices):
            mark(unit.indices, "unit")
    return Protection(reasons)


def _latest_requests(messages: Sequence[Message]) -> list[int]:
    """The last user message that is no tool result; and a later one that mixes text with a result.

    Text that a tool or another source brought (low trust) is taken only where there is no other.
    """
    plain: list[int] = []
    for trusted in (True, False):
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if message.role != "user" or (trusted and message.trust in ("tool", "external")) or not _asks(message):
                continue
            plain.append(index)
            if not message.results:
                return plain
        if plain:
            return plain
    return plain


def _asks(message: Message) -> bool:
    return any(isinstance(part, Media) or (isinstance(part, Text) and part.text.strip()) for part in message.parts)


def _pair(messages: Sequence[Message]) -> Pairing:
    return pair([(message.role, message.parts) for message in messages])


def _units(messages: Sequence[Message], paired: Pairing, open_run: str | None) -> tuple[Unit, ...]:
    kept: list[int] = []  # how many messages before each index are more than pure results
    beside = 0
    for message in messages:
        kept.append(beside)
        beside += not _only_results(message)
    kept.append(beside)
    back, late = _joins(messages, paired, kept)
    starts = _starts(messages, back)
    flags = _flags(messages, paired, late, kept, open_run)
    stops = [*starts[1:], len(messages)]
    return tuple(
        [
            Unit(start, stop, frozenset().union(*[flags[index] for index in range(start, stop)]))
            for start, stop in zip(starts, stops, strict=True)
        ]
        if messages
        else []
    )


def _only_results(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, ToolResult) for part in message.parts)


def _joins(messages: Sequence[Message], paired: Pairing, kept: list[int]) -> tuple[dict[int, int], frozenset[int]]:
    """For each message how far back its results reach, and the messages whose results came too late for that."""
    spans: dict[int, list[int]] = {}
    for results in (paired.owners, paired.duplicates):
        for (index, _), (call, _) in results.items():
            spans.setdefault(index, []).append(call)
    starts: list[int] = []
    back: dict[int, int] = {}
    late: set[int] = set()
    for index in range(len(messages)):
        starts.append(index)
        for call in sorted(spans.get(index, ()), reverse=True):
            slot = bisect_right(starts, call) - 1
            if kept[index] - kept[starts[slot]] > LATE_MESSAGES_MAX:
                late.add(index)
                continue
            back[index] = starts[slot]
            del starts[slot + 1 :]
    return back, frozenset(late)


def _starts(messages: Sequence[Message], back: dict[int, int]) -> list[int]:
    """Where units begin, from the joins and from reasoning that leads to a call in the next message."""
    starts: list[int] = []
    thought: int | None = None  # where reasoning without a call of its own began, in this row of assistant messages
    for index, message in enumerate(messages):
        starts.append(index)
        if index in back:
            del starts[bisect_right(starts, back[index]) :]
        if message.role != "assistant":
            thought = None
        elif message.calls:
            if thought is not None and index - thought <= LATE_MESSAGES_MAX:
                del starts[bisect_right(starts, thought) :]
            thought = None
        elif thought is None and any(isinstance(part, Reasoning) for part in message.parts):
            thought = index
    return starts


def _flags(
    messages: Sequence[Message], paired: Pairing, late: frozenset[int], kept: list[int], open_run: str | None
) -> list[set[Flag]]:
    flags: list[set[Flag]] = [set() for _ in messages]
    for index, message in enumerate(messages):
        calls = len(message.calls) if message.role == "assistant" else 0
        if calls:
            flags[index] |= {"tools", "parallel"} if calls > 1 else {"tools"}
        if message.results and message.role != "system" and not _only_results(message):
            flags[index].add("mixed")
        if any(isinstance(part, Reasoning) for part in message.parts):
            flags[index].add("reasoning")
    for index in late:
        flags[index].add("late")
    marked: tuple[tuple[Flag, Sequence[Place]], ...] = (
        ("duplicate", tuple(paired.duplicates)),
        ("orphan", tuple(paired.orphans)),
    )
    for flag, places in marked:
        for index, _ in places:
            flags[index].add(flag)
    for index, _ in paired.unanswered:
        message = messages[index]
        near = kept[-1] - kept[index] <= LATE_MESSAGES_MAX
        waits = near or (open_run is not None and message.run == open_run)
        flags[index].add("pending" if waits else "unanswered")
    return flags
