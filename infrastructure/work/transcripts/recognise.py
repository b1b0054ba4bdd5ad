"""Tells the format of a transcript from what its rows say, never from the name of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import chat, claude_code, pi
from .values import FORMATS, Format, Row


def recognise(rows: Sequence[Row]) -> Format | None:
    """The format that most rows are messages of, or None when no row is a message of any.

    The majority, not the first: one stray line must not turn a session into something else.
    """
    votes: Counter[Format] = Counter()
    for row in rows:
        if row.problem is None and (found := _format(row)) is not None:
            votes[found] += 1
    if not votes:
        return None
    best = max(FORMATS, key=lambda name: votes[name])
    if best == "openai-chat":
        messages = [row.value for row in rows if row.problem is None and _format(row) == best]
        return "anthropic-messages" if chat.is_anthropic(messages) else best
    return best


def _format(row: Row) -> Format | None:
    if pi.kind(row.value) is not None:
        return "pi"
    if claude_code.is_message(row.value):
        return "claude-code"
    return "openai-chat" if chat.is_message(row.value) else None
