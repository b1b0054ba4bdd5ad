"""The publisher of MEMORY.md: the effect behind the ``memory_file`` projection (D5, D8, D9, D11, D12).

Every change holds the workspace's lock, recovers first, and goes through ``Writer``; looking takes no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as changed
from datetime import datetime

from ...domain.checks import Check, check_entry
from ...domain.curation import Declined, Entry, Intake, adopt_edit, readmit, take_in
from ...domain.document import digest, parse, render
from ...domain.errors import MemoryFault, StreamConflict
from ...domain.limits import MemoryLimits
from ...domain.notes import read_notes
from ...domain.revision import Draft, MemoryDocument, Revision
from ...domain.tokens import count_text
from ..settings import Settings
from ..store.failpoints import failpoint
from ..store.log import Log
from .file_owner import FileOwner, follow
from .file_state import FileState
from .ledger import Advance, Ledger
from .recovery import Recovery, needed, recover
from .replacement import FileChanged, refuse_early, replace
from .safe_file import Absent, Bytes, FileLook, Refused
from .verdicts import draft_of, imported_draft, invalid, not_imported
from .workspace import Workspace
from .writer import Published, With, Writer

_LOOKS_MAX = 5
"""Times that a state is looked at anew when another process commits meanwhile."""


class Publisher:
    """All that changes the memory file of one workspace. Safe to use from several threads and processes."""

    def __init__(
        self,
        log: Log,
        workspace: Workspace,
        settings: Settings,
        clock: Callable[[], datetime],
        *,
        advance: Advance | None = None,
        owner: FileOwner | None = None,
        check: Check = check_entry,
    ) -> None:
        """``advance`` moves the cursor of ``memory_file`` on the connection that it is given; ``owner`` says whether
        this folder has the workspace's file (D12)."""
        self.ledger = Ledger(log, settings.workspace_id, clock, advance)
        self.workspace = workspace
        self.writer = Writer(self.ledger, workspace)
        self.limits = MemoryLimits.of(settings)
        self.owner = owner
        self.check = check

    # --- looking

    def document(self) -> MemoryDocument:
        """What the log says, for whoever decides on the next revision."""
        return self.ledger.document()

    def revision(self, number: int) -> Revision:
        """A committed revision. Raises MemoryFault ``unknown_revision``."""
        found = self.ledger.revision(number)
        if found is None or not self.ledger.committed(found):
            raise MemoryFault(
                f"there is no committed revision {number}; 'minutebook memory log' lists them", code="unknown_revision"
            )
        return found

    def state(self) -> FileState:
        """What the file is compared with the log: a pure look that takes no lock and touches nothing."""
        if self.owner is not None and self.owner.look() != "ours":
            return self.owner.remote(self.workspace.shown)
        document = self.ledger.document()
        for _ in range(_LOOKS_MAX):
            found = self.writer.state(document, self.workspace.look())
            again = self.ledger.document()
            if found.clean or again.version == document.version:
                break
            document = again  # somebody committed between the two looks
        return found

    def detect(self, *, take_over: bool = False) -> FileState:
        """Looks, and records drift that was not recorded before (D8); ``take_over``: an idle file is for us to keep.

        Raises MemoryFault ``memory_locked``.
        """
        if take_over and self.owner is not None and self.owner.look() == "idle":
            with self._locked(tell=False):
                pass
        found = self.state()
        if found.finding is None:
            return found
        with self._locked(tell=False):
            document = self.ledger.document()
            found = self.writer.state(document, self.workspace.look())
            self.writer.report(document, found)
            return found

    # --- changing

    def publish(self, draft: Draft, *, version: int, transaction: With | None = None) -> Published:
        """Publishes a revision that was decided on the document at ``version``.

        Raises StreamConflict (decide anew) and MemoryFault ``memory_drift``, ``memory_unchanged``, ``memory_changed``,
        ``memory_in_doubt``, ``memory_locked``, or the code of a failed call; the inputs stay pending then.
        """
        with self._locked():
            failpoint("publish.locked")
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            self.writer.require_clean(document, look)
            if document.version != version:
                raise StreamConflict(
                    f"the memory document is at version {document.version}, the decision was made at {version}: "
                    "read it again and decide anew"
                )
            failpoint("publish.base_read")
            return self.writer.write(document, draft, look, transaction)

    def sync(self, *, fix: bool = False, allow: Collection[str] = (), actor: str = "person") -> Published:
        """Takes the file as it is for the truth: an edit, an adopted or a missing file becomes a manual revision (D8).

        The bytes are read once and judged. The file is not written, except that ``fix`` lets harmless differences be
        put right, and that a missing file is accepted as an empty one. Raises MemoryFault ``memory_invalid``
        (``problems`` with line numbers in the details), ``memory_not_canonical`` (``fixes``), ``memory_changed``.
        """
        with self._locked():
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            failpoint("sync.read")
            found = self.writer.state(document, look)
            if found.clean:
                return Published(found.revision, found.found_digest, changed=False)
            if isinstance(look, Absent):
                return self.writer.write(document, Draft("manual", (), (), actor=actor), look)
            try:
                if isinstance(look, Refused):
                    raise found.error()
                draft, fixes = self._edited(document, look.data, fix=fix, allow=allow, actor=actor)
            except MemoryFault:
                self.writer.report(document, found)
                raise
            failpoint("sync.validated")
            return self._take_in(document, look, draft, fixes)

    def restore(
        self, number: int, *, discard_edit: bool = False, allow: Collection[str] = (), actor: str = "person"
    ) -> Published:
        """Makes a new revision from an old snapshot, through today's checks (D9). Brings a missing file back (D11).

        In drift it refuses with ``memory_drift``, or with ``discard_edit`` first keeps the edited bytes as a displaced
        revision.
        """
        with self._locked():
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            old = self.revision(number)
            draft = self._restored(document, old, allow, actor)
            failpoint("restore.chosen")
            found = self.writer.state(document, look)
            edited = isinstance(look, Bytes) and not found.clean
            if isinstance(look, Refused) or (edited and not discard_edit):
                self.writer.report(document, found)
                raise found.error()
            if isinstance(look, Bytes) and look.digest == digest(render(draft.texts)):
                return self._stands_already(document, draft, found)
            displaced: tuple[int, ...] = ()
            if isinstance(look, Bytes) and edited:
                displaced = (self.ledger.record_displaced(document, look.data, actor=actor),)
                failpoint("restore.displaced")
                document = self.ledger.document()
                draft = self._restored(document, old, allow, actor)
            done = self.writer.write(document, draft, look)
            return changed(done, displaced=displaced + done.displaced)

    def weigh(self, data: bytes, *, allow: Collection[str] = (), actor: str = "person") -> Intake:
        """What an import of these bytes would come to; a pure look that takes no lock and touches nothing."""
        document, look = self.ledger.document(), self.workspace.look()
        return self._intake(document, data, self._is_file(document, look, data), allow, actor)

    def import_notes(
        self, data: bytes, *, allow: Collection[str] = (), skip: bool = False, actor: str = "person"
    ) -> tuple[Intake, Published]:
        """Adds the entries of an old memory file to memory as a manual revision; the memory file itself, edited or not
        yet adopted, is replaced by what it reads as, and its bytes are kept as a displaced revision first.

        Raises MemoryFault ``memory_invalid`` when anything is refused (``skip`` takes the rest), ``memory_drift``.
        """
        with self._locked():
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            failpoint("import.read")
            replacing = self._is_file(document, look, data)
            if not replacing:
                self.writer.require_clean(document, look)
            intake = self._intake(document, data, replacing, allow, actor)
            # Of the file itself, refused as a whole, an empty memory would be left: nobody asked for that.
            if intake.refused and (not skip or (replacing and not intake.entries)):
                raise not_imported(intake)
            texts = tuple(entry.text for entry in intake.entries)
            if not replacing and texts == document.entries:
                return intake, Published(_number(document), document.digest, changed=False)
            displaced: tuple[int, ...] = ()
            if replacing and isinstance(look, Bytes):
                if look.data == render(texts):
                    revision = self.ledger.record(document, imported_draft(intake, actor))
                    return intake, Published(revision.number, revision.digest)
                displaced = (self.ledger.record_displaced(document, look.data, actor=actor),)
                failpoint("import.displaced")
                document = self.ledger.document()
                intake = self._intake(document, data, replacing, allow, actor)
            done = self.writer.write(document, imported_draft(intake, actor), look)
            return intake, changed(done, displaced=displaced + done.displaced)

    def erase(self, entries: Collection[str], *, causation: int, actor: str = "person") -> int | None:
        """A revision without these entries; None when memory has none of them (E8). Raises as ``publish``."""
        with self._locked():
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            left = [entry for entry in _entries(document.current) if entry.id not in entries]
            if len(left) == len(document.facts):
                return None
            self.writer.require_clean(document, look)
            texts, facts = tuple(entry.text for entry in left), tuple(entry.fact for entry in left)
            draft = Draft("erased", texts, facts, actor=actor, causation=causation)
            return self.writer.write(document, draft, look).revision

    def rebuild_file(self) -> bool:
        """Writes the committed bytes again when the file is missing: no revision, and nothing else is touched (D11).

        Returns whether it wrote. Raises MemoryFault ``memory_drift`` over an edited file.
        """
        with self._locked():
            recover(self.ledger, self.workspace)
            document, look = self.ledger.document(), self.workspace.look()
            if not isinstance(look, Absent) or document.current is None:
                self.writer.require_clean(document, look)
                return False
            refuse_early(self.workspace, look)
            data = render([entry.text for entry in _readable(document.current)])
            replace(self.workspace, data, revision=document.current.number, base=None)
            return True

    def recover(self, *, timeout: float | None = None) -> Recovery:
        """Brings file and log to agreement after a crash; does nothing, and takes no lock, when nothing waits (D5)."""
        if self.owner is not None and self.owner.look() == "remote":
            return Recovery()
        if not needed(self.ledger, self.workspace):
            return Recovery()
        with self._locked(timeout, tell=False):
            return recover(self.ledger, self.workspace)

    # --- steps

    def _intake(
        self, document: MemoryDocument, data: bytes, replacing: bool, allow: Collection[str], actor: str
    ) -> Intake:
        return take_in(
            read_notes(data, self.limits),
            _entries(document.current),
            revision=document.next,
            replacing=replacing,
            allow=allow,
            actor=actor,
            limits=self.limits,
            count=count_text,
            check=self.check,
        )

    def _is_file(self, document: MemoryDocument, look: FileLook, data: bytes) -> bool:
        """Whether the bytes are the memory file itself, which a person edited or had before minutebook."""
        return isinstance(look, Bytes) and look.data == data and not self.writer.state(document, look).clean

    @contextmanager
    def _locked(self, timeout: float | None = None, *, tell: bool = True) -> Iterator[None]:
        with self.workspace.locked(timeout):
            if self.owner is not None:
                self._own(self.owner, tell=tell)
            before = self.ledger.log.version(self.ledger.stream)
            yield
            if self.ledger.log.version(self.ledger.stream) != before:
                self.writer.mark()

    def _own(self, owner: FileOwner, *, tell: bool) -> None:
        """Makes the workspace's file this folder's to change; an edit found at a take-over is told first (D12)."""
        match owner.take():
            case "remote":
                raise owner.remote(self.workspace.shown).error()
            case "idle":
                follow(self.ledger, self.workspace)
                owner.settled()
                document, look = self.ledger.document(), self.workspace.look()
                if self.writer.state(document, look).clean:
                    self.writer.mark()
                elif tell:
                    self.writer.require_clean(document, look)

    def _take_in(self, document: MemoryDocument, look: Bytes, draft: Draft, fixes: tuple[str, ...]) -> Published:
        if fixes:
            return changed(self.writer.write(document, draft, look), fixed=fixes)
        again = self.workspace.look()
        if not isinstance(again, Bytes) or again.digest != look.digest:
            raise FileChanged(f"{self.workspace.name} was changed while it was read; run sync again")
        failpoint("sync.read_again")
        revision = self.ledger.record(document, draft)
        failpoint("sync.committed")
        return Published(revision.number, revision.digest)

    def _stands_already(self, document: MemoryDocument, draft: Draft, found: FileState) -> Published:
        """The bytes to restore are in the file: nothing to write, and nothing to record when the log says so too."""
        if found.clean:
            return Published(found.revision, found.found_digest, changed=False)
        revision = self.ledger.record(document, draft)
        return Published(revision.number, revision.digest)

    def _edited(
        self, document: MemoryDocument, data: bytes, *, fix: bool, allow: Collection[str], actor: str
    ) -> tuple[Draft, tuple[str, ...]]:
        """A manual revision from the bytes of a file, and the harmless differences that it puts right."""
        verdict = adopt_edit(
            parse(data, self.limits),
            _entries(document.current),
            revision=document.next,
            fix=True,
            allow=allow,
            actor=actor,
            limits=self.limits,
            count=count_text,
            check=self.check,
        )
        if isinstance(verdict, Declined):
            raise invalid(self.workspace.name, "line", verdict)
        if verdict.fixed and not fix:
            raise MemoryFault(
                f"{self.workspace.name} differs from its canonical form ({', '.join(verdict.fixed)}); "
                "'minutebook memory sync --fix' puts that right and takes it in",
                code="memory_not_canonical",
                fixes=list(verdict.fixed),
            )
        return draft_of("manual", verdict, actor), verdict.fixed

    def _restored(self, document: MemoryDocument, old: Revision, allow: Collection[str], actor: str) -> Draft:
        """A restored revision from an old snapshot; text that is in memory now keeps its id of now."""
        if old.kind == "displaced" and old.raw is not None:
            draft, _ = self._edited(document, old.raw, fix=True, allow=allow, actor=actor)
            return changed(draft, kind="restored", restored_from=old.number)
        current = _entries(document.current)
        entries = _with_ids_of(current, _readable(old))
        verdict = readmit(entries, current, allow=allow, limits=self.limits, count=count_text, check=self.check)
        if isinstance(verdict, Declined):
            raise invalid(f"revision {old.number}", "entry", verdict)
        return changed(draft_of("restored", verdict, actor), restored_from=old.number)


def _number(document: MemoryDocument) -> int:
    return 0 if document.current is None else document.current.number


def _entries(revision: Revision | None) -> tuple[Entry, ...]:
    if revision is None or revision.texts is None:
        return ()
    return tuple(Entry(fact, text) for fact, text in zip(revision.facts, revision.texts, strict=True))


def _with_ids_of(current: Sequence[Entry], snapshot: Sequence[Entry]) -> tuple[Entry, ...]:
    known = {entry.text: entry for entry in current}
    ids = [entry.id for entry in snapshot]
    return tuple(
        known[entry.text] if entry.text in known and known[entry.text].id not in ids else entry for entry in snapshot
    )


def _readable(revision: Revision) -> tuple[Entry, ...]:
    """The entries of a revision. Raises MemoryFault ``revision_erased``."""
    if revision.texts is None or revision.kind == "displaced":
        raise MemoryFault(
            f"the text of revision {revision.number} was erased; choose another one", code="revision_erased"
        )
    return _entries(revision)
