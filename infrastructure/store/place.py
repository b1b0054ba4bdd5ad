"""Where a book's database may lie: a file of its own on a disk of this machine (M2, F13, F24)."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...domain.errors import StoreError

MOUNTS = Path("/proc/self/mountinfo")
"""What Linux says is mounted; where it is absent (macOS) nothing can be said about a file system."""

REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "lustre", "gpfs", "beegfs", "gfs2"),
        *("ocfs2", "glusterfs", "davfs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.davfs2", "fuse.rclone"),
        *("fuse.s3fs", "fuse.gcsfuse", "fuse.curlftpfs", "fuse.smbnetfs", "fuse.juicefs", "fuse.seaweedfs"),
    }
)
"""File systems of several machines. SQLite's WAL needs memory that all its processes share: over a network it tears."""


def is_file(path: Path) -> bool:
    """Whether there is a database file. Raises StoreError ``store_not_a_file`` for a folder, link, pipe or device."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the database {path.name!r} cannot be opened: {getattr(error, 'strerror', None) or error}; "
            "check the path and the permissions of its folders",
            code="store_unwritable",
        ) from error
    if not stat.S_ISREG(found.st_mode):
        raise _not_a_file(path)
    if 0 < found.st_size < 512:
        # SQLite takes a file shorter than its smallest page for an empty one, and would write over it (tried).
        raise StoreError(
            f"{path.name!r} is not a database: point to another file; this one was left untouched", code="not_a_book"
        )
    return True


def _not_a_file(path: Path) -> StoreError:
    return StoreError(
        f"the database {path.name!r} is no regular file (a folder, link, pipe or device stands there); "
        "point minutebook to a file of its own",
        code="store_not_a_file",
    )


def create_private(path: Path) -> None:
    """Makes folder (0700) and file (0600) before SQLite does: -wal and -shm take the file's mode.

    A file that is there is only looked at. To open and close it would let go of every lock that this process has on it
    through SQLite: a second book of the same process did so, another process then took itself for the last one and
    removed the write-ahead log, and what the first book appended after that was acknowledged and gone (tried).
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Neither through a link nor waiting for a pipe's other end: what came between the look and here is refused.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(path, flags, 0o600))
        except FileExistsError:
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise _not_a_file(path) from None
            if not os.access(path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from None
    except OSError as error:
        raise StoreError(
            f"the database {path.name} cannot be opened for writing: {error.strerror}; "
            "check the folder's permissions, or open the book with read_only=True",
            code="disk_full" if error.errno == errno.ENOSPC else "store_unwritable",
        ) from error


def there(folder: int, name: str) -> bool:
    """Whether an open folder has something of that name, whatever it is."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def appear(folder: int, name: str, text: str, written: Callable[[], None]) -> None:
    """Makes a small file whole or not at all, and never over one that is there: two may begin at once.

    ``written`` is called when it is written and has not yet its name. Raises OSError.
    """
    while not there(folder, name):
        temporary = f".{name.lstrip('.')}.{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
        try:
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        written()
        try:
            # Another start may take ours for a leftover and remove it: then it is made again.
            with suppress(FileExistsError, FileNotFoundError):
                os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
        os.fsync(folder)


# --- the databases that this process has open

_held: Counter[tuple[int, int]] = Counter()


def hold(path: Path) -> tuple[int, int] | None:
    """Notes that SQLite has the file open in this process; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    _held[found.st_dev, found.st_ino] += 1
    return found.st_dev, found.st_ino


def let_go(file: tuple[int, int]) -> None:
    """Notes that one who held it has closed it."""
    _held[file] -= 1
    if _held[file] <= 0:
        del _held[file]


def is_held(path: str | Path) -> bool:
    """Whether an open book of this process is in that file: then nobody may open it, since closing it drops its locks.

    Ask before any file is read that a caller names; ``create_private`` says what comes of it.
    """
    name = os.fspath(path)
    if name.endswith(("-shm", "-wal")):
        name = name[:-4]  # SQLite has locks on its companions too
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return False
    return (found.st_dev, found.st_ino) in _held


def holds_bytes(path: str) -> bool:
    """Whether a file is there and not empty; what may not be looked at counts as empty."""
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


# --- the file system


def mounts() -> str:
    """What the system says is mounted; empty where it says nothing."""
    try:
        return MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def require_local(path: Path) -> None:
    """Raises StoreError ``not_durable`` for a database file on a network file system (F24)."""
    kind = file_system(mounts(), Path(os.path.realpath(path)))
    if kind in REMOTE:
        raise StoreError(
            f"the database {path.name!r} would lie on a network file system ({kind}), where SQLite's WAL can be "
            "damaged by two machines; move the workspace to a local disk, name a local file with --database, or use "
            "PostgreSQL",
            code="not_durable",
        )


def file_system(mounts: str, path: Path) -> str | None:
    """The type of the file system that holds ``path``, of a table in the form of ``/proc/self/mountinfo``."""
    best, kind = -1, None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = _plain(fields[4])
        # A later mount over the same place hides the earlier one.
        if path.is_relative_to(point) and len(Path(point).parts) >= best:
            best, kind = len(Path(point).parts), after.split(" ")[0]
    return kind


def _plain(point: str) -> str:
    """A mount point with its spaces, tabs and backslashes, which the table writes in octal."""
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, letter)
    return point
