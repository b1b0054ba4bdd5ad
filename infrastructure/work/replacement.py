"""Replacing the memory file in steps, each of which may be the last one of this process (D5, engine.md step 3 and 4).

The names beside the file are ours, carry the revision number, and mean one thing each::

    .MEMORY.md.7.tmp         what we write; worthless once we are dead
    .MEMORY.md.7.displaced   before the replacement: our complete new bytes (or a link to the old ones, where names
                             cannot be exchanged); after it: what stood in the file. Never overwritten, and removed
                             only when its bytes are known to the log.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from ...domain.errors import MemoryFault
from ..store.failpoints import failpoint
from .exchange import ExchangeUnsupported, exchange
from .safe_file import ACL, Absent, Bytes, FileLook, Refused, fault, look_at
from .workspace import Workspace

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
"""Follows no link, for that is there already; Python closes it in a child by itself."""
_ATTEMPTS_MAX = 1_000
_FULLFSYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


class InDoubt(MemoryFault):
    """The file was replaced, and then a call failed: whether it lasts is unknown. Recovery decides, by writing anew.

    An fsync that failed is never tried again on the same file: the system may have dropped what it could not write.
    """

    code = "memory_in_doubt"


class FileChanged(MemoryFault):
    """The file is no longer what the decision rested on; it was left as it is."""

    code = "memory_changed"


@dataclass(frozen=True, slots=True)
class Leftover:
    """One of our own names beside the file, from a process that is gone or a step that failed."""

    name: str
    revision: int
    kind: Literal["tmp", "displaced"]


def replace(workspace: Workspace, data: bytes, *, revision: int, base: Bytes | None) -> str | None:
    """Puts ``data`` in the place of ``base`` (None: there must be no file) and syncs file and folder.

    Keeps mode, owner and access list of the base; a new file gets 0600. Returns the name under which the displaced
    bytes stand until ``discard``. Call it under the lock. Raises MemoryFault when nothing was replaced (FileChanged:
    somebody else was at the file), InDoubt when it was.
    """
    with workspace.memory_folder(create=base is None) as folder:
        attempt = _free_attempt(folder, workspace.name, revision)
        temp = f".{workspace.name}.{attempt}.tmp"
        aside = f".{workspace.name}.{attempt}.displaced"
        try:
            _write_temp(folder, temp, data, base)
            _swap(workspace, folder, temp, aside, base, sha256(data).hexdigest())
        except OSError as error:
            _drop(folder, temp)
            raise fault(error, f"{workspace.name} cannot be replaced, it was left as it is") from error
        except MemoryFault:
            _drop(folder, temp)
            raise
        try:
            _sync_folder(folder)
            failpoint("file.check_folder")
        except OSError as error:
            raise _in_doubt(workspace, error) from error
        if not workspace.same_folder(folder):
            raise InDoubt(
                f"the folder of {workspace.name} was moved or made anew while it was written; open the book again, "
                "recovery will decide"
            )
        _drop(folder, temp)
        return None if base is None else aside


def overwrite(workspace: Workspace, data: bytes, *, revision: int, base: Bytes) -> None:
    """Puts ``data`` in the place of bytes that are kept elsewhere already, with their mode, owner and access list.

    As ``replace``, but nothing stands beside the file afterwards: a recovery would take it into the log.
    """
    with workspace.memory_folder() as folder:
        temp = f".{workspace.name}.{_free_attempt(folder, workspace.name, revision)}.tmp"
        try:
            _write_temp(folder, temp, data, base)
            failpoint("file.read_base")
            if not _is_base(look_at(folder, workspace.name, workspace.bytes_max), base):
                raise _changed(workspace)
            failpoint("file.replace")
            os.rename(temp, workspace.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            _drop(folder, temp)
            raise fault(error, f"{workspace.name} cannot be replaced, it was left as it is") from error
        except MemoryFault:
            _drop(folder, temp)
            raise
        try:
            _sync_folder(folder)
        except OSError as error:
            raise _in_doubt(workspace, error) from error


def refuse_early(workspace: Workspace, base: FileLook) -> None:
    """Refuses, before anything is prepared, what the replacement would have to refuse (F14). Raises MemoryFault."""
    if isinstance(base, Refused):
        base.raise_()
    if isinstance(base, Bytes):
        _owner_can_be_kept(base, workspace.name)
    if isinstance(base, Absent) and not base.folder:
        return
    with workspace.memory_folder() as folder:
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
            raise MemoryFault(
                f"the folder of {workspace.name} is not writable; make it writable for you", code="memory_unwritable"
            )


# --- the temp file


def _write_temp(folder: int, temp: str, data: bytes, base: Bytes | None) -> None:
    failpoint("file.open_temp")
    try:
        descriptor = os.open(temp, _CREATE, 0o600, dir_fd=folder)
    except FileExistsError:
        # We hold the lock, so whoever made it is dead.
        os.unlink(temp, dir_fd=folder)
        descriptor = os.open(temp, _CREATE, 0o600, dir_fd=folder)
    try:
        half = len(data) // 2
        failpoint("file.write_temp")
        _write_all(descriptor, data[:half])
        failpoint("file.write_rest")
        _write_all(descriptor, data[half:])
        if base is not None:
            _keep_access(descriptor, base)
        failpoint("file.fsync_temp")
        _fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _keep_access(descriptor: int, base: Bytes) -> None:
    """Owner first: changing it may take mode bits away. Refused rather than given up."""
    made = os.fstat(descriptor)
    failpoint("file.keep_owner")
    if (made.st_uid, made.st_gid) != (base.uid, base.gid):
        try:
            os.fchown(descriptor, base.uid, base.gid)
        except PermissionError as error:
            if made.st_uid != base.uid or base.mode & 0o070 or base.acl is not None:
                raise _foreign_owner("the memory file") from error
    failpoint("file.keep_mode")
    os.fchmod(descriptor, base.mode)
    if base.acl is not None:
        os.setxattr(descriptor, ACL, base.acl)


def _owner_can_be_kept(base: Bytes, name: str) -> None:
    if os.geteuid() not in (0, base.uid):
        raise _foreign_owner(name)
    group = os.geteuid() == 0 or base.gid == os.getegid() or base.gid in os.getgroups()
    if not group and (base.mode & 0o070 or base.acl is not None):
        raise _foreign_owner(name)


def _foreign_owner(name: str) -> MemoryFault:
    return MemoryFault(
        f"{name} belongs to another user or group and a new file could not be given back to them; "
        "run as its owner, or change the owner",
        code="memory_foreign_owner",
    )


def _fsync(descriptor: int) -> None:
    # macOS keeps an fsync in the drive's cache unless asked for the full one.
    if _FULLFSYNC is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
        fcntl.fcntl(descriptor, _FULLFSYNC)
    else:
        os.fsync(descriptor)


def _sync_folder(folder: int) -> None:
    """Makes the new name last. A file system that cannot sync folders gives a weaker promise, and no error (F34)."""
    try:
        failpoint("file.fsync_folder")
        _fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


# --- the replacement


def _swap(workspace: Workspace, folder: int, temp: str, aside: str, base: Bytes | None, digest: str) -> None:
    failpoint("file.read_base")
    found = look_at(folder, workspace.name, workspace.bytes_max)
    if not _is_base(found, base):
        raise _changed(workspace)
    failpoint("file.set_aside")
    if base is None:
        failpoint("file.replace")
        _create(workspace, folder, temp)
        return
    os.rename(temp, aside, src_dir_fd=folder, dst_dir_fd=folder)
    try:
        failpoint("file.replace")
        exchange(folder, aside, workspace.name)
    except ExchangeUnsupported:
        os.rename(aside, temp, src_dir_fd=folder, dst_dir_fd=folder)
        _link_and_rename(workspace, folder, temp, aside, base)
        return
    except OSError as error:
        _drop(folder, aside)
        if isinstance(error, FileNotFoundError):
            raise _changed(workspace) from error
        raise
    try:
        failpoint("file.look_back")
        if _is_base(look_at(folder, aside, workspace.bytes_max), base):
            return
        # Saved between our last look and the exchange. The person's bytes go back, as if we had looked later.
        exchange(folder, aside, workspace.name)
    except (OSError, ExchangeUnsupported) as error:
        raise _in_doubt(workspace, error) from error
    left = look_at(folder, aside, workspace.bytes_max)
    if isinstance(left, Bytes) and left.digest == digest:
        _drop(folder, aside)
    raise _changed(workspace)


def _create(workspace: Workspace, folder: int, temp: str) -> None:
    """Gives the temp file its name only if nobody took the name meanwhile."""
    try:
        os.link(temp, workspace.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as error:
        raise _changed(workspace) from error
    except OSError:
        # A file system without hard links: the look before was the last one possible.
        if not isinstance(look_at(folder, workspace.name, workspace.bytes_max), Absent):
            raise _changed(workspace) from None
        os.rename(temp, workspace.name, src_dir_fd=folder, dst_dir_fd=folder)


def _link_and_rename(workspace: Workspace, folder: int, temp: str, aside: str, base: Bytes) -> None:
    """Without an exchange: a link keeps the bytes that the rename takes the name from.

    An editor that saves by renaming between the two calls is the one that this cannot see; writing in place is seen.
    """
    try:
        os.link(workspace.name, aside, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError as error:
        raise _changed(workspace) from error
    except OSError:
        _write_temp(folder, aside, base.data, base)
    if not _is_base(look_at(folder, aside, workspace.bytes_max), base):
        _drop(folder, aside)
        raise _changed(workspace)
    try:
        os.replace(temp, workspace.name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        _drop(folder, aside)
        raise


def _is_base(found: FileLook, base: Bytes | None) -> bool:
    if base is None:
        return isinstance(found, Absent)
    return isinstance(found, Bytes) and found.digest == base.digest and found.access == base.access


def _in_doubt(workspace: Workspace, error: Exception) -> InDoubt:
    reason = getattr(error, "strerror", None) or "names cannot be exchanged"
    return InDoubt(
        f"{workspace.name} was replaced, and then a call failed ({reason}): whether the new revision lasts is in "
        "doubt; check the disk and open the book again, recovery will decide"
    )


def _changed(workspace: Workspace) -> FileChanged:
    return FileChanged(
        f"{workspace.name} was changed while a revision was being written; it was left as it is: look at it, "
        "run 'minutebook memory sync' to take the edit in, or try again"
    )


# --- our own names


def leftovers(workspace: Workspace) -> list[Leftover]:
    """Our own names beside the file; a name that only looks similar is not among them (F15)."""
    pattern = re.compile(rf"\.{re.escape(workspace.name)}\.([0-9]{{1,18}})(?:-[0-9]{{1,4}})?\.(tmp|displaced)")
    found: list[Leftover] = []
    try:
        with workspace.memory_folder() as folder:
            names = os.listdir(folder)
    except MemoryFault:
        return found
    except OSError as error:
        raise fault(error, f"the folder of {workspace.name} cannot be listed") from error
    for name in sorted(names):
        match = pattern.fullmatch(name)
        if match is not None:
            found.append(Leftover(name, int(match[1]), "tmp" if match[2] == "tmp" else "displaced"))
    return found


def look_at_leftover(workspace: Workspace, name: str) -> FileLook:
    with workspace.memory_folder() as folder:
        return look_at(folder, name, workspace.bytes_max)


def discard(workspace: Workspace, name: str) -> bool:
    """Removes one of our own names; what cannot be removed now is removed by the next recovery."""
    try:
        failpoint("file.unlink")
        with workspace.memory_folder() as folder:
            os.unlink(name, dir_fd=folder)
    except (OSError, MemoryFault):
        return False
    return True


def _drop(folder: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _free_attempt(folder: int, name: str, revision: int) -> str:
    """The revision number, or with ``-k`` where an earlier attempt left displaced bytes that must be kept."""
    for attempt in range(_ATTEMPTS_MAX):
        text = f"{revision}-{attempt}" if attempt else f"{revision}"
        try:
            os.stat(f".{name}.{text}.displaced", dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return text
        except OSError as error:
            raise fault(error, f"the folder of {name} cannot be looked at") from error
    raise MemoryFault(
        f"{_ATTEMPTS_MAX} displaced copies of revision {revision} lie beside {name}; look at them and move them away",
        code="memory_write_failed",
    )
