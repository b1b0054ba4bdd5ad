"""Where in a long text a query is answered best: the piece to show, cut out of it exactly as it stands (D17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from .terms import found_at

WORDS_MAX = 50
"""Words that are named of one text."""


@dataclass(frozen=True, slots=True)
class Passage:
    """``text[start:end]`` of a text, and the words of all of it that answer to a wanted term, as they stand there."""

    start: int
    end: int
    words: tuple[str, ...]


def best_passage(text: str, wanted: Collection[str], chars: int) -> Passage:
    """The piece of at most ``chars`` characters that holds the most of the wanted terms; the first of equal ones."""
    hits = found_at(text, wanted)
    held = tuple(dict.fromkeys(text[start:end] for start, end, _ in hits))[:WORDS_MAX]
    if len(text) <= chars:
        return Passage(0, len(text), held)
    best, window, inside, first = (0, 0, 0), Counter[str](), 0, 0
    for _, end, terms in hits:
        window.update(terms)
        inside += 1
        while end - hits[first][0] > chars and inside > 1:
            window.subtract(hits[first][2])
            first, inside = first + 1, inside - 1
        found = (sum(1 for count in window.values() if count > 0), hits[first][0], end)
        if found[0] > best[0]:
            best = found
    _, start, end = best
    # The hits in the middle of what is shown, and no word cut in two where that can be helped.
    room = max(chars - (end - start), 0) // 2
    start = max(0, min(start - room, len(text) - chars))
    stop = min(len(text), start + chars)
    if start and (space := text.find(" ", start, max(best[1], start))) >= 0:
        start = space + 1
    return Passage(start, stop, held)
