"""``book.projections``: where each read model stands, and how to make it again (E2, E6)."""

from __future__ import annotations

from ..store.rebuild import Progress
from ..work import looking, verifying
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from .answers import Answer, Answers


class ProjectionsFace:
    """The projections of one book."""

    def __init__(self, runtime: Runtime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher

    def list(self) -> Answers:
        """``name``, ``version``, ``cursor``, ``head``, ``lag``, ``status``, ``error`` of each."""
        return [Answer(row) for row in looking.projections(self._runtime)]

    def rebuild(self, *names: str, progress: Progress | None = None) -> Answers:
        """Makes the named projections (none named: all) again from the log; readers see the old until the swap.

        ``progress(name, position, head)`` is called after each part. What is interrupted is taken up by the next
        rebuild of the same projection where it stopped.

        Raises InputError ``unknown_projection``, MemoryFault ``memory_drift`` for the memory file in drift.
        """
        self._runtime.require_writing("a rebuild")
        return [Answer(row) for row in verifying.rebuild(self._runtime, self._publisher, names, progress)]

    def retry(self, name: str) -> Answer:
        """Lets a halted projection try again."""
        self._runtime.require_writing("a retry")
        self._runtime.projections.retry(name)
        return self._row(name)

    def skip(self, name: str) -> Answer:
        """Passes over the event that halted a projection; the skip is an event (E6)."""
        self._runtime.require_writing("a skip")
        self._runtime.projections.skip(name)
        return self._row(name)

    def _row(self, name: str) -> Answer:
        return next(row for row in self.list() if row["name"] == name)
