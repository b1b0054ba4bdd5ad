"""Reads the transcripts of other agents; the formats stand in docs/reference/transcripts.md (issues 2 and 3).

``read`` takes a file or bytes and gives a ``Transcript``, ``read_all`` one for each conversation of a file;
``tail`` keeps of it what is not recorded yet,
``pieces`` cuts messages that grew where the record ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from ....domain.catalogue import SkippedLine
from ....domain.errors import InputError
from . import chat, claude_code, codex, openhands, pi, responses
from .conversations import Conversation, split
from .recognise import count, recognise
from .rows import read_bytes, rows, too_large
from .runs import divide, pieces, tail
from .values import (
    FORMATS,
    Draft,
    Format,
    ImportedMessage,
    ImportedRun,
    Limits,
    Progress,
    Row,
    Transcript,
)

__all__ = [
    "FORMATS",
    "Format",
    "ImportedMessage",
    "ImportedRun",
    "Limits",
    "Progress",
    "Transcript",
    "pieces",
    "read",
    "read_all",
    "tail",
]


def read(
    data: Path | bytes,
    format: str = "auto",
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Transcript:
    """The transcript in a file or in bytes; ``format`` is ``auto`` (told from the content) or one of ``FORMATS``.

    Every line is in a message or in ``skipped``. Raises InputError: ``transcript_unreadable`` (no regular,
    readable file), ``transcript_too_large``, ``bad_transcript`` (nothing in it is a message), ``bad_format``,
    ``several_conversations`` (a list of trajectories, say: ``read_all`` reads it).
    """
    found = read_all(data, format, limits=limits, progress=progress)
    if len(found) > 1:
        raise InputError(
            f"{data.name if isinstance(data, Path) else 'the file'} holds {len(found):,} conversations and not one; "
            "import it without naming a session, or in Python with import_transcripts",
            code="several_conversations",
            conversations=len(found),
        )
    return found[0]


def read_all(
    data: Path | bytes,
    format: str = "auto",
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> tuple[Transcript, ...]:
    """The transcripts in a file, at least one: one for each conversation that it holds.

    Raises what ``read`` raises, but for ``several_conversations``. Each transcript counts the lines of its own
    conversation; ids of sessions are unique in the file and stay the same when it grows at its end.
    """
    if not isinstance(format, str) or (format != "auto" and format not in FORMATS):
        raise InputError(
            f"unknown transcript format {ascii(format)[:80]}; choose auto, {', '.join(FORMATS)}", code="bad_format"
        )
    limits = limits or Limits()
    name = data.name if isinstance(data, Path) else ""
    if isinstance(data, Path):
        data = read_bytes(data, limits)
    if len(data) > limits.file_bytes_max:
        raise too_large(len(data), limits.file_bytes_max)
    with _about(name):
        return _read(data, format, limits, progress)


def _read(data: bytes, format: str, limits: Limits, progress: Progress | None) -> tuple[Transcript, ...]:
    found = rows(data, limits, progress)
    digest = hashlib.sha256(data).hexdigest()
    named = None if format == "auto" else next(name for name in FORMATS if name == format)
    several, others = split(found, count)
    if not several:
        transcript = _transcript(Conversation(found), named, limits, digest)
        if transcript is None:
            raise _nothing(found, named or recognise(found))
        return (transcript,)
    read = [(conversation, _transcript(conversation, named, limits, digest)) for conversation in several]
    reasons = [(row.number, row.problem or "no conversation") for row in others]
    reasons += [(conversation.element, "no message in it") for conversation, one in read if one is None]
    told = [transcript for _, transcript in read if transcript is not None]
    if not told:
        raise _nothing(found, named)
    return _distinct([_reporting(told[0], sorted(reasons)), *told[1:]])


@contextmanager
def _about(name: str) -> Iterator[None]:
    """What is wrong with a file is told with its name: of a folder it may be any."""
    try:
        yield
    except InputError as error:
        if not name:
            raise
        raise InputError(f"{name}: {error.message}", code=error.code, **error.details) from error


def _transcript(conversation: Conversation, named: Format | None, limits: Limits, digest: str) -> Transcript | None:
    """What one conversation gives; None when nothing in it is a message."""
    found = conversation.rows
    known = named or conversation.format or recognise(found)
    draft = None if known is None else _draft(found, known, limits)
    if known is None or draft is None or not draft.messages:
        return None
    messages, runs = divide(draft.messages)
    return Transcript(
        format=known,
        session=draft.session or _named("-".join(filter(None, (known, conversation.name))), messages),
        messages=messages,
        runs=runs,
        skipped=draft.skipped,
        lines=len(found),
        digest=digest,
    )


def _reporting(first: Transcript, reasons: Sequence[tuple[int, str]]) -> Transcript:
    """The first conversation of a file reports the elements that are none: the file has no lines beside them."""
    told = tuple(
        SkippedLine(line=first.lines + index, reason=f"element {number} of the file: {reason}")
        for index, (number, reason) in enumerate(reasons, 1)
    )
    return replace(first, skipped=first.skipped + told, lines=first.lines + len(told))


def _distinct(transcripts: Sequence[Transcript]) -> tuple[Transcript, ...]:
    """Conversations that begin alike and are called alike become sessions of their own, numbered from 2."""
    taken: dict[str, int] = {}
    told: list[Transcript] = []
    for transcript in transcripts:
        session = transcript.session
        while session in taken:
            taken[transcript.session] += 1
            session = f"{transcript.session}-{taken[transcript.session]}"
        taken[session] = 1
        told.append(transcript if session == transcript.session else replace(transcript, session=session))
    return tuple(told)


def _named(prefix: str, messages: Sequence[ImportedMessage]) -> str:
    """A session id for a file that names none: from how it begins, so that it is the same when the file has grown."""
    first = next((index for index, message in enumerate(messages) if message.begins), 0)
    # Of a message in several lines only the first: the others may come later.
    opening = [
        message.source[:1] if isinstance(message.source, list) else message.source for message in messages[: first + 1]
    ]
    return f"{prefix}-{hashlib.sha256(json.dumps(opening, sort_keys=True).encode()).hexdigest()[:12]}"


def _draft(found: Sequence[Row], format: Format, limits: Limits) -> Draft:
    match format:
        case "pi":
            return pi.read(found)
        case "claude-code":
            return claude_code.read(found, limits)
        case "codex":
            return codex.read(found)
        case "openai-chat" | "tau-bench":
            return chat.read(found, "openai")
        case "openai-responses":
            return responses.read(found)
        case "swe-agent":
            return chat.read(found, "openai", told_by_program=True)
        case "openhands":
            return openhands.read(found)
        case "anthropic-messages":
            return chat.read(found, "anthropic")
        case _:
            assert_never(format)


def _nothing(found: Sequence[Row], format: Format | None) -> InputError:
    first = next((f"; line {row.number} is {row.problem}" for row in found if row.problem is not None), "")
    what = " ".join(filter(None, (format, "message")))
    if len(found) == 1:
        said = f"the one line of the transcript is no {what}"
    else:
        said = f"none of the {len(found):,} lines of the transcript is a {what}"
    return InputError(
        f"{said}{first}; recognised are {', '.join(FORMATS)}",
        code="bad_transcript",
        lines=len(found),
    )
