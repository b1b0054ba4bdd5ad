"""Reads originals back for the agent: of its own session and the history that it was forked from, no other (D17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from ...domain.errors import InputError
from ...domain.message import JSON, Message
from ...domain.passage import best_passage
from ...domain.recall_tool import (
    MESSAGES_MAX,
    PASSAGE_CHARS,
    QUERY_HITS,
    One,
    Recall,
    Span,
    Words,
    page,
    parse_recall,
    passages,
    readable,
    refusal,
)
from ...projections.context import queries
from . import conversation, searching
from .runtime import Runtime
from .visible import message_of


def recall_for_model(runtime: Runtime, session: str, arguments: JSON) -> dict[str, Any]:
    """Answers the model's call of the ``recall`` tool; a refusal is an answer too. Appends nothing.

    The answer has ``status`` (``found`` or ``refused``), ``note``, ``messages`` (``position``, ``id``, ``role``,
    ``trust``, ``offset``, ``characters``, ``text``) and ``next``: the arguments that go on, or None.
    """
    try:
        return recall_in_session(runtime, session, parse_recall(arguments))
    except InputError as error:
        return refusal(error)


def recall_in_session(runtime: Runtime, session: str, asked: Recall) -> dict[str, Any]:
    """The originals that ``asked`` names. Raises InputError ``not_in_session``; SessionError ``unknown_session``."""
    conversation.require_session(runtime, session)
    match asked.wanted:
        case Words(query, around):
            return passages(_fitting(runtime, session, query, around), asked)
        case Span(first, last):
            places = _places(runtime, session, first, last, newest=False, limit=MESSAGES_MAX + 1)
            if not places:
                raise _not_here(runtime, session, first, f"no message stands between positions {first} and {last}")
            # The range may end behind the last message: what is left is told by the next message, not by its end.
            end = places[-1]
            given = places[:MESSAGES_MAX]
            upto = max(end, last) if len(places) > MESSAGES_MAX else end
        case One(position, message, around):
            here = _place(runtime, session, position, message)
            before = _places(runtime, session, 0, here - 1, newest=True, limit=around) if around else []
            after = _places(runtime, session, here + 1, None, newest=False, limit=around) if around else []
            given = [*before, here, *after]
            upto = given[-1]
    return page(_originals(runtime, given), asked, last=upto)


def _fitting(runtime: Runtime, session: str, query: str, around: int) -> list[tuple[Message, int, str]]:
    """The messages that answer a query, best first, each followed by its neighbours, with the passage that does."""
    wanted = searching.wanted(runtime, query, session=session, limit=QUERY_HITS, around=around)
    places: dict[int, None] = {}
    for hit in searching.search(runtime, wanted):
        places.setdefault(hit["position"])
        places.update(dict.fromkeys(near["position"] for near in (*hit.get("before", ()), *hit.get("after", ()))))
    found: list[tuple[Message, int, str]] = []
    for message in _originals(runtime, list(places)):
        text = readable(message)
        piece = best_passage(text, frozenset(wanted.query.terms), PASSAGE_CHARS)
        found.append((message, piece.start, text[piece.start : piece.end]))
    return found


def _place(runtime: Runtime, session: str, position: int | None, message: str | None) -> int:
    if message is not None:
        with runtime.projections.reading("context") as (view, connection):
            found = queries.positions_of(view, connection, runtime.workspace, session, [message]).get(message)
        if found is None:
            raise InputError(
                f"there is no message {message[:200]!r} in this session; name a position instead", code="not_in_session"
            )
        return found
    assert position is not None
    if not _places(runtime, session, position, position, newest=False, limit=1):
        raise _not_here(runtime, session, position, f"no message stands at position {position}")
    return position


def _not_here(runtime: Runtime, session: str, position: int, what: str) -> InputError:
    """The same words for a position of another session and for one that is no message: nothing is told of others."""
    near = [
        *_places(runtime, session, 0, position - 1, newest=True, limit=1),
        *_places(runtime, session, position + 1, None, newest=False, limit=1),
    ]
    mend = f"the nearest are at {' and '.join(map(str, near))}" if near else "it has no messages yet"
    return InputError(f"{what} in this session; {mend}", code="not_in_session", nearest=near)


def _places(runtime: Runtime, session: str, first: int, last: int | None, *, newest: bool, limit: int) -> list[int]:
    """Positions of the session's messages from ``first`` to ``last``, oldest first; with ``newest`` the last ones."""
    found: list[int] = []
    with runtime.projections.reading("context") as (view, connection):
        table = view.messages
        segments = queries.lineage(view, connection, runtime.workspace, session)
        for name, upto in reversed(segments) if newest else segments:
            end = min((bound for bound in (upto, last) if bound is not None), default=None)
            statement = select(table.c.position).where(
                table.c.workspace == runtime.workspace, table.c.session == name, table.c.position >= first
            )
            if end is not None:
                statement = statement.where(table.c.position <= end)
            order = table.c.position.desc() if newest else table.c.position
            found.extend(connection.execute(statement.order_by(order).limit(limit - len(found))).scalars())
            if len(found) >= limit:
                break
    return found[::-1] if newest else found


def _originals(runtime: Runtime, places: Sequence[int]) -> list[Message]:
    events = runtime.log.at(places)
    return [message_of(events[position]) for position in places]
