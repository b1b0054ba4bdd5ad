"""The engine's word on a curator's answer: which entries are the next document, and what became of each candidate."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..catalogue import EntryFact, Refusal
from ..checks import CHECKS, Check, check_entry
from ..checks.likeness import is_near_duplicate, words
from ..checks.size import find_document_size
from ..document import canonical_text, digest, is_canonical, render
from ..limits import MemoryLimits
from ..message import Trust, lowest_trust
from ..operations import Line, Remove, new_entry_id, singles, texts
from .answer import parse_answer
from .plan import Plan, likeness_refusals, make_plan, refusals
from .values import Accepted, Candidate, Count, Decision, Entry, Rejected

_MERGED = 0.6
"""Share of a candidate's words that a rewritten entry must hold to count as having taken it in."""


def decide(
    current: Sequence[Entry],
    candidates: Sequence[Candidate],
    answer: str | bytes,
    *,
    job: str,
    revision: int,
    limits: MemoryLimits | None = None,
    count: Count | None = None,
    check: Check = check_entry,
) -> Decision:
    """Reads a curator's answer and decides on it: ``parse_answer``, then ``next_document`` (D4)."""
    limits = limits or MemoryLimits()
    read = parse_answer(answer, limits)
    if read.reasons:
        return Rejected(read.reasons)
    return next_document(
        current, candidates, read.entries, job=job, revision=revision, limits=limits, count=count, check=check
    )


def next_document(
    current: Sequence[Entry],
    candidates: Sequence[Candidate],
    answer: Sequence[str],
    *,
    job: str,
    revision: int,
    limits: MemoryLimits | None = None,
    count: Count | None = None,
    check: Check = check_entry,
) -> Decision:
    """The next document from an answer, whoever gave it; the checks are made here, not by the curator (D4).

    Entries whose text is unchanged pass untouched with their blame. ``revision`` is the number that the result
    will have; ``job`` gives ids to rewritten entries.
    """
    limits = limits or MemoryLimits()
    plan = make_plan(current, candidates, limits, count, check)
    entries = _attribute(current, candidates, [canonical_text(text) for text in answer], plan, job, revision)
    reasons = (
        *_entry_reasons(current, entries, limits, check),
        *_shrink_reasons(current, candidates, entries, plan),
        *_document_reasons(current, entries, limits, count),
    )
    if reasons:
        return Rejected(reasons)
    return _accepted(current, candidates, entries, plan)


# --- blame -------------------------------------------------------------------------------------------


def _attribute(
    current: Sequence[Entry],
    candidates: Sequence[Candidate],
    answer: Sequence[str],
    plan: Plan,
    job: str,
    revision: int,
) -> tuple[Entry, ...]:
    """Gives every text its fact: its own when it is unchanged, that of one candidate, or that of the job (D4)."""
    unchanged: dict[str, list[Entry]] = {}
    for entry in current:
        unchanged.setdefault(entry.text, []).append(entry)
    proposed = _proposals(candidates, plan)
    trusts = _trusts(current, candidates, plan)
    gone = {entry.text for entry in current} - set(answer)
    taken: set[str] = set()
    entries: list[Entry] = []
    for number, text in enumerate(answer):
        if unchanged.get(text):
            entry = unchanged[text].pop(0)
        elif text in proposed:
            entry = _of_candidate(text, *proposed[text], current, plan, revision, taken, trusts)
        else:
            lost = [one for one in current if one.text in gone]
            entry = _of_job(text, number, candidates, lost, job, revision, taken)
        taken.add(entry.id)
        entries.append(entry)
    return tuple(entries)


def _proposals(candidates: Sequence[Candidate], plan: Plan) -> dict[str, tuple[Candidate, int]]:
    """Who stands behind a text: the candidate whose text is left in the plan, else the first that was not refused."""
    final = {line.id for line in plan.lines}
    found: dict[str, tuple[Candidate, int]] = {}
    for candidate in candidates:
        added = [change.after for change in plan.changes.get(candidate.id, ()) if change.after is not None]
        for index, line in enumerate(added):
            if line.id in final:
                found.setdefault(line.text, (candidate, index))
    for candidate in sorted(candidates, key=lambda one: one.id in plan.refused):
        for index, text in enumerate(texts(candidate.operation)):
            found.setdefault(text, (candidate, index))
    return found


def _trusts(current: Sequence[Entry], candidates: Sequence[Candidate], plan: Plan) -> dict[str, Trust]:
    """The trust of every line of the plan: what takes an entry's place is no more trusted than that entry was (D13)."""
    trusts: dict[str, Trust] = {entry.id: entry.fact.trust for entry in current}
    for candidate in candidates:
        for change in plan.changes.get(candidate.id, ()):
            if change.after is not None:
                before = () if change.before is None else (trusts[change.before.id],)
                trusts[change.after.id] = lowest_trust(candidate.trust, *before)
    return trusts


def _of_candidate(
    text: str,
    candidate: Candidate,
    index: int,
    current: Sequence[Entry],
    plan: Plan,
    revision: int,
    taken: set[str],
    trusts: Mapping[str, Trust],
) -> Entry:
    planned = [
        change.after.id
        for change in plan.changes.get(candidate.id, ())
        if change.after is not None and change.after.text == text
    ]
    name = planned[0] if planned and planned[0] not in taken else _free(new_entry_id(candidate.id, index), taken)
    earlier, told = _superseded(name, current, plan)
    fact = EntryFact(
        entry=name,
        since=revision,
        candidates=(*earlier, candidate.id),
        run=candidate.run,
        session=candidate.session,
        messages=(*told, *candidate.messages),
        actor=candidate.actor,
        trust=lowest_trust(candidate.trust, *(trusts[one] for one in planned)),
    )
    return Entry(fact, text)


def _superseded(name: str, current: Sequence[Entry], plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Candidates and messages behind what a contradicting line took the place of, through all of the job (D4)."""
    candidates: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    old = plan.superseded.get(name)
    while old is not None:
        made = plan.made.get(old)
        if made is None:
            fact = next(entry.fact for entry in current if entry.id == old)
            return (*fact.candidates, *candidates), (*fact.messages, *messages)
        candidates, messages = (made.id, *candidates), (*made.messages, *messages)
        old = plan.superseded.get(old)
    return candidates, messages


def _of_job(
    text: str,
    number: int,
    candidates: Sequence[Candidate],
    lost: Sequence[Entry],
    job: str,
    revision: int,
    taken: set[str],
) -> Entry:
    """A text that nobody proposed like this: all inputs of the job stand behind it, and the entries it came from."""
    trusts = [candidate.trust for candidate in candidates] + [entry.fact.trust for entry in lost]
    fact = EntryFact(
        entry=_free("e" + hashlib.sha256(f"{job}\n{number}".encode()).hexdigest()[:10], taken),
        since=revision,
        candidates=tuple(candidate.id for candidate in candidates),
        messages=tuple(dict.fromkeys(message for candidate in candidates for message in candidate.messages)),
        actor="curator",
        trust=lowest_trust(*trusts) if trusts else "model",
        shared=True,
    )
    return Entry(fact, text)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = "e" + hashlib.sha256(name.encode()).hexdigest()[:10]
    return name


# --- reasons -----------------------------------------------------------------------------------------


def _is_new(entry: Entry, current: Sequence[Entry]) -> bool:
    return all(entry.id != one.id for one in current)


def _name(entry: Entry, number: int) -> str:
    """How a reason names an entry: by its candidate, or by its place in the answer; never by its text."""
    return entry.fact.candidates[-1] if not entry.fact.shared and entry.fact.candidates else f"entry {number}"


def _entry_reasons(
    current: Sequence[Entry], entries: Sequence[Entry], limits: MemoryLimits, check: Check
) -> Iterator[Refusal]:
    for number, entry in enumerate(entries, 1):
        if not _is_new(entry, current):
            continue
        name = _name(entry, number)
        if not entry.fact.candidates:
            yield Refusal(check="unsourced", entry=name, message="no candidate stands behind this entry")
        findings = check(entry.text, entry.fact.trust, entry_chars_max=limits.entry_chars_max)
        yield from refusals(findings, name)
        if not findings and not is_canonical(entry.text):
            yield Refusal(check="not_canonical", entry=name, message="the text cannot be a line of the file")
        others = [one.line for at, one in enumerate(entries, 1) if at < number or not _is_new(one, current)]
        yield from likeness_refusals(entry.line, [line for line in others if line.id != entry.id], name)


def _shrink_reasons(
    current: Sequence[Entry], candidates: Sequence[Candidate], entries: Sequence[Entry], plan: Plan
) -> Iterator[Refusal]:
    """An entry may go only if a remove or replace targets it, or a near-duplicate of it survives (D4)."""
    kept = Counter(entry.id for entry in entries)
    operations = {candidate.id: candidate for candidate in candidates}
    for entry in current:
        if kept[entry.id] or any(is_near_duplicate(entry.text, one.text) for one in entries):
            continue
        if any(_licenses(plan, operations[name], entry.line, entries) for name in plan.licensed.get(entry.id, ())):
            continue
        message = "the entry would be lost: no remove or replace targets it and nothing like it survives"
        yield Refusal(check="shrink_guard", entry=entry.id, message=message)


def _licenses(plan: Plan, candidate: Candidate, line: Line, entries: Sequence[Entry]) -> bool:
    for change in plan.changes.get(candidate.id, ()):
        if change.before is not None and change.before.id == line.id:
            return change.after is None or _shows(entries, change.after.text) or _goes_on(plan, change.after.id)
    return False


def _goes_on(plan: Plan, name: str) -> bool:
    """Whether what came in its place was itself removed or replaced by a later candidate."""
    return name in plan.licensed


def _shows(entries: Sequence[Entry], text: str) -> bool:
    """Whether the document says what a text says: itself, nearly, or inside an entry that was written anew."""
    wanted = words(text)
    for entry in entries:
        if entry.text == text or is_near_duplicate(entry.text, text):
            return True
        if entry.fact.shared and wanted.total() and (wanted & words(entry.text)).total() >= _MERGED * wanted.total():
            return True
    return False


def _document_reasons(
    current: Sequence[Entry], entries: Sequence[Entry], limits: MemoryLimits, count: Count | None
) -> Iterator[Refusal]:
    before, after = [entry.text for entry in current], [entry.text for entry in entries]
    for finding in find_document_size(after, limits, count):
        # A document that is over a limit which was lowered since may still shrink.
        if len(after) <= len(before) and sum(map(len, after)) < sum(map(len, before)):
            continue
        yield Refusal(check=finding.code, entry="document", message=finding.message)


# --- outcome -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Fates:
    consumed: list[str]
    refused: dict[str, tuple[Refusal, ...]]
    pending: list[str]


def _accepted(
    current: Sequence[Entry], candidates: Sequence[Candidate], entries: tuple[Entry, ...], plan: Plan
) -> Accepted:
    fates = _Fates([], {}, [])
    for candidate in candidates:
        if candidate.id in plan.refused and not _by_candidate(entries, candidate):
            fates.refused[candidate.id] = plan.refused[candidate.id]
        elif _took_effect(current, candidate, entries, plan):
            fates.consumed.append(candidate.id)
        else:
            fates.pending.append(candidate.id)
    data = render([entry.text for entry in entries])
    return Accepted(
        entries=entries,
        data=data,
        digest=digest(data),
        consumed=tuple(fates.consumed),
        refused=fates.refused,
        pending=tuple(fates.pending),
        checks=(*CHECKS, "shrink_guard"),
        changed=[entry.text for entry in entries] != [entry.text for entry in current],
    )


def _by_candidate(entries: Sequence[Entry], candidate: Candidate) -> bool:
    return any(candidate.id in entry.fact.candidates and not entry.fact.shared for entry in entries)


def _took_effect(current: Sequence[Entry], candidate: Candidate, entries: Sequence[Entry], plan: Plan) -> bool:
    """Whether everything that the candidate wanted is so in the document."""
    present = {entry.id for entry in entries}
    changes = plan.changes.get(candidate.id, ())
    if not changes:
        return all(_shows(entries, text) for text in texts(candidate.operation)) and not any(
            isinstance(one, Remove) for one in singles(candidate.operation)
        )
    # A text that went and came back, in this candidate or a later one, has its old id again: nobody ignored that.
    returned = {line.text for line in plan.lines}
    for change in changes:
        later = change.after is not None and _goes_on(plan, change.after.id)
        if change.after is not None and not later and not _shows(entries, change.after.text):
            return False
        if change.before is not None and change.before.id in present and change.before.text not in returned:
            return False
    return True
