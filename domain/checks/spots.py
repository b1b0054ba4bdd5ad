"""Where in a long text a token can stand at all, so that patterns run over little (D4). Only a matter of speed."""

from __future__ import annotations

import re
from bisect import bisect_right

SHORT_CHARS = 120
"""Up to this a text is taken as it is."""
_RUN = re.compile(r"\S{14,20000}")


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

    def shift(self, at: int) -> int:
        """What has to be added to a place in these runs for its place in the text."""
        piece = bisect_right(self._starts, at) - 1
        return self._origins[piece] - self._starts[piece]
