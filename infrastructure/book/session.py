"""A session: a conversation that goes on over many runs, and what a model sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...domain.errors import InputError
from ...domain.message import JSON
from ..work import conversation, looking
from ..work.compressor import Compressor
from ..work.conversation import Entry, RunRef
from ..work.freezer import Freezer
from ..work.leases import Lease, renew_lease
from ..work.runtime import new_id
from ..work.sources import from_caller
from .answers import Answer, RecordedMessage
from .context import Context
from .run import Run, message_ids, usage_of

if TYPE_CHECKING:
    from .minutebook import Minutebook


class Session:
    """One session of a book."""

    def __init__(self, book: Minutebook, id: str, *, resume: bool = False) -> None:
        self._book = book
        self._runtime = book._runtime
        self.id = id
        freezer = Freezer(self._runtime, book._publisher, id, anew=resume)
        self._compressor = Compressor(self._runtime, id, book._summarizer, freezer)

    # --- recording

    def run(self, id: str | None = None) -> Run:
        """Starts a run. Raises SessionError ``run_open`` while another live run is open in the session (M2)."""
        self._runtime.require_writing("a run")
        return Run(self, conversation.start_run(self._runtime, self.id, id))

    def append(self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None) -> int | list[int]:
        """Records messages outside a run: for importing history. As ``Run.append``."""
        self._runtime.require_writing("an append")
        single = not isinstance(message, (list, tuple))
        messages = [message] if single else list(message)
        bytes_max, redact = self._runtime.settings.message_bytes_max, self._runtime.settings.redact_messages
        entries = [
            Entry(name, from_caller(item, bytes_max=bytes_max, redact=redact), actor="import", usage=usage_of(usage))
            for name, item in zip(message_ids(id, len(messages), single), messages, strict=True)
        ]
        positions = conversation.record(self._runtime, self.id, entries, run=None) if entries else []
        return positions[0] if single else positions

    def close(self) -> None:
        """Says that the session is done; opening it again goes on with it. Admitted candidates are curated (D6)."""
        self._runtime.require_writing("closing a session")
        conversation.close_session(self._runtime, self.id)
        self._book._wake_curator("session_closed")

    def fork(self, at: int | None = None, id: str | None = None) -> Session:
        """A new session with this one's history up to position ``at`` (default: all of it) (M6)."""
        self._runtime.require_writing("a fork")
        child = id or new_id(f"{self.id[:80]}-fork")
        conversation.fork_session(
            self._runtime, self.id, self._runtime.log.head().position if at is None else at, child
        )
        return Session(self._book, child)

    # --- reading

    def messages(
        self, at: int | None = None, *, limit: int | None = None, before: int | None = None
    ) -> list[RecordedMessage]:
        """Every message as it was recorded, each with its state in the context now or at a position (M1, C7).

        ``limit`` keeps the last ones, ``before`` only those before a position. Raises InputError ``unknown_position``.
        """
        self._runtime.require_position(at)
        if limit is not None and limit < 0:
            raise InputError(f"limit must be 0 or more, not {limit}", code="bad_option")
        return [
            RecordedMessage(original, known)
            for original, known in looking.messages(self._runtime, self.id, at=at, limit=limit, before=before)
        ]

    def context(
        self, at: int | None = None, *, window: int | None = None, system: str | None = None,
        tools: Sequence[JSON] | None = None,
    ) -> Context:  # fmt: skip
        """What a model would see, or saw at a position; only reads (C8, C11).

        Raises CompactionNeeded when it would not fit the window without a summary, InputError ``unknown_position``.
        """
        self._runtime.require_position(at)
        return Context.of(
            self._compressor.look(at=at, window=window, system=system, tools=None if tools is None else tuple(tools))
        )

    def compact(self, dry_run: bool = False, window: int | None = None) -> Answer:
        """Summarises the middle of the session now, whatever the trigger says; a dry run calls no model (C11)."""
        if not dry_run:
            self._runtime.require_writing("a compaction")
        return Answer(self._compressor.compact(dry_run=dry_run, window=window))

    def compactions(self) -> list[Answer]:
        """Every compaction of the session, also those that were refused, failed or undone, oldest first."""
        return [Answer(row) for row in looking.compactions(self._runtime, self.id)]

    def timeline(self, buckets: int = 50) -> list[Answer]:
        """Tokens, compactions, runs and memory revisions over the positions of the session, in ``buckets`` steps."""
        return [Answer(row) for row in looking.timeline(self._runtime, self.id, buckets)]

    def _shown_context(self, ref: RunRef, lease: Lease, *, system: str, tools: tuple[JSON, ...]) -> Context:
        now = self._runtime.now()
        if lease.due(now):
            renew_lease(self._runtime, ref, now)
        return Context.of(self._compressor.show(ref, system=system, tools=tools))
