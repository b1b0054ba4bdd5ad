"""The context read model: its name, its events, and what it does with them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, MetaData, Table

from ...domain import catalogue as events
from ...domain.events import LoggedEvent
from ..projection import Projection
from . import bulk
from .fold import Fold
from .tables import ContextTables


class Context(ContextTables, Projection):
    """Sessions, messages, runs and epochs: each epoch holds the whole visible list, so that the past is a look-up."""

    name = "context"
    version = 1
    payloads = False
    plain = frozenset({events.MessageRecorded, events.RunStarted, events.RunSucceeded, events.ContextShown})
    bulk = frozenset({events.MessageRecorded})
    event_types = frozenset(
        {
            events.SessionOpened,
            events.SessionForked,
            events.SessionClosed,
            events.SessionReopened,
            events.TranscriptImported,
            events.RunStarted,
            events.RunSucceeded,
            events.RunFailed,
            events.RunInterrupted,
            events.MessageRecorded,
            events.ReductionDecided,
            events.CompactionCommitted,
            events.CompactionRejected,
            events.CompactionFailedEvent,
            events.CompactionUndone,
            events.CompactionRedone,
            events.MemoryFrozen,
            events.PreambleRecorded,
            events.ContextShown,
        }
    )

    def tables(self, metadata: MetaData) -> None:
        self.declare(metadata)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        fold = Fold(self, connection)
        for event in events:
            if event.session is not None:
                fold.take(event, event.session)
        fold.flush()

    def apply_bulk(
        self, others: Sequence[LoggedEvent], span: tuple[int, int], log: Table, connection: Connection
    ) -> None:
        bulk.write_messages(self, connection, log, *span)
        fold = Fold(self, connection)
        for event in others:
            if event.session is not None:
                fold.take(event, event.session)
        fold.add(bulk.totals(self, connection, log, *span))
        fold.flush()
