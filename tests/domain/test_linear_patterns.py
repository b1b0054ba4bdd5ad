"""No pattern of the checks can run away: bounded in structure, and time does not grow with the square (D4)."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from minutebook.domain import checks
from minutebook.domain.checks import check_passage, redact_credentials
from minutebook.domain.checks.meaning import ALL
from minutebook.domain.checks.token_shapes import shapes

REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(checks.__path__):
        loaded = importlib.import_module(f"{checks.__name__}.{module.name}")
        for name, value in vars(loaded).items():
            if isinstance(value, re.Pattern):
                yield f"{module.name}.{name}", value
    for number, rule in enumerate(ALL):
        yield f"rule {number} {rule.code}", rule.pattern
    yield from ((f"shape {name}", pattern) for name, pattern in shapes())


def repeats(node: Any, around: int = 1) -> Iterator[int]:
    """The product of the bounds of every chain of nested repeats; an unbounded one inside or around is infinite."""
    for op, args in node:
        if op in REPEATS:
            _, high, inner = args
            times = around * (10**9 if high == codes.MAXREPEAT else max(int(high), 1))
            yield times
            yield from repeats(inner, times)
        elif op is codes.SUBPATTERN:
            yield from repeats(args[-1], around)
        elif op is codes.BRANCH:
            for branch in args[1]:
                yield from repeats(branch, around)
        elif op in {codes.ASSERT, codes.ASSERT_NOT}:
            yield from repeats(args[1], around)


def test_every_repeat_is_bounded_and_nesting_stays_small() -> None:
    found = dict(patterns())
    assert len(found) > 150
    for name, pattern in found.items():
        for product in repeats(parser.parse(pattern.pattern)):
            assert product <= 20_000, name


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "ignore all ",
        "all the your ",
        "password is ",
        "a.",
        "AKIA",
        "<",
        "eyJ",
        "http://a",
        "x:",
        "[[",
        "i g ",
        "\\u0061",
    ],
)
def test_time_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        started = time.perf_counter()
        check_passage(text, "tool")
        redact_credentials(text)
        return time.perf_counter() - started

    seconds(500)
    small = max(seconds(1_000), 0.002)
    # Four times the text; a square would take sixteen times as long. Generous, for a busy machine.
    assert seconds(4_000) < 12 * small + 0.05
