"""What an erasure finds and names: spans of positions, and a text in every form in which JSON may hold it (E8)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from .catalogue import Span

WORDS_CHARS_MIN = 8
"""A shorter text is not looked for elsewhere: that "yes" occurs in other places says nothing."""
ERASED = "[This message was erased.]"
ERASED_ENTRY = "[This entry was erased.]"
ERASED_BLOCK = "[The memory that was shown here was erased.]"
_JSON_DEPTH = 3
"""A text in a message, in the arguments of a call, in a transcript that such an argument holds."""


def spans(positions: Iterable[int]) -> tuple[Span, ...]:
    """Positions as the fewest spans, in order: a session of 100,000 messages is often one."""
    found: list[Span] = []
    for position in sorted(set(positions)):
        if found and found[-1][1] == position - 1:
            found[-1] = (found[-1][0], position)
        else:
            found.append((position, position))
    return tuple(found)


def positions(named: Iterable[Span]) -> Iterator[int]:
    """The positions that spans stand for."""
    for first, last in named:
        yield from range(first, last + 1)


class Words:
    """Texts that are looked for word for word in the bytes of payloads, whatever JSON made of their letters."""

    def __init__(self, texts: Collection[str]) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if len(text) >= WORDS_CHARS_MIN))
        self._needles = tuple({needle for text in self.texts for needle in forms(text)})

    def __bool__(self) -> bool:
        return bool(self._needles)

    def within(self, data: bytes | None) -> bool:
        """Whether the bytes hold one of the texts."""
        return data is not None and any(needle in data for needle in self._needles)

    @property
    def longest(self) -> int:
        """Bytes of the longest form: who reads in pieces keeps so many of the piece before."""
        return max((len(needle) for needle in self._needles), default=1)

    def within_text(self, text: str) -> bool:
        return any(known in text for known in self.texts)


def forms(text: str) -> set[bytes]:
    """A text as it stands, and as it stands in JSON, in JSON within JSON and once more, with and without ``\\u``."""
    found = {text}
    for _ in range(_JSON_DEPTH):
        found |= {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in found for ascii_ in (True, False)}
    return {form.encode("utf-8", "surrogatepass") for form in found}
