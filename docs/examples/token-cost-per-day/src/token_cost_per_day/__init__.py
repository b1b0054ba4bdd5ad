"""What the messages of each day cost, by tool: a projection for minutebook."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Connection, MetaData, Table, Text, select

from minutebook import Projection
from minutebook.domain.events import LoggedEvent
from minutebook.domain.message import ToolCall, ToolResult
from minutebook.projections.projection import BIG, parts, upsert

PRICES = {"assistant": 15}
"""Millionths of a dollar for one token of a message, by role. They are part of the code: with other prices the same
events give other rows, so ``version`` must rise with them."""
PRICE = 3
"""The same for every other role: what the model reads."""

CONVERSATION = "-"
"""Stands for the tool where a message is about none."""


class TokenCostPerDay(Projection):
    """One row for each day (UTC) and tool of a workspace; a call and its result count for their tool."""

    name = "token_cost_per_day"
    version = 1
    event_types = frozenset({"MessageRecorded"})

    def tables(self, metadata: MetaData) -> None:
        self.costs = Table(
            "token_cost_per_day",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("day", Text, primary_key=True),
            Column("tool", Text, primary_key=True),
            Column("messages", BIG, nullable=False),
            Column("tokens", BIG, nullable=False),
            Column("microdollars", BIG, nullable=False),
        )
        # A result names its call and not always its tool. What must outlive a batch stands in a table, never on self.
        self.calls = Table(
            "token_cost_per_day_calls",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("session", Text, primary_key=True),
            Column("call", Text, primary_key=True),
            Column("tool", Text, nullable=False),
        )

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        add = upsert(self.costs, connection, add=("messages", "tokens", "microdollars"))
        for event in events:
            tokens = event.body.tokens
            connection.execute(
                add,
                {
                    "workspace": event.workspace,
                    "day": event.time.date().isoformat(),
                    "tool": self.tool(event, connection),
                    "messages": 1,
                    "tokens": tokens,
                    "microdollars": tokens * PRICES.get(event.body.role, PRICE),
                },
            )

    def tool(self, event: LoggedEvent, connection: Connection) -> str:
        """The tool that a message calls or hears from: the first, where there are several."""
        found = CONVERSATION
        for part in parts(event):
            if isinstance(part, ToolCall):
                call = self._key(event, part.id) | {"tool": part.name}
                connection.execute(upsert(self.calls, connection), call)
                found = part.name if found == CONVERSATION else found
            elif isinstance(part, ToolResult) and found == CONVERSATION:
                found = part.name or self._called(event, part.call_id, connection) or CONVERSATION
        return found

    def _called(self, event: LoggedEvent, call: str, connection: Connection) -> str | None:
        wanted = [self.calls.c[name] == value for name, value in self._key(event, call).items()]
        return connection.execute(select(self.calls.c.tool).where(*wanted)).scalar()

    @staticmethod
    def _key(event: LoggedEvent, call: str) -> dict[str, str]:
        return {"workspace": event.workspace, "session": event.session or "", "call": call}
