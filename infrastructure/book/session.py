"""A session: a conversation that goes on over many runs, and what a model sees of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ...domain.errors import CompactionNeeded, ContextWindowExceeded
from ...domain.message import JSON
from ...domain.recall_tool import CHARS_DEFAULT, parse_recall
from ...domain.usage import usage_of
from ...domain.whole_numbers import whole_number
from ..work import blaming, conversation, looking, moments, telling, timeline
from ..work.backtest import backtest
from ..work.compressor import Compressor
from ..work.conversation import RunRef
from ..work.freezer import Freezer
from ..work.leases import Lease, renew_lease
from ..work.moments import Moment
from ..work.recalling import recall_in_session
from ..work.recording import Entry, record
from ..work.requests import Requests
from ..work.runtime import new_id
from ..work.sources import from_caller, preamble_parts
from .answers import Answer, RecordedMessage
from .context import Context
from .run import Run, message_ids

if TYPE_CHECKING:
    from .minutebook import Minutebook


class Session:
    """One session of a book."""

    def __init__(self, book: Minutebook, id: str, *, resume: bool = False) -> None:
        self._book = book
        self._runtime = book._runtime
        self.id = id
        self._freezer = Freezer(self._runtime, book._publisher, id, anew=resume)
        self._compressor = Compressor(self._runtime, id, book._summarizer, self._freezer)

    # --- recording

    def run(self, id: str | None = None) -> Run:
        """Starts a run. Raises SessionError ``run_open`` while another live run is open in the session (M2)."""
        self._runtime.require_writing("a run")
        return Run(self, conversation.start_run(self._runtime, self.id, id))

    @overload
    def append(self, message: Mapping[str, Any], id: str | None = None, *, usage: Any = None) -> int: ...

    @overload
    def append(
        self, message: list[Any] | tuple[Any, ...], id: str | Sequence[str] | None = None, *, usage: Any = None
    ) -> list[int]: ...

    @overload
    def append(self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None) -> Any: ...

    def append(self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None) -> int | list[int]:
        """Records messages outside a run: for importing history. As ``Run.append``."""
        self._runtime.require_writing("an append")
        single = not isinstance(message, (list, tuple))
        messages = [message] if single else list(message)
        settings, counter = self._runtime.settings, self._runtime.counter
        bytes_max, redact = settings.message_bytes_max, self._runtime.redact if settings.redact_messages else None
        entries = [
            Entry(
                name,
                from_caller(item, bytes_max=bytes_max, counter=counter, redact=redact),
                actor="import",
                usage=usage_of(usage) if place == len(messages) - 1 else None,
            )
            for place, (name, item) in enumerate(zip(message_ids(id, len(messages), single), messages, strict=True))
        ]
        positions = record(self._runtime, self.id, entries, run=None, named=id is not None) if entries else []
        return positions[0] if single else positions

    def close(self) -> None:
        """Says that the session is done; opening it again goes on with it. Admitted candidates are curated (D6)."""
        self._runtime.require_writing("closing a session")
        conversation.close_session(self._runtime, self.id)
        self._book._wake_curator("session_closed")

    def fork(self, at: Moment | None = None, id: str | None = None) -> Session:
        """A new session with this one's history up to ``at``, a position, time or turn (default: all of it) (M6)."""
        self._runtime.require_writing("a fork")
        child = id or new_id(f"{self.id[:80]}-fork")
        position = self._position(at)
        conversation.fork_session(
            self._runtime, self.id, self._runtime.log.head().position if position is None else position, child
        )
        return Session(self._book, child)

    # --- reading

    def messages(
        self, at: Moment | None = None, *, limit: int | None = None, before: int | None = None
    ) -> list[RecordedMessage]:
        """Every message as it was recorded, each with its state in the context now or in the past (M1, C7).

        ``at`` as in ``context``; ``limit`` keeps the last ones, ``before`` only those before a position.
        Raises InputError ``unknown_position``, ``bad_value``, ``bad_option``.
        """
        position = self._position(at)
        for what, number in (("limit", limit), ("before", before)):
            if number is not None:
                whole_number(number, what)
        return [
            RecordedMessage(original, known)
            for original, known in looking.messages(self._runtime, self.id, at=position, limit=limit, before=before)
        ]

    def context(
        self, at: Moment | None = None, *, window: int | None = None, system: str | None = None,
        tools: Sequence[JSON] | None = None,
    ) -> Context:  # fmt: skip
        """What a model would see, or saw in the past; only reads (C8, C11).

        ``at`` is a position (``42``), a time (a datetime, or ``"2026-11-30T10:00Z"``; without a zone it is UTC) or a
        turn (``"turn:41"``: what the model had when it was asked for the 41st time).

        Raises CompactionNeeded when it would not fit the window without a summary, InputError
        ``unknown_position``, ``bad_value``, ``bad_option``.
        """
        position = self._position(at)
        said, schemas = preamble_parts(system, tools)
        return Context.of(self._compressor.look(at=position, window=window, system=said, tools=schemas))

    def blame(self, message: int | str | None = None, *, at: Moment | None = None) -> Answer:
        """Why each line of the context is there, and why each hidden message is not (E4).

        The answer has ``preamble``, ``lines`` and ``hidden``; every row has ``why`` in words and ``because``, the
        positions of the events. With ``message`` (a position, the id of a message or compaction) only that one, and
        under ``chain`` the events that led to it. Raises InputError ``not_in_session``, ``unknown_position``.
        """
        return Answer(blaming.blame(self._runtime, self.id, self._freezer, message, self._position(at)))

    def diff(self, a: Moment, b: Moment) -> Answer:
        """What changed in the context from ``a`` to ``b``: ``added``, ``removed``, ``changed``, each with why.

        Both are positions, times or turns, as in ``context``.

        ``preamble`` names what else is another (``system``, ``memory``, ``tools``); ``from`` and ``to`` have the sizes
        and digests. Raises InputError ``unknown_position``.
        """
        old, new = (moments.position_of(self._runtime, each, self.id) for each in (a, b))
        assert old is not None
        assert new is not None
        return Answer(blaming.diff(self._runtime, self.id, self._freezer, old, new))

    def compact(self, dry_run: bool = False, window: int | None = None, *, from_originals: bool = False) -> Answer:
        """Summarises the middle of the session now, whatever the trigger says; a dry run calls no model (C11).

        ``from_originals``: what is summarised already is summarised anew from its originals, under today's policy
        and summariser, and not from its summary (C7). Raises InputError ``bad_option`` for a window that is none.
        """
        if not dry_run:
            self._runtime.require_writing("a compaction")
        return Answer(self._compressor.compact(dry_run=dry_run, window=window, originals=from_originals))

    def backtest(
        self, *, window: int | None = None, threshold: float | None = None, threshold_tokens: int | None = None,
        reserve: int | None = None, protect_first: int | None = None, protect_recent: int | None = None,
        summary_tokens_max: int | None = None,
    ) -> Answer:  # fmt: skip
        """What another policy would have shown at every request of this session; calls no model, appends nothing.

        The answer has ``requests``, ``tokens_total``, ``largest``, ``reductions``, ``compactions``, ``errors``,
        ``hidden``, ``summary`` and ``turns`` (``position``, ``tokens_before``, ``tokens``, ``actions``). What is not
        given is as in the settings. Raises InputError ``bad_setting``.
        """
        given = {
            "window": window, "threshold": threshold, "threshold_tokens": threshold_tokens, "reserve": reserve,
            "protect_first": protect_first, "protect_recent": protect_recent, "summary_tokens_max": summary_tokens_max,
        }  # fmt: skip
        _, preamble = Requests(self._runtime, self.id, self._freezer).last(None)
        return Answer(backtest(self._runtime, self.id, preamble, given))

    def compactions(self) -> list[Answer]:
        """Every compaction of the session, also those that were refused, failed or undone, oldest first."""
        return [Answer(row) for row in looking.compactions(self._runtime, self.id)]

    def recall(
        self, position: int | None = None, *, message: str | None = None, first: int | None = None,
        last: int | None = None, query: str | None = None, around: int = 0, offset: int = 0,
        limit: int = CHARS_DEFAULT,
    ) -> Answer:  # fmt: skip
        """Originals of this session and of what it was forked from: one by position or id, ``first`` to ``last``, or
        the passages that answer a ``query`` best.

        Answers as ``Run.recall``, at most ``limit`` characters. Raises InputError ``bad_recall``, ``not_in_session``.
        """
        named = {
            "position": position, "message": message, "from": first, "to": last, "around": around or None,
            "offset": offset or None, "limit": limit, "query": query,
        }  # fmt: skip
        return Answer(recall_in_session(self._runtime, self.id, parse_recall(named)))

    def export(self, form: str = telling.FORMS[0]) -> Iterator[bytes]:
        """Every message, one JSON value a line: ``original``, ``neutral``, ``openai``, ``openai-responses``,
        ``anthropic``; or ``markdown``. Raises InputError ``unknown_form``."""
        return telling.session_lines(self._runtime, self.id, form)

    def timeline(self, buckets: int = 50) -> list[Answer]:
        """Tokens, compactions, runs and memory revisions over the positions of the session, in ``buckets`` steps."""
        return [Answer(row) for row in timeline.timeline(self._runtime, self.id, buckets)]

    def _position(self, at: Moment | None) -> int | None:
        return moments.position_of(self._runtime, at, self.id)

    def _crowded(self) -> str:
        """Why the window is too small for this session, for the status; "" when it is not (C10)."""
        try:
            looked = self._compressor.look(at=None, window=None, system=None, tools=None)
        except (CompactionNeeded, ContextWindowExceeded) as error:
            return f"{self.id}: {error.message}"
        return f"{self.id}: {looked.note}" if looked.crowded else ""

    def _shown_context(self, ref: RunRef, lease: Lease, *, system: str, tools: tuple[JSON, ...]) -> Context:
        if lease.due():
            renew_lease(self._runtime, ref)
        return Context.of(self._compressor.show(ref, system=system, tools=tools))
