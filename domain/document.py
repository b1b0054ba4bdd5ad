"""The memory document and its canonical bytes: what MEMORY.md holds, and what is wrong with a file (D1, D8).

Canonical: UTF-8 without BOM, LF, NFC, single-line entries without outer space, joined by ``\\n§\\n``, one
final newline; zero bytes when there are no entries.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .checks.lines import SEPARATOR, find_controls, find_line_breaks, find_separator, structure, trim
from .checks.size import measure
from .errors import InputError
from .limits import MemoryLimits

DELIMITER = f"\n{SEPARATOR}\n"
_SEPARATOR_BYTES = SEPARATOR.encode()
_BOM = b"\xef\xbb\xbf"
_PROBLEMS_MAX = 100
"""A person mends a file with so many faults in one go; the rest is found at the next try."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a file from being memory: the line (from 1), a stable code and what to do.

    ``final``: no person can let it pass by its code, though another problem of that code could be.
    """

    line: int
    code: str
    message: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as read: its entries with the line of each, real problems, and harmless differences by name."""

    entries: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()
    fixes: tuple[str, ...] = ()

    @property
    def canonical(self) -> bool:
        """True when the bytes are exactly what ``render`` would write."""
        return not self.problems and not self.fixes


def canonical_text(text: str) -> str:
    """The text as an entry would keep it: NFC, no space or line end around it."""
    previous = None
    while text != previous:
        # NFC can turn a character into a space or a line end (U+2000 becomes U+2002), so go on until it rests.
        previous = text
        text = trim(unicodedata.normalize("NFC", text).strip("\r\n"))
    return text


@lru_cache(maxsize=2_000)
def is_canonical(entry: str) -> bool:
    """True when the text can be a line of the document exactly as it is."""
    return bool(entry) and canonical_text(entry) == entry and entry[0] != "\ufeff" and not structure(entry)


def render(entries: Sequence[str]) -> bytes:
    """The canonical bytes of a document (D1). Raises InputError ``bad_entry`` for a text that is no entry."""
    for number, entry in enumerate(entries, 1):
        if not is_canonical(entry):
            raise InputError(
                f"entry {number} cannot stand in the memory file: it must be one line of NFC text without outer "
                "space or control characters",
                code="bad_entry",
                entry=number,
            )
    return (DELIMITER.join(entries) + "\n").encode() if entries else b""


def digest(data: bytes) -> str:
    """The identity of a document's bytes: SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def document_chars(entries: Sequence[str]) -> int:
    """Characters of the rendered document, delimiters and final newline included (D4)."""
    return sum(map(len, entries)) + len(DELIMITER) * (len(entries) - 1) + 1 if entries else 0


_LINES_OF_AN_ENTRY = 50
"""Lines for each entry that there may be, blank ones and separators included: what a person leaves is far below."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


def parse(data: bytes, limits: MemoryLimits | None = None) -> Parsed:
    """Reads a memory file; every difference from the canonical form is a named fix or a problem with its line.

    The meaning of the entries is not judged here (``checks.check_entry`` does). Splits on LF bytes only:
    ``splitlines`` would take VT, NEL and U+2028 for line ends too.
    """
    limits = limits or MemoryLimits()
    refused = refuse_whole(data, limits)
    if refused is not None:
        return Parsed(problems=(refused,))
    lines_max = limits.memory_entries_max * _LINES_OF_AN_ENTRY
    if (count := data.count(b"\n")) > lines_max:
        # Counted in the bytes: a megabyte of one-letter entries would cost a hundred megabytes to take apart (F22).
        message = f"{count:,} lines, and the file holds at most {limits.memory_entries_max:,} entries; remove some"
        return Parsed(problems=(Problem(1, "too_many_entries", message),))
    fixes: dict[str, None] = {}
    if data.startswith(_BOM):
        data = data.removeprefix(_BOM)
        fixes["bom"] = None
    if not data:
        return Parsed(fixes=tuple(fixes))
    lines, problems = _decode(data, fixes)
    blocks = _blocks(lines, fixes)
    return _entries(blocks, problems, fixes, limits, separated=len(blocks) > 1)


def refuse_whole(data: bytes, limits: MemoryLimits) -> Problem | None:
    """What keeps the bytes from being read at all: too many of them, or another encoding."""
    if len(data) > limits.memory_file_bytes_max:
        message = f"the file has {len(data):,} bytes, at most {limits.memory_file_bytes_max:,} are read"
        return Problem(1, "file_too_large", message)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Problem(1, "invalid_utf8", "the file is UTF-16; save it as UTF-8")
    return None


def decode(data: bytes) -> tuple[list[tuple[int, str]], list[Problem]]:
    """The lines of a file with their numbers, whatever their ends, and what is wrong with single ones."""
    lines, problems = _decode(data.removeprefix(_BOM), {})
    return [(line.number, line.text) for line in lines], problems


def _decode(data: bytes, fixes: dict[str, None]) -> tuple[list[_Line], list[Problem]]:
    raw = data.split(b"\n")
    if raw[-1]:
        fixes["final_newline"] = None
    else:
        raw.pop()
    lines: list[_Line] = []
    problems: list[Problem] = []
    for number, content in enumerate(raw, 1):
        if content.endswith(b"\r"):
            content = content.removesuffix(b"\r")
            fixes["crlf"] = None
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            text = content.decode(errors="replace")
            problems.append(Problem(number, "invalid_utf8", f"byte {error.start + 1} of the line is not UTF-8"))
        lines.append(_Line(number, text))
        problems.extend(_line_problems(number, text))
    return lines, problems[:_PROBLEMS_MAX]


def _line_problems(number: int, text: str) -> list[Problem]:
    if "\0" in text:
        return [Problem(number, "nul", "the line holds a NUL byte; remove it")]
    return [
        Problem(number, f.code, f"the line holds {f.message}") for f in find_line_breaks(text) + find_controls(text)
    ]


def _blocks(lines: list[_Line], fixes: dict[str, None]) -> list[list[_Line]]:
    """The lines between separators; a separator with space around it counts as one, and is named."""
    blocks: list[list[_Line]] = [[]]
    for line in lines:
        if trim(line.text) != SEPARATOR:
            blocks[-1].append(line)
            continue
        if line.text != SEPARATOR:
            fixes["separator_space"] = None
        blocks.append([])
    return blocks


def _entries(
    blocks: list[list[_Line]],
    problems: list[Problem],
    fixes: dict[str, None],
    limits: MemoryLimits,
    *,
    separated: bool,
) -> Parsed:
    entries: list[str] = []
    numbers: list[int] = []
    faulty = {problem.line for problem in problems}
    for block in blocks:
        filled = [line for line in block if trim(line.text)]
        if len(filled) < len(block):
            fixes["blank_lines"] = None
        if not filled:
            if separated:
                fixes["empty_entry"] = None
            continue
        if len(filled) > 1:
            problems.append(_several_lines(filled, separated=separated))
            continue
        entries.append(_entry_text(filled[0].text, fixes))
        numbers.append(filled[0].number)
        if filled[0].number not in faulty:
            problems.extend(_entry_problems(filled[0].number, entries[-1]))
    problems.extend(_size_problems(entries, numbers, limits))
    problems.sort(key=lambda problem: problem.line)
    return Parsed(tuple(entries), tuple(numbers), tuple(problems[:_PROBLEMS_MAX]), tuple(fixes))


def _entry_text(line: str, fixes: dict[str, None]) -> str:
    if trim(line) != line:
        fixes["outer_space"] = None
    if not unicodedata.is_normalized("NFC", line):
        fixes["not_nfc"] = None
    return canonical_text(line)


def _entry_problems(number: int, entry: str) -> list[Problem]:
    """What only the finished entry shows: it reads as a separator, or begins with a byte order mark."""
    if entry[:1] == "\ufeff":
        return [Problem(number, "hidden_character", "the entry begins with a byte order mark (U+FEFF); remove it")]
    return [Problem(number, finding.code, finding.message) for finding in find_separator(entry)]


def _several_lines(lines: list[_Line], *, separated: bool) -> Problem:
    first, last = lines[0].number, lines[-1].number
    if not separated:
        return Problem(
            first,
            "no_separators",
            f"lines {first} to {last} are {len(lines)} lines without a separator, as in plain Markdown notes; an entry "
            f"is one line, and a line holding only {SEPARATOR} stands between two entries. Put one between the lines, "
            "or let 'minutebook memory import FILE --preview' show the entries that would result from it as notes",
        )
    return Problem(
        first,
        "multi_line_entry",
        f"lines {first} to {last} stand between two separators; an entry is one line: join them, or put a line "
        f"holding only {SEPARATOR} between them; 'minutebook memory import FILE --preview' shows them joined",
    )


def _size_problems(entries: list[str], numbers: list[int], limits: MemoryLimits) -> list[Problem]:
    problems = [
        Problem(number, "entry_too_long", measure(entry, limits.entry_chars_max))
        for entry, number in zip(entries, numbers, strict=True)
        if len(entry) > limits.entry_chars_max
    ]
    if len(entries) > limits.memory_entries_max:
        problems.append(
            Problem(
                numbers[limits.memory_entries_max],
                "too_many_entries",
                f"{len(entries)} entries, at most {limits.memory_entries_max} are kept; remove some",
            )
        )
    size = document_chars(entries)
    if size > limits.memory_chars_max:
        problems.append(
            Problem(
                numbers[-1],
                "document_too_long",
                f"the document has {size:,} characters, at most {limits.memory_chars_max:,} are kept; shorten it",
            )
        )
    return problems
