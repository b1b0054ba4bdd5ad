"""Small promises of the entry checks that mutation testing found nobody to keep (``make drill-mutation``)."""

from __future__ import annotations

import pytest
from verdicts import CORPORA, KEPT, verdicts

from minutebook.domain.checks import check_entry, checking
from minutebook.domain.checks.credentials import secrets

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


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_verdict_of_the_corpora_changes_unseen(corpus: str) -> None:
    """After a change that is meant: ``python tests/support/verdicts.py``, and look at the difference."""
    kept = [line for line in KEPT.read_text(encoding="utf-8").splitlines() if line.startswith(corpus)]
    assert list(verdicts(corpus)) == kept


def test_a_scanner_of_the_user_adds_its_findings() -> None:
    """Given another scanner that takes something out, then the text is refused as one with a credential."""
    check = checking(lambda text: (text.replace("blue", "[redacted:word]"), text.count("blue")), "detect-secrets")
    assert [finding.code for finding in check("The door is blue.", "user", entry_chars_max=100)] == ["credential"]
    assert check("The door is red.", "user", entry_chars_max=100) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The credit card is 4012 8888 8888 1881, cvv 123.", 1),
        ("The card 4012888888881881 expires 12/29, cvv 123.", 1),
        ("The card 4012888888881882 expires 12/29, cvv 123.", 0),
    ],
)
def test_a_payment_card_is_a_number_that_adds_up(text: str, count: int) -> None:
    found = [secret.kind for secret in secrets(text)]
    assert found.count("payment_card") == count
