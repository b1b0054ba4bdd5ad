"""Small promises of the entry checks that mutation testing found nobody to keep (``make drill-mutation``)."""

from __future__ import annotations

import pytest

from minutebook.domain.checks import check_entry

SELECTOR = "\U000e0100"
"""The first of the selectors that choose among the shapes of an ideograph."""


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"The town is 葛{SELECTOR}城 in Nara.", False),
        (f"The town is a{SELECTOR} in Nara.", True),
        (f"The town is é{SELECTOR} in Nara.", True),
        (f"The town is אב{SELECTOR} in Nara.", True),  # a letter without case, and no ideograph
        (f"The town is 。{SELECTOR} in Nara.", True),
    ],
)
def test_a_selector_of_shapes_stands_after_an_ideograph_and_nowhere_else(text: str, hidden: bool) -> None:
    assert ("hidden_character" in {finding.code for finding in check_entry(text)}) == hidden
