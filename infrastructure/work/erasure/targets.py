"""What somebody asks to have erased: a session, a message or an entry, found by its id (E8)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from ....domain.catalogue import ErasedKind, MessageRecorded, RevisionPrepared
from ....domain.errors import InputError, MemoryFault, MessageError
from ....domain.forms import view
from ....domain.message import Text, ToolCall, ToolResult
from ....domain.streams import document_stream, message_stream
from .. import conversation
from ..runtime import Runtime
from ..sources import decode

QUOTE_CHARS_MIN = 24
"""A shorter piece of a message is not looked for elsewhere."""


@dataclass(frozen=True, slots=True)
class Target:
    """A session, a message with its session, position and run, or an entry."""

    kind: ErasedKind
    id: str
    session: str | None = None
    position: int | None = None
    run: str | None = None


def find(runtime: Runtime, kind: str, id: str | int, session: str | None) -> Target:
    """The target of that kind and id; a message also by its position.

    Raises ``unknown_session``, ``unknown_message``, ``message_ambiguous``, ``unknown_entry``, ``bad_option``.
    """
    if session is not None and kind != "message":
        raise InputError("a session is named beside the id of a message only; leave it out", code="bad_option")
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise InputError(f"an id is text, or the position of a message, not {type(id).__name__}", code="bad_value")
    match kind:
        case "session":
            conversation.require_session(runtime, str(id))
            return Target("session", str(id), str(id))
        case "message":
            return _message(runtime, id, session)
        case "entry":
            return _entry(runtime, str(id))
        case _:
            raise InputError(
                f"{kind!r} cannot be erased; there are session, message and entry", code="bad_option", kind=kind
            )


def _message(runtime: Runtime, id: str | int, session: str | None) -> Target:
    if session is not None:
        conversation.require_session(runtime, session)
    if isinstance(id, str) and id.isprintable():  # an id out of a transcript may be odd, but no NUL or half letter
        if session is not None:
            found = runtime.log.last(message_stream(runtime.workspace, session, id))
            places = [] if found is None else [(session, found.position)]
        else:
            places = _by_id(runtime, id)
        if len(places) > 1:
            named = ", ".join(name for name, _ in places[:5])
            raise MessageError(
                f"{len(places)} sessions have a message {id!r} ({named}); name one with --session, or the position",
                code="message_ambiguous",
                sessions=[name for name, _ in places],
            )
        if places:
            return _at(runtime, places[0][1])
    if isinstance(id, int) or (id.isascii() and id.isdigit() and len(id) < 17):
        event = runtime.event_at(int(id))
        if event.topic == MessageRecorded.TOPIC and session in (None, event.session):
            return _at(runtime, event.position)
    raise MessageError(
        f"there is no message {id!r}; 'minutebook session messages SESSION' lists ids and positions",
        code="unknown_message",
    )


def _by_id(runtime: Runtime, id: str) -> list[tuple[str, int]]:
    with runtime.projections.reading("context") as (tables, connection):
        table = tables.messages
        statement = select(table.c.session, table.c.position).where(
            table.c.workspace == runtime.workspace, table.c.message == id
        )
        return [(row.session, row.position) for row in connection.execute(statement.order_by(table.c.position))]


def _at(runtime: Runtime, position: int) -> Target:
    event = runtime.event_at(position)
    body = event.body
    assert isinstance(body, MessageRecorded)
    return Target("message", body.message, event.session, position, event.run)


def _entry(runtime: Runtime, id: str) -> Target:
    stream = document_stream(runtime.workspace)
    for event in runtime.log.read(topics=(RevisionPrepared.TOPIC,), stream=stream):
        body = event.body
        if isinstance(body, RevisionPrepared) and any(fact.entry == id for fact in body.entries):
            return Target("entry", id)
    raise MemoryFault(
        f"no revision of memory has an entry {id!r}; 'minutebook memory show' and 'memory blame' list their ids",
        code="unknown_entry",
    )


def words_of(runtime: Runtime, target: Target) -> list[str]:
    """What a message said, piece by piece, as far as it is long enough to be looked for."""
    if target.position is None:
        return []
    event = runtime.event_at(target.position)
    body = event.body
    if event.payload is None or not isinstance(body, MessageRecorded):
        return []
    said: list[str] = []
    for part in view(body.form, decode(event.payload, body.encoding)).parts:
        match part:
            case Text(text) | ToolResult(text=text):
                said.append(text)
            case ToolCall(arguments=text):
                said.append(text)
            case _:
                pass
    return [text for text in said if len(text) >= QUOTE_CHARS_MIN]
