"""What a text would make a reader do: rules over the open text and its disguised readings, then the classifier (D4).

A rule says what it found, so the rules come first; what none of them knows is weighed by the classifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from ..catalogue import Finding
from ..message import Trust
from . import deceptions, encoded, grants, instructions, languages, outflow
from .classifier import find_manipulation
from .fold import View, disguised_views, plain_view
from .rules import Rule, read

ALL: tuple[Rule, ...] = (
    *instructions.RULES,
    *outflow.RULES,
    *grants.RULES,
    *deceptions.RULES,
    *encoded.RULES,
    *languages.RULES,
)
"""Every meaning rule, in the order in which they are read."""

_QUOTED = re.compile(r"\"[^\"\n]{3,400}\"|(?<!\w)'[^'\n]{3,400}'(?!\w)")
_MENTION = re.compile(
    r"\b(?:phrase|sample|example|fixture|string|payload|literal|test (?:case|suite|data|input|corpus)"
    r"|corpus|detector|regex|pattern|title|heading"
    r"|error message|error text|blog post|talk|slogan|quote[ds]?|attack (?:text|string|sentence)|demo"
    r"|benchmark|dataset|unit tests?|placeholder text|sentence)\b"
)
_WIDE_TRUST: frozenset[Trust] = frozenset({"user", "operator", "model"})


Quotes: TypeAlias = tuple[tuple[int, int], ...]
"""Stretches of a view that are quoted and excused."""


def find_meaning(text: str, source: Trust, view: View | None = None, *, passage: bool = False) -> tuple[Finding, ...]:
    """The first finding of each code; for text of a tool or another outside source quoting excuses nothing."""
    view = view or plain_view(text)
    quotes = _excused(view.text) if source in _WIDE_TRUST else ()
    found: dict[str, Finding] = {}
    for finding in (*_open(view, quotes), *_disguised(text, source), *_unwrapped(text, source)):
        found.setdefault(finding.code, finding)
    return tuple(found.values()) or find_manipulation(
        _without(text, view, quotes), of="passage" if passage else "hand" if source == "operator" else "entry"
    )


def _open(view: View, quotes: Quotes) -> Iterator[Finding]:
    for hit in read(view.text, ALL):
        if any(start <= hit.start and hit.stop <= stop for start, stop in quotes):
            continue
        yield _finding(hit.rule.code, hit.rule.says, view, hit.start, hit.stop)


def _finding(code: str, says: str, view: View, start: int, stop: int) -> Finding:
    message = f"it {says}; write down the fact, not an order"
    return Finding(code=code, message=message, span=view.span(start, stop))


def _without(text: str, view: View, quotes: Quotes) -> str:
    for quote in quotes:
        if (place := view.span(*quote)) is not None:
            text = text[: place[0]] + " " * (place[1] - place[0]) + text[place[1] :]
    return text


def _excused(text: str) -> Quotes:
    """The quoted stretches of a sentence that speaks *about* them: a sample phrase is data, not an order."""
    quotes = tuple(match.span() for match in _QUOTED.finditer(text))
    if not quotes:
        return ()
    outside = _QUOTED.sub(" ", text)
    return quotes if _MENTION.search(outside) and not any(True for _ in read(outside, ALL)) else ()


def _disguised(text: str, source: Trust) -> Iterator[Finding]:
    for view in disguised_views(text):
        for hit in read(view.text, instructions.RULES + outflow.RULES + grants.RULES, disguised=True):
            message = f"with {view.name} taken back it {hit.rule.says}; write down the fact in plain words"
            yield Finding(code=hit.rule.code, message=message)
            break


def _unwrapped(text: str, source: Trust) -> Iterator[Finding]:
    for plain, span in encoded.decoded(text):
        if encoded.says_an_order(plain) or any(True for _ in read(plain_view(plain).text, ALL)):
            message = "an encoded stretch decodes to an order; write down the fact in plain words"
            yield Finding(code="encoded_payload", message=message, span=span)
    opened, letters = encoded.unescaped(text)
    if letters and any(True for _ in read(plain_view(opened).text, ALL)):
        yield Finding(code="encoded_payload", message="its escapes spell an order; write down the fact in plain words")
