"""A server that says nothing: is it still at it, or is the answer lost? (I1, F29)

The system notices a host that is gone, by what TCP does not get back. It does not notice a machine whose disk hangs, a
balancer or tunnel that keeps the connection and passes nothing on, or an answer that was dropped on the way. So after
``connect_timeout`` of silence the server is asked, over a connection of its own, whether it works for ours. While it
does, it is waited for, however long that takes. If it does not, or does not answer in its turn, ours is given up.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg

_WORKING = "SELECT state = 'active' FROM pg_stat_activity WHERE pid = %s"


class Watched(psycopg.Connection[Any]):
    """A connection of psycopg that is not waited for when the server has forgotten it."""

    _dialled: dict[str, Any] | None = None
    _patience = 0.0

    @classmethod
    def dial(cls, **arguments: Any) -> Watched:
        """As ``psycopg.connect``; keeps what it was dialled with."""
        dialled = cls.connect(**arguments)
        dialled._dialled, dialled._patience = arguments, float(arguments["connect_timeout"])
        return dialled

    def wait(self, gen: Generator[Any, Any, Any], *more: Any, **options: Any) -> Any:
        return super().wait(self._listening(gen) if self._patience else gen, *more, **options)

    def _listening(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        try:
            wanted = next(gen)
            heard = time.monotonic()
            while True:
                ready = yield wanted
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard > self._patience:
                    if not self._working():
                        self.pgconn.finish()
                        raise psycopg.OperationalError(
                            f"the server has said nothing for {self._patience:g} seconds: connection given up"
                        )
                    heard = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as ended:
            return ended.value

    def _working(self) -> bool:
        """Whether the server is at what this connection said last; in doubt it is."""
        if self._dialled is None:
            return False
        try:
            with Watched.connect(**self._dialled) as other:
                other._patience = self._patience  # asked once and not about itself
                row = other.execute(_WORKING, (self.pgconn.backend_pid,)).fetchone()
                if row is not None:
                    return bool(row[0])
                # Behind a pooler its numbers are not the server's: then nothing is known.
                [own] = other.execute("SELECT pg_backend_pid()").fetchone() or [None]
                return bool(own != other.pgconn.backend_pid)
        except psycopg.Error as error:
            return "FATAL" in str(error)  # it lives, and lets nobody in
