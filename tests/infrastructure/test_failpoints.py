"""The list of failpoints is the list of places in the source, and what is armed does what it says."""

from __future__ import annotations

import errno
import os
import re
import threading
import time
from pathlib import Path

import pytest

from minutebook.domain.errors import InputError
from minutebook.infrastructure.store import failpoints
from minutebook.infrastructure.store.failpoints import POINTS, armed, failpoint

SOURCE = Path(__file__).resolve().parents[2]
USED = re.compile(r'(?:failpoint|commit|_advancing)\([^"()]*"([a-z_]+\.[a-z_]+)"\)|point: str = "([a-z_]+\.[a-z_]+)"')


def test_every_failpoint_of_the_source_is_listed_and_every_listed_one_is_in_the_source() -> None:
    used = {
        first or second
        for floor in ("domain", "projections", "infrastructure")
        for path in (SOURCE / floor).rglob("*.py")
        if path.name != "failpoints.py"
        for first, second in USED.findall(path.read_text(encoding="utf-8"))
    }
    assert used == set(POINTS)


def test_every_failpoint_names_a_row_of_the_fault_matrix() -> None:
    assert all(re.match(r"[A-Z]\d\d", row) for row in POINTS.values())


def test_a_point_acts_at_each_passing_or_only_at_the_one_that_was_asked_for() -> None:
    with armed("file.write_temp", "raise(ENOSPC)"):
        for _ in range(2):
            with pytest.raises(OSError, match="No space") as caught:
                failpoint("file.write_temp")
            assert caught.value.errno == errno.ENOSPC
    failpoint("file.write_temp")
    with armed("file.write_temp", "raise(EIO):2"):
        failpoint("file.write_temp")
        with pytest.raises(OSError, match="output error"):
            failpoint("file.write_temp")
        failpoint("file.write_temp")


def test_points_are_armed_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(failpoints.VARIABLE, "file.write_temp=raise(EIO);file.replace=sleep(0.01)")
    failpoints.arm_from_environment()
    try:
        with pytest.raises(OSError, match="output error"):
            failpoint("file.write_temp")
        failpoint("file.replace")
    finally:
        monkeypatch.setenv(failpoints.VARIABLE, "")
        failpoints.arm_from_environment()
    failpoint("file.write_temp")


@pytest.mark.parametrize("spec", ["nowhere=kill", "file.replace", "file.replace=raise(EWHAT)", "file.replace=dance"])
def test_a_point_that_cannot_be_armed_is_refused(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(failpoints.VARIABLE, spec)
    with pytest.raises(InputError) as caught:
        failpoints.arm_from_environment()
    assert caught.value.code == "bad_failpoint"
    monkeypatch.setenv(failpoints.VARIABLE, "")
    failpoints.arm_from_environment()


def test_a_parked_thread_goes_on_when_its_file_is_taken_away(tmp_path: Path) -> None:
    parked = tmp_path / "parked"
    with armed("file.replace", f"park({parked})"):
        thread = threading.Thread(target=failpoint, args=("file.replace",))
        thread.start()
        deadline = time.monotonic() + 60
        while not parked.exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        assert thread.is_alive()
        os.unlink(parked)
        thread.join(60)
        assert not thread.is_alive()
