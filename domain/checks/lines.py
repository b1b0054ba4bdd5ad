"""What would break the line form of the memory file: line breaks, control characters, separators (D1)."""

from __future__ import annotations

import unicodedata

from ..catalogue import Finding

SEPARATOR = "§"

_BREAKS = {
    "\n": "line feed",
    "\r": "carriage return",
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\x1c": "file separator",
    "\x1d": "group separator",
    "\x1e": "record separator",
    "\x85": "next line (NEL)",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
}
"""Everything that some reader takes for the end of a line; ``str.splitlines`` takes all of them."""
_SPACES = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""The tab and every character of the category of spaces."""


def find_line_breaks(text: str) -> tuple[Finding, ...]:
    """Any line break inside an entry: an entry is one line, so a second one would be a second entry (D1)."""
    for at, char in enumerate(text):
        if char in _BREAKS:
            return (
                Finding(
                    code="line_break",
                    message=f"a line break ({_BREAKS[char]}, U+{ord(char):04X}) at character {at + 1}; "
                    "write the entry on one line",
                    span=(at, at + 1),
                ),
            )
    return ()


def find_controls(text: str) -> tuple[Finding, ...]:
    """Control characters (NUL, escape, backspace, C1): they rewrite what a reviewer sees. A tab is let through."""
    for at, char in enumerate(text):
        if char in _BREAKS or char == "\t":
            continue
        if unicodedata.category(char) == "Cc":
            return (
                Finding(
                    code="control_character",
                    message=f"the control character U+{ord(char):04X} at character {at + 1}; remove it",
                    span=(at, at + 1),
                ),
            )
        if "\ud800" <= char <= "\udfff":
            return (
                Finding(
                    code="control_character",
                    message=f"half of a surrogate pair at character {at + 1}; the text is not valid Unicode",
                    span=(at, at + 1),
                ),
            )
    return ()


def find_separator(text: str) -> tuple[Finding, ...]:
    """An entry that is nothing but the separator, also when spaces or invisible characters surround it."""
    for line in _all_lines(text):
        seen = "".join(c for c in unicodedata.normalize("NFKC", line) if unicodedata.category(c)[0] not in "ZCM")
        if seen and not seen.strip(SEPARATOR):
            return (
                Finding(
                    code="separator",
                    message="a line that holds only the separator § would end the entry; write it inside a sentence",
                    span=(0, len(text)),
                ),
            )
    return ()


def _all_lines(text: str) -> list[str]:
    for mark in _BREAKS:
        text = text.replace(mark, "\n")
    return text.split("\n")


def trim(text: str) -> str:
    """Without space characters and tabs at both ends (control characters stay: they are findings, not space)."""
    return text.strip(_SPACES)


def structure(text: str) -> tuple[Finding, ...]:
    """What makes a text impossible as a line of the file, whatever its meaning."""
    return (*find_line_breaks(text), *find_controls(text), *find_separator(text))
