"""The values of a curation: entries with their blame, candidates, the request to a curator, the decision (D4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..catalogue import EntryFact, Refusal
from ..checks import Check, check_entry
from ..limits import MemoryLimits
from ..message import Trust
from ..operations import Line, Operation

Count: TypeAlias = Callable[[str], int]
"""Counts the tokens of a text; the document limit in tokens is only checked where one is given."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the document: where it came from, and its text."""

    fact: EntryFact
    text: str

    @property
    def id(self) -> str:
        return self.fact.entry

    @property
    def line(self) -> Line:
        return Line(self.fact.entry, self.text)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An admitted proposal: the operation and who stands behind it."""

    id: str
    operation: Operation
    trust: Trust = "model"
    run: str | None = None
    session: str | None = None
    messages: tuple[str, ...] = ()
    actor: str = "model"


@dataclass(frozen=True, slots=True)
class CuratorRequest:
    """What a curator gets: the whole text to send to a model, and the same material as values."""

    prompt: str
    entries: tuple[Entry, ...]
    candidates: tuple[Candidate, ...]
    limits: MemoryLimits
    count: Count | None = field(default=None, compare=False)
    check: Check = field(default=check_entry, compare=False)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The next document.

    ``consumed``: candidates whose effect is in it. ``refused``: candidates that a check keeps out for good, with
    the reasons. ``pending``: the rest, to be tried again. ``changed`` is false when the document stays as it is:
    then no revision is due, only the refusals.
    """

    entries: tuple[Entry, ...]
    data: bytes
    digest: str
    consumed: tuple[str, ...]
    refused: Mapping[str, tuple[Refusal, ...]]
    pending: tuple[str, ...]
    checks: tuple[str, ...]
    changed: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """The answer is refused as a whole, nothing changes; the reasons name the check and the entry, no secret."""

    reasons: tuple[Refusal, ...]


Decision: TypeAlias = Accepted | Rejected
