"""Files in ``.tinyagent`` that are none of ours and hold what is erased: named, for a person to remove (E8)."""

from __future__ import annotations

import os
import stat

from ....domain.erasure import Words
from ..workspace import DATABASE, LOCK, Workspace

_OURS = frozenset({DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK})
_BYTES = 1 << 20
FILES_MAX = 1_000


def files_with(workspace: Workspace, words: Words) -> list[str]:
    """Paths in the folder, the database and the memory file apart: exports, copies, notes that somebody laid there."""
    if not words:
        return []
    found: list[str] = []
    seen = 0
    for folder, names, files in os.walk(workspace.folder):
        names.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name in _OURS or path == str(workspace.path):
                continue
            seen += 1
            if seen > FILES_MAX:
                return found
            if _holds(path, words):
                found.append(os.path.relpath(path, workspace.root))
    return found


def _holds(path: str, words: Words) -> bool:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with open(path, "rb") as file:
            before = b""
            while part := file.read(_BYTES):
                if words.within(before + part):
                    return True
                before = part[-words.longest :]
    except OSError:
        return False
    return False
