"""The whole log out of a book and into an empty one; the file appears complete or not at all (E4)."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from ...domain.catalogue import MessageRecorded, RunStarted
from ...domain.errors import InputError, MinutebookError, StoreError
from ..store.export import BEGINNING, FORMAT, exported
from ..store.load import Lines as Lines
from ..store.load import load
from ..store.log import Head
from ..store.place import is_held
from ..store.system import telling
from .publisher import Publisher
from .runtime import Runtime


class Sink(Protocol):
    """Where lines go: a file that is open for writing bytes."""

    def write(self, data: bytes, /) -> object: ...


def export_log(runtime: Runtime, target: Path | Sink, *, all_workspaces: bool = False) -> dict[str, Any]:
    """Writes the log as JSON Lines: ``file``, ``events``, ``head``, ``chain``, ``bytes``.

    A file is written beside its place, synced, and moved there; one that is there already is replaced only if it is
    an export itself. Raises StoreError ``store_corrupt``, ``not_a_book``, ``other_workspaces``; InputError
    ``file_exists``, ``not_a_file``.
    """
    log = runtime.log
    if log.database.absent and not runtime.writes:
        raise StoreError("there is no book here yet, so there is nothing to export", code="not_a_book")
    with closing(exported(log, None if all_workspaces else runtime.workspace)) as lines:
        if isinstance(target, Path):
            place = Path(os.path.realpath(target))
            with telling(f"{str(target)!r} cannot be written"), _beside(place) as file:
                head, size = _written(lines, file)
        else:
            head, size = _written(lines, target)
    return {
        "file": str(target) if isinstance(target, Path) else None,
        "events": head.position,
        "head": head.position,
        "chain": head.chain.hex(),
        "bytes": size,
    }


def _written(lines: Generator[bytes, None, Head], sink: Sink) -> tuple[Head, int]:
    size = 0
    while True:
        try:
            line = next(lines)
        except StopIteration as end:
            head: Head = end.value
            return head, size
        sink.write(line)
        size += len(line)


@contextmanager
def _beside(place: Path) -> Iterator[Any]:
    """A file that takes its place when all went well; else nothing is left of it, and what was there stays."""
    _replaceable(place)
    # As long as the longest name allows, whatever the name of the place is.
    waiting = place.with_name(f".minutebook-export-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(waiting, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(waiting, place)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise
    folder = os.open(place.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _replaceable(place: Path) -> None:
    try:
        found = os.lstat(place)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise InputError(
            f"{place.name!r} is no regular file; name a file, or let the export go to standard output",
            code="not_a_file",
        )
    if found.st_size and not is_export(place):
        raise InputError(
            f"{place.name!r} is there already and is no exported log; name another file, or move it away",
            code="file_exists",
        )


def is_export(source: Path) -> bool:
    """Whether a regular file begins as an exported log does; what cannot be read is none."""
    try:
        if is_held(source) or not source.is_file():
            return False
        with source.open("rb") as file:
            return file.read(len(BEGINNING)) == BEGINNING
    except (OSError, ValueError):
        return False


# --- into an empty book


def import_log(runtime: Runtime, publisher: Publisher, source: Path | Lines) -> dict[str, Any]:
    """Fills an empty book with an exported log, brings every projection up to date, and writes a missing MEMORY.md.

    All of the log or nothing: positions, chain and head are those of the book that it came from, and nothing is
    appended. Raises as ``load``.
    """
    runtime.require_writing("an import")
    if isinstance(source, Path):
        if is_held(source):
            raise InputError(
                f"{str(source)!r} is the database of an open book; name what 'minutebook export --log' wrote",
                code="not_an_export",
            )
        with telling(f"{str(source)!r} cannot be read"), source.open("rb") as lines:
            head = load(runtime.log, lines)
    else:
        head = load(runtime.log, source)
    for name in runtime.projections.names:
        runtime.projections.refresh(name)
    return {
        "format": FORMAT,
        "session": None,
        "events": head.position,
        "head": head.position,
        "chain": head.chain.hex(),
        "messages": _count(runtime, MessageRecorded.TOPIC),
        "runs": _count(runtime, RunStarted.TOPIC),
        "first_position": 1 if head.position else None,
        "last_position": head.position or None,
        "skipped": [],
        "workspaces": _workspaces(runtime),
        "memory_file": _memory_file(publisher),
    }


def _count(runtime: Runtime, topic: str) -> int:
    with runtime.log.database.reading() as connection:
        statement = f"SELECT count(*) FROM events WHERE topic = '{topic}'"  # noqa: S608 - a constant of the catalogue
        return int(connection.exec_driver_sql(statement).scalar_one())


def _workspaces(runtime: Runtime) -> list[str]:
    with runtime.log.database.reading() as connection:
        found = connection.exec_driver_sql("SELECT DISTINCT workspace FROM events WHERE workspace IS NOT NULL")
        return sorted(found.scalars())


def _memory_file(publisher: Publisher) -> str:
    """Writes MEMORY.md where it is missing and the log says what it holds; returns the state of the file."""
    try:
        # A revision that was being written when the log was exported is settled by the next start, by an event.
        if publisher.state().state == "missing" and publisher.document().prepared is None:
            publisher.rebuild_file()
        return publisher.state().state
    except MinutebookError as error:
        return error.code
