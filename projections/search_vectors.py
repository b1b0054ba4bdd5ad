"""What messages and entries mean, as vectors: beside the search index, and only where somebody embeds (D17).

The embedder is handed in and gives the same vectors for the same texts, else ``verify`` finds a difference. Its name
stands beside the vectors and is part of the version: with another one the projection is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol
from zlib import crc32

from sqlalchemy import Column, Connection, Index, Integer, LargeBinary, MetaData, Table, Text, insert, or_, select

from ..domain import catalogue
from ..domain.events import LoggedEvent
from ..domain.forms import view
from ..domain.said import original, said
from ..domain.search_query import ENTRIES, MESSAGES
from ..domain.terms import count_terms
from .projection import BIG, Projection

VERSION = 1
TEXT_CHARS_MAX = 2_000
"""The beginning of a text stands for all of it: the mean of a long one means little."""


class Embedder(Protocol):
    """Makes vectors of one length, one byte with a sign for each dimension; ``name`` says by what."""

    name: str

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text; of a text without meaning, zeros."""
        ...


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vector of a message, or of an entry (``ref`` is its id, ``session`` ""), and how many words it stands for."""

    position: int
    kind: str
    session: str
    ref: str
    length: int
    vector: bytes


class SearchVectors(Projection):
    """One vector for each message and for each entry that a revision ever held. Made by ``vectors_by``."""

    name = "search_vectors"
    version = 0
    event_types = frozenset({catalogue.MessageRecorded, catalogue.RevisionPrepared})
    embedder: ClassVar[Embedder]

    def tables(self, metadata: MetaData) -> None:
        self.table = Table(
            "search_vectors",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("place", Integer, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("kind", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("ref", Text, nullable=False),
            Column("length", Integer, nullable=False),
            Column("vector", LargeBinary, nullable=False),
        )
        self.made_by = Table(
            "search_vectors_embedder",
            metadata,
            Column("name", Text, primary_key=True),
            Column("dimensions", Integer, nullable=False),
        )
        columns = (self.table.c.workspace, self.table.c.kind, self.table.c.session, self.table.c.position)
        Index("search_vectors_by_scope", *columns)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        rows: list[dict[str, Any]] = []
        texts: list[str] = []
        known: dict[str, set[str]] = {}
        for event in events:
            for row, text in self._texts(event, connection, known):
                length = count_terms(text).length
                if length:
                    rows.append(row | {"length": length})
                    texts.append(text[:TEXT_CHARS_MAX])
        if rows:
            made = self.embedder.vectors(texts)
            if connection.execute(select(self.made_by.c.name)).first() is None:
                told = {"name": self.embedder.name, "dimensions": len(made[0])}
                connection.execute(insert(self.made_by), told)
            connection.execute(
                insert(self.table), [row | {"vector": vector} for row, vector in zip(rows, made, strict=True)]
            )

    def _texts(
        self, event: LoggedEvent, connection: Connection, known: dict[str, set[str]]
    ) -> Iterator[tuple[dict[str, Any], str]]:
        head = {"position": event.position, "workspace": event.workspace}
        match event.body:
            case catalogue.MessageRecorded() as body if event.session is not None and event.payload is not None:
                where = {"place": 0, "kind": MESSAGES, "session": event.session, "ref": body.message}
                yield head | where, said(original(view(body.form, body.content["source"]).parts))
            case catalogue.RevisionPrepared() as body:
                # An entry keeps its id for as long as it keeps its text: one vector is enough.
                seen = known.get(event.workspace)
                if seen is None:
                    seen = known[event.workspace] = set(self._refs(connection, event.workspace))
                for place, (fact, text) in enumerate(zip(body.entries, body.content.get("entries", ()), strict=False)):
                    if fact.entry not in seen:
                        seen.add(fact.entry)
                        yield head | {"place": place, "kind": ENTRIES, "session": "", "ref": fact.entry}, text
            case _:
                pass

    def _refs(self, connection: Connection, workspace: str) -> Sequence[str]:
        table = self.table
        statement = select(table.c.ref).where(table.c.workspace == workspace, table.c.kind == ENTRIES)
        return connection.execute(statement).scalars().all()


def vectors_by(embedder: Embedder) -> type[SearchVectors]:
    """The projection with this embedder; another name gives another version, and so a rebuild."""
    version = crc32(f"{VERSION} {embedder.name}".encode()) & 0x7FFFFFFF
    return type("SearchVectors", (SearchVectors,), {"embedder": embedder, "version": version, "__module__": __name__})


def rows(
    vectors: SearchVectors,
    connection: Connection,
    workspace: str,
    kinds: Sequence[str],
    sessions: Sequence[str] | None = None,
    after: int = 0,
) -> Iterator[VectorRow]:
    """The vectors of a workspace, or of some of its sessions, that came after a position, in order."""
    table = vectors.table
    statement = select(table).where(
        table.c.workspace == workspace, table.c.kind.in_(list(kinds)), table.c.position > after
    )
    if sessions is not None:
        statement = statement.where(or_(table.c.kind == ENTRIES, table.c.session.in_(list(sessions))))
    for row in connection.execute(statement.order_by(table.c.position, table.c.place)):
        yield VectorRow(row.position, row.kind, row.session, row.ref, row.length, row.vector)
