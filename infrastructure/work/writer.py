"""The five steps by which a revision reaches the file (D5, engine.md)::

    lock - file equals the last committed revision - RevisionPrepared - file replaced - RevisionCommitted + cursor

File and cursor cannot share a transaction, so the content hash is the arbiter. The lock is held by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...domain.document import render
from ...domain.errors import MemoryFault, StoreError
from ...domain.events import Event
from ...domain.revision import Draft, MemoryDocument, Revision
from ..store.failpoints import failpoint
from ..store.log import Expectation
from .file_state import FileState, Mark, file_state
from .ledger import Advance, Ledger
from .recovery import sweep
from .replacement import FileChanged, InDoubt, refuse_early, replace
from .safe_file import Bytes, FileLook
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Published:
    """The answer of a change: the revision that holds now, whether it is new, what was fixed, what was displaced."""

    revision: int
    digest: str | None
    changed: bool = True
    fixed: tuple[str, ...] = ()
    displaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class With:
    """What belongs to the transaction of the prepared revision: events of other streams, streams that must not have
    moved, and a fence that may refuse it (a lease that was lost, D15)."""

    also: Sequence[Event] = ()
    expects: Sequence[Expectation] = ()
    fence: Advance | None = None
    recheck: Callable[[], None] | None = None
    """Asked once more when all is ready and nothing is written: it may refuse too, and the revision is abandoned."""


class Writer:
    """Writes revisions of one document into one workspace's file."""

    def __init__(self, ledger: Ledger, workspace: Workspace) -> None:
        self.ledger = ledger
        self.workspace = workspace

    def state(self, document: MemoryDocument, look: FileLook) -> FileState:
        mark = self.marked() if isinstance(look, Bytes) and look.digest != document.digest else None
        return file_state(document, look, self.workspace.shown, mark)

    def marked(self) -> Mark | None:
        """The last revision that was written in this folder, as far as it was noted."""
        return Mark.read(self.workspace.noted())

    def mark(self) -> None:
        """Notes the current revision beside the database, which a restored backup of it will not know (F36)."""
        current = self.ledger.document().current
        if current is not None and (line := Mark(current.number, current.digest).line()) != self.workspace.noted():
            self.workspace.note(line)

    def report(self, document: MemoryDocument, found: FileState) -> None:
        """Records drift that was not recorded before (D8)."""
        if found.finding is not None:
            self.ledger.report(document, found.finding)

    def require_clean(self, document: MemoryDocument, look: FileLook) -> None:
        """Step 1. Raises MemoryFault ``memory_drift`` or the code of a file that is never touched."""
        found = self.state(document, look)
        if not found.clean:
            self.report(document, found)
            raise found.error()

    def write(
        self, document: MemoryDocument, draft: Draft, look: FileLook, transaction: With | None = None
    ) -> Published:
        """Steps 2 to 5, over a file that was just looked at. Raises MemoryFault; its inputs stay pending then."""
        transaction = transaction or With()
        base = look if isinstance(look, Bytes) else None
        data = render(draft.texts)
        if len(data) > self.workspace.bytes_max:
            raise MemoryFault(
                f"the document has {len(data):,} bytes, the file may have {self.workspace.bytes_max:,}; shorten it, or "
                "raise memory_file_bytes_max",
                code="memory_too_large",
            )
        refuse_early(self.workspace, look)
        revision = self.ledger.prepare(
            document,
            draft,
            None if base is None else base.digest,
            also=transaction.also,
            expects=transaction.expects,
            fence=transaction.fence,
        )
        failpoint("publish.prepared")
        try:
            self.ledger.require_valid(revision, data)
            if transaction.recheck is not None:
                transaction.recheck()
            replace(self.workspace, data, revision=revision.number, base=base)
        except InDoubt:
            raise
        except MemoryFault as error:
            self._give_up(revision, error)
            raise
        failpoint("publish.commit")
        self.ledger.commit(document.version + 1, revision)
        failpoint("publish.committed")
        displaced = sweep(self.ledger, self.workspace).displaced
        failpoint("publish.cleaned")
        return Published(revision.number, revision.digest, displaced=displaced)

    def _give_up(self, revision: Revision, error: MemoryFault) -> None:
        document, look = self.ledger.document(), self.workspace.look()
        if isinstance(look, Bytes) and look.digest == revision.digest:
            raise InDoubt(
                f"{error.message} - and yet it holds the new revision; open the book again, recovery will decide"
            ) from error
        finding = self.state(document, look).finding if isinstance(error, FileChanged) else None
        try:
            self.ledger.abandon(document, revision.number, error.code, finding)
        except StoreError as refused:
            error.add_note(f"the revision stays prepared until the next recovery: {refused}")
