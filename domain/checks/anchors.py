"""Many patterns over one text at the price of one: each runs only where the letters stand that it begins with (D4).

The beginnings are read off the patterns and put into one tree, so a text is gone through once, however many shapes of
tokens there are. What is found is exactly what each pattern would find by itself; only the price differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .needles import beginnings_of

LETTERS_MAX = 6
"""Letters of a beginning that are looked for; more of them sort no better."""

Match: TypeAlias = "tuple[str, re.Match[str]]"


class Anchors:
    """Named patterns and the tree of their beginnings; ``small``: it is looked for in the text in small letters."""

    def __init__(self, patterns: Sequence[tuple[str, re.Pattern[str]]], *, before: str = "", small: bool = False):
        """``before`` is what every pattern asks of the letter before it."""
        self._small = small
        self._plain: list[tuple[int, str, re.Pattern[str]]] = []
        by_word: dict[str, list[tuple[int, str, re.Pattern[str]]]] = {}
        for number, (name, pattern) in enumerate(patterns):
            words = beginnings_of(pattern, LETTERS_MAX)
            if not words or min(map(len, words)) < 2:
                self._plain.append((number, name, pattern))
                continue
            for word in words:
                by_word.setdefault(word.lower() if small else word, []).append((number, name, pattern))
        roots = {word: _root(word, by_word) for word in by_word}
        self._by_root: dict[str, list[tuple[int, str, re.Pattern[str]]]] = {}
        for word, root in roots.items():
            known = self._by_root.setdefault(root, [])
            known += [each for each in by_word[word] if each not in known]
        for each in self._by_root.values():
            each.sort(key=lambda item: item[0])
        self._tree = re.compile(before + _tree(sorted(self._by_root))) if self._by_root else None

    def find(self, text: str, view: str | None = None) -> Iterator[Match]:
        """Every match of every pattern, as ``finditer`` gives them; ``view`` is the text in small letters."""
        for _, name, pattern in self._plain:
            yield from ((name, match) for match in pattern.finditer(text))
        if self._tree is None:
            return
        done: dict[int, int] = {}
        by_root = self._by_root
        view = small_letters(text) if self._small and view is None else view or text
        at = -1
        # One beginning may stand in another, so the search goes on right after the first letter of it.
        while (spot := self._tree.search(view, at + 1)) is not None:
            at = spot.start()
            for number, name, pattern in by_root[spot[0]]:
                if done.get(number, 0) <= at and (match := pattern.match(text, at)) is not None:
                    done[number] = match.end()
                    yield name, match


@dataclass(frozen=True, slots=True)
class Around:
    """A pattern whose telling letters stand in its middle: it runs in the stretches around them, and nowhere else."""

    name: str
    pattern: re.Pattern[str]
    middle: re.Pattern[str]
    before: int
    """Characters that a match may have before the middle."""
    after: int
    """Characters after it, and one that the pattern looks ahead to."""

    def find(self, text: str, view: str | None = None) -> Iterator[Match]:
        start = stop = -1
        for spot in self.middle.finditer(view or text):
            first, last = max(0, spot.start() - self.before), spot.end() + self.after
            if first > stop:
                if stop > 0:
                    yield from self._within(text, start, stop)
                start = first
            stop = last
        if stop > 0:
            yield from self._within(text, start, stop)

    def _within(self, text: str, start: int, stop: int) -> Iterator[Match]:
        return ((self.name, match) for match in self.pattern.finditer(text, start, stop))


def small_letters(text: str) -> str:
    """The text in small letters, each at its place: of all letters only one becomes two by it."""
    return text.replace("İ", "i").lower().replace("ſ", "s")


def _root(word: str, words: Iterable[str]) -> str:
    """The shortest of the words that a word begins with: the tree would not look further than that."""
    return min((each for each in words if word.startswith(each)), key=len)


def _tree(words: Sequence[str]) -> str:
    """A pattern for words none of which begins with another, branching letter by letter."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(letter) + (_tree(rest) if any(rest) else "") for letter, rest in sorted(by_letter.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
