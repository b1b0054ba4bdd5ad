"""Other ways to read a text: what it looks like to an eye, and what it says when simple disguises are taken off.

The stored text is never changed by this; checks run on these views *besides* the text itself.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_LOOKS_LIKE = {
    # Cyrillic
    **dict(zip("аеорсухіјѕһԁԛԝѵӏкмтвнг", "aeopcyxijshdqwvlkmtbhr", strict=True)),
    # Greek
    **dict(zip("οανρικυτχγηωσεϲϳ", "oavpikutxynwoecj", strict=True)),
    # Armenian
    **dict(zip("օոսհցզքյ", "onuhgqpj", strict=True)),
    # Latin letters of other alphabets, small capitals
    **dict(zip("ɑɡıɩʟɪɴʀᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢʙɢʜʏꜱꜰɾʋ", "agiilinracdejkmoptuvwzbghysfru", strict=True)),
    # Cherokee, by their shape
    **dict(zip("ꭺꮯꭼꮋꭻꮮꮇꮲꮪꭲꮩꮃꮓ".casefold(), "aceghlmpsivwz", strict=True)),
    "ß": "ss",
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "’": "'",
    "‘": "'",
    "`": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "−": "-",
    "⁄": "/",
    "∕": "/",
}


@lru_cache(maxsize=8192)
def fold_char(char: str) -> str:
    """One character as an eye takes it: compatibility form, lower case, no Latin accent, look-alikes as Latin."""
    if " " <= char < "\x7f":
        return char.lower()
    category = unicodedata.category(char)
    if category in {"Cf", "Cc"} or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return "\n" if char in "\n\r\x0b\x0c\x85" else " " if char == "\t" else ""
    if category[0] == "Z":
        return "\n" if category in {"Zl", "Zp"} else " "
    plain = unicodedata.normalize("NFKD", char).casefold()
    return "".join(_LOOKS_LIKE.get(c, c) for c in plain if not "\u0300" <= c <= "\u036f")


def fold(text: str) -> str:
    """The whole text folded character by character."""
    return "".join(map(fold_char, text))


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text: its name, the folded text, and for each folded character its place in the original."""

    name: str
    text: str
    places: tuple[int, ...] = ()

    def span(self, start: int, stop: int) -> tuple[int, int] | None:
        """Where a stretch of this reading stands in the original; None where the reading has no places."""
        if not self.places or start >= stop:
            return None
        return self.places[start], self.places[stop - 1] + 1


def plain_view(text: str) -> View:
    """The folded text with places."""
    folded: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        piece = fold_char(char)
        folded.append(piece)
        places.extend([at] * len(piece))
    return View("plain", "".join(folded), tuple(places))


def disguised_views(text: str) -> Iterator[View]:
    """The readings behind spaced-out letters, digits for letters, reversed text and rot13; only where they differ."""
    folded = fold(text)
    seen = {folded}
    for name, reading in (
        ("letters set apart", unspaced(folded)),
        ("digits for letters", _unleet(folded)),
        ("reversed", folded[::-1]),
        ("rot13", codecs.encode(folded, "rot13")),
    ):
        if reading not in seen:
            seen.add(reading)
            yield View(name, reading)


_TOKEN = re.compile(r"[^\W_]{1,200}")
_LETTERS_MIN = 6


def unspaced(text: str) -> str:
    """Joins letters that stand alone ("i g n o r e", "i.g.n.o.r.e"); a wider gap than usual ends a word."""
    tokens = list(_TOKEN.finditer(text))
    pieces: list[str] = []
    done = start = 0
    while start < len(tokens):
        stop = start
        while stop < len(tokens) and len(tokens[stop][0]) == 1:
            if stop > start and tokens[stop].start() - tokens[stop - 1].end() > 4:
                break
            stop += 1
        if stop - start >= _LETTERS_MIN:
            run = tokens[start:stop]
            gaps = [text[a.end() : b.start()] for a, b in pairwise(run)]
            usual = max(set(gaps), key=lambda gap: (gaps.count(gap), -len(gap), gap))
            pieces.append(text[done : run[0].start()] + run[0][0])
            for gap, after in zip(gaps, run[1:], strict=True):
                # Symbols that may belong to a token (an underscore in a key) stay; the spacing itself goes.
                kept = gap.strip(" .-*|·•/,")
                pieces.append((" " if gap != usual and gap.isspace() else kept) + after[0])
            done = run[-1].end()
        start = max(stop, start + 1)
    pieces.append(text[done:])
    return "".join(pieces)


_LEET = str.maketrans("01345$@!7", "oieassait")
_LEET_WORD = re.compile(r"[a-z0-9$@!]{3,40}")


def _unleet(text: str) -> str:
    return _LEET_WORD.sub(lambda word: word[0].translate(_LEET) if any(map(str.isalpha, word[0])) else word[0], text)


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def folded_source(source: str) -> str:
    """A pattern for folded text: its letters beyond ASCII are folded as the text is."""
    return _NOT_ASCII.sub(lambda char: re.escape(fold_char(char[0])), source)
