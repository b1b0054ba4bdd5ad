"""What reading a transcript gives: its messages, its runs, and every line that was not taken (issue 2, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from ....domain.catalogue import SkippedLine, Usage
from ....domain.message import JSON, Form, Trust

Format: TypeAlias = Literal[
    "pi",
    "claude-code",
    "codex",
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "tau-bench",
    "swe-agent",
    "openhands",
]
"""The transcript formats that are recognised; the mapping tables stand in docs/reference/transcripts.md."""

FORMATS: tuple[Format, ...] = get_args(Format)

Ending: TypeAlias = Literal["", "aborted", "error"]
"""What a message says about how its turn went: an answer came, the user stopped it, the provider failed."""

Progress: TypeAlias = Callable[[int, int, int], None]
"""Called now and then with lines done, bytes done and bytes in all; what it raises goes on up."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one reading, in bytes and levels; each refusal names the one it met."""

    file_bytes_max: int = 512_000_000
    """A file is held in memory while it is read."""
    message_bytes_max: int = 64_000_000
    """A longer line is skipped, a longer JSON document refused; equals the book's limit of one message."""
    lines_max: int = 1_000_000
    """Each line costs some hundred bytes even when it is only reported."""
    depth_max: int = 200
    """Levels of JSON; what nests deeper cannot be walked safely by everything that reads it later."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a JSONL file or one element of a JSON document: its number from 1, its value or why it has none."""

    number: int
    value: JSON = field(default=None, repr=False)
    size: int = 0
    problem: str | None = None
    about: JSON = field(default=None, repr=False)
    """What a wrapper says about an element beside it: ``{"usage", "timestamp"}`` of a logged response, and ``form``
    where the wrapper leaves no doubt of it."""


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message of the source, verbatim in ``source`` (M1).

    ``id`` is the row's own id or made from its line number, so that a grown file gives the same ids again;
    ``lines`` are the numbers (from 1) of all lines that make it; ``run`` is None before the first user request.
    ``begins`` says that it is a user request, ``ending`` what it says about its turn (None: nothing).
    """

    id: str
    form: Form
    source: JSON = field(repr=False)
    trust: Trust
    lines: tuple[int, ...]
    run: str | None = None
    time: datetime | None = None
    usage: Usage | None = None
    begins: bool = False
    ending: Ending | None = None
    redacted: int = 0

    @property
    def line(self) -> int:
        """The first of its lines."""
        return self.lines[0]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One user request and all that follows until the next; ``reason`` (aborted, error) stands on a failed one."""

    id: str
    outcome: Literal["succeeded", "failed"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What one format made of the rows; runs are derived afterwards, in the same way for all formats."""

    session: str | None
    messages: tuple[ImportedMessage, ...]
    skipped: tuple[SkippedLine, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript as it can be recorded.

    ``session`` is what the file itself calls its conversation; where it does not say, it is made from the
    messages up to the first request, so that the file gives the same one when it has grown. ``lines`` counts the
    lines of a JSONL file (blank ones too) or the elements of a JSON document; every one of them is in exactly
    one message or in ``skipped``. ``digest`` is the SHA-256 of the bytes, in hex.
    """

    format: Format
    session: str
    messages: tuple[ImportedMessage, ...]
    runs: tuple[ImportedRun, ...]
    skipped: tuple[SkippedLine, ...]
    lines: int
    digest: str
