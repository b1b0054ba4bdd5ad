"""What the candidates come to when they are applied one after the other: the rule-based curator and the yardstick.

The engine makes the same plan for every curator, to know which candidates a check keeps out for good and which
entries may go (the shrink guard).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..catalogue import Finding, Refusal
from ..checks import Check, check_entry
from ..checks.likeness import contradicts, is_near_duplicate, normal_form
from ..checks.size import find_document_size
from ..errors import MemoryFault
from ..limits import MemoryLimits
from ..message import TRUST_ORDER
from ..operations import Add, Applied, Change, Line, Replace, apply
from .values import Candidate, Count, CuratorRequest, Entry


@dataclass(slots=True)
class Plan:
    """The entries after all candidates in order, and what became of each candidate.

    ``refused`` has the reasons of those that a check keeps out. ``licensed`` says which current entries may go,
    and for which candidates: they are named by a remove or replace, or contradicted by a newer run. ``superseded``
    says which line a contradicting one took the place of, ``made`` which candidate a new line is from.
    """

    lines: list[Line]
    refused: dict[str, tuple[Refusal, ...]] = field(default_factory=dict)
    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    licensed: dict[str, list[str]] = field(default_factory=dict)
    superseded: dict[str, str] = field(default_factory=dict)
    made: dict[str, Candidate] = field(default_factory=dict)


def make_plan(
    current: Sequence[Entry],
    candidates: Sequence[Candidate],
    limits: MemoryLimits,
    count: Count | None = None,
    check: Check = check_entry,
) -> Plan:
    """Applies the candidates in order; one that fails is left out with its reasons, the others go on (D4)."""
    plan = Plan(lines=[entry.line for entry in current])
    facts = {entry.id: entry for entry in current}
    for candidate in candidates:
        _try(plan, facts, candidate, limits, count, check)
    return plan


def _try(
    plan: Plan,
    facts: dict[str, Entry],
    candidate: Candidate,
    limits: MemoryLimits,
    count: Count | None,
    check: Check,
) -> None:
    try:
        applied = apply(plan.lines, candidate.operation, candidate.id)
    except MemoryFault as fault:
        plan.refused[candidate.id] = (Refusal(check=fault.code, entry=candidate.id, message=_plain(fault)),)
        return
    old = _contradicted(plan, facts, candidate)
    if old is not None:
        replace = Replace(target=old.id, text=_only_text(candidate))
        applied = apply(plan.lines, replace, candidate.id)
    reasons = tuple(_reasons(plan.lines, applied, candidate, limits, count, check))
    if not reasons and [line.text for line in applied.entries] == [line.text for line in plan.lines]:
        message = "the memory is the same with and without it"
        reasons = (Refusal(check="no_effect", entry=candidate.id, message=message),)
    if reasons:
        plan.refused[candidate.id] = reasons
        return
    if old is not None and (change := applied.changes[0]).after is not None:
        plan.superseded[change.after.id] = old.id
    plan.lines = list(applied.entries)
    plan.changes[candidate.id] = applied.changes
    for change in applied.changes:
        if change.before is not None:
            plan.licensed.setdefault(change.before.id, []).append(candidate.id)
        if change.after is not None:
            plan.made[change.after.id] = candidate


def _plain(fault: MemoryFault) -> str:
    """The fault in words that repeat nothing of the texts, which may hold anything."""
    match fault.code:
        case "target_ambiguous":
            return "its target occurs in several entries; name one by its id"
        case "target_changed":
            return "its target was changed meanwhile; propose it again"
        case _:
            return "no entry is its target any more"


def _only_text(candidate: Candidate) -> str:
    return candidate.operation.text if isinstance(candidate.operation, Add) else ""


def _contradicted(plan: Plan, facts: dict[str, Entry], candidate: Candidate) -> Line | None:
    """The one line that an added text corrects: same words, another value, told by a later run of no lower trust.

    Whether it was memory before or comes of an earlier candidate of the same job makes no difference.
    """
    if not isinstance(candidate.operation, Add):
        return None
    found = [line for line in plan.lines if contradicts(line.text, candidate.operation.text)]
    if len(found) != 1:
        return None
    made, entry = plan.made.get(found[0].id), facts.get(found[0].id)
    if made is not None:
        run, trust = made.run, made.trust
    elif entry is not None:
        run, trust = entry.fact.run, entry.fact.trust
    else:
        return None
    same_run = candidate.run is not None and run == candidate.run
    lower = TRUST_ORDER.index(candidate.trust) > TRUST_ORDER.index(trust)
    return None if same_run or lower else found[0]


def _reasons(
    before: Sequence[Line],
    applied: Applied,
    candidate: Candidate,
    limits: MemoryLimits,
    count: Count | None,
    check: Check,
) -> Iterator[Refusal]:
    final = set(applied.entries)
    new = [change.after for change in applied.changes if change.after in final and change.after is not None]
    for line in new:
        findings = check(line.text, candidate.trust, entry_chars_max=limits.entry_chars_max)
        yield from refusals(findings, candidate.id)
        yield from likeness_refusals(line, [other for other in applied.entries if other != line], candidate.id)
    grown = sum(len(line.text) for line in applied.entries) > sum(len(line.text) for line in before)
    if len(applied.entries) > len(before) or grown:
        for _ in find_document_size([line.text for line in applied.entries], limits, count)[:1]:
            message = "the memory is full; remove or shorten entries first, nothing is dropped silently"
            yield Refusal(check="document_full", entry=candidate.id, message=message)


def refusals(findings: Sequence[Finding], entry: str) -> Iterator[Refusal]:
    """Findings as reasons that name the candidate or entry."""
    for finding in findings:
        yield Refusal(check=finding.code, entry=entry, message=finding.message)


def likeness_refusals(line: Line, others: Sequence[Line], entry: str) -> Iterator[Refusal]:
    """Whether a new text says what another entry says already."""
    for other in others:
        if normal_form(other.text) == normal_form(line.text):
            message = f"entry {other.id} says the same"
            yield Refusal(check="duplicate", entry=entry, message=message)
            return
        if is_near_duplicate(other.text, line.text):
            message = f"entry {other.id} says nearly the same; replace it instead"
            yield Refusal(check="near_duplicate", entry=entry, message=message)
            return


class RuleCurator:
    """The curator without a model: applies the candidates in order and leaves out what a check refuses (D4, C12)."""

    name = "rules-1"

    def curate(self, request: CuratorRequest) -> str:
        """The next entries as the strict JSON array of strings."""
        plan = make_plan(request.entries, request.candidates, request.limits, request.count, request.check)
        return json.dumps([line.text for line in plan.lines], ensure_ascii=False)

    __call__ = curate
