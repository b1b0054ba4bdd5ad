"""Files that hold several conversations: a list of trajectories, or one logged conversation a line (issue 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....domain.message import JSON
from .documents import CONVERSATIONS, elements
from .facts import identifier
from .values import Format, Row

_TAU = "traj"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One of them: its rows, numbered from 1, what the file calls it, and what its shape already says of its format.

    ``element`` is its number in the file, from 1.
    """

    rows: list[Row]
    element: int = 1
    name: str | None = None
    format: Format | None = None


def split(found: Sequence[Row], known: Callable[[Sequence[Row]], int]) -> tuple[list[Conversation], list[Row]]:
    """The conversations in the rows of a file, and its rows that are none.

    No conversations when the file is one itself: when at least as many rows are messages (counted by ``known``).
    """
    nested = [row for row in found if _key(row.value) is not None]
    if not nested or len(nested) <= known(found):
        return [], []
    return [_conversation(row) for row in nested], [row for row in found if _key(row.value) is None]


def _key(value: JSON) -> str | None:
    if not isinstance(value, dict) or "role" in value:
        return None
    return next((key for key in CONVERSATIONS if isinstance(value.get(key), list)), None)


def _conversation(row: Row) -> Conversation:
    value, key = row.value, _key(row.value)
    if key == "messages":
        return Conversation(elements(value), row.number)
    assert key is not None
    rows = [Row(number, entry) for number, entry in enumerate(value[key], 1)]
    what = "trajectory" if key == _TAU else "document"
    for name in value:
        if name != key:
            rows.append(Row(len(rows) + 1, problem=f"not a message: key {name[:80]!a} of the {what}"))
    if key == _TAU:
        return Conversation(rows, row.number, _tau_name(value), "tau-bench")
    return Conversation(rows, row.number, None, "swe-agent" if isinstance(value.get("trajectory"), list) else None)


def _tau_name(value: JSON) -> str | None:
    """Task and trial, by which a benchmark names its trajectories."""
    parts = [str(value[key]) for key in ("task_id", "trial") if isinstance(value.get(key), (int, str))]
    return identifier("-".join(parts)[:60]) if parts else None
