"""From bytes to numbered JSON values: lines or document elements, each with its value or with the reason it has none.

Nothing here knows a transcript format. Everything that a hostile or half-written file can hold ends as a row
with a problem, or as one InputError for the whole (issue 2, section 5).
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....domain.errors import InputError
from ....domain.message import JSON
from ...store.place import is_held
from .documents import elements, is_wrapper
from .values import Limits, Progress, Row

_MAGIC = {
    b"\x1f\x8b": "gzip-compressed; unpack it with 'gunzip' first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "bzip2-compressed; unpack it with 'bunzip2' first",
    b"\xfd7zXZ\x00": "xz-compressed; unpack it with 'unxz' first",
    b"\x28\xb5\x2f\xfd": "zstd-compressed; unpack it with 'unzstd' first",
    b"SQLite format 3\x00": "a SQLite database, not a transcript",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8 first",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8 first",
}
_BOM = b"\xef\xbb\xbf"
_PROGRESS_EVERY = 200
_DOCUMENT_START = (b"{", b"[")


class _Refused(ValueError):
    """A JSON value that Python would take and JSON does not know, or that could not be given back exactly."""


def _constant(name: str) -> Any:
    raise _Refused(f"not JSON: {name} is no JSON value")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Refused("a number too large to be kept exactly")
    return value


# Duplicate keys: the last one wins, as in Python's own reader, which is what a person compares with.
_DECODER = json.JSONDecoder(parse_constant=_constant, parse_float=_float)


def read_bytes(path: Path, limits: Limits) -> bytes:
    """The bytes of a regular file. Raises InputError ``transcript_unreadable`` or ``transcript_too_large``."""
    if is_held(path):
        raise _unreadable(path, "it is the database of an open book")
    try:
        # O_NONBLOCK: opening a FIFO that nobody writes to must not hang before we can see what it is.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from error
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise _unreadable(path, "it is a folder")
        if not stat.S_ISREG(found.st_mode):
            raise _unreadable(path, "it is no regular file; give '-' to read from standard input")
        if found.st_size > limits.file_bytes_max:
            raise too_large(found.st_size, limits.file_bytes_max)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # One byte more than allowed: the file may grow while it is read.
            return file.read(limits.file_bytes_max + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def require_readable(path: Path) -> None:
    """Refuses what ``read`` would refuse at once, before anything is made for it."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _unreadable(path, "it is no regular file; give '-' to read from standard input")
        path.open("rb").close()
    except (OSError, ValueError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from error


def _unreadable(path: Path, why: str) -> InputError:
    # ascii(): a path may hold lone surrogates or control characters and is shown on a terminal.
    return InputError(
        f"the transcript {str(path)!a} cannot be read: {why}; name a readable file",
        code="transcript_unreadable",
        path=str(path),
    )


def too_large(size: int, most: int) -> InputError:
    """The refusal of a transcript that would not be held in memory."""
    return InputError(
        f"the transcript has more than {most:,} bytes ({size:,}); split it into smaller files",
        code="transcript_too_large",
        bytes=size,
        bytes_max=most,
    )


def _too_many(count: int, limits: Limits) -> InputError:
    return InputError(
        f"the transcript has more than {limits.lines_max:,} lines ({count:,}); split it into smaller files",
        code="transcript_too_large",
        lines=count,
        lines_max=limits.lines_max,
    )


def rows(data: bytes, limits: Limits, progress: Progress | None = None) -> list[Row]:
    """All lines of a JSONL file, or all elements of a JSON document.

    Raises InputError ``bad_transcript`` or ``transcript_too_large``.
    """
    if not data.strip():
        raise InputError("the transcript is empty; name a file with messages", code="bad_transcript")
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise InputError(f"the transcript is {what}", code="bad_transcript")
    text = data[len(_BOM) :] if data.startswith(_BOM) else data
    document = _document(text, limits)
    if document is None:
        if (count := text.count(b"\n") + (not text.endswith(b"\n"))) > limits.lines_max:
            raise _too_many(count, limits)
        return list(_lines(text, limits, progress))
    found = elements(document)
    if len(found) > limits.lines_max:
        raise _too_many(len(found), limits)
    if progress is not None:
        progress(len(found), len(data), len(data))
    return found


def _lines(data: bytes, limits: Limits, progress: Progress | None) -> Iterator[Row]:
    number, start, size = 0, 0, len(data)
    while start < size:
        stop = data.find(b"\n", start)
        last = stop < 0
        stop = size if last else stop
        number += 1
        yield _line(number, data, start, stop, limits, open_end=last)
        start = stop + 1
        if progress is not None and (number % _PROGRESS_EVERY == 0 or start >= size):
            progress(number, min(start, size), size)


def _line(number: int, data: bytes, start: int, stop: int, limits: Limits, *, open_end: bool) -> Row:
    size = stop - start
    if size > limits.message_bytes_max:
        return Row(number, size=size, problem=f"too large: {size:,} bytes, at most {limits.message_bytes_max:,}")
    line = data[start:stop]
    if not line.strip():
        return Row(number, size=size, problem="blank line")
    value, problem = parse(line, limits)
    if problem is not None and problem.startswith("not JSON") and open_end:
        problem = "not complete JSON, and the file ends without a line end: perhaps it is still being written"
    return Row(number, value, size, problem)


def parse(line: bytes, limits: Limits) -> tuple[JSON, str | None]:
    """The JSON value of some bytes, or the reason why there is none."""
    try:
        value = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: byte {error.start + 1} of the line"
    except json.JSONDecodeError as error:
        return None, f"not JSON: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        return None, f"nested deeper than {limits.depth_max} levels"
    except _Refused as error:
        return None, str(error)
    except ValueError:
        return None, "a number with too many digits"  # Python's own bound on the digits of an integer
    if deeper_than(value, limits.depth_max):
        return None, f"nested deeper than {limits.depth_max} levels"
    return value, None


def deeper_than(value: JSON, levels: int) -> bool:
    """Whether lists and objects nest deeper than ``levels``; walks level by level, without recursion."""
    level: list[Any] = [value]
    for _ in range(levels + 1):
        containers = [item for item in level if isinstance(item, (dict, list))]
        if not containers:
            return False
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return True


def _document(data: bytes, limits: Limits) -> JSON:
    """The value when the bytes are *one* JSON document (spread over lines, or a list, or with a message list)."""
    body = data.strip()
    if not body.startswith(_DOCUMENT_START):
        return None
    first, _, rest = body.partition(b"\n")
    single = not rest
    if not single and len(first) <= limits.message_bytes_max and parse(first.strip(), limits)[1] is None:
        return None  # the first line is complete by itself and more follow: JSONL
    if len(body) > limits.message_bytes_max:
        if single or _pretty(first):
            raise too_large(len(body), limits.message_bytes_max)
        return None
    value, problem = parse(body, limits)
    if problem is not None:
        if _pretty(first) and not _has_rows(rest, limits):
            raise InputError(
                f"the transcript is a JSON document that cannot be read ({problem}); export it again",
                code="bad_transcript",
            )
        return None
    return value if not single or is_wrapper(value) or isinstance(value, list) else None


def _pretty(first: bytes) -> bool:
    """Whether a first line only opens a document: then no later line can be a row of its own."""
    return first.strip() in _DOCUMENT_START


def _has_rows(rest: bytes, limits: Limits) -> bool:
    """Whether at least two later lines are whole objects: a JSONL file whose first line is damaged.

    Two, because the last line of a cut list of objects is one, the others end in a comma.
    """
    found = 0
    for line in rest.split(b"\n"):
        if line.startswith(b"{") and isinstance(parse(line, limits)[0], dict):
            found += 1
            if found == 2:
                return True
    return False
