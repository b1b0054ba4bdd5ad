"""``book.erase`` and ``book.erasures``: erasing what must go, and the proof that it went (E8)."""

from __future__ import annotations

from collections.abc import Sequence

from ..work import forgetting
from ..work.erasure import blocks
from ..work.erasure.erasures import Erasures
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from .answers import Answer, Answers


class ErasuresFace:
    """The erasures of one book."""

    def __init__(self, runtime: Runtime, erasures: Erasures) -> None:
        self._runtime = runtime
        self._erasures = erasures

    def list(self) -> Answers:
        """Each with ``kind``, ``id``, ``status`` (``completed`` or ``unfinished``), who, when, why, its ``receipt``."""
        return [Answer(row) for row in self._erasures.listed()]

    def show(self, erasure: str) -> Answer:
        """One of them, with all that it named. Raises InputError ``unknown_erasure``."""
        return Answer(self._erasures.one(erasure))

    def finish(self) -> Answers:
        """Goes on with what is unfinished; an answer as ``book.erase`` gives it for each."""
        return [Answer(row) for row in self._erasures.finish()]

    def allow(self, erasure: str) -> Answer:
        """Lets be learned again what an erasure took out of memory, or what was forgotten under that id.

        Raises MemoryFault ``nothing_blocked``.
        """
        if forgetting.blocked(self._runtime, erasure):
            done = forgetting.allow(self._runtime, erasure)
            return Answer({"erasure": None, "status": done["status"], "block": erasure})
        return Answer(blocks.allow(self._runtime, erasure))


class Erasing:
    """The part of a book that erases."""

    erasures: ErasuresFace
    _erasures: Erasures

    def _can_erase(self, runtime: Runtime, publisher: Publisher) -> None:
        self._erasures = Erasures(runtime, publisher)
        self.erasures = ErasuresFace(runtime, self._erasures)

    def erase(
        self, kind: str, id: str | int, *, reason: str = "", session: str | None = None, dry_run: bool = False,
        everywhere: bool | None = None, keep: Sequence[str] = (), block: bool = True,
    ) -> Answer:  # fmt: skip
        """Erases a ``session``, a ``message`` or an ``entry`` with what was derived from it; it cannot be undone.

        ``erased``, ``derived`` (each with what was done), ``elsewhere`` (what repeats the words and was left),
        ``receipt`` (None while something is in the way: ``waits_for``). ``everywhere`` erases what repeats the words
        too (default: for an entry), ``keep`` names entries that stay though they were derived, ``block=False`` lets
        the same be learned again. Raises ``already_erased``, ``run_open``, ``memory_drift``, ``erasure_busy``.
        """
        if dry_run:
            return Answer(self._erasures.look(kind, id, session, everywhere, keep))
        return Answer(
            self._erasures.erase(
                kind, id, reason=reason, session=session, everywhere=everywhere, keep=keep, block=block
            )
        )
