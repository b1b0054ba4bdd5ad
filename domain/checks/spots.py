"""Where in a long text a secret can stand at all, found by plain searching, so that patterns run over little (D4).

Only a matter of speed: a text of a few lines is one stretch. A message of 64 kB costs a tenth of what the patterns
cost over all of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

SHORT_CHARS = 120
"""Up to this a text is one stretch: it would be anyhow."""
_BEFORE, _AFTER, _VALUE = 100, 600, 2_100
_STEMS = (
    *("pass", "pwd", "pw", "secret", "token", "credential", "auth", "key", "private", "access", "connection"),
    *("webhook", "bearer", "basic", "curl", "machine", "-u", "/user", "username", "login", "pin code"),
    *("kennwort", "contrase", "senha", "wachtwoord", "парол", "密码", "パスワード"),
    *("mysql", "mariadb", "postgres", "redis", "mongo", "oracle", "mssql", "clickhouse", "rabbitmq", "smtp"),
    *("imap", "ftp", "ssh", "ldap"),
)
"""What every pattern that rests on a word begins with, in small letters."""
_RUN = re.compile(r"\S{14,20000}")


def stretches(text: str) -> list[tuple[int, int]]:
    """The stretches of a text around the words that stand beside secrets; they do not touch one another."""
    if len(text) <= SHORT_CHARS:
        return [(0, len(text))]
    lowered = text.lower()
    if len(lowered) != len(text):
        return [(0, len(text))]  # A letter whose small form is longer: the places would not agree.
    found = []
    for stem in _STEMS:
        at = lowered.find(stem)
        while at >= 0:
            found.append((max(0, at - _BEFORE), at + _AFTER))
            at = lowered.find(stem, at + _AFTER // 2)
    return _joined(text, found)


def _joined(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        stop = min(_to_space(text, stop), len(text))
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(stop, kept[-1][1]))
        else:
            kept.append((start, stop))
    return kept


def _to_space(text: str, at: int) -> int:
    """Never inside a value: the end of the run of letters and signs that stands at a place."""
    ends = [end for end in (text.find(" ", at, at + _VALUE), text.find("\n", at, at + _VALUE)) if end >= 0]
    return min(ends) if ends else at + _VALUE


class Runs:
    """The long unbroken runs of a text, one a line: tokens have no space in them. Places lead back to the text."""

    def __init__(self, text: str) -> None:
        if len(text) <= SHORT_CHARS:
            self.text, self._starts, self._origins = text, [0], [0]
            return
        pieces: list[str] = []
        self._starts, self._origins, at, end = [], [], 0, -1
        for match in _RUN.finditer(text):
            if match.start() != end:
                pieces.append("\n")
                self._starts.append(at + 1)
                self._origins.append(match.start())
                at += 1
            pieces.append(match[0])
            at += len(match[0])
            end = match.end()
        self.text = "".join(pieces)

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
        """Matches, each with what has to be added to its places."""
        for match in pattern.finditer(self.text):
            piece = bisect_right(self._starts, match.start()) - 1
            yield match, self._origins[piece] - self._starts[piece]
