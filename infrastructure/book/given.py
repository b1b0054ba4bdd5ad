"""What a caller hands in when a book is opened: refused at the start where it could only fail later."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ...domain.errors import InputError
from ..settings import Settings
from ..work.calling import method
from ..work.runtime import Runtime


def usable(value: Any, what: str, name: str) -> None:
    """Refuses at the start what could only fail later: no function at all, or one that answers later."""
    if value is None:
        return
    function = method(value, name)
    if any(inspect.iscoroutinefunction(each) for each in (function, getattr(function, "__call__", None))):  # noqa: B004
        raise InputError(
            f"the {what} is asynchronous and this book is not; use minutebook.aio, or give a plain function",
            code=f"async_{what}",
        )


def writable(database: Path) -> bool:
    """Whether projections may be brought up to date; an absent book is empty in any case."""
    # Not Path.exists, which raises where a folder may not be entered.
    return not os.path.exists(database) or (os.access(database, os.W_OK) and os.access(database.parent, os.W_OK))


def utc() -> datetime:
    return datetime.now(UTC)


def effective_settings(root: Path, given: Settings | None) -> Settings:
    if given is None:
        return Settings.load(root)
    return Settings.load(root, **{name: getattr(given, name) for name in given.model_fields_set})


def refuse_reserved(session: str | None) -> None:
    """Names that begin with '@' are minutebook's own (D3). Raises InputError ``bad_identifier``."""
    if isinstance(session, str) and session.startswith("@"):
        raise InputError(
            f"session names that begin with '@' are reserved, and {session!r} is one; choose another",
            code="bad_identifier",
        )


def transcript_source(source: str | Path | bytes) -> Path | bytes:
    """A file or the bytes of one. Raises InputError ``bad_value``."""
    if isinstance(source, str):
        return Path(source)
    if isinstance(source, Path | bytes):
        return source
    raise InputError(f"a transcript is a path or bytes, not {type(source).__name__}", code="bad_value")


def advancing(runtime: Runtime) -> Callable[[Connection], None]:
    """Brings the memory file's projection up to date in the transaction that changes the file."""

    def advance(connection: Connection) -> None:
        runtime.projections.advance("memory_file", connection)

    return advance
