"""Recovery: file and log agree again, whatever moment the last process died at (D5, M09 to M26).

It is the publisher's second half started over, not another mechanism: for a prepared revision that was neither
committed nor abandoned the content of the file decides. Every step is idempotent and may itself be the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.document import render
from ...domain.revision import MemoryDocument, Revision
from ..store.failpoints import failpoint
from .file_state import file_state
from .ledger import Ledger
from .replacement import FileChanged, discard, leftovers, look_at_leftover, replace
from .safe_file import UNREADABLE, Absent, Bytes, FileLook, Refused
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a recovery did: revision numbers, and names of ours that it removed or had to leave."""

    committed: int | None = None
    abandoned: int | None = None
    reason: str | None = None
    displaced: tuple[int, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return self.committed is None and self.abandoned is None and not self.displaced and not self.removed


@dataclass(frozen=True, slots=True)
class Sweep:
    displaced: tuple[int, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def needed(ledger: Ledger, workspace: Workspace) -> bool:
    """A look without the lock: is anything waiting or lying about?"""
    return ledger.document().prepared is not None or bool(leftovers(workspace))


def recover(ledger: Ledger, workspace: Workspace) -> Recovery:
    """Settles a waiting revision and clears our own names away; call it under the lock. Raises MemoryFault."""
    failpoint("recover.locked")
    document = ledger.document()
    settled = Recovery() if document.prepared is None else _settle(ledger, workspace, document, document.prepared)
    swept = sweep(ledger, workspace)
    failpoint("recover.cleaned")
    return Recovery(settled.committed, settled.abandoned, settled.reason, swept.displaced, swept.removed, swept.left)


def _settle(ledger: Ledger, workspace: Workspace, document: MemoryDocument, waiting: Revision) -> Recovery:
    look = workspace.look()
    failpoint("recover.decided")
    if isinstance(look, Bytes) and look.digest == waiting.digest:
        try:
            if waiting.texts is not None:
                # The process died, or an fsync lied: what is in the file now may not be on the disk. Write it again.
                replace(workspace, render(waiting.texts), revision=waiting.number, base=look)
                failpoint("recover.redone")
        except FileChanged:
            look = workspace.look()
        else:
            ledger.commit(document.version, waiting)
            failpoint("recover.committed")
            return Recovery(committed=waiting.number)
    if isinstance(look, Refused) and look.code == UNREADABLE:
        # What stands there was not seen: to abandon now would make an edit of what a dead process of ours wrote.
        look.raise_()
    if _is_base(look, waiting):
        reason, finding = "not_written", None
    else:
        reason = look.code if isinstance(look, Refused) else "file_changed"
        finding = file_state(document, look, str(workspace.memory_path)).finding
    ledger.abandon(document, waiting.number, reason, finding)
    failpoint("recover.abandoned")
    return Recovery(abandoned=waiting.number, reason=reason)


def _is_base(look: FileLook, waiting: Revision) -> bool:
    if waiting.base_digest is None:
        return isinstance(look, Absent)
    return isinstance(look, Bytes) and look.digest == waiting.base_digest


def sweep(ledger: Ledger, workspace: Workspace) -> Sweep:
    """Removes our own names beside the file. Displaced bytes that no revision holds become one first (M24)."""
    displaced: list[int] = []
    removed: list[str] = []
    left: list[str] = []
    for found in leftovers(workspace):
        revision = ledger.revision(found.revision)
        if revision is None:
            # Not of this log: a similar name of somebody else's, or a restored older database (F15, F36).
            left.append(found.name)
            continue
        if found.kind == "displaced":
            look = look_at_leftover(workspace, found.name)
            if isinstance(look, Refused):
                left.append(found.name)
                continue
            known = isinstance(look, Bytes) and (
                look.digest in {revision.base_digest, revision.digest} or ledger.holds(look.digest)
            )
            if isinstance(look, Bytes) and not known:
                displaced.append(ledger.record_displaced(ledger.document(), look.data))
                failpoint("recover.displaced")
        (removed if discard(workspace, found.name) else left).append(found.name)
    return Sweep(tuple(displaced), tuple(removed), tuple(left))
