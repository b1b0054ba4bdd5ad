"""``book.evidence``: what completed runs left behind, and what of it stands how (D14)."""

from __future__ import annotations

from ..work import evidence_catalogue
from ..work.evidence import Evidence as EvidenceWork
from ..work.runtime import Runtime
from .answers import Answer


class Evidence:
    """The evidence of one workspace."""

    def __init__(self, runtime: Runtime, work: EvidenceWork) -> None:
        self._runtime = runtime
        self._work = work

    def list(self, session: str | None = None, *, limit: int | None = None) -> list[Answer]:
        """Packets, the newest first: ``evidence``, ``session``, ``run``, ``hash``, ``claims`` with their ``state``."""
        return [Answer(row) for row in evidence_catalogue.listed(self._runtime, session, limit)]

    def show(self, id: str) -> Answer:
        """One packet, by its id or a claim's, with ``messages``, ``files``, ``verified`` (its hash holds), ``erased``.

        Raises InputError ``unknown_evidence``.
        """
        return Answer(evidence_catalogue.shown(self._runtime, id))

    def collect(self, session: str | None = None) -> Answer:
        """Reads the runs that succeeded since the last time, or all of one session, imported ones too.

        ``runs``, ``packets`` and ``claims`` that are new. A curation does the first by itself.
        Raises SessionError ``unknown_session``.
        """
        self._runtime.require_writing("a collection of evidence")
        collecting = self._work.collecting
        return Answer(collecting.collect() if session is None else collecting.collect_session(session))
