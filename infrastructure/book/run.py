"""One run of an agent in a session: what it says, what it sees, what it wants remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from ...domain.catalogue import Usage
from ...domain.errors import MinutebookError, SessionError
from ...domain.message import JSON, TRUST_ORDER, Trust, lowest_trust
from ...domain.usage import usage_of
from ..store.forking import ForkLock
from ..work.conversation import RunRef, end_run, interrupt
from ..work.leases import Lease
from ..work.proposals import propose
from ..work.recalling import recall_for_model
from ..work.recording import Entry, record
from ..work.runtime import new_id
from ..work.sources import from_caller, preamble_parts
from .answers import Answer
from .context import Context

if TYPE_CHECKING:
    from .session import Session


class Run:
    """An open run. As a context manager it succeeds at the end, and an exception makes it fail and goes on up."""

    def __init__(self, session: Session, ref: RunRef) -> None:
        self._session = session
        self._runtime = session._runtime
        self._ref = ref
        self._lease = Lease(self._runtime.settings.lease_seconds)
        self._usage = Usage()
        self._proposed: set[str] = set()
        self._proposing = ForkLock()
        self._open = True
        session._book._runs.add(self)

    @property
    def id(self) -> str:
        return self._ref.run

    @property
    def session(self) -> Session:
        return self._session

    @property
    def open(self) -> bool:
        """True until the run has ended in this process."""
        return self._open

    @property
    def usage(self) -> Usage:
        """Tokens of the caller's own model calls; compressor and curator are accounted apart (D10)."""
        return self._usage

    @overload
    def append(self, message: Mapping[str, Any], id: str | None = None, *, usage: Any = None) -> int: ...

    @overload
    def append(
        self, message: list[Any] | tuple[Any, ...], id: str | Sequence[str] | None = None, *, usage: Any = None
    ) -> list[int]: ...

    @overload
    def append(self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None) -> Any: ...

    def append(self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None) -> int | list[int]:
        """Records a message, or a list of them (all or none), and returns the position or positions (M3).

        ``id`` makes the append idempotent: the same id again returns the same position. For a list give one id
        a message, or one id from which ``id-0``, ``id-1``... are made. ``usage`` is what the provider reported for
        this call: ``{"input_tokens": ..., "output_tokens": ...}`` (M5).
        Raises SessionError ``run_closed``, MessageError ``bad_message`` or ``message_conflict``.
        """
        self._require_open()
        single = not isinstance(message, (list, tuple))
        messages = [message] if single else list(message)
        if not messages:
            return []
        reported, settings = usage_of(usage), self._runtime.settings
        entries = [
            Entry(
                name,
                source := from_caller(
                    item,
                    bytes_max=settings.message_bytes_max,
                    counter=self._runtime.counter,
                    redact=self._runtime.redact if settings.redact_messages else None,
                ),
                actor="user"
                if source.view.role == "user"
                else "model"
                if source.view.role == "assistant"
                else "caller",
                usage=reported if place == len(messages) - 1 else None,
            )
            for place, (name, item) in enumerate(zip(message_ids(id, len(messages), single), messages, strict=True))
        ]
        positions = record(
            self._runtime, self._session.id, entries, run=self._ref, lease=self._lease, named=id is not None
        )
        if reported is not None:
            self._usage = self._usage + reported
        return positions[0] if single else positions

    def context(self, system: str | None = None, tools: Sequence[JSON] | None = None) -> Context:
        """The next request: fits the window, compacted if it must be; its digest is recorded (C1, C11).

        ``system`` and ``tools`` are the caller's own prompt and tool schemas (OpenAI or Anthropic form): both
        are counted and seen; the memory block comes last in the system prompt.
        Raises ContextWindowExceeded, or CompactionFailed when a summary was needed and did not come; InputError
        ``bad_system``, ``bad_tools``.
        """
        self._require_open()
        said, schemas = preamble_parts(system, tools)
        return self._session._shown_context(self._ref, self._lease, system=said or "", tools=schemas or ())

    def memory(self, operation: JSON, source: Trust | None = None, *, call_id: str | None = None) -> Answer:
        """Answers the model's call of the ``memory`` tool; writes nothing but the candidate (D2).

        ``operation`` is the arguments, or the whole call as OpenAI, Anthropic or MCP give it: its id then makes the
        call idempotent, as ``call_id`` does. ``source`` names a lower trust than the model's own (``"tool"``); what
        stands word by word in a tool's output of this run has that trust by itself (D13).
        The answer has ``candidate``, ``status`` (``proposed``, ``flagged``, ``refused``), ``message`` and ``entries``.
        """
        self._require_open()
        with self._proposing:  # Calls that come at once are counted one after the other.
            answer = propose(
                self._runtime,
                self._session._book._publisher,
                self._ref,
                operation,
                actor="model",
                trust="model" if source is None else _no_higher(source),
                call_id=call_id,
                proposed=len(self._proposed),
            )
            if answer["candidate"]:
                self._proposed.add(answer["candidate"])
        return Answer(answer)

    def recall(self, arguments: JSON) -> Answer:
        """Answers the model's call of the ``recall`` tool: originals of this session, by place or by words (D17).

        It appends nothing. Recorded as a tool's result, the answer is known again and is no source of its own.

        The answer has ``status`` (``found``, ``refused``), ``note``, ``messages`` (``position``, ``id``, ``role``,
        ``trust``, ``offset``, ``characters``, ``text``) and ``next``, the arguments that go on, or None.
        """
        self._require_open()
        return Answer(recall_for_model(self._runtime, self._session.id, arguments))

    def succeed(self, usage: Any = None) -> None:
        """Ends the run well: its candidates are admitted in the same transaction (D3)."""
        self._end(None, usage)

    def fail(self, error: BaseException | str) -> None:
        """Ends the run badly: its candidates are withdrawn."""
        self._end(RuntimeError(error) if isinstance(error, str) else error, None)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            return
        try:
            self._end(error, None)
        except MinutebookError:
            # When the body has raised, its exception is the one to be seen.
            if error is None:
                raise

    def _ended(self) -> None:
        self._open = False
        self._session._book._runs.discard(self)

    def _end(self, error: BaseException | None, usage: Any) -> None:
        self._require_open()
        reported = self._usage + (usage_of(usage) or Usage())
        try:
            end_run(self._runtime, self._ref, error=error, usage=reported)
        except SessionError:
            self._ended()  # Somebody else ended it: there is nothing left to end.
            raise
        # Otherwise, when the log could not be written, the run is still open and can be ended again.
        self._usage = reported
        self._ended()
        if error is None:
            self._session._book._after_run(len(self._proposed))

    def _interrupt(self) -> None:
        self._open = False
        interrupt(self._runtime, self._ref)

    def _require_open(self) -> None:
        if not self._open:
            raise SessionError(f"run {self.id!r} has ended; start a new run", code="run_closed", run=self.id)


def _no_higher(source: Trust) -> Trust:
    """What a model proposes went through the model: nobody's name lifts it above that (D13)."""
    return lowest_trust("model", source) if source in TRUST_ORDER else source


def message_ids(given: str | Sequence[str] | None, count: int, single: bool) -> list[str]:
    """One id a message, out of what the caller gave."""
    from ...domain.errors import MessageError
    from ...domain.identifiers import check_identifier

    if given is None:
        return [new_id("m") for _ in range(count)]
    if not isinstance(given, (str, list, tuple)):
        raise MessageError(
            f"the id of a message is text, or a list of texts for several, not {type(given).__name__}",
            code="bad_message",
        )
    ids = [given] if isinstance(given, str) and single else given
    if isinstance(ids, str):
        ids = [f"{ids}-{place}" for place in range(count)]
    if len(ids) != count:
        raise MessageError(f"{count} messages need {count} ids, and {len(ids)} were given", code="bad_message")
    return [check_identifier(name) for name in ids]
