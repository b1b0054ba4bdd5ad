"""Strings that no reader of a memory needs: long tokens of letters and digits, which is what a credential looks like.

The rules for credentials know shapes; four public collections hold hundreds that they do not know. In evidence an
opaque string is masked whatever it is: a claim that needs one says where it is kept instead.
"""

from __future__ import annotations

import math
import re
from collections import Counter

MASK = "[opaque]"
_TOKEN = re.compile(r"[^\s\"'`<>()\[\]{},;|=&?]{8,}")
_WORDS = re.compile(r"[A-Za-z]{2,}")
_LEAST_CHARS = 8
_BITS_LEAST = 2.9
"""Bits a character: words and paths lie below, random text of twenty characters at four."""
_NAMED = re.compile(
    r"(?:pass(?:word|wd|phrase|wort|code)?|pwd|secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|auth|"
    r"credentials?|curl|client[ _-]?id|license[ _-]?key|signature|bearer|cookie|session[ _-]?id|webhook|dsn|contraseña|"
    r"mot de passe|kennwort|пароль|密码|密碼|パスワード|비밀번호)",
    re.IGNORECASE,
)

_GIVEN = re.compile(
    r"(?P<name>(?:password|passwd|passphrase|secret|token|private[_-]?key|api[_-]?key|access[_-]?(?:key|id)|credential)"
    r"[\w-]{0,40}[\"']?\s{0,3}(?:=>|[:=])\s{0,3}[\"']?|\bcurl\s.{0,200}?-u\s+[\"']?\S{1,60}:)(?P<value>[^\s\"',;]{4,})",
    re.IGNORECASE,
)
"""What is assigned to the name of a secret, however it looks."""


def mask(text: str) -> tuple[str, int]:
    """The text with every opaque string replaced, and how many there were. Linear in the text."""
    count = 0
    named = _NAMED.search(text) is not None

    def put(match: re.Match[str]) -> str:
        nonlocal count
        if not _is_opaque(match.group(), named):
            return match.group()
        count += 1
        return MASK

    def give(match: re.Match[str]) -> str:
        nonlocal count
        if match["value"].startswith(("[redacted", MASK, "$", "<", "{", "%")):
            return match.group()
        count += 1
        return f"{match['name']}{MASK}"

    masked = _TOKEN.sub(put, text)
    return (_GIVEN.sub(give, masked) if named else masked), count


def _is_opaque(token: str, named: bool) -> bool:
    """Whether a token reads like no word, path, version, address or name."""
    if token.startswith(("[redacted", "sha256:", "sha512:", "sha1:")) or _bare(token):
        return False
    pieces = re.split(r"[/\\.:@_-]", token)
    long = max(pieces, key=len)
    if len(long) >= 16 and _mixed(long):
        return True
    if named and len(token) >= _LEAST_CHARS and (_mixed(token) or _mixed(long)):
        return True
    dense = re.sub(r"[^A-Za-z0-9]", "", token)
    return len(dense) >= 24 and _mixed(dense) and _share_of_words(token) < 0.5


def _bare(token: str) -> bool:
    """Letters alone, or digits and marks alone: a word, a number, a date."""
    return not any(char.isdigit() for char in token) or not any(char.isalpha() for char in token)


def _mixed(text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    digits = sum(char.isdigit() for char in text)
    return letters >= 2 and digits >= 2 and _bits(text) >= _BITS_LEAST


def _bits(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def _share_of_words(token: str) -> float:
    return sum(len(word) for word in _WORDS.findall(token) if len(word) >= 4) / len(token)
