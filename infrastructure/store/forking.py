"""What a fork may do to a process with threads: locks that stay shut, and transactions that never end.

Fork copies every lock as it is, and of all threads only the one that forked. ``ForkLock`` is open in the child whoever
held it. SQLite keeps in the process's own memory who may write to a file: a child that was forked in the middle of
another thread's transaction would find that place taken for ever, so that a fork waits for such transactions a while
(``unforked``). What a lock guards is the child's own copy; each user sees to it that a half-made change does no harm.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from weakref import WeakSet

FORK_SECONDS_MAX = 5.0
"""So long a fork waits for the transactions of other threads; then it goes on, and the child may be unable to write."""

_LIVE: WeakSet[ForkLock] = WeakSet()
_turn = threading.Condition(threading.RLock())
_inside: Counter[int] = Counter()
_waiting = 0


class ForkLock:
    """As ``threading.Lock``, for whatever lives as long as a book."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = 0
        _LIVE.add(self)

    def acquire(self, blocking: bool = True, timeout: float = -1.0) -> bool:
        """Whether it is held now."""
        held = self._lock.acquire(blocking, timeout)
        if held:
            self._holder = threading.get_ident()
        return held

    def release(self) -> None:
        self._holder = 0
        self._lock.release()

    def locked(self) -> bool:
        return self._lock.locked()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


@contextmanager
def unforked() -> Iterator[None]:
    """A transaction in the middle of which no other thread forks."""
    me = threading.get_ident()
    with _turn:
        while _waiting and not _inside[me]:
            _turn.wait(FORK_SECONDS_MAX)  # who is in the middle ends first, then the fork has its turn
        _inside[me] += 1
    try:
        yield
    finally:
        with _turn:
            _inside[me] -= 1
            if not _inside[me]:
                del _inside[me]
            _turn.notify_all()


def fork_waits() -> bool:
    """Whether a thread wants to fork and cannot yet."""
    return bool(_waiting)


def _before_fork() -> None:
    global _waiting
    _turn.acquire()  # until after the fork: nobody begins a transaction meanwhile
    until = time.monotonic() + FORK_SECONDS_MAX
    _waiting += 1
    while _inside.keys() - {threading.get_ident()} and (left := until - time.monotonic()) > 0:
        _turn.wait(left)
    _waiting -= 1


def _after_in_parent() -> None:
    _turn.notify_all()
    _turn.release()


def _after_fork() -> None:
    global _turn, _waiting
    # What the thread that forked holds it still holds in the child, and lets go there.
    mine = threading.get_ident()
    for each in list(_LIVE):
        if each._holder != mine:
            each._lock, each._holder = threading.Lock(), 0
    _turn, _waiting = threading.Condition(threading.RLock()), 0
    for other in _inside.keys() - {mine}:
        del _inside[other]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_fork)
