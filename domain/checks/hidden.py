"""Characters that a reader does not see: tags, bidi controls, zero width, fillers, stray variation selectors (D4).

Legitimate uses pass: joiners inside emoji and in scripts that need them, one presentation selector after a
symbol, one ideographic selector after a Chinese character, the three regional flags that are well formed.
"""

from __future__ import annotations

import unicodedata

from ..catalogue import Finding

_FLAG = "\U0001f3f4"
_FLAGS = tuple(
    _FLAG + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""Of England, Scotland and Wales: a flag, tags that spell the region, the tag that ends them."""
_ZWNJ, _ZWJ = "\u200c", "\u200d"

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Fillers and blanks whose category is a letter, mark or symbol, so that no category test finds them."""

_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") | frozenset(
    "\u206a\u206b\u206c\u206d\u206e\u206f"
)
_SIGNS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs that are seen, for they enclose or precede digits, though their category is that of what is not."""

_JOINING_SCRIPTS = (
    (0x0600, 0x0DFF),  # Arabic, Syriac, Thaana, N'Ko and their supplements, the Indic scripts
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0xA840, 0xA8FF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFF),
)


def find_hidden(text: str) -> tuple[Finding, ...]:
    """The first character of each hidden kind, with its place; one finding a kind, so that a flood stays readable."""
    found: dict[str, Finding] = {}
    at = 0
    while at < len(text):
        char = text[at]
        if char < "\u00ad":
            at += 1
            continue
        if char == _FLAG and text.startswith(_FLAGS, at):
            at += len(_FLAGS[0])
            continue
        kind = _kind(text, at)
        if kind is not None and kind not in found:
            found[kind] = Finding(
                code="hidden_character",
                message=f"{kind} (U+{ord(char):04X}) at character {at + 1}; remove it",
                span=(at, at + 1),
            )
        at += 1
    return tuple(found.values())


def _kind(text: str, at: int) -> str | None:
    char = text[at]
    code = ord(char)
    if 0xE0000 <= code <= 0xE007F:
        return "a tag character"
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F:
        return None if _selects(text, at) else "a stray variation selector"
    if char in (_ZWJ, _ZWNJ):
        return None if _joins(text, at) else "a joiner without a use"
    if char in _INVISIBLE:
        return "an invisible filler"
    category = unicodedata.category(char)
    if category == "Cf":
        return (
            None if char in _SIGNS else "a text direction control" if char in _DIRECTIONS else "an invisible character"
        )
    if category == "Co" or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "a private or undefined character"
    return None


def _selects(text: str, at: int) -> bool:
    """A variation selector is of use directly after the one character whose looks it selects."""
    if at == 0:
        return False
    base, code = text[at - 1], ord(text[at])
    if code >= 0xE0100:
        return unicodedata.category(base) == "Lo" and ord(base) > 0x2E80
    if 0x180B <= code <= 0x180F:
        # Not after another: a row of them would carry whatever nobody sees. A vowel may be set apart after one.
        if 0x180B <= ord(base) <= 0x180F:
            return code == 0x180E and base != "\u180e"
        return 0x1800 <= ord(base) <= 0x18AF
    if code in (0xFE0E, 0xFE0F):
        return base in "#*0123456789©®‼⁉™ℹ" or unicodedata.category(base) in {"So", "Sm", "Sk", "Po"}
    return unicodedata.category(base) in {"Lo", "Sm", "So", "Nd"} and ord(base) > 0x7F


def _joins(text: str, at: int) -> bool:
    if at == 0 or at + 1 == len(text):
        return False
    before, after = ord(text[at - 1]), ord(text[at + 1])
    if any(low <= before <= high for low, high in _JOINING_SCRIPTS):
        return True
    return text[at] == _ZWJ and _is_pictograph(before) and _is_pictograph(after)


def _is_pictograph(code: int) -> bool:
    return 0x2190 <= code <= 0x2BFF or 0x1F000 <= code <= 0x1FAFF or code == 0xFE0F
