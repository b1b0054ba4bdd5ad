"""``--at``: a moment of the past, on the command line."""

from __future__ import annotations

import re
from typing import Annotated, overload

import typer

At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="MOMENT",
        help="As of a position (42), a time (2026-11-30T10:00Z; without a zone UTC) or a turn (turn:41).",
    ),
]


@overload
def moment(text: str) -> int | str: ...


@overload
def moment(text: None) -> None: ...


def moment(text: str | None) -> int | str | None:
    """What was written, as Python takes it: digits are a position."""
    return int(text) if text is not None and re.fullmatch(r"[+-]?[0-9]{1,30}", text.strip()) else text
