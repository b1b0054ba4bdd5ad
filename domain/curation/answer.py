"""Reading a curator's answer: a JSON array of strings and nothing else, whatever a model wraps around it (D4)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..catalogue import Refusal
from ..limits import MemoryLimits

_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder(strict=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """The entries of an answer, or the one reason why it is none."""

    entries: tuple[str, ...] = ()
    reasons: tuple[Refusal, ...] = ()


def parse_answer(data: str | bytes, limits: MemoryLimits | None = None) -> Answer:
    """The entries of a curator's answer; strict, and safe on any bytes.

    Only strings are decoded, one by one, so nesting costs no stack and numbers are never read. Reason codes:
    answer_too_large, answer_not_utf8, answer_bom, answer_empty, answer_not_array, answer_not_string,
    answer_malformed, answer_trailing_text, answer_surrogate.
    """
    most = (limits or MemoryLimits()).curator_answer_bytes_max
    raw = data.encode(errors="surrogatepass") if isinstance(data, str) else bytes(data)
    if len(raw) > most:
        return _no("answer_too_large", f"the answer has {len(raw):,} bytes, at most {most:,} are read")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return _no("answer_not_utf8", f"byte {error.start + 1} is not UTF-8")
    if text.startswith("\ufeff"):
        return _no("answer_bom", "it begins with a byte order mark")
    return _array(text)


def _array(text: str) -> Answer:
    at = _skip(text, 0)
    if at == len(text):
        return _no("answer_empty", "it is empty; an empty memory is []")
    if text[at] != "[":
        return _no(
            "answer_not_array", "it does not begin with '['; give the JSON array alone, without a fence or words"
        )
    entries: list[str] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return _end(text, at + 1, entries)
    while True:
        if text[at : at + 1] != '"':
            return _no("answer_not_string", f"element {len(entries) + 1} is no string")
        try:
            entry, at = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return _no("answer_malformed", f"element {len(entries) + 1}: {error.msg}")
        if any("\ud800" <= char <= "\udfff" for char in entry):
            return _no("answer_surrogate", f"element {len(entries) + 1} holds half of a surrogate pair")
        entries.append(entry)
        at = _skip(text, at)
        match text[at : at + 1]:
            case "]":
                return _end(text, at + 1, entries)
            case ",":
                at = _skip(text, at + 1)
            case _:
                return _no("answer_malformed", f"',' or ']' is missing after element {len(entries)}")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _end(text: str, at: int, entries: list[str]) -> Answer:
    if _skip(text, at) != len(text):
        return _no("answer_trailing_text", "text follows the array")
    return Answer(entries=tuple(entries))


def _no(check: str, message: str) -> Answer:
    return Answer(reasons=(Refusal(check=check, entry="answer", message=f"the curator's answer: {message}"),))
