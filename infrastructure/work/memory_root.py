"""A root of its own for what outlives a run: database and memory files outside the workspaces that share it (D18).

Below the root each workspace has a folder of its own, and there may be one in common. A workspace keeps only its id.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...domain.checks import Check
from ...domain.errors import InputError, MemoryFault, StoreError
from ...domain.identifiers import check_identifier
from ..settings import Settings
from ..store.system import telling
from .file_owner import FileOwner
from .forgetting import guarded
from .publisher import Publisher
from .runtime import Runtime
from .schedule import Curating
from .workspace import Workspace

COMMON = "@common"
"""The scope that all workspaces of a root may share; no workspace can be named so."""
DATABASE = "minutebook.db"


def root_of(workspace: Path, settings: Settings) -> Path | None:
    """The root that the settings name. Raises InputError ``bad_setting`` for one inside the workspace, or around it."""
    if settings.memory_root is None:
        return None
    root, here = Path(settings.memory_root).expanduser(), workspace.absolute()
    if root.is_relative_to(here) or here.is_relative_to(root):
        raise InputError(
            f"memory_root {str(root)!r} and the workspace lie in each other; name a folder outside of every workspace",
            code="bad_setting",
            setting="memory_root",
        )
    return root


def scope(root: Path, workspace_id: str, settings: Settings, *, make: bool) -> Workspace:
    """The folder below a root in which one workspace has its memory file."""
    return _place(root / "workspaces" / _folder(workspace_id), settings, make=make)


def keeping(workspace: Path, settings: Settings, *, make: bool = False) -> Workspace:
    """Where what is kept of a store lies: in its root, for all who share it, else in the workspace."""
    root = root_of(workspace, settings)
    return Workspace.of(workspace, settings) if root is None else _place(root, settings, make=make)


def common_scope(
    runtime: Runtime, root: Path, check: Check, curator: Any, advance: Any
) -> tuple[Runtime, Publisher, Curating]:
    """The memory in common, as one workspace sees it: to be read, and changed where the settings let it."""
    settings = runtime.settings.model_copy(update={"workspace_id": COMMON})
    common = replace(runtime, settings=settings, changes=settings.memory_common == "write")
    common = replace(common, check=guarded(common, check))
    place = _place(root / "common", settings, make=common.writes and common.changes)
    publisher = Publisher(
        common.log,
        place,
        settings,
        common.now,
        advance=advance,
        owner=FileOwner(common, place.root),
        check=common.check,
    )
    curating = Curating(common, publisher, curator, automatic=False)
    if common.writes and common.changes:
        try:
            publisher.recover()
        except (MemoryFault, StoreError) as error:
            # Named by its status; the memory in common never keeps a conversation of one's own from starting (S3).
            curating.last_error = f"{error.code}: {error.message}"
    return common, publisher, curating


def _place(folder: Path, settings: Settings, *, make: bool) -> Workspace:
    place = Workspace.of(folder, settings, apart=True)
    if make:
        with telling(f"the memory folder {folder} cannot be made"):
            # Step by step: a mode given together with parents is that of the last folder alone.
            for each in [parent for parent in reversed(folder.parents) if not parent.exists()]:
                each.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        place.prepare()
    return place


def _folder(workspace_id: str) -> str:
    """A name that is safe in any file system, and another one for another id, however alike they look."""
    try:
        plain = check_identifier(workspace_id).isascii() and workspace_id == workspace_id.lower()
    except InputError:
        plain = False
    return workspace_id if plain else f"id-{hashlib.sha256(workspace_id.encode()).hexdigest()[:24]}"
