"""Where every proposed memory operation stands, and what the curation jobs came to (D3, D4, D6, D13).

The operations' texts stay in the log, at the ``position`` of the proposal: an erasure has one place to erase.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Column, Connection, Index, Integer, MetaData, Select, Table, Text, bindparam, select

from ..domain import catalogue as events
from ..domain.events import LoggedEvent
from ..domain.message import Trust
from .prepared import prepared, replace, write
from .projection import BIG, Projection

Status = Literal[
    "proposed", "admitted", "quarantined", "approved", "declined", "withdrawn", "refused", "set_aside", "consumed"
]
PENDING: tuple[Status, ...] = ("admitted", "approved")


class Candidates(Projection):
    """One row per candidate, one per curation job that came to nothing."""

    name = "candidates"
    version = 1
    payloads = False
    event_types = frozenset(
        {
            events.CandidateProposed,
            events.CandidateAdmitted,
            events.CandidateQuarantined,
            events.CandidateApproved,
            events.CandidateDeclined,
            events.CandidateWithdrawn,
            events.CandidateRefused,
            events.CandidateSetAside,
            events.CurationRejected,
            events.CurationFailed,
            events.RevisionPrepared,
            events.RevisionCommitted,
        }
    )

    candidates: Table
    jobs: Table

    def tables(self, metadata: MetaData) -> None:
        self.candidates = Table(
            "candidates",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("candidate", Text, primary_key=True),
            Column("status", Text, nullable=False),
            Column("operation", Text, nullable=False),
            Column("position", BIG, nullable=False),
            Column("changed", BIG, nullable=False),
            Column("pending_since", BIG),
            Column("session", Text),
            Column("run", Text),
            Column("actor", Text, nullable=False),
            Column("trust", Text, nullable=False),
            Column("time", Text, nullable=False),
            Column("findings", Text, nullable=False),
            Column("messages", Text, nullable=False),
            Column("attempts", Integer, nullable=False),
            Column("last_error", Text),
            Column("reason", Text),
            Column("revision", BIG),
        )
        by_status = ("workspace", "status", "pending_since")
        Index("candidates_by_status", *(self.candidates.c[name] for name in by_status))
        self.jobs = Table(
            "candidates_jobs",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("job", Text),
            Column("outcome", Text, nullable=False),
            Column("error", Text),
            Column("reasons", Text, nullable=False),
            Column("inputs", Text, nullable=False),
            Column("curator", Text),
            Column("input_tokens", BIG, nullable=False),
            Column("output_tokens", BIG, nullable=False),
            Column("time", Text, nullable=False),
        )
        Index("candidates_jobs_by_position", self.jobs.c.workspace, self.jobs.c.position)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        fold = _Fold(self, connection)
        for event in events:
            fold.take(event)
        fold.flush()


class _Fold:
    """One batch: every candidate that it touches is read once and written once."""

    def __init__(self, tables: Candidates, connection: Connection) -> None:
        self.tables = tables
        self.connection = connection
        self.candidates: dict[tuple[str, str], dict[str, Any] | None] = {}
        self.new: list[dict[str, Any]] = []
        self.old: dict[tuple[str, str], dict[str, Any]] = {}
        self.jobs: list[dict[str, Any]] = []

    def flush(self) -> None:
        write(self.tables.candidates, self.connection, self.new)
        replace(self.tables.candidates, self.connection, list(self.old.values()))
        write(self.tables.jobs, self.connection, self.jobs)

    def take(self, event: LoggedEvent) -> None:
        match event.body:
            case events.CandidateProposed() as body:
                row = _proposed(event, body)
                self.candidates[event.workspace, body.candidate] = row
                self.new.append(row)
            case events.CandidateAdmitted() | events.CandidateApproved() as body:
                # Approved after it was set aside: it starts afresh (D4).
                status = "admitted" if isinstance(body, events.CandidateAdmitted) else "approved"
                self._change(event, [body.candidate], status=status, pending_since=event.position, attempts=0)
            case events.CandidateQuarantined() as body:
                self._change(event, [body.candidate], status="quarantined", reason=body.reason)
            case events.CandidateDeclined() as body:
                self._change(event, [body.candidate], status="declined", pending_since=None)
            case events.CandidateWithdrawn() as body:
                self._change(event, [body.candidate], status="withdrawn", pending_since=None, reason=body.reason)
            case events.CandidateRefused() as body:
                reason = ", ".join(dict.fromkeys(refusal.check for refusal in body.reasons))
                self._change(event, [body.candidate], status="refused", pending_since=None, reason=reason)
            case events.CandidateSetAside() as body:
                change = {"status": "set_aside", "pending_since": None, "reason": body.reason}
                self._change(event, [body.candidate], **change, attempts=body.attempts)
            case events.CurationRejected() as body:
                reasons = json.dumps([reason.model_dump() for reason in body.reasons], separators=(",", ":"))
                codes = ", ".join(dict.fromkeys(reason.check for reason in body.reasons))
                self._job(event, "rejected", body, error=codes, reasons=reasons, usage=body.usage)
                self._failed(event, body.inputs, codes)
            case events.CurationFailed() as body:
                self._job(event, "failed", body, error=body.error)
                self._failed(event, body.inputs, body.error)
            case events.RevisionPrepared() as body if body.job is not None:
                self._job(event, "prepared", body, usage=body.usage)
            case events.RevisionCommitted() as body:
                self._change(event, body.inputs, status="consumed", pending_since=None, revision=body.revision)
            case _:
                pass

    def _change(self, event: LoggedEvent, names: Iterable[str], **values: Any) -> None:
        for name in names:
            row = self._row(event.workspace, name)
            if row is not None:
                row.update(changed=event.position, **values)

    def _failed(self, event: LoggedEvent, names: Iterable[str], error: str) -> None:
        for name in names:
            row = self._row(event.workspace, name)
            if row is not None:
                row.update(changed=event.position, attempts=row["attempts"] + 1, last_error=error)

    def _row(self, workspace: str, candidate: str) -> dict[str, Any] | None:
        """The row of a candidate, which is about to change; None where it was never proposed."""
        key = (workspace, candidate)
        if key not in self.candidates:
            statement = prepared(self.tables.candidates, "one", lambda: _one(self.tables.candidates))
            row = statement.mapping(self.connection, workspace=workspace, candidate=candidate)
            self.candidates[key] = row
            if row is not None:
                self.old[key] = row
        return self.candidates[key]

    def _job(
        self,
        event: LoggedEvent,
        outcome: str,
        body: events.CurationRejected | events.CurationFailed | events.RevisionPrepared,
        *,
        error: str | None = None,
        reasons: str = "[]",
        usage: events.Usage | None = None,
    ) -> None:
        row = {
            "position": event.position,
            "workspace": event.workspace,
            "job": body.job,
            "outcome": outcome,
            "error": error,
            "reasons": reasons,
            "inputs": json.dumps(body.inputs, separators=(",", ":")),
            "curator": body.curator,
            "input_tokens": 0 if usage is None else usage.input_tokens,
            "output_tokens": 0 if usage is None else usage.output_tokens,
            "time": event.time_text,
        }
        self.jobs.append(row)


def _one(table: Table) -> Select[Any]:
    here = (table.c.workspace == bindparam("workspace"), table.c.candidate == bindparam("candidate"))
    return select(table).where(*here)


def _proposed(event: LoggedEvent, body: events.CandidateProposed) -> dict[str, Any]:
    return {
        "workspace": event.workspace,
        "candidate": body.candidate,
        "status": "proposed",
        "operation": body.operation,
        "position": event.position,
        "changed": event.position,
        "pending_since": None,
        "session": event.session,
        "run": event.run,
        "actor": event.actor,
        "trust": event.trust,
        "time": event.time_text,
        "findings": json.dumps([finding.code for finding in body.findings], separators=(",", ":")),
        "messages": json.dumps(body.messages, separators=(",", ":")),
        "attempts": 0,
        "last_error": None,
        "reason": None,
        "revision": None,
    }


# --- queries


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate; ``position`` is where its proposal and text stand, ``changed`` the event of its last change."""

    candidate: str
    status: Status
    operation: str
    position: int
    changed: int
    pending_since: int | None
    session: str | None
    run: str | None
    actor: str
    trust: Trust
    time: str
    findings: tuple[str, ...]
    messages: tuple[str, ...]
    attempts: int
    last_error: str | None
    reason: str | None
    revision: int | None


@dataclass(frozen=True, slots=True)
class JobRow:
    """One curation job that was prepared, rejected or failed; ``reasons`` are refusals as dicts."""

    job: str | None
    outcome: Literal["prepared", "rejected", "failed"]
    position: int
    error: str | None
    reasons: tuple[dict[str, str], ...]
    inputs: tuple[str, ...]
    curator: str | None
    input_tokens: int
    output_tokens: int
    time: str


def by_status(
    tables: Candidates, connection: Connection, workspace: str, *statuses: Status, run: str | None = None
) -> list[CandidateRow]:
    """Candidates in one of these states (none named: all), in the order of becoming pending or being proposed."""
    table = tables.candidates
    statement = select(table).where(table.c.workspace == workspace)
    if statuses:
        statement = statement.where(table.c.status.in_(statuses))
    if run is not None:
        statement = statement.where(table.c.run == run)
    rows = [_candidate(row) for row in connection.execute(statement.order_by(table.c.position))]
    return sorted(rows, key=lambda row: (row.pending_since or row.position, row.position))


def pending(tables: Candidates, connection: Connection, workspace: str) -> list[CandidateRow]:
    """What the curator takes next, in order of admission or approval (D4)."""
    return by_status(tables, connection, workspace, *PENDING)


def quarantined(tables: Candidates, connection: Connection, workspace: str) -> list[CandidateRow]:
    """What waits for a person (D13)."""
    return by_status(tables, connection, workspace, "quarantined")


def candidate(tables: Candidates, connection: Connection, workspace: str, candidate: str) -> CandidateRow | None:
    """One candidate, or None."""
    table = tables.candidates
    statement = select(table).where(table.c.workspace == workspace, table.c.candidate == candidate)
    row = connection.execute(statement).one_or_none()
    return None if row is None else _candidate(row)


def counts(tables: Candidates, connection: Connection, workspace: str) -> dict[str, int]:
    """How many candidates are in each state."""
    found: dict[str, int] = {}
    for row in by_status(tables, connection, workspace):
        found[row.status] = found.get(row.status, 0) + 1
    return found


def jobs(
    tables: Candidates, connection: Connection, workspace: str, *, after: int = 0, limit: int | None = None
) -> list[JobRow]:
    """Curation jobs, newest first."""
    table = tables.jobs
    statement = select(table).where(table.c.workspace == workspace, table.c.position > after)
    statement = statement.order_by(table.c.position.desc())
    return [_job_row(row) for row in connection.execute(statement if limit is None else statement.limit(limit))]


def failures(tables: Candidates, connection: Connection, workspace: str) -> list[JobRow]:
    """Jobs that failed or were rejected since the last one that was prepared, newest first: for back-off (D6)."""
    found: list[JobRow] = []
    for row in jobs(tables, connection, workspace, limit=100):
        if row.outcome == "prepared":
            break
        found.append(row)
    return found


def _candidate(row: Any) -> CandidateRow:
    values = row._asdict()
    del values["workspace"]
    values["findings"] = tuple(json.loads(values["findings"]))
    values["messages"] = tuple(json.loads(values["messages"]))
    return CandidateRow(**values)


def _job_row(row: Any) -> JobRow:
    return JobRow(
        row.job,
        row.outcome,
        row.position,
        row.error,
        tuple(json.loads(row.reasons)),
        tuple(json.loads(row.inputs)),
        row.curator,
        row.input_tokens,
        row.output_tokens,
        row.time,
    )
