"""Orders wrapped in an encoding: found by unwrapping them, or by the request to unwrap and obey (D4)."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from collections.abc import Callable, Iterator

from ..catalogue import Finding
from .rules import NEAR, rule

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,4000}={0,2}")
_BASE32 = re.compile(r"\b[A-Z2-7]{16,4000}={0,6}")
_HEX = re.compile(r"\b(?:0x)?[0-9A-Fa-f]{16,4000}\b")
_SPACED = re.compile(r"(?:0x|\\x)?[0-9A-Fa-f]{2,3}(?:[ ,:;-]{1,2}(?:0x|\\x)?[0-9A-Fa-f]{2,3}){7,1000}")
_BITS = re.compile(r"[01]{7,8}(?:[ ,-]{1,2}[01]{7,8}){5,600}|[01]{48,4000}")
_ESCAPE = re.compile(
    r"\\u\{?0{0,4}([0-9a-fA-F]{2})\}?|\\x([0-9a-fA-F]{2})|&#x0{0,4}([0-9a-fA-F]{2});|%([0-9a-fA-F]{2})"
    r"|U\+00([0-9a-fA-F]{2})"
)
_DECIMAL = re.compile(r"&#0{0,4}(\d{2,3});|\\([0-7]{3})")
_ESCAPED_LETTERS_MIN = 4
"""Nobody writes plain letters as escapes, but a look-alike may hold one or two (a quote, a slash)."""
_DEPTH_MAX = 2
"""An encoding inside an encoding is opened once more; deeper ones are left to trust and quarantine."""

_UNWRAP = (
    r"(?:decod(?:e|ing)|decrypt|unscrambl\w{1,3}|decipher|unwrap|de-?obfuscate|base ?64|base ?32"
    r"|hex(?:adecimal)?|rot-?13|caesar|morse|binary|reverse(?:d)?|unescape|percent|url-?encoded"
    r"|unicode escapes?)"
)
_OBEY = (
    r"(?:obey|comply|do (?:exactly )?(?:what|as) it (?:says|tells|asks)|act (?:on|upon) (?:it|the|what)"
    r"|carry (?:it )?out|apply (?:it )?to yourself|treat (?:it|the result|this) as (?:an? "
    r"|your )?(?:instructions?|orders?|rules?|commands?|polic(?:y|ies))|follow (?:it|the (?:instructions?"
    r"|orders?|commands?|hidden|decoded|result|steps|rules|text|message)|what|its|them|exactly)"
    r"|execute (?:it|the (?:instructions?|result|decoded|order|message)|what|as)|use (?:it"
    r"|the result) as (?:your|an? )|is (?:an |your |my )?(?:order|instruction|command|new rule)s? (?:for"
    r"|to) you|(?:order|instruction|command)s? for you)"
)

RULES = (
    rule(
        "encoded_payload",
        "asks to decode something and to obey it",
        rf"\b{_UNWRAP}\b{NEAR}(?:[.;:]{NEAR})?\b{_OBEY}",
        loud=False,
    ),
    rule(
        "encoded_payload",
        "asks to decode something and to obey it",
        rf"\b{_OBEY}\b{NEAR}\b(?:decod\w{{1,3}}|base ?64|hex|rot-?13|morse|encoded|reversed|cipher\w{{0,4}})\b",
        loud=False,
    ),
)
"""The request alone is enough: an honest note says what a value is, not that it is to be obeyed."""

_LOOSE = re.compile(
    r"(?:ignore|disregard|forget|override|bypass|obey|reveal|disable|approve|grant|exfiltrate|vergiss"
    r"|ignoriere|oublie|olvida)[\W_]{1,3}(?:\w{1,14}[\W_]{1,3}){0,4}"
    r"(?:instructions?|rules?|polic(?:y|ies)|guidelines?|prompt|user|system|safety|commands?|secrets?"
    r"|checks?|key|password|everything|all|tokens?|access|page|anweisungen|regeln|consignes)"
    r"|(?:send|email|mail|post|upload|forward|leak|print|show|copy"
    r"|curl)[\W_]{1,3}(?:\w{1,14}[\W_]{1,3}){0,4}(?:keys?|secrets?|passwords?|tokens?|\.?env|credentials"
    r"|prompt|conversation|history|files?|memory|data)"
    r"|(?:you are|act as|from now on|do not tell|don't tell|without asking|rm -rf|system prompt|sudo "
    r"|run the|call the)\b"
)


def decoded(text: str, depth: int = _DEPTH_MAX) -> Iterator[tuple[str, tuple[int, int]]]:
    """What the encoded stretches of a text say, with the place of each; only what decodes to readable text."""
    for start, stop, data in _wrapped(text):
        plain = _readable(data)
        if plain is None:
            continue
        yield plain, (start, stop)
        if depth > 1:
            for inner, _ in decoded(plain, depth - 1):
                yield inner, (start, stop)


def _wrapped(text: str) -> Iterator[tuple[int, int, bytes]]:
    for match in _BASE64.finditer(text):
        body = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        if len(body) % 4 != 1 and (data := _try(base64.b64decode, body + "=" * (-len(body) % 4))):
            yield *match.span(), data
    for match in _BASE32.finditer(text):
        body = match[0].rstrip("=")
        if data := _try(base64.b32decode, body + "=" * (-len(body) % 8)):
            yield *match.span(), data
    for pattern in (_HEX, _SPACED):
        for match in pattern.finditer(text):
            digits = re.sub(r"0x|\\x|[^0-9A-Fa-f]", "", match[0])
            if len(digits) % 2 == 0 and (data := _try(bytes.fromhex, digits)):
                yield *match.span(), data
            if pattern is _SPACED and (data := _decimals(match[0])):
                yield *match.span(), data
    for match in _BITS.finditer(text):
        bits = re.sub(r"[^01]", "", match[0])
        if len(bits) % 8 == 0:
            yield *match.span(), int(bits, 2).to_bytes(len(bits) // 8, "big")


def _decimals(text: str) -> bytes | None:
    numbers = [int(word) for word in re.findall(r"\d{2,3}", text) if word.isdecimal()]
    return bytes(numbers) if numbers and all(31 < number < 127 for number in numbers) else None


def _try(decode: Callable[[str], bytes], text: str) -> bytes | None:
    try:
        return decode(text)
    except (ValueError, binascii.Error):
        return None


def _readable(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    letters = sum(char.isalpha() or char == " " for char in text)
    return text if len(text) >= 8 and text.isprintable() and letters >= 0.6 * len(text) else None


def unescaped(text: str) -> tuple[str, int]:
    """The text with character escapes of plain ASCII replaced, and how many letters were written as escapes."""
    letters = 0

    def plain(match: re.Match[str]) -> str:
        nonlocal letters
        char = chr(int(next(group for group in match.groups() if group), 16))
        letters += char.isalpha()
        return char if char.isprintable() else match[0]

    def plain_decimal(match: re.Match[str]) -> str:
        nonlocal letters
        code = int(match[1]) if match[1] else int(match[2], 8)
        char = chr(code) if code < 127 else ""
        letters += char.isalpha()
        return char if char.isprintable() and char else match[0]

    return _DECIMAL.sub(plain_decimal, _ESCAPE.sub(plain, text)), letters


def find_escaped_letters(text: str) -> tuple[Finding, ...]:
    """Plain letters written as escapes: they hide what a person would read."""
    _, letters = unescaped(text)
    if letters < _ESCAPED_LETTERS_MIN or urllib.parse.quote(text) == text:
        return ()
    message = f"{letters} plain letters are written as escapes, which hides what they say; write them out"
    return (Finding(code="encoded_payload", message=message),)


def says_an_order(plain: str) -> bool:
    """Whether decoded text reads like an order; looser than the rules for open text, since honest notes open it."""
    return _LOOSE.search(plain.lower()) is not None
