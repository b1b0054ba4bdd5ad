"""What the search index answers. Every question names its scopes: what is outside of them is not read (D17)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, func, or_, select

from ...domain.message import Trust
from ...domain.search_query import ENTRIES
from .packing import Key, key_of, place_of, times_in, unpacked
from .tables import SearchTables

CHUNK = 400
"""Values in one IN: SQLite takes 32,766 in a statement, and long lists are slow to prepare."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """One kind of one session, as far as position ``upto`` (None: all of it); memory has the session ""."""

    scope: int
    kind: str
    session: str
    upto: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found. ``text`` is kept for entries only: that of a message stands in the log."""

    key: Key
    kind: str
    position: int
    ref: str
    session: str | None
    run: str | None
    role: str | None
    trust: Trust
    time: str
    length: int
    text: str | None
    revision: int | None
    until: int | None


@dataclass(slots=True)
class Candidates:
    """How many documents and words there are in all, and the postings of each term, each list with its base."""

    documents: int = 0
    words: int = 0
    postings: dict[str, list[tuple[Key, Sequence[tuple[int, int, int]]]]] = field(default_factory=dict)


def scopes(
    tables: SearchTables,
    connection: Connection,
    workspace: str,
    kinds: Iterable[str],
    segments: Iterable[tuple[str, int | None]] | None = None,
    at: int | None = None,
) -> list[Scope]:
    """The scopes of a workspace, or those of some sessions (each up to a position), as of ``at``."""
    table = tables.scopes
    statement = select(table).where(table.c.workspace == workspace, table.c.kind.in_(sorted(set(kinds))))
    limits: dict[str, int | None] = {}
    if segments is not None:
        limits = dict(segments)
        statement = statement.where(or_(table.c.kind == ENTRIES, table.c.session.in_(sorted(limits))))
    if at is not None:
        statement = statement.where(table.c.scope <= at)
    found = []
    for row in connection.execute(statement.order_by(table.c.scope)):
        bounds = [bound for bound in (limits.get(row.session), at) if bound is not None]
        found.append(Scope(row.scope, row.kind, row.session, min(bounds, default=None)))
    return found


def candidates(
    tables: SearchTables,
    connection: Connection,
    within: Sequence[Scope],
    terms: Sequence[str],
    session: str | None = None,
) -> Candidates:
    """All that the index holds of the terms in these scopes; of memory what was in force.

    With ``session`` only the entries that came out of it.
    """
    found = Candidates(postings={term: [] for term in terms})
    memory = [scope for scope in within if scope.kind == ENTRIES]
    whole = [scope.scope for scope in within if scope.kind != ENTRIES and scope.upto is None]
    for chunk in _chunks(whole):
        blocks, tail = tables.blocks, tables.tail
        closed = select(func.sum(blocks.c.documents), func.sum(blocks.c.words)).where(blocks.c.scope.in_(chunk))
        waiting = select(func.count(), func.sum(tail.c.length)).where(tail.c.scope.in_(chunk))
        for statement in (closed, waiting):
            row = connection.execute(statement).one()
            found.documents += int(row[0] or 0)
            found.words += int(row[1] or 0)
        _gather(tables, connection, chunk, terms, found, None)
    for scope in within:
        if scope.kind != ENTRIES and scope.upto is not None:
            kept = _upto(tables, connection, scope)
            found.documents += len(kept)
            found.words += sum(kept.values())
            _gather(tables, connection, [scope.scope], terms, found, kept)
    for scope in memory:
        kept = _in_force(tables, connection, scope, session)
        found.documents += len(kept)
        found.words += sum(kept.values())
        _gather(tables, connection, [scope.scope], terms, found, kept)
    return found


def _gather(
    tables: SearchTables,
    connection: Connection,
    within: Sequence[int],
    terms: Sequence[str],
    found: Candidates,
    kept: Collection[Key] | None,
) -> None:
    blocks, postings, tail = tables.blocks, tables.postings, tables.tail
    for some in _chunks(terms):
        # An outer join, so that SQLite begins with the blocks and not with all the postings of the scope: 4 ms and not
        # 70 (measured); it sees through every other way of saying so.
        here = (postings.c.scope == blocks.c.scope) & (postings.c.block == blocks.c.block)
        statement = (
            select(blocks.c.block, postings.c.term, postings.c.postings)
            .select_from(blocks.join(postings, here & postings.c.term.in_(some), isouter=True))
            .where(blocks.c.scope.in_(within))
        )
        for block, term, data in connection.execute(statement):
            if term is None:
                continue
            base = key_of(block * tables.block, 0)
            rows = list(unpacked(data))
            if kept is not None:
                rows = [row for row in rows if base + row[0] in kept]
            found.postings[term].append((base, rows))
    waiting: dict[str, list[tuple[int, int, int]]] = {}
    for row in connection.execute(select(tail).where(tail.c.scope.in_(within))):
        key = key_of(row.position, row.place)
        if kept is None or key in kept:
            for term, times in times_in(row.terms, terms):
                waiting.setdefault(term, []).append((key, times, row.length))
    for term, rows in waiting.items():
        found.postings[term].append((0, rows))


def _upto(tables: SearchTables, connection: Connection, scope: Scope) -> dict[Key, int]:
    """The documents of a scope up to its limit that say anything, with their words."""
    table = tables.documents
    statement = select(table.c.position, table.c.place, table.c.length).where(
        table.c.scope == scope.scope, table.c.position <= scope.upto, table.c.length > 0
    )
    return {key_of(position, place): length for position, place, length in connection.execute(statement)}


def _in_force(tables: SearchTables, connection: Connection, scope: Scope, session: str | None) -> dict[Key, int]:
    """The entries that were memory at the limit of the scope, or are now, with their words."""
    table = tables.documents
    where: list[ColumnElement[bool]] = [table.c.scope == scope.scope, table.c.length > 0]
    if scope.upto is None:
        where.append(table.c.until.is_(None))
    else:
        where.append(table.c.position <= scope.upto)
        where.append(or_(table.c.until.is_(None), table.c.until > scope.upto))
    if session is not None:
        where.append(table.c.session == session)
    statement = select(table.c.position, table.c.place, table.c.length).where(*where)
    return {key_of(position, place): length for position, place, length in connection.execute(statement)}


def entries(
    tables: SearchTables, connection: Connection, within: Sequence[Scope], session: str | None = None
) -> dict[str, Key]:
    """The entries that were memory at the limit of their scope, or are now, by id."""
    kept = [key for scope in within if scope.kind == ENTRIES for key in _in_force(tables, connection, scope, session)]
    return {document.ref: key for key, document in documents(tables, connection, kept).items()}


def holding(
    tables: SearchTables,
    connection: Connection,
    within: Sequence[Scope],
    *,
    role: str | None = None,
    run: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> set[Key]:
    """The documents of these scopes that pass every filter that is given; times in their stored form."""
    table = tables.documents
    where: list[ColumnElement[bool]] = []
    for column, value in ((table.c.role, role), (table.c.run, run)):
        if value is not None:
            where.append(column == value)
    if since is not None:
        where.append(table.c.time >= since)
    if until is not None:
        where.append(table.c.time < until)
    found: set[Key] = set()
    for chunk in _chunks([scope.scope for scope in within]):
        statement = select(table.c.position, table.c.place).where(table.c.scope.in_(chunk), *where)
        found.update(key_of(position, place) for position, place in connection.execute(statement))
    return found


def documents(tables: SearchTables, connection: Connection, keys: Iterable[Key]) -> dict[Key, Document]:
    """The documents of these keys."""
    table, named = tables.documents, tables.scopes
    wanted = set(keys)
    positions = sorted({place_of(key)[0] for key in wanted})
    found: dict[Key, Document] = {}
    for chunk in _chunks(positions):
        statement = (
            select(table, named.c.kind)
            .select_from(table.join(named, named.c.scope == table.c.scope))
            .where(table.c.position.in_(chunk))
        )
        for row in connection.execute(statement):
            key = key_of(row.position, row.place)
            if key in wanted:
                found[key] = _document(key, row.kind, row)
    return found


def _document(key: Key, kind: str, row: Any) -> Document:
    return Document(
        key, kind, row.position, row.ref, row.session, row.run, row.role, row.trust, row.time, row.length, row.text,
        row.revision, row.until,
    )  # fmt: skip


def neighbours(
    tables: SearchTables, connection: Connection, scope: Scope, position: int, around: int
) -> tuple[list[int], list[int]]:
    """Positions of the messages of one session before and after a position, in order, at most ``around`` of each."""
    table = tables.documents
    here = select(table.c.position).where(table.c.scope == scope.scope)
    before = here.where(table.c.position < position).order_by(table.c.position.desc()).limit(around)
    after = here.where(table.c.position > position)
    if scope.upto is not None:
        after = after.where(table.c.position <= scope.upto)
    later = connection.execute(after.order_by(table.c.position).limit(around)).scalars()
    return list(connection.execute(before).scalars())[::-1], list(later)


def _chunks(values: Sequence[T]) -> Iterator[list[T]]:
    for start in range(0, len(values), CHUNK):
        yield list(values[start : start + CHUNK])
