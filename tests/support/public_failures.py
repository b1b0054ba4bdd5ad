"""How a test says which publicly reported failure it rules out; docs/printing/failures.py prints the page from it.

The arguments are literals: the page is made by reading the test file, not by running it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Failure:
    """One failure class: where it was reported, the smallest scenario, the outcome here, the test that shows it."""

    kind: str
    issues: str
    scenario: str
    outcome: str
    test: str = ""


ELSEWHERE: list[Failure] = []


def failure(kind: str, *, issues: str, scenario: str, outcome: str) -> Callable[[F], F]:
    """Marks a test of its own."""

    def marked(test: F) -> F:
        test.__dict__["failure"] = Failure(kind, issues, scenario, outcome, test.__name__)
        return test

    return marked


def elsewhere(kind: str, *, issues: str, scenario: str, outcome: str, test: str) -> None:
    """Names a test that exists already, as ``tests/FILE.py::NAME``."""
    ELSEWHERE.append(Failure(kind, issues, scenario, outcome, test))
