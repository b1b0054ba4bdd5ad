"""Which folder keeps the memory file of a workspace that several share on one server (D12).

A workspace has one ``MEMORY.md``. Two folders that wrote it by turns would each take the other's revision for one that
was prepared and never written, and abandon it. So one folder owns it, by a row that runs out; elsewhere it is
``remote``. Who takes over an idle workspace, or one whose folder is gone, first brings its own copy up to the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...domain.document import render
from . import claims
from .identity import machine
from .ledger import Ledger
from .replacement import discard, replace
from .runtime import Runtime
from .safe_file import Absent, Bytes
from .workspace import FOLDER, Workspace

Standing = Literal["ours", "idle", "remote"]
"""Owned by this folder or by none; by another one that has been idle for too long; by another one."""


@dataclass(frozen=True, slots=True)
class FileOwner:
    """``look`` tells how things stand; ``take`` does too, and holds the file from then on unless it is ``remote``."""

    look: Callable[[], Standing] = lambda: "ours"
    take: Callable[[], Standing] = lambda: "ours"


def shared_owner(runtime: Runtime, root: Path) -> FileOwner:
    """The owner for a database on a server: this machine and this folder, for ``lease_seconds`` from each change."""
    name = f"file:{runtime.workspace}"
    place = json.dumps({"machine": machine(), "path": str(root.resolve())})

    def look() -> Standing:
        found, running = claims.holder(runtime, name)
        if found in ("", place):
            return "ours"
        return "remote" if running and not _gone(found) else "idle"

    def take() -> Standing:
        found, _ = claims.holder(runtime, name)
        gone = [found] if _gone(found) else []
        before = claims.hold(runtime, name, place, seconds=runtime.settings.lease_seconds, gone=gone)
        if before is None:
            return "remote"
        return "ours" if before in ("", place) else "idle"

    return FileOwner(look, take)


def _gone(place: str) -> bool:
    """Whether a folder of this machine was moved away or removed: nobody needs to wait for that one."""
    try:
        owner = json.loads(place)
    except ValueError:
        return False
    return bool(owner.get("machine") == machine()) and not Path(owner.get("path", "/"), FOLDER).is_dir()


def follow(ledger: Ledger, workspace: Workspace) -> None:
    """Brings the copy of a folder that took over to the committed revision; call it under the lock.

    Only what came from this log is replaced: an absent file, or one that an earlier revision holds. What a person wrote
    stays, and is drift.
    """
    document, look = ledger.document(), workspace.look()
    current = document.current
    if current is None or current.texts is None or document.prepared is not None:
        return
    match look:
        case Absent():
            replace(workspace, render(current.texts), revision=current.number, base=None)
        case Bytes() if look.digest != current.digest and ledger.holds(look.digest):
            aside = replace(workspace, render(current.texts), revision=current.number, base=look)
            if aside is not None:
                discard(workspace, aside)
