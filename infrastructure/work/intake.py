"""Importing an old memory file: the bytes of a source, the preview, and the revision that comes of it (D12)."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...domain.curation import Intake
from ...domain.errors import InputError
from ..store.place import is_held
from .publisher import Publisher
from .remembering import require_judged
from .runtime import Runtime

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


def preview(runtime: Runtime, publisher: Publisher, source: str | Path | bytes, allow: Sequence[str]) -> dict[str, Any]:
    """What would be imported, what would be refused at which lines, and what would be left out; changes nothing."""
    require_judged(allow)
    data = read_source(source, runtime.settings.memory_file_bytes_max)
    intake = publisher.weigh(data, allow=allow)
    return _answer(intake) | {"revision": None, "changed": False, "file": publisher.state().state}


def import_notes(
    runtime: Runtime, publisher: Publisher, source: str | Path | bytes, allow: Sequence[str], skip: bool
) -> dict[str, Any]:
    """Makes a manual revision of an old memory file. Raises MemoryFault ``memory_invalid``, ``memory_drift``."""
    require_judged(allow)
    data = read_source(source, runtime.settings.memory_file_bytes_max)
    intake, done = publisher.import_notes(data, allow=allow, skip=skip)
    return _answer(intake) | {
        "revision": done.revision,
        "digest": done.digest,
        "changed": done.changed,
        "displaced": list(done.displaced),
    }


def read_source(source: str | Path | bytes, bytes_max: int) -> bytes:
    """The bytes of a file, of at most ``bytes_max``; never waits for a FIFO or device. Raises InputError."""
    if isinstance(source, bytes):
        if len(source) > bytes_max:
            raise _too_large("the text", len(source), bytes_max)
        return source
    name = str(source)
    if is_held(source):
        raise InputError(f"{name} is the database of an open book; name a file with notes", code="unreadable_notes")
    try:
        descriptor = os.open(source, _FLAGS)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name} cannot be opened: {why}; name a file with notes", code="unreadable_notes") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{name} is not a plain file; name a file with notes", code="unreadable_notes")
        if found.st_size > bytes_max:
            raise _too_large(name, found.st_size, bytes_max)
        parts: list[bytes] = []
        size = 0
        while size <= bytes_max and (part := os.read(descriptor, min(bytes_max + 1 - size, 1 << 20))):
            parts.append(part)
            size += len(part)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}; check it", code="unreadable_notes") from error
    finally:
        os.close(descriptor)
    if size > bytes_max:
        raise _too_large(name, size, bytes_max)
    return b"".join(parts)


def _too_large(name: str, size: int, most: int) -> InputError:
    return InputError(
        f"{name} has {size:,} bytes and at most {most:,} are read (memory_file_bytes_max); split it",
        code="notes_too_large",
    )


def _answer(intake: Intake) -> dict[str, Any]:
    return {
        "kind": intake.kind,
        "entries": [{"line": note.line, "text": note.text} for note in intake.notes],
        "refused": [{"line": p.line, "code": p.code, "message": p.message} for p in intake.refused],
        "left_out": [{"line": left.line, "reason": left.reason} for left in intake.left_out],
        "overrides": [finding.code for finding in intake.overrides],
        "total": len(intake.entries),
    }
