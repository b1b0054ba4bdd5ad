"""How far something long has come, on stderr: one line that is written over on a terminal, a line now and then else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

SHOWN_AFTER = 1.0
"""Seconds before anything is shown: most rebuilds are over by then."""
TERMINAL_EVERY, LINE_EVERY = 0.2, 10.0
"""Seconds between two looks of a person, and between two lines of a file."""


class Progress:
    """Called with a name, the position reached and the head."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._clock = clock
        self._began = clock()
        self._shown: float | None = None
        self._width = 0

    def __call__(self, name: str, position: int, head: int) -> None:
        now = self._clock()
        since = now - (self._began if self._shown is None else self._shown)
        wait = SHOWN_AFTER if self._shown is None else TERMINAL_EVERY if self._terminal else LINE_EVERY
        if since < wait:
            return
        self._shown = now
        text = f"{name}: {position:,} of {head:,} events"
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Leaves the line of a terminal empty for what comes next."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0
