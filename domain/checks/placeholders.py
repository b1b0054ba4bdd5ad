"""What stands where a secret would stand and is none: placeholders, references, published documentation values."""

from __future__ import annotations

import math
import re
from collections import Counter

PUBLISHED = frozenset(
    {
        # AWS documentation, the IAM user guide
        "AKIAIOSFODNN7EXAMPLE",
        "AKIAI44QH8DHBEXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "AKIA111111111EXAMPLE",
        "AKIA222222222EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
        # Stripe documentation: the shared test key and test cards
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "pk_test_TYooMQauvdEDq54NiTphI7jx",
        "4242424242424242",
        "4000056655665556",
        "5555555555554444",
        "378282246310005",
        "4111111111111111",
        # jwt.io, the token on its front page; RFC 7519 section 3.1
        (
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
            ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
        ),
        # RFC 7617: Aladdin / open sesame
        "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        # Azure storage emulator (Azurite), a published constant
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
    }
)
"""Accepted by exact value only: a shape that merely contains EXAMPLE is judged like any other."""

_REFERENCE = re.compile(
    r"^[\"'(\[]{0,2}(?:\$\{?\{?|\{\{?|%\w{1,60}%|<|&lt;|\[|process\.env|os\.environ|os\.getenv|env\("
    r"|getenv|ENV\[|secrets?\.|vault:|vars?\.|config\.|self\.|this\.|settings\.|#\{|@\w{1,20}\(|op://"
    r"|!vault|ref\+|arn:)"
)
_FILLER = re.compile(
    (
        r"^(?:[x*.#?_\-=~/+]{3,400}|xxx[\w-]{0,400}|…|n/?a|null|none|nil|true|false|undefined|tbd|unset"
        r"|empty)$"
    ),
    re.IGNORECASE,
)
_ENV_NAME = re.compile(r"^[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}$")
_CODE = re.compile(r"^[A-Za-z_][\w.]{0,60}[(\[]|^[a-z]{1,20}(?:\.[a-z_]{1,30}){1,6}$|^[./~][\w./-]{1,100}$|^https?://")
_RUN = re.compile(r"(.)\1{7}")
_YOURS = re.compile(
    r"(?:put|insert|paste|enter|add|use)[_ -]?(?:your|my|the)|your[_ -]?\w{0,16}?(?:token|key|secret|password|value)"
    r"|(?:token|key|string|value|secret|password)[_ -]?here|change[_ -]?me|replace[_ -]?me"
    r"|(?:example){2}|x{8}|#{4}|\*{4}",
    re.IGNORECASE,
)
"""Somewhere in a value: what a template says of itself."""
_NO_USER = re.compile(r"^[a-z][a-z0-9+.]{1,20}://[^@\s]{1,300}$")
_PATH = re.compile(r"^/?[a-z@_][\w.@-]{0,40}(?:/[a-z@_:][\w.@:-]{0,40}){1,12}(?:#\w{1,40})?$")
_CUT = re.compile(r"[\w/+=-]{0,4}(?:\.{2}|…|[*#•]{3}|\[redacted|<redacted|\(redacted)", re.IGNORECASE)


_WORDS_CHARS_MAX = 200
"""Nobody puts a placeholder of more than that together from words."""


def entropy(text: str) -> float:
    """Bits per character of a text, by its own character frequencies."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def is_placeholder(value: str) -> bool:
    """True for what a person would read as *put yours here*, for references to variables, for published samples."""
    value = value.strip().rstrip(".,;:")
    bare = value.strip("\"'`()[]{}<>")
    if bare in PUBLISHED or value in PUBLISHED:
        return True
    if not bare or len(set(bare.lower()) - set("-_.*~=+/ ")) <= 2:
        return True
    if _REFERENCE.match(value) or _FILLER.match(bare) or _ENV_NAME.match(bare) or _CODE.match(bare):
        return True
    if _YOURS.search(bare) or _NO_USER.match(bare) or _PATH.match(bare):
        return True
    if len(bare) > _WORDS_CHARS_MAX or any(map(str.isdigit, bare)):
        return False
    return _is_words(re.sub(r"[^A-Za-z]+", "", bare))


def is_cut(text: str, stop: int) -> bool:
    """Whether a value goes on as dots or as *redacted*: the rest of it is not there."""
    return _CUT.match(text, stop) is not None


def _is_words(words: str) -> bool:
    """Made of nothing but the words that stand for a value, read greedily from the left (linear)."""
    lowered = words.lower()
    at = 0
    while at < len(lowered):
        for size in range(min(11, len(lowered) - at), 1, -1):
            if lowered[at : at + size] in _WORDS:
                at += size
                break
        else:
            return False
    return bool(lowered)


_WORDS = frozenset(
    [
        "your",
        "my",
        "the",
        "some",
        "an",
        "insert",
        "enter",
        "put",
        "add",
        "replace",
        "change",
        "example",
        "sample",
        "dummy",
        "placeholder",
        "redacted",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "token",
        "api",
        "key",
        "user",
        "username",
        "test",
        "foo",
        "bar",
        "changeme",
        "change",
        "me",
        "hidden",
        "value",
        "here",
        "default",
        "auth",
        "access",
        "client",
        "private",
        "public",
        "bearer",
        "basic",
        "pass",
        "pw",
        "pwd",
        "id",
        "string",
        "random",
        "todo",
        "db",
        "app",
        "it",
        "not",
        "set",
        "is",
        "new",
        "old",
        "demo",
        "with",
        "from",
        "this",
        "that",
        "for",
        "login",
        "account",
        "name",
        "text",
        "env",
        "var",
        "xxx",
        "xx",
        "encoded",
        "credentials",
        "actual",
        "real",
        "goes",
        "be",
        "to",
        "generated",
        "go",
        "of",
        "one",
    ]
)


def is_padded(token: str) -> bool:
    """A token whose body is one character over and over, or counts up: a drawing of a token, not one."""
    return _RUN.search(token) is not None and entropy(token) < 3.0
