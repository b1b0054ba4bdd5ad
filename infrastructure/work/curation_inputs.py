"""What a curation job works on: the pending candidates, pinned by the versions of their streams (D4, D15)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...domain.catalogue import Refusal
from ...domain.curation import Candidate
from ...domain.message import Trust, lowest_trust
from ...domain.streams import candidate_stream, learning_stream
from ...projections import candidates
from .erasure.fence import mark
from .proposals import operation_of
from .runtime import Runtime

INPUTS_MAX = 200
"""Candidates of one job; the rest waits for the next (D15)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The candidates of one job, with the events that made them pending: their versions are a fence."""

    rows: tuple[candidates.CandidateRow, ...]
    values: tuple[Candidate, ...]
    versions: dict[str, int]
    learnt: int = 0
    """The version of what must not be learnt, before anything was looked at: a word that comes later is heard (D16)."""
    mark: int = 0
    """The last erasure before they were read; after another one nothing made of them is recorded in words (E8)."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row.candidate for row in self.rows)

    @property
    def trust(self) -> Trust:
        """The lowest trust among them: what is derived from all of them has it (D13)."""
        return lowest_trust("user", *(value.trust for value in self.values))

    def redacted(self) -> tuple[Refusal, ...]:
        """Those that were proposed with a credential: what is stored of them is not what was meant (D4)."""
        return tuple(
            Refusal(check="credential", entry=row.candidate, message="it held a credential when it was proposed")
            for row in self.rows
            if "credential" in row.findings
        )

    def without(self, names: frozenset[str]) -> Inputs:
        rows = tuple(row for row in self.rows if row.candidate not in names)
        return replace(self, rows=rows, values=tuple(value for value in self.values if value.id not in names))


def gather(runtime: Runtime) -> Inputs:
    """The candidates that wait, at most ``INPUTS_MAX``, each as it stands in the log now."""
    learnt = runtime.log.version(learning_stream(runtime.workspace))
    seen = mark(runtime.log)
    with runtime.projections.reading("candidates") as (view, connection):
        rows = candidates.pending(view, connection, runtime.workspace)[:INPUTS_MAX]
    events = runtime.log.at(row.position for row in rows)
    kept, values, versions = [], [], {}
    for row in rows:
        last = runtime.log.last(candidate_stream(runtime.workspace, row.candidate))
        operation = operation_of(events[row.position].payload)
        if last is None or last.position != row.pending_since or operation is None:
            continue  # Settled meanwhile, or erased: nothing is left to take in.
        kept.append(row)
        versions[row.candidate] = last.version
        values.append(
            Candidate(
                row.candidate,
                operation,
                events[row.position].envelope.trust,
                row.run,
                row.session,
                row.messages,
                row.actor,
            )
        )
    return Inputs(tuple(kept), tuple(values), versions, learnt, seen)
