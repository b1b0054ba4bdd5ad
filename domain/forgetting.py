"""Whether a text says what was forgotten: the same, nearly, or the same words in another order (D16).

A block holds the forgotten text and the messages it was learnt from. A text of other evidence is blocked when it says
the same; one of the same messages already when it shares half of the telling words. Another value is another fact:
who forgets that the port is 8080 may learn that it is 8081. What is said anew in other words is beyond this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .catalogue import Finding, SourceFact
from .checks.likeness import is_near_duplicate
from .words import negated, words

EQUIVALENT_SHARE = 0.8
"""Share of the telling words of what was forgotten, from which on a text from anywhere says it again."""
SAME_SOURCE_SHARE = 0.5
"""The same for a text that rests on one of the very messages."""
_EXACT = re.compile(r"[\w@#/\\.:-]*(?:\d|[/\\@#])[\w@#/\\.:-]*")


@dataclass(frozen=True, slots=True)
class Block:
    """One thing that must not be learnt again; ``text`` None: after an erasure only its sources are known."""

    block: str
    text: str | None
    sources: frozenset[tuple[str, str]] = frozenset()
    reason: str = "forgotten"
    target: str | None = None

    def holds(self, text: str, sources: Iterable[tuple[str, str]] = ()) -> bool:
        """Whether a text, which rests on these (session, message), is what was forgotten."""
        same = not self.sources.isdisjoint(sources)
        if self.text is None:
            return same
        if is_near_duplicate(self.text, text):
            return True
        values = _values(text)
        if not _values(self.text) <= values or negated(text) != negated(self.text):
            return False
        wanted, held = words(self.text), set(words(text))
        least = SAME_SOURCE_SHARE if same else EQUIVALENT_SHARE
        return bool(wanted) and sum(word in held for word in wanted) >= least * len(wanted)


def blocking(blocks: Sequence[Block], text: str, sources: Iterable[tuple[str, str]] = ()) -> Block | None:
    """The first block that holds a text; None: it may be learnt."""
    named = frozenset(sources)
    return next((block for block in blocks if block.holds(text, named)), None)


def forgotten_finding(block: Block) -> Finding:
    """What a check says of a text that was forgotten; it repeats nothing of it."""
    return Finding(
        code="forgotten",
        message=f"this was {block.reason} and is not learnt again; a person lifts it with 'minutebook memory allow "
        f"{block.block}'",
    )


def sources_of(session: str | None, messages: Iterable[str]) -> tuple[SourceFact, ...]:
    """Messages of one session as the sources of a block."""
    return () if session is None else tuple(SourceFact(session=session, message=message) for message in messages)


def _values(text: str) -> frozenset[str]:
    """Numbers, paths, versions and addresses: what makes two facts with the same words differ."""
    return frozenset(token.strip(".:-").casefold() for token in _EXACT.findall(text))
