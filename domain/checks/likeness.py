"""When two entries say the same: after folding, and nearly; numbers and names that differ keep them apart (D4)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from ..catalogue import Finding

_TOKEN = re.compile(r"[^\W_]{1,200}")
_EXACT = re.compile(r"\d|[/\\@_#%]|[a-z][A-Z]|\.\w|--")
_NEAR = 0.82
_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "be",
        "to",
        "of",
        "in",
        "on",
        "at",
        "for",
        "and",
        "or",
        "with",
        "by",
        "it",
        "its",
        "that",
        "this",
    ]
)
_ENDINGS = frozenset(["s", "es", "d", "ed", "ing"])
# fmt: off
_NUMBERS = frozenset([
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty",
    "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "first", "second",
    "third", "fourth", "fifth", "once", "twice", "half", "double", "monday", "tuesday", "wednesday", "thursday",
    "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december", "null", "eins", "zwei", "drei", "vier", "fünf", "sechs",
    "sieben", "acht", "neun", "zehn", "elf", "zwölf", "hundert", "tausend", "erste", "zweite", "dritte",
])
# fmt: on
"""Words that count or date: as exact as digits are."""
_OPPOSITES = frozenset(
    [
        "not",
        "no",
        "never",
        "n't",
        "without",
        "don't",
        "doesn't",
        "isn't",
        "cannot",
        "can't",
        "only",
        "except",
        "unless",
        "old",
        "new",
        "before",
        "after",
        "enable",
        "enabled",
        "disable",
        "disabled",
        "on",
        "off",
        "true",
        "false",
        "allow",
        "deny",
        "allowed",
        "forbidden",
        "yes",
        "minimum",
        "maximum",
        "min",
        "max",
        "nicht",
        "kein",
        "keine",
        "pas",
        "non",
    ]
)


@lru_cache(maxsize=4096)
def normal_form(text: str) -> str:
    """A text without what does not change its meaning: case, spacing, punctuation, compatibility forms.

    Signs that carry meaning inside a value stay (``c++``, ``c#``, ``-1``, ``.5``, ``a/b``).
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(map(_bare, folded.split()))


def _bare(word: str) -> str:
    bare = word.strip("\"'`.,;:!?()[]{}<>«»„“”‘’…。，、；：！？·•*") or word
    return f".{bare}" if bare[0].isdigit() and f".{bare}" in word else bare


@lru_cache(maxsize=4096)
def words(text: str) -> Counter[str]:
    """The words of a text that carry meaning, folded, with their number."""
    return Counter(word for word in _TOKEN.findall(normal_form(text)) if word not in _STOP)


@lru_cache(maxsize=4096)
def _values(text: str) -> tuple[str, ...]:
    """The words of a text that name something exactly, in order: numbers, paths, identifiers, names, opposites.

    In order, for "http on 80, https on 443" is another fact than "http on 443, https on 80".
    """
    found: list[str] = []
    for place, word in enumerate(text.split()):
        bare = word.strip(".,;:!?\"'`()")
        folded = normal_form(word)
        exact = _EXACT.search(word.rstrip(".,;:!?")) or (place and bare[:1].isupper())
        if exact or folded in _OPPOSITES or folded in _NUMBERS:
            found.append(bare if exact else folded)
        else:
            found.extend(one for one in _TOKEN.findall(folded) if one in _OPPOSITES or one in _NUMBERS)
    return tuple(found)


def is_exact(word: str) -> bool:
    """Whether a folded word counts, dates or turns a sentence round: without it the sentence says something else."""
    return word in _NUMBERS or word in _OPPOSITES or any(char.isdigit() for char in word)


@lru_cache(maxsize=4096)
def _sequence(text: str) -> tuple[str, ...]:
    return tuple(word for word in _TOKEN.findall(normal_form(text)) if word not in _STOP)


def is_duplicate(one: str, other: str) -> bool:
    """Whether two entries are the same text after folding."""
    return normal_form(one) == normal_form(other)


def is_near_duplicate(one: str, other: str) -> bool:
    """Whether two entries say the same in nearly the same words, with the same numbers and names.

    "port 8080" and "port 8081" differ, and so do "enabled" and "disabled", "seven days" and "eight days".
    """
    if is_duplicate(one, other):
        return True
    if _values(one) != _values(other):
        return False
    short, long = sorted((_sequence(one), _sequence(other)), key=len)
    if len(short) < 3 or 2 * len(short) < _NEAR * (len(short) + len(long)):
        return False
    # A word put in the place of another, or the same words in another order, may be the whole point of an entry, in a
    # long one too: only words that were added or dropped are near.
    rest = iter(long)
    return all(any(_same_word(word, candidate) for candidate in rest) for word in short)


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long == short or (len(short) > 3 and long.startswith(short) and long[len(short) :] in _ENDINGS)


def find_duplicates(entries: Sequence[str]) -> tuple[Finding, ...]:
    """Entries that repeat an earlier one after folding, by their number (from 1)."""
    seen: dict[str, int] = {}
    found: list[Finding] = []
    for number, entry in enumerate(entries, 1):
        first = seen.setdefault(normal_form(entry), number)
        if first != number:
            message = f"entry {number} says the same as entry {first}; keep one of them"
            found.append(Finding(code="duplicate", message=message))
    return tuple(found)


_ASSIGNED = re.compile(r"(?<=\w)=(?=\w)")
_BINDS = re.compile(r"(?:^|[\s])(?:is|are|was|=|:|equals|now|ist|est|es|是)$|[:=]$", re.IGNORECASE)


def contradicts(old: str, new: str) -> bool:
    """Whether a text gives the same thing another value: "the port is 8080", then "the port is 8081".

    Narrow on purpose: the texts are equal word by word but for one value that follows *is*, ``:`` or ``=`` and holds
    a digit in both. Anything less clear is a second entry, for a person to sort out.
    """
    left, right = _parts(old), _parts(new)
    if len(left) != len(right) or len(left) < 3 or left[0].casefold() != right[0].casefold():
        return False
    at = 0
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        if one != other and normal_form(one) != normal_form(other):
            if at or not place:
                return False
            at = place
    if not at or not _BINDS.search(left[at - 1]):
        return False
    return all(any(char.isdigit() for char in side[at]) for side in (left, right))


@lru_cache(maxsize=4096)
def _parts(text: str) -> list[str]:
    return _ASSIGNED.sub(" = ", text.rstrip(".")).split()
