"""How well a document answers a query: BM25, times what is new and who said it; and two rankings made one (D17).

The factors are few, bounded and stated in each answer, so that an order can be understood::

    score = bm25 * recency * trust

*BM25* is that of Robertson and Zaragoza with the always positive weight of Lucene. *Recency* goes from 1 for the old
to 1 + ``RECENCY_GAIN`` for the newest thing searched, by halves every ``RECENCY_DAYS``; it is measured against that
newest thing and not against a clock, so that the same log gives the same answer tomorrow. *Trust* is ``TRUST``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .message import Trust

K1 = 1.2
"""How soon the same word again tells no more."""
B = 0.75
"""How much a long text must say more often what a short one says once."""

RECENCY_GAIN = 0.1
"""The newest counts a tenth more than what is years old: enough to settle near ties, not to bury an answer."""
RECENCY_DAYS = 30.0

TRUST: Mapping[Trust, float] = {"user": 1.0, "operator": 1.0, "model": 0.97, "tool": 0.94, "external": 0.9}
"""What the user said comes before what a tool printed, where both say it as well."""

FACTOR_MAX = 1.0 + RECENCY_GAIN
"""No document gains more by its factors: who stands lower by more cannot come up."""

FUSION = 60
"""The constant of reciprocal rank fusion, as its authors gave it."""
VECTOR_SHARE = 0.4
"""What a rank by likeness of meaning weighs beside one by words."""
DEPTH = 100
"""Places of each ranking that count: further down, likeness is chance."""


@dataclass(frozen=True, slots=True)
class Collection:
    """All that is searched: how many documents, and how many words they have together."""

    documents: int
    words: int

    def weight(self, holding: int) -> float:
        """What a term weighs that so many of the documents hold."""
        return math.log(1 + (self.documents - holding + 0.5) / (holding + 0.5))

    def add(self, scores: dict[int, float], weight: float, base: int, postings: Iterable[tuple[int, int, int]]) -> None:
        """Adds what a term of this weight gives to the score of each document: (key less ``base``, times, words)."""
        average = self.words / self.documents if self.documents else 1.0
        flat, slope, full = K1 * (1 - B), K1 * B / (average or 1.0), weight * (K1 + 1)
        known = scores.get
        for key, times, words in postings:
            key += base
            scores[key] = known(key, 0.0) + full * times / (times + flat + slope * words)


def recency(time: datetime, newest: datetime) -> float:
    """1 to 1 + ``RECENCY_GAIN``; what claims to be newer than the newest counts as that."""
    days = max((newest - time).total_seconds(), 0.0) / 86_400
    return 1.0 + RECENCY_GAIN * math.pow(0.5, days / RECENCY_DAYS)


def fused(by_words: Sequence[int], by_meaning: Sequence[int]) -> dict[int, float]:
    """Reciprocal rank fusion of two rankings, best first: only ranks count, for scores of two kinds do not compare."""
    scores: dict[int, float] = {}
    for share, ranking in ((1.0, by_words), (VECTOR_SHARE, by_meaning)):
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + share / (FUSION + rank)
    return scores
