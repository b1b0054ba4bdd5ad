"""Who is alive and who is not: the facts that decide whether a run is interrupted (M2)."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from minutebook.domain.catalogue import Owner
from minutebook.infrastructure.work import identity

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def death(owner: Owner, *, silent: float = 0.0, lease: float = 300.0) -> str | None:
    return identity.is_dead(owner, now=NOW, last_seen=NOW - timedelta(seconds=silent), lease_seconds=lease)


def test_our_own_runtime_lives_until_it_is_released() -> None:
    owner = identity.register("runtime-a")
    assert death(owner, silent=1e6) is None
    identity.release("runtime-a")
    assert death(owner) == "owner_gone"


def test_a_process_on_this_host_lives_however_long_it_was_silent_and_dies_with_its_process() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        owner = Owner(
            host=identity.host(), pid=child.pid, started=identity.process_start(child.pid) or "", runtime="other"
        )
        assert death(owner, silent=1e6) is None
        child.send_signal(signal.SIGKILL)
        # Not yet waited for: a zombie has a pid and a start time, and is dead all the same.
        deadline = time.monotonic() + 60
        while death(owner) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert death(owner) == "owner_gone"
    finally:
        child.kill()
        child.wait()
    assert death(owner) == "owner_gone"


def test_a_pid_that_was_used_again_is_another_process() -> None:
    owner = Owner(host=identity.host(), pid=os.getpid(), started="1", runtime="old")
    assert death(owner) == "owner_gone"


def test_on_another_host_the_lease_decides_and_a_clock_that_runs_backwards_never_kills() -> None:
    owner = Owner(host="elsewhere", pid=1, started="1", runtime="other")
    assert death(owner, silent=299.0) is None
    assert death(owner, silent=300.0) is None
    assert death(owner, silent=301.0) == "lease_expired"
    assert death(owner, silent=-1e6) is None


def test_the_host_is_the_same_in_a_child_and_the_parents_runtime_is_not_the_childs() -> None:
    identity.register("runtime-parent")
    context = multiprocessing.get_context("fork")
    pipe, other = context.Pipe()

    def child() -> None:
        other.send((identity.host(), sorted(identity._runtimes)))

    process = context.Process(target=child)
    process.start()
    host, runtimes = pipe.recv()
    process.join()
    identity.release("runtime-parent")
    assert host == identity.host()
    assert runtimes == []


def test_a_child_sees_its_parents_runtime_alive() -> None:
    owner = identity.register("runtime-parent-2")
    context = multiprocessing.get_context("fork")
    pipe, other = context.Pipe()
    process = context.Process(target=lambda: other.send(death(owner)))
    process.start()
    answer = pipe.recv()
    process.join()
    identity.release("runtime-parent-2")
    assert answer is None


def test_without_proc_the_process_table_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    # macOS has no /proc: the same questions go to ps.
    monkeypatch.setattr(identity, "_proc_stat", lambda pid: None)
    started = identity.process_start(os.getpid())
    assert started is not None
    owner = Owner(host=identity.host(), pid=os.getpid(), started=started, runtime="runtime-b")
    identity.register("runtime-b")
    assert death(owner) is None
    identity.release("runtime-b")
    assert death(owner) == "owner_gone"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert identity.process_start(gone.pid) is None


@pytest.mark.parametrize("pid", [0, -1])
def test_a_pid_that_is_none_is_gone(pid: int) -> None:
    assert identity.process_start(pid) is None
