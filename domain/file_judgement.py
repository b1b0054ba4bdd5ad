"""Whether bytes of a memory file may become a revision: its form, and then every entry through the checks (D8).

For edits by hand and for old snapshots that come back; the curator's answers are judged in ``curation``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from .catalogue import Finding
from .document import Problem, parse
from .limits import MemoryLimits


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks that a text must pass: of one entry, and of all together (``checks.check_entry`` and its kin)."""

    entry: Callable[[str], Sequence[Finding]]
    document: Callable[[Sequence[str]], Sequence[Finding]]


NO_CHECKS = Checks(entry=lambda text: (), document=lambda texts: ())
"""Form and size only."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """May become a revision: the entries, harmless differences by name, findings that a person let pass."""

    texts: tuple[str, ...]
    fixes: tuple[str, ...] = ()
    overrides: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """May not: what is wrong, with line numbers of the file."""

    problems: tuple[Problem, ...]


def accept(
    data: bytes, limits: MemoryLimits, checks: Checks = NO_CHECKS, *, allow: Collection[str] = ()
) -> Accepted | Rejected:
    """Judges the bytes of a whole memory file. Codes in ``allow`` are a person's explicit overrides (D8).

    Form and size cannot be overridden: a file that is not in the form has no entries to speak of.
    """
    parsed = parse(data, limits)
    problems = list(parsed.problems)
    overrides: list[Finding] = []
    if not problems:
        for text, line in zip(parsed.entries, parsed.lines, strict=True):
            _judge(checks.entry(text), line, allow, problems, overrides)
        _judge(checks.document(parsed.entries), 1, allow, problems, overrides)
    if problems:
        return Rejected(tuple(problems))
    return Accepted(parsed.entries, parsed.fixes, tuple(overrides))


def _judge(
    findings: Sequence[Finding],
    line: int,
    allow: Collection[str],
    problems: list[Problem],
    overrides: list[Finding],
) -> None:
    for finding in findings:
        if finding.code in allow:
            overrides.append(finding)
        else:
            problems.append(Problem(line, finding.code, finding.message))
