"""Whole numbers that a caller gives: a window, a position, how many (section 5)."""

from __future__ import annotations

from typing import Any

from .errors import InputError

MOST = 2**63 - 1
"""The largest number that every database holds."""


def whole_number(value: Any, what: str, *, least: int = 0, most: int = MOST) -> int:
    """Gives the number back; for every edge that takes one.

    Raises InputError ``bad_value`` for a number beyond every database, else ``bad_option``.
    """
    if type(value) is int and abs(value) > MOST:
        raise InputError(f"{what} is beyond every number in a book: {ascii(value)[:60]}; correct it", code="bad_value")
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        bounds = f"{least:,} or more" if most == MOST else f"between {least:,} and {most:,}"
        shown = f"{value:,}" if type(value) is int else ascii(value)[:60]
        raise InputError(f"{what} must be a whole number, {bounds}, not {shown}", code="bad_option")
    return value
