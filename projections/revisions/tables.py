"""The tables of the revisions projection.

An entry is stored once for as long as it stays the same: valid from revision ``since`` until before ``until``.
A revision holds its order as the numbers of those rows: with 200 entries about 1 kB, and any past is one look-up.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, MetaData, Table, Text

from ..projection import BIG


class RevisionTables:
    """What the fold writes and the queries read; lists in a row are JSON text."""

    revisions: Table
    entries: Table

    def declare(self, metadata: MetaData) -> None:
        self.revisions = Table(
            "revisions",
            metadata,
            Column("prepared", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("revision", BIG, nullable=False),
            Column("kind", Text, nullable=False),
            Column("parent", BIG, nullable=False),
            Column("status", Text, nullable=False),
            Column("decided", BIG),
            Column("current_from", BIG),
            Column("time", Text, nullable=False),
            Column("digest", Text, nullable=False),
            Column("base_digest", Text),
            Column("actor", Text, nullable=False),
            Column("session", Text),
            Column("run", Text),
            Column("job", Text),
            Column("curator", Text),
            Column("restored_from", BIG),
            Column("entries", Integer, nullable=False),
            Column("inputs", Text, nullable=False),
            Column("receipt", Text, nullable=False),
            Column("overrides", Text, nullable=False),
            Column("reason", Text),
            Column("input_tokens", BIG, nullable=False),
            Column("output_tokens", BIG, nullable=False),
            Column("staged", Text),
            Column("rows", Text, nullable=False),
        )
        Index("revisions_by_number", self.revisions.c.workspace, self.revisions.c.revision)
        Index("revisions_by_position", self.revisions.c.workspace, self.revisions.c.current_from)
        self.entries = Table(
            "revisions_entries",
            metadata,
            Column("row", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("entry", Text, nullable=False),
            Column("text", Text, nullable=False),
            Column("since", BIG, nullable=False),
            Column("until", BIG),
            Column("position", BIG, nullable=False),
            Column("blame", BIG, nullable=False),
            Column("candidates", Text, nullable=False),
            Column("run", Text),
            Column("session", Text),
            Column("messages", Text, nullable=False),
            Column("actor", Text, nullable=False),
            Column("trust", Text, nullable=False),
            Column("shared", Integer, nullable=False),
        )
        Index("revisions_entries_by_entry", self.entries.c.workspace, self.entries.c.entry)
