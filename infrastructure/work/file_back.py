"""The memory file after a restore: what the restored log says, and a copy of what stood there (D8, ADR 0018)."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...domain.document import render
from ...domain.errors import MemoryFault, MinutebookError
from ..store.failpoints import failpoint
from ..store.keeping import sync
from ..store.system import telling
from .publisher import Publisher
from .replacement import overwrite
from .safe_file import Bytes


def bring_back_file(publisher: Publisher, aside: Path, at_backup: bytes | None) -> dict[str, Any]:
    """Makes the memory file what the log holds: ``state``, ``kept`` (copies of other bytes that are nowhere else).

    ``at_backup`` is the file as it stood when the backup was made; an edit in it that no revision took in is kept as a
    copy, and so is what stands in the folder now. No event is appended. What cannot be done is said in ``state``.
    """
    kept: list[str] = []
    workspace = publisher.workspace
    try:
        if publisher.state().state == "remote":
            return {"state": "remote", "kept": kept}
        with workspace.locked():
            look = workspace.look()
            found = publisher.state()
            if isinstance(look, Bytes) and not found.clean:
                _write(kept, Path(f"{aside}-MEMORY.md"), look.data)
                failpoint("restore.file_kept")
                _put_back(publisher, look)
                failpoint("restore.file_gone")
            if publisher.state().state == "missing":
                publisher.rebuild_file()
            now = workspace.look()
            standing = now.data if isinstance(now, Bytes) else b""
            if at_backup is not None and at_backup != standing and not _known(publisher, at_backup):
                _write(kept, Path(f"{aside}-MEMORY-of-the-backup.md"), at_backup)
            return {"state": publisher.state().state, "kept": kept}
    except MinutebookError as error:
        return {"state": error.code, "kept": kept}


def _put_back(publisher: Publisher, look: Bytes) -> None:
    """What the log says in the place of bytes that are kept; no file where it says that there is none."""
    workspace, current = publisher.workspace, publisher.document().current
    if current is not None and current.texts is not None:
        try:
            overwrite(workspace, render(current.texts), revision=current.number, base=look)
            return
        except MemoryFault as error:
            if error.code != "memory_foreign_owner":
                raise
    with workspace.memory_folder() as folder:
        os.unlink(workspace.name, dir_fd=folder)
        os.fsync(folder)


def _known(publisher: Publisher, data: bytes) -> bool:
    return publisher.ledger.holds(sha256(data).hexdigest())


def _write(kept: list[str], target: Path, data: bytes) -> None:
    with telling(f"{str(target)!r} cannot be written"):
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        sync(target.parent)
    kept.append(str(target))
