"""The base of every read model, built in or from another package (E5).

A projection turns events into rows. It declares its tables and applies batches of events; the engine
(``infrastructure.store.runner``) owns the transaction, the cursor, retries, rebuilding and the swap::

    class TokenCost(minutebook.Projection):
        name = "token_cost"                                     # tables are named token_cost or token_cost_...
        version = 1                                             # a new number means a rebuild
        event_types = frozenset({"MessageRecorded"})            # topics or event classes; empty: all

        def tables(self, metadata):
            self.costs = Table("token_cost", metadata, Column("session", Text, primary_key=True),
                               Column("tokens", Integer, nullable=False))

        def apply(self, events, connection):
            rows = [{"session": event.session, "tokens": event.body.tokens} for event in events]
            statement = upsert(self.costs, connection, add=("tokens",))
            if rows:
                connection.execute(statement, rows)

``event`` has the columns of the log; ``event.body`` is the typed event, ``parts(event)`` what a message says.

Three rules make rebuilding, time travel and the check by ``verify`` possible:

* ``apply`` is deterministic: no clock, no file, no network, no randomness, and the same rows however the
  events are cut into batches.
* It reads and writes through the ``Table`` objects that it declared, kept on ``self``, and keeps nothing else there:
  while a new generation is built, another instance holds the same tables under other names.
* It does not commit: rows and cursor change in the one transaction that the engine holds.

The engine holds a plug-in to them where it can: statements that are no reading or writing of its own rows are refused,
and what an event makes it do wrong halts it before that event. ``minutebook.testing.check_projection`` tries the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Connection, Integer, MetaData, Table

from ..domain.catalogue import MessageRecorded
from ..domain.events import Event, LoggedEvent
from ..domain.forms import view
from ..domain.message import Part

BIG = BigInteger().with_variant(Integer(), "sqlite")
"""The type of a position, on both databases."""


class NotInBulk(Exception):
    """Some event of a span is not as ``apply_bulk`` expects it: ``apply`` takes the span instead."""


class Projection:
    """Events in, rows out; see the module for the rules. Subclass it, name it, declare tables, apply."""

    name: ClassVar[str]
    """Identifies the projection and prefixes its tables: lower case letters, digits, underscores."""

    version: ClassVar[int] = 1
    """Raise it when the same events must give other rows: the engine then rebuilds."""

    event_types: ClassVar[frozenset[str | type[Event]]] = frozenset()
    """Topics or event classes that ``apply`` is given; empty: every known event. Unknown topics are passed by (E7)."""

    payloads: ClassVar[bool] = True
    """False: ``apply`` reads no payload, neither ``event.payload`` nor ``event.body.content``, and none is fetched.

    Payloads are most of a log: a projection of facts alone is rebuilt in half the time.
    """

    plain: ClassVar[frozenset[str | type[Event]]] = frozenset()
    """Of ``event_types`` those that ``apply`` takes as ``event.plain``: no typed event is made of them beforehand."""

    parks: ClassVar[bool] = False
    """True: what cannot be applied is put aside with the rest of its stream; False: the projection halts (E6)."""

    holds: ClassVar[bool] = False
    """True: ``settled`` decides how far the cursor may go."""

    def tables(self, metadata: MetaData) -> None:
        """Declares the tables on ``metadata`` and keeps them on ``self``."""
        raise NotImplementedError

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        """Writes the rows of these events, which come in order of position, each exactly once."""
        raise NotImplementedError

    bulk: ClassVar[frozenset[str | type[Event]]] = frozenset()
    """Of ``event_types`` those whose rows ``apply_bulk`` makes by statements over the log; empty: it has no such way.

    For a projection that keeps a row for nearly every event. Whatever it does, ``apply`` must give the same rows. Only
    the built-in ones are asked: what comes from another package is run apart from the log, event by event.
    """

    def apply_bulk(
        self, others: Sequence[LoggedEvent], span: tuple[int, int], log: Table, connection: Connection
    ) -> None:
        """Writes what all events after ``span[0]`` and up to ``span[1]`` give, of which ``others`` are not ``bulk``.

        ``log`` is the table of events, in the same database. Raises NotInBulk where the events must be applied one by
        one; what was written is then rolled back.
        """
        raise NotImplementedError

    def settled(self, events: Iterable[LoggedEvent], head: int) -> int:
        """For one that ``holds``: the position up to which it may go, given all its events after the cursor, once."""
        return head

    def topics(self) -> frozenset[str]:
        """``event_types`` as stored topics."""
        return frozenset(map(topic_of, self.event_types))


def topic_of(event: str | type[Event]) -> str:
    """A topic, or an event class, as the stored topic."""
    return event if isinstance(event, str) else event.TOPIC


def parts(event: LoggedEvent) -> tuple[Part, ...]:
    """What a ``MessageRecorded`` says, in neutral parts whatever form it came in; nothing once it was erased (E8).

    ``Text``, ``Reasoning``, ``ToolCall`` (``id``, ``name``, ``arguments``), ``ToolResult`` (``call_id``, ``name``,
    ``text``) and others of ``minutebook.domain.message``.
    """
    body = event.body
    if not isinstance(body, MessageRecorded) or body.payload is None:
        return ()
    return view(body.form, body.content["source"]).parts


def upsert(table: Table, connection: Connection, *, add: Iterable[str] = ()) -> Any:
    """An INSERT that replaces the row with the same primary key; columns in ``add`` are added to instead.

    Works on SQLite and PostgreSQL; give it rows that name every column.
    """
    made: dict[Any, Any] = table.info.setdefault("upserts", {})
    key = (connection.dialect.name, frozenset(add))
    if key not in made:
        # Made once: putting the statement together costs more than running it (measured).
        made[key] = _upsert(table, *key)
    return made[key]


def inserter(dialect: str) -> Any:
    """The ``insert`` of a dialect, which knows ON CONFLICT. Only the one in use is loaded: the other takes its time."""
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert

        return insert
    from sqlalchemy.dialects import postgresql

    return postgresql.insert


def _upsert(table: Table, dialect: str, added: frozenset[str]) -> Any:
    insert: Any = inserter(dialect)(table)
    keys = list(table.primary_key.columns)
    changed = {
        column.name: (column + insert.excluded[column.name]) if column.name in added else insert.excluded[column.name]
        for column in table.columns
        if column not in keys
    }
    if not changed:  # the key is all there is
        return insert.on_conflict_do_nothing(index_elements=keys)
    return insert.on_conflict_do_update(index_elements=keys, set_=changed)
