"""What a text must hold before a pattern can match it, read off the pattern: looking for words is cheap (D4).

A few hundred patterns over every entry would cost tens of milliseconds; nearly all of them need a word that is not
there. The words are found by walking the parsed pattern, so a rule cannot fall out of step with its filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

# Python has no public way to a parsed pattern. Where these are gone every pattern simply runs.
try:
    from re import _constants as _codes  # type: ignore[attr-defined]
    from re import _parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover
    _codes = _parser = None

_NOTHING: Final = frozenset({""})
_NO_ROOM: Final = () if _codes is None else (_codes.AT, _codes.ASSERT, _codes.ASSERT_NOT)
_REPEATS: Final = () if _codes is None else (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT)

_EXACT_MAX = 48
"""Words that one stretch of a pattern may stand for before it is looked at in pieces."""
_NEEDLES_MAX = 120
_LEAST = 2

_SETS_MAX = 3
_GRAM = 3


class Needles:
    """Words of which one stands in every text that matches, by their first characters; short ones by themselves."""

    __slots__ = ("_by_gram", "_grams", "_short", "beginnings", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(sorted(words))
        self._by_gram: dict[str, list[str]] = {}
        self._short = tuple(word for word in self.words if len(word) < _GRAM)
        for word in self.words:
            if len(word) >= _GRAM:
                self._by_gram.setdefault(word[:_GRAM], []).append(word)
        self._grams = frozenset(self._by_gram)
        self.beginnings = None if self._short else self._grams
        """None: a word is too short to have one."""

    def occur(self, text: str, grams: frozenset[str]) -> bool:
        for word in self._short:
            if word in text:
                return True
        if self._grams.isdisjoint(grams):
            return False
        return any(word in text for gram in self._grams & grams for word in self._by_gram[gram])


class Sieve:
    """A pattern that is compiled and run only where the words stand that it needs."""

    __slots__ = ("_beginnings", "_compiled", "_needles", "source")

    def __init__(self, source: str) -> None:
        self.source: Final = source
        self._needles: tuple[Needles, ...] | None = None
        self._beginnings: tuple[frozenset[str], ...] = ()
        self._compiled: re.Pattern[str] | None = None

    def may_match(self, text: str) -> bool:
        if self._needles is None:
            self._needles = needles_of(self.source)
            # First the beginnings alone: of most patterns none is there, and that is one look at a set.
            self._beginnings = tuple(each.beginnings for each in self._needles if each.beginnings is not None)
        if not self._needles:
            return True
        grams = _grams(text)
        for beginnings in self._beginnings:
            if beginnings.isdisjoint(grams):
                return False
        return all(needles.occur(text, grams) for needles in self._needles)

    @property
    def pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.source)
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.may_match(text) else None

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        return self.pattern.finditer(text) if self.may_match(text) else ()


@lru_cache(maxsize=16)
def _grams(text: str) -> frozenset[str]:
    """All stretches of three characters of a text; the same few readings of one text are asked about by all rules."""
    return frozenset(map("".join, zip(text, text[1:], text[2:], strict=False)))


@cache
def sieve(source: str) -> Sieve:
    """The sieve of a pattern; one of each, however many rules share it."""
    return Sieve(source)


def needles_of(source: str) -> tuple[Needles, ...]:
    """The most telling sets of words of which every match holds one each; none: the pattern has to run.

    Only for patterns that tell letter case apart.
    """
    if _parser is None:
        return ()
    exact, sets = _sequence(_parser.parse(source))
    ranked = sorted(set(_useful([*sets, exact])), key=_worth, reverse=True)
    return tuple(Needles(words) for words in ranked[:_SETS_MAX])


Words: TypeAlias = "frozenset[str] | None"
"""All the texts that a piece of a pattern stands for, when they are few."""


def _useful(sets: Iterable[Words]) -> list[frozenset[str]]:
    return [each for each in sets if each and len(each) <= _NEEDLES_MAX and _least(each) >= _LEAST]


def _least(words: frozenset[str]) -> int:
    return min(map(len, words))


def _worth(words: frozenset[str]) -> tuple[int, int, str]:
    return min(_least(words), 4), -len(words), min(words)


def _sequence(tree: Any) -> tuple[Words, list[Words]]:
    """All texts of a sequence when they are few; and sets of words of which every match of it holds one each."""
    sets: list[Words] = []
    exact: frozenset[str] = _NOTHING
    whole = True
    for op, args in tree:
        if op in _NO_ROOM:
            continue  # What stands around them stands together.
        words, inside = _node(op, args)
        if words is not None and len(exact) * len(words) <= _EXACT_MAX:
            exact = words if exact is _NOTHING else frozenset([a + b for a in exact for b in words])
            continue
        whole = False
        sets.append(exact)
        sets += inside
        exact = _NOTHING if words is None else words
    if whole:
        return exact, sets
    return None, [*sets, exact]


def _node(op: Any, args: Any) -> tuple[Words, list[Words]]:
    if op is _codes.LITERAL:
        return frozenset((chr(args),)), []
    if op is _codes.IN:
        letters = [chr(value) for kind, value in args if kind is _codes.LITERAL]
        return (frozenset(letters) if len(letters) == len(args) <= 8 else None), []
    if op is _codes.SUBPATTERN:
        return _sequence(args[-1])
    if op is _codes.ATOMIC_GROUP:
        return _sequence(args)
    if op is _codes.BRANCH:
        return _branch([_sequence(branch) for branch in args[1]])
    if op in _REPEATS:
        low, high, tree = args
        words, inside = _sequence(tree)
        if (low, high) == (0, 1):
            return (None if words is None else words | _NOTHING), []
        return None, ([*inside, words] if low else [])
    return None, []


def _branch(branches: list[tuple[Words, list[Words]]]) -> tuple[Words, list[Words]]:
    exact = [words for words, _ in branches if words is not None]
    if len(exact) == len(branches) and sum(map(len, exact)) <= _EXACT_MAX:
        return frozenset().union(*exact), []
    best = [max(_useful([*inside, words]), key=_worth, default=None) for words, inside in branches]
    held = [words for words in best if words is not None]
    return None, ([frozenset().union(*held)] if len(held) == len(best) else [])


# --- how a match begins

_BEGINNINGS_MAX = 200


def beginnings_of(pattern: re.Pattern[str], letters: int) -> frozenset[str]:
    """Words of at most so many letters of which every match begins with one; empty: nobody can say."""
    if _parser is None:
        return frozenset()
    found = _beginnings(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG), letters)
    return frozenset(word[:letters] for word, _ in found) if len(found) <= _BEGINNINGS_MAX else frozenset()


Beginnings: TypeAlias = "list[tuple[str, bool]]"
"""Words, each with whether the pattern is known to go on right after it."""


def _beginnings(tree: Any, letters: int) -> Beginnings:
    found: Beginnings = [("", True)]
    for op, args in tree:
        growing = [word for word, goes_on in found if goes_on and len(word) < letters]
        if not growing or len(found) > _BEGINNINGS_MAX:
            break
        if op in _NO_ROOM:
            continue
        steps = _first(op, args, letters)
        found = [pair for pair in found if not pair[1] or len(pair[0]) >= letters]
        found += [(word + step, goes_on) for word in growing for step, goes_on in steps]
    return found


def _first(op: Any, args: Any, letters: int) -> Beginnings:
    if op is _codes.LITERAL:
        return [(chr(args), True)]
    if op is _codes.IN:
        return _letters(args)
    if op is _codes.SUBPATTERN:
        return _beginnings(args[-1], letters)
    if op is _codes.BRANCH:
        return [pair for branch in args[1] for pair in _beginnings(branch, letters)]
    if op in _REPEATS:
        low, high, tree = args
        once = _beginnings(tree, letters)
        if (low, high) == (0, 1):
            return [("", True), *once]
        if low:
            return [(word, goes_on and high == 1) for word, goes_on in once]
    return [("", False)]


def _letters(args: Any) -> Beginnings:
    found: list[str] = []
    for kind, value in args:
        if kind is _codes.LITERAL:
            found.append(chr(value))
        elif kind is _codes.RANGE and value[1] - value[0] < 10:
            found += map(chr, range(value[0], value[1] + 1))
        else:
            return [("", False)]
    return [(letter, True) for letter in found] if len(found) <= 10 else [("", False)]
