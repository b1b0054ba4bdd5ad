"""A workload in a real process whose n-th system call of a kind fails, and a judge that reads by itself (issue 7, 3).

``strace`` puts the fault where the system would: below Python, SQLite and the PostgreSQL driver. It is attached when
the child is ready and taken off when the fault is to be gone, so that the same process has to go on.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from killing import Server, Site
from stores import PACKAGE, outside

CHILD = Path(__file__).with_name("faulty_child.py")
PATIENCE_SECONDS = 90.0
"""Far more than any bound that is stated: whoever is still at it then hangs."""

CALLS = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "linkat", "unlink",
         "unlinkat", "mkdir", "mkdirat", "ftruncate")  # fmt: skip
"""What is asked of a disk; ``connect``, ``sendto`` and ``recvfrom`` are what is asked of a server."""
WIRE = ("connect", "sendto", "recvfrom")
ERRORS = ("EIO", "ENOSPC", "EACCES", "EROFS")
OF_THE_LOG = frozenset({"openat", "pwrite64", "fdatasync", "ftruncate", "unlink", "execute", "commit", "open", *WIRE})
"""Calls that an append makes too. Where one of the others fails, only memory can be hit by it."""
OURS = frozenset({"internal_error", "usage", "system_error", "store_error"})
"""Codes that say no more than that something is wrong."""


@dataclass(frozen=True)
class Fault:
    """The n-th call fails, once or from then on."""

    call: str
    error: str
    number: int
    ever: bool = False

    def __str__(self) -> str:
        return f"{self.call} {self.number}{'+' if self.ever else ''} {self.error}"

    @property
    def options(self) -> list[str]:
        when = f"{self.number}{'+' if self.ever else ''}"
        return ["-e", f"trace={self.call}", "-e", f"inject={self.call}:error={self.error}:when={when}"]


@dataclass
class Told:
    """What a child was acknowledged and what it was refused, in order; and what failed below it."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    injected: int = 0
    passed: int = 0
    """How often the call was made, where it was counted by a hook."""

    def of(self, key: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if key in line]

    @property
    def before(self) -> list[dict[str, Any]]:
        """While the fault was there."""
        return self._split()[0]

    @property
    def after(self) -> list[dict[str, Any]]:
        """When it was gone, the book opened anew."""
        return self._split()[1]

    def _split(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        at = next((n for n, line in enumerate(self.lines) if "anew" in line), len(self.lines))
        return self.lines[:at], self.lines[at:]


class FaultServer(Server):
    """The fork server of ``faulty_child.py``."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        )  # fmt: skip


def can_trace() -> bool:
    """Whether strace is here and may look into a process."""
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return done.returncode == 0


class Died(AssertionError):
    """A child ended before it had said all."""


class Child:
    """One process of the fork server and the line to it."""

    def __init__(self, server: Server, root: Path, workload: str, **more: Any) -> None:
        self.server = server
        self.folder = Path(tempfile.mkdtemp(prefix="minutebook-line-"))
        try:
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(self.folder / "line"))
                listening.listen()
                self.pid: int = server.say(root=str(root), workload=workload, socket=str(self.folder / "line"), **more)[
                    "pid"
                ]
                self.line, _ = listening.accept()
        finally:
            shutil.rmtree(self.folder)
        self._rest = b""
        self.told = Told()

    def until(self, key: str) -> None:
        """Hears what it says until a line has the key; raises where it says nothing more: then it hangs.

        Each step has its own patience: one to a server that cannot be reached takes as long as a dial may, twice over.
        """
        while True:
            while b"\n" in self._rest:
                line, _, self._rest = self._rest.partition(b"\n")
                heard = json.loads(line)
                if key in heard:
                    return
                self.told.lines.append(heard)
            if not select.select([self.line], [], [], PATIENCE_SECONDS)[0]:
                raise AssertionError(f"it hangs after {self.told.lines[-1:]}")
            part = self.line.recv(1 << 16)
            if not part:
                raise Died(f"it died after {self.told.lines[-1:]}")
            self._rest += part

    def go(self) -> None:
        self.line.send(b".")

    def end(self) -> int:
        self.line.close()
        status: int = self.server.say(wait=self.pid)["status"]
        return status

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.end()


@contextmanager
def traced(pid: int, options: Sequence[str], output: Path) -> Iterator[None]:
    """The process under strace, which is taken off it at the end."""
    process = subprocess.Popen(
        ["strace", "-f", "-p", str(pid), *options, "-o", str(output)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "attached" in said, said
        yield
    finally:
        process.terminate()
        process.communicate()


def hook(server: Server, root: Path, workload: str, fault: Fault, **more: Any) -> Told:
    """The same by hooks of Python, for statements of the driver and where there is no strace."""
    named = {"call": fault.call, "error": fault.error, "number": fault.number, "ever": fault.ever}
    child = Child(server, root, workload, hook=named, **more)
    try:
        child.until("ready")
        for word in ("worked", "over"):
            child.go()
            child.until(word)
    except BaseException:
        child.kill()
        raise
    assert child.end() == 0
    [counted] = child.told.of("hit")
    child.told.injected, child.told.passed = counted["hit"], counted["passed"]
    return child.told


def strike(server: Server, root: Path, workload: str, fault: Fault | None, **more: Any) -> Told:
    """Runs a workload with a fault and lets it go on when it is gone; without one its calls are only counted."""
    child = Child(server, root, workload, **more)
    output = root.parent / "trace"
    options = fault.options if fault else ["-e", f"trace={','.join((*CALLS, *WIRE))}"]
    try:
        child.until("ready")
        with traced(child.pid, options, output):
            child.go()
            child.until("worked")
        child.go()
        child.until("over")
    except BaseException:
        child.kill()
        raise
    assert child.end() == 0
    child.told.injected = output.read_text(errors="replace").count("(INJECTED)")
    return child.told


def counted(output: Path) -> Counter[str]:
    """How often each call was made, from a trace."""
    return Counter(re.findall(r"^[0-9]+ +(\w+)\(", output.read_text(errors="replace"), re.MULTILINE))


def judge(root: Path, told: Told, fault: Fault | None) -> None:
    """What must hold whatever failed; AssertionError says what does not."""
    broke = told.of("broke")
    assert not broke, f"not an error of ours: {broke}"
    vague = [line for line in told.of("refused") if line["code"] in OURS or not line["code"].isidentifier()]
    assert not vague, f"no named error: {vague}"
    if fault is not None and fault.call in WIRE:
        disk = [
            line for line in told.of("refused") if line["code"] in ("disk_full", "store_read_only", "store_io_error")
        ]
        assert not disk, f"the wire is taken for a disk: {disk}"
    late = [line for line in told.after if "refused" in line]
    assert not late, f"refused although the fault was gone: {late}"
    assert all(line["proved"] for line in told.of("proved")), "the log or a projection is not what it should be"
    if fault is not None and fault.call not in OF_THE_LOG:
        talk = {"run", "append", "context", "succeed"}
        stopped = [line for line in told.before if line.get("refused") in talk]
        assert not stopped, f"the conversation did not go on: {stopped}"
    same_as_told(root, told.lines)
    Site(None, root, root.parent / "none").check(mode=0o600, cursor=False)  # type: ignore[arg-type]


def same_as_told(root: Path, told: list[dict[str, Any]]) -> None:
    """All that was acknowledged is in the log, once; the log is read here, not through the code under test."""
    rows = Site(None, root, root.parent / "none").rows(cursor=False)  # type: ignore[arg-type]
    places: dict[str, list[int]] = {}
    for position, topic, facts, _ in rows:
        if topic == "MessageRecorded":
            places.setdefault(facts["message"], []).append(position)
    committed = {facts["revision"] for _, topic, facts, _ in rows if topic == "RevisionCommitted"}
    with outside(root) as connection:
        ended = {run for (run,) in connection.exec_driver_sql("SELECT run FROM events WHERE topic = 'RunSucceeded'")}
    proposed = " ".join(json.dumps(payload) for _, topic, _, payload in rows if topic == "CandidateProposed")
    for line in told:
        if "kept" in line:
            assert places.get(line["kept"]) == [line["position"]], f"a false acknowledgement: {line}"
        if line.get("revision"):
            assert line["revision"] in committed, f"a false acknowledgement: {line}"
        if "ended" in line:
            assert line["ended"] in ended, f"a false acknowledgement: {line}"
        if "fact" in line:
            assert line["fact"] in proposed, f"a false acknowledgement: {line}"
