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
    words = [word.strip("\"'`.,;:!?()[]{}<>«»„“”‘’…。，、；：！？·•*") or word for word in folded.split()]
    return " ".join(words)


@lru_cache(maxsize=4096)
def words(text: str) -> Counter[str]:
    """The words of a text that carry meaning, folded, with their number."""
    return Counter(word for word in _TOKEN.findall(normal_form(text)) if word not in _STOP)


@lru_cache(maxsize=4096)
def _values(text: str) -> Counter[str]:
    """The words of a text that name something exactly: numbers, paths, identifiers, negations, opposites."""
    exact = Counter(word.strip(".,;:!?\"'`()") for word in text.split() if _EXACT.search(word.rstrip(".,;:!?")))
    exact.update(word for word in _TOKEN.findall(normal_form(text)) if word in _OPPOSITES)
    exact.update(word for word in normal_form(text).split() if word in _OPPOSITES)
    return exact


def is_duplicate(one: str, other: str) -> bool:
    """Whether two entries are the same text after folding."""
    return normal_form(one) == normal_form(other)


def is_near_duplicate(one: str, other: str) -> bool:
    """Whether two entries say the same in nearly the same words, with the same numbers and names.

    "port 8080" and "port 8081" differ, and so do "enabled" and "disabled".
    """
    if is_duplicate(one, other):
        return True
    if _values(one) != _values(other):
        return False
    left, right = words(one), words(other)
    if min(left.total(), right.total()) < 3:
        return False
    shared = (left & right).total()
    # One word put in place of another may be the whole point of the entry: only added or dropped words are near.
    if (left - right) and (right - left) and left.total() < 10:
        return False
    return 2 * shared / (left.total() + right.total()) >= _NEAR


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


_BINDS = re.compile(r"(?:^|[\s])(?:is|are|was|=|:|equals|now|ist|est|es|是)$|[:=]$", re.IGNORECASE)


def contradicts(old: str, new: str) -> bool:
    """Whether a text gives the same thing another value: "the port is 8080", then "the port is 8081".

    Narrow on purpose: the texts are equal word by word but for one value after *is*, ``:`` or ``=``; both values
    hold a digit, or end the sentence. Anything less clear is a second entry, for a person to sort out.
    """
    left, right = old.rstrip(".").split(), new.rstrip(".").split()
    if len(left) != len(right) or len(left) < 3:
        return False
    differ = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if normal_form(a) != normal_form(b)]
    if len(differ) != 1 or differ[0] == 0:
        return False
    at = differ[0]
    if not _BINDS.search(left[at - 1]):
        return False
    return at == len(left) - 1 and bool(re.search(r"\d", left[at]) and re.search(r"\d", right[at]))
