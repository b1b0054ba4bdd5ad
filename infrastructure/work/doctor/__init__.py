"""What is wrong with this store or this machine, and the command that mends it; it only looks (issue 7)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from ....domain.errors import MinutebookError
from ...store.address import database_url
from ...store.system import refusal
from ..workspace import Workspace
from . import folder, machine
from .kinds import KINDS as KINDS
from .kinds import Finding as Finding
from .kinds import finding as finding
from .server import server as server
from .store import store as store


def surroundings(workspace: Workspace, url: str | Path) -> Iterator[Finding]:
    """What can be seen without opening the store."""
    yield from machine.variables(os.environ)
    address = database_url(url)
    sqlite = address.get_backend_name() == "sqlite"
    name = address.database if sqlite and address.database != ":memory:" else None
    database = Path(name) if name else None
    if sqlite:
        yield from machine.sqlite_version(sqlite3.sqlite_version_info)
    if database is not None:
        size = database.stat().st_size if os.path.isfile(database) else 0
        yield from machine.disk(database.parent, size)
        yield from machine.network(database)
    yield from folder.permissions(workspace, database)
    yield from folder.version_control(workspace, database)
    yield from folder.left_over(workspace)


def safely(found: Iterable[Finding]) -> Iterator[Finding]:
    """What is found until a look fails, and then that it failed."""
    try:
        yield from found
    except MinutebookError as error:
        yield finding("store_cannot_be_opened", error=error.code, said=error.message)
    except OSError as error:
        told = refusal(error, "the workspace cannot be looked at")
        yield finding("store_cannot_be_opened", error=told.code, said=told.message)
