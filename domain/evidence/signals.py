"""What people say when they mean it to be kept: remember, correct, forget, decide, accept; sentence by sentence (D14).

English and the languages that the checks know. A signal begins its sentence (or ends it, where the verb stands last),
so that "I don't remember" and "I remember there being three" are none: the transcripts of the development data are
full of both. What is not here is no signal; a model may find more (``EvidenceExtractor``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .phrases import ACCEPTED, BUT, CONFIRMED, DECIDED, FINDING, FIRST_PERSON, INSTEAD, LEAD, PHRASES, Kind

SENTENCE_CHARS_MAX = 600
"""A longer sentence is no note that anybody wants kept word by word."""

_SIGNALS = tuple(
    (kind, language, re.compile(LEAD + pattern, re.IGNORECASE | re.DOTALL)) for kind, language, pattern in PHRASES
)
_DECIDED = re.compile(DECIDED, re.IGNORECASE)
_UNDECIDED = re.compile(
    r"\b(?:haven.t|have not|not yet|if we|once we|when we|should we|nicht entschieden|noch nicht)\b", re.I
)

_CONFIRMED = re.compile(CONFIRMED, re.IGNORECASE | re.DOTALL)
_FINDING = re.compile(FINDING, re.IGNORECASE | re.DOTALL)
_ACCEPTED = re.compile(ACCEPTED, re.IGNORECASE)
_BUT = re.compile(BUT, re.IGNORECASE)
_INSTEAD = re.compile(INSTEAD, re.IGNORECASE)
_FIRST_PERSON = re.compile(FIRST_PERSON, re.IGNORECASE)
_ASKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Signal:
    """What a sentence says that is worth keeping: its kind and the words that carry it."""

    kind: Kind
    text: str
    language: str = "English"


def signal_of_user(sentence: str) -> Signal | None:
    """The signal in a sentence of the user; None for the ordinary sentence."""
    plain = _plain(sentence)
    if not plain or len(plain) > SENTENCE_CHARS_MAX or plain.endswith(_ASKS):
        return None
    for kind, language, pattern in _SIGNALS:
        found = pattern.match(plain)
        if found is not None:
            text = found["x"].strip(" \t:,-–—")
            return Signal(kind, _INSTEAD.sub("", text) if kind == "correction" else text, language) if text else None
    return Signal("decision", plain, "any") if _decides(plain) else None


def signal_of_model(sentence: str) -> Signal | None:
    """The signal in a sentence of the model: what it says to have confirmed, found or decided."""
    plain = _plain(sentence)
    if not plain or len(plain) > SENTENCE_CHARS_MAX or plain.endswith((*_ASKS, ":", "：")):
        return None
    patterns: tuple[tuple[Kind, re.Pattern[str]], ...] = (("confirmed", _CONFIRMED), ("finding", _FINDING))
    for kind, pattern in patterns:
        found = pattern.match(plain)
        if found is not None and (text := found["x"].strip(" \t:,-–—")):
            return Signal(kind, text, "any")
    return Signal("decision", plain, "any") if _decides(plain) else None


def accepts(sentence: str) -> bool:
    """Whether the first sentence of a user's answer accepts what was just said to them, without a but."""
    plain = _plain(sentence)[:200]
    return _ACCEPTED.match(plain) is not None and _BUT.search(plain) is None and not plain.endswith(_ASKS)


def speaks_of_self(text: str) -> bool:
    """Whether a user's words say *I* or *my*: read later, without the user, they need to be told as theirs."""
    return _FIRST_PERSON.search(text) is not None


def _decides(sentence: str) -> bool:
    return _DECIDED.search(sentence) is not None and _UNDECIDED.search(sentence) is None


def _plain(sentence: str) -> str:
    """The sentence without emphasis, quotes of a whole line and other dress."""
    return sentence.replace("**", "").strip(" \t>#*•|").strip()
