"""PostgreSQL's NOTIFY as a hint that the log has grown: it may shorten a wait, and a lost one costs no more than that.

The append sends it (``postgres_guards``). Nothing here is waited for, and nothing that fails here is an error: whoever
waits looks at the log again in any case.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...domain.errors import MinutebookError
from .database import Database
from .faults import guard

CHANNEL = "minutebook"
LOOK_SECONDS = 0.5
"""Between two looks whether to go on listening."""
REDIAL_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Before each new try to listen; the last one again and again."""


class Listening:
    """A thread with a connection of its own that calls ``wake`` when somebody has appended, until ``stop``."""

    def __init__(self, database: Database, wake: Callable[[], None]) -> None:
        self._database = database
        self._wake = wake
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="minutebook-listening", daemon=True)
        self.connected = threading.Event()
        """Set while a connection listens."""

    def start(self) -> None:
        """Only a server notifies; on SQLite nothing happens."""
        if not self._database.sqlite:
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(4 * LOOK_SECONDS)

    def _listen(self) -> None:
        tries = 0
        while not self._stopping.is_set():
            try:
                with guard():
                    self._hear()
                tries = 0
            except MinutebookError:
                tries += 1
            if self.connected.is_set():
                self.connected.clear()
                tries = 1
            self._stopping.wait(REDIAL_SECONDS[min(tries, len(REDIAL_SECONDS)) - 1])

    def _hear(self) -> None:
        connection = self._database.engine.connect()
        try:
            driver: Any = connection.connection.driver_connection
            driver.execute(f"LISTEN {CHANNEL}")
            self.connected.set()
            # What was appended while nobody listened has told nobody.
            self._wake()
            while not self._stopping.is_set():
                for _ in driver.notifies(timeout=LOOK_SECONDS):
                    self._wake()
                    if self._stopping.is_set():
                        break
        finally:
            # Not back into the pool: whoever took it from there would go on being notified.
            connection.invalidate()
            connection.close()
