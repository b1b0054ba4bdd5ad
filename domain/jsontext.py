"""JSON text at the places where a message holds it: written without fail, read strictly.

What was recorded is somebody else's data: too deep, with doubled keys, with half of a surrogate pair. These
functions are total, so that no history can break a context (C9).
"""

from __future__ import annotations

import json
from typing import NoReturn

from .message import JSON

DEPTH_MAX = 100
"""Deeper values are treated as text: encoders give up at 250 (orjson) to 1,000 levels, and a request nests them."""
TOO_DEEP = '"[a value that is nested too deep to be written]"'


def compact(value: JSON) -> str:
    """``value`` as compact JSON text; what is nested too deep for the encoder is described, never raised."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (RecursionError, ValueError, TypeError):
        return TOO_DEEP


def parse_object(text: str) -> dict[str, JSON] | None:
    """The JSON object that ``text`` is, or None: no JSON, another value, doubled keys, NaN, or not sendable."""
    try:
        value = json.loads(
            text, object_pairs_hook=_no_doubled_keys, parse_constant=_refuse, parse_float=_finite, parse_int=int
        )
        if isinstance(value, dict) and not deep(value):
            if "\\u" in text:
                # An escape may stand for half of a surrogate pair, which no API takes.
                json.dumps(value, ensure_ascii=False).encode()
            return value
    except (RecursionError, ValueError):  # UnicodeEncodeError and JSONDecodeError are ValueErrors
        pass
    return None


def whole(text: str) -> str:
    """``text`` with halves of surrogate pairs replaced by U+FFFD; the same object when there are none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def deep(value: JSON) -> bool:
    """Whether ``value`` is nested more than ``DEPTH_MAX`` levels. A loop, not a recursion."""
    level = [value]
    for _ in range(DEPTH_MAX + 1):
        inner: list[JSON] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list | tuple):
                inner.extend(item)
        if not inner:
            return False
        level = inner
    return True


def _no_doubled_keys(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("doubled key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value
