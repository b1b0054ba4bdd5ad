"""A summariser that a test holds back while something else happens."""

from __future__ import annotations

import threading
from typing import Any

from minutebook import ExtractiveSummarizer


class Gate:
    """A summariser that waits until it is told to go on, and counts its calls."""

    name = "gate"

    def __init__(self) -> None:
        self.entered, self.go_on, self.calls = threading.Event(), threading.Event(), 0

    def summarize(self, request: Any) -> Any:
        self.calls += 1
        self.entered.set()
        assert self.go_on.wait(100)
        return ExtractiveSummarizer().summarize(request)
