"""What a person does to memory outside the curator: an edited file taken over, an old revision restored (D8, D9).

The same checks as for a candidate; a person may override a finding by its code, and the override is recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..catalogue import EntryFact, Finding, Override
from ..checks import BY_HAND, Check, check_entry
from ..checks.likeness import normal_form
from ..checks.size import find_document_size
from ..document import Parsed, Problem, digest, render
from ..limits import MemoryLimits
from .values import Count, Entry

STRUCTURAL = frozenset(
    {
        "entry_empty",
        "control_character",
        "line_break",
        "separator",
        "entry_too_long",
        "too_many_entries",
        "document_too_long",
    }
)
"""Never overridden: the file would not be a memory file any more, or not within what was promised for it."""

JUDGED = frozenset(
    {
        "manipulation",
        "mark_flood",
        "hidden_character",
        "role_marker",
        "hidden_markup",
        "homoglyph",
        "instruction",
        "exfiltration",
        "permission",
        "deception",
        "trigger",
        "encoded_payload",
        "credential",
        "duplicate",
        "near_duplicate",
        "erased",
        "forgotten",
    }
)
"""What a check judges and a person may judge otherwise, by naming the code (D8)."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """The entries to commit, the harmless differences that were mended, and the findings a person overrode."""

    entries: tuple[Entry, ...]
    data: bytes
    digest: str
    fixed: tuple[str, ...]
    overrides: tuple[Override, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """Nothing is taken over: what is wrong, by line (or by entry, for a restore)."""

    problems: tuple[Problem, ...]
    fixes: tuple[str, ...] = ()


Verdict: TypeAlias = Adopted | Declined
Overridden: TypeAlias = list[tuple[int, Finding]]
"""Findings that a person let pass, each with its line (or the number of the entry, for a restore)."""

_FIXES = {
    "bom": "a byte order mark at the beginning",
    "crlf": "Windows line ends",
    "final_newline": "no newline at the end",
    "blank_lines": "blank lines",
    "empty_entry": "separators with nothing between them",
    "separator_space": "space around a separator",
    "outer_space": "space around an entry",
    "not_nfc": "text that is not in Unicode form NFC",
}


def adopt_edit(
    parsed: Parsed,
    current: Sequence[Entry],
    *,
    revision: int,
    fix: bool = False,
    allow: Collection[str] = (),
    actor: str = "person",
    limits: MemoryLimits | None = None,
    count: Count | None = None,
    check: Check = check_entry,
) -> Verdict:
    """Judges a file as a person left it; lines that were not changed keep their blame and are not checked again (D8).

    ``fix`` accepts harmless differences, ``allow`` names finding codes that the person overrides.
    """
    limits = limits or MemoryLimits()
    known = {entry.text: entry for entry in current}
    problems = list(parsed.problems)
    overrides: Overridden = []
    faulty = {problem.line for problem in parsed.problems}
    # Too many of them is told already, and none of them will be taken in: they are not judged one by one.
    lines = (
        [] if len(parsed.entries) > limits.memory_entries_max else list(zip(parsed.lines, parsed.entries, strict=True))
    )
    for line, text in lines:
        if text not in known and line not in faulty:
            judge(line, check(text, BY_HAND, entry_chars_max=limits.entry_chars_max), allow, problems, overrides)
    _judge_repeats(lines, known, allow, problems, overrides)
    if not parsed.problems:
        judge(1, find_document_size(parsed.entries, limits, count), (), problems, overrides)
    if parsed.fixes and not fix:
        named = ", ".join(_FIXES.get(name, name) for name in parsed.fixes)
        problems.append(Problem(1, "not_canonical", f"harmless differences: {named}; accept them with --fix"))
    if problems:
        return Declined(tuple(sorted(problems, key=lambda problem: problem.line)), parsed.fixes)
    return _adopted(parsed, current, revision, actor, overrides)


def readmit(
    snapshot: Sequence[Entry],
    current: Sequence[Entry],
    *,
    allow: Collection[str] = (),
    limits: MemoryLimits | None = None,
    count: Count | None = None,
    check: Check = check_entry,
) -> Verdict:
    """Judges an old revision that is to be restored: today's checks on all that is not in memory now (D9)."""
    limits = limits or MemoryLimits()
    known = {entry.text for entry in current}
    problems: list[Problem] = []
    overrides: Overridden = []
    for number, entry in enumerate(snapshot, 1):
        if entry.text not in known:
            findings = check(entry.text, entry.fact.trust, entry_chars_max=limits.entry_chars_max)
            judge(number, findings, allow, problems, overrides)
    texts = [entry.text for entry in snapshot]
    judge(1, find_document_size(texts, limits, count), (), problems, overrides)
    if problems:
        return Declined(tuple(problems))
    data = render(texts)
    names = {number: entry.id for number, entry in enumerate(snapshot, 1)}
    return Adopted(tuple(snapshot), data, digest(data), (), named(overrides, names))


def judge(
    line: int,
    findings: Sequence[Finding],
    allow: Collection[str],
    problems: list[Problem],
    overrides: Overridden,
    *,
    final: bool = False,
) -> None:
    """Findings become problems of a line, or overrides where the person allowed their code."""
    for finding in findings:
        if finding.code in allow and finding.code not in STRUCTURAL and not final:
            overrides.append((line, finding))
        else:
            problems.append(Problem(line, finding.code, finding.message, final or finding.code in STRUCTURAL))


def named(overrides: Overridden, entries: Mapping[int, str]) -> tuple[Override, ...]:
    """The overrides with the entries that came of their lines; those of lines that were not taken fall away."""
    return tuple(
        Override(**finding.model_dump(), entry=entries[line]) for line, finding in overrides if line in entries
    )


def _judge_repeats(
    lines: Sequence[tuple[int, str]],
    known: Collection[str],
    allow: Collection[str],
    problems: list[Problem],
    overrides: Overridden,
) -> None:
    first: dict[str, tuple[int, str]] = {}
    for line, text in lines:
        earlier = first.setdefault(normal_form(text), (line, text))
        if earlier[0] == line or (earlier[1] != text and text in known and earlier[1] in known):
            continue
        finding = Finding(code="duplicate", message=f"it says the same as line {earlier[0]}; keep one of them")
        # The very same text twice cannot be told apart by anybody, so it is never overridden.
        judge(line, (finding,), allow, problems, overrides, final=earlier[1] == text)


def _adopted(parsed: Parsed, current: Sequence[Entry], revision: int, actor: str, overrides: Overridden) -> Adopted:
    known = {entry.text: entry for entry in current}
    taken = {entry.id for entry in current}
    entries: list[Entry] = []
    for number, text in enumerate(parsed.entries):
        entry = known.get(text)
        if entry is None:
            name = f"manual\n{revision}\n{number}"
            while (given := "e" + hashlib.sha256(name.encode()).hexdigest()[:10]) in taken:
                name += "'"
            taken.add(given)
            entry = Entry(EntryFact(entry=given, since=revision, actor=actor, trust="user"), text)
        entries.append(entry)
    data = render([entry.text for entry in entries])
    names = dict(zip(parsed.lines, (entry.id for entry in entries), strict=True))
    return Adopted(tuple(entries), data, digest(data), parsed.fixes, named(overrides, names))
