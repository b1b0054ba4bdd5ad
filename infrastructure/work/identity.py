"""Who we are, and whether somebody else is still alive (M2).

An owner is a host (machine, boot and pid namespace), a process (pid and start time, because pids are used
again) and a runtime (one ``open()`` of a book). Whether another host's process lives cannot be seen from
here: there the lease decides.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
import uuid
from datetime import datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ...domain.catalogue import Owner

Death = Literal["owner_gone", "lease_expired"]
"""Why an owner counts as dead; the words of ``RunInterrupted``."""

_PS_TIMEOUT_SECONDS = 5.0
_GONE = frozenset("ZXx")
"""States of a process that has ended and only waits for its parent to look."""

_runtimes: set[str] = set()
_lock = threading.Lock()


def register(runtime: str) -> Owner:
    """The owner identity of a runtime of this process; the runtime lives until ``release``."""
    with _lock:
        _runtimes.add(runtime)
    return Owner(host=host(), pid=os.getpid(), started=process_start(os.getpid()) or "", runtime=runtime)


def release(runtime: str) -> None:
    """The runtime is closed: what it still owned in this process is ownerless from now on."""
    with _lock:
        _runtimes.discard(runtime)


def is_dead(owner: Owner, *, now: datetime, last_seen: datetime, lease_seconds: float) -> Death | None:
    """Why the owner is dead, or None while it may be alive.

    On this host a process is alive as long as it runs, however long it was silent; its runtime, when it is our
    own process, as long as it is registered. On another host it is dead ``lease_seconds`` after ``last_seen``.
    A clock that runs backwards never kills.
    """
    if owner.host != host():
        return "lease_expired" if now - last_seen > timedelta(seconds=lease_seconds) else None
    if not _runs(owner.pid, owner.started):
        return "owner_gone"
    if owner.pid == os.getpid():
        with _lock:
            return None if owner.runtime in _runtimes else "owner_gone"
    return None


def host() -> str:
    """This machine, this boot, this pid namespace, as one short digest: pids compare only inside it."""
    return _host(os.getpid())


@lru_cache(maxsize=4)
def _host(_pid: int) -> str:
    # Keyed by the pid: a child may have been put into a pid namespace of its own.
    parts = (machine(), _boot(), _pid_namespace())
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def machine() -> str:
    """This machine, over reboots."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        found = _read(path)
        if found:
            return found
    return f"{platform.node()}-{uuid.getnode():x}"


def _boot() -> str:
    found = _read("/proc/sys/kernel/random/boot_id")
    if found:
        return found
    return _output("sysctl", "-n", "kern.bootsessionuuid") if sys.platform == "darwin" else ""


def _pid_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def process_start(pid: int) -> str | None:
    """When a process started, in words of the system that only ever get compared; None when it is gone."""
    if pid <= 0:
        return None
    found = _proc_stat(pid)
    if found is not None:
        state, started = found
        return None if state in _GONE else started
    if not _signalable(pid):
        return None
    # No /proc (macOS), or one that hides other users' processes.
    words = _output("ps", "-o", "state=,lstart=", "-p", str(pid)).split(None, 1)
    if len(words) == 2:
        return None if words[0][0] in _GONE else words[1].strip()
    return ""


def _runs(pid: int, started: str) -> bool:
    found = process_start(pid)
    # Unknown ("") on either side: a process of that id runs, and doubt is on the side of life.
    return found is not None and (found == started or not found or not started)


def _proc_stat(pid: int) -> tuple[str, str] | None:
    text = _read(f"/proc/{pid}/stat")
    # The second field is the program's name in brackets and may hold anything: count from the last bracket.
    _, bracket, rest = text.rpartition(")")
    fields = rest.split()
    return (fields[0], fields[19]) if bracket and len(fields) > 19 else None


def _signalable(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _output(*command: str) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_PS_TIMEOUT_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _after_fork() -> None:
    # The parent's runtimes are not the child's; and a lock that another thread held would never open again.
    global _lock
    _lock = threading.Lock()
    _runtimes.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
