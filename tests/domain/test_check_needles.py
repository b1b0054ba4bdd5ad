"""A check runs a pattern only where its words stand, and finds the same as if it ran it everywhere (D4)."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.checks import check_entry
from minutebook.domain.checks.credentials import secrets
from minutebook.domain.checks.fold import fold
from minutebook.domain.checks.meaning import ALL
from minutebook.domain.checks.needles import needles_of, sieve

DATA = Path(__file__).parents[1] / "data" / "checks"
TEXTS = [
    json.loads(line)["text"]
    for name in ("entries.jsonl", "fresh.jsonl")
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()
]


def test_no_needle_keeps_a_pattern_from_a_text_that_it_matches() -> None:
    sources = [rule.sieve.source for rule in ALL]
    matched = 0
    for source in sources:
        pattern = re.compile(source)
        for text in map(fold, TEXTS):
            if pattern.search(text):
                matched += 1
                assert sieve(source).may_match(text), (source, text)
    assert matched > 500


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"ab?c", "ac"),
        (r"(?:one|two|three)[ _]{0,4}four", "two_four"),
        (r"\b(?:ignor(?:e|ed|ing)|skip)\b.{0,20}rules?", "ignored the rule"),
        (r"[abc]de|xyz", "bde"),
        (r"a{2,3}b", "aab"),
        (r"(?:x|yy)?z{0,1}", ""),
        (r"^start|end$", "the end"),
        (r"(?=look)look(?!ing)", "look"),
    ],
)
def test_needles_of_every_construct_are_right(source: str, text: str) -> None:
    assert re.search(source, text)
    assert sieve(source).may_match(text)
    assert all(isinstance(needles.words, tuple) for needles in needles_of(source))


words = st.sampled_from(
    ["token", "secret", "key", "password", "is", "=", ":", "ghp_", "x9y8z7w6v5u4t3s2", "curl", "-u", "a:b", "://", "@"]
)


@given(st.lists(words, max_size=30), st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_a_secret_is_found_in_a_long_text_where_it_is_found_in_a_short_one(pieces: list[str], number: int) -> None:
    text = " ".join(pieces)
    padding = "nothing to see here, move along. " * number
    near, far = secrets(text), secrets(f"{padding}\n{text}")
    shift = len(padding) + 1
    assert [(s.kind, s.start + shift, s.stop + shift) for s in near] == [(s.kind, s.start, s.stop) for s in far]


def test_an_entry_of_a_thousand_characters_costs_a_few_milliseconds() -> None:
    text = (
        "Releases are cut on Fridays; the token budget is 120,000 and the agent runs the tests before each merge. " * 10
    )[:990]
    check_entry(text)
    best = min(_spent(text) for _ in range(5))
    # About 5 ms on an idle machine; the room is for one that runs other tests beside this.
    assert best < 1.0, f"{best * 1000:.1f} ms"


def _spent(text: str) -> float:
    began = time.process_time()
    check_entry(text)
    return time.process_time() - began
