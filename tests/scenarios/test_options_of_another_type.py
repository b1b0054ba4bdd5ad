"""What a caller gives as a number or an id and is none: a stable code that says the mend, never an error of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.book import Session

NO_NUMBERS: list[Any] = ["8", 1.5, float("nan"), True, -1, 10**30, [], {}]

ASKED: dict[str, Callable[[Minutebook, Session, Any], Any]] = {
    "context window": lambda book, session, value: session.context(window=value),
    "context at": lambda book, session, value: session.context(at=value),
    "compact window": lambda book, session, value: session.compact(window=value),
    "dry run window": lambda book, session, value: session.compact(dry_run=True, window=value),
    "messages at": lambda book, session, value: session.messages(at=value),
    "messages limit": lambda book, session, value: session.messages(limit=value),
    "messages before": lambda book, session, value: session.messages(before=value),
    "timeline buckets": lambda book, session, value: session.timeline(value),
    "fork at": lambda book, session, value: session.fork(at=value),
    "recall": lambda book, session, value: book.recall(value),
    "recall around": lambda book, session, value: book.recall(1, value),
    "search limit": lambda book, session, value: book.search("x", limit=value),
    "search around": lambda book, session, value: book.search("x", around=value),
    "search at": lambda book, session, value: book.search("x", at=value),
    "trace": lambda book, session, value: book.trace(value),
    "log after": lambda book, session, value: list(book.log(value)),
    "log before": lambda book, session, value: list(book.log(before=value)),
    "log limit": lambda book, session, value: list(book.log(limit=value)),
    "memory log": lambda book, session, value: book.memory.revisions(limit=value),
}

OTHERS: dict[str, Callable[[Minutebook, Session, Any], Any]] = {
    "message id": lambda book, session, value: session.append({"role": "user", "content": "x"}, id=value),
    "log type": lambda book, session, value: list(book.log(type=value)),
    "log stream": lambda book, session, value: list(book.log(stream=value)),
    "search": lambda book, session, value: book.search("x", since=value),
    "search kind": lambda book, session, value: book.search("x", kind=value),
    "search role": lambda book, session, value: book.search("x", role=value),
    "log since": lambda book, session, value: list(book.log(since=value)),
    "import format": lambda book, session, value: book.import_transcript(b'{"role":"user"}', format=value),
}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Minutebook]:
    with Minutebook.open(tmp_path) as opened:
        opened.session("s").append({"role": "user", "content": "x"})
        yield opened


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_by_a_code(book: Minutebook, asked: str, value: Any) -> None:
    # given a value that is no whole number, or none that there can be
    before = book.head
    # when it is given, then it is refused by name, and nothing is written
    with pytest.raises(MinutebookError) as caught:
        ASKED[asked](book, book.session("s"), value)
    assert caught.value.code in (
        *("bad_option", "bad_value", "unknown_position"),
        *(["context_window_exceeded"] if value == -1 else []),
    ), caught.value.message
    assert book.head == before


@pytest.mark.parametrize("asked", OTHERS)
@pytest.mark.parametrize("value", [5, 1.5, True, {}], ids=repr)
def test_what_is_no_name_is_refused_by_a_code(book: Minutebook, asked: str, value: Any) -> None:
    before = book.head
    with pytest.raises(MinutebookError) as caught:
        OTHERS[asked](book, book.session("s"), value)
    assert caught.value.code in ("bad_message", "unknown_type", "bad_option", "bad_format"), caught.value.message
    assert book.head == before


@pytest.mark.parametrize(
    "name", ["window", "threshold", "threshold_tokens", "reserve", "protect_first", "protect_recent"]
)
@pytest.mark.parametrize("value", ["much", [], {}, -1, float("nan")], ids=repr)
def test_a_policy_to_test_that_is_none_is_refused(book: Minutebook, name: str, value: Any) -> None:
    with pytest.raises(MinutebookError) as caught:
        book.session("s").backtest(**{name: value})
    assert caught.value.code == "bad_setting"


def test_two_options_that_contradict_each_other_are_named_and_not_all_settings(book: Minutebook) -> None:
    with pytest.raises(MinutebookError) as caught:
        book.session("s").backtest(window=2_000, reserve=2_000)
    assert caught.value.code == "bad_setting"
    assert "answer_reserve must be smaller than context_window" in caught.value.message
    assert len(caught.value.message) < 120


def test_a_position_beyond_every_database_is_told_in_our_words(book: Minutebook) -> None:
    with pytest.raises(MinutebookError) as caught:
        book.trace(10**30)
    assert "whole number" in caught.value.message
    assert "SQLite" not in caught.value.message
