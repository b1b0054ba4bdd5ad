"""A check runs a pattern only where its words stand, and finds the same as if it ran it everywhere (D4)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.checks import check_entry
from minutebook.domain.checks.anchors import Anchors, Around, small_letters
from minutebook.domain.checks.credentials import redact_credentials, secrets
from minutebook.domain.checks.fold import fold
from minutebook.domain.checks.meaning import ALL
from minutebook.domain.checks.needles import beginnings_of, needles_of, sieve
from minutebook.domain.checks.token_shapes import finders, shapes

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "checks"
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
    assert matched > 150


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


# --- many patterns at the price of one

PAGES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]
TOKENS = st.text(alphabet="AKIghp_sk-0aZ9.:/@ \nxobQ~=\u0130\u017f", max_size=120)


def places(found: Iterable[tuple[str, re.Match[str]]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted((name, match.span()) for name, match in found)


def one_by_one(patterns: Iterable[tuple[str, re.Pattern[str]]], text: str) -> list[tuple[str, tuple[int, int]]]:
    return sorted((name, match.span()) for name, pattern in patterns for match in pattern.finditer(text))


@pytest.mark.parametrize("text", [*PAGES, "\n".join(TEXTS)])
def test_all_shapes_together_find_what_each_finds_by_itself(text: str) -> None:
    assert places(hit for finder in finders() for hit in finder.find(text)) == one_by_one(shapes(), text)


@given(st.lists(st.one_of(words, TOKENS), max_size=20).map("".join))
@settings(max_examples=300, deadline=None)
def test_whatever_the_text_all_shapes_together_find_the_same(text: str) -> None:
    assert places(hit for finder in finders() for hit in finder.find(text)) == one_by_one(shapes(), text)


@given(st.text(alphabet="abAB-_ .:\u0130", max_size=60))
@settings(max_examples=300, deadline=None)
def test_patterns_share_a_tree_and_are_found_as_if_alone(text: str) -> None:
    patterns = [
        (source, re.compile(source, re.IGNORECASE)) for source in ("ab?a.", r"\bab", "a-b{1,3}", "[ab]a:", "b_")
    ]
    assert places(Anchors(patterns, small=True).find(text)) == one_by_one(patterns, text)
    middle = re.compile(r"\b[ab]{1,6}-[ab]{1,3}\b")
    around = Around("middle", middle, re.compile("-"), 6, 4)
    assert places(around.find(text)) == one_by_one([("middle", middle)], text)


@pytest.mark.parametrize(
    ("source", "begins"),
    [
        ("(?:pass(?:word|wd)?|pwd)s?=", {"pass=", "passs=", "passwo", "passwd", "pwd=", "pwds="}),
        ("(?<![a-z])gh[pousr]_[a-z]{9}", {"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}),
        ("x{2,3}y", {"x"}),
        ("[0-9]a|b", {*(f"{digit}a" for digit in range(10)), "b"}),
        (r"\w+", {""}),
    ],
)
def test_the_beginnings_of_a_pattern_are_read_off_it(source: str, begins: set[str]) -> None:
    assert beginnings_of(re.compile(source), 6) == begins


def test_small_letters_stay_at_their_places() -> None:
    text = "".join(map(chr, range(0x11_0000))).replace("".join(map(chr, range(0xD800, 0xE000))), "")
    assert len(small_letters(text)) == len(text)


REAL = {
    "prose": "\n".join(PAGES),
    "code": "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "domain").rglob("*.py"))),
    "a session of an agent": max(
        (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "data" / "transcripts").rglob("*.jsonl")),
        key=len,
    ),
}
WORST = {
    "names of secrets without one": "".join(
        f'{{"token": "v {n}", "key": {n}, "password_id": "x"}},\n' for n in range(3_000)
    ),
    "one word without an end": "key_token_password=" * 5_000,
    "private keys without an end": "-----BEGIN RSA PRIVATE KEY-----\n" * 3_000,
    "addresses": "https://user:name " * 5_000,
}


@pytest.mark.parametrize("kind", REAL)
def test_redacting_64_kilobytes_of_real_text_costs_less_than_50_milliseconds(kind: str) -> None:
    # About 7 ms on a busy machine.
    assert best(REAL[kind]) < 0.05


@pytest.mark.parametrize("kind", WORST)
def test_redacting_64_kilobytes_made_to_be_slow_stays_cheap(kind: str) -> None:
    # 7 to 45 ms on a busy machine.
    assert best(WORST[kind]) < 0.2


def best(piece: str) -> float:
    text = (piece * (1 + 65_536 // len(piece)))[:65_536]
    redact_credentials(text)
    spent = []
    for _ in range(5):
        began = time.process_time()
        redact_credentials(text)
        spent.append(time.process_time() - began)
    return min(spent)
