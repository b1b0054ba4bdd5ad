"""A plug-in's ``apply`` with a bound on its time, so that one that hangs holds no lock and nobody up (E6).

On SQLite the transaction of a projection is the one writer of the file: as long as it is open, nobody appends. A thread
cannot be stopped, but its transaction can be taken away. So ``apply`` runs in a thread of its own; when its time is
over, the connection is closed under it and all that it wrote is gone. What it says later meets nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, event

from ...domain.events import LoggedEvent
from ...projections.projection import Projection

if TYPE_CHECKING:
    from .binding import Bound

SECONDS_MAX = 2.0
"""Of one event, where the setting ``projection_seconds_max`` says nothing else: less than a writer waits."""

SHARE_OF_MANY = 0.25
"""Of that time for a batch of several events: it can still be cut, so it need not be waited for as long."""

GRACE_SECONDS = 0.2
"""Between the request that a statement ends and the end of its connection."""


class TookTooLong(Exception):
    """``apply`` did not return in its time; nothing that it wrote was kept."""


class Exited(Exception):
    """``apply`` tried to end the program (``sys.exit``) or its caller: its own failure, and no more than that."""


def is_foreign(projection: Projection) -> bool:
    """Whether a projection comes from another package; our own are known to return, and spare the thread."""
    return type(projection).__module__.partition(".")[0] != __name__.partition(".")[0]


def apply(bound: Bound, events: Sequence[LoggedEvent], connection: Connection, seconds: float) -> None:
    """``bound.apply`` with at most ``seconds`` for one event, a quarter of that for several.

    Raises TookTooLong (then ``connection`` is dead), Exited, or what ``apply`` raises.
    """
    if not bound.plug_in:
        bound.apply(events, connection)
        return
    seconds *= 1.0 if len(events) == 1 else SHARE_OF_MANY
    errors: list[BaseException] = []
    done, over = threading.Event(), threading.Event()
    event.listen(connection, "before_cursor_execute", _gate(over))

    def work() -> None:
        try:
            bound.apply(events, connection)
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=work, name=f"minutebook-apply-{bound.name}", daemon=True).start()
    try:
        finished = done.wait(seconds)
    except BaseException:
        # Ctrl-C: the caller leaves, and must not roll back under a thread that goes on writing.
        _take_away(connection, done, over)
        raise
    if not finished:
        _take_away(connection, done, over)
        raise TookTooLong(f"apply did not return within {seconds:g} seconds")
    if errors:
        if isinstance(errors[0], Exception | KeyboardInterrupt):
            raise errors[0]
        said = "called sys.exit" if isinstance(errors[0], SystemExit) else f"raised {type(errors[0]).__name__}"
        raise Exited(f"apply {said}") from errors[0]


def _gate(over: threading.Event) -> Any:
    """No further statement on a connection that was taken away: after an interrupt SQLite would commit it by itself."""

    def check(*_: Any) -> None:
        if over.is_set():
            raise TookTooLong("this transaction was taken away, because apply did not return in its time")

    return check


def _take_away(connection: Connection, done: threading.Event, over: threading.Event) -> None:
    over.set()
    driver: Any = connection.connection.driver_connection
    # A statement under way is asked to end: closing its connection would wait for it.
    with suppress(Exception):
        if connection.dialect.name == "sqlite":
            driver.interrupt()
        elif driver.info.transaction_status.name == "ACTIVE":
            driver.cancel_safe(timeout=GRACE_SECONDS)
    done.wait(GRACE_SECONDS)
    connection.invalidate()
