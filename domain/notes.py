"""Reading what somebody remembered elsewhere: multi-line ``§`` files and plain Markdown notes, as entries (D1, D12).

Every line comes out somewhere: in an entry, as a problem with its number, or named as left out. Nothing is judged
here; ``curation.take_in`` does that. The rules stand in docs/reference/memory-file-format.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .checks.lines import SEPARATOR, trim
from .document import Problem, canonical_text, decode, refuse_whole
from .limits import MemoryLimits
from .note_lines import NoteLine, classify, is_table_rule

_WRAPPED_CHARS = 50
"""A line of this length was broken by an editor, not by its author; a shorter one ends where it was meant to."""
_FRONT_MATTER_LINES = 60
_ENDS = (".", "!", "?", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Note:
    """An entry that would result, and the line where its text begins."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Left:
    """A line that comes to nothing, and why: title, heading, rule, separator, front_matter, empty, duplicate,
    known."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Notes:
    """A file as read. ``entries``: separated by lines of ``§``, or one line; ``markdown``: notes; ``none``: neither."""

    kind: Literal["entries", "markdown", "none"]
    entries: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Left, ...] = ()


@dataclass(slots=True)
class _Piece:
    """One item, row or paragraph on its way to become an entry, under the lead that stands above it."""

    line: int
    text: str
    lead: str = ""
    lead_line: int = 0
    listed: bool = False
    indent: int = 0
    last: int = 0
    children: list[tuple[int, str]] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)


def read_notes(data: bytes, limits: MemoryLimits | None = None) -> Notes:
    """The entries that would result from a file, whatever its form; bounded by ``memory_file_bytes_max``."""
    limits = limits or MemoryLimits()
    refused = refuse_whole(data, limits)
    if refused is not None:
        return Notes("none", problems=(refused,))
    raw, found = decode(data)
    if unsettled := _unsettled(raw):
        return Notes("none", problems=unsettled)
    faults: dict[int, list[Problem]] = {}
    for problem in found:
        faults.setdefault(problem.line, []).append(problem)
    lines = [classify(number, text) for number, text in raw]
    if all(line.shape == "blank" for line in lines):
        return Notes("none")
    separated = any(line.shape == "separator" for line in lines)
    if separated or sum(line.shape != "blank" for line in lines) == 1:
        return _separated(lines, faults, limits, found)
    reader = _Reader(faults, limits, titled=True)
    reader.take(reader.after_front_matter(lines))
    return _notes("markdown", [note for piece in reader.pieces for note in reader.entries([piece])], reader, found)


def _unsettled(lines: Sequence[tuple[int, str]]) -> tuple[Problem, ...]:
    """The marks that a version control leaves around the two sides of a merge, when all three are there in order."""
    marks: list[int] = []
    for number, text in lines:
        mark = "<=>"[len(marks) % 3] * 7
        if text == mark or (mark[0] != "=" and text.startswith(mark + " ")):
            marks.append(number)
    return tuple(
        Problem(
            number,
            "merge_conflict",
            "the mark of a merge that was never settled; keep one of its two sides and remove the marks",
        )
        for number in marks[: len(marks) // 3 * 3]
    )


def _separated(
    lines: Sequence[NoteLine], faults: dict[int, list[Problem]], limits: MemoryLimits, found: Sequence[Problem]
) -> Notes:
    whole = _Reader(faults, limits, titled=False)
    entries: list[Note] = []
    block: list[NoteLine] = []
    for line in [*lines, NoteLine(0, "separator")]:
        if line.shape != "separator":
            block.append(line)
            continue
        reader = _Reader(faults, limits, titled=False)
        reader.take(block)
        entries.extend(reader.entries(reader.pieces))
        whole.problems += reader.problems
        whole.left += reader.left
        block = []
    return _notes("entries", entries, whole, found)


def _notes(
    kind: Literal["entries", "markdown"], entries: Iterable[Note], reader: _Reader, found: Sequence[Problem]
) -> Notes:
    kept = []
    for note in entries:
        text = note.text
        if text.endswith(SEPARATOR) or text.startswith(SEPARATOR + "\t"):
            # A separator that somebody's tool wrote without its line end.
            text = trim(text.strip(SEPARATOR))
            reader.left.append(Left(note.line, "separator"))
        if text := canonical_text(text):
            kept.append(Note(note.line, text))
    # Also what is wrong with a line that became no piece: a heading, a rule, the fence of a block.
    problems = sorted({*reader.problems, *found}, key=lambda problem: problem.line)
    return Notes(kind, tuple(kept), tuple(problems), tuple(sorted(reader.left, key=lambda left: left.line)))


class _Reader:
    """Goes through lines once and makes pieces; one for a whole Markdown file, or one for each ``§`` block."""

    def __init__(self, faults: dict[int, list[Problem]], limits: MemoryLimits, *, titled: bool) -> None:
        self.pieces: list[_Piece] = []
        self.problems: list[Problem] = []
        self.left: list[Left] = []
        self._faults = faults
        self._limits = limits
        self._titled = titled
        self._heading: NoteLine | None = None
        self._is_title = False
        self._used = True
        self._lead: _Piece | None = None
        self._broken = True
        self._head: NoteLine | None = None
        self._head_used = True

    def after_front_matter(self, lines: Sequence[NoteLine]) -> Sequence[NoteLine]:
        if (mark := lines[0].text) in ("---", "+++"):
            for at, line in enumerate(lines[1:_FRONT_MATTER_LINES], 1):
                if line.text == mark:
                    self.left.append(Left(lines[0].number, "front_matter"))
                    return lines[at + 1 :]
        return lines

    def take(self, lines: Sequence[NoteLine]) -> None:
        at = 0
        while at < len(lines):
            if lines[at].shape == "fence":
                self._table(None)
                at = self._code(lines, at)
            else:
                following = lines[at + 1] if at + 1 < len(lines) else NoteLine(0, "blank")
                self._one(lines[at], following)
                at += 1
        self._table(None)
        self._under(None)

    def _one(self, line: NoteLine, following: NoteLine) -> None:
        if line.shape != "row":
            self._table(None)
        match line.shape:
            case "blank":
                self._broken = True
            case "heading":
                self._under(line)
            case "rule":
                self._rule(line)
            case "row":
                self._row(line, following)
            case "item":
                self._item(line)
            case _:
                self._text(line, following)

    # --- what stands above

    def _under(self, heading: NoteLine | None) -> None:
        if self._heading is not None and not self._used:
            self.left.append(Left(self._heading.number, "title" if self._is_title else "heading"))
        # The first heading of notes names the file, not what stands below it.
        first = self._titled and self._heading is None and not self.pieces
        self._is_title = first and heading is not None and heading.level == 1
        self._heading, self._used, self._lead, self._broken = heading, heading is None, None, True

    def _rule(self, line: NoteLine) -> None:
        last = self.pieces[-1] if self.pieces else None
        if (
            last is not None
            and last.line == last.last == line.number - 1
            and not last.listed
            and set(line.text) <= set("=-")
        ):
            # A heading in the style that underlines it.
            self.pieces.pop()
            if self._heading is not None:
                self._used = any(piece.line > self._heading.number for piece in self.pieces)
            level = 1 if line.text[0] == "=" else 2
            self._under(NoteLine(last.line, "heading", last.text.rstrip(":："), level))
            return
        self.left.append(Left(line.number, "rule"))
        self._broken, self._lead = True, None

    def _add(self, line: NoteLine, text: str, *, listed: bool = False) -> _Piece:
        lead, lead_line = "", 0
        if self._heading is not None and self._heading.text and not self._is_title:
            lead, self._used = self._heading.text, True
        if self._lead is not None and listed:
            lead = f"{lead}: {self._lead.text}" if lead else self._lead.text
            lead_line = self._lead.line
        piece = _Piece(line.number, text, lead, lead_line, listed, line.level, line.number)
        piece.faults += self._faults.get(line.number, ())
        if self._lead is not None and listed:
            piece.faults += self._lead.faults
        self.pieces.append(piece)
        self._broken = False
        return piece

    # --- what stands below

    def _row(self, line: NoteLine, following: NoteLine) -> None:
        if is_table_rule(line):
            return
        if is_table_rule(following):
            self._table(line)
            return
        names = ("",) * len(line.cells) if self._head is None else self._head.cells
        self._head_used = True
        cells = [f"{name}: {cell}" if name else cell for name, cell in zip(names, line.cells, strict=False) if cell] + [
            cell for cell in line.cells[len(names) :] if cell
        ]
        self._add(line, "; ".join(cells), listed=True)
        self._broken = True

    def _table(self, head: NoteLine | None) -> None:
        if self._head is not None and not self._head_used:
            self.left.append(Left(self._head.number, "heading"))
        self._head, self._head_used = head, head is None

    def _item(self, line: NoteLine) -> None:
        parent = self.pieces[-1] if self.pieces else None
        if parent is not None and parent.listed and parent.indent < line.level and self._lead_holds(parent):
            if line.text:
                parent.children.append((line.number, line.text))
            else:
                self.left.append(Left(line.number, "empty"))
            self._go_on(parent, line)
            return
        self._add(line, line.text, listed=True)

    def _lead_holds(self, parent: _Piece) -> bool:
        return self._heading is None or parent.line > self._heading.number

    def _text(self, line: NoteLine, following: NoteLine) -> None:
        last = self.pieces[-1] if self.pieces else None
        if last is not None and last.listed and (not self._broken or line.level > last.indent):
            self._append(last, line)
            return
        if last is not None and not last.listed and not self._broken and self._wrapped(last, line):
            last.text = f"{last.text} {line.text}"
            self._go_on(last, line)
            return
        self._lead = None
        if line.text.endswith((":", "：")) and following.shape == "item":
            self._lead = _Piece(line.number, line.text.rstrip(":："), faults=[*self._faults.get(line.number, ())])
            return
        self._add(line, line.text)

    def _wrapped(self, last: _Piece, line: NoteLine) -> bool:
        length = len(last.text) if last.line == last.last else _WRAPPED_CHARS
        return length >= _WRAPPED_CHARS or line.text[:1].islower()

    def _append(self, piece: _Piece, line: NoteLine) -> None:
        if piece.children:
            number, text = piece.children[-1]
            piece.children[-1] = (number, f"{text} {line.text}")
        else:
            piece.text = f"{piece.text} {line.text}" if piece.text else line.text
        self._go_on(piece, line)

    def _go_on(self, piece: _Piece, line: NoteLine) -> None:
        piece.faults += self._faults.get(line.number, ())
        piece.last = line.number
        self._broken = False

    def _code(self, lines: Sequence[NoteLine], at: int) -> int:
        """A fenced block: one line of code joins what stands above it, more cannot be a line of memory."""
        fence = lines[at].text[:3]
        end = next(
            (n for n in range(at + 1, len(lines)) if lines[n].shape == "fence" and lines[n].text.startswith(fence)),
            len(lines),  # never closed: the rest is code
        )
        inner = [line for line in lines[at + 1 : end] if line.shape != "blank"]
        last = self.pieces[-1] if self.pieces and self._lead_holds(self.pieces[-1]) else None
        if len(inner) == 1:
            code = inner[0].text or "".join(inner[0].cells)
            if last is None:
                self._add(inner[0], f"`{code}`")
            else:
                self._append(last, NoteLine(inner[0].number, "text", f"`{code}`"))
        elif inner:
            fault = Problem(
                lines[at].number,
                "code_block",
                f"a block of {len(inner)} lines of code; an entry is one line: keep the code in a file and name the "
                "file here",
            )
            if last is None:
                self.problems.append(fault)
            else:
                last.faults.append(fault)
        self._broken = True
        return end + 1

    # --- entries

    def entries(self, pieces: Sequence[_Piece]) -> list[Note]:
        """One entry out of these pieces when it is short enough, else one of each."""
        faults = [fault for piece in pieces for fault in piece.faults]
        if faults:
            self.problems += faults
            return []
        self.left += [Left(piece.line, "empty") for piece in pieces if not piece.text and not piece.children]
        pieces = [piece for piece in pieces if piece.text or piece.children]
        if not pieces:
            return []
        if len(joined := _joined(pieces)) <= self._limits.entry_chars_max:
            first = min(piece.lead_line or piece.line for piece in pieces) if len(pieces) > 1 else pieces[0].line
            return [Note(first, joined)]
        if len(pieces) > 1:
            return [note for piece in pieces for note in self.entries([piece])]
        (piece,) = pieces
        if not piece.children:
            return [Note(piece.line, joined)]
        return [Note(number, _led([piece.lead, piece.text], text)) for number, text in piece.children]


def _joined(pieces: Sequence[_Piece]) -> str:
    """``lead: one; two`` for what shares a lead, sentences one after the other."""
    parts: list[tuple[str, list[str], bool]] = []
    for piece in pieces:
        text = _led([piece.text], "; ".join(child for _, child in piece.children)) if piece.children else piece.text
        if parts and parts[-1][0] == piece.lead:
            parts[-1][1].append(text)
            parts[-1] = (piece.lead, parts[-1][1], parts[-1][2] or piece.listed)
        else:
            parts.append((piece.lead, [text], piece.listed))
    told = [_led([lead], ("; " if listed else " ").join(texts)) for lead, texts, listed in parts]
    return " ".join(told)


def _led(leads: Sequence[str], text: str) -> str:
    for lead in reversed(leads):
        lead = lead.rstrip(":：") if not lead.endswith(_ENDS) else lead
        if lead:
            text = f"{lead} {text}" if lead.endswith(_ENDS) else f"{lead}: {text}"
    return text
