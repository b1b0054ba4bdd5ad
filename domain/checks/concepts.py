"""Meaning by what comes together in one sentence, in any order: for orders that no phrase list foresees (D4).

A sentence is tested for a few dozen concepts (words of a kind). One concept alone means nothing - honest notes
are full of passwords, policies and approvals. What counts is an order to the reader together with two of them.
Questions are left out: they ask, they do not order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, assert_never

from .command_words import COMMAND
from .conduct_words import CONDUCT
from .dealing_words import DEALING
from .needles import Sieve, sieve
from .rules import negated, within_sentence
from .standing_words import STANDING
from .trust_words import DECEPTION, PERMISSION, TRIGGER

_VERBS = (
    "get|start|begin|accept|act|assure|blame|bother|click|commit|defy|direct|disobey|impersonate|invent|leave|mirror|ping"
    "|resist|sign|zip|conceal|expose|publish|spend|add|allow|ask|attach|authori[sz]e|book|bypass"
    "|circumvent|let|permit|place|portray|rate|overrule|translate|count|deem|regard|defeat|evade|declare"
    "|assert|make|answer|append|apply|approve|assume|attach|base64|behave|believe|bypass|call|carry"
    "|change|claim|collect|comply|conceal|confirm|consider|copy|delete|deliver"
    "|deny|describe|disable|disclose|disregard|do|download|drop|dump|email|e-mail|embed|enable|encode|end"
    "|erase|execute|expose|export|fetch|fill|forget|forward|give|grant|hand|hide|ignore|include"
    "|insert|install|keep|leak|leave|lie|list|load|log|mail|mark|mention|merge|name|obey|omit|open"
    "|overlook|override|pass|paste|pay|post|praise|present|pretend|print|promote|publish|push|put|read"
    "|recommend"
    "|record|refer|register|relay|remember|remove|replace|reply|report|request|resolve|respond|return"
    "|reveal|route|run|save|say|send|set|share|ship|show|skip|speak|state|stop|store|submit|suggest"
    "|suppress|surrender|switch|sync|take|tell|transfer|transmit|treat|trust|turn|update|upload|use|view"
    "|visit|wipe|withhold|wire|write"
)
_ADVERB = (
    r"(?:(?:please|always|never|just|simply|now|first|then|also|silently|quietly|immediately|instead"
    r"|secretly|automatically|kindly|do|not|don't|ever|must|should|shall|only) ){0,3}"
)
_ORDER = re.compile(
    rf"(?:^|[,;:>(\"'-] {{0,2}}|\b(?:and|then|must|should|shall|please|to|you|always|never|just|now|can|may"
    rf"|will|do not|don't|agents?|assistants?|models?|bots?) ){_ADVERB}(?:{_VERBS})\b"
)
_START = re.compile(rf"^[\W_]{{0,4}}{_ADVERB}(?:{_VERBS})\b")
_QUESTION = re.compile(
    r"^\W{0,3}(?:can|could|should|would|how|what|why|is|are|do|does|did|when|where|which|who|may|shall"
    r"|will|has|have)\b[^\n]{0,400}\?\s{0,2}$"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|\n")

_SENTENCES_MAX = 400
"""A memory entry has a handful; a long passage is read up to here and then in one piece."""


@cache
def concepts() -> Mapping[str, Sieve]:
    """Every concept's pattern, compiled at the first sentence that has its words."""
    return {
        name: sieve(within_sentence(source))
        for name, source in (COMMAND | PERMISSION | DECEPTION | TRIGGER | CONDUCT | DEALING | STANDING).items()
    }


_READER_AS_THING = re.compile(
    r"\b(?:the (?:agent|model|assistant)) (?:runs|uses|is (?:a|an|the|built|named|called|deployed|stored)"
    r"|class|module|manager|professor)\b"
)


Likely: TypeAlias = Mapping[str, re.Pattern[str]]
"""The concepts whose words stand somewhere in the text at all."""


class Concepts:
    """The concepts of one sentence, each looked for when a combination asks; it reads like a set of names."""

    __slots__ = ("_known", "_likely", "_text")

    def __init__(self, text: str, likely: Likely) -> None:
        self._text = text
        self._likely = likely
        self._known: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        if name not in self._likely:
            return False
        assert isinstance(name, str)
        known = self._known.get(name)
        if known is None:
            known = self._likely[name].search(self._text) is not None
            if known and name == "reader" and _READER_AS_THING.search(self._text):
                known = False
            self._known[name] = known
        return known

    def __ge__(self, wanted: Collection[str]) -> bool:
        return all(name in self._likely for name in wanted) and all(name in self for name in wanted)

    def __rand__(self, wanted: Collection[str]) -> frozenset[str]:
        return frozenset(name for name in wanted if name in self)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with the concepts in it; ``order`` when it tells somebody to do something.

    ``negative``: it tells not to do something; ``opens``: the order stands at its start.
    """

    text: str
    start: int
    has: Concepts
    order: bool
    negative: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Together:
    """A combination of concepts that makes a sentence an attack, with code and words."""

    code: str
    says: str
    test: Callable[[Sentence], bool]


@dataclass(frozen=True, slots=True)
class All:
    """All of some concepts in a sentence that is of a kind."""

    wanted: frozenset[str]
    kind: Literal["any", "order", "opens", "told"]

    def __call__(self, sentence: Sentence) -> bool:
        match self.kind:
            case "any":
                right = True
            case "order":
                right = sentence.order
            case "opens":
                right = sentence.opens
            case "told":
                right = sentence.order or "reader" in sentence.has
            case _:
                assert_never(self.kind)
        return right and self.wanted <= sentence.has


def has(*names: str) -> All:
    """All of these concepts, in whatever sentence."""
    return All(frozenset(names), "any")


def ordered(*names: str) -> All:
    """All of these in a sentence that tells somebody to do something."""
    return All(frozenset(names), "order")


def opened(*names: str) -> All:
    """All of these in a sentence that begins with an order."""
    return All(frozenset(names), "opens")


def told(*names: str) -> All:
    """All of these in an order, or beside a word for the reader."""
    return All(frozenset(names), "told")


def sentences(text: str, likely: Likely | None = None) -> Iterator[Sentence]:
    """The sentences of a folded text with their concepts; questions are left out."""
    likely = likely_concepts(text) if likely is None else likely
    start = 0
    for number, mark in enumerate((*_SENTENCE_END.finditer(text), None)):
        stop = len(text) if mark is None or number >= _SENTENCES_MAX else mark.start()
        piece = text[start:stop]
        if piece.strip() and not _QUESTION.search(piece):
            yield _sentence(piece, start, likely)
        if mark is None or number >= _SENTENCES_MAX:
            return
        start = mark.end()


def likely_concepts(text: str) -> Likely:
    """The concepts whose words stand somewhere in a text."""
    return {name: sieve.pattern for name, sieve in concepts().items() if sieve.may_match(text)}


def _sentence(text: str, start: int, likely: Likely) -> Sentence:
    order = _ORDER.search(text)
    opens = _START.search(text) is not None
    negative = order is not None and negated(text, order.end())
    return Sentence(
        text, start, Concepts(text, likely), order is not None and not negative, negative, opens and not negative
    )
