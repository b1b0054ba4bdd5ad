"""Lines of an old memory file or of Markdown notes, each told apart: heading, item, table row, fence, text (D12)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .checks.lines import SEPARATOR, trim

Shape: TypeAlias = Literal["blank", "separator", "heading", "rule", "fence", "row", "item", "text"]

_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]|\d{1,3}[.)])(?:[ \t]+(?P<text>.*))?", re.DOTALL)
_RULE = frozenset("-*_=~·═─━—– ")
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One line: its number (from 1), what it is, its text without the marks, and how deep it stands."""

    number: int
    shape: Shape
    text: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()


def classify(number: int, raw: str) -> NoteLine:
    """What a line is by itself; what it means is for ``notes`` to say."""
    text = trim(raw)
    indent = _indent(raw)
    if not text:
        return NoteLine(number, "blank")
    if text == SEPARATOR:
        return NoteLine(number, "separator")
    if text.startswith(_FENCES):
        return NoteLine(number, "fence", text, indent)
    if text[0] == "#":
        marks = len(text) - len(text.lstrip("#"))
        if marks <= 6 and text[marks : marks + 1] in ("", " ", "\t"):
            return NoteLine(number, "heading", _plain(text.strip("#")).rstrip(":："), marks)
    if len(text) >= 3 and _RULE.issuperset(text):
        return NoteLine(number, "rule", text)
    if text[0] == "|" and text.count("|") >= 2:
        return NoteLine(number, "row", text, indent, _cells(text))
    if item := _ITEM.fullmatch(raw.rstrip()):
        return NoteLine(number, "item", _plain(item["text"] or ""), indent)
    return NoteLine(number, "text", _plain(text.lstrip("> ") if text[0] == ">" else text), indent)


def is_table_rule(line: NoteLine) -> bool:
    """The line between the head of a table and its rows."""
    return line.shape == "row" and set(line.text) <= set("|-: ") and "-" in line.text


def _indent(raw: str) -> int:
    expanded = raw.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def _plain(text: str) -> str:
    # Only blanks are taken together: every other kind of space is for the checks to see.
    return " ".join(part for part in text.replace("\t", " ").split(" ") if part)


def _cells(text: str) -> tuple[str, ...]:
    inner = text.strip("|").replace("\\|", "\0")
    return tuple(_plain(cell.replace("\0", "|").strip()) for cell in inner.split("|"))
