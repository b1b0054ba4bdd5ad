"""Projections as another package would write them, well-behaved and not."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Connection, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint, insert

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import LoggedEvent
from minutebook.projections.projection import BIG, Projection, upsert


class TokenCost(Projection):
    """Counts messages and tokens by session, and keeps one row a message: tables, an index, keys and a constraint."""

    name = "token_cost"
    version = 1
    event_types = frozenset({"MessageRecorded"})

    def tables(self, metadata: MetaData) -> None:
        self.totals = Table(
            "token_cost",
            metadata,
            Column("session", Text, primary_key=True),
            Column("messages", Integer, nullable=False),
            Column("tokens", Integer, nullable=False),
        )
        self.lines = Table(
            "token_cost_lines",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("session", Text, ForeignKey("token_cost.session"), nullable=False),
            Column("message", Text, nullable=False),
            Column("tokens", Integer),
            UniqueConstraint("session", "message", name="token_cost_lines_once"),
        )
        Index("token_cost_lines_by_session", self.lines.c.session)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        lines = []
        totals: dict[str, dict[str, object]] = {}
        for event in events:
            body = event.body
            assert isinstance(body, MessageRecorded)
            self.examine(event, body)
            session = event.session or ""
            row = totals.setdefault(session, {"session": session, "messages": 0, "tokens": 0})
            row["messages"] = int(str(row["messages"])) + 1
            row["tokens"] = int(str(row["tokens"])) + body.tokens
            line = {"position": event.position, "session": session, "message": body.message, "tokens": body.tokens}
            lines.append(line)
        if lines:
            connection.execute(upsert(self.totals, connection, add=("messages", "tokens")), list(totals.values()))
            connection.execute(insert(self.lines), lines)

    def examine(self, event: LoggedEvent, body: MessageRecorded) -> None:
        """For subclasses that cannot bear some message."""


class Fussy(TokenCost):
    """Cannot apply a message that is in ``POISON``."""

    POISON: set[str] = set()  # noqa: RUF012 - the tests change it

    def examine(self, event: LoggedEvent, body: MessageRecorded) -> None:
        if body.message in self.POISON:
            raise ValueError(f"cannot bear {body.message}")


class Parking(Fussy):
    """The same, but it parks what it cannot apply."""

    parks = True
