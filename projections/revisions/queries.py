"""What the revisions read model answers: any revision, position or time by index look-ups (D9, E3)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, select

from ...domain.catalogue import RevisionKind
from ...domain.message import Trust
from .tables import RevisionTables


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One revision; ``prepared`` is the position of its event and payload, ``decided`` of its commit or abandonment."""

    revision: int
    kind: RevisionKind
    parent: int
    status: Literal["prepared", "committed", "abandoned"]
    prepared: int
    decided: int | None
    time: str
    digest: str
    base_digest: str | None
    actor: str
    session: str | None
    run: str | None
    job: str | None
    curator: str | None
    restored_from: int | None
    entries: int
    inputs: tuple[str, ...]
    receipt: tuple[str, ...]
    overrides: tuple[str, ...]
    reason: str | None
    input_tokens: int
    output_tokens: int

    @property
    def position(self) -> int:
        """Where the revision was decided, or prepared while it is not."""
        return self.prepared if self.decided is None else self.decided

    @property
    def committed_position(self) -> int:
        """Where it was committed; 0 when it was not."""
        return self.decided if self.decided is not None and self.status == "committed" else 0


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One entry as it stood in a revision: ``since`` is the first revision that held it so, ``blame`` its origin's."""

    entry: str
    text: str
    since: int
    until: int | None
    position: int
    blame: int
    candidates: tuple[str, ...]
    run: str | None
    session: str | None
    messages: tuple[str, ...]
    actor: str
    trust: Trust
    shared: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one revision to another; ``changed`` pairs the entry before and after."""

    added: tuple[EntryRow, ...]
    removed: tuple[EntryRow, ...]
    changed: tuple[tuple[EntryRow, EntryRow], ...]


def current(tables: RevisionTables, connection: Connection, workspace: str) -> RevisionRow | None:
    """The revision in force; None: nothing was ever committed."""
    return at_position(tables, connection, workspace, None)


def at_position(
    tables: RevisionTables, connection: Connection, workspace: str, position: int | None
) -> RevisionRow | None:
    """The revision that was in force at a position of the log."""
    where = [] if position is None else [tables.revisions.c.current_from <= position]
    return _in_force(tables, connection, workspace, where)


def at_time(tables: RevisionTables, connection: Connection, workspace: str, time: str) -> RevisionRow | None:
    """The newest revision committed at or before a time (stored form: UTC, microseconds)."""
    return _in_force(tables, connection, workspace, [tables.revisions.c.time <= time])


def _in_force(
    tables: RevisionTables, connection: Connection, workspace: str, where: list[ColumnElement[bool]]
) -> RevisionRow | None:
    table = tables.revisions
    statement = select(table).where(table.c.workspace == workspace, table.c.current_from.is_not(None), *where)
    row = connection.execute(statement.order_by(table.c.current_from.desc()).limit(1)).one_or_none()
    return None if row is None else _revision(row)


def revision(tables: RevisionTables, connection: Connection, workspace: str, number: int) -> RevisionRow | None:
    """One revision by number, or None; where a number was abandoned and used again, the one that was committed."""
    row = _find(tables, connection, workspace, number)
    return None if row is None else _revision(row)


def show(tables: RevisionTables, connection: Connection, workspace: str, number: int) -> tuple[EntryRow, ...] | None:
    """The entries of a revision in order; a displaced, prepared or abandoned one has none. None: no such revision."""
    row = _find(tables, connection, workspace, number)
    return None if row is None else _entries(tables, connection, row)


def log(
    tables: RevisionTables,
    connection: Connection,
    workspace: str,
    *,
    limit: int | None = None,
    before: int | None = None,
    all: bool = False,
) -> list[RevisionRow]:
    """The committed revisions, newest first; with ``all`` also the prepared and abandoned ones.

    ``before`` only those of smaller numbers, ``limit`` so many.
    """
    table = tables.revisions
    # Numbers rise with the positions, so that the index gives a page without sorting.
    statement = (
        select(table).where(table.c.workspace == workspace).order_by(table.c.revision.desc(), table.c.prepared.desc())
    )
    if before is not None:
        statement = statement.where(table.c.revision < before)
    if not all:
        statement = statement.where(table.c.status == "committed")
    return [_revision(row) for row in connection.execute(statement if limit is None else statement.limit(limit))]


def prepared(tables: RevisionTables, connection: Connection, workspace: str) -> list[RevisionRow]:
    """Revisions that were prepared and neither committed nor abandoned: what recovery has to settle (I2)."""
    table = tables.revisions
    statement = select(table).where(table.c.workspace == workspace, table.c.status == "prepared")
    return [_revision(row) for row in connection.execute(statement.order_by(table.c.prepared))]


def blame(
    tables: RevisionTables, connection: Connection, workspace: str, number: int | None = None
) -> tuple[EntryRow, ...]:
    """The entries in force, or of a revision, each with where it came from (D9)."""
    if number is None:
        found = current(tables, connection, workspace)
        if found is None:
            return ()
        number = found.revision
    return show(tables, connection, workspace, number) or ()


def judged(
    tables: RevisionTables, connection: Connection, workspace: str, numbers: Iterable[int]
) -> dict[int, tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Of committed revisions: where each was prepared, the checks that it passed, the findings that were overridden."""
    table = tables.revisions
    columns = (table.c.revision, table.c.prepared, table.c.receipt, table.c.overrides)
    wanted, found = sorted(numbers), {}
    for start in range(0, len(wanted), 500):
        statement = select(*columns).where(
            table.c.workspace == workspace,
            table.c.status == "committed",
            table.c.revision.in_(wanted[start : start + 500]),
        )
        for row in connection.execute(statement):
            found[row.revision] = (row.prepared, _list(row.receipt), _list(row.overrides))
    return found


def history(tables: RevisionTables, connection: Connection, workspace: str, entry: str) -> list[EntryRow]:
    """Every form that one entry had, oldest first (E4)."""
    table = tables.entries
    statement = select(table).where(table.c.workspace == workspace, table.c.entry == entry).order_by(table.c.row)
    return [_entry(row) for row in connection.execute(statement)]


def diff(tables: RevisionTables, connection: Connection, workspace: str, a: int, b: int) -> Difference | None:
    """What changed from revision ``a`` to ``b`` (0: the empty memory); None when one does not exist."""
    sides: list[dict[str, EntryRow]] = []
    for number in (a, b):
        found = show(tables, connection, workspace, number)
        if found is None and number != 0:
            return None
        sides.append({entry.entry: entry for entry in found or ()})
    before, after = sides
    return Difference(
        tuple(entry for name, entry in after.items() if name not in before),
        tuple(entry for name, entry in before.items() if name not in after),
        tuple(
            (before[name], entry) for name, entry in after.items() if name in before and before[name].text != entry.text
        ),
    )


def _find(tables: RevisionTables, connection: Connection, workspace: str, number: int) -> Any:
    table = tables.revisions
    statement = select(table).where(table.c.workspace == workspace, table.c.revision == number)
    rows = list(connection.execute(statement.order_by(table.c.prepared.desc())))
    return next((row for row in rows if row.status == "committed"), rows[0] if rows else None)


def _entries(tables: RevisionTables, connection: Connection, row: Any) -> tuple[EntryRow, ...]:
    order: list[int] = json.loads(row.rows)
    table = tables.entries
    found: dict[int, EntryRow] = {}
    for start in range(0, len(order), 500):
        statement = select(table).where(table.c.row.in_(order[start : start + 500]))
        found.update((entry.row, _entry(entry)) for entry in connection.execute(statement))
    return tuple(found[number] for number in order)


def _revision(row: Any) -> RevisionRow:
    return RevisionRow(
        row.revision,
        row.kind,
        row.parent,
        row.status,
        row.prepared,
        row.decided,
        row.time,
        row.digest,
        row.base_digest,
        row.actor,
        row.session,
        row.run,
        row.job,
        row.curator,
        row.restored_from,
        row.entries,
        tuple(json.loads(row.inputs)),
        tuple(json.loads(row.receipt)),
        tuple(json.loads(row.overrides)),
        row.reason,
        row.input_tokens,
        row.output_tokens,
    )


def _entry(row: Any) -> EntryRow:
    return EntryRow(
        row.entry,
        row.text,
        row.since,
        row.until,
        row.position,
        row.blame,
        _list(row.candidates),
        row.run,
        row.session,
        _list(row.messages),
        row.actor,
        row.trust,
        bool(row.shared),
    )


def _list(text: str) -> tuple[str, ...]:
    # Nearly always empty: two hundred entries need not be two hundred calls of a parser.
    return () if text == "[]" else tuple(json.loads(text))
