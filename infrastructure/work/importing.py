"""A transcript file becomes a session: whole runs at a time, and only what is not there yet (issue 2, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...domain.catalogue import (
    MessageRecorded,
    RunFailed,
    RunStarted,
    RunSucceeded,
    SkippedLine,
    TranscriptImported,
)
from ...domain.errors import MessageError, SessionError
from ...domain.events import Event
from ...domain.identifiers import check_identifier
from ...domain.message import JSON
from ...domain.redaction import Redact, redact_message
from ...domain.streams import runs_stream, session_stream
from .conversation import interrupt_if_dead, open_session, run_is_open
from .recording import Entry, message_event
from .runtime import Runtime
from .sources import decode, encode
from .transcripts import ImportedMessage, ImportedRun, Progress, Transcript, pieces, read, read_all, tail

BATCH_EVENTS = 500
"""Events of one append at least: whole runs, so that an import that is killed leaves no run open."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: how many messages and runs are new, where they stand, what was no message."""

    session: str
    format: str
    messages: int
    runs: int
    total: int
    lines: int
    first_position: int | None
    last_position: int | None
    skipped: tuple[SkippedLine, ...]


def import_transcript(
    runtime: Runtime,
    data: Path | bytes,
    *,
    format: str = "auto",
    session: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Records what a transcript holds and the log does not. Raises InputError ``bad_transcript``.

    The same file again changes nothing; a file that has grown adds its tail; one whose past was changed is
    refused with ``message_conflict``. Imported runs never feed memory by themselves (S3, D3). A file of several
    conversations is refused with ``several_conversations``: see ``import_transcripts``.
    """
    runtime.require_writing("an import")
    return _import(runtime, read(data, format=format, progress=progress), session)


def import_transcripts(
    runtime: Runtime,
    data: Path | bytes,
    *,
    format: str = "auto",
    session: str | None = None,
    progress: Progress | None = None,
) -> list[Imported]:
    """Records every conversation of a file as a session of its own, in their order; each as ``import_transcript``.

    ``session`` can name only one: InputError ``several_conversations`` for a file that holds more.
    """
    if session is not None:
        return [import_transcript(runtime, data, format=format, session=session, progress=progress)]
    runtime.require_writing("an import")
    return [_import(runtime, one, None) for one in read_all(data, format=format, progress=progress)]


def _import(runtime: Runtime, transcript: Transcript, session: str | None) -> Imported:
    if runtime.settings.redact_messages:
        # First of all: what was stored and what is compared with it are both the redacted text.
        transcript = replace(transcript, messages=tuple(_redacted(one, runtime.redact) for one in transcript.messages))
    session = session or transcript.session or f"import-{transcript.digest[:12]}"
    check_identifier(session)
    known = _known(runtime, session)
    transcript = pieces(transcript, _Recorded(runtime, known))
    _same_past(runtime, session, transcript, known)
    new = tail(transcript, known.keys()) if known else transcript
    if not new.messages:
        return _answer(session, transcript, new, [])
    open_session(runtime, session, origin="import", form=transcript.format)
    if interrupt_if_dead(runtime, session):
        raise run_is_open(session)
    positions = [position for batch in _batches(runtime, session, new) for position in batch]
    _record_import(runtime, session, transcript, new, positions)
    return _answer(session, transcript, new, positions)


def _answer(session: str, transcript: Transcript, new: Transcript, positions: list[int]) -> Imported:
    return Imported(
        session=session,
        format=transcript.format,
        messages=len(new.messages),
        runs=len(new.runs),
        total=len(transcript.messages),
        lines=transcript.lines,
        first_position=positions[0] if positions else None,
        last_position=positions[-1] if positions else None,
        skipped=transcript.skipped,
    )


def _known(runtime: Runtime, session: str) -> dict[str, int]:
    """Message ids that the session has, with their positions."""
    found: dict[str, int] = {}
    for event in runtime.log.read(topics=(MessageRecorded.TOPIC,), session=session, workspace=runtime.workspace):
        body = event.body
        assert isinstance(body, MessageRecorded)
        found[body.message] = event.position
    return found


class _Recorded(Mapping[str, JSON]):
    """The originals that a session holds, by message id, read when asked for."""

    def __init__(self, runtime: Runtime, known: dict[str, int]) -> None:
        self._log = runtime.log
        self._known = known

    def __getitem__(self, message: str) -> JSON:
        position = self._known[message]
        event = self._log.at([position])[position]
        body = event.body
        if event.payload is None or not isinstance(body, MessageRecorded):
            return None
        return decode(event.payload, body.encoding)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _same_past(runtime: Runtime, session: str, transcript: Transcript, known: dict[str, int]) -> None:
    again = [message for message in transcript.messages if message.id in known]
    recorded = runtime.log.at(known[message.id] for message in again)
    for message in again:
        event = recorded[known[message.id]]
        if not event.erased and event.payload != _entry(runtime, message).source.payload:
            raise MessageError(
                f"line {message.line} differs from what session {session!r} recorded under id {message.id!r}; "
                "import the file as another session with --session",
                code="message_conflict",
                line=message.line,
                id=message.id,
            )


def _entry(runtime: Runtime, message: ImportedMessage) -> Entry:
    source = encode(
        message.source,
        message.form,
        bytes_max=runtime.settings.message_bytes_max,
        trust=message.trust,
        counter=runtime.counter,
    )
    source = replace(source, redacted=message.redacted)
    return Entry(message.id, source, actor="import", line=message.line, usage=message.usage)


def _redacted(message: ImportedMessage, redact: Redact) -> ImportedMessage:
    source, count = redact_message(message.source, redact)
    return replace(message, source=source, redacted=count) if count else message


def _batches(runtime: Runtime, session: str, transcript: Transcript) -> Iterator[list[int]]:
    """Appends run after run and yields the positions of the messages."""
    stream = runs_stream(runtime.workspace, session)
    version = runtime.log.version(stream)
    waiting: list[Event] = []
    ahead = version
    for run, messages in _by_run(transcript):
        now = runtime.now()
        envelope = runtime.envelope
        if run is not None:
            ahead += 1
            waiting.append(
                RunStarted(envelope=envelope(stream, ahead, actor="import", session=session, run=run.id), imported=True)
            )
        waiting.extend(
            message_event(runtime, session, _entry(runtime, message), run.id if run else None, now)
            for message in messages
        )
        if run is not None:
            ahead += 1
            ended = envelope(stream, ahead, actor="import", session=session, run=run.id)
            waiting.append(
                RunSucceeded(envelope=ended)
                if run.outcome == "succeeded"
                else RunFailed(envelope=ended, error=run.reason or "failed")
            )
        if len(waiting) >= BATCH_EVENTS:
            yield _append(runtime, session, waiting)
            waiting = []
    if waiting:
        yield _append(runtime, session, waiting)


def _append(runtime: Runtime, session: str, events: list[Event]) -> list[int]:
    positions = runtime.log.append(events)
    return [position for position, event in zip(positions, events, strict=True) if isinstance(event, MessageRecorded)]


def _by_run(transcript: Transcript) -> Iterator[tuple[ImportedRun | None, list[ImportedMessage]]]:
    runs = {run.id: run for run in transcript.runs}
    group: list[ImportedMessage] = []
    for message in transcript.messages:
        if group and message.run != group[0].run:
            yield runs.get(group[0].run or ""), group
            group = []
        group.append(message)
    if group:
        yield runs.get(group[0].run or ""), group


def _record_import(
    runtime: Runtime, session: str, transcript: Transcript, new: Transcript, positions: list[int]
) -> None:
    stream = session_stream(runtime.workspace, session)
    version = runtime.log.version(stream)
    if not version:
        raise SessionError(f"session {session!r} vanished during the import; run it again", code="unknown_session")
    runtime.log.append(
        [
            TranscriptImported(
                envelope=runtime.envelope(stream, version + 1, actor="import", session=session),
                format=transcript.format,
                digest=transcript.digest,
                lines=transcript.lines,
                messages=len(new.messages),
                runs=len(new.runs),
                first_position=positions[0],
                last_position=positions[-1],
                skipped=transcript.skipped,
            )
        ]
    )


def answer(done: Imported) -> dict[str, object]:
    """What the command line prints of one import."""
    return {
        "session": done.session,
        "format": done.format,
        "messages": done.messages,
        "runs": done.runs,
        "first_position": done.first_position,
        "last_position": done.last_position,
        "skipped": [{"line": item.line, "reason": item.reason} for item in done.skipped],
        "total": done.total,
        "lines": done.lines,
    }
