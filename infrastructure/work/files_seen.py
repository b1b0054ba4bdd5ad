"""The workspace files that a run's evidence rests on, as they are on disk: digests, and bounded snapshots (D14).

Nothing is followed and nothing outside the workspace is read: no link, no special file, nothing of minutebook's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from ...domain.evidence import FileOnDisk, FileSeen, scrub
from ...domain.evidence.values import FILE_BYTES_MAX, SNAPSHOT_CHARS_MAX
from ...domain.redaction import Redact
from .safe_file import Absent, Bytes, Refused, look_at, open_folder
from .workspace import FOLDER


def files_on_disk(
    root: Path, seen: Iterable[FileSeen], redact: Redact, rested_on: Collection[str] = ()
) -> tuple[FileOnDisk, ...]:
    """Each file once, in the order of the messages; a snapshot only of those that a claim rests on."""
    names = dict.fromkeys(one.path for one in seen)
    return tuple(file_on_disk(root, name, redact, snapshot=name in rested_on) for name in names)


def file_on_disk(root: Path, path: str, redact: Redact, *, snapshot: bool = False) -> FileOnDisk:
    """One file as it is now; what cannot or may not be read says why."""
    parts = _inside(root, path)
    if parts is None:
        return FileOnDisk(path, None, None, "outside the workspace")
    look = _look(root, parts)
    match look:
        case Bytes():
            text = _snapshot(look.data, redact) if snapshot else None
            return FileOnDisk(path, look.digest, len(look.data), None, text)
        case Absent():
            return FileOnDisk(path, None, None, "not there")
        case Refused():
            return FileOnDisk(path, None, None, "not a plain file that may be read")


def _inside(root: Path, path: str) -> tuple[str, ...] | None:
    """The way from the root to the file by its words alone; None: it leads elsewhere, or to minutebook's own."""
    if "\0" in path or path.startswith("~"):
        return None
    pure = PurePosixPath(path)
    if pure.is_absolute():
        try:
            pure = pure.relative_to(root)
        except ValueError:
            return None
    parts = tuple(part for part in pure.parts if part != ".")
    return None if not parts or ".." in parts or parts[0] == FOLDER else parts


def _look(root: Path, parts: tuple[str, ...]) -> Bytes | Absent | Refused:
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return Absent(folder=False)
    try:
        folder = open_folder(top, parts[:-1], create=False)
    finally:
        os.close(top)
    if not isinstance(folder, int):
        return folder
    try:
        return look_at(folder, parts[-1], FILE_BYTES_MAX)
    except (OSError, ValueError):
        return Refused("memory_unreadable", "")
    finally:
        os.close(folder)


def _snapshot(data: bytes, redact: Redact) -> str | None:
    """The beginning of a text file; None for what is no text, or holds anything that reads like a secret."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    # All that is looked through is a bound too: what stands behind it cannot be vouched for.
    head = text[: 4 * SNAPSHOT_CHARS_MAX]
    cleaned, count = scrub(head, redact)
    return None if count or "\0" in head else cleaned[:SNAPSHOT_CHARS_MAX]
