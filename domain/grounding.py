"""Whether a summary is one of this range and not of another: what it names must stand in what it covers (C5).

Coverage asks what the user said; a range in which nobody said much demands little, and there the summary of any other
range would pass. Two things tell them apart, both measured on swapped summaries of real ranges: the names that a
summary holds (paths, identifiers, urls, long numbers) stand in the range, and some of the names that the range turns
on stand in the summary. Where hardly anything is named, the words are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .ledger import Kind, names, spoken
from .summary import Material, Segment, Summary, SummaryRequest, clean, untagged
from .summary_safety import reads_as_instruction, redact_credentials
from .words import folded, share, words

NAMES_LISTED = 12
NAMES_LEAST = 6
"""A range in which fewer were named turns on something else."""
NAME_CHARS_MAX = 80
NAMES_SHARE = 0.1
"""Of the bound of a summary, for the names that it is asked for."""
UNKNOWN_FEW = 2
UNKNOWN_SHARE_OF_FEW, UNKNOWN_SHARE = 0.5, 0.25
"""Of the names in a summary so many may stand nowhere in the range (the first where they are few): people round,
shorten and call things by their common name. In 34 summaries written by hand it was one name at most."""
FEW_NAMES = 3
FOREIGN_WORDS_LEAST = 8
FOREIGN_WORDS_SHARE = 0.4
"""Of the telling words of a summary without names; in those written by hand it was 0.68 at least."""


def listed_names(messages: Sequence[Material]) -> tuple[str, ...]:
    """What ``messages`` turn on: the names that were said or called with, the most telling first; () when few are."""
    found: list[str] = []
    for name, kind in spoken(messages):
        if _tells(name, kind) and len(name) <= NAME_CHARS_MAX and _harmless(name):
            found.append(name)
        if len(found) == NAMES_LISTED:
            break
    return tuple(found) if len(found) >= NAMES_LEAST else ()


def _tells(name: str, kind: Kind) -> bool:
    return kind != "number" or len(name) > 3


def _harmless(name: str) -> bool:
    return redact_credentials(name)[1] == 0 and not reads_as_instruction(name, "tool")


def names_segment(messages: Sequence[Material]) -> Segment | None:
    """The names of ``messages`` as a segment of which a summary must hold one; None when it need not."""
    found = listed_names(messages)
    return Segment("names", ", ".join(found), "files", messages[-1].position) if found else None


def names_of(segment: Segment) -> list[str]:
    return segment.text.split(", ")


def holds_name(text: str, segment: Segment) -> bool:
    """True when ``text`` (folded) holds one of the names of ``segment``, a file also by its last part."""
    return any(folded(name) in text or folded(_last(name)) in text for name in names_of(segment))


def _last(path: str) -> str:
    last = path.rstrip("/").rpartition("/")[2]
    return last if len(last) > 3 else path


def is_foreign(summary: Summary, request: SummaryRequest, *, without: str) -> bool:
    """True when too much of what ``summary`` names stands nowhere in what it covers, or in the request.

    Lines with ``without`` (the engine's own phrase) tell nothing.
    """
    lines = [untagged(line) for line in summary.lines if without not in line]
    named = {
        name: kind for line in lines for name, kind in names(line) if _tells(name, kind) and "redacted" not in name
    }
    source = _source(request)
    unknown = _unknown(named, source.casefold(), request.payloads)
    if _too_many(len(unknown), len(named)):
        # What was taken out of the answer (hidden characters) may part a name in the source.
        unknown = _unknown(unknown, clean(source).casefold(), ())
    if _too_many(len(unknown), len(named)):
        return True
    if len(named) - len(unknown) >= FEW_NAMES:
        return False
    wanted = list(dict.fromkeys(word for line in lines for word in words(line)))
    return len(wanted) >= FOREIGN_WORDS_LEAST and share(wanted, frozenset(words(source))) < FOREIGN_WORDS_SHARE


def _too_many(unknown: int, named: int) -> bool:
    if unknown <= UNKNOWN_FEW:
        return unknown > 1 and unknown > UNKNOWN_SHARE_OF_FEW * named
    return unknown > UNKNOWN_SHARE * named


def _source(request: SummaryRequest) -> str:
    texts: list[str] = [f"{message.text}\n{message.outputs}" for message in request.messages]
    texts += [f"{segment.text}\n{segment.whole}" for segment in request.required]
    return "\n".join([*texts, request.earlier or ""])


def _unknown(named: dict[str, Kind], source: str, payloads: Iterable[str]) -> dict[str, Kind]:
    out = {name: kind for name, kind in named.items() if not _known(name.casefold(), kind, source)}
    # What stands in the middle of a long output is no part of the material.
    return {name: kind for name, kind in out.items() if not any(name in payload for payload in payloads)}


def _known(name: str, kind: Kind, source: str) -> bool:
    """True for a name that stands in ``source``: a file by its last part, an identifier by all of its parts."""
    bare = name.removesuffix("()")
    if bare in source or name.rstrip("/") in source:
        return True
    match kind:
        case "path":
            return _last(name) in source
        case "id":
            pieces = [piece for piece in words_of(bare) if len(piece) > 1]
            return len(pieces) > 1 and all(piece in source for piece in pieces)
        case "url" | "number":
            return False


def words_of(name: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in name).split()


__all__ = ["holds_name", "is_foreign", "listed_names", "names_of", "names_segment"]
