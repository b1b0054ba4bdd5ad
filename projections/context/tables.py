"""The tables of the context projection. Every row names its workspace: nothing is seen across (D17)."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text

from ..projection import BIG


class ContextTables:
    """The tables that the fold writes and the queries read; lists in a row are JSON text."""

    sessions: Table
    messages: Table
    runs: Table
    epochs: Table
    compactions: Table
    freezes: Table
    preambles: Table
    shown: Table

    def declare(self, metadata: MetaData) -> None:
        self.sessions = Table(
            "context_sessions",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("session", Text, primary_key=True),
            Column("origin", Text, nullable=False),
            Column("format", Text),
            Column("parent", Text),
            Column("parent_position", BIG),
            Column("forked", BIG),
            Column("closed", Integer, nullable=False),
            Column("suspended", Integer, nullable=False),
            Column("messages", BIG, nullable=False),
            Column("tokens", BIG, nullable=False),
            Column("inherited_messages", BIG, nullable=False),
            Column("inherited_tokens", BIG, nullable=False),
            Column("runs", BIG, nullable=False),
            Column("compactions", BIG, nullable=False),
            Column("first_position", BIG, nullable=False),
            Column("last_position", BIG, nullable=False),
            Column("last_time", Text, nullable=False),
        )
        self.messages = Table(
            "context_messages",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("message", Text, nullable=False),
            Column("role", Text, nullable=False),
            Column("form", Text, nullable=False),
            Column("run", Text),
            Column("tokens", BIG, nullable=False),
            Column("trust", Text, nullable=False),
            Column("calls", Text, nullable=False),
            Column("results", Text, nullable=False),
        )
        Index("context_messages_by_session", *_columns(self.messages, "workspace", "session", "position"))
        Index("context_messages_by_id", *_columns(self.messages, "workspace", "session", "message"))
        self.runs = Table(
            "context_runs",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("run", Text, nullable=False),
            Column("status", Text, nullable=False),
            Column("reason", Text),
            Column("imported", Integer, nullable=False),
            Column("owner", Text),
            Column("lease_seconds", Float, nullable=False),
            Column("started", Text, nullable=False),
            Column("ended", Text),
            Column("ended_position", BIG),
            Column("input_tokens", BIG, nullable=False),
            Column("output_tokens", BIG, nullable=False),
        )
        Index("context_runs_by_session", *_columns(self.runs, "workspace", "session", "position"))
        self._declare_compactions(metadata)
        self._declare_shown(metadata)

    def _declare_compactions(self, metadata: MetaData) -> None:
        self.epochs = Table(
            "context_epochs",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("kind", Text, nullable=False),
            Column("visible", Text, nullable=False),
            Column("live", Text),
            Column("undo", Text, nullable=False),
            Column("redo", Text, nullable=False),
        )
        Index("context_epochs_by_session", *_columns(self.epochs, "workspace", "session", "position"))
        self.compactions = Table(
            "context_compactions",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("compaction", Text, nullable=False),
            Column("outcome", Text, nullable=False),
            Column("reasons", Text, nullable=False),
            Column("error", Text),
            Column("policy", Text, nullable=False),
            Column("summarizer", Text, nullable=False),
            Column("range_digest", Text, nullable=False),
            Column("supersedes", Text),
            Column("anchor", BIG),
            Column("upto", BIG),
            Column("covers", Text, nullable=False),
            Column("covers_count", BIG, nullable=False),
            Column("reduced", Text, nullable=False),
            Column("summary_tokens", BIG, nullable=False),
            Column("tokens_before", BIG, nullable=False),
            Column("tokens_after", BIG),
            Column("input_tokens", BIG, nullable=False),
            Column("output_tokens", BIG, nullable=False),
            Column("trust", Text, nullable=False),
            Column("time", Text, nullable=False),
        )
        Index("context_compactions_by_session", *_columns(self.compactions, "workspace", "session", "position"))
        Index("context_compactions_by_id", *_columns(self.compactions, "workspace", "compaction"))

    def _declare_shown(self, metadata: MetaData) -> None:
        self.freezes = Table(
            "context_freezes",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("runtime", Text, nullable=False),
            Column("revision", BIG, nullable=False),
            Column("digest", Text, nullable=False),
            Column("block_digest", Text, nullable=False),
        )
        Index("context_freezes_by_session", *_columns(self.freezes, "workspace", "session", "position"))
        self.preambles = Table(
            "context_preambles",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("preamble", Text, nullable=False),
            Column("tokens", BIG, nullable=False),
        )
        Index("context_preambles_by_session", *_columns(self.preambles, "workspace", "session", "position"))
        self.shown = Table(
            "context_shown",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("workspace", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("run", Text),
            Column("runtime", Text, nullable=False),
            Column("digest", Text, nullable=False),
            Column("renderer", Text, nullable=False),
            Column("policy", Text, nullable=False),
            Column("seen", BIG, nullable=False),
            Column("preamble", Text),
            Column("preamble_position", BIG),
            Column("freeze_position", BIG),
            Column("memory_revision", BIG),
            Column("window", BIG, nullable=False),
            Column("tokens", BIG, nullable=False),
            Column("messages", BIG, nullable=False),
        )
        Index("context_shown_by_session", *_columns(self.shown, "workspace", "session", "position"))


def _columns(table: Table, *names: str) -> list[Column[object]]:
    return [table.c[name] for name in names]
