"""Characters that a reader does not see: tags, bidi controls, zero width, fillers, stray variation selectors (D4).

Legitimate uses pass: joiners inside emoji and in scripts that need them, one presentation selector after a
symbol, one ideographic selector after a Chinese character, the three regional flags that are well formed.
"""

from __future__ import annotations

import unicodedata

from ..catalogue import Finding

_FLAGS = frozenset({"gbeng", "gbsct", "gbwls"})
_FLAG = "\U0001f3f4"
_TAG_END = "\U000e007f"
_ZWNJ, _ZWJ = "\u200c", "\u200d"

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
"""Fillers and blanks whose category is a letter, mark or symbol, so that no category test finds them."""

_JOINING_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko and their supplements
    (0x0900, 0x0DFF),  # the Indic scripts
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
        if char == _FLAG and (length := _flag_length(text, at)):
            at += length
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


def _flag_length(text: str, at: int) -> int:
    end = text.find(_TAG_END, at + 1, at + 8)
    if end < 0:
        return 0
    region = "".join(chr(ord(char) - 0xE0000) if ord(char) > 0xE0000 else "?" for char in text[at + 1 : end])
    return end + 1 - at if region in _FLAGS else 0


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
        return _format_kind(code)
    if category == "Co" or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "a private or undefined character"
    return None


def _format_kind(code: int) -> str | None:
    if code in (0x200E, 0x200F, 0x061C) or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x206F:
        return "a text direction control"
    if 0x0600 <= code <= 0x0605 or code in (0x06DD, 0x070F, 0x08E2, 0x0890, 0x0891, 0x110BD, 0x110CD):
        return None  # visible signs that enclose or precede digits
    return "an invisible character"


def _selects(text: str, at: int) -> bool:
    """A variation selector is of use directly after the one character whose looks it selects."""
    if at == 0:
        return False
    base, code = text[at - 1], ord(text[at])
    if code >= 0xE0100:
        return unicodedata.category(base) == "Lo" and ord(base) > 0x2E80
    if 0x180B <= code <= 0x180F:
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
