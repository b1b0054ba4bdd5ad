"""Tells the format of a transcript from what its rows say, never from the name of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ....domain.forms import openai_responses
from . import chat, claude_code, codex, openhands, pi, responses
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
    return _chat([row for row in rows if row.problem is None], best) if best == "openai-chat" else best


def count(rows: Sequence[Row]) -> int:
    """How many rows are messages of any format."""
    return sum(row.problem is None and _format(row) is not None for row in rows)


def _chat(rows: Sequence[Row], best: Format) -> Format:
    """Which of the forms that the APIs share so much of."""
    messages = [row for row in rows if _format(row) == best]
    if responses.is_responses(messages):
        # The first generation of Codex wrote the items as they are, under a head of its own.
        return "codex" if any(codex.is_header(row.value) for row in rows) else "openai-responses"
    return "anthropic-messages" if chat.is_anthropic([row.value for row in messages]) else best


def _format(row: Row) -> Format | None:
    """The format of one row; messages of the APIs all vote for ``openai-chat``."""
    if pi.kind(row.value) is not None:
        return "pi"
    if claude_code.is_message(row.value):
        return "claude-code"
    if codex.is_message(row.value):
        return "codex"
    if openhands.is_message(row.value):
        return "openhands"
    if chat.is_message(row.value) or openai_responses.speaks(row.value):
        return "openai-chat"
    marked = isinstance(row.value, str) and isinstance(row.about, dict) and row.about.get("form") == "openai-responses"
    return "openai-chat" if marked else None
