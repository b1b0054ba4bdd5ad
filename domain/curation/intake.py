"""Notes that a person brings along become entries: what each would be, what is refused where, what is left out (D12).

The same checks as for a hand edit (``manual``); ``take_in`` is the preview and the decision at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..catalogue import EntryFact, Override
from ..checks import BY_HAND, Check, check_entry
from ..checks.likeness import normal_form
from ..checks.size import find_document_size
from ..document import Problem, is_canonical
from ..limits import MemoryLimits
from ..notes import Left, Note, Notes
from .manual import Overridden, judge, named
from .values import Count, Entry


@dataclass(frozen=True, slots=True)
class Intake:
    """What an import comes to: the whole next document, the new notes in it, and what did not get in.

    ``complete`` is false when something was refused; ``known`` entries of the document that the notes say again
    are in ``left_out``.
    """

    kind: str
    entries: tuple[Entry, ...]
    notes: tuple[Note, ...]
    refused: tuple[Problem, ...]
    left_out: tuple[Left, ...]
    overrides: tuple[Override, ...]


def take_in(
    notes: Notes,
    current: Sequence[Entry],
    *,
    revision: int,
    replacing: bool = False,
    allow: Collection[str] = (),
    actor: str = "person",
    limits: MemoryLimits | None = None,
    count: Count | None = None,
    check: Check = check_entry,
) -> Intake:
    """Judges notes against the memory that is there; they are added to it, or take its place (``replacing``).

    ``allow`` names finding codes that the person overrides. What no longer fits the document is refused by line.
    """
    limits = limits or MemoryLimits()
    refused = list(notes.problems)
    left = list(notes.left_out)
    overrides: Overridden = []
    known = {normal_form(entry.text): entry for entry in current}
    entries = [] if replacing else list(current)
    said = {} if replacing else dict.fromkeys(known, "known")
    taken = {entry.id for entry in current}
    kept: list[tuple[Note, Entry]] = []
    for note in notes.entries:
        form = normal_form(note.text)
        if form in said:
            left.append(Left(note.line, said[form]))
            continue
        old = known.get(form) if replacing else None
        if old is None or old.text != note.text:
            if problems := _judged(note, limits, allow, overrides, check):
                refused += problems
                continue
            old = _entry(note, revision, actor, taken)
        said[form] = "duplicate"
        kept.append((note, old))
    fitting = _fitting(entries, [entry for _, entry in kept], limits, count)
    for note, entry in kept[fitting:]:
        over = find_document_size(
            [one.text for one in [*entries, *(e for _, e in kept[:fitting]), entry]], limits, count
        )
        code = over[0].code if over else "document_too_long"
        refused.append(Problem(note.line, code, "the memory is full before this entry; remove or shorten some first"))
    return Intake(
        notes.kind,
        (*entries, *(entry for _, entry in kept[:fitting])),
        tuple(note for note, _ in kept[:fitting]),
        tuple(sorted(refused, key=lambda problem: problem.line)),
        tuple(sorted(left, key=lambda one: one.line)),
        named(overrides, {note.line: entry.id for note, entry in kept[:fitting]}),
    )


def _fitting(entries: Sequence[Entry], new: Sequence[Entry], limits: MemoryLimits, count: Count | None) -> int:
    """How many of the new entries the document holds, the first ones first; found by bisection."""
    texts = [entry.text for entry in (*entries, *new)]
    low, high = 0, len(new)
    while low < high:
        middle = (low + high + 1) // 2
        if find_document_size(texts[: len(entries) + middle], limits, count):
            high = middle - 1
        else:
            low = middle
    return low


def _judged(
    note: Note, limits: MemoryLimits, allow: Collection[str], overrides: Overridden, check: Check
) -> list[Problem]:
    problems: list[Problem] = []
    judge(
        note.line,
        check(note.text, BY_HAND, entry_chars_max=limits.entry_chars_max),
        allow,
        problems,
        overrides,
    )
    if not problems and not is_canonical(note.text):
        problems.append(Problem(note.line, "not_canonical", "the text cannot be a line of the memory file"))
    return problems


def _entry(note: Note, revision: int, actor: str, taken: set[str]) -> Entry:
    name = f"import\n{revision}\n{note.line}\n{note.text}"
    while (given := "e" + hashlib.sha256(name.encode()).hexdigest()[:10]) in taken:
        name += "'"
    taken.add(given)
    return Entry(EntryFact(entry=given, since=revision, actor=actor, trust="user"), note.text)
