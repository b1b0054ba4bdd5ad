"""Divides imported messages into runs, and keeps of a grown transcript what is new.

A run is one user request and all that follows until the next. What stands before the first request belongs
to no run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

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


def pieces(transcript: Transcript, recorded: Mapping[str, JSON]) -> Transcript:
    """The transcript with messages that grew after they were recorded cut where the record ends.

    In Claude Code files a message can go on in lines that were written after an import. What is recorded never
    changes, so the later lines become a message ``<id>+<lines before>``. ``recorded`` maps a message id to its
    recorded source; it is asked for answers of Claude Code only and may look them up lazily. Whether a recorded
    piece is unchanged is, as for every message, the caller's to check (M3).
    """
    found = tuple(piece for message in transcript.messages for piece in _cut(message, recorded))
    return transcript if len(found) == len(transcript.messages) else replace(transcript, messages=found)


def _cut(message: ImportedMessage, recorded: Mapping[str, JSON]) -> Iterator[ImportedMessage]:
    rest, taken = message, 0
    while message.form == "claude-code" and message.ending is not None and rest.id in recorded:
        source = recorded[rest.id]
        count = len(source) if isinstance(source, list) else 0
        if not 0 < count < len(rest.source):
            break
        taken += count
        yield replace(rest, source=rest.source[:count], lines=rest.lines[:count])
        rest = replace(
            rest,
            id=f"{message.id}+{taken}",
            source=rest.source[count:],
            lines=rest.lines[count:],
            time=moment(rest.source[count].get("timestamp")),
        )
    yield rest


def tail(transcript: Transcript, known: Collection[str] | Mapping[str, JSON]) -> Transcript:
    """The transcript without the messages that are recorded already; its first new rows may form a run of their own.

    ``known`` holds the ids of the recorded messages, or maps them to the recorded sources: then ``pieces`` is
    applied first. ``skipped``, ``lines`` and ``digest`` still describe the whole file.
    """
    if isinstance(known, Mapping):
        transcript = pieces(transcript, known)
    new = tuple(message for message in transcript.messages if message.id not in known)
    if len(new) == len(transcript.messages):
        return transcript
    messages, runs = divide(new, open_run=bool(new) and new[0].run is not None)
    return replace(transcript, messages=messages, runs=runs)
