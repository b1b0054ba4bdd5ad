"""What is indexed of a text and looked for by a query: scripts, code, numbers, and any text at all (D17)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.passage import best_passage
from minutebook.domain.search_query import QUERY_CHARS_MAX, holds, parse_query
from minutebook.domain.terms import (
    TERM_CHARS_MAX,
    TEXT_CHARS_MAX,
    bounded,
    count_terms,
    found_at,
    query_terms,
    sequence,
    stem,
)
from minutebook.projections.search_index.packing import spelled, times_in, unspelled

HOSTILE = ['"', "*", "NEAR(a b)", "a AND", "-a", ":", "^", "a:b", '"open', "'; DROP TABLE", "\0", "%", "_", "()", "🙂"]
ANY_TEXT = st.text(st.characters(), max_size=200) | st.sampled_from(HOSTILE)


def found(query: str, text: str) -> bool:
    """Whether a text holds any term that a query looks for."""
    return bool(set(query_terms(query)) & set(count_terms(text).terms))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("username", "getUserName()"),
        ("get_user_name", "calls getUserName twice"),
        ("getUserName", "the kebab get-user-name"),
        ("app.py", "in src/app.py, line 12"),
        ("src/app.py", "C:\\work\\src\\app.py"),
        ("3.41", "SQLite 3.41.2 or newer"),
        ("v1.2.3", "tag v1.2.3"),
        ("1000", "1,000 messages"),
        ("email", "an e-mail"),
        ("builds", "the building was built by build"),
        ("libraries", "a library"),
        ("dropped", "drop it"),
        ("missing", "we miss it"),
        ("creme", "Crème brûlée"),
        ("ＡＢＣ", "abc"),
        ("STRASSE", "Straße"),
        ("dont", "don’t"),
        ("c++", "written in C++"),
        ("c#", "or in C#"),
        ("喜欢", "我们喜欢猫"),
        ("猫", "我们喜欢猫"),
        ("失敗", "ビルドが失敗した"),
        ("한국", "한국어를 배우다"),
        ("हिन्दी", "यह हिन्दी है।"),
        ("ปัญหา", "มีปัญหากับการสร้าง"),
        ("окно", "ОКНО открыто"),
        ("🙂", "well 🙂"),
        ("econnrefused 8080", "Error: connect ECONNREFUSED localhost:8080"),
        ("--no-verify", "git commit --no-verify"),
        ("getuser", "HTTP::getUser->name"),
    ],
)
def test_one_is_found_by_the_other(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [("喜欢", "喜乐 欢迎"), ("port", "report"), ("341", "3.41"), ("is", "this"), ("user", "us")],
)
def test_one_is_not_found_by_the_other(query: str, text: str) -> None:
    assert not found(query, text)


def test_stop_words_are_looked_for_when_there_is_nothing_else() -> None:
    assert query_terms("Why does the build fail?") == ["build", "fail"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert query_terms("") == query_terms(" \0 \n ?!") == []


def test_words_and_texts_have_bounds() -> None:
    assert max(map(len, count_terms("x" * 10_000).terms)) == TERM_CHARS_MAX
    text = "start " + "noise " * 100_000 + "finish"
    assert len(bounded(text)) == TEXT_CHARS_MAX + 1
    assert {"start", "finish"} <= set(count_terms(text).terms)
    assert len(parse_query("word " * 100_000).terms) == 1
    assert len(" ".join(parse_query("".join(f"w{number} " for number in range(50_000))).terms)) <= QUERY_CHARS_MAX


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_gives_terms_that_a_row_can_hold(text: str) -> None:
    counted = count_terms(text)
    for term in counted.terms:
        assert 0 < len(term) <= TERM_CHARS_MAX + 2
        assert not set(term) & {" ", ":", "\0"}
        term.encode()
        assert stem(term).encode()
    assert unspelled(spelled(counted.terms)) == counted.terms
    assert dict(times_in(spelled(counted.terms), list(counted.terms))) == counted.terms
    assert (counted.length > 0) == bool(counted.terms)


@settings(deadline=None)
@given(ANY_TEXT)
def test_every_text_is_found_by_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(count_terms(text).terms)
    assert bool(query_terms(text)) == bool(count_terms(text).terms)


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_a_phrase_is_found_where_it_stands(before: str, phrase: str, after: str) -> None:
    """Given a phrase with spaces around it, its words stand in a row, and all that is required is in the index."""
    text = f"{before} {phrase} {after}"
    words = sequence(phrase)
    if words:
        assert holds(sequence(text), words)
        assert {stem(word) for word in words} <= set(count_terms(text).terms)


def test_phrases_are_told_from_words() -> None:
    query = parse_query('make "too OLD" “getUserName” "open')
    assert query.phrases == (("too", "old"), ("get", "user", "name"))
    assert query.required == ("too", "old", "get", "user", "nam")
    assert "open" in query.terms
    assert not holds(["too", "very", "old"], ["too", "old"])
    assert holds(["a", "a", "b"], ["a", "b"])


@settings(deadline=None)
@given(ANY_TEXT)
def test_no_query_is_an_error(text: str) -> None:
    query = parse_query(text)
    assert set(query.required) <= set(query.terms)


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 60))
def test_a_passage_is_a_piece_of_the_text(text: str, chars: int) -> None:
    wanted = frozenset(query_terms(text)[-2:])
    passage = best_passage(text, wanted, chars)
    assert 0 <= passage.start <= passage.end <= len(text)
    assert passage.end - passage.start <= chars


def test_a_passage_stands_where_most_of_the_words_are() -> None:
    text = "port " + "noise " * 200 + "the port is 8080 here " + "noise " * 200
    passage = best_passage(text, frozenset(query_terms("port 8080")), 60)
    assert "port is 8080" in text[passage.start : passage.end]
    assert passage.words == ("port", "8080")
    assert [found[:2] for found in found_at("a Port, ports", {"port"})] == [(2, 6), (8, 13)]
