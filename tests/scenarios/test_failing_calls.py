"""The n-th call fails, once or for ever, in a real process at work; a judge outside compares (issue 7, item 3).

The long form is ``make drill-inject``: each kind of call, at many numbers. Below Python and SQLite a call fails by
strace; where that is not here, those are named as skipped, and hooks of Python and of the driver do what they can.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from failing import Child, Fault, FaultServer, can_trace, hook, judge, strike

pytestmark = pytest.mark.sqlite_only("calls of a file; drill-inject fails those to a server too")

STRUCK = [
    ("talking", Fault("pwrite64", "ENOSPC", 1, ever=True)),
    ("talking", Fault("fdatasync", "EIO", 2)),
    ("talking", Fault("openat", "EACCES", 1, ever=True)),
    ("remembering", Fault("write", "ENOSPC", 1)),
    ("remembering", Fault("fsync", "EIO", 1, ever=True)),
    ("remembering", Fault("renameat2", "EROFS", 1)),
    ("remembering", Fault("unlinkat", "EACCES", 1, ever=True)),
    ("starting", Fault("openat", "EIO", 7)),
]
HOOKED = [
    ("talking", Fault("execute", "EIO", 5)),
    ("talking", Fault("commit", "ENOSPC", 2, ever=True)),
    ("remembering", Fault("commit", "EIO", 4)),
    ("remembering", Fault("execute", "EROFS", 40, ever=True)),
    ("remembering", Fault("write", "ENOSPC", 1, ever=True)),
    ("remembering", Fault("fsync", "EIO", 2)),
    ("remembering", Fault("rename", "EROFS", 1)),
    ("remembering", Fault("open", "EACCES", 4)),
]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    made = FaultServer()
    yield made
    made.close()


@pytest.fixture(scope="module")
def store(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with revisions."""
    root = tmp_path_factory.mktemp("store") / "w"
    root.mkdir()
    child = Child(server, root, "remembering", alone=True)
    for word in ("ready", "worked"):
        child.until(word)
        child.go()
    child.until("over")
    assert child.end() == 0
    return root


@pytest.fixture
def root(store: Path, tmp_path: Path) -> Path:
    shutil.copytree(store, tmp_path / "w")
    return tmp_path / "w"


@pytest.mark.parametrize(("workload", "fault"), STRUCK, ids=lambda value: str(value).replace(" ", "-"))
def test_a_call_of_the_system_that_fails_loses_nothing_acknowledged(
    server: FaultServer, root: Path, workload: str, fault: Fault
) -> None:
    if not can_trace():
        pytest.skip("strace is not here: below SQLite no call can fail")
    told = strike(server, root, workload, fault, opened=workload != "starting")
    assert told.injected
    judge(root, told, fault)


@pytest.mark.parametrize("number", [4, 6, 7])
def test_a_first_start_that_cannot_sync_says_what_failed(server: FaultServer, tmp_path: Path, number: int) -> None:
    """SQLite has then rolled back by itself; that there is nothing to roll back is no news (found by drill-inject)."""
    if not can_trace():
        pytest.skip("strace is not here: below SQLite no call can fail")
    fault = Fault("fdatasync", "EACCES", number, ever=True)
    (tmp_path / "w").mkdir()
    told = strike(server, tmp_path / "w", "starting", fault, opened=False)
    assert told.injected
    judge(tmp_path / "w", told, fault)


@pytest.mark.parametrize(("workload", "fault"), HOOKED, ids=lambda value: str(value).replace(" ", "-"))
def test_a_statement_or_a_call_of_python_that_fails_loses_nothing_acknowledged(
    server: FaultServer, root: Path, workload: str, fault: Fault
) -> None:
    told = hook(server, root, workload, fault, opened=True)
    assert told.injected
    judge(root, told, fault)
