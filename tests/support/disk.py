"""What a disk may hold when the power goes: calls as they were recorded, and every legal state between two syncs.

A file is what was synced of it, plus any part of what was written since: sectors of 512 or 4,096 bytes each land or do
not, a size may have grown without its bytes. A folder is what was synced of it, plus any of the names that were made,
exchanged or removed since. Nothing else is promised, and nothing of that is: neither an order between two files, nor
that the name of a synced file is there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

Kind = Literal["make", "write", "size", "sync", "link", "unlink", "rename", "exchange", "folder", "told"]
FOLDER = -1
"""Stands for a folder where an inode's number stands for a file."""


@dataclass(frozen=True)
class Call:
    """One call that a disk sees, or a word that was told outside (``told``); paths are below the workspace."""

    kind: Kind
    path: str = ""
    other: str = ""
    offset: int = 0
    data: bytes = b""
    told: dict[str, Any] = field(default_factory=dict)


def keep(calls: Sequence[Call], path: Path) -> None:
    """Writes a recording, small enough to be kept beside the tests."""
    rows = [
        [call.kind, call.path, call.other, call.offset, base64.b85encode(call.data).decode(), call.told]
        for call in calls
    ]
    path.write_bytes(lzma.compress(json.dumps(rows).encode(), preset=9 | lzma.PRESET_EXTREME))


def kept(path: Path) -> list[Call]:
    rows = json.loads(lzma.decompress(path.read_bytes()))
    return [Call(row[0], row[1], row[2], row[3], base64.b85decode(row[4]), row[5]) for row in rows]


State = dict[str, bytes | None]
"""Every path with its bytes; None is a folder."""


@dataclass(frozen=True)
class Unit:
    """A part of a file, or of a folder, that lands or does not. ``number`` is its place in the order of the calls."""

    number: int
    inode: int | None = None
    offset: int = 0
    data: bytes = b""
    size: int | None = None
    folder: str = ""
    names: tuple[tuple[str, int | None], ...] = ()


class Disk:
    """The calls so far: what lasts, what is only in memory."""

    def __init__(self) -> None:
        self.lasting: dict[int, bytes] = {}
        self.folders: dict[str, dict[str, int]] = {"": {}}
        self.live: dict[str, dict[str, int]] = {"": {}}
        self.loose: list[Unit] = []
        """What no sync has covered, in order."""
        self._count = 0

    def do(self, call: Call) -> None:
        self._count += 1
        match call.kind:
            case "make":
                inode = len(self.lasting)
                self.lasting[inode] = b""
                self._names(call.path, inode)
            case "folder":
                self._names(call.path, FOLDER)
                self.folders[call.path], self.live[call.path] = {}, {}
            case "write":
                self.loose.append(Unit(self._count, self._inode(call.path), call.offset, call.data))
            case "size":
                self.loose.append(Unit(self._count, self._inode(call.path), size=call.offset))
            case "link":
                self._names(call.other, self._inode(call.path))
            case "unlink":
                self._names(call.path, None)
            case "rename":
                self._names(call.path, None, call.other, self._inode(call.path))
            case "exchange":
                self._names(call.path, self._inode(call.other), call.other, self._inode(call.path))
            case "sync":
                self._sync(call.path)
            case "told":
                pass

    def _inode(self, path: str) -> int:
        folder, _, name = path.rpartition("/")
        return self.live[folder][name]

    def _names(self, path: str, inode: int | None, other: str = "", second: int | None = None) -> None:
        folder, _, name = path.rpartition("/")
        names = [(name, inode)]
        if other:
            assert other.rpartition("/")[0] == folder, "names are exchanged within one folder"
            names.append((other.rpartition("/")[2], second))
        _put(self.live[folder], names)
        self.loose.append(Unit(self._count, folder=folder, names=tuple(names)))

    def _sync(self, path: str) -> None:
        if path in self.live:
            self.folders[path] = dict(self.live[path])
            self.loose = [unit for unit in self.loose if unit.inode is not None or unit.folder != path]
            return
        inode = self._inode(path)
        content = bytearray(self.lasting[inode])
        for unit in self.loose:
            if unit.inode == inode:
                _land(content, unit)
        self.lasting[inode] = bytes(content)
        self.loose = [unit for unit in self.loose if unit.inode != inode]

    def units(self, sector: int) -> list[Unit]:
        """What may land or not, each by itself; a size that grew may be there without the bytes."""
        found: list[Unit] = []
        for unit in self.loose:
            if not unit.data:
                found.append(unit)
                continue
            end = unit.offset + len(unit.data)
            found.append(replace(unit, data=b"", size=-end))
            at = unit.offset
            while at < end:
                upto = min((at // sector + 1) * sector, end)
                part = unit.data[at - unit.offset : upto - unit.offset]
                found.append(replace(unit, offset=at, data=part))
                at = upto
        return found

    def state(self, units: Sequence[Unit]) -> State:
        """The disk on which of all that was not synced these have landed."""
        folders = {path: dict(names) for path, names in self.folders.items()}
        files: dict[int, bytearray] = {}
        for unit in units:
            if unit.inode is not None:
                if unit.inode not in files:
                    files[unit.inode] = bytearray(self.lasting[unit.inode])
                _land(files[unit.inode], unit)
            else:
                _put(folders[unit.folder], unit.names)
        found: State = {}

        def walk(folder: str) -> None:
            for name, inode in folders[folder].items():
                path = f"{folder}/{name}" if folder else name
                if inode == FOLDER:
                    found[path] = None
                    walk(path)
                else:
                    found[path] = bytes(files[inode]) if inode in files else self.lasting[inode]

        walk("")
        return found


def _put(folder: dict[str, int], names: Sequence[tuple[str, int | None]]) -> None:
    for name, inode in names:
        if inode is None:
            folder.pop(name, None)
        else:
            folder[name] = inode


def _land(content: bytearray, unit: Unit) -> None:
    end = unit.offset + len(unit.data)
    if unit.size is not None:
        end = abs(unit.size)  # below nothing: a write has made it grow, and it is never cut
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if unit.size is None:
        content[unit.offset : end] = unit.data
    elif unit.size >= 0:
        del content[end:]


# --- every legal state, or a sample of them


@dataclass(frozen=True)
class Sample:
    """A state, all that had been acknowledged when it could be there, and where the power went."""

    state: State
    told: tuple[dict[str, Any], ...]
    cut: int
    whole: bool
    """Whether the states of this cut were enumerated to the last one."""


def states(calls: Sequence[Call], *, each: int, chance: random.Random, end: bool = False) -> Iterator[Sample]:
    """The legal states at each cut, each once, with the most that had been acknowledged at it.

    A cut stands before each sync and at the end: what lands there in part includes all that lay between. Up to ``each``
    states of a cut are all of them; of more, ``each`` are drawn, the plain ones first. ``end``: the last cut alone.
    """
    disk = Disk()
    told: list[dict[str, Any]] = []
    best: dict[bytes, Sample] = {}
    for number, call in enumerate([*calls, Call("sync", "")]):
        if call.kind == "sync" and (not end or number == len(calls)):
            for state, whole in _choices(disk, each, chance):
                best[digest(state)] = Sample(state, tuple(told), number, whole)
        if call.kind == "told":
            told.append(call.told)
        if number < len(calls):
            disk.do(call)
    yield from best.values()


def _choices(disk: Disk, each: int, chance: random.Random) -> Iterator[tuple[State, bool]]:
    for sector in (4_096, 512):
        units = disk.units(sector)
        if 2 ** len(units) <= each:
            for taken in product((False, True), repeat=len(units)):
                yield disk.state([unit for unit, lands in zip(units, taken, strict=True) if lands]), True
            continue
        for picked in _drawn(units, max(2, each // 2), chance):
            yield disk.state(picked), False


def _drawn(units: list[Unit], each: int, chance: random.Random) -> Iterator[list[Unit]]:
    yield []
    yield units
    ways: list[Callable[[], list[Unit]]] = [
        lambda: _up_to(units, chance.choice(units).number),
        lambda: _without(units, {chance.choice(units).number}),
        lambda: _without(units, {chance.randrange(len(units))}, by_place=True),
        lambda: [chance.choice(units)],
        lambda: [unit for unit in units if chance.random() < 0.5],
        lambda: [unit for unit in units if chance.random() < 0.9],
        lambda: [unit for unit in units if unit.inode is None or chance.random() < 0.5],
        lambda: [unit for unit in units if unit.inode is not None or chance.random() < 0.5],
    ]
    for number in range(each - 2):
        yield ways[number % len(ways)]()


def _up_to(units: list[Unit], number: int) -> list[Unit]:
    return [unit for unit in units if unit.number <= number]


def _without(units: list[Unit], left_out: set[int], *, by_place: bool = False) -> list[Unit]:
    return [unit for place, unit in enumerate(units) if (place if by_place else unit.number) not in left_out]


def digest(state: State) -> bytes:
    found = hashlib.sha256()
    for path, content in sorted(state.items()):
        found.update(f"{path}\0{-1 if content is None else len(content)}\0".encode())
        found.update(content or b"")
    return found.digest()


def lay(state: State, root: Path) -> None:
    """Makes the files of a state below an empty folder."""
    for path, content in state.items():
        place = root / path
        if content is None:
            place.mkdir(mode=0o700)
        else:
            place.write_bytes(content)
            place.chmod(0o600)
