"""Knowing a forgotten text again without keeping it: slow salted digests of its words (D16, E8).

Kept are the digest of all words that carry meaning, and for texts that are not long one of all words but each that
names nothing exactly: so a text with a word more or less, another ending or another order is known again, and "port
8081" is not taken for "port 8080". Each digest stands for nearly the whole text, none for a single word, which a
dictionary would give away. Whoever has the database and guesses the very sentence can confirm the guess, at the price
of ``ROUNDS``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .checks.likeness import is_exact, normal_form, words

ROUNDS = 20_000
"""Of PBKDF2-SHA256: about 10 ms a guess."""
WORDS_MAX = 24
"""Beyond so many words only the text with these very words is known again: one digest for each word would be slow."""
WORDS_MIN = 4
"""With fewer words a text without one of them is hardly the text any more."""
WORDS_KEPT_MIN = 3
"""Of a text with fewer words nothing is kept: a list of words would give it away."""
DIGEST_BYTES = 16
_ENDINGS = ("ing", "es", "ed", "s", "d")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is kept of forgotten texts: digests of all their words, and of all but one."""

    salt: bytes
    whole: frozenset[str]
    less: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str], salt: bytes) -> Forgotten:
        sketched = [_sketches(text) for text in dict.fromkeys(texts) if can_be_kept(text)]
        return cls(
            salt,
            frozenset(_slow(whole, salt) for whole, _ in sketched),
            frozenset(_slow(part, salt) for _, parts in sketched for part in parts),
        )

    @classmethod
    def read(cls, content: Any) -> Forgotten:
        """What ``content`` gave; of an erased payload nothing is known."""
        return cls(
            bytes.fromhex(content.get("salt", "")),
            frozenset(content.get("whole", ())),
            frozenset(content.get("less", ())),
        )

    @property
    def content(self) -> dict[str, Any]:
        return {"salt": self.salt.hex(), "whole": sorted(self.whole), "less": sorted(self.less)}

    def knows(self, text: str) -> bool:
        """Whether a text says, but for a word more or less, what one of these said."""
        whole, parts = _sketches(text)
        if _slow(whole, self.salt) in self.whole | self.less:
            return True
        return any(_slow(part, self.salt) in self.whole for part in parts)


def can_be_kept(text: str) -> bool:
    """Whether a text has enough words that its digest does not give it away."""
    return words(text).total() >= WORDS_KEPT_MIN


def _slow(sketch: str, salt: bytes) -> str:
    return hashlib.pbkdf2_hmac("sha256", sketch.encode("utf-8", "surrogatepass"), salt, ROUNDS, DIGEST_BYTES).hex()


def _sketches(text: str) -> tuple[str, tuple[str, ...]]:
    """The words of a text in a fixed order, and the same without each of those that can be missed."""
    found = sorted(words(text).elements(), key=lambda word: (_stem(word), word)) or [normal_form(text)]
    if not WORDS_MIN <= len(found) <= WORDS_MAX:
        return _joined(found), ()
    less = (_joined(found[:at] + found[at + 1 :]) for at, word in enumerate(found) if not is_exact(word))
    return _joined(found), tuple(dict.fromkeys(less))


def _joined(found: Sequence[str]) -> str:
    return " ".join(map(_stem, found))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 3:
            return word.removesuffix(ending)
    return word
