"""What the memory commands answer: revisions, differences, blame, status; and sync and restore (D8, D9, D11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from sqlalchemy import Connection

from ...domain.catalogue import CandidateProposed, Override, RevisionPrepared
from ...domain.checks.likeness import contradicts
from ...domain.curation import JUDGED
from ...domain.erasure import ERASED_ENTRY
from ...domain.errors import InputError, MemoryFault
from ...domain.events import LoggedEvent
from ...domain.forgetting import Block, blocking
from ...domain.operations import Add, Operation, Remove, Replace, Single, singles
from ...domain.streams import candidate_stream
from ...domain.whole_numbers import whole_number
from ...projections import candidates
from ...projections import evidence as catalogue
from ...projections.revisions import queries as revisions
from ...projections.revisions.queries import EntryRow, RevisionRow
from .curation_lease import holder_of
from .forgetting import Learning
from .proposals import operation_of
from .publisher import Publisher
from .runtime import Runtime

if TYPE_CHECKING:
    from .schedule import Curating


def show(runtime: Runtime, publisher: Publisher, revision: int | None, at: int | None) -> dict[str, Any]:
    """One revision with its entries, and how the file stands now."""
    row, entries = _snapshot(runtime, revision, at)
    state = publisher.state()
    answer = {
        "revision": 0 if row is None else row.revision,
        "kind": None if row is None else row.kind,
        "digest": None if row is None else row.digest,
        "entries": [_shown(entry) for entry in entries],
        "file": {"state": state.state, "path": state.path},
    }
    if row is not None and row.kind == "displaced":
        raw = publisher.revision(row.revision).raw
        answer["kept"] = None if raw is None else raw.decode(errors="backslashreplace")
    return answer


def _shown(entry: EntryRow) -> dict[str, Any]:
    """An entry as it is shown; one that was erased by a tombstone (E8)."""
    erased: dict[str, Any] = {} if entry.text else {"erased": True}
    return {"id": entry.entry, "text": entry.text or ERASED_ENTRY, **erased}


def _snapshot(
    runtime: Runtime, revision: int | None, at: int | None = None
) -> tuple[RevisionRow | None, tuple[EntryRow, ...]]:
    with runtime.projections.reading("revisions") as (view, connection):
        return _read(view, connection, runtime, revision, at)


def _read(
    view: Any, connection: Connection, runtime: Runtime, revision: int | None, at: int | None
) -> tuple[RevisionRow | None, tuple[EntryRow, ...]]:
    row = (
        revisions.at_position(view, connection, runtime.workspace, at)
        if revision is None
        else revisions.revision(view, connection, runtime.workspace, revision)
    )
    if revision and (row is None or row.status != "committed"):
        raise unknown(revision)
    entries = None if row is None else revisions.show(view, connection, runtime.workspace, row.revision)
    return row, entries or ()


def _require_entries(row: RevisionRow | None) -> None:
    """A displaced revision keeps what stood in the file: to call that an empty memory would be false."""
    if row is not None and row.kind == "displaced":
        raise MemoryFault(
            f"revision {row.revision} is displaced: it keeps what stood in the file, and has no entries; "
            f"'minutebook memory show --revision {row.revision}' shows it",
            code="revision_displaced",
            revision=row.revision,
        )


def unknown(revision: int) -> MemoryFault:
    return MemoryFault(
        f"there is no committed revision {revision}; 'minutebook memory log' lists them",
        code="unknown_revision",
        revision=revision,
    )


def revision_log(runtime: Runtime, limit: int | None, before: int | None) -> list[dict[str, Any]]:
    """The committed revisions, oldest first: all, the newest ``limit``, those of numbers below ``before``."""
    for what, number in (("limit", limit), ("before", before)):
        if number is not None:
            whole_number(number, what)
    with runtime.projections.reading("revisions") as (view, connection):
        rows = revisions.log(view, connection, runtime.workspace, limit=limit, before=before)
    return [_revision(row) for row in reversed(rows)]


def _revision(row: RevisionRow) -> dict[str, Any]:
    return {
        "revision": row.revision,
        "kind": row.kind,
        "parent": row.parent,
        "position": row.position,
        "time": row.time,
        "digest": row.digest,
        "entries": row.entries,
        "actor": row.actor,
        "job": row.job,
        "curator": row.curator,
        "restored_from": row.restored_from,
        "inputs": list(row.inputs),
        "checks": list(row.receipt),
        "overrides": list(row.overrides),
    }


def diff(runtime: Runtime, publisher: Publisher, a: int, b: int) -> dict[str, Any]:
    """What came, what went, and what was replaced, from one revision to another (0: empty memory)."""
    for number in (a, b):
        if number:
            _require_entries(_snapshot(runtime, number)[0])
    with runtime.projections.reading("revisions") as (view, connection):
        found = revisions.diff(view, connection, runtime.workspace, a, b)
    if found is None:
        raise unknown(b)
    removed = {entry.entry: entry for entry in found.removed}
    changed = [(before, after) for before, after in found.changed]
    added = []
    for entry in found.added:
        target = next((name for name in _replaced(runtime, entry) if name in removed), None)
        if target is None:
            added.append(entry)
        else:
            changed.append((removed.pop(target), entry))
    for entry in tuple(added):
        corrected = next((old for old in removed.values() if contradicts(old.text, entry.text)), None)
        if corrected is not None:
            added.remove(entry)
            changed.append((removed.pop(corrected.entry), entry))
    return {
        "added": [_shown(entry) for entry in added],
        "removed": [_shown(entry) for entry in removed.values()],
        "changed": [
            {
                "id": after.entry,
                "replaces": before.entry,
                "before": before.text or ERASED_ENTRY,
                "after": after.text or ERASED_ENTRY,
            }
            for before, after in changed
        ],
    }


def _replaced(runtime: Runtime, entry: EntryRow) -> Iterable[str]:
    """Ids of the entries that this one was proposed to replace."""
    for name in entry.candidates:
        operation = _operation(runtime, name)
        for one in () if operation is None else singles(operation):
            if isinstance(one, Replace) and one.text == entry.text:
                yield one.target


def _operation(runtime: Runtime, candidate: str) -> Any:
    for event in runtime.log.stream(candidate_stream(runtime.workspace, candidate), limit=1):
        return operation_of(event.payload)
    return None


def blame(runtime: Runtime, publisher: Publisher, revision: int | None) -> list[dict[str, Any]]:
    """From each entry to its operation, run, messages and actor."""
    with runtime.projections.reading("revisions") as (view, connection):
        row, entries = _read(view, connection, runtime, revision, None)
        _require_entries(row)
        judged = revisions.judged(view, connection, runtime.workspace, {entry.since for entry in entries})
    # Only an override is looked up in the log: it names its entry there, and there are few.
    events = runtime.log.at({position for position, _, overridden in judged.values() if overridden})
    return [_blame(runtime, entry, *_verdicts(judged[entry.since], events)) for entry in entries]


def _verdicts(
    judged: tuple[int, tuple[str, ...], tuple[str, ...]], events: Mapping[int, LoggedEvent]
) -> tuple[list[str], tuple[Override, ...]]:
    """The checks that the new entries of a revision passed, and the findings that a person let pass."""
    position, receipt, _ = judged
    body = events[position].body if position in events else None
    return list(receipt), body.overrides if isinstance(body, RevisionPrepared) else ()


def _blame(runtime: Runtime, entry: EntryRow, passed: list[str], overrides: tuple[Override, ...]) -> dict[str, Any]:
    operation, findings, proposed = "manual", [], None
    for name in entry.candidates:
        for event in runtime.log.stream(candidate_stream(runtime.workspace, name), limit=1):
            body = event.body
            if isinstance(body, CandidateProposed):
                operation, proposed = body.operation, event.position
                findings = [finding.code for finding in body.findings]
    return {
        "entry": entry.entry,
        "text": entry.text or ERASED_ENTRY,
        "revision": entry.since,
        "operation": operation,
        "candidates": list(entry.candidates),
        "run": entry.run,
        "session": entry.session,
        "messages": list(entry.messages),
        "actor": entry.actor,
        "trust": entry.trust,
        "shared": entry.shared,
        "findings": findings,
        "checks": passed,
        "overrides": [one.code for one in overrides if one.entry in ("", entry.entry)],
        "position": entry.position,
        "proposed_at": proposed,
    }


# --- changing


def restore(
    runtime: Runtime, publisher: Publisher, revision: int, discard_edit: bool, allow: tuple[str, ...]
) -> dict[str, Any]:
    """A new revision from an old snapshot (D9)."""
    require_judged(allow)
    done = publisher.restore(revision, discard_edit=discard_edit, allow=allow)
    return {"revision": done.revision, "restored_from": revision, "digest": done.digest, "changed": done.changed}


def sync(
    runtime: Runtime, publisher: Publisher, curating: Curating, fix: bool, allow: tuple[str, ...]
) -> dict[str, Any]:
    """An edit becomes a manual revision; a clean file is a reason to curate (D6, D8)."""
    require_judged(allow)
    clean = publisher.state().clean
    done = publisher.sync(fix=fix, allow=allow)
    answer: dict[str, Any] = {
        "revision": done.revision,
        "fixed": list(done.fixed),
        "digest": done.digest,
        "changed": done.changed,
    }
    if clean and runtime.settings.memory_enabled:
        answer["curation"] = curating.curate()
        answer["revision"] = answer["curation"]["revision"] or answer["revision"]
    return answer


def require_judged(allow: Iterable[str]) -> None:
    """Raises InputError ``bad_option`` for a code that no person can let pass, or that is none."""
    unknown_codes = sorted(set(allow) - JUDGED)
    if unknown_codes:
        raise InputError(
            f"{unknown_codes[0]!r} is no finding that can be let pass; there are: {', '.join(sorted(JUDGED))}",
            code="bad_option",
        )


# --- status


def status(runtime: Runtime, publisher: Publisher, curating: Curating) -> dict[str, Any]:
    """How the file stands, what waits, what failed last."""
    state = publisher.state()
    document = publisher.document()
    with runtime.projections.reading("candidates") as (view, connection):
        waiting = candidates.pending(view, connection, runtime.workspace)
        held = candidates.quarantined(view, connection, runtime.workspace)
        aside = candidates.by_status(view, connection, runtime.workspace, "set_aside")
        failed = candidates.failures(view, connection, runtime.workspace)
    with runtime.projections.reading("evidence") as (view, connection):
        evidence = catalogue.counts(view, connection, runtime.workspace)
    automatic = runtime.settings.curation_automatic and runtime.settings.memory_enabled and state.clean
    return {
        "state": state.state,
        "path": state.path,
        "cause": state.cause,
        "detail": state.detail,
        "warnings": list(state.warnings),
        "revision": 0 if document.current is None else document.current.number,
        "entries": len(document.entries),
        "expected_digest": state.expected_digest,
        "found_digest": state.found_digest,
        "automatic_curation": automatic,
        "pending": len(waiting),
        "quarantined": len(held),
        "set_aside": [row.candidate for row in aside],
        "last_error": _last_error(failed) or curating.last_error,
        "failures": len(failed),
        "curating": holder_of(runtime),
        "evidence": evidence,
    }


def _last_error(failed: list[candidates.JobRow]) -> str | None:
    if not failed:
        return None
    job = failed[0]
    why = job.error or ", ".join(dict.fromkeys(reason["check"] for reason in job.reasons)) or "rejected"
    return f"job {job.job} at position {job.position}: {why}"


def listed(runtime: Runtime, *statuses: candidates.Status) -> list[dict[str, Any]]:
    """Candidates in one of these states (none named: all), with their texts, and why each is where it is (D3)."""
    with runtime.projections.reading("candidates") as (view, connection):
        rows = candidates.by_status(view, connection, runtime.workspace, *statuses)
    events = runtime.log.at(row.position for row in rows)
    operations = [operation_of(events[row.position].payload) for row in rows]
    said = _texts_of(runtime, operations)
    blocks = Learning(runtime).blocks()
    found = []
    for row, operation in zip(rows, operations, strict=True):
        found.append(
            {
                "candidate": row.candidate,
                "status": row.status,
                "operation": row.operation,
                "text": "" if operation is None else "; ".join(_told(one, said, blocks) for one in singles(operation)),
                "trust": row.trust,
                "run": row.run,
                "session": row.session,
                "reason": None if row.status in _PAST_REASON else row.reason,
                "attempts": row.attempts,
                "last_error": row.last_error,
                "revision": row.revision,
                "findings": list(row.findings),
                "position": row.position,
                "time": row.time,
            }
        )
    return found


_PAST_REASON = frozenset({"approved", "declined", "consumed"})
"""States in which the reason of an earlier one, the quarantine, says nothing any more: a person has decided."""


def _texts_of(runtime: Runtime, operations: Iterable[Operation | None]) -> dict[str, str]:
    """The texts of the entries that these operations target: as they stand, or as they last stood."""
    found = {entry.entry: entry.text for entry in _snapshot(runtime, None)[1]}
    targets = {
        one.target
        for operation in operations
        if operation is not None
        for one in singles(operation)
        if not isinstance(one, Add)
    }
    with runtime.projections.reading("revisions") as (view, connection):
        for target in targets - found.keys():
            if past := revisions.history(view, connection, runtime.workspace, target):
                found[target] = past[-1].text or ERASED_ENTRY
    return found


def _told(one: Single, live: Mapping[str, str], blocks: Sequence[Block]) -> str:
    """The same, without what a person wanted forgotten (D16)."""
    words = one.text if not isinstance(one, Remove) else live.get(one.target, one.target)
    return "(forgotten)" if blocking(blocks, words) else _said(one, live)


def _said(one: Single, live: Mapping[str, str]) -> str:
    """What an operation would do, in words: a person who approves it sees what would go, not only what would come."""
    match one:
        case Add():
            return one.text
        case Replace():
            return f"{one.text} (replace {live.get(one.target, one.target)})"
        case Remove():
            return f"(remove {live.get(one.target, one.target)})"


def require_status(status: str | None) -> tuple[candidates.Status, ...]:
    """The states that a name stands for: none stands for all. Raises InputError ``bad_option``."""
    if status is None:
        return ()
    for known in get_args(candidates.Status):
        if status == known:
            return (known,)
    raise InputError(
        f"{status!r} is no state of a candidate; there are: {', '.join(get_args(candidates.Status))}", code="bad_option"
    )
