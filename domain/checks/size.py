"""How much an entry and a document may measure; always the first check, so that no pattern meets a large text (D4)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from ..catalogue import Finding
from ..limits import MemoryLimits

MARKS_MAX = 4
"""Combining marks on one base: Vietnamese and pointed Hebrew need two or three, zalgo text dozens."""
SPACES_MAX = 64
"""A run of spaces this long pushes what follows out of a reviewer's sight."""


def measure(text: str, most: int) -> str:
    """The sentence that says how far over the limit a text is."""
    return f"the entry has {len(text):,} characters, at most {most:,} are kept; shorten or split it"


def find_size(text: str, *, entry_chars_max: int) -> tuple[Finding, ...]:
    """Empty and oversized entries."""
    if not text.strip():
        return (Finding(code="entry_empty", message="the entry is empty; write one fact"),)
    if len(text) > entry_chars_max:
        message = measure(text, entry_chars_max)
        return (Finding(code="entry_too_long", message=message, span=(entry_chars_max, len(text))),)
    return ()


def find_floods(text: str) -> tuple[Finding, ...]:
    """Piled combining marks, and runs of space that hide the rest of a line."""
    marks = spaces = 0
    for at, char in enumerate(text):
        category = unicodedata.category(char)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        spaces = spaces + 1 if category == "Zs" or char == "\t" else 0
        if marks > MARKS_MAX:
            message = f"more than {MARKS_MAX} combining marks on one character; write plain text"
            return (Finding(code="mark_flood", message=message, span=(at - marks, at + 1)),)
        if spaces > SPACES_MAX:
            message = f"more than {SPACES_MAX} spaces in a row push text out of sight; remove them"
            return (Finding(code="hidden_character", message=message, span=(at - spaces + 1, at + 1)),)
    return ()


def find_document_size(
    entries: Sequence[str], limits: MemoryLimits, count: Callable[[str], int] | None = None
) -> tuple[Finding, ...]:
    """Whether the whole document is within its limits: entries, characters, and tokens when a counter is given."""
    found: list[Finding] = []
    if len(entries) > limits.memory_entries_max:
        found.append(
            Finding(
                code="too_many_entries",
                message=f"{len(entries)} entries, at most {limits.memory_entries_max} are kept; remove some first",
            )
        )
    text = "\n§\n".join(entries) + "\n" if entries else ""
    if len(text) > limits.memory_chars_max:
        found.append(
            Finding(
                code="document_too_long",
                message=f"{len(text):,} characters with delimiters, at most {limits.memory_chars_max:,} are kept; "
                "remove or shorten entries first",
            )
        )
    tokens = count(text) if count and text else 0
    if tokens > limits.memory_tokens_max:
        found.append(
            Finding(
                code="document_too_long",
                message=f"{tokens:,} tokens with delimiters, at most {limits.memory_tokens_max:,} are kept; "
                "remove or shorten entries first",
            )
        )
    return tuple(found)
