"""The numbers of a ranking: BM25 as another implementation has it, bounded factors, ranks made one (D17)."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import get_args

import bm25s  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.message import Trust
from minutebook.domain.ranking import (
    FACTOR_MAX,
    FUSION,
    K1,
    RECENCY_DAYS,
    TRUST,
    VECTOR_SHARE,
    B,
    Collection,
    fused,
    recency,
)

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9), min_size=2, max_size=8)


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.sampled_from("abcdef"))
def test_scores_are_those_of_another_implementation(texts: list[list[str]], term: str) -> None:
    """Given any texts, the score is that of bm25s, which leaves out the constant factor k1 + 1."""
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index(texts, show_progress=False)
    postings = [(number, Counter(text)[term], len(text)) for number, text in enumerate(texts) if term in text]
    collection = Collection(len(texts), sum(map(len, texts)))
    scores: dict[int, float] = {}
    collection.add(scores, collection.weight(len(postings)), 0, postings)
    if postings:
        other = index.get_scores([term])
        for number in range(len(texts)):
            assert scores.get(number, 0.0) / (K1 + 1) == pytest.approx(float(other[number]), rel=1e-4, abs=1e-6)


def test_a_base_shifts_keys_and_an_empty_collection_divides_by_nothing() -> None:
    scores: dict[int, float] = {}
    Collection(0, 0).add(scores, 1.0, 100, [(3, 1, 5)])
    assert list(scores) == [103]


def test_recency_halves_and_is_bounded() -> None:
    assert recency(NOW, NOW) == FACTOR_MAX
    assert recency(NOW + timedelta(days=9), NOW) == FACTOR_MAX
    assert recency(NOW - timedelta(days=RECENCY_DAYS), NOW) == pytest.approx(1.05)
    assert recency(NOW - timedelta(days=36_500), NOW) == pytest.approx(1.0)


def test_every_trust_has_a_factor_that_raises_nothing() -> None:
    assert set(TRUST) == set(get_args(Trust))
    assert max(TRUST.values()) == TRUST["user"] == 1.0
    assert min(TRUST.values()) == TRUST["external"]


def test_ranks_are_fused_whatever_the_scores_were() -> None:
    scores = fused([7, 8], [8, 9])
    assert sorted(scores, key=scores.__getitem__, reverse=True) == [8, 7, 9]
    assert scores[7] == 1 / (FUSION + 1)
    assert scores[9] == VECTOR_SHARE / (FUSION + 2)
    assert fused([], []) == {}
