"""How many tokens a text, a message or a tool schema takes, offline and script-aware (M5).

``estimate`` reads a text as classes of bytes and weighs what a byte-pair vocabulary would cut: word starts,
case humps, digits, punctuation, line breaks, and every script outside ASCII by the lead byte of its UTF-8.
It was fitted on the transcripts under ``shared/data``, source code, encoded blobs, white space and some
thirty languages against ``o200k_base`` and ``cl100k_base``. Measured, as estimate over actual:

* real transcripts, prose, code, JSON: 0.94 to 1.46, median 1.06, of the larger of the two;
* base64, hex, uuids, numbers, punctuation, mixed white space, control characters: 0.5 to 1.9;
* Chinese, Japanese, Korean: 1.0 to 1.2 of cl100k, 1.4 to 1.9 of o200k (chars/4 gives 0.25 to 0.5 of them);
* other languages: 0.6 to 1.4 of cl100k; of o200k 1.2 to 2.5, Georgian 3.6.

Against ``voyage3_base``, which makes a token of every digit, it stays above 0.5 as well. Rulers (``-----``)
and long runs of tabs or blank lines are over-counted 3 to 7 times. Random code points of rare scripts, which
no text consists of, are under-counted (0.3 to 0.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from .jsontext import compact
from .media import Plain, locate, recognise
from .message import JSON, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

COUNTER = "estimate-1"
"""The name that is recorded beside a count; another rule gets another name, so that a replay decides alike (M5)."""

Count: TypeAlias = Callable[[str], int]
"""Tokens of a text: pure, total, 0 for the empty text, linear."""

MESSAGE_TOKENS = 4
"""What the envelope of one message (role and separators) costs."""
CALL_TOKENS = 8
"""What the envelope of one tool call or result costs beside its name, arguments and text."""
TOOL_TOKENS = 8
"""What one tool schema costs beside its JSON."""
IMAGE_TOKENS = 1_600
"""One image, whatever its bytes: the most that the Anthropic API takes for one; OpenAI takes 85 to 1,600."""
FILE_TOKENS_MIN = 1_600
FILE_BYTES_PER_TOKEN = 40
"""A document that is sent as a file: about 2,000 tokens for a page of 80 kB."""
AUDIO_TOKENS_MIN = 100
AUDIO_BYTES_PER_TOKEN = 1_600
"""Sound: about 10 tokens a second at 16 kB a second."""
BLOB_CHARS_PER_TOKEN = 5
"""Sealed reasoning (a signature, redacted data): base64 of text, so 5 characters stand for a token of it."""

SAMPLE_CHARS = 262_144
SAMPLE_BLOCK = 4_096
SAMPLE_STRIDE = 4
"""A text beyond ``SAMPLE_CHARS`` is measured on every fourth block: an append of 1 MB costs some 5 ms."""


def _classes() -> bytes:
    """ASCII to: a lower, A upper, 0 digit, space, t tab, n line break, p punctuation, c control; x beyond."""
    table = bytearray(b"x" * 256)
    for code in range(128):
        char = chr(code)
        if char.islower():
            table[code] = ord("a")
        elif char.isupper():
            table[code] = ord("A")
        elif char.isdigit():
            table[code] = ord("0")
        elif char in " ":
            table[code] = ord(" ")
        elif char == "\t":
            table[code] = ord("t")
        elif char in "\r\n":
            table[code] = ord("n")
        else:
            table[code] = ord("p") if char.isprintable() else ord("c")
    return bytes(table)


_CLASSES = _classes()
_LETTERS = bytes(ord("a") if byte in b"aA" else ord(" ") for byte in _CLASSES)
_LONG = b"a" * 20
_RULERS = (b"----", b"====", b"####")

_SCRIPTS: tuple[tuple[int, int, int], ...] = (
    # lead bytes from, to, thousandths of a token for a character
    (0xC2, 0xC3, 500),  # Latin-1: accents inside words
    (0xC4, 0xCA, 900),  # Latin extended, phonetic
    (0xCB, 0xCD, 1_200),  # combining marks
    (0xCE, 0xCF, 600),  # Greek
    (0xD0, 0xD3, 500),  # Cyrillic
    (0xD4, 0xDF, 700),  # Armenian, Hebrew, Arabic, Syriac, ...
    (0xE0, 0xE0, 900),  # Indic scripts, Thai, Lao
    (0xE1, 0xE1, 1_500),  # Tibetan, Burmese, Georgian, Ethiopic, Vietnamese letters, ...
    (0xE2, 0xE2, 1_300),  # quotes and dashes, arrows, box drawing
    (0xE3, 0xE9, 1_000),  # kana, ideographs
    (0xEA, 0xED, 1_300),  # Hangul
    (0xEE, 0xEE, 1_600),  # private use
    (0xEF, 0xEF, 1_000),  # full width forms
    (0xF0, 0xF4, 2_200),  # emoji, rare ideographs
)
_GROUPS = bytes(
    next((index for index, (low, high, _) in enumerate(_SCRIPTS, 1) if low <= byte <= high), 0) for byte in range(256)
)
_ASCII_AND_TAILS = bytes(byte for byte in range(256) if byte < 0xC2)


def estimate(text: str) -> int:
    """Tokens of ``text``, for any script; 0 only for the empty text. Linear, about 20 ns a character or less."""
    if not text:
        return 0
    if len(text) > SAMPLE_CHARS:
        starts = range(0, len(text), SAMPLE_BLOCK * SAMPLE_STRIDE)
        sample = "".join([text[start : start + SAMPLE_BLOCK] for start in starts])
        return max(1, _thousandths(sample) * len(text) // len(sample) // 1_000)
    return max(1, (_thousandths(text) + 500) // 1_000)


def _thousandths(text: str) -> int:
    ascii_only = text.isascii()
    data = text.encode("ascii") if ascii_only else text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_CLASSES)
    count = kinds.count
    words = (b" " + data.translate(_LETTERS)).count(b" a")
    rulers = sum([data.count(ruler) for ruler in _RULERS])
    rare = data.count(b"j") + data.count(b"q") + data.count(b"x") + data.count(b"z")
    total = (
        1_180 * words
        + 4_000 * count(_LONG)  # no word is so long: a blob, cut every two or three letters
        + 500 * rare  # letters that are rare in words and common in blobs
        + 960 * count(b"aA")
        + 450 * count(b"A")
        + 620 * count(b"0")
        + 490 * count(b"0a")
        + 350 * count(b"p")
        + 460 * count(b" p")
        - 1_200 * rulers
        + 980 * count(b"n ")
        + 200 * count(b"n")
        + 250 * count(b"t")
        + 800 * count(b"c")
        + 8 * len(data)
    )
    return total if ascii_only else total + _beyond_ascii(data)


def _beyond_ascii(data: bytes) -> int:
    leads = data.translate(_GROUPS, _ASCII_AND_TAILS)
    return sum([leads.count(index) * weight for index, (_, _, weight) in enumerate(_SCRIPTS, 1)])


@dataclass(frozen=True, slots=True)
class Counter:
    """Who counts: the name that is recorded, and the function. Two of one name count alike (M5).

    It counts texts; images, files, sealed reasoning and the envelopes of messages and calls are constants under
    every counter.
    """

    name: str
    count: Count = field(compare=False, repr=False)


ESTIMATE = Counter(COUNTER, estimate)
"""The default: offline, no dependency, script-aware."""


def count_text(text: str, count: Count = estimate) -> int:
    """Tokens of a text that stands alone as a message: a system prompt, a summary."""
    return count(text) + MESSAGE_TOKENS if text else 0


def count_media(media: Media, count: Count = estimate) -> int:
    """Tokens of an image, a sound or a file by constants, never by the length of its base64; of a text, its own."""
    if media.media_type.startswith("text/"):
        return _texts(media.raw, count)
    match media.kind:
        case "image":
            return IMAGE_TOKENS
        case "audio":
            return max(AUDIO_TOKENS_MIN, media.size // AUDIO_BYTES_PER_TOKEN)
        case _:
            return max(FILE_TOKENS_MIN, media.size // FILE_BYTES_PER_TOKEN)


def _texts(raw: JSON, count: Count) -> int:
    """Tokens of a document whose text stands in the message, wherever its shape holds it."""
    place = locate(raw)
    return count(f"{place.title}\n{place.text}") if isinstance(place, Plain) else FILE_TOKENS_MIN


def count_parts(parts: Iterable[Part], count: Count = estimate) -> int:
    """Tokens of neutral parts: texts, reasoning, calls with their arguments, results with their media."""
    return sum([_part(part, count) for part in parts])


def _part(part: Part, count: Count) -> int:
    match part:
        case Text(text):
            return count(text)
        case Reasoning(text, raw):
            return count(text) + _blob(raw)
        case ToolCall(_, name, arguments):
            return count(name) + count(arguments) + CALL_TOKENS
        case ToolResult():
            media = sum([_part(item, count) for item in part.media])
            return count(part.text) + CALL_TOKENS + media
        case Media():
            return count_media(part, count)
        case Opaque(raw):
            return _walk(raw, count)
    assert_never(part)


def _blob(raw: JSON) -> int:
    if not isinstance(raw, dict):
        return 0
    return sum(
        [len(raw[key]) // BLOB_CHARS_PER_TOKEN for key in _BLOBS if isinstance(raw.get(key), str)],
    )


def count_message(parts: Iterable[Part], count: Count = estimate) -> int:
    """Tokens of one message given as neutral parts, its envelope included."""
    return count_parts(parts, count) + MESSAGE_TOKENS


def count_source(source: JSON, count: Count = estimate) -> int:
    """Tokens of an OpenAI or Anthropic message in its own form: every string in it, envelope included (M5).

    Calls with empty text, their arguments, hidden reasoning and results all count; images, sound and files
    count by constants. A transcript row carries more than its message: count its view by ``count_message``.
    """
    return _walk(source, count) + MESSAGE_TOKENS


_ENVELOPE = frozenset({"type", "role", "id", "tool_use_id", "tool_call_id", "cache_control", "media_type"})
"""Keys whose values are structure: the envelope constants stand for them."""
_BLOBS = ("signature", "data", "thinkingSignature", "encrypted_content")
_CALLS = frozenset({"tool_use", "tool_result", "function", "custom", "server_tool_use"})


def _walk(source: JSON, count: Count) -> int:
    # A loop, not a recursion: what was recorded may be nested deeper than Python's stack.
    total, texts, stack = 0, [], [source]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif isinstance(value, dict):
            media = recognise(value)
            if media is not None:
                total += count_media(media, count)
                continue
            kind = value.get("type")
            if kind in _CALLS if isinstance(kind, str) else value.get("role") in ("tool", "function"):
                total += CALL_TOKENS
            total += _entries(value, kind, texts, stack)
    return total + (count("\n".join(texts)) if texts else 0)


def _entries(value: dict[str, JSON], kind: JSON, texts: list[str], stack: list[JSON]) -> int:
    """Puts the texts of an object on ``texts`` and its inner values on ``stack``; returns the tokens of blobs."""
    blobs = 0
    for key, inner in value.items():
        if key == "input" and isinstance(inner, dict):
            texts.append(compact(inner))
        elif key in _BLOBS and isinstance(inner, str) and (key != "data" or kind == "redacted_thinking"):
            blobs += len(inner) // BLOB_CHARS_PER_TOKEN
        elif key not in _ENVELOPE or not isinstance(inner, str):
            stack.append(inner)
    return blobs


def count_tools(tools: Iterable[JSON], count: Count = estimate) -> int:
    """Tokens of tool schemas, as the JSON that is sent."""
    return sum([count(compact(tool)) + TOOL_TOKENS for tool in tools])
