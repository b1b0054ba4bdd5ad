"""What a text must pass before it becomes memory: each check one pure named function, linear in the text (D4).

``check_entry`` judges one entry, ``check_passage`` text of several lines (a summary, a message), ``check_document``
the whole. Findings say what and where and hold no secret. Codes are stable:

entry_empty, entry_too_long, mark_flood, hidden_character, control_character, line_break, separator,
role_marker, hidden_markup, homoglyph, instruction, exfiltration, permission, deception, trigger,
manipulation, encoded_payload, credential, duplicate, near_duplicate, too_many_entries, document_too_long,
erased, forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol

from ..catalogue import Finding
from ..limits import MemoryLimits
from ..message import Trust
from .credentials import find_credentials, redact_credentials
from .encoded import decoded, find_escaped_letters
from .fold import plain_view, unspaced
from .hidden import find_hidden
from .homoglyphs import find_homoglyphs
from .likeness import find_duplicates
from .lines import find_controls, find_line_breaks, find_separator
from .markup import find_active_markup, find_hidden_markup, find_role_markers
from .meaning import find_meaning
from .size import find_document_size, find_floods, find_size

__all__ = [
    "BY_HAND",
    "CHECKS",
    "Check",
    "check_document",
    "check_entry",
    "check_passage",
    "checking",
    "redact_credentials",
]

BY_HAND: Trust = "operator"
"""Whose words a hand edit or an old file is: a person sees the outcome, so the classifier must be surer (D8)."""

CHECKS = ("size", "lines", "hidden", "homoglyphs", "markup", "meaning", "credentials", "duplicates", "document")
"""Names of the checks that every new entry passes; a revision's receipt lists them (D15)."""


def check_entry(text: str, source: Trust = "user", *, entry_chars_max: int = 1_000) -> tuple[Finding, ...]:
    """All findings of one proposed entry; empty means that it may become memory (D4).

    ``source`` is the trust of where it came from: outside sources are read more strictly. An oversized text
    gets that one finding, no pattern is run over it.
    """
    if sized := find_size(text, entry_chars_max=entry_chars_max):
        return sized
    return _entry(text, source)


class Check(Protocol):
    """Judges one entry as ``check_entry`` does: what every door of memory asks before it lets a text in."""

    def __call__(self, text: str, source: Trust = "user", *, entry_chars_max: int = 1_000) -> tuple[Finding, ...]: ...


def checking(redact: Callable[[str], tuple[str, int]], scanner: str) -> Check:
    """``check_entry``, and then what a scanner named ``scanner`` takes for a secret besides (D4)."""
    if redact is redact_credentials:
        return check_entry

    def check(text: str, source: Trust = "user", *, entry_chars_max: int = 1_000) -> tuple[Finding, ...]:
        found = check_entry(text, source, entry_chars_max=entry_chars_max)
        if len(text) > entry_chars_max or any(finding.code == "credential" for finding in found):
            return found
        if not redact(text)[1]:
            return found
        message = f"{scanner} takes it for a secret; keep it in a vault and note where it is"
        return (*found, Finding(code="credential", message=message))

    return check


@lru_cache(maxsize=1_000)
def _entry(text: str, source: Trust) -> tuple[Finding, ...]:
    # Remembered, since an entry is asked about when it is proposed, planned, decided on, restored: a megabyte at most.
    return (*find_line_breaks(text), *find_controls(text), *find_separator(text), *_content(text, source))


def check_passage(text: str, source: Trust = "model") -> tuple[Finding, ...]:
    """The same for text of several lines: a summary, a note for the model (C5). Size is the caller's limit."""
    return (*find_controls(text), *find_separator(text), *_content(text, source, passage=True))


def _content(text: str, source: Trust, *, passage: bool = False) -> tuple[Finding, ...]:
    view = plain_view(text)
    return (
        *find_floods(text),
        *find_hidden(text),
        *find_homoglyphs(text),
        *find_role_markers(view),
        *find_hidden_markup(view),
        *find_active_markup(view),
        *find_meaning(text, source, view, passage=passage),
        *find_escaped_letters(text),
        *find_secrets(text),
    )


def find_secrets(text: str) -> tuple[Finding, ...]:
    """Credentials in the open, with letters set apart, and inside an encoding."""
    found = list(find_credentials(text))
    joined = unspaced(text)
    if joined != text and not found:
        found += [f.model_copy(update={"span": None}) for f in find_credentials(joined)]
    for plain, span in decoded(text):
        found += [f.model_copy(update={"span": span}) for f in find_credentials(plain)[:1]]
    return tuple(found)


def check_document(
    entries: Sequence[str], limits: MemoryLimits | None = None, count: Callable[[str], int] | None = None
) -> tuple[Finding, ...]:
    """Whether the entries together are a document: number, characters, tokens when counted, no duplicates (D4)."""
    return (*find_document_size(entries, limits or MemoryLimits(), count), *find_duplicates(entries))
