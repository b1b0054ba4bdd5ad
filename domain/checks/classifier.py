"""A linear classifier of what an entry would do to its reader, learnt from labelled lines (D4, D13).

Rules name what is known; this weighs words, pairs of words and stretches of letters, and so also meets attacks
that no phrase list foresees. The weights are whole numbers in ``weights.json``: a sum is the same in any order and
on any machine. ``tests/training`` holds the lines and the program that learns from them; how often it errs on lines
it never saw is in the documentation of the checks.
"""

from __future__ import annotations

import json
import math
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from ..catalogue import Finding
from .features import letters, plain, words

__all__ = ["find_manipulation", "heaviest", "is_plain", "score", "sentences", "weights"]

_SENTENCE_END = re.compile(r"(?<=[.!?;。！？])\s{1,9}|(?<=[。！？])|\n{1,9}")
_LINE_END = re.compile(r"\n{1,9}")
_PIECES_MAX = 400
"""The rest of a longer text is read in one piece."""
_WORDS_NAMED = 3
_TELLING = re.compile(
    r"(?=.{0,40}[^\W\d_]{4})[^\W\d_]{1,40}(?: (?:_ )?[^\W\d_]{1,40})?|[\u3040-\u9fff\uac00-\ud7af]{2}"
)
"""A word or a pair that tells something to a person: no signs, and one of the two longer than "of" and "the"."""
_LETTERS_MIN = 8
"""A shorter stretch says too little to be judged."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learnt: a weight for each feature, in thousandths, and how much it takes to call a text an attack."""

    words: Mapping[str, int]
    letters: Mapping[str, int]
    bias: int
    entry: int
    sentence: int
    passage: int


@cache
def weights() -> Weights:
    """Read once, at the first text that is judged."""
    kept = pkgutil.get_data(__package__, "weights.json")
    assert kept is not None, "the package was installed without its weights"
    return Weights(**json.loads(kept)["weights"])


@lru_cache(maxsize=256)
def score(text: str) -> float:
    """How much a text reads like an attack, in thousandths; the more the likelier, 0 is no certainty of either."""
    # Remembered, since a line of a summary is asked about twice: as a passage, and whether it is plain by itself.
    learnt, text = weights(), plain(text)
    return learnt.bias + _block(words(text), learnt.words) + _block(letters(text), learnt.letters)


def _block(features: frozenset[str], learnt: Mapping[str, int]) -> float:
    return sum(map(learnt.__getitem__, learnt.keys() & features)) / math.sqrt(max(1, len(features)))


Kind: TypeAlias = Literal["entry", "hand", "passage"]
"""What is judged: a proposed entry; one that a person wrote into the file or hands over; text of several lines."""


def find_manipulation(text: str, *, of: Kind = "entry") -> tuple[Finding, ...]:
    """At most one finding: the whole entry, or its worst sentence, reads like an attack; of a passage, its worst line.

    A sentence by itself must be plainer than an entry; so must what a person wrote, and a line of a passage, which has
    many and quotes its user.
    """
    learnt = weights()
    if of == "passage":
        return _worst(text, _lines(text), learnt.passage)
    if score(text) > (learnt.entry if of == "entry" else learnt.sentence):
        return (_finding(text, None),)
    spans = list(sentences(text))
    return _worst(text, spans, learnt.sentence) if len(spans) > 1 else ()


def is_plain(text: str) -> bool:
    """Whether a line taken by itself is so plainly an attack that it counts without any other sign."""
    return score(text) > weights().sentence


def _worst(text: str, spans: Iterable[tuple[int, int]], limit: int) -> tuple[Finding, ...]:
    found = max(((score(text[slice(*span)]), span) for span in spans), default=(0.0, (0, 0)))
    return (_finding(text[slice(*found[1])], found[1]),) if found[0] > limit else ()


def _lines(text: str) -> Iterator[tuple[int, int]]:
    return _pieces(_LINE_END, text)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence or line of a text lies."""
    return _pieces(_SENTENCE_END, text)


def _pieces(end: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for number, mark in enumerate((*end.finditer(text), None)):
        stop = len(text) if mark is None or number >= _PIECES_MAX else mark.start()
        if stop - start >= _LETTERS_MIN:
            yield start, stop
        if mark is None or number >= _PIECES_MAX:
            return
        start = mark.end()


def _finding(text: str, span: tuple[int, int] | None) -> Finding:
    said = " and ".join(f"“{word}”" for word in heaviest(text))
    message = (
        f"it reads like an attempt to steer the reader against its user (most by {said}); write down the bare fact"
    )
    return Finding(code="manipulation", message=message, span=span)


def heaviest(text: str) -> tuple[str, ...]:
    """The words and pairs of words that speak most for an attack, the heaviest first, none inside another."""
    learnt = weights().words
    named: list[str] = []
    for feature in sorted(words(plain(text)), key=lambda name: (-learnt.get(name, 0), name)):
        if _TELLING.fullmatch(feature) is None or any(feature in other or other in feature for other in named):
            continue
        named.append(feature.replace(" _ ", " … "))
        if len(named) == _WORDS_NAMED:
            break
    return tuple(named)
