"""What a person's edit, import or restore came to: the draft of a revision, or the refusal in words (D8, D9)."""

from __future__ import annotations

from ...domain.catalogue import RevisionKind
from ...domain.checks import CHECKS
from ...domain.curation import JUDGED, Adopted, Declined, Intake
from ...domain.errors import MemoryFault
from ...domain.revision import Draft


def draft_of(kind: RevisionKind, verdict: Adopted, actor: str) -> Draft:
    return Draft(
        kind,
        tuple(entry.text for entry in verdict.entries),
        tuple(entry.fact for entry in verdict.entries),
        overrides=verdict.overrides,
        receipt=CHECKS,
        actor=actor,
    )


def imported_draft(intake: Intake, actor: str) -> Draft:
    return Draft(
        "manual",
        tuple(entry.text for entry in intake.entries),
        tuple(entry.fact for entry in intake.entries),
        overrides=intake.overrides,
        receipt=CHECKS,
        actor=actor,
    )


def not_imported(intake: Intake) -> MemoryFault:
    first, more = intake.refused[0], len(intake.refused) - 1
    rest = "--skip-refused takes the rest, " if intake.entries else "nothing else stands there, "
    return MemoryFault(
        f"nothing was imported: line {first.line}: {first.message}{f' (and {more} more)' if more else ''}; "
        f"--preview shows all of it, {rest}--allow CODE lets a finding pass",
        code="memory_invalid",
        problems=[{"line": p.line, "code": p.code, "message": p.message} for p in intake.refused],
    )


def invalid(what: str, where: str, verdict: Declined) -> MemoryFault:
    first, more = verdict.problems[0], len(verdict.problems) - 1
    codes = {problem.code for problem in verdict.problems if not problem.final} & JUDGED
    let_pass = f", or let it pass with --allow {' --allow '.join(sorted(codes))}" if codes else ""
    return MemoryFault(
        f"{what}, {where} {first.line}: {first.message}{f' (and {more} more)' if more else ''}; correct it{let_pass}",
        code="memory_invalid",
        problems=[{where: p.line, "code": p.code, "message": p.message} for p in verdict.problems],
    )
