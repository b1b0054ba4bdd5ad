"""The terms of a text: what a search index keeps of it, and what a query looks for (D17).

One rule for every database, so that both rank alike. It is aware of scripts and of code:

* words are compared in compatibility form, case folded, without Latin accents, English ones without their usual
  endings (``builds``, ``building``, ``build``);
* ``getUserName``, ``get_user_name``, ``src/app.py``, ``3.41.2`` and ``e-mail`` give their parts, each pair of
  neighbouring parts put together, and the whole: so that ``userName``, ``app.py``, ``3.41`` and ``email`` find them;
* Chinese, Japanese, Korean, Thai and others that write without spaces give single characters and pairs of them;
* a symbol such as an emoji is a term of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

VERSION = 1
"""Raise it when the same text must give other terms: the index is then made again."""

TERM_CHARS_MAX = 64
"""A longer word is cut: nobody types more of it, and the hash sums in use are not longer."""

TEXT_CHARS_MAX = 200_000
"""Of a longer text only the beginning and the end are indexed: a log of megabytes is mostly repetition."""
_TAIL_CHARS = 50_000

_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u109f\u1780-\u17ff"
_TOKEN = re.compile(
    rf"[\w{_MARKS}]+(?:(?:['’.\-/\\:@]|::|->)[\w{_MARKS}]+)*(?:\+\+|#)?"
    "|[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\U0001f000-\U0001faff]"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHES = re.compile("['’]")
_BETWEEN = re.compile(rf"(?:[^\w{_MARKS}]|_)+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_SCRIPT = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_VOWEL = re.compile("[aeiouy]")
_PARTS_MAX = 12
"""Parts of one token that are put together; longer paths give their parts alone."""

_STOP_WORDS = """
    a about after all also am an and any are as at be because been before being but by can could did do does doing done
    for from get got had has have having he her here him his how i if in into is it its just let like me might more most
    much my no nor not now of off on once one only or other our out over own per put s same she should so some such t
    than that the their them then there these they this those through to too under until up us very was way we well were
    what when where which while who why will with would yes you your dont doesnt didnt isnt wasnt im ive id ill youre
    thats theyre please tell
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Left out of a query that says anything else; they are in the index all the same, for a query that does not."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How often each term stands in a text, and how many words the text has."""

    terms: dict[str, int]
    length: int


def count_terms(text: str) -> Counted:
    """What the index keeps of a text."""
    found: Counter[str] = Counter()
    length = 0
    for token, times in Counter(_tokens(bounded(text))).items():
        parts, more = _expanded(token)
        length += len(parts) * times
        for term in parts:
            found[term] += times
        for term in more:
            found[term] += times
    return Counted(found, length)


def sequence(text: str) -> list[str]:
    """The words of a text in order, as a phrase compares them: folded, with their endings, no part put to another."""
    return [word for token in _tokens(text) for word in _words(token)]


def query_terms(text: str) -> list[str]:
    """What a query of these words looks for, each term once, in order; stop words only if there is nothing else."""
    wanted: dict[str, None] = {}
    for token in _tokens(text):
        parts, more = _expanded(token)
        unspaced = [term for term in more if _IS_UNSPACED.match(term)]
        # Of a script without spaces the pairs tell more than the single characters, which are most of any text.
        wanted.update(dict.fromkeys((*(part for part in parts if not (unspaced and _IS_UNSPACED.match(part))), *more)))
    telling = [term for term in wanted if term not in _STOP_STEMS]
    return telling or list(wanted)


def found_at(text: str, wanted: Collection[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Where the wanted terms stand: start and end of each token that gives some of them, and which."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for match in _TOKEN.finditer(text, 0, TEXT_CHARS_MAX):
        parts, more = _expanded(match.group())
        terms = tuple(term for term in (*parts, *more) if term in wanted)
        if terms:
            found.append((match.start(), match.end(), terms))
    return found


def bounded(text: str) -> str:
    """Of a text beyond ``TEXT_CHARS_MAX`` the beginning and the end."""
    if len(text) <= TEXT_CHARS_MAX:
        return text
    return f"{text[: TEXT_CHARS_MAX - _TAIL_CHARS]}\n{text[-_TAIL_CHARS:]}"


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_THOUSANDS.sub("", text) if "," in text else text)


@lru_cache(maxsize=4_096)
def _words(token: str) -> tuple[str, ...]:
    found: list[str] = []
    for piece in _pieces(_plain(token)):
        found.extend(piece if _IS_UNSPACED.match(piece) else (piece,))
    return tuple(found) or (token,)


@lru_cache(maxsize=65_536)
def _expanded(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a token, and what is put together of them."""
    if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
        return (stem(token.lower()),), ()
    suffix = "++" if token.endswith("++") else "#" if token.endswith("#") else ""
    parts: list[str] = []
    more: list[str] = []
    words: list[str] = []
    for piece in _pieces(_plain(token)):
        if _IS_UNSPACED.match(piece):
            parts.extend(piece)
            more.extend(one + other for one, other in pairwise(piece))
        else:
            words.append(piece)
            parts.append(stem(piece))
    if suffix and words:
        more.append(words[-1] + suffix)
    if 1 < len(words) <= _PARTS_MAX:
        more.extend(_joined(pair) for pair in pairwise(words))
        if len(words) > 2:
            more.append(_joined(words))
    # A symbol has no word in it.
    return tuple(parts) if parts or more else (token,), tuple(more)


def _plain(token: str) -> str:
    return unicodedata.normalize("NFKC", _APOSTROPHES.sub("", token))


def _pieces(token: str) -> Iterator[str]:
    for word in _BETWEEN.split(token):
        for hump in _HUMPS.split(word):
            folded = unicodedata.normalize("NFD", hump.casefold())
            plain = unicodedata.normalize("NFC", _ACCENTS.sub("", folded))
            yield from _SCRIPT.findall(plain)


def _joined(words: Sequence[str]) -> str:
    """Parts put together as somebody would type them who leaves the signs out; numbers keep a dot between them."""
    whole = words[0]
    for before, word in pairwise(words):
        whole += f".{word}" if before[-1].isdigit() and word[0].isdigit() else word
    return stem(whole)


def stem(word: str) -> str:
    """An English word without its usual endings, at most ``TERM_CHARS_MAX`` characters; others as they are.

    Lighter than Porter's and as good on the conversations it was chosen with; what it cuts is easily foreseen.
    """
    if len(word) > TERM_CHARS_MAX:
        return word[:TERM_CHARS_MAX]
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and _VOWEL.search(rest):
            # dropped, drop; but falling, fall and missing, miss
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "aeiouls" else rest
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


_STOP_STEMS = frozenset(stem(word) for word in STOP_WORDS)
