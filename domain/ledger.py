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
from .summary_safety import redact_credentials
from .words import words

Kind: TypeAlias = Literal["path", "url", "id", "number"]

NAME_CHARS_MAX = 160
WORDS_MAX = 200_000
ASKED_WEIGHT = 2
"""How many outputs a word of the user's own is worth, when names out of outputs are ranked."""
SEEN_MAX = 64
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
_SEPARATOR = re.compile(r"[_.#:()-]+")
_SPOKEN_PIECE = re.compile(r"|[A-Za-z$]{1,60}\d{0,2}|\d{1,10}|[A-Z]{1,4}\d{1,5}")
_PART = re.compile(r"[A-Z]?[a-z]{2,40}|[A-Z]{2,40}")
_FLAG = re.compile(r"--[a-z][a-z0-9-]{1,40}")


def kind_of(word: str) -> Kind | None:
    """What kind of identifier a single word is; None for an ordinary word."""
    if not 2 <= len(word) <= NAME_CHARS_MAX:
        return None
    if word.startswith(("http://", "https://")):
        return "url"
    if "/" in word and not word.startswith("//") and not any(c in word for c in "<>$\\;&|`\"'()?"):
        pieces = [piece for piece in word.split("/") if piece]
        return "path" if pieces and any(c.isalpha() for c in word) and not _alternatives(word, pieces) else None
    for pattern in (_UUID, _HEX, _TICKET, _SNAKE, _HUMP, _FLAG):
        if pattern.fullmatch(word):
            return "id"
    if _VERSION.fullmatch(word) or _NUMBER.fullmatch(word):
        return "number"
    if _FILE.fullmatch(word) and not word.lower().startswith(("e.g", "i.e")):
        return "path"
    return "id" if _DOTTED.fullmatch(word) else None


def _alternatives(word: str, pieces: Sequence[str]) -> bool:
    """True for what prose sets side by side: and/or, Q3/Q4, Ann/Bob/Carol, and for a scheme without an address."""
    if word.startswith(("/", ".", "~")) or any("." in piece for piece in pieces):
        return False
    spoken = len(pieces) == 2 and all(piece.isalpha() for piece in pieces)
    return spoken or word.endswith("://") or all(piece[0].isupper() for piece in pieces)


def names(text: str) -> Iterable[tuple[str, Kind]]:
    """The identifiers of a text in order, with repetition."""
    for word in text.split(None, WORDS_MAX)[:WORDS_MAX]:
        if word.endswith("…") or "</" in word or "/>" in word:
            continue  # cut off: half a name is none; and a tag of a markup is none either
        bare = _file_of(word.strip(_STRIP).rstrip(".").removesuffix("'s"))
        if "=" in bare and "://" not in bare:
            bare = bare.rpartition("=")[2].strip(_STRIP)
        if (kind := kind_of(bare)) is not None:
            yield bare, kind


def _file_of(word: str) -> str:
    """The file of ``src/app.py:12`` or ``app.ts(8,22)``, as a search or a compiler points into it; else the word."""
    for mark in (":", "("):
        file, _, place = word.partition(mark)
        if place[:1].isdigit() and _FILE.fullmatch(file.rpartition("/")[2]):
            return file
    return word


def ledger(messages: Sequence[Material]) -> tuple[tuple[str, Kind], ...]:
    """The identifiers of ``messages``, the most telling first; those that only stood in an output come last."""
    named = spoken(messages)
    known = frozenset(name for name, _ in named)
    return (*named, *((name, kind) for name, kind in _seen(messages) if name not in known))


def spoken(messages: Sequence[Material]) -> tuple[tuple[str, Kind], ...]:
    """Those that were said or called with, the most telling first: by who named them, how often, and how late."""
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
    return tuple((name, kinds[name]) for name in sorted(scores, key=lambda n: (-scores[n], n)))


def _seen(messages: Sequence[Material]) -> list[tuple[str, Kind]]:
    """Names that stood in outputs: first those that share a word with what the user asked, or came up in many."""
    asked = frozenset(word for message in messages if message.role == "user" for word in words(message.said))
    found: dict[str, tuple[int, int, Kind]] = {}
    for number, message in enumerate(messages):
        for name, kind in dict(names(message.outputs)).items():
            if _speaks(name, kind):
                found[name] = (found.get(name, (0, 0, kind))[0] + 1, number, kind)
    scores = {name: count + ASKED_WEIGHT * len(asked & _parts(name)) for name, (count, _, _) in found.items()}
    ranked = sorted(found.items(), key=lambda item: (-scores[item[0]], -item[1][1], item[0]))
    chosen = ((name, messages[number].outputs, kind) for name, (_, number, kind) in ranked[: 2 * SEEN_MAX])
    return [(name, kind) for name, outputs, kind in chosen if _open(name, outputs)][:SEEN_MAX]


def _open(name: str, outputs: str) -> bool:
    """False for a name that the words around it make a credential: alone in a list it would not be known as one."""
    place = outputs.find(name)
    around = outputs[max(place - 80, 0) : place + len(name) + 80]
    return name in redact_credentials(around)[0]


def _parts(name: str) -> frozenset[str]:
    """The words that a name is made of: ``src/userBudget.ts`` of user, budget."""
    return frozenset(words(" ".join(_PART.findall(name))))


def _speaks(name: str, kind: Kind) -> bool:
    """True for a name that a person could read aloud: words and numbers, not an opaque key. Of bare numbers there are
    too many."""
    match kind:
        case "path":
            return "=" not in name and "@" not in name
        case "url":
            return not any(mark in name for mark in "?@#")
        case "id":
            return all(_SPOKEN_PIECE.fullmatch(piece) for piece in _SEPARATOR.split(name))
        case "number":
            return False
