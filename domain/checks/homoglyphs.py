"""Letters that only look like the letters of a word: scripts mixed inside a word, styled alphabets (D4)."""

from __future__ import annotations

import re
import unicodedata

from ..catalogue import Finding
from .fold import fold_char

_WORD = re.compile(r"[^\W\d_]{2,100}")
_ENCLOSED = re.compile("[\u24b6-\u24e9\U0001f130-\U0001f189]{3,100}")
_UNITS = frozenset("µμΩωΔδπ∂λσ")
"""Signs that stand beside Latin letters in units and formulas (µs, kΩ, Δt)."""
_STYLED_MIN = 3


def find_homoglyphs(text: str) -> tuple[Finding, ...]:
    """Words that mix Latin with look-alikes of another script, and words set in a styled alphabet."""
    if text.isascii():
        return ()
    wide_is_usual = any(_is_east_asian(char) for char in text)
    for word in _WORD.finditer(text):
        reason = _reason(word[0], wide_is_usual=wide_is_usual)
        if reason is not None:
            return (
                Finding(
                    code="homoglyph",
                    message=f"the word at character {word.start() + 1} {reason}; write it in plain letters",
                    span=word.span(),
                ),
            )
    if enclosed := _ENCLOSED.search(text):
        message = f"the word at character {enclosed.start() + 1} is set in enclosed letters; write it in plain letters"
        return (Finding(code="homoglyph", message=message, span=enclosed.span()),)
    return ()


def _reason(word: str, *, wide_is_usual: bool) -> str | None:
    if word.isascii():
        return None
    styled = sum(map(_is_styled, word))
    wide = sum("\uff21" <= char <= "\uff5a" for char in word)
    if styled >= _STYLED_MIN or (wide >= _STYLED_MIN and not wide_is_usual):
        return "is set in a styled alphabet that hides it from a search"
    foreign = [char for char in word if _script(char) != "LATIN" and char not in _UNITS]
    latin = [char for char in word if _script(char) == "LATIN"]
    if latin and foreign and all(_imitates(char) for char in foreign):
        return "mixes scripts with letters that look alike"
    return None


def _imitates(char: str) -> bool:
    folded = fold_char(char)
    return len(folded) == 1 and folded.isascii()


def _is_styled(char: str) -> bool:
    """Mathematical letters, small capitals and raised letters; letters in a circle or a square are none, but signs."""
    if "\U0001d400" <= char <= "\U0001d7ff":
        return True
    name = unicodedata.name(char, "")
    return "LETTER SMALL CAPITAL" in name or name.startswith("MODIFIER LETTER SMALL")


def _script(char: str) -> str:
    """The first word of a letter's name: LATIN, GREEK, CYRILLIC."""
    return unicodedata.name(char, "?").partition(" ")[0]


def _is_east_asian(char: str) -> bool:
    return "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"
