"""Copies of a store: a file that appears complete or not at all, never over another, and what it holds proved."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ...domain.errors import InputError, MinutebookError, StoreError
from .alone import in_use
from .database import Database
from .failpoints import failpoint
from .log import Head, Log
from .place import appear
from .system import telling
from .verification import LogReport, verify_log

_PAUSE_SECONDS = 0.05
_SIDES = ("-journal", "-wal", "-shm")
_BEGUN = re.compile(r"\.minutebook-[0-9a-f]{16}\.tmp")
TEMPORARY = ".minutebook-"
"""What a copy is called until it is whole; one that is left over comes of a kill, and may go."""
_LEFT = re.compile(r"\.(minutebook-|gitignore\.)[0-9a-f]{16}\.tmp(-journal|-wal|-shm|\.jsonl|\.new)?")


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A private file (0600) in the folder of ``target`` that takes its name at the end, if all went well.

    Raises InputError ``file_exists`` when something has that name, before or meanwhile: nothing is overwritten. When it
    fails, nothing of it is left.
    """
    with telling(f"{str(target)!r} cannot be written"):
        refuse_taken(target)
        waiting, descriptor = _begun(target)
    try:
        _remove_dead(target.parent)
        yield waiting
        with telling(f"{str(target)!r} cannot be written"):
            sync(waiting)
            failpoint("backup.appearing")
            _name(waiting, target)
            sync(target.parent)
            failpoint("backup.appeared")
    finally:
        # Closed last: by closing it this process lets go of every lock that it has on the file.
        for name in (waiting, *(Path(f"{waiting}{end}") for end in _SIDES)):
            name.unlink(missing_ok=True)
        os.close(descriptor)


def _begun(target: Path) -> tuple[Path, int]:
    """A new file beside the target, held for as long as somebody is at it: what nobody holds is left of a kill."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    while True:
        waiting = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}.tmp")
        descriptor = os.open(waiting, flags, 0o600)
        with suppress(OSError):  # a file system without such locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.lexists(waiting):
            return waiting, descriptor
        os.close(descriptor)  # taken for a leftover before it was held


def _remove_dead(folder: Path) -> None:
    """Removes the copies in a folder that were begun by a process which is gone."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if not _BEGUN.fullmatch(name):
                continue
            with suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    for end in ("", *_SIDES):
                        (folder / f"{name}{end}").unlink(missing_ok=True)
                finally:
                    os.close(descriptor)


def refuse_taken(target: Path) -> None:
    """Raises InputError ``file_exists``, ``not_a_file``."""
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode):
        raise InputError(f"{str(target)!r} is there already; name a file that is not", code="file_exists")
    raise InputError(
        f"{str(target)!r} is no regular file (a folder, link, pipe or device); name a file that is not there yet",
        code="not_a_file",
    )


def _name(waiting: Path, target: Path) -> None:
    try:
        # A link never replaces: two that write the same name at once do not undo each other.
        os.link(waiting, target, follow_symlinks=False)
    except FileExistsError:
        refuse_taken(target)
        raise
    except OSError:
        # A file system without hard links.
        refuse_taken(target)
        os.rename(waiting, target)


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_pages(source: sqlite3.Connection, target: Path) -> None:
    """A consistent copy of a SQLite database, also of one that is written to meanwhile, as one file without a WAL.

    In one step: it keeps nobody from writing, while a copy in several begins again at each write of another process.
    """
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def proved(path: Path, *, name: Path | None = None, guards: bool = True) -> tuple[LogReport, Head]:
    """What a SQLite file of a book holds, every link, digest and page checked.

    Raises StoreError ``backup_damaged``, which calls it ``name``.
    """
    database = Database(path, access="read_only", as_is=True)
    try:
        log = Log(database)
        report = verify_log(log, guards=guards)
        if not report.ok:
            raise damaged(name or path, report.detail)
        return report, log.head()
    except MinutebookError as error:
        if error.code == "backup_damaged":
            raise
        raise damaged(name or path, error.message) from error
    finally:
        database.close()


def damaged(path: Path, detail: str) -> StoreError:
    """The refusal of a file that holds a book, and not whole."""
    return StoreError(
        f"{str(path)!r} is not what a backup must be: {detail}; take another one, and run 'minutebook verify' where it "
        "came from",
        code="backup_damaged",
    )


# --- where a workspace keeps what an upgrade or a restore replaced

KEPT = "kept"
"""The folder in ``.tinyagent`` for copies of what was there before; a person removes them."""


@contextmanager
def one_at_a_time(folder: Path, timeout: float) -> Iterator[None]:
    """Keeps other upgrades and restores of a workspace waiting: a lock on ``.tinyagent`` itself, which makes no file.

    Not the lock of the memory file: what a restore does at its end takes that one. Raises StoreError ``store_in_use``.
    """
    if not folder.is_dir():
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise in_use("another upgrade or restore") from error
                time.sleep(_PAUSE_SECONDS)
        for each in (folder, folder / KEPT):
            _sweep(each)
        yield
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Removes what a killed upgrade or restore left in ``.tinyagent``, unless one is under way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for place in (folder, folder / KEPT):
                _sweep(place)
        finally:
            os.close(descriptor)


def _sweep(folder: Path) -> None:
    """Removes copies that a kill left unfinished; call it where nobody else can be at one."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if _LEFT.fullmatch(name):
                (folder / name).unlink(missing_ok=True)


def kept_folder(folder: Path) -> Path:
    """Makes ``.tinyagent/kept`` (0700), which no version control takes in, and returns it."""
    place = folder / KEPT
    with telling(f"the folder {str(place)!r} cannot be made"):
        folder.mkdir(mode=0o700, exist_ok=True)  # parents made by the way would be open to all
        place.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            appear(descriptor, ".gitignore", "*\n", lambda: failpoint("backup.ignoring"))
        finally:
            os.close(descriptor)
        sync(folder)
    return place
