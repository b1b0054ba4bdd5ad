"""Looking at the memory file without being led astray: no links followed, nothing but a small regular file read (D12).

Everything goes through the descriptor of the folder (openat): a folder that is swapped for a link between two
calls changes nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import NoReturn

from ...domain.errors import MemoryFault


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no file; ``folder`` says whether the folder for it is there."""

    folder: bool = True


@dataclass(frozen=True, slots=True)
class Bytes:
    """A regular file as it was read once, through one descriptor: its bytes, their SHA-256 and who may see it."""

    data: bytes
    digest: str
    mode: int
    uid: int
    gid: int
    links: int
    acl: bytes | None = None

    @property
    def access(self) -> tuple[int, int, int, bytes | None]:
        """Who may do what: a replacement keeps it."""
        return self.mode, self.uid, self.gid, self.acl

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know though it stops nothing."""
        if self.links > 1:
            return (f"the file has {self.links} hard links; a new revision will stand under this name only",)
        return ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Something is there that is never read nor replaced: a stable code and the mend."""

    code: str
    message: str

    def raise_(self) -> NoReturn:
        raise MemoryFault(self.message, code=self.code)


FileLook = Absent | Bytes | Refused

UNREADABLE = "memory_unreadable"
"""The code where nobody knows what stands there: it may be readable at the next look."""

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_LINK_MEND = "replace it by a plain file: a link could lead reads and writes to another place"


def look_at(folder: int, name: str, bytes_max: int) -> FileLook:
    """Reads ``name`` in the open folder, if it is a regular file of at most ``bytes_max`` bytes. Never blocks."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return Absent()
    except OSError as error:
        return _refusal(folder, name, error)
    try:
        return _read(descriptor, name, bytes_max)
    except OSError as error:
        return Refused(UNREADABLE, f"{name} cannot be read: {error.strerror}; check the disk")
    finally:
        os.close(descriptor)


def _read(descriptor: int, name: str, bytes_max: int) -> FileLook:
    found = os.fstat(descriptor)
    refused = _not_regular(name, found.st_mode)
    if refused is not None:
        return refused
    if found.st_size > bytes_max:
        return _too_large(name, found.st_size, bytes_max)
    parts: list[bytes] = []
    size = 0
    # One byte more than allowed, so that a file that grows while it is read is found out.
    while size <= bytes_max:
        part = os.read(descriptor, min(bytes_max + 1 - size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size += len(part)
    if size > bytes_max:
        return _too_large(name, size, bytes_max)
    data = b"".join(parts)
    return Bytes(
        data,
        sha256(data).hexdigest(),
        stat.S_IMODE(found.st_mode) & 0o777,
        found.st_uid,
        found.st_gid,
        found.st_nlink,
        _acl(descriptor),
    )


ACL = "system.posix_acl_access"


def _acl(descriptor: int) -> bytes | None:
    # With an access list the group bits of the mode are its mask: a mode alone would give the group too much.
    if not hasattr(os, "getxattr"):
        return None
    try:
        return os.getxattr(descriptor, ACL)
    except OSError:
        return None


def _refusal(folder: int, name: str, error: OSError) -> FileLook:
    # ELOOP: a link. ENXIO: a socket, or a device without a driver. EACCES tells nothing of the kind: look.
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return Absent()
    except OSError:
        return Refused(UNREADABLE, f"{name} cannot be read: {error.strerror}; check its permissions")
    refused = _not_regular(name, found.st_mode)
    return refused or Refused(UNREADABLE, f"{name} cannot be read: {error.strerror}; check its permissions")


def _not_regular(name: str, mode: int) -> Refused | None:
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return Refused("memory_is_symlink", f"{name} is a symbolic link; {_LINK_MEND}")
    if stat.S_ISDIR(mode):
        return Refused("memory_is_directory", f"{name} is a directory; move it away, memory is a plain file")
    kind = "a FIFO" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return Refused("memory_is_special", f"{name} is {kind}; move it away, memory is a plain file")


def _too_large(name: str, size: int, bytes_max: int) -> Refused:
    return Refused(
        "memory_too_large",
        f"{name} has {size:,} bytes and at most {bytes_max:,} are read (memory_file_bytes_max); shorten it, "
        "or move it away",
    )


# --- folders


def open_folder(root: int, parts: tuple[str, ...], *, create: bool) -> int | Absent | Refused:
    """A descriptor of a folder below ``root``, entered step by step without following a link."""
    current = os.dup(root)
    try:
        for part in parts:
            step = _enter(current, part, create=create)
            if not isinstance(step, int):
                return step
            os.close(current)
            current = step
        opened, current = current, -1
        return opened
    finally:
        if current >= 0:
            os.close(current)


def _enter(folder: int, part: str, *, create: bool) -> int | Absent | Refused:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(part, flags, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            return Absent(folder=False)
    except OSError as error:
        return _folder_refusal(folder, part, error)
    try:
        os.mkdir(part, 0o700, dir_fd=folder)
        # The new name must survive a power loss as the file in it does.
        os.fsync(folder)
    except FileExistsError:
        pass  # another process made it
    except OSError as error:
        raise fault(error, f"the folder {part} cannot be made") from error
    try:
        return os.open(part, flags, dir_fd=folder)
    except OSError as error:
        return _folder_refusal(folder, part, error)


def _folder_refusal(folder: int, part: str, error: OSError) -> Refused:
    try:
        link = stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        link = False
    if link:
        return Refused("memory_folder_is_symlink", f"the folder {part} is a symbolic link; {_LINK_MEND}")
    if error.errno == errno.ENOTDIR:
        return Refused("memory_folder_is_file", f"{part} is in the place of a folder; move it away")
    return Refused(UNREADABLE, f"the folder {part} cannot be opened: {error.strerror}; check its permissions")


# --- errors of calls


_CODES: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("memory_disk_full", "free some space and try again"),
    errno.EDQUOT: ("memory_disk_full", "free some of your quota and try again"),
    errno.EIO: ("memory_io_error", "check the disk"),
    errno.EACCES: ("memory_unwritable", "make the folder and the file writable for you"),
    errno.EPERM: ("memory_unwritable", "make the folder and the file writable for you"),
    errno.EROFS: ("memory_unwritable", "the file system is read-only; make it writable"),
    errno.ENOENT: ("memory_folder_gone", "the folder went away in between; try again"),
    errno.EMFILE: ("memory_busy", "too many files are open; close some and try again"),
    errno.ENFILE: ("memory_busy", "too many files are open; close some and try again"),
}


def fault(error: OSError, what: str) -> MemoryFault:
    """An error of the system as a MemoryFault with a stable code and the mend."""
    number = error.errno or 0
    code, mend = _CODES.get(number, ("memory_write_failed", "see the reason and try again"))
    return MemoryFault(f"{what}: {error.strerror}; {mend}", code=code, errno=errno.errorcode.get(number, "?"))
