"""What the formats have in common: stable ids, times and token counts, read from values that nobody vouches for."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ....domain.catalogue import Usage
from ....domain.message import JSON

# Narrower than what a caller may choose: nothing that is a path, an option, a URI or a device anywhere, and no
# '@' and '+', which are ours (below). Whatever else a source calls its rows, they get a line id.
_ID = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){0,127}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_TOKENS_MAX = 10**12
_SECONDS_MAX = 10**11
"""A larger number is a time in milliseconds; in seconds it would be the year 5138."""


def identifier(value: JSON) -> str | None:
    """An id of the source that is safe to use as our own, or None."""
    return value if isinstance(value, str) and _ID.fullmatch(value) and not _DEVICE.fullmatch(value) else None


class Ids:
    """Gives each message of one transcript its id (M3): the source's own, else ``line-<number>``.

    An id depends on earlier lines only, so a grown file gives the same ids again. Where a source uses an id
    twice for different rows, the later one becomes ``<id>@<number>``.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, JSON]] = {}

    def repeats(self, own: JSON, value: JSON) -> int | None:
        """The line that already gave this very row under this id, or None."""
        name = identifier(own)
        found = self._seen.get(name) if name is not None else None
        return found[0] if found is not None and found[1] == value else None

    def give(self, own: JSON, number: int, value: JSON) -> str:
        """An id that no earlier message has."""
        name = identifier(own) or f"line-{number}"
        if name in self._seen:
            name = f"{name}@{number}"
        self._seen[name] = (number, value)
        return name


def moment(value: JSON) -> datetime | None:
    """An aware time from ISO 8601 text with a zone, or from seconds or milliseconds since 1970; else None."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return None if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _SECONDS_MAX else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass  # somebody else's clock: a time that cannot be read is no time
    return None


def usage(counts: JSON, inputs: tuple[str, ...], output: str) -> Usage | None:
    """Tokens that the provider reported: the sum of the ``inputs`` fields, and ``output``; None if it said nothing."""
    if not isinstance(counts, dict):
        return None
    taken, given = sum(_tokens(counts.get(name)) for name in inputs), _tokens(counts.get(output))
    return Usage(input_tokens=taken, output_tokens=given) if taken or given else None


def _tokens(value: JSON) -> int:
    return value if type(value) is int and 0 <= value <= _TOKENS_MAX else 0


def name(value: JSON) -> str:
    """A word of the source as it can stand in a reason: short, printable."""
    return value[:60] if isinstance(value, str) and value[:60].isprintable() else ascii(value)[:60]
