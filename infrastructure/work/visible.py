"""What a session shows, as values: references of the context projection joined with the events they name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ...domain.catalogue import (
    CandidateAdmitted,
    CandidateApproved,
    CandidateDeclined,
    CandidateProposed,
    CandidateQuarantined,
    CandidateRefused,
    CandidateSetAside,
    CandidateWithdrawn,
    CompactionCommitted,
    CompactionFailedEvent,
    CompactionRejected,
    ContextShown,
    MemoryFrozen,
    MessageRecorded,
    PreambleRecorded,
    RunFailed,
    RunInterrupted,
    RunStarted,
    RunSucceeded,
    SessionClosed,
    SessionReopened,
    TranscriptImported,
    Usage,
)
from ...domain.context import Shown, SummaryShown, Visible
from ...domain.erasure import ERASED
from ...domain.errors import StoreError
from ...domain.events import LoggedEvent
from ...domain.forms import view
from ...domain.message import Message, Text, View
from ...domain.parts import parts_from_json
from ...domain.streams import compactions_stream
from ...projections.context import history, queries
from ...projections.context.epochs import Compacted, Ref
from .erasure.fence import mark
from .runtime import Runtime
from .sources import decode

TAIL_MAX = 500
"""Events that a look adds to the one before; after more it reads the projection again."""

_RUN_ENDS = frozenset({RunSucceeded.TOPIC, RunFailed.TOPIC, RunInterrupted.TOPIC})
_ELSEWHERE = frozenset(
    {
        ContextShown.TOPIC,
        PreambleRecorded.TOPIC,
        MemoryFrozen.TOPIC,
        SessionClosed.TOPIC,
        SessionReopened.TOPIC,
        TranscriptImported.TOPIC,
        CompactionRejected.TOPIC,
        CompactionFailedEvent.TOPIC,
        CandidateProposed.TOPIC,
        CandidateAdmitted.TOPIC,
        CandidateQuarantined.TOPIC,
        CandidateApproved.TOPIC,
        CandidateDeclined.TOPIC,
        CandidateWithdrawn.TOPIC,
        CandidateRefused.TOPIC,
        CandidateSetAside.TOPIC,
    }
)
"""Events of a session that change nothing of what is visible. One that is not named here is looked up."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A session at a position: what is visible, which run is open, and the fence for a decision about it."""

    visible: Visible
    position: int
    open_run: str | None
    suspended: bool
    live: str | None
    fence: int
    """Version of the stream of decisions, read before everything else: who decides on this look expects it."""
    mark: int
    """The last erasure at that moment: what comes of this look is refused when there was one since (E8)."""
    epoch: int
    """Position of the last decision; 0 when there was none."""
    reported: int | None
    """Tokens of this request in the provider's own count, where the caller gave its usage (M5)."""
    reported_at: int | None = None
    """The message that came with that usage: the prompt and the tools were those of the request before it."""


class Reader:
    """Reads one session's visible list; keeps the messages it has decoded, since most are shown again next time."""

    def __init__(self, runtime: Runtime, session: str) -> None:
        self._runtime = runtime
        self._session = session
        self._messages: dict[int, Message] = {}
        self._usage: dict[int, Usage] = {}
        self._last: Seen | None = None
        self._base = 0
        self._mark = 0

    def see(self, at: int | None = None, *, originals: bool = False) -> Seen:
        """What is visible now, or was at a position (C11); ``originals``: with the live summary opened up (C7)."""
        if at is None and not originals and self._last is not None:
            seen = self._extended(self._last)
            if seen is not None:
                self._last = seen
                return seen
        seen = self._full(at, originals)
        if at is None and not originals:
            self._last, self._base = seen, seen.position
        return seen

    def _extended(self, last: Seen) -> Seen | None:
        """The last look and what came since, when that changes nothing but the end; None: look anew.

        An agent's turn is an append and a look. Its messages need no projection to be shown last, so the turn does
        not pay for catching one up; ``_full`` does, every now and then and after each decision.
        """
        runtime, session = self._runtime, self._session
        with runtime.log.database.reading() as connection:
            if mark(runtime.log, connection) != self._mark:
                return None
            head = runtime.log.head(connection).position
            events = runtime.log.page(
                connection, after=last.position, session=session, workspace=runtime.workspace, limit=TAIL_MAX
            )
        if head - self._base > TAIL_MAX or len(events) == TAIL_MAX:
            return None
        shown: list[Shown] = []
        run = last.open_run
        for event in events:
            if event.topic == MessageRecorded.TOPIC:
                message = self._messages[event.position] = self._noted(event)
                shown.append(Shown(message, None, message.tokens))
            elif event.topic == RunStarted.TOPIC:
                run = event.run
            elif event.topic in _RUN_ENDS:
                run = None
            elif event.topic not in _ELSEWHERE:
                return None
        visible = (*last.visible, *shown) if shown else last.visible
        reported, at = self._reported(visible, last.epoch)
        return replace(last, visible=visible, position=head, open_run=run, reported=reported, reported_at=at)

    def _full(self, at: int | None, originals: bool) -> Seen:
        runtime, session = self._runtime, self._session
        if (erased := mark(runtime.log)) != self._mark:
            # What is remembered here may be gone (E8).
            self._messages, self._usage, self._mark = {}, {}, erased
        fence = runtime.log.version(compactions_stream(runtime.workspace, session))
        # The head is read first and asked for by name: what is appended meanwhile belongs to the next look.
        head = runtime.log.head().position
        position = head if at is None else min(at, head)
        with runtime.projections.reading("context") as (view, connection):
            refs = queries.visible(view, connection, runtime.workspace, session, position)
            epoch = queries.epoch(view, connection, runtime.workspace, session, position)
            row = queries.session_row(view, connection, runtime.workspace, session)
            run = history.open_run(view, connection, runtime.workspace, session, position)
            if originals:
                refs = _opened(refs, queries.compacted(view, connection, [ref[1] for ref in refs if ref[0] == "s"]))
        visible = self._join(refs)
        return Seen(
            visible,
            position,
            None if run is None else run.run,
            bool(row is not None and row["suspended"] and at is None),
            None if epoch is None else epoch.live,
            fence,
            self._mark,
            0 if epoch is None else epoch.position,
            *self._reported(visible, 0 if epoch is None else epoch.position),
        )

    def _reported(self, visible: Visible, epoch: int) -> tuple[int, int] | tuple[None, None]:
        """The last reported size of a request with the count of what came after it, and where it was reported.

        None since the last change of what is shown.
        """
        shown = [item for item in visible if isinstance(item, Shown)]
        for place in range(len(shown) - 1, -1, -1):
            position = shown[place].message.position
            if position < epoch:
                return None, None
            if position in self._usage:
                usage = self._usage[position]
                later = sum(item.tokens for item in shown[place + 1 :])
                return usage.input_tokens + usage.output_tokens + later, position
        return None, None

    def _join(self, refs: Iterable[Any]) -> Visible:
        listed = [tuple(ref) for ref in refs]
        wanted = {position for ref in listed for position in ref[1:]} - self._messages.keys()
        events = self._runtime.log.at(wanted)
        shown: list[Shown | SummaryShown] = []
        kept: dict[int, Message] = {}
        for ref in listed:
            match ref:
                case ("m", position):
                    message = kept[position] = self._message(position, events)
                    shown.append(Shown(message, None, message.tokens))
                case ("r", position, decided):
                    message = kept[position] = self._message(position, events)
                    shown.append(_reduced(message, self._event(decided, events)))
                case ("s", committed):
                    shown.append(_summary(self._event(committed, events)))
                case _:
                    raise StoreError(
                        f"the context projection holds a reference of unknown kind: {ref!r}; run "
                        "'minutebook projections rebuild context'",
                        code="projection_damaged",
                    )
        self._messages = kept
        return tuple(shown)

    def _message(self, position: int, events: dict[int, LoggedEvent]) -> Message:
        found = self._messages.get(position)
        if found is not None:
            return found
        return self._noted(self._event(position, events))

    def _noted(self, event: LoggedEvent) -> Message:
        body = event.body
        if isinstance(body, MessageRecorded) and body.usage is not None and event.actor != "import":
            self._usage[event.position] = body.usage
        return message_of(event)

    def _event(self, position: int, events: dict[int, LoggedEvent]) -> LoggedEvent:
        found = events.get(position) or self._runtime.log.at([position]).get(position)
        if found is None:
            raise StoreError(
                f"the context projection names event {position}, which the log does not have; run "
                "'minutebook verify', then 'minutebook projections rebuild context'",
                code="projection_damaged",
            )
        return found


def _opened(refs: list[Ref], done: Iterable[Compacted]) -> list[Ref]:
    """The references with every covered message in the place of its summary, and in order."""
    covers = {item.position: item.covers for item in done}
    opened: list[Ref] = []
    for ref in refs:
        opened.extend([("m", position) for position in covers.get(ref[1], ())] if ref[0] == "s" else [ref])
    return sorted(opened, key=lambda ref: ref[1])


def message_of(event: LoggedEvent) -> Message:
    """The neutral message of a MessageRecorded event; an erased one says so (E8)."""
    body = event.body
    if not isinstance(body, MessageRecorded):
        raise StoreError(
            f"event {event.position} is no message but a {event.topic}; run 'minutebook projections rebuild context'",
            code="projection_damaged",
        )
    if event.payload is None:
        said = View(body.role if body.role in ("system", "user", "assistant") else "user", (Text(ERASED),))  # type: ignore[arg-type]
        return Message(
            event.position, body.message, said, body.form, {"role": body.role, "content": ERASED}, 8, event.run,
            event.envelope.trust,
        )  # fmt: skip
    source = decode(event.payload, body.encoding)
    return Message(
        event.position, body.message, view(body.form, source), body.form, source, body.tokens, event.run,
        event.envelope.trust,
    )  # fmt: skip


def _reduced(message: Message, decided: LoggedEvent) -> Shown:
    content = decided.body.content.get("reductions", {}).get(message.id)
    facts = getattr(decided.body, "reductions", ())
    tokens = next((fact.tokens_after for fact in facts if fact.message == message.id), message.tokens)
    if content is None:
        return Shown(message, None, message.tokens)
    return Shown(message, parts_from_json(content["parts"]), tokens)


def _summary(committed: LoggedEvent) -> SummaryShown:
    if committed.topic != CompactionCommitted.TOPIC:
        raise StoreError(
            f"event {committed.position} is no compaction; run 'minutebook projections rebuild context'",
            code="projection_damaged",
        )
    # Plain: it covers thousands of messages, whose names are only passed on.
    facts = committed.plain
    content = {} if committed.payload is None else json.loads(committed.payload)
    return SummaryShown(
        facts["anchor"],
        facts["compaction"],
        str(content.get("summary", ERASED)),
        tuple(facts["covers"]),
        facts["summary_tokens"],
        facts.get("trust", "model"),
    )
