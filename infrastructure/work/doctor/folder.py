"""What is wrong with the workspace: who may see it, what git would take in, what was left over."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ...store.keeping import KEPT, TEMPORARY
from ..replacement import leftovers
from ..workspace import FOLDER, Workspace
from .kinds import Finding, finding
from .machine import told

_GIT_SECONDS = 10.0


def permissions(workspace: Workspace, database: Path | None) -> Iterator[Finding]:
    """Folder and files of ours that others may read; a file in a folder that nobody else may enter is safe."""
    closed = _closed(workspace.folder)
    for place, right in ((workspace.folder, 0o700), (workspace.path.parent, 0o700), *_files(workspace, database)):
        try:
            found = os.lstat(place)
        except OSError:
            continue
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            yield finding("other_owner", place=place, owner=found.st_uid, user=os.geteuid())
        inside = place != workspace.folder and place.is_relative_to(workspace.folder)
        if stat.S_IMODE(found.st_mode) & 0o077 and not stat.S_ISLNK(found.st_mode) and not (closed and inside):
            yield finding("open_to_others", place=place, mode=f"{stat.S_IMODE(found.st_mode):o}", right=f"{right:o}")


def _files(workspace: Workspace, database: Path | None) -> list[tuple[Path, int]]:
    return [(workspace.path, 0o600), *([] if database is None else [(database, 0o600)])]


def _closed(folder: Path) -> bool:
    try:
        return not stat.S_IMODE(os.lstat(folder).st_mode) & 0o077
    except OSError:
        return False


def version_control(workspace: Workspace, database: Path | None) -> Iterator[Finding]:
    """The database where git would take it in, with every text in it."""
    if database is None or not any((folder / ".git").exists() for folder in (workspace.root, *workspace.root.parents)):
        return
    for place in (database, workspace.folder / KEPT):
        if not place.exists() or not place.absolute().is_relative_to(workspace.root):
            continue
        name = str(place.absolute().relative_to(workspace.root)) + ("/copy.db" if place.is_dir() else "")
        # No index is refreshed, no hook is run: git only answers.
        ignored = _git(workspace.root, "check-ignore", "--quiet", "--no-index", "--", name)
        tracked = _git(workspace.root, "ls-files", "--error-unmatch", "--", name)
        if tracked == 0 or ignored == 1:
            yield finding("not_ignored", place=place, tracked=", it even tracks it" if tracked == 0 else "")


def _git(root: Path, *words: str) -> int | None:
    """The exit status of git; None where there is no git or no answer."""
    try:
        done = subprocess.run(
            ("git", "-C", str(root), *words),
            capture_output=True,
            check=False,
            timeout=_GIT_SECONDS,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode


def left_over(workspace: Workspace) -> Iterator[Finding]:
    """Copies that a kill left unfinished, and those that are kept on purpose."""
    kept = workspace.folder / KEPT
    for folder in (workspace.folder, kept):
        for place in _listed(folder):
            if place.name.startswith(TEMPORARY):
                yield finding("unfinished_copy", place=place)
    copies = [place for place in _listed(kept) if not place.name.startswith(".")]
    if copies:
        size = sum(place.lstat().st_size for place in copies)
        yield finding("kept_copies", place=f"{FOLDER}/{KEPT}", number=len(copies), size=told(size))
    names = [found.name for found in leftovers(workspace)]
    if names:
        yield finding("unfinished_write", name=workspace.name, left=", ".join(names))


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
