"""What is visible, as references, and how a reduction, compaction, undo and redo change it (C3, C6, C7).

A reference is ``("m", position)``: the message as it is; ``("r", position, event)``: the message reduced, the
shorter content stands in the payload of that event; ``("s", event)``: the summary of that CompactionCommitted.
A visible list is in order of what it shows: messages by position, a summary where its first covered message was.

Pure functions on lists: the fold stores their results as epochs, tests replay them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Ref: TypeAlias = tuple[str, int] | tuple[str, int, int]
Visible: TypeAlias = list[Ref]


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a committed compaction did: hid ``covers``, showed ``reduced`` shorter, stood at ``anchor`` (positions)."""

    position: int
    compaction: str
    supersedes: str | None
    anchor: int
    covers: tuple[int, ...]
    reduced: tuple[int, ...]


Stack: TypeAlias = list[tuple[str, int]]
"""Committed compactions as (id, position of the commit), oldest first."""


def reduce(visible: Iterable[Ref], positions: Collection[int], event: int) -> Visible:
    """The messages at ``positions``, where visible, shown as ``event`` reduced them; a later reduction stays."""
    return [
        ("r", ref[1], event) if ref[0] != "s" and ref[1] in positions and (len(ref) == 2 or ref[2] < event) else ref
        for ref in visible
    ]


def compact(visible: Sequence[Ref], done: Compacted, live: Iterable[Compacted]) -> Visible:
    """The covered messages and the summaries that this one supersedes give way to one summary, in their place (C7)."""
    covered = frozenset(done.covers)
    superseded = {
        other.position
        for other in live
        if other.compaction == done.supersedes or (other.covers and covered.issuperset(other.covers))
    }
    kept: Visible = []
    place: int | None = None
    for ref in visible:
        gone = ref[1] in (superseded if ref[0] == "s" else covered)
        if not gone:
            kept.append(ref)
        elif place is None:
            place = len(kept)
    if place is None:
        place = next((at for at, ref in enumerate(kept) if ref[0] != "s" and ref[1] > done.anchor), len(kept))
    kept.insert(place, ("s", done.position))
    return reduce(kept, frozenset(done.reduced), done.position)


def undo(before: Iterable[Ref], current: Iterable[Ref], commit: int) -> Visible:
    """What was visible before the commit, with the reductions and the messages that came after it."""
    later = {ref[1]: ref for ref in current if len(ref) == 3 and ref[2] > commit}
    restored = [later.get(ref[1], ref) if ref[0] != "s" else ref for ref in before]
    return [*restored, *(ref for ref in current if ref[0] != "s" and ref[1] > commit)]


def summaries(visible: Iterable[Ref]) -> list[int]:
    """Positions of the commits whose summaries are visible."""
    return [ref[1] for ref in visible if ref[0] == "s"]


def to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def refs_from_json(text: str) -> Visible:
    return [tuple(ref) for ref in json.loads(text)]


def stack_from_json(text: str) -> Stack:
    return [(compaction, position) for compaction, position in json.loads(text)]
