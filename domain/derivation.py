"""Whose words a proposed text is made of: what a tool said first came from there, also when it was reworded (D13).

Provenance beats phrase lists: an attack that is worded harmlessly still came from where it came from. Two measures,
both of words and not of meaning: runs of words, for what was copied, and words that stand close together in one
message, for what was reworded. What is said anew in other words is beyond this; the checks read it, and
``source="tool"`` names it.

The numbers were measured on 1,500 sentences that agents wrote in the transcripts of the development data, each held
against the tool output of every session but its own (a hit there is chance), and on 24 notes that were reworded by
hand, half of them lightly; ``docs/explanation/threat-model.md`` has the table.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,200}")
"""A word; in scripts that put no space between words, one character."""
RUN_WORDS = 6
"""Words in a row that two people hardly ever choose alike: by chance 0 of 1,500 sentences, with five 2."""
LEAST_WORDS = 4
"""A shorter text says too little to tell where it came from."""
RUN_SHARE = 0.5
"""Share of the words, in such runs, from which on the text counts as copied."""
NEAR_SHARE = 0.8
"""Share of the words that carry meaning, close together in one message, from which on it counts as reworded: by chance
4 of 1,500 sentences; with 0.7 it would be 18, with 0.9 none, and two of 24 reworded notes fewer."""
NEAR_WINDOW = 1.5
"""Within how many times its own length the words have to stand."""
SOURCE_CHARS_MAX = 2_000_000
"""Characters that are looked through for one proposal, the newest first."""

_ENDINGS = ("ing", "ed", "es", "s")
# fmt: off
_EMPTY = frozenset([
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "in", "on", "at", "for", "and", "or",
    "with", "by", "it", "its", "that", "this", "these", "those", "you", "your", "must", "should", "will", "can",
    "may", "has", "have", "had", "from", "so", "as", "when", "if", "before", "after", "do", "does", "use", "used",
    "using", "need", "needs",
])
# fmt: on


@dataclass(frozen=True)
class Said:
    """One message, or something else that was said: ``outside`` by a tool, ``always`` whoever else said it before."""

    text: str
    outside: bool = False
    always: bool = False

    @cached_property
    def folded(self) -> str:
        return _folded(self.text)

    @cached_property
    def words(self) -> list[str]:
        return _TOKEN.findall(self.folded)

    @cached_property
    def content(self) -> list[str]:
        return _content(self.words)


def any_derived(texts: Iterable[str], said: Sequence[Said]) -> bool:
    """Whether one of the texts was taken over from outside, and nobody inside said it first.

    Copied by half, or reworded; ``said`` in the order in which it was said. Linear in the texts.
    """
    if not any(one.outside for one in said):
        return False
    return any(_derived(note, said) for note in map(_Note.of, texts) if note is not None)


def _derived(note: _Note, said: Sequence[Said]) -> bool:
    near = [note.near(one) for one in said]
    inside = max((share for share, one in zip(near, said, strict=True) if one.always), default=0.0)
    for share, one in zip(near, said, strict=True):
        if one.outside and share >= NEAR_SHARE and share > inside:
            return True
        if not one.outside:
            inside = max(inside, share)
    owner: list[bool | None] = [None] * len(note.words)
    for one in sorted(said, key=lambda one: not one.always):
        for at in note.runs(one):
            for word in range(at, at + note.size):
                if owner[word] is None:
                    owner[word] = one.outside
    return sum(outside is True for outside in owner) >= RUN_SHARE * len(owner)


@dataclass(frozen=True, slots=True)
class _Note:
    """A text that was proposed, ready to be looked for."""

    words: tuple[str, ...]
    size: int
    grams: dict[tuple[str, ...], list[int]]
    content: frozenset[str]
    span: int

    @classmethod
    def of(cls, text: str) -> _Note | None:
        words = tuple(_TOKEN.findall(_folded(text)))
        if len(words) < LEAST_WORDS:
            return None
        dense = sum(len(word) == 1 for word in words) > len(words) / 2
        size = min(len(words), RUN_WORDS * 2 if dense else RUN_WORDS)
        grams: dict[tuple[str, ...], list[int]] = {}
        for at in range(len(words) - size + 1):
            grams.setdefault(words[at : at + size], []).append(at)
        content = [] if dense else _content(words)
        kept = frozenset(content) if len(set(content)) >= LEAST_WORDS else frozenset()
        return cls(words, size, grams, kept, int(NEAR_WINDOW * len(content)))

    # Most of what tools say has nothing to do with the note, and to find a word is far cheaper than to split: so first
    # each measure asks whether the words are there at all.

    def runs(self, said: Said) -> Iterator[int]:
        """Where in the note runs of words begin that are in ``said`` too."""
        folded = said.folded
        missing = {word for word in self.words if word not in folded}
        grams = {gram: places for gram, places in self.grams.items() if missing.isdisjoint(gram)}
        if not grams:
            return
        words = said.words
        firsts = {gram[0] for gram in grams}
        for at, word in enumerate(words):
            if word in firsts:
                yield from grams.get(tuple(words[at : at + self.size]), ())

    def near(self, said: Said) -> float:
        """The largest share of the note's words that stand close together in ``said``."""
        folded, missing = said.folded, 0
        spare = (1 - NEAR_SHARE) * len(self.content) + 1e-9
        for word in self.content:
            missing += word not in folded
            if missing > spare:
                return 0.0
        if not self.content:
            return 0.0
        places = [(at, word) for at, word in enumerate(said.content) if word in self.content]
        return _most_within(places, self.span) / len(self.content)


def _most_within(places: Sequence[tuple[int, str]], span: int) -> int:
    """The largest number of different words within ``span`` places."""
    inside: Counter[str] = Counter()
    most = first = 0
    for at, word in places:
        inside[word] += 1
        while at - places[first][0] > span:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        most = max(most, len(inside))
    return most


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _content(words: Iterable[str]) -> list[str]:
    return [_stem(word) for word in words if word not in _EMPTY]


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word
