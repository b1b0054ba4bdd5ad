"""What the pages share: tables, prose out of docstrings, types in words."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from minutebook.domain import catalogue, message

ROOT = Path(__file__).resolve().parents[2]
HEADER = "<!-- Printed from the code by docs/generate.py: change the code, then run 'make docs'. -->\n\n"
ALIASES: dict[Any, str] = {message.Form: "Form", message.Trust: "Trust", catalogue.RevisionKind: "RevisionKind"}
SIMPLE: dict[Any, str] = {
    str: "text", int: "integer", float: "number", bool: "true or false", bytes: "bytes", Path: "path"
}  # fmt: skip


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; bars inside a cell are escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def prose(text: str | None) -> str:
    """A docstring as Markdown: reStructuredText's double back-ticks become single ones."""
    return inspect.cleandoc(text or "").replace("``", "`")


def flat(text: str | None) -> str:
    """The same on one line."""
    return " ".join(prose(text).split())


def spoken(annotation: Any) -> str:
    """A type in words; the choices that have a name (Trust, Form ...) by it, a value of ours as a link."""
    if annotation in ALIASES:
        return ALIASES[annotation]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in args)
    if origin in (Union, UnionType):
        return " or ".join(spoken(arg) for arg in args if arg is not NoneType)
    if origin is tuple:
        inner = [arg for arg in args if arg is not Ellipsis]
        return f"list of {spoken(inner[0])}" if Ellipsis in args else f"({', '.join(map(spoken, inner))})"
    if annotation in SIMPLE:
        return SIMPLE[annotation]
    return f"[{annotation.__name__}](#{annotation.__name__.lower()})"


def default(value: Any) -> str:
    """A default value for a table."""
    match value:
        case None | "" | ():
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float() | str():
            return f"`{value}`"
    return "all zero"
