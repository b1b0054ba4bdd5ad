"""Errors of the operating system as errors of minutebook: each kind with a stable code and the mend."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from ...domain.errors import StoreError

_KINDS: tuple[tuple[frozenset[int], str, str], ...] = (
    (
        frozenset({errno.EACCES, errno.EPERM}),
        "permission_denied",
        "ask its owner for access, or run as the user that owns it",
    ),
    (frozenset({errno.EROFS}), "read_only_file_system", "mount the file system for writing, or choose another place"),
    (frozenset({errno.ENOSPC, errno.EDQUOT}), "disk_full", "free some space or quota and try again"),
    (frozenset({errno.EMFILE, errno.ENFILE}), "too_many_files", "too many files are open; close some and try again"),
    (frozenset({errno.EIO}), "io_error", "check the disk"),
    (frozenset({errno.ENOENT}), "path_missing", "name what is there; it may have gone away in between"),
    (frozenset({errno.ENOTDIR, errno.EEXIST}), "not_a_folder", "a file stands where a folder is needed; move it away"),
    (frozenset({errno.EISDIR}), "not_a_file", "a folder stands where a file is needed; name a file"),
    (frozenset({errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL}), "bad_path", "name another path"),
    (frozenset({errno.EFBIG}), "file_too_large", "raise the limit on the size of files (ulimit -f), or write less"),
    (frozenset({errno.ENOMEM, errno.EAGAIN}), "out_of_resources", "end other programs, or raise the limits"),
)


def refusal(error: OSError, what: str) -> StoreError:
    """The error of a call as one of ours; ``what`` says what could not be done."""
    said = error.strerror or str(error) or type(error).__name__
    for numbers, code, mend in _KINDS:
        if error.errno in numbers:
            return StoreError(f"{what}: {said}; {mend}", code=code)
    return StoreError(f"{what}: {said}; see the reason and try again", code="system_error")


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Lets no bare error of the system out: what is done within it fails with ``refusal``."""
    try:
        yield
    except OSError as error:
        raise refusal(error, what) from error
