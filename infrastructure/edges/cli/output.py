"""Printing: one JSON document with ``--json``, text for people without; stored text is never trusted."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)


def safe(text: object) -> str:
    """Text that cannot steer the terminal: control, bidirectional and invisible characters become ``\\u`` escapes."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))


def one_line(text: object) -> str:
    """Safe text as it stands, its line ends written out: in a list it cannot pass for the line that follows it."""
    return safe(text).replace("\n", "\\n")


def counted(number: int, word: str, plural: str = "") -> str:
    """A number with its word: ``1 message``, ``1,204 messages``."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def shorten(text: object, limit: int) -> str:
    """One safe line of at most ``limit`` characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def behind(row: dict[str, Any]) -> str:
    """The age of the oldest event that a projection lacks, as a person reads it."""
    seconds = row["lag_seconds"]
    if seconds is None or not row["lag"]:
        return "" if row["lag"] else "0 s"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def trouble(row: dict[str, Any]) -> str | None:
    """What is wrong with a projection, or odd about it, in one line."""
    aside = [f"{what} {', '.join(map(str, row[what][:5]))}" for what in ("parked", "skipped") if row[what]]
    return "; ".join(filter(None, (row["error"], row["note"], *aside))) or None


class Output:
    """Where a command's answer goes."""

    def __init__(self, *, as_json: bool) -> None:
        self.json = as_json
        self.console = Console(highlight=False, soft_wrap=True)
        self.errors = Console(stderr=True, highlight=False, soft_wrap=True)

    def document(self, value: Any) -> None:
        """The JSON document of an answer."""
        self.raw(dumps(value) + b"\n")

    def raw(self, data: bytes) -> None:
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:
            sys.stdout.write(data.decode())
        else:
            buffer.write(data)
            buffer.flush()

    def line(self, text: object = "", style: str = "") -> None:
        self.console.print(Text(safe(text), style=style))

    def fields(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Name and value, one pair a line, aligned."""
        rows = [(name, value) for name, value in pairs if value is not None]
        width = max((len(name) for name, _ in rows), default=0)
        for name, value in rows:
            self.console.print(Text.assemble((name.ljust(width + 2), "dim"), safe(value)))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()) -> None:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in columns:
            # Only the last column may give way: ids and numbers must stay whole, they are there to be copied.
            table.add_column(
                column,
                justify="right" if column in numbers else "left",
                no_wrap=column != columns[-1],
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(Text(safe("" if cell is None else cell)) for cell in row))
        self.console.print(table)

    def failure(self, code: str, message: str) -> None:
        if self.json:
            sys.stderr.write(dumps({"error": code, "message": message}).decode() + "\n")
        else:
            self.errors.print(Text.assemble((f"{code}: ", "bold red"), safe(message)))


def dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=_default, option=orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # Originals may hold what only Python's own writer knows: integers beyond 64 bits, lone surrogates (M1).
        return json.dumps(value, default=_default, separators=(",", ":")).encode()


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
