"""``book.memory``: what is remembered, since when, from where, and how to change and undo it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...domain.message import JSON
from ..work import forgetting, intake, moments, proposals, remembering, telling
from ..work.moments import Moment
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from ..work.schedule import Curating
from .answers import Answer


class Memory:
    """Durable memory of one workspace."""

    def __init__(self, runtime: Runtime, publisher: Publisher, curating: Curating) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._curating = curating

    def entries(self) -> list[Answer]:
        """The entries of the current revision: ``id`` and ``text``."""
        return [Answer(entry) for entry in self.show()["entries"]]

    def show(self, revision: int | None = None, *, at: Moment | None = None) -> Answer:
        """A revision (the current one, a number, or that in force at a position or time).

        ``revision``, ``digest``, ``entries``, ``file``; of a displaced revision ``kept``, what stood in the file, with
        bytes that are no text as ``\\xe9``. Raises ``unknown_revision``, ``unknown_position``.
        """
        position = moments.position_of(self._runtime, at)
        return Answer(remembering.show(self._runtime, self._publisher, revision, position))

    def revisions(self, limit: int | None = None, *, before: int | None = None) -> list[Answer]:
        """Committed revisions, oldest first: ``revision``, ``kind``, ``parent``, ``position``, ``time``, ``digest``.

        ``limit`` keeps the newest, ``before`` those of smaller numbers: a page of a long log.
        """
        return [Answer(row) for row in remembering.revision_log(self._runtime, limit, before)]

    def diff(self, a: int, b: int) -> Answer:
        """``added``, ``removed`` and ``changed`` entries from revision ``a`` to ``b``.

        Raises MemoryFault ``unknown_revision``, ``revision_displaced`` for one that has no entries.
        """
        return Answer(remembering.diff(self._runtime, self._publisher, a, b))

    def blame(self, revision: int | None = None) -> list[Answer]:
        """Where each entry came from: ``entry``, ``text``, ``revision``, ``operation``, ``run``, ``messages``,
        ``actor``; ``checks`` that it passed then, ``overrides`` of findings that a person let pass."""
        return [Answer(row) for row in remembering.blame(self._runtime, self._publisher, revision)]

    def export(self, form: str = telling.MEMORY_FORMS[0]) -> bytes:
        """The current revision: ``text``, the bytes that MEMORY.md must have, or ``json``, as ``blame`` tells it.

        Raises InputError ``unknown_form``, MemoryFault ``revision_erased``.
        """
        return telling.memory_bytes(self._publisher.document().current, list(self.blame()), form)

    def propose(self, operation: JSON) -> Answer:
        """A person's own proposal: a run of one operation (D3). Answers ``candidate`` and ``status``."""
        self._runtime.require_writing("a proposal")
        return Answer(proposals.propose_as_person(self._runtime, self._publisher, operation))

    def forget(self, target: str) -> Answer:
        """A person forgets an entry (by id or a part of its text), a claim or a candidate (by id): it goes with the
        next curation and is not learnt again (D16). ``candidate``, ``status``, ``block``.

        Raises MemoryFault ``target_unknown``, ``target_ambiguous``.
        """
        self._runtime.require_writing("to forget")
        return Answer(forgetting.forget(self._runtime, self._publisher, target))

    def forgotten(self) -> list[Answer]:
        """What must not be learnt again, and what was once: ``block``, ``text``, ``sources``, ``lifted`` (D16).

        ``reason`` is ``forgotten``, or ``erased`` for what an erasure left: ``texts`` says how many, ``text`` is None.
        """
        return [Answer(row) for row in forgetting.forgotten(self._runtime)]

    def allow(self, block: str) -> Answer:
        """Lifts a block, also that of an erasure: the fact may be learnt again, from new evidence.

        Raises MemoryFault ``not_forgotten``.
        """
        self._runtime.require_writing("to lift a block")
        return Answer(forgetting.allow(self._runtime, block))

    def restore(self, revision: int, *, discard_edit: bool = False, allow: Sequence[str] = ()) -> Answer:
        """Makes a new revision from an old one, through today's checks (D9).

        ``allow`` names findings that may pass. Raises MemoryFault ``memory_drift``, ``memory_invalid``.
        """
        self._runtime.require_writing("a restore")
        return Answer(remembering.restore(self._runtime, self._publisher, revision, discard_edit, tuple(allow)))

    def sync(self, fix: bool = False, *, allow: Sequence[str] = ()) -> Answer:
        """Takes the file as edited by hand for a manual revision; with a clean file, curates (D6, D8).

        Raises MemoryFault ``memory_invalid`` (with ``problems``) or ``memory_not_canonical`` (mend: ``fix=True``).
        """
        self._runtime.require_writing("a sync")
        return Answer(remembering.sync(self._runtime, self._publisher, self._curating, fix, tuple(allow)))

    def preview(self, source: str | Path | bytes, *, allow: Sequence[str] = ()) -> Answer:
        """What ``import_notes`` would make of an old memory file (a path, or its bytes); changes nothing.

        ``kind``, ``entries`` (``line``, ``text``), ``refused`` (``line``, ``code``, ``message``), ``left_out``.
        """
        return Answer(intake.preview(self._runtime, self._publisher, source, tuple(allow)))

    def import_notes(self, source: str | Path | bytes, *, allow: Sequence[str] = (), skip: bool = False) -> Answer:
        """Adds the entries of a multi-line ``§`` file or of Markdown notes as one manual revision.

        Given the memory file itself while it is edited or not yet adopted, it takes the place of what it reads as; its
        bytes are kept as a displaced revision. ``skip`` takes what passes though something is refused.
        Raises MemoryFault ``memory_invalid`` (``problems`` with lines), ``memory_drift``; InputError.
        """
        self._runtime.require_writing("an import")
        return Answer(intake.import_notes(self._runtime, self._publisher, source, tuple(allow), skip))

    def status(self) -> Answer:
        """``state`` and ``cause``, ``automatic_curation``, ``pending``, ``quarantined``, ``last_error`` and more."""
        return Answer(remembering.status(self._runtime, self._publisher, self._curating))

    def candidates(self, status: str | None = None) -> list[Answer]:
        """Every proposal, or those of one state, with ``status``, ``text``, and the ``reason`` it came to nothing (D3).

        States: proposed, admitted, quarantined, approved, declined, withdrawn, refused, set_aside, consumed.
        """
        return [Answer(row) for row in remembering.listed(self._runtime, *remembering.require_status(status))]

    def quarantine(self) -> list[Answer]:
        """Candidates of low trust that wait for a person (D13)."""
        return [Answer(row) for row in remembering.listed(self._runtime, "quarantined")]

    def approve(self, candidate: str) -> Answer:
        """Lets a candidate pass to the curator that is in quarantine, or was set aside."""
        return Answer(proposals.approve(self._runtime, candidate))

    def reject(self, candidate: str) -> Answer:
        """Refuses a candidate that is in quarantine, or was set aside."""
        return Answer(proposals.decline(self._runtime, candidate))
