"""Divides imported messages into runs, and keeps of a grown transcript what is new.

A run is one user request and all that follows until the next. What stands before the first request belongs
to no run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from ....domain.errors import MessageError
from ....domain.message import JSON
from .facts import moment
from .values import ImportedMessage, ImportedRun, Transcript


def divide(
    messages: tuple[ImportedMessage, ...], *, open_run: bool = False
) -> tuple[tuple[ImportedMessage, ...], tuple[ImportedRun, ...]]:
    """The messages with their run, and the runs. ``open_run``: they go on in the middle of one, and begin one."""
    placed: list[ImportedMessage] = []
    runs: list[ImportedRun] = []
    for message in messages:
        if message.begins or (open_run and not runs):
            runs.append(ImportedRun(f"run-{message.id}", "succeeded"))
        placed.append(replace(message, run=runs[-1].id if runs else None))
        # The last word counts: a turn that failed, was tried again and answered did succeed.
        match message.ending if runs else None:
            case "aborted" | "error" as reason:
                runs[-1] = replace(runs[-1], outcome="failed", reason=reason)
            case "":
                runs[-1] = replace(runs[-1], outcome="succeeded", reason=None)
    return tuple(placed), tuple(runs)


def tail(transcript: Transcript, known: Collection[str] | Mapping[str, JSON]) -> Transcript:
    """The transcript without the messages that are recorded already; its first new rows may form a run of their own.

    ``known`` holds the ids of the recorded messages. Give a mapping from id to the recorded source for Claude
    Code files: there a message can go on in lines that were written later, and only the recorded source tells
    which lines are new; they become a message ``<id>+<lines before>``. It is asked only for messages of several
    lines or of the assistant, so it may look them up lazily. ``skipped``, ``lines`` and ``digest`` still
    describe the whole file. Whether other known messages are unchanged is the caller's to check (M3).
    Raises MessageError ``message_conflict`` when recorded lines are not the beginning of what the file has.
    """
    new = [found for message in transcript.messages for found in _new(message, known)]
    if len(new) == len(transcript.messages):
        return transcript
    messages, runs = divide(tuple(new), open_run=bool(new) and new[0].run is not None)
    return replace(transcript, messages=messages, runs=runs)


def _new(message: ImportedMessage, known: Collection[str] | Mapping[str, JSON]) -> Iterator[ImportedMessage]:
    if message.id not in known:
        yield message
        return
    if not isinstance(known, Mapping) or message.form != "claude-code" or message.ending is None:
        return
    rows, taken, name = message.source, 0, message.id
    while name in known:
        recorded = known[name]
        if not isinstance(recorded, list) or not recorded or rows[taken : taken + len(recorded)] != recorded:
            raise MessageError(
                f"message {name!r} (line {message.line}) is recorded with other content than the file has; "
                "import the file as a session of its own",
                code="message_conflict",
                message_id=name,
            )
        taken += len(recorded)
        name = f"{message.id}+{taken}"
    if rest := rows[taken:]:
        time = moment(rest[0].get("timestamp"))
        yield replace(message, id=name, source=rest, lines=message.lines[taken:], time=time)
