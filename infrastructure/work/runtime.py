"""What every effect needs: the log, the projections, settings, clock and who we are. One per open book."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from ...domain.catalogue import Owner
from ...domain.checks import Check, check_entry, redact_credentials
from ...domain.errors import InputError, MemoryFault, StoreError
from ...domain.events import Envelope, LoggedEvent
from ...domain.message import Trust
from ...domain.redaction import Redact
from ...domain.tokens import ESTIMATE, Counter
from ...domain.whole_numbers import MOST
from ..settings import Settings
from ..store import cursors
from ..store.log import Log
from ..store.runner import Projections

if TYPE_CHECKING:
    from .meaning import Meaning

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Runtime:
    """One ``open()`` of a book (D7)."""

    log: Log
    projections: Projections
    settings: Settings
    clock: Clock
    owner: Owner
    counter: Counter = ESTIMATE
    """Counts every message, system prompt, tool schema, memory block and summary of this runtime (M5)."""
    redact: Redact = redact_credentials
    check: Check = check_entry
    """Judges every text before it becomes memory, whatever door it comes in by (D4)."""
    meaning: Meaning | None = None
    """Ranks by likeness of meaning, where somebody embeds (D17)."""
    changes: bool = True
    """False: a scope that is only looked at, though the book may be written (D18)."""

    @property
    def id(self) -> str:
        return self.owner.runtime

    @property
    def workspace(self) -> str:
        return self.settings.workspace_id

    @property
    def writes(self) -> bool:
        return self.log.database.access == "write"

    def generation(self, projection: str) -> int:
        """Which generation of a projection is live; 0: none."""
        with self.log.database.reading() as connection:
            found = cursors.find(connection, projection)
        return 0 if found is None else found.generation

    def require_writing(self, what: str) -> None:
        if not self.changes:
            raise MemoryFault(
                f"{what} changes the memory in common, which this workspace may only read; set memory_common to "
                "'write'",
                code="common_read_only",
            )
        if not self.writes:
            raise StoreError(
                f"{what} changes the book, which was opened for reading; open it without read_only=True",
                code="read_only",
            )

    def require_position(self, at: int | None) -> None:
        """A past is asked for by a position that the log has had. Raises InputError ``unknown_position``."""
        if at is None:
            return
        position_number(at)
        head = self.log.head().position
        if not 0 <= at <= head:
            raise InputError(f"position {at} is not in the log; its head is {head}", code="unknown_position", at=at)

    def event_at(self, position: int) -> LoggedEvent:
        """The event at a position, which is one of this workspace (D17).

        Raises InputError ``unknown_position``, ``bad_value``.
        """
        found = self.log.at([position_number(position)]).get(position)
        if found is None or found.workspace not in ("", self.workspace):
            here = "" if found is None else " of this workspace"
            raise InputError(
                f"there is no event {position}{here}; the log has 1 to {self.log.head().position}",
                code="unknown_position",
            )
        return found

    def now(self) -> datetime:
        now = self.clock()
        if not isinstance(now, datetime) or now.tzinfo is None:
            raise StoreError(
                "the clock must return an aware datetime, for instance datetime.now(UTC)", code="naive_time"
            )
        return now

    def envelope(
        self,
        stream: UUID,
        version: int,
        *,
        actor: str,
        session: str | None = None,
        run: str | None = None,
        trust: Trust = "operator",
        causation: int | None = None,
        time: datetime | None = None,
    ) -> Envelope:
        """An envelope of this workspace, dated now."""
        return Envelope(stream, version, self.workspace, time or self.now(), actor, session, run, trust, causation)


def new_id(prefix: str) -> str:
    """A short random id, readable in a terminal and unique in practice (48 bits)."""
    return f"{prefix}-{uuid4().hex[:12]}"


def position_number(at: Any) -> int:
    """Gives a position back that is a number. Raises InputError ``bad_value``."""
    if isinstance(at, bool) or not isinstance(at, int) or abs(at) > MOST:
        raise InputError(f"a position is a whole number, not {ascii(at)[:60]}", code="bad_value")
    return at
