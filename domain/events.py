"""The bases of every event, and what an event looks like when it is read back (S1, E7, E8).

An event has three parts:

* the *envelope*: which stream and version, which workspace, session and run, who did it and when. Columns.
* the *facts*: the frozen pydantic fields below it: ids, roles, covers, sizes, digests. Kept for ever.
* the *payload*: text, as JSON bytes. Erasable (E8); ``None`` after erasure, and in events that have no text.

``TOPIC`` is the stored name of an event and never changes; ``class_version`` rises when its facts change
shape, with an ``upcast_vN_vM`` beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from .errors import StoreError
from .message import JSON, Trust


class Frozen(BaseModel):
    """A stored value: immutable, nothing unknown taken in silently."""

    # Of some sixty classes a process uses a few: each is built when it is first used.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where an event belongs: stream and version, workspace, session, run, actor, trust, cause, time (aware)."""

    stream: UUID
    version: int
    workspace: str
    time: datetime
    actor: str
    session: str | None = None
    run: str | None = None
    trust: Trust = "operator"
    causation: int | None = None


Columns: TypeAlias = tuple[
    "UUID | bytes",
    int,
    "str | None",
    "str | None",
    "str | None",
    "str | None",
    "Trust | None",
    "int | None",
    "str | None",
]
"""An envelope as a database gives it: stream, version, workspace, session, run, actor, trust, causation, time."""

NEVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
"""The time of an event that has none: it was written by another application of the library."""

_TIME_LENGTH = len(NEVER.isoformat(timespec="microseconds"))


class Unread:
    """Stands for a payload that was not fetched: whoever looks into it is told so, and does not find it empty."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "the payload was not read: the projection says 'payloads = False'", name=name, obj=self
        )  # fmt: skip


UNREAD: Any = Unread()
"""The payload of events that a projection gets which reads none (``Projection.payloads``)."""


class Event(Frozen):
    """A past fact of one aggregate. Satisfies ``eventsourcing.domain.DomainEventProtocol[UUID]``."""

    TOPIC: ClassVar[str]
    class_version: ClassVar[int] = 1

    model_config = ConfigDict(arbitrary_types_allowed=True)

    envelope: Envelope = Field(default=None, exclude=True, repr=False)  # type: ignore[assignment]
    """Set by whoever decides, or from the columns on reading: building it inside pydantic costs more than the rest."""
    payload: bytes | None = Field(default=None, exclude=True, repr=False)
    """JSON bytes of an object, or None: no text, or erased."""

    @property
    def originator_id(self) -> UUID:
        return self.envelope.stream

    @property
    def originator_version(self) -> int:
        return self.envelope.version

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The payload as an object; ``{}`` where there is none (ask ``LoggedEvent.erased`` to tell why)."""
        return {} if self.payload is None else json.loads(self.payload)


def encode_payload(content: Mapping[str, Any]) -> bytes:
    """JSON bytes of a payload that we made ourselves (a caller's message is encoded where it comes in)."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


TOPICS: dict[str, type[Event]] = {}
"""The allow-list: a stored topic is looked up here and never imported by name (E7)."""


def topic(cls: type[Event]) -> type[Event]:
    """Class decorator: admits an event class to the allow-list under its own ``TOPIC``."""
    if cls.__dict__.get("TOPIC") is None:
        raise TypeError(f"{cls.__name__} needs a TOPIC of its own")
    if cls.TOPIC in TOPICS:
        raise TypeError(f"topic {cls.TOPIC!r} is taken by {TOPICS[cls.TOPIC].__name__}")
    TOPICS[cls.TOPIC] = cls
    return cls


class LoggedEvent:
    """One row of the log: columns in the clear, envelope and body built only when asked for.

    ``position`` counts from 1 without gaps, in commit order. ``facts`` and ``payload`` are the stored JSON
    bytes. ``erased`` is true when a payload was there and is gone (E8). ``body`` is the typed event; a topic
    or version that this code does not know has none (``known`` is false). A projection passes an unknown topic by, and
    halts at a ``newer`` version of one that it wants (E7).
    Treat it as frozen: it is a plain slotted class because a page of thousands is made at a time, and a
    frozen dataclass with its UUID and datetime cost three times the read itself (measured).
    """

    __slots__ = (
        "_body",
        "_columns",
        "_envelope",
        "body_digest",
        "chain",
        "facts",
        "payload",
        "position",
        "run",
        "salt",
        "schema",
        "session",
        "topic",
        "version",
    )

    def __init__(
        self,
        position: int,
        topic: str,
        schema: int,
        envelope: Envelope | Columns,
        facts: bytes,
        payload: bytes | None,
        body_digest: bytes | None,
        chain: bytes,
        salt: bytes | None = None,
    ) -> None:
        self.position = position
        self.topic = topic
        self.schema = schema
        self.facts = facts
        self.payload = payload
        self.body_digest = body_digest
        self.chain = chain
        self.salt = salt
        self._body: Event | None = None
        if isinstance(envelope, Envelope):
            self._envelope: Envelope | None = envelope
            self._columns: Columns | None = None
            self.version, self.session, self.run = envelope.version, envelope.session, envelope.run
        else:
            self._envelope = None
            self._columns = envelope
            self.version, self.session, self.run = envelope[1], envelope[3], envelope[4]

    @property
    def envelope(self) -> Envelope:
        if self._envelope is None:
            assert self._columns is not None
            stream, version, workspace, session, run, actor, trust, causation, time = self._columns
            self._envelope = Envelope(
                stream if isinstance(stream, UUID) else UUID(bytes=stream),
                version,
                workspace or "",
                datetime.fromisoformat(time) if time else NEVER,
                actor or "",
                session,
                run,
                trust or "external",
                causation,
            )
        return self._envelope

    @property
    def type(self) -> str:
        return self.topic

    @property
    def stream(self) -> UUID:
        return self.envelope.stream

    @property
    def workspace(self) -> str:
        return self.envelope.workspace if self._columns is None else self._columns[2] or ""

    @property
    def actor(self) -> str:
        return self.envelope.actor if self._columns is None else self._columns[5] or ""

    @property
    def trust(self) -> Trust:
        return self.envelope.trust if self._columns is None else self._columns[6] or "external"

    @property
    def time(self) -> datetime:
        return self.envelope.time

    @property
    def time_text(self) -> str:
        """The time in its stored form: UTC with microseconds."""
        text = None if self._columns is None else self._columns[8]
        # What minutebook writes has this form already; only others' needs to be read and written again.
        if text is not None and len(text) == _TIME_LENGTH and text.endswith("+00:00"):
            return text
        return self.envelope.time.isoformat(timespec="microseconds")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LoggedEvent):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.position, self.chain))

    def __repr__(self) -> str:
        return f"LoggedEvent({self.position}, {self.topic!r}, stream={self.stream}, version={self.version})"

    def _key(self) -> tuple[object, ...]:
        kept = (self.position, self.topic, self.schema, self.envelope, self.facts, self.payload)
        return (*kept, self.body_digest, self.chain, self.salt)

    @property
    def erased(self) -> bool:
        return self.body_digest is not None and self.payload is None

    @property
    def known(self) -> bool:
        cls = TOPICS.get(self.topic)
        return cls is not None and self.schema <= cls.class_version

    @property
    def plain(self) -> Mapping[str, Any]:
        """The facts as JSON values, without the typed event around them: half the price, for what is copied on.

        Raises as ``body``.
        """
        cls = TOPICS.get(self.topic)
        if cls is not None and self.schema == cls.class_version:
            try:
                facts: Mapping[str, Any] = from_json(self.facts)
            except ValueError as error:
                raise _unreadable(self.topic, f"event {self.position}", error, position=self.position) from error
            return facts
        return self.body.model_dump(mode="json")

    @property
    def newer(self) -> bool:
        """Whether this code knows the topic and not this version of it: more than can be passed by (E7)."""
        cls = TOPICS.get(self.topic)
        return cls is not None and self.schema > cls.class_version

    @property
    def body(self) -> Event:
        """The typed event. Raises StoreError ``unknown_event`` or ``event_unreadable``."""
        if self._body is None:
            self._body = parse(self.topic, self.schema, self.facts, f"event {self.position}", position=self.position)
            self._body.__dict__["envelope"] = self.envelope
            self._body.__dict__["payload"] = self.payload
        return self._body


def parse(topic: str, schema: int, facts: bytes, name: str, **details: JSON) -> Event:
    """The typed event of stored facts, upcast to today's shape, still without envelope and payload (E7).

    Raises StoreError ``unknown_event`` or ``event_unreadable``, which call it ``name``.
    """
    cls = TOPICS.get(topic)
    if cls is None or schema > cls.class_version:
        raise StoreError(
            f"{name} is a {topic!r} of version {schema}, which this version of minutebook does not know; "
            "upgrade minutebook to read it",
            code="unknown_event",
            **details,
        )
    try:
        if schema == cls.class_version:
            # What model_validate_json calls, without its keyword handling: 2.8 instead of 4.6 us (measured).
            event: Event = cls.__pydantic_validator__.validate_json(facts)
            return event
        state: dict[str, JSON] = json.loads(facts)
        for old in range(schema, cls.class_version):
            getattr(cls, f"upcast_v{old}_v{old + 1}")(state)
        return cls.model_validate(state)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(topic, name, error, **details) from error


def _unreadable(topic: str, name: str, error: Exception, **details: JSON) -> StoreError:
    return StoreError(
        f"{name} ({topic}) cannot be read: {_said(error)}; run 'minutebook verify' to see whether the log is damaged",
        code="event_unreadable",
        **details,
    )


def _said(error: Exception) -> str:
    """What is wrong in one line, with the name of the field."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg']}" if place else first["msg"]
    return str(error).splitlines()[0] if str(error) else type(error).__name__
