"""Which tool result answers which call, on any history, however broken: what cut and build both rest on (C9).

A place is (index of the message, index of the part in it). Rules, in the order of the history:

* a call stands in an assistant message; a result stands anywhere but in a system message;
* a result belongs to the latest earlier call of its id that has no result yet, so that an id may come again;
* with all calls of its id answered it is a *duplicate* of the latest of them: the first result counts;
* with no earlier call of its id it is an *orphan*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .message import Part, Role, ToolCall, ToolResult

Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pairing:
    """``answers``: call to its result; ``owners``: result to its call; ``duplicates``: further result to that call."""

    calls: tuple[Place, ...]
    answers: dict[Place, Place]
    owners: dict[Place, Place]
    duplicates: dict[Place, Place]
    orphans: frozenset[Place]

    @property
    def unanswered(self) -> tuple[Place, ...]:
        return tuple([place for place in self.calls if place not in self.answers])


def pair(messages: Sequence[tuple[Role, tuple[Part, ...]]]) -> Pairing:
    """Pairs calls and results of a history given as (role, parts). Linear; total."""
    calls: list[Place] = []
    waiting: dict[str, list[Place]] = {}
    answered: dict[str, Place] = {}
    answers: dict[Place, Place] = {}
    duplicates: dict[Place, Place] = {}
    orphans: list[Place] = []
    for index, (role, parts) in enumerate(messages):
        for number, part in enumerate(parts):
            if isinstance(part, ToolCall) and role == "assistant":
                calls.append((index, number))
                waiting.setdefault(part.id, []).append((index, number))
            elif isinstance(part, ToolResult) and role != "system":
                place = (index, number)
                if waiting.get(part.call_id):
                    call = waiting[part.call_id].pop()
                    answers[call] = place
                    answered[part.call_id] = call
                elif part.call_id in answered:
                    duplicates[place] = answered[part.call_id]
                else:
                    orphans.append(place)
    owners = {result: call for call, result in answers.items()}
    return Pairing(tuple(calls), answers, owners, duplicates, frozenset(orphans))
