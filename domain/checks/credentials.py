"""Secrets in text: vendors' token shapes, passwords in URLs and commands, named values that look random (D4, C5).

A finding names the kind, never the secret. Look-alikes from documentation pass by exact value, placeholders
and references to variables by their form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ..catalogue import Finding
from .anchors import Anchors, Around, small_letters
from .placeholders import PUBLISHED, entropy, is_cut, is_padded, is_placeholder
from .secret_patterns import (
    ABOUT,
    ALGORITHM,
    ASSIGN,
    BEARER,
    BESIDE,
    CARD,
    CARD_CONTEXT,
    CARD_NEAR,
    CURL_USER,
    HEADER,
    KEY_NAME,
    NETRC,
    PLAIN_KEYS,
    PSEXEC,
    SENTENCE,
    SERVICE,
    URL,
)
from .spots import Runs
from .token_shapes import finders


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands and what kind it is."""

    kind: str
    start: int
    stop: int


def find_credentials(text: str) -> tuple[Finding, ...]:
    """One finding for every secret, by kind and place; the secret itself is in no message."""
    return tuple(
        Finding(code="credential", message=_says(secret.kind), span=(secret.start, secret.stop))
        for secret in secrets(text)
    )


def _says(kind: str) -> str:
    return f"it looks like a secret ({kind.replace('_', ' ')}); keep it in a vault and note where it is"


def redact_credentials(text: str) -> tuple[str, int]:
    """The text with every secret replaced by ``[redacted:kind]``, and how many were replaced (C5, D4)."""
    found = secrets(text)
    pieces: list[str] = []
    done = 0
    for secret in found:
        pieces += [text[done : secret.start], f"[redacted:{secret.kind}]"]
        done = secret.stop
    return ("".join([*pieces, text[done:]]), len(found)) if found else (text, 0)


def secrets(text: str) -> tuple[Secret, ...]:
    """Every secret in a text, from left to right, without overlap; the longer of two that overlap wins."""
    found = [*_shaped(text), *_blocks(text), *_worded(text)]
    # Of two kinds at the same place the one that says more stays.
    found.sort(key=lambda s: (s.start, -s.stop, s.kind == "named_value"))
    kept: list[Secret] = []
    for secret in map(partial(_whole, text), found):
        if is_cut(text, secret.stop):
            continue
        if kept and secret.start < kept[-1].stop:
            if secret.stop > kept[-1].stop:
                kept[-1] = Secret(kept[-1].kind, kept[-1].start, secret.stop)
            continue
        kept.append(secret)
    return tuple(kept)


_LONG = 100
"""The least that a pattern takes at most: a longer secret may go on where the pattern ends."""
_REST = re.compile(r"[A-Za-z0-9+/=_~-][A-Za-z0-9+/=._~-]{0,19999}")


def _whole(text: str, secret: Secret) -> Secret:
    """With the rest of a value that is longer than its pattern reads."""
    if secret.stop - secret.start < _LONG or (rest := _REST.match(text, secret.stop)) is None:
        return secret
    return Secret(secret.kind, secret.start, rest.end())


def _shaped(text: str) -> Iterator[Secret]:
    """What is certain by its form: tokens, and passwords in URLs. No space is in them."""
    runs = Runs(text)
    for finder in finders():
        for kind, match in finder.find(runs.text):
            if not (match[0] in PUBLISHED or _drawn(match[0])):
                yield _moved(runs, kind, match)
    for _, match in _URLS.find(runs.text):
        user, password, host = match[1], match[2].rpartition("@")[2] or match[2], match[3]
        if not (is_placeholder(password) or (password == user and _is_local(host))):
            yield _moved(runs, "url_password", match, 2)


def _moved(runs: Runs, kind: str, match: re.Match[str], group: int = 0) -> Secret:
    shift = runs.shift(match.start())
    return Secret(kind, match.start(group) + shift, match.end(group) + shift)


_KEY_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[23]:|AGE-SECRET-KEY-1[0-9A-Z]{58}"
)
_KEY_CHARS_MAX = 20_000
_HEAD_CHARS = 2_000
"""Of a block that are looked at for a key: before it stand a few lines of headers."""
_COOKIE = re.compile(r"\b(?:Set-)?Cookie: ?[^\n]{0,200}(?:sess\w{0,12}|sid|auth\w{0,12}|token)=[A-Za-z0-9%._-]{16,400}")


def _blocks(text: str) -> Iterator[Secret]:
    """Keys of several lines and lines of cookies: their secret has spaces in it."""
    at = end = 0
    while begin := _KEY_BEGIN.search(text, at):
        at = stop = begin.end()
        if begin[0].startswith("-"):
            if end < stop:
                # Looked for once however many beginnings stand before it.
                end = text.find("-----END", stop)
                end = len(text) if end < 0 else end
            if end - stop > _KEY_CHARS_MAX or not _has_body(text, stop):
                continue
            at = stop = min(end + 8, len(text))
        yield Secret("private_key", begin.start(), stop)
    if "Cookie:" in text:
        for match in _COOKIE.finditer(text):
            if not _drawn(match[0]):
                yield Secret("session_cookie", *match.span())


def _cards(text: str, near: list[int]) -> Iterator[Secret]:
    """Numbers of payment cards near a word that speaks of one."""
    done = 0
    for place in near:
        for match in CARD.finditer(text, max(done, place - CARD_NEAR), place + CARD_NEAR):
            done = match.end()
            digits = re.sub(r"\D", "", match[0])
            if digits not in PUBLISHED and len(set(digits)) > 1 and _luhn(digits):
                yield Secret("payment_card", *match.span())


_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}")


def _has_body(text: str, at: int) -> bool:
    """A key after its first line; the lines alone stand in every manual."""
    line = text.find("-----", at, at + _HEAD_CHARS)
    return _KEY_BODY.search(text, at, line if line >= 0 else at + _HEAD_CHARS) is not None


def _drawn(token: str) -> bool:
    """A token whose body is x's, one character repeated, or words like *your token here*."""
    body = token.rpartition("_")[2] if "_" in token[:-8] else token.partition("-")[2] or token
    return is_padded(token) or is_placeholder(body) or "xxxxxx" in token.lower() or entropy(body) < 1.5


def _is_local(host: str) -> bool:
    return host.split(":")[0] in {
        "localhost",
        "127.0.0.1",
        "db",
        "postgres",
        "mysql",
        "redis",
        "rabbitmq",
        "mongo",
        "0.0.0.0",
    }


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(map(int, reversed(digits))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _worded(text: str) -> Iterator[Secret]:
    """Passwords in commands, headers and sentences, and values beside a name that says they are secret."""
    view = small_letters(text)
    cards: list[int] = []
    for kind, match in _WORDED.find(text, view):
        if kind == "payment_card":
            cards.append(match.start())
        elif (secret := _JUDGED[kind](text, match)) is not None:
            yield secret
    for _, match in _KEYS.find(text, view):
        if (secret := _beside_key(text, match)) is not None:
            yield secret
    yield from _cards(text, cards)


def _by_value(kind: str, group: int) -> Judge:
    """A pattern that leaves little doubt: only placeholders pass, and words that are no random value."""

    def judge(text: str, match: re.Match[str]) -> Secret | None:
        value = match[group]
        if (kind == "authorization" and not _is_random(value, least=12)) or is_placeholder(value):
            return None
        return Secret(kind, *match.span(group))

    return judge


def _in_sentence(text: str, match: re.Match[str]) -> Secret | None:
    value = match[2].rstrip(".,;:)")
    if not _is_password(value, quoted=bool(match[1])):
        return None
    return Secret("password", match.start(2), match.start(2) + len(value))


def _assigned(text: str, match: re.Match[str]) -> Secret | None:
    value = match[3].rstrip(".,;:)]}")
    is_secret = _is_random(value, least=16) or (
        not ABOUT.match(text, match.end(1))
        and match[1].lower().startswith(("pass", "pwd", "pw", "secret", "client"))
        and _is_password(value, quoted=bool(match[2]))
    )
    if not is_secret or ALGORITHM.match(value) or text[match.end(1) : match.end(1) + 1] in "([":
        return None
    return None if is_placeholder(match[3]) else Secret("named_value", match.start(3), match.start(3) + len(value))


def _beside_name(text: str, match: re.Match[str]) -> Secret | None:
    value = match[2].rstrip(".,;:")
    if _is_random(value, least=16) and not is_placeholder(value) and _speaks_of_secret(text, match):
        return Secret("named_value", match.start(2), match.start(2) + len(value))
    return None


def _beside_key(text: str, match: re.Match[str]) -> Secret | None:
    value = match[2].rstrip(".,;:")
    if not _is_random(value, least=20) or PLAIN_KEYS.search(match[1]) or is_placeholder(value):
        return None
    if "key" not in text[match.end(1) : match.start(2)].lower():
        return None
    return Secret("named_value", match.start(2), match.start(2) + len(value))


Judge: TypeAlias = "Callable[[str, re.Match[str]], Secret | None]"
"""Decides on one match: the secret in it, or none."""

_JUDGED: dict[str, Judge] = {
    "curl": _by_value("basic_auth", 2),
    "header": _by_value("authorization", 1),
    "bearer": _by_value("authorization", 1),
    "netrc": _by_value("password", 1),
    "service": _by_value("password", 2),
    "psexec": _by_value("password", 1),
    "sentence": _in_sentence,
    "assigned": _assigned,
    "beside": _beside_name,
}
_WORDED = Anchors(
    [
        ("curl", CURL_USER),
        ("header", HEADER),
        ("bearer", BEARER),
        ("netrc", NETRC),
        ("service", SERVICE),
        ("psexec", PSEXEC),
        ("sentence", SENTENCE),
        ("assigned", ASSIGN),
        ("beside", BESIDE),
        ("payment_card", CARD_CONTEXT),
    ],
    small=True,
)
_KEYS = Around("key", KEY_NAME, re.compile("key"), 44, 420)
_URLS = Around("url", URL, re.compile("://"), 21, 410)


def _speaks_of_secret(text: str, match: re.Match[str]) -> bool:
    """*key*, *private* and *access* alone say little: then the word before must not be that of a plain key."""
    if match[1].lower() not in {"key", "private", "access"}:
        return True
    return match[1].lower() == "key" and not PLAIN_KEYS.search(text[max(0, match.start(1) - 20) : match.start(1)])


def _is_password(value: str, *, quoted: bool) -> bool:
    """A value that a person would type as a password: mixed classes, or quoted without being a plain word of prose."""
    if (
        len(value) < 5
        or is_placeholder(value)
        or ALGORITHM.match(value)
        or "/" in value[:2]
        or value[0] in ",;"
        or value.endswith(("(", "?"))  # a call, whose end was taken for that of the sentence
    ):
        return False
    classes = sum(
        (any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)), not value.isalnum())
    )
    if quoted:
        return classes >= 2 or len(value) >= 8
    return any(map(str.isdigit, value)) and classes >= 2 and any(map(str.isalpha, value)) and len(value) >= 6


def _is_random(value: str, *, least: int) -> bool:
    """A value that nobody wrote by hand: long, letters and digits mixed, many different characters."""
    if len(value) < least or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    if re.match(r"^[a-z]{2,20}(?:[._/-][a-z]{2,20}){1,8}\d{0,4}$", value) or (value.count("/") > 3 and "." in value):
        return False
    return entropy(value) >= (3.0 if len(value) >= 20 else 2.8)
