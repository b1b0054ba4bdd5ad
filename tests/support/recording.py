"""Records the system calls of a workload with strace, as the calls of ``disk.py``."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from disk import Call
from failing import Child, FaultServer, traced

_CALL = re.compile(
    r"^(?P<pid>[0-9]+) +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<answer>-?[0-9]+)(?:<(?P<path>[^>]*)>)?"
)
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
_FILE = re.compile(r"(-?[0-9]+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>")
CALLS = ("openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,"
         "sendfile,fsync,fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,"
         "mkdirat,rmdir,lseek,sendmsg")  # fmt: skip
UNREAD = {"writev", "pwritev", "pwritev2", "truncate", "fallocate", "copy_file_range", "sendfile", "symlink",
          "symlinkat", "rmdir", "creat", "sync_file_range"}  # fmt: skip
"""Calls that the recorder does not know; one of them below the workspace ends the recording."""


def record(server: FaultServer, workload: str, **more: Any) -> list[Call]:
    """What the workload asked of the disk, from an empty workspace on, with what it was acknowledged."""
    with tempfile.TemporaryDirectory(prefix="minutebook-record-") as folder:
        root, output = Path(folder).resolve() / "w", Path(folder) / "trace"
        root.mkdir()
        child = Child(server, root, workload, alone=True, **more)
        child.until("ready")
        with traced(child.pid, ["-y", "-xx", "-s", "4000000", "-e", f"trace={CALLS}"], output):
            child.go()
            child.until("worked")
        child.go()
        child.until("over")
        assert child.end() == 0
        return list(read(output.read_text(encoding="ascii"), root))


def read(trace: str, root: Path) -> Iterator[Call]:
    """The calls of a trace that change something below the workspace, and what was told meanwhile."""
    offsets: dict[int, int] = {}
    appending: set[int] = set()
    there: set[str] = set()
    sizes: dict[str, int] = {}
    for line in _whole(trace):
        match = _CALL.match(line)
        if match is None or int(match["answer"]) < 0:
            continue
        name, arguments, answer = match["name"], match["arguments"], int(match["answer"])
        if name == "sendmsg":
            for told in _bytes(arguments).splitlines():
                yield Call("told", told=json.loads(told))
            continue
        files = [(number, _plain(path)) for number, path in _FILE.findall(arguments)]
        if name == "openat":
            path = _below(root, _join(files[0][1], _texts(arguments)[0]))
            offsets[answer] = 0
            appending.discard(answer)
            if path is None or path.endswith("-shm"):
                continue
            if "O_APPEND" in arguments:
                appending.add(answer)
            if "O_CREAT" in arguments and path not in there:
                there.add(path)
                sizes[path] = 0
                yield Call("make", path)
            if "O_TRUNC" in arguments:
                sizes[path] = 0
                yield Call("size", path)
            continue
        paths = _paths(name, root, files, [] if "write" in name else _texts(arguments))
        if paths is None or any(path.endswith("-shm") for path in paths):
            continue
        assert name not in UNREAD, f"the recorder cannot read {line[:200]}"
        number = int(files[0][0]) if files and files[0][0] != "AT_FDCWD" else -1
        match name:
            case "lseek":
                offsets[number] = answer
            case "write" | "pwrite64":
                data = _bytes(arguments)[:answer]
                at = int(arguments.rpartition(", ")[2]) if name == "pwrite64" else offsets.get(number, 0)
                if number in appending:
                    at = sizes[paths[0]]
                if name == "write":
                    offsets[number] = at + answer
                sizes[paths[0]] = max(sizes.get(paths[0], 0), at + answer)
                yield Call("write", paths[0], offset=at, data=data)
            case "ftruncate":
                sizes[paths[0]] = int(arguments.rpartition(", ")[2])
                yield Call("size", paths[0], offset=sizes[paths[0]])
            case "fsync" | "fdatasync":
                yield Call("sync", paths[0])
            case "unlink" | "unlinkat":
                there.discard(paths[0])
                yield Call("unlink", paths[0])
            case "mkdir" | "mkdirat":
                yield Call("folder", paths[0])
            case "link" | "linkat":
                there.add(paths[1])
                sizes[paths[1]] = sizes[paths[0]]
                yield Call("link", paths[0], paths[1])
            case _ if "RENAME_EXCHANGE" in arguments:
                sizes[paths[0]], sizes[paths[1]] = sizes[paths[1]], sizes[paths[0]]
                yield Call("exchange", paths[0], paths[1])
            case _:
                there.discard(paths[0])
                there.add(paths[1])
                sizes[paths[1]] = sizes.pop(paths[0])
                yield Call("rename", paths[0], paths[1])


def _whole(trace: str) -> Iterator[str]:
    """Lines, with those that another thread came between put together."""
    begun: dict[str, str] = {}
    for line in trace.splitlines():
        pid, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[pid] = line.removesuffix("<unfinished ...>")
        elif "resumed>" in rest and pid in begun:
            yield begun.pop(pid) + rest.partition("resumed>")[2]
        else:
            yield line


def _paths(name: str, root: Path, files: list[tuple[str, str]], texts: list[str]) -> list[str] | None:
    """The paths that a call names, below the workspace; None where it names none there."""
    if name in ("renameat", "renameat2", "linkat"):
        whole = [_join(files[0][1], texts[0]), _join(files[1][1], texts[1])]
    elif name in ("unlinkat", "mkdirat"):
        whole = [_join(files[0][1], texts[0])]
    elif name in ("rename", "link", "unlink", "mkdir", "rmdir", "truncate", "creat", "symlink"):
        whole = [os.path.abspath(text) for text in texts]
    else:
        whole = [path for _, path in files]
    below = [_below(root, path) for path in whole]
    return None if not below or None in below else [path for path in below if path is not None]


def _join(folder: str, name: str) -> str:
    return os.path.normpath(os.path.join(folder, name))


def _below(root: Path, path: str) -> str | None:
    if path == str(root):
        return ""
    return path.removeprefix(f"{root}/") if path.startswith(f"{root}/") else None


def _plain(text: str) -> str:
    return bytes.fromhex(text.replace("\\x", "")).decode()


def _texts(arguments: str) -> list[str]:
    return [_plain(text) for text, _ in _TEXT.findall(arguments)]


def _bytes(arguments: str) -> bytes:
    found = _TEXT.search(arguments)
    assert found is not None, arguments[:200]
    assert not found[2], "strace has cut it short"
    return bytes.fromhex(found[1].replace("\\x", ""))
