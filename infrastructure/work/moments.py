"""A moment of the past as a caller names it - a position, a time, a turn - and the position that it means (E3, C11).

The log's order is the truth; a time and a turn are two ways to find a place in it:

* ``42``: position 42, as the log printed it.
* ``2026-11-30T10:00Z`` (or a datetime): the last event of this workspace that is dated then or before. Clocks may run
  backwards, so later positions may have been dated earlier; no event that came after is ever let in.
* ``turn:41``: what the model was given when it was asked for the 41st time in a session: all up to the event before
  its 41st answer. Answers that follow each other without a message in between are one. The turn after the last answer
  is now.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from sqlalchemy import func, select

from ...domain.errors import InputError
from ...projections.context import queries
from . import conversation
from .runtime import Runtime, position_number

Moment: TypeAlias = "int | str | datetime"

_TURN = re.compile(r"turn:(\d{1,9})")


def position_of(runtime: Runtime, at: Moment | None, session: str | None = None) -> int | None:
    """The position that a moment means; None stays None: now.

    Raises InputError ``bad_value`` for what is no moment, ``unknown_position`` for one that the log has not had.
    """
    if at is None:
        return None
    if isinstance(at, str) and (turn := _TURN.fullmatch(at)):
        return _turn(runtime, int(turn[1]), session)
    if isinstance(at, datetime) or (isinstance(at, str) and not at.strip().isdigit()):
        return _at_time(runtime, _moment(at))
    number = position_number(at)
    runtime.require_position(number)
    return number


def _moment(at: str | datetime) -> datetime:
    try:
        found = datetime.fromisoformat(at.strip()) if isinstance(at, str) else at
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{ascii(at)[:60]} is no moment; give a position (42), a time (2026-11-30T10:00Z) or a turn (turn:41)",
            code="bad_value",
        ) from error


def _at_time(runtime: Runtime, moment: datetime) -> int:
    if moment > runtime.now().astimezone(UTC):
        raise InputError(
            f"{moment.isoformat()} has not been yet, and what it will show can still change; for now, give no time",
            code="unknown_position",
        )
    upto = (moment + timedelta(microseconds=1)).isoformat(timespec="microseconds")
    with runtime.log.database.reading() as connection:
        found = runtime.log.page(connection, workspace=runtime.workspace, until=upto, newest_first=True, limit=1)
    return found[0].position if found else 0


def _turn(runtime: Runtime, number: int, session: str | None) -> int:
    if session is None:
        raise InputError(
            f"turn:{number} is a turn of a session, and this belongs to none; give a position or a time",
            code="bad_value",
        )
    conversation.require_session(runtime, session)
    with runtime.projections.reading("context") as (view, connection):
        answers = queries.answers(view, connection, runtime.workspace, session)
        if number > 0:
            found = connection.execute(answers.limit(1).offset(number - 1)).scalar()
            if found is not None:
                return int(found) - 1
        asked = connection.execute(select(func.count()).select_from(answers.subquery())).scalar_one()
        messages, _ = queries.totals(view, connection, runtime.workspace, session)
    if number == asked + 1 and messages:
        return runtime.log.head().position
    turns = f"1 to {asked + 1}" if messages else "none yet"
    raise InputError(
        f"session {session!r} has no turn {number}; the model was asked {turns} (the last is now)",
        code="unknown_position",
    )
