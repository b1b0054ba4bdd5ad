"""A query as a person or a model writes it: words, and phrases in double quotes; nothing in it is an error (D17)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .terms import query_terms, sequence, stem

MESSAGES, ENTRIES, EVIDENCE = "messages", "entries", "evidence"
KINDS = (ENTRIES, EVIDENCE, MESSAGES)
"""What can be searched: entries of memory, claims that were read out of runs, and what was said."""

QUERY_CHARS_MAX = 10_000
"""What is beyond is not read: a pasted log tells no more with its second page."""
PHRASES_MAX = 16

_PHRASE = re.compile('["“”„«»]([^"“”„«»]*)["“”„«»]')


@dataclass(frozen=True, slots=True)
class Query:
    """The terms to rank by, each once; and the phrases, each as its words in order, that a hit must hold."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """Terms without which no phrase can be there."""
        return tuple(dict.fromkeys(stem(word) for phrase in self.phrases for word in phrase))


def parse_query(text: str) -> Query:
    """Reads any text as a query: signs that are no quotes and no words are passed by, an open quote is none."""
    text = text[:QUERY_CHARS_MAX]
    found = [tuple(sequence(match)) for match in _PHRASE.findall(text)]
    phrases = tuple(dict.fromkeys(phrase for phrase in found if phrase))[:PHRASES_MAX]
    # The quotes part words: "a"b is two.
    terms = dict.fromkeys(query_terms(_PHRASE.sub(r" \1 ", text)))
    query = Query(tuple(terms), phrases)
    return Query(tuple(dict.fromkeys((*query.terms, *query.required))), phrases)


def holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the words stand in a row in the text."""
    if len(phrase) == 1:
        return phrase[0] in words
    first, size = phrase[0], len(phrase)
    wanted = list(phrase)
    at = -1
    for _ in range(len(words)):
        try:
            at = words.index(first, at + 1)
        except ValueError:
            return False
        if list(words[at : at + size]) == wanted:
            return True
    return False
