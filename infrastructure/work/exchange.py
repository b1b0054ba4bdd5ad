"""Exchanging two names in one step, where the system can (Linux ``renameat2``, macOS ``renameatx_np``).

With ``os.replace`` an editor that saves by renaming between our last look and our rename loses its save; the
exchange leaves whatever it displaced under the other name, so nothing is ever overwritten unseen (M24).
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from ..store.failpoints import failpoint

_LINUX_EXCHANGE = 2
_MACOS_SWAP = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM})
"""EINVAL: this file system cannot; EPERM: a sandbox forbids the call. Ordinary renames then decide what is allowed."""


class ExchangeUnsupported(Exception):
    """This system or file system cannot exchange two names; fall back to a link and a rename."""


def exchange(folder: int, one: str, other: str) -> None:
    """Exchanges two existing names in the open folder. Raises ExchangeUnsupported or OSError; then nothing changed."""
    call = _call()
    if call is None:
        raise ExchangeUnsupported
    try:
        failpoint("file.exchange")
        call(folder, os.fsencode(one), os.fsencode(other))
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            raise ExchangeUnsupported from error
        raise


@cache
def _call() -> Callable[[int, bytes, bytes], None] | None:
    known = {"linux": ("renameat2", _LINUX_EXCHANGE), "darwin": ("renameatx_np", _MACOS_SWAP)}.get(sys.platform)
    if known is None:
        return None
    name, flag = known
    try:
        function: Any = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    function.restype = ctypes.c_int

    def call(folder: int, one: bytes, other: bytes) -> None:
        if function(folder, one, folder, other, flag) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return call
