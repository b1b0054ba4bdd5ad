"""What says again what was forgotten, and what only looks like it (D16)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.domain.forgetting import Block, blocking

TOX = Block("b-1", "Tests of this repository run with tox.", frozenset({("s", "m1")}))


@pytest.mark.parametrize(
    "text",
    [
        "Tests of this repository run with tox.",
        "tests of this repository run with tox",
        "The tests of this repository are run with tox",
        "tox runs the tests of this repository",
        "In the user's words: tests of this repository run with tox",
        "Use tox: it runs all tests in this repository.",
    ],
)
def test_the_same_in_other_dress_stays_forgotten(text: str) -> None:
    assert TOX.holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "Tests of this repository run with pytest.",
        "Tests of this repository never run with tox.",
        "Releases are cut on Thursdays.",
        "tox is installed.",
    ],
)
def test_another_fact_may_be_learnt(text: str) -> None:
    assert not TOX.holds(text)


def test_another_value_is_another_fact() -> None:
    port = Block("b-1", "The port of the app is 8080")
    assert port.holds("the port of the app is 8080, as before")
    assert not port.holds("The port of the app is 8081")
    paths = Block("b-2", "Headers live under include/core in this repository")
    assert not paths.holds("Headers live under src/core in this repository")


def test_of_the_same_message_half_the_words_are_enough() -> None:
    again = "tox is what this repository has for its linters"
    assert not TOX.holds(again)
    assert TOX.holds("tox runs tests nightly on the server", [("s", "m1")])
    assert not TOX.holds("tox runs tests nightly on the server", [("s", "m2")])
    assert not TOX.holds("Releases are cut on Thursdays.", [("s", "m1")]), "a message can say more than one thing"


def test_without_a_text_only_the_messages_are_blocked() -> None:
    erased = Block("b-1", None, frozenset({("s", "m1")}), "erased")
    assert erased.holds("anything at all", [("s", "m1")])
    assert not erased.holds("anything at all", [("t", "m1")])
    assert not erased.holds("anything at all")


@given(st.text(min_size=1, max_size=200))
def test_a_text_that_says_something_is_held_by_its_own_block(text: str) -> None:
    assert Block("b", text).holds(text)
    assert blocking([Block("b", text)], text) is not None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert Block("b", one).holds(other) in (True, False)
