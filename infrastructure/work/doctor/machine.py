"""What is wrong with the machine: SQLite, disk, clock, environment."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...settings import PREFIX, Settings
from ...store.place import REMOTE, file_system, mounts
from .kinds import Finding, finding

OTHERS = frozenset({"DATABASE", "WORKSPACE", "DEBUG", "FAILPOINT", "TEST_POSTGRES", "TEST_SHARE", "SHARED"})
"""Variables that are no settings."""

_FIXED = {(3, 44): 6, (3, 50): 7}
"""The WAL-reset bug came with WAL itself (3.7.0), is gone from 3.51.3 on, and was mended in these older lines."""
_FREE_BYTES = 100_000_000


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    """Whether a version of SQLite can lose a commit when a checkpoint and a reset of the log meet."""
    if version < (3, 7, 0) or version >= (3, 51, 3):
        return False
    mended = _FIXED.get(version[:2])
    return mended is None or version[2] < mended


def sqlite_version(version: tuple[int, int, int]) -> Iterator[Finding]:
    if has_wal_reset_bug(version):
        yield finding("sqlite_wal_reset", version=".".join(map(str, version)))


def disk(place: Path, size: int) -> Iterator[Finding]:
    """Too little room for the write-ahead log and one copy of the store."""
    try:
        free = shutil.disk_usage(nearest(place)).free
    except OSError:
        return
    if free < max(_FREE_BYTES, size * 2):
        yield finding("disk_nearly_full", place=place, free=told(free), size=told(size))


def network(place: Path) -> Iterator[Finding]:
    kind = file_system(mounts(), Path(os.path.realpath(place)))
    if kind in REMOTE:
        yield finding("network_file_system", place=place, kind=kind)


def variables(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Names that look like settings and are none: a misspelt one is ignored in silence."""
    known = {PREFIX + name.upper() for name in Settings.model_fields} | {PREFIX + name for name in OTHERS}
    for name in sorted(environ):
        if name.upper().startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name.upper(), known, 1)
            yield finding("unknown_variable", name=name, near=f"; {near[0]} is one" if near else "")


def nearest(place: Path) -> Path:
    """The place itself, or the folder above it that is there."""
    for each in (place, *place.absolute().parents):
        if each.exists():
            return each
    return Path("/")


def told(size: float) -> str:
    """A size for people."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
