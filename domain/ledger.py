"""The mechanical ledger of a stretch of history: paths, urls, ids, versions and numbers that were named in it.

Words are taken one by one, each bounded and looked at once, so that the cost is linear in the text whatever it
holds. What the user named counts most, then what tools were called with, then what the assistant named, and least what
only stood in an output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from .summary import Material

Kind: TypeAlias = Literal["path", "url", "id", "number"]

NAME_CHARS_MAX = 160
WORDS_MAX = 200_000
SEEN_MAX = 24
"""Names that nobody said and no tool was called with: a few of those that came up most."""

_STRIP = "`'\"“”‘’«»()[]{}<>,;:!?*|=…"
_FILE = re.compile(
    r"[\w@.+-]{1,80}\.(?:py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|env|lock|md|mdx|"
    r"rst|txt|log|csv|tsv|xml|html?|css|scss|sql|db|sqlite|sh|bash|zsh|ps1|bat|rs|go|java|kt|swift|c|h|cc|cpp|hpp|cs|"
    r"rb|php|pl|lua|r|jl|ex|exs|erl|hs|ml|scala|clj|dart|tf|proto|graphql|patch|diff|png|jpe?g|gif|svg|webp|ico|pdf|"
    r"docx?|xlsx?|pptx?|zip|gz|tgz|tar|whl|jar|wasm|so|dll|exe|map|snap|traj|tex)",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_TICKET = re.compile(r"#\d{1,9}|[A-Z][A-Z0-9]{1,9}-\d{1,9}|[\w.-]{1,60}#\d{1,9}")
_VERSION = re.compile(r"v?\d{1,4}\.\d{1,5}(?:\.\d{1,6}){0,2}(?:[-+][\w.]{1,20})?")
_NUMBER = re.compile(
    r"[$€£]?\d{1,3}(?:,\d{3}){1,4}|[$€£]?\d{2,15}(?:\.\d{1,6})?(?:%|ms|s|kb|mb|gb|k|m)?|\d{1,3}%", re.IGNORECASE
)
_SNAKE = re.compile(r"[A-Za-z_$][\w$]{1,60}_[\w$]{1,60}(?:\(\))?")
_HUMP = re.compile(r"[A-Za-z]{0,20}[a-z]{1,30}[A-Z][A-Za-z0-9]{1,60}(?:\(\))?")
_DOTTED = re.compile(r"[A-Za-z_]\w{1,40}(?:(?:\.|::)[A-Za-z_]\w{0,40}){1,5}(?:\(\))?")
_FLAG = re.compile(r"--[a-z][a-z0-9-]{1,40}")


def kind_of(word: str) -> Kind | None:
    """What kind of identifier a single word is; None for an ordinary word."""
    if not 2 <= len(word) <= NAME_CHARS_MAX:
        return None
    if word.startswith(("http://", "https://")):
        return "url"
    if "/" in word and not word.startswith("//") and not any(c in word for c in ">$\\;&|`\"'()"):
        pieces = [piece for piece in word.split("/") if piece]
        wordlike = len(pieces) == 2 and all(piece.isalpha() for piece in pieces) and not word.startswith(("/", "."))
        return "path" if pieces and any(c.isalpha() for c in word) and not wordlike else None
    for pattern in (_UUID, _HEX, _TICKET, _SNAKE, _HUMP, _FLAG):
        if pattern.fullmatch(word):
            return "id"
    if _VERSION.fullmatch(word) or _NUMBER.fullmatch(word):
        return "number"
    if _FILE.fullmatch(word) and not word.lower().startswith(("e.g", "i.e")):
        return "path"
    return "id" if _DOTTED.fullmatch(word) else None


def names(text: str) -> Iterable[tuple[str, Kind]]:
    """The identifiers of a text in order, with repetition."""
    for word in text.split(None, WORDS_MAX)[:WORDS_MAX]:
        if word.endswith("…"):
            continue  # cut off: half a name is none
        bare = word.strip(_STRIP).rstrip(".").removesuffix("'s")
        if "=" in bare and "://" not in bare:
            bare = bare.rpartition("=")[2].strip(_STRIP)
        if (kind := kind_of(bare)) is not None:
            yield bare, kind


def ledger(messages: Sequence[Material]) -> tuple[tuple[str, Kind], ...]:
    """The identifiers of ``messages``, the most telling first: by who named them, how often, and how late."""
    scores: dict[str, float] = {}
    kinds: dict[str, Kind] = {}
    for number, message in enumerate(messages):
        late = 1.0 + number / max(len(messages), 1)
        said = 3.0 if message.role == "user" else 1.0
        sources = [(message.said, said)] + [(arguments, 2.0) for _, arguments in message.calls]
        for text, weight in sources:
            for name, kind in names(text):
                kinds[name] = kind
                # The fifth mention tells less than the first: otherwise one busy file hides all others.
                scores[name] = scores.get(name, 0.0) * 0.7 + weight * late * (0.6 if kind == "number" else 1.0)
    named = [(name, kinds[name]) for name in sorted(scores, key=lambda n: (-scores[n], n))]
    return (*named, *((name, kind) for name, kind in _seen(messages) if name not in scores))


def _seen(messages: Sequence[Material]) -> list[tuple[str, Kind]]:
    """Names that stood in outputs, those in most outputs first, later before earlier."""
    found: dict[str, tuple[int, int, Kind]] = {}
    for number, message in enumerate(messages):
        for name, kind in dict(names(message.outputs)).items():
            if _speaks(name, kind):
                found[name] = (found.get(name, (0, 0, kind))[0] + 1, number, kind)
    ranked = sorted(found.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    return [(name, kind) for name, (_, _, kind) in ranked[:SEEN_MAX]]


def _speaks(name: str, kind: Kind) -> bool:
    """True for a name that a person could read aloud. A key out of an output, without the words around it by which it
    would be known as one, is opaque; numbers there are too many of."""
    match kind:
        case "path":
            return "=" not in name and "@" not in name
        case "url":
            return not any(mark in name for mark in "?@#")
        case "id":
            return not any(character.isdigit() for character in name)
        case "number":
            return False
