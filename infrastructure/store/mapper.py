"""Events to rows and back: orjson for the facts, topics from an allow-list, envelope in columns (S1, E7)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import Mapper, Notification, StoredEvent, Transcoder

from ...domain.chain import body_digest
from ...domain.errors import InputError, StoreError
from ...domain.events import NEVER, TOPICS, Envelope, Event, parse


class OrjsonTranscoder(Transcoder):
    """Facts as JSON by orjson; UUID, datetime and tuples are written natively."""

    def encode(self, obj: Any) -> bytes:
        return orjson.dumps(obj)

    def decode(self, data: bytes) -> Any:
        return orjson.loads(data)


@dataclass(frozen=True)
class EnvelopedEvent(StoredEvent):
    """A stored event of ours: ``state`` holds the facts; envelope, payload and salt stand beside it."""

    schema: int = 1
    envelope: Envelope = field(default=None)  # type: ignore[assignment]
    time: str = ""
    payload: bytes | None = None
    salt: bytes | None = None
    body_digest: bytes | None = None


@dataclass(frozen=True)
class EnvelopedNotification(EnvelopedEvent, Notification):
    """The same with its position as ``id``, for followers built on the library."""


class MinutebookMapper(Mapper[UUID]):
    """Maps our pydantic events; the stock mapper would import any module that a stored topic names."""

    def to_stored_event(self, domain_event: DomainEventProtocol[UUID]) -> StoredEvent:
        if not isinstance(domain_event, Event):
            return super().to_stored_event(domain_event)
        envelope = domain_event.envelope
        payload = domain_event.payload
        salt = None if payload is None else os.urandom(16)
        # The constructor of a frozen dataclass sets each field by a call: four times the price (measured).
        stored = object.__new__(EnvelopedEvent)
        stored.__dict__.update(
            originator_id=envelope.stream,
            originator_version=envelope.version,
            topic=domain_event.TOPIC,
            state=facts_of(domain_event),
            schema=domain_event.class_version,
            envelope=envelope,
            time=timestamp(envelope.time),
            payload=payload,
            salt=salt,
            body_digest=None if salt is None or payload is None else body_digest(salt, payload),
        )
        return stored

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[UUID]:
        """The typed event, upcast. Raises StoreError ``unknown_event``: a stored topic is never imported (E7)."""
        envelope: Envelope | None = getattr(stored_event, "envelope", None)
        if envelope is None and stored_event.topic in TOPICS:
            # From a plain notification (the library's JSON interface carries no more): facts and stream only.
            assert isinstance(stored_event.originator_id, UUID)
            envelope = Envelope(stored_event.originator_id, stored_event.originator_version, "", NEVER, "")
        name = f"event {stored_event.originator_version} of {stored_event.originator_id}"
        event = parse(stored_event.topic, getattr(stored_event, "schema", 1), stored_event.state, name)
        event.__dict__["envelope"] = envelope
        event.__dict__["payload"] = getattr(stored_event, "payload", None)
        return event


NUMBER_MAX = 2**53
"""The largest number in facts: what Python, orjson, SQLite, PostgreSQL and other people's JSON all hold exactly."""


def facts_of(event: Event) -> bytes:
    """The facts as JSON, only if they can be read again: an unreadable event would halt its projections for ever.

    Raises InputError ``bad_value``: a number out of bounds, infinity, half of a surrogate pair.
    """
    values = event.__pydantic_serializer__.to_python(event)
    try:
        facts = orjson.dumps(values)
        event.__pydantic_validator__.validate_json(facts)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {event.TOPIC} cannot be recorded: {error}; correct the value", code="bad_value") from error
    if not _bounded(values):
        raise InputError(
            f"a {event.TOPIC} cannot be recorded: it holds a number beyond {NUMBER_MAX:,}; correct the value",
            code="bad_value",
        )
    return facts


def _bounded(value: Any) -> bool:
    # Without recursion, and text first: the facts of a revision hold some hundred of them.
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value is None or isinstance(value, str):
            continue
        if isinstance(value, int | float):
            if not -NUMBER_MAX <= value <= NUMBER_MAX:
                return False
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, tuple | list) and value and not isinstance(value[0], str):
            # Long lists in facts are ids and covers: text, which needs no look.
            waiting += value
    return True


def timestamp(time: datetime) -> str:
    """The stored form of a time: UTC, microseconds, always the same length, so that text order is time order."""
    if time.tzinfo is None:
        raise StoreError(
            "times must be aware (with a time zone); let the clock return datetime.now(UTC)", code="naive_time"
        )
    return (time if time.tzinfo is UTC else time.astimezone(UTC)).isoformat(timespec="microseconds")
