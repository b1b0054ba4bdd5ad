"""Which folder keeps the memory file of a workspace whose database is shared, by a lease (D12).

A workspace has one ``MEMORY.md``. Two folders that wrote it by turns would each take the other's revision for one that
was prepared and never written. So one folder owns it; elsewhere it is ``remote``. Each change of memory renews the
lease. Who takes over an idle file, or one whose folder is gone, first brings its own copy up to the log.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ...domain.document import render
from ..store.database import Database
from . import claims
from .file_state import FileState
from .identity import host, machine
from .ledger import Ledger
from .recovery import recover
from .replacement import discard, refuse_early, replace
from .runtime import Runtime
from .safe_file import Absent, Bytes
from .workspace import FOLDER, Workspace

Standing = Literal["ours", "idle", "remote"]
"""Kept by this folder or by none; to be taken over, by whoever changes memory next; kept by another one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, as it stands in the lease: the same after a reboot; ``following`` until its copy is up to the log."""

    machine: str
    path: str
    host: str
    node: str
    following: bool = False

    @classmethod
    def read(cls, text: str) -> Place | None:
        """What ``text`` wrote; None for anything else."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def text(self) -> str:
        return json.dumps(asdict(self))

    def same(self, other: Place) -> bool:
        return (self.machine, self.path) == (other.machine, other.path)

    def gone(self) -> bool:
        """Whether the folder was moved or removed: nobody needs to wait for it.

        Only where its paths are ours for certain: not in another container, and not before a reboot, when a disk may
        not be back yet.
        """
        return self.host == host() and not Path(self.path, FOLDER).is_dir()


class FileOwner:
    """The lease, as one folder sees it. Where the database lies in the folder there is none."""

    def __init__(self, runtime: Runtime, root: Path) -> None:
        self._runtime = runtime
        self._root = root.resolve()
        self._name = f"file:{runtime.workspace}"
        self.shared = not _lies_in(self._root, runtime.log.database)

    def look(self) -> Standing:
        return self._standing(*claims.holder(self._runtime, self._name)) if self.shared else "ours"

    def take(self) -> Standing:
        """Takes or renews the lease unless it is ``remote``. After ``idle``, ``follow`` and say ``settled``."""
        if not self.shared:
            return "ours"
        found: list[Standing] = []

        def decide(owner: str, running: bool) -> str | None:
            found.append(self._standing(owner, running))
            return None if found[-1] == "remote" else self._place(following=found[-1] == "idle").text()

        claims.hold(self._runtime, self._name, decide, seconds=self._runtime.settings.lease_seconds)
        return found[-1]

    def settled(self) -> None:
        """The copy in this folder is followed up. Who is killed before this follows again."""

        def decide(owner: str, _running: bool) -> str | None:
            kept = Place.read(owner)
            return self._place().text() if kept is not None and kept.same(self._place()) else None

        claims.hold(self._runtime, self._name, decide, seconds=self._runtime.settings.lease_seconds)

    def remote(self, path: str) -> FileState:
        """The state of a file that is kept elsewhere, or to be taken over."""
        owner, running = claims.holder(self._runtime, self._name)
        kept = Place.read(owner)
        where = "another folder" if kept is None else f"{kept.path} on {kept.node}"
        mend = (
            "the next change of memory here takes it over, 'minutebook memory sync' does so now"
            if self._standing(owner, running) == "idle"
            else "change memory there, or here when memory has not changed for lease_seconds"
        )
        return FileState("remote", path, detail=f"the memory file of this workspace is kept in {where}: {mend}")

    def _standing(self, owner: str, running: bool) -> Standing:
        kept = Place.read(owner)
        if kept is not None and kept.same(self._place()):
            return "idle" if kept.following else "ours"
        if not owner:
            return "ours"
        return "remote" if running and not (kept is not None and kept.gone()) else "idle"

    def _place(self, *, following: bool = False) -> Place:
        return Place(machine(), str(self._root), host(), platform.node(), following)


def _lies_in(folder: Path, database: Database) -> bool:
    """Whether the database is a file in this folder, or in memory: then nobody has it from another folder."""
    if not database.sqlite:
        return False
    name = database.url.database or ""
    return not name or name == ":memory:" or Path(name).resolve().is_relative_to(folder)


def follow(ledger: Ledger, workspace: Workspace) -> None:
    """Brings the copy of a folder that takes over to the committed revision; call it under the lock.

    Only what came from this log is replaced: an absent file, or one that an earlier revision holds. What a person wrote
    stays, and is drift.
    """
    document, look = ledger.document(), workspace.look()
    waiting = document.prepared
    if waiting is not None and not (isinstance(look, Bytes) and look.digest == waiting.digest):
        # It was to be written elsewhere: that it does not stand here is no edit.
        ledger.abandon(document, waiting.number, "not_written")
    recover(ledger, workspace)
    document, look = ledger.document(), workspace.look()
    current = document.current
    if current is None or current.texts is None:
        return
    match look:
        case Absent():
            refuse_early(workspace, look)
            replace(workspace, render(current.texts), revision=current.number, base=None)
        case Bytes() if look.digest != current.digest and ledger.holds(look.digest):
            aside = replace(workspace, render(current.texts), revision=current.number, base=look)
            if aside is not None:
                discard(workspace, aside)
