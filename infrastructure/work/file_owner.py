"""Who has the memory file of a workspace whose database is shared: one folder of one host, by a lease (D12).

The folder keeps its lease over restarts and renews it with every change of memory. Another folder is told ``remote``; a
person may take the file over there with ``sync`` or ``restore`` once the lease has run out.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ...domain.errors import StoreError
from ..store.database import Database
from . import claims
from .file_state import FileState
from .identity import machine
from .runtime import Runtime

Claimed = Literal["mine", "taken_over"]


class FileOwner:
    """The lease on the memory file, as one folder sees it. Where the database lies in the folder there is none."""

    def __init__(self, runtime: Runtime, root: Path) -> None:
        self._runtime = runtime
        self._root = root
        self._name = f"file:{runtime.workspace}"
        self.shared = not _lies_in(root, runtime.log.database)

    def local(self) -> bool:
        """Whether the file here is the workspace's: this folder has the lease, or nobody has."""
        return not self.shared or self._holder() in ("", self._place())

    def remote(self, path: str) -> FileState:
        """The state of a file that is kept elsewhere."""
        try:
            held = json.loads(claims.holder(self._runtime, self._name))
            where = f"{held['path']} on {held['host']}"
        except (ValueError, KeyError, TypeError):
            where = "another folder"
        return FileState(
            "remote",
            path,
            detail=f"the memory file of this workspace is kept in {where}: change memory there; when that is gone for "
            "good, 'minutebook memory sync' here takes it over after lease_seconds of silence",
        )

    def keep(self) -> bool:
        """Takes the lease when nobody has it, renews it when we do; false when it is another's, run out or not."""
        return not self.shared or (self.local() and self.claim() == "mine")

    def claim(self) -> Claimed | None:
        """The same, and takes over a lease that has run out; None while another folder has it."""
        if not self.shared:
            return "mine"
        before = self._holder()
        text = json.dumps({"place": self._place(), "host": os.uname().nodename, "path": str(self._root)})
        seconds = self._runtime.settings.lease_seconds
        if not claims.hold(self._runtime, self._name, text, ours=before in ("", self._place()), seconds=seconds):
            return None
        return "mine" if before in ("", self._place()) else "taken_over"

    def _holder(self) -> str:
        try:
            return str(json.loads(claims.holder(self._runtime, self._name))["place"])
        except (ValueError, KeyError, TypeError, StoreError):
            return ""

    def _place(self) -> str:
        """This folder: a reboot or another container on it makes no difference, a copy elsewhere does."""
        root = self._root.resolve()
        try:
            number = root.stat().st_ino
        except OSError:
            number = 0
        return sha256(f"{machine()}\0{root}\0{number}".encode()).hexdigest()[:32]


def _lies_in(folder: Path, database: Database) -> bool:
    """Whether the database is a file in this folder, or in memory: then nobody has it from another folder."""
    if not database.sqlite:
        return False
    name = database.url.database or ""
    return not name or name == ":memory:" or Path(name).resolve().is_relative_to(folder.resolve())
