"""Nothing that was made of a text comes into the log after the text was erased from it (E8).

A summariser or a curator may be at work for minutes. What it was given may be gone when it answers: then its answer is
decided anew, or put on record without its words.
"""

from __future__ import annotations

from sqlalchemy import Connection

from ....domain.catalogue import ErasureRequested, PayloadsErased
from ....domain.errors import StreamConflict
from ....domain.events import Event
from ...store.log import Log, Within


def mark(log: Log, connection: Connection | None = None) -> int:
    """Where the last erasure stands: another mark than before means that what was read may be gone."""
    return log.newest_of(ErasureRequested.TOPIC, PayloadsErased.TOPIC, connection=connection)


def since(log: Log, seen: int, also: Within | None = None) -> Within:
    """For ``append(within=...)``. Raises StreamConflict when something was erased after the mark ``seen``."""

    def within(connection: Connection, positions: list[int]) -> None:
        if mark(log, connection) != seen:
            raise StreamConflict("something was erased meanwhile; look again and decide anew")
        if also is not None:
            also(connection, positions)

    return within


def append_or_silence(log: Log, seen: int, *events: Event) -> None:
    """Appends events; without their words when what these were made of may have been erased. Raises StreamConflict."""
    try:
        log.append(events, within=since(log, seen))
    except StreamConflict:
        if mark(log) == seen:
            raise
        log.append([event.model_copy(update={"payload": None}) for event in events])
