"""What MEMORY.md should hold, with a cursor that says honestly how far the file reflects the log (D5).

The projection knows no file. The publisher writes it, and moves this cursor in the transaction of the commit; between
commits the cursor waits before the first thing that the file does not reflect: a revision that was prepared and is
neither committed nor abandoned, or a candidate that was admitted and that no revision has taken up yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Column, Connection, MetaData, Select, Table, Text, bindparam, select

from ..domain import catalogue
from ..domain.events import LoggedEvent
from .prepared import prepared, replace
from .projection import BIG, Projection


class MemoryFile(Projection):
    """One row per workspace: the revision that its file should hold, and the one on its way."""

    name = "memory_file"
    version = 1
    holds = True
    payloads = False
    event_types = frozenset(
        {
            catalogue.CandidateAdmitted,
            catalogue.CandidateApproved,
            catalogue.CandidateDeclined,
            catalogue.CandidateWithdrawn,
            catalogue.CandidateRefused,
            catalogue.CandidateSetAside,
            catalogue.RevisionPrepared,
            catalogue.RevisionCommitted,
            catalogue.RevisionAbandoned,
        }
    )

    files: Table

    def tables(self, metadata: MetaData) -> None:
        self.files = Table(
            "memory_file",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("revision", BIG, nullable=False),
            Column("digest", Text),
            Column("committed", BIG),
            Column("prepared_revision", BIG),
            Column("prepared_digest", Text),
            Column("prepared_kind", Text),
            Column("prepared", BIG),
            Column("position", BIG, nullable=False),
        )

    def settled(self, events: Iterable[LoggedEvent], head: int) -> int:
        return min((opened - 1 for opened in unsettled(events)), default=head)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        rows: dict[str, dict[str, Any]] = {}
        for event in events:
            body = event.body
            if not isinstance(
                body, catalogue.RevisionPrepared | catalogue.RevisionCommitted | catalogue.RevisionAbandoned
            ):
                continue
            if event.workspace not in rows:
                rows[event.workspace] = self._row(connection, event.workspace)
            row = rows[event.workspace]
            row["position"] = event.position
            match body:
                case catalogue.RevisionPrepared():
                    row.update(_on_its_way(body.revision, body.digest, body.kind, event.position))
                case catalogue.RevisionCommitted():
                    # A displaced revision keeps what somebody wrote into the file; the file should not hold it (D8).
                    if row["prepared_kind"] != "displaced":
                        row.update(revision=body.revision, digest=body.digest, committed=event.position)
                    row.update(_on_its_way(None, None, None, None))
                case catalogue.RevisionAbandoned():
                    row.update(_on_its_way(None, None, None, None))
        replace(self.files, connection, list(rows.values()))

    def _row(self, connection: Connection, workspace: str) -> dict[str, Any]:
        statement = prepared(self.files, "workspace", lambda: _of_workspace(self.files))
        row = statement.mapping(connection, workspace=workspace)
        return row if row is not None else {
            "workspace": workspace, "revision": 0, "digest": None, "committed": None,
            **_on_its_way(None, None, None, None), "position": 0,
        }  # fmt: skip


def _of_workspace(table: Table) -> Select[Any]:
    return select(table).where(table.c.workspace == bindparam("workspace"))


def _on_its_way(revision: int | None, digest: str | None, kind: str | None, position: int | None) -> dict[str, Any]:
    return {
        "prepared_revision": revision,
        "prepared_digest": digest,
        "prepared_kind": kind,
        "prepared": position,
    }


def unsettled(events: Iterable[LoggedEvent]) -> list[int]:
    """Positions of what these events open and do not settle, in order."""
    candidates: dict[tuple[str, str], int] = {}
    revisions: dict[tuple[str, int], int] = {}
    for event in events:
        match event.body:
            case catalogue.CandidateAdmitted() | catalogue.CandidateApproved() as body:
                candidates.setdefault((event.workspace, body.candidate), event.position)
            case (
                catalogue.CandidateDeclined()
                | catalogue.CandidateWithdrawn()
                | catalogue.CandidateRefused()
                | catalogue.CandidateSetAside()
            ) as body:
                candidates.pop((event.workspace, body.candidate), None)
            case catalogue.RevisionPrepared() as body:
                revisions[event.workspace, body.revision] = event.position
            case catalogue.RevisionCommitted() as body:
                revisions.pop((event.workspace, body.revision), None)
                for name in body.inputs:
                    candidates.pop((event.workspace, name), None)
            case catalogue.RevisionAbandoned() as body:
                revisions.pop((event.workspace, body.revision), None)
            case _:
                pass
    return sorted([*candidates.values(), *revisions.values()])


# --- queries


@dataclass(frozen=True, slots=True)
class FileRow:
    """The file of a workspace as of the projection's cursor; revision 0 with digest None: no file yet."""

    revision: int
    digest: str | None
    committed: int | None
    prepared_revision: int | None
    prepared_digest: str | None
    prepared: int | None
    state: Literal["committed", "prepared"]


def desired(tables: MemoryFile, connection: Connection, workspace: str) -> FileRow:
    """What MEMORY.md of the workspace should hold, as of the cursor."""
    statement = select(tables.files).where(tables.files.c.workspace == workspace)
    row = connection.execute(statement).one_or_none()
    if row is None:
        return FileRow(0, None, None, None, None, None, "committed")
    return FileRow(
        row.revision,
        row.digest,
        row.committed,
        row.prepared_revision,
        row.prepared_digest,
        row.prepared,
        "committed" if row.prepared_revision is None else "prepared",
    )
