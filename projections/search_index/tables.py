"""The tables of the search index: an inverted index in plain rows, the same on every database (D17, ADR 0020).

A *scope* is one kind of one session of one workspace, and is part of every key below it: what a query may not see is
not read. A *document* is a message, a claim, or an entry of memory. Its words go into the *tail* first, a row a
document; when the log has passed a block of ``BLOCK`` positions, the tail is turned into *postings*, a row a term, and
never touched again. So a single append costs two rows, and a common word one row in five hundred messages.
"""

from __future__ import annotations

from typing import ClassVar

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, Table, Text

from ..projection import BIG

BLOCK = 512
"""Positions in a block: with more a query reads a longer tail, with fewer a common word has more rows (measured)."""


class SearchTables:
    """What the fold writes and the queries read."""

    block: ClassVar[int] = BLOCK

    scopes: Table
    documents: Table
    tail: Table
    blocks: Table
    postings: Table
    staged: Table

    def declare(self, metadata: MetaData) -> None:
        self.scopes = Table(
            "search_index_scopes",
            metadata,
            # The position of its first event: the same however often the index is made.
            Column("scope", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("kind", Text, nullable=False),
            Column("session", Text, nullable=False),
        )
        names = (self.scopes.c.workspace, self.scopes.c.kind, self.scopes.c.session)
        Index("search_index_scopes_by_name", *names)
        self.documents = Table(
            "search_index_documents",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("place", Integer, primary_key=True, autoincrement=False),
            Column("scope", BIG, nullable=False),
            Column("ref", Text, nullable=False),
            Column("session", Text),
            Column("run", Text),
            Column("role", Text),
            Column("trust", Text, nullable=False),
            Column("time", Text, nullable=False),
            Column("length", Integer, nullable=False),
            Column("text", Text),
            Column("revision", BIG),
            Column("until", BIG),
        )
        Index("search_index_documents_by_scope", self.documents.c.scope, self.documents.c.position)
        self.tail = Table(
            "search_index_tail",
            metadata,
            Column("scope", BIG, primary_key=True, autoincrement=False),
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("place", Integer, primary_key=True, autoincrement=False),
            Column("length", Integer, nullable=False),
            Column("terms", Text, nullable=False),
            sqlite_with_rowid=False,
        )
        self.blocks = Table(
            "search_index_blocks",
            metadata,
            Column("scope", BIG, primary_key=True, autoincrement=False),
            Column("block", BIG, primary_key=True, autoincrement=False),
            Column("documents", Integer, nullable=False),
            Column("words", BIG, nullable=False),
            sqlite_with_rowid=False,
        )
        # In this order the rows of a new block come behind all others: half the time of the order by term (measured).
        self.postings = Table(
            "search_index_postings",
            metadata,
            Column("scope", BIG, primary_key=True, autoincrement=False),
            Column("block", BIG, primary_key=True, autoincrement=False),
            Column("term", Text, primary_key=True),
            Column("postings", LargeBinary, nullable=False),
            sqlite_with_rowid=False,
        )
        self.staged = Table(
            "search_index_staged",
            metadata,
            Column("prepared", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("revision", BIG, nullable=False),
            Column("entries", Text, nullable=False),
        )
