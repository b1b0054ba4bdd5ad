"""Rows of the log: how a stored event becomes one and how one becomes an event again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ...domain.chain import columns_digest, envelope_digest
from ...domain.errors import StreamConflict
from ...domain.events import UNREAD, LoggedEvent
from .mapper import EnvelopedEvent

_COLUMNS = (
    "position, stream, version, topic, schema, workspace, session, run, actor, trust, causation, time, "
    "{facts}, {payload}, salt, body_digest, chain"
)
SQLITE_COLUMNS = _COLUMNS.format(facts="CAST(facts AS BLOB)", payload="CAST(payload AS BLOB)")
POSTGRES_COLUMNS = _COLUMNS.format(facts="facts", payload="payload")
SQLITE_FACTS, _, _ = SQLITE_COLUMNS.partition(", CAST(payload")
POSTGRES_FACTS, _, _ = POSTGRES_COLUMNS.partition(", payload")
"""Without the payload and what stands behind it: a large payload would have to be passed over page by page."""


def digest_of(event: Any) -> bytes:
    """The envelope digest of a stored event, ours or (facts only) one of another application of the library."""
    if isinstance(event, EnvelopedEvent):
        return envelope_digest(event.envelope, event.topic, event.schema, event.time, event.state, event.body_digest)
    return foreign_digest(event.originator_id.bytes, event.originator_version, event.topic, event.state)


def foreign_digest(stream: bytes, version: int, topic: str, state: bytes) -> bytes:
    """The digest of an event that has no envelope: another application of the library wrote it."""
    return columns_digest(stream, version, topic, 0, "", None, None, "", "external", None, "", state, None)


def sqlite_row(position: int, event: Any, chain: bytes) -> tuple[Any, ...]:
    if not isinstance(event, EnvelopedEvent):
        head = (position, event.originator_id.bytes, event.originator_version, event.topic)
        return (*head, *(None,) * 8, event.state, None, None, None, chain)
    envelope = event.envelope
    return (
        position,
        envelope.stream.bytes,
        envelope.version,
        event.topic,
        event.schema,
        envelope.workspace,
        envelope.session,
        envelope.run,
        envelope.actor,
        envelope.trust,
        envelope.causation,
        event.time,
        event.state.decode(),
        None if event.payload is None else event.payload.decode(),
        event.salt,
        event.body_digest,
        chain,
    )


def logged(row: Any) -> LoggedEvent:
    """A row of the log as an event; rows of other applications have an empty envelope and no version."""
    # The drivers give bytes for every binary column; nothing is copied and nothing is built before it is asked for.
    return LoggedEvent(row[0], row[3], row[4] or 0, _columns(row), row[12], row[13], row[15], row[16], row[14])


def facts_only(row: Any) -> LoggedEvent:
    """The same of a row that was read without its payload."""
    return LoggedEvent(row[0], row[3], row[4] or 0, _columns(row), row[12], UNREAD, UNREAD, UNREAD, UNREAD)


def _columns(row: Any) -> Any:
    return (row[1], row[2], *row[5:12])


def conflict(stream: UUID, wanted: int, found: int) -> StreamConflict:
    return StreamConflict(
        f"stream {stream} is at version {found}, not {wanted}: another writer was first; read it again and retry",
        stream=str(stream),
        wanted=wanted,
        found=found,
    )


def overtaken() -> StreamConflict:
    """Two events claimed the same version of a stream, and this one came second."""
    return StreamConflict("another writer was first in this stream; read it again and retry")
