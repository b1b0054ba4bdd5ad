"""Reads the transcripts of other agents: pi, Claude Code, OpenAI chat, Anthropic messages (issue 2).

``read`` takes a file or bytes and gives a ``Transcript``; ``tail`` keeps of it what is not recorded yet,
``pieces`` cuts messages that grew where the record ends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from ....domain.errors import InputError
from . import chat, claude_code, pi
from .recognise import recognise
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
    "tail",
]


_NESTED = ("messages", "traj", "history")
"""Keys under which data sets and evaluation logs keep one conversation each."""


def read(
    data: Path | bytes,
    format: str = "auto",
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Transcript:
    """The transcript in a file or in bytes; ``format`` is ``auto`` (told from the content) or one of ``FORMATS``.

    Every line is in a message or in ``skipped``. Raises InputError: ``transcript_unreadable`` (no regular,
    readable file), ``transcript_too_large``, ``bad_transcript`` (nothing in it is a message), ``bad_format``.
    """
    if format != "auto" and format not in FORMATS:
        raise InputError(
            f"unknown transcript format {format[:80]!a}; choose auto, {', '.join(FORMATS)}", code="bad_format"
        )
    limits = limits or Limits()
    if isinstance(data, Path):
        data = read_bytes(data, limits)
    if len(data) > limits.file_bytes_max:
        raise too_large(len(data), limits.file_bytes_max)
    found = rows(data, limits, progress)
    known: Format | None = recognise(found) if format == "auto" else next(name for name in FORMATS if name == format)
    draft = Draft(None, (), ()) if known is None else _draft(found, known, limits)
    if known is None or not draft.messages:
        raise _nothing(found, known)
    messages, runs = divide(draft.messages)
    return Transcript(
        format=known,
        session=draft.session or _named(known, messages),
        messages=messages,
        runs=runs,
        skipped=draft.skipped,
        lines=len(found),
        digest=hashlib.sha256(data).hexdigest(),
    )


def _named(format: Format, messages: Sequence[ImportedMessage]) -> str:
    """A session id for a file that names none: from how it begins, so that it is the same when the file has grown."""
    first = next((index for index, message in enumerate(messages) if message.begins), 0)
    # Of a message in several lines only the first: the others may come later.
    opening = [
        message.source[:1] if isinstance(message.source, list) else message.source for message in messages[: first + 1]
    ]
    return f"{format}-{hashlib.sha256(json.dumps(opening, sort_keys=True).encode()).hexdigest()[:12]}"


def _draft(found: Sequence[Row], format: Format, limits: Limits) -> Draft:
    match format:
        case "pi":
            return pi.read(found)
        case "claude-code":
            return claude_code.read(found, limits)
        case "openai-chat":
            return chat.read(found, "openai")
        case "anthropic-messages":
            return chat.read(found, "anthropic")
        case _:
            assert_never(format)


def _nothing(found: Sequence[Row], format: Format | None) -> InputError:
    first = next((f"; line {row.number} is {row.problem}" for row in found if row.problem is not None), "")
    if any(isinstance(row.value, dict) and isinstance(row.value.get(key), list) for row in found for key in _NESTED):
        first = "; it holds whole conversations: import each as a file of its own"
    what = " ".join(filter(None, (format, "message")))
    return InputError(
        f"none of the {len(found):,} lines of the transcript is a {what}{first}; recognised are {', '.join(FORMATS)}",
        code="bad_transcript",
        lines=len(found),
    )
