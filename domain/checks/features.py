"""What the classifier sees of a text: words, pairs of words and short stretches of letters (D4).

Names that say nothing of a purpose - addresses, hosts, paths, long tokens, numbers - become one sign each, so
that no weight rests on one server's name. The trainer and the check both read a text through this one module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["letters", "plain", "words"]

_URL = re.compile(r"\b(?:https?|ftp|wss?)://\S{1,2000}|\bwww\.\S{1,2000}")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_HOST = re.compile(
    r"(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|io|dev|app|ai|co|me|info|xyz|site|cloud|example|invalid|test"
    r"|local|internal|de|fr|ru|cn|uk|eu)\b(?:/\S{0,2000})?"
)
_PATH = re.compile(r"(?<![\w/.-])(?:~|\.{1,2})?/?(?:[\w.-]{1,200}/){1,40}[\w.*-]{0,200}")
_LONG = re.compile(r"(?<![a-z0-9+/_-])[a-z0-9+/_-]{24,2000}={0,2}")
_TOKEN = re.compile(r"⟨\w{3,4}⟩|[^\W\d_]{1,200}(?:'[a-z]{1,9})?|\d{1,200}|[^\w\s⟨⟩]|_")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts of which a run of letters is more than a word, or whose words bear endings: read by pairs of letters."""

_STEM = 6
"""Letters of a longer word that stand for its forms."""
_REACH = 2
"""How far apart the two words of a pair may stand."""
_STRETCHES = (2, 3, 4, 5)


def plain(text: str) -> str:
    """The text in lower case with one sign for each address, host, path and long token."""
    text = text.lower().replace("⟨", "<").replace("⟩", ">")
    for pattern, sign in ((_URL, "url"), (_MAIL, "mail"), (_HOST, "host"), (_PATH, "path"), (_LONG, "long")):
        text = pattern.sub(f" ⟨{sign}⟩ ", text)
    return text


def _tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        if token.isdigit():
            yield "0"
        elif _UNSPACED.search(token):
            yield from (token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            yield token


def words(text: str) -> frozenset[str]:
    """Words, stems of longer words, and pairs of words near each other, of a text made ``plain``."""
    tokens = ["^", *_tokens(text), "$"]
    seen = set(tokens)
    seen.update(f"{token[:_STEM]}*" for token in tokens if len(token) > _STEM)
    for reach in range(1, _REACH + 1):
        gap = " " if reach == 1 else " _ "
        seen.update(f"{one}{gap}{other}" for one, other in zip(tokens, tokens[reach:], strict=False))
    return frozenset(seen)


def letters(text: str) -> frozenset[str]:
    """Stretches of two to five letters inside the words of a text made ``plain``, its ends marked by spaces."""
    return frozenset().union(*map(_stretches, set(text.split())))


@lru_cache(maxsize=4_096)
def _stretches(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset(padded[at : at + size] for size in _STRETCHES for at in range(len(padded) - size + 1))
