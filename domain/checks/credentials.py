"""Secrets in text: vendors' token shapes, passwords in URLs and commands, named values that look random (D4, C5).

A finding names the kind, never the secret. Look-alikes from documentation pass by exact value, placeholders
and references to variables by their form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..catalogue import Finding
from .placeholders import PUBLISHED, entropy, is_cut, is_padded, is_placeholder
from .spots import Runs, stretches
from .token_shapes import shapes


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands and what kind it is."""

    kind: str
    start: int
    stop: int


_URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.]{1,20}://([^\s:/@\"'<>?#]{0,100}):([^\s/\"'<>]{1,200})@([^\s/\"'<>,;)]{1,200})"
)
_CURL_USER = re.compile(
    r"\bcurl\b[^\n]{0,300}?(?:\s-u|--user|--proxy-user)[ =]{1,3}[\"']?([^\s:\"']{1,60}):([^\s\"']{3,100})"
)
_HEADER = re.compile(
    (
        r"\b(?:authorization|x-[a-z-]{2,30}(?:key|token|auth)|api-?key|private-token"
        r"|x-auth)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|apikey|key|digest"
        r"|negotiate)\s{1,3})?([A-Za-z0-9+/=._~:-]{12,2000})"
    ),
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}([A-Za-z0-9+/=._~-]{16,2000})", re.IGNORECASE)
_NETRC = re.compile(r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(\S{3,200})")
_PSEXEC = re.compile(
    (
        r"(?:-u|/user:?|--username)[ =:]\S{1,60}\s{1,3}(?:-p|/p(?:ass(?:word)?)?:?"
        r"|--password)[ =:]{0,2}[\"']?(\S{6,100})"
    ),
    re.IGNORECASE,
)
_SERVICE = re.compile(
    r"\b(?:mysql|mariadb|postgres(?:ql)?|redis|mongo(?:db)?|oracle|mssql|clickhouse|rabbitmq|smtp|imap|ftp|ssh|ldap)"
    r"[ \t:=：]{1,3}(?:[\w.-]{1,60}/){1,3}([A-Za-z]{3,30})/(\1[\w!@#$%^&*-]{0,20}\d[\w!@#$%^&*-]{0,20})(?![\w/.])",
    re.IGNORECASE,
)
"""``MySQL host/database/user/user123``: a password made from the name before it, as people note them."""
_CARD = re.compile(r"(?<![\d.-])(\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{3,4}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\d.-])")
_CARD_CONTEXT = re.compile(
    r"\b(?:exp(?:iry|ires|iration)?|cvc|cvv|cvc2|cvv2|valid (?:thru|until)|card|visa|mastercard|amex)\b", re.IGNORECASE
)

_PASSWORD_WORD = (
    r"(?:pass(?:word|phrase|wd|code)|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord"
    r"|парол\w{1,2}|密码|パスワード|pwd|pin code|secret|credential|login)"
)
_SENTENCE = re.compile(
    (
        rf"\b{_PASSWORD_WORD}(?:\s{{1,3}}(?:for|of|to|on|in|at|user|der|die|das|für|de|del"
        rf"|pour)\s{{1,3}}[^\s.,;:]{{1,40}}){{0,3}}(?:\s{{1,3}}[^\s.,;:]{{1,30}}){{0,2}}\s{{0,3}}(?:\bis\b"
        rf"|\bwas\b|\bist\b|\best\b|\bes\b|\bequals\b|\bset to\b|[:=→]|是|：|は)(?:\s{{1,3}}(?:now|set|still|just"
        rf"|to|always|currently)){{0,3}}\s{{0,3}}([\"'`“]?)([^\s\"'`”]{{4,100}})"
    ),
    re.IGNORECASE,
)
_ASSIGNED_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|credential|auth|api[ _.-]?key|access[ _.-]?key"
    r"|private[ _.-]?key|signing[ _.-]?key|encryption[ _.-]?key|master[ _.-]?key|license[ _.-]?key"
    r"|client[ _.-]?secret|app[ _.-]?secret|secret[ _.-]?key|account[ _.-]?key|shared[ _.-]?key|apikey"
    r"|accesskey|secretkey|privatekey|connection[ _.-]?string|webhook)"
)
_ASSIGN = re.compile(
    (
        rf"({_ASSIGNED_NAME})s?[\w.-]{{0,24}}[\"'\]]{{0,2}}\s{{0,3}}(?:=>|:=|==|!=|=|:|,|\(|\bvalue="
        rf"|>)\s{{0,4}}(?:new\s\w{{1,20}}\()?([\"'`]?)([^\s\"'`<>]{{6,2000}})"
    ),
    re.IGNORECASE,
)
_BESIDE = re.compile(
    (
        rf"({_ASSIGNED_NAME}|\bkey|private|access)\b[ _:=\"'-]{{1,4}}(?:(?:is|key|token|secret"
        rf"|id|value|api|access|for|of|to|the|in|use|with|header"
        rf"|base64)[ _:=\"'-]{{1,3}}){{0,4}}([A-Za-z0-9+/=._~-]{{12,600}})"
    ),
    re.IGNORECASE,
)
_KEY_NAME = re.compile(
    r"\b([A-Za-z][\w.-]{1,40}?)[_ .-]?(?:key|KEY|Key|id|ID|sid|SID|hash|creds?"
    r"|login)s?[\"'\]]{0,2}\s{0,2}(?:=>|=|:)\s{0,3}[\"'`]?([A-Za-z0-9+/=_~.-]{16,400})"
)
_PLAIN_KEYS = re.compile(
    (
        r"(?:primary|foreign|public|cache|sort|partition|idempotency|composite|hash|index|unique|dedup\w{0,3}"
        r"|range|row|object|translation|i18n|storage|s3|map|dict|order|trace|span|request|session|user|account"
        r"|commit|build|image|container|git|file|message|event|job|run|task|issue|ticket|project|tenant|client"
        r"|customer|device|node|digest|sha\d{0,3}|md5|check\w{0,3}|integrity|etag|correlation|fingerprint"
        r"|thumbprint|host|known|gpg|pgp|ssh-rsa|block|tx|transaction|content|version|document|entity|record"
        r"|key|group|artifact|page|channel|team|org|workspace)[_ .-]?$"
    ),
    re.IGNORECASE,
)
_ALGORITHM = re.compile(
    (
        r"^(?:base-?(?:16|32|58|64|85)|sha-?\d{1,3}|md5|argon2\w{0,2}|bcrypt|scrypt|pbkdf2|aes-?\d{0,3}"
        r"|rsa-?\d{0,4}|ed25519|oauth-?2|utf-?8|x\.?509|hs256|rs256|es256|http/?\d?|tls-?1|v\d|\d{1,4}(?:st|nd"
        r"|rd|th)?$|\d{1,4}[- ]?(?:char|day|hour|min|bit|sec|byte|month|digit|week))"
    ),
    re.IGNORECASE,
)
_DIGEST_BEFORE = re.compile(
    (
        r"(?:sha-?\d{1,3}|md5|digest|checksum|integrity|hash|commit|revision|etag|blake\w{1,4}"
        r"|fingerprint)[\s:=\"'-]{1,4}$"
    ),
    re.IGNORECASE,
)


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
    found = [*_shaped(text)]
    for start, stop in stretches(text):
        found += [*_spoken(text, start, stop), *_named(text, start, stop)]
    found.sort(key=lambda s: (s.start, -s.stop))
    kept: list[Secret] = []
    for secret in found:
        if is_cut(text, secret.stop):
            continue
        if kept and secret.start < kept[-1].stop:
            if secret.stop > kept[-1].stop:
                kept[-1] = Secret(kept[-1].kind, kept[-1].start, secret.stop)
            continue
        kept.append(secret)
    return tuple(kept)


def _shaped(text: str) -> Iterator[Secret]:
    runs = Runs(text)
    for kind, pattern in shapes():
        if kind in ("private_key", "session_cookie"):
            # The two whose secret has spaces in it.
            if any(word in text for word in (("KEY", "PuTTY") if kind == "private_key" else ("ookie",))):
                yield from (
                    Secret(kind, *match.span())
                    for match in pattern.finditer(text)
                    if (_has_body(match[0]) if kind == "private_key" else not _drawn(match[0]))
                )
            continue
        for match, shift in runs.find(pattern):
            if not (match[0] in PUBLISHED or _drawn(match[0])):
                yield Secret(kind, match.start() + shift, match.end() + shift)
    for match, shift in runs.find(_URL) if "://" in text else ():
        user, password, host = match[1], match[2].rpartition("@")[2] or match[2], match[3]
        if not (is_placeholder(password) or (password == user and _is_local(host))):
            yield Secret("url_password", match.start(2) + shift, match.end(2) + shift)
    for match in _CARD.finditer(text) if _CARD_CONTEXT.search(text) else ():
        digits = re.sub(r"\D", "", match[0])
        near = text[max(0, match.start() - 60) : match.end() + 60]
        if digits not in PUBLISHED and _CARD_CONTEXT.search(near) and len(set(digits)) > 1 and _luhn(digits):
            yield Secret("payment_card", *match.span())


_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16}|User-Key-File|AGE-SECRET")


def _has_body(block: str) -> bool:
    """A key between its lines; the lines alone stand in every manual."""
    return _KEY_BODY.search(block.replace("PRIVATE KEY", "")) is not None


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


def _spoken(text: str, start: int, stop: int) -> Iterator[Secret]:
    """Passwords in commands, headers and sentences."""
    for kind, pattern, group in (
        ("basic_auth", _CURL_USER, 2),
        ("authorization", _HEADER, 1),
        ("authorization", _BEARER, 1),
        ("password", _NETRC, 1),
        ("password", _SERVICE, 2),
        ("password", _PSEXEC, 1),
    ):
        for match in pattern.finditer(text, start, stop):
            value = match[group]
            if not is_placeholder(value) and (kind != "authorization" or _is_random(value, least=12)):
                yield Secret(kind, *match.span(group))
    for match in _SENTENCE.finditer(text, start, stop):
        value = match[2].rstrip(".,;:)")
        if _is_password(value, quoted=bool(match[1])):
            yield Secret("password", match.start(2), match.start(2) + len(value))


def _named(text: str, start: int, stop: int) -> Iterator[Secret]:
    """Values beside a name that says they are secret."""
    for match in _ASSIGN.finditer(text, start, stop):
        value = match[3].rstrip(".,;:)]}")
        if is_placeholder(match[3]) or _ALGORITHM.match(value) or text[match.end(1) : match.end(1) + 1] in "([":
            continue
        word = match[1].lower()
        if _is_random(value, least=16) or (
            word.startswith(("pass", "pwd", "pw", "secret", "client")) and _is_password(value, quoted=bool(match[2]))
        ):
            yield Secret("named_value", match.start(3), match.start(3) + len(value))
    for match in _BESIDE.finditer(text, start, stop):
        value = match[2].rstrip(".,;:")
        if (
            _is_random(value, least=16)
            and not is_placeholder(value)
            and not _is_digest(text, match.start(2))
            and _speaks_of_secret(text, match)
        ):
            yield Secret("named_value", match.start(2), match.start(2) + len(value))
    for match in _KEY_NAME.finditer(text, start, stop):
        value = match[2].rstrip(".,;:")
        if _PLAIN_KEYS.search(match[1]) or is_placeholder(value) or not _is_random(value, least=20):
            continue
        if not _is_digest(text, match.start(2)) and "key" in text[match.end(1) : match.start(2)].lower():
            yield Secret("named_value", match.start(2), match.start(2) + len(value))


def _speaks_of_secret(text: str, match: re.Match[str]) -> bool:
    """*key*, *private* and *access* alone say little: then the word before must not be that of a plain key."""
    if match[1].lower() not in {"key", "private", "access"}:
        return True
    return match[1].lower() == "key" and not _PLAIN_KEYS.search(text[max(0, match.start(1) - 20) : match.start(1)])


def _is_digest(text: str, at: int) -> bool:
    return _DIGEST_BEFORE.search(text, max(0, at - 24), at) is not None


def _is_password(value: str, *, quoted: bool) -> bool:
    """A value that a person would type as a password: mixed classes, or quoted without being a plain word of prose."""
    if (
        len(value) < 5
        or is_placeholder(value)
        or _ALGORITHM.match(value)
        or "/" in value[:2]
        or value[0] in ",;"
        or value.endswith(("()", "?"))
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
