"""What a fold knows of a session while a batch lasts, so that it need not ask for what it has just written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .epochs import Compacted, Stack, Visible


@dataclass(slots=True)
class Seen:
    """One session as of a position: what is visible, what can be undone, and ids of messages with their positions."""

    visible: Visible
    undo: Stack
    redo: Stack
    position: int
    ids: dict[str, int] = field(default_factory=dict)

    def extend(self, messages: Iterable[tuple[str, int]]) -> None:
        """Takes in the messages that came since, as (id, position)."""
        for message, position in messages:
            self.visible.append(("m", position))
            self.ids[message] = position


@dataclass(slots=True)
class Batch:
    """What is known of the sessions and compactions of a batch; whatever is not in here stands in the tables."""

    sessions: dict[tuple[str, str], Seen] = field(default_factory=dict)
    compactions: dict[int, Compacted] = field(default_factory=dict)
    newest: dict[tuple[str, str, str, str], int | None] = field(default_factory=dict)
    """Positions of the last freeze of a runtime and the last record of a preamble: workspace, session, kind, name."""
