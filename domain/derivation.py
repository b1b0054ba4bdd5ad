"""Whose words a proposed text is made of: what stands word by word in a tool's output came from there (D13).

Provenance beats phrase lists: an attack that is worded harmlessly still came from where it came from. A paraphrase is
beyond this; the checks read it, and ``source="tool"`` names it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,200}")
"""A word; in scripts that put no space between words, one character."""
RUN_WORDS = 6
"""Words in a row that two people hardly ever choose alike: a choice, not measured on real tool results yet."""
LEAST_WORDS = 4
"""A shorter text says too little to tell where it came from."""
SHARE = 0.5
"""Share of the words, in such runs, from which on the text counts as taken over."""
SOURCE_CHARS_MAX = 2_000_000
"""Characters of tool output that are looked through for one proposal, the newest first."""


def derived(text: str, sources: Iterable[str], own: Iterable[str] = ()) -> bool:
    """Whether half of a text stands in ``sources`` in runs of words, and not in ``own`` (what the user said).

    Linear in the texts; reads at most ``SOURCE_CHARS_MAX`` characters of each side.
    """
    words = _words(text)
    if len(words) < LEAST_WORDS:
        return False
    size = min(len(words), RUN_WORDS * 2 if _dense(words) else RUN_WORDS)
    covered = _covered(words, size, sources)
    if sum(covered) < SHARE * len(words):
        return False
    said = _covered(words, size, own)
    return sum(a and not b for a, b in zip(covered, said, strict=True)) >= SHARE * len(words)


def _words(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _dense(words: Sequence[str]) -> bool:
    return sum(len(word) == 1 for word in words) > len(words) / 2


def _covered(words: Sequence[str], size: int, sources: Iterable[str]) -> list[bool]:
    """For every word whether it is part of a run of ``size`` words that some source has too."""
    wanted: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(words) - size + 1):
        wanted.setdefault(tuple(words[at : at + size]), []).append(at)
    covered = [False] * len(words)
    for run in _runs(sources, size, {key[0] for key in wanted}):
        for at in wanted.get(run, ()):
            covered[at : at + size] = [True] * size
    return covered


def _runs(sources: Iterable[str], size: int, firsts: set[str]) -> Iterator[tuple[str, ...]]:
    left = SOURCE_CHARS_MAX
    for source in sources:
        if left <= 0:
            return
        words = _words(source[:left])
        left -= len(source)
        for at in range(len(words) - size + 1):
            if words[at] in firsts:
                yield tuple(words[at : at + size])
