"""When two entries say the same, and when one takes the other's place (D4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.domain.checks.likeness import contradicts, is_near_duplicate

LONG = "The {} backup job keeps its archives for {} days on the storage host in {} before they are removed"

APART = [
    ("The app listens on port 8080", "The app listens on port 8081"),
    (LONG.format("nightly", "seven", "Bern"), LONG.format("nightly", "eight", "Bern")),
    (LONG.format("nightly", "seven", "Bern"), LONG.format("nightly", "seven", "Basel")),
    (LONG.format("nightly", "seven", "Bern"), LONG.format("weekly", "seven", "Bern")),
    ("Port 8080 serves http and port 8443 serves https", "Port 8443 serves http and port 8080 serves https"),
    ("The server has two disks and three fans", "The server has three disks and two fans"),
    ("Alice reports to Bob and works on billing", "Bob reports to Alice and works on billing"),
    ("The tests run on Linux", "The tests run on Linux and Windows"),
    ("The deploy happens on Tuesday at nine", "The deploy happens on Wednesday at nine"),
    ("The cache is enabled in staging", "The cache is disabled in staging"),
    ("Version 1.2.3 is in use", "Version 1.23 is in use"),
]
THE_SAME = [
    ("PORT   8080!", "port 8080"),
    ("The tests are run with pytest", "The tests are run with 'pytest'."),
    ("The port of the app is 8080", "The port of the app is always 8080"),
    (LONG.format("nightly", "seven", "Bern"), LONG.format("nightly", "seven", "Bern") + " again"),
    ("The reports of the finance team are sent by mail", "The report of the finance team is sent by mail"),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_another_number_name_or_order_is_another_fact(one: str, other: str) -> None:
    assert (is_near_duplicate(one, other), is_near_duplicate(other, one)) == (False, False)


@pytest.mark.parametrize(("one", "other"), THE_SAME)
def test_the_same_in_nearly_the_same_words_is_a_repeat(one: str, other: str) -> None:
    assert (is_near_duplicate(one, other), is_near_duplicate(other, one)) == (True, True)


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_has_no_direction_and_everything_is_like_itself(one: str, other: str) -> None:
    assert is_near_duplicate(one, other) == is_near_duplicate(other, one)
    assert (is_near_duplicate(one, one), contradicts(one, one)) == (True, False)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The port is 8080.", "The port is 8081", True),
        ("The timeout is 30 seconds", "The timeout is 60 seconds", True),
        ("The port is 8080 in staging", "The port is 8081 in staging", True),
        ("Python version: 3.11", "Python version: 3.12", True),
        ("timeout=30", "timeout=60", True),
        # Both can be true, so a person decides.
        ("The app listens on port 8080", "The app listens on port 8081", False),
        ("The reviewer is Alice", "The reviewer is Bob", False),
        ("The port is 8080 in staging", "The port is 8081 in production", False),
        ("Server 1 is in rack 4", "Server 2 is in rack 4", False),
    ],
)
def test_only_a_value_that_takes_anothers_place_contradicts(old: str, new: str, expected: bool) -> None:
    assert contradicts(old, new) is expected
