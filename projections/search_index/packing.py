"""How the terms of documents stand in a row: readable text in the tail, eight bytes a document in postings."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

Key: TypeAlias = int
"""One document: its position in the upper bits, its place in the event in the lower 16. Newer is larger."""

PLACE_BITS = 16
PLACES_MAX = 1 << PLACE_BITS
"""Documents of one event; memory of more entries than that is not searched beyond them."""
_MOST = 0xFFFF

_POSTING = struct.Struct("<IHH")
"""Key less that of the block's first position, times in the text, words of the text; both at most 65,535."""


def key_of(position: int, place: int) -> Key:
    return position << PLACE_BITS | place


def place_of(key: Key) -> tuple[int, int]:
    """Position and place of a document."""
    return key >> PLACE_BITS, key & (PLACES_MAX - 1)


def packed(postings: Iterable[tuple[Key, int, int]], base: Key) -> bytes:
    """Postings (document, times, words) of one term in one block, in order."""
    return b"".join([_POSTING.pack(key - base, min(times, _MOST), min(words, _MOST)) for key, times, words in postings])


def unpacked(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The postings of a row; add the key of the block's first position to the first of each."""
    return _POSTING.iter_unpack(data)


def spelled(terms: Mapping[str, int]) -> str:
    """The terms of one document as a line of the tail; no term holds a space or a colon."""
    return f" {' '.join([f'{term}:{times}' for term, times in terms.items()])} "


def unspelled(line: str) -> dict[str, int]:
    """The terms of a line of the tail."""
    found: dict[str, int] = {}
    for item in line.split(" "):
        if item:
            term, _, times = item.rpartition(":")
            found[term] = int(times)
    return found


def times_in(line: str, terms: Sequence[str]) -> list[tuple[str, int]]:
    """How often each of the terms stands in a line, without reading the whole of it; those that do not are left out."""
    found: list[tuple[str, int]] = []
    for term in terms:
        wanted = f" {term}:"
        at = line.find(wanted)
        if at >= 0:
            start = at + len(wanted)
            found.append((term, int(line[start : line.index(" ", start)])))
    return found
