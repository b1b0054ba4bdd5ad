"""What is done to a store as a whole, mostly without opening its book: upgrade, backup, restore, doctor."""

from __future__ import annotations

import os
from pathlib import Path

from ...domain.errors import InputError
from ..settings import Settings
from ..store.system import telling
from ..work import upgrading
from ..work.workspace import Workspace
from .answers import Answer

DATABASE = Path(".tinyagent") / "minutebook.db"
DATABASE_VARIABLE = "MINUTEBOOK_DATABASE"


def place_of_book(root: Path, database: str | None) -> str | Path:
    """The database of a workspace: the one that is named, else that of the environment, else the file in it."""
    return database or os.environ.get(DATABASE_VARIABLE) or root.absolute() / DATABASE


def existing(workspace: str | Path, settings: Settings | None) -> tuple[Path, Workspace, Settings]:
    """A workspace whose folder is there, and its settings. Raises InputError ``unknown_workspace``."""
    root = Path(workspace)
    with telling(f"the workspace {root} cannot be looked at"):
        there = root.is_dir()
    if not there:
        raise InputError(f"there is no folder {str(root)!r}; name one with --workspace", code="unknown_workspace")
    effective = settings or Settings.load(root)
    return root, Workspace.of(root, effective), effective


class Upkeep:
    """The part of ``Minutebook`` that looks after a store; nothing here needs its book to be open, save a backup."""

    @classmethod
    def upgrade(
        cls,
        workspace: str | Path = ".",
        *,
        database: str | None = None,
        settings: Settings | None = None,
        backup: str | Path | None = None,
        keep: bool = True,
    ) -> Answer:
        """Brings an older store to today's schema, after a proved backup: ``from``, ``to``, ``changed``, ``backup``.

        The backup goes to ``backup``, else into ``.tinyagent/kept``; ``keep=False`` makes none. Nobody else may have
        the store open. Raises StoreError ``schema_newer``, ``store_in_use``, ``backup_damaged``, ``not_a_book``.
        """
        root, place, effective = existing(workspace, settings)
        return Answer(
            upgrading.upgrade(
                place,
                place_of_book(root, database),
                backup=None if backup is None else Path(backup),
                keep=keep,
                timeout=effective.lock_timeout_seconds,
            )
        )
