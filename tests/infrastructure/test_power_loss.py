"""The power goes: what may be on the disk then is laid out, opened and judged (issue 7; the long form is drill-power).

What is replayed was recorded from real processes: anew where strace is, else as it is kept in ``tests/data/power``,
which cannot show a sync that this very code leaves out. ``make drill-power ARGS=--keep`` records it again.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from disk import Call, Disk, digest, kept, states
from failing import FaultServer, can_trace
from outage import RECORDINGS, WEAKER, Survived, survive, upto
from recording import record

DATA = Path(__file__).resolve().parents[1] / "data" / "power"
SHOWS = {"appends": "kept", "memory": "revision", "checkpoints": "kept"}
"""What was acknowledged last where a weaker build is to be caught."""


def recording(name: str) -> list[Call]:
    return kept(DATA / f"{name.replace(' ', '-').lower()}.json.xz")


@pytest.fixture(scope="module")
def fresh() -> dict[str, list[Call]]:
    """Recorded from this very code; as it is kept where nothing can be recorded."""
    names = ("appends", "memory")
    if not can_trace():
        return {name: recording(name) for name in names}
    server = FaultServer()
    try:
        return {name: record(server, RECORDINGS[name][0]) for name in names}
    finally:
        server.close()


# --- the model of a disk, by hand


def contents(*calls: Call) -> set[object]:
    """Every content of the file ``a`` after the calls; None where there is no such name."""
    found = states(calls, each=1 << 12, chance=random.Random(1), end=True)
    return {sample.state.get("a", "none") for sample in found}


NEW, NAMED = Call("make", "a"), Call("sync", "")


@pytest.mark.parametrize(
    ("calls", "legal"),
    [
        ([NEW], {"none", b""}),
        ([NEW, NAMED], {b""}),
        ([NEW, NAMED, Call("write", "a", data=b"xy")], {b"", b"\0\0", b"xy"}),
        ([NEW, NAMED, Call("write", "a", data=b"xy"), Call("sync", "a")], {b"xy"}),
        ([NEW, Call("write", "a", data=b"xy"), Call("sync", "a")], {"none", b"xy"}),
        ([NEW, NAMED, Call("write", "a", data=b"1"), Call("sync", "a"), Call("write", "a", data=b"2")], {b"1", b"2"}),
        ([NEW, NAMED, Call("write", "a", data=b"1"), Call("sync", "a"), Call("unlink", "a")], {"none", b"1"}),
        ([NEW, NAMED, Call("make", "b"), Call("sync", ""), Call("write", "b", data=b"2"), Call("rename", "b", "a")],
         {b"", b"\0", b"2"}),
        ([NEW, Call("make", "b"), NAMED, Call("write", "b", data=b"2"), Call("sync", "b"), Call("exchange", "a", "b")],
         {b"", b"2"}),
        ([NEW, NAMED, Call("write", "a", data=b"1" * 512 + b"2"), Call("size", "a", offset=0)],
         {b"", b"\0" * 513, b"1" * 512, b"1" * 512 + b"\0", b"\0" * 512 + b"2", b"1" * 512 + b"2"}),
    ],
)  # fmt: skip
def test_a_disk_holds_what_was_synced_and_any_part_of_the_rest(calls: list[Call], legal: set[object]) -> None:
    assert contents(*calls) == legal


def test_states_are_drawn_alike_from_one_seed_and_each_comes_once() -> None:
    calls = recording("memory")
    one, two = (
        [digest(sample.state) for sample in states(calls, each=9, chance=random.Random(7), end=True)] for _ in range(2)
    )
    assert one == two
    assert len(set(one)) == len(one)


def test_all_that_was_written_is_there_when_all_has_landed() -> None:
    disk = Disk()
    for call in recording("memory"):
        disk.do(call)
    whole = disk.state(disk.units(4_096))
    assert whole[".tinyagent/memory/MEMORY.md"]
    assert whole[".tinyagent/minutebook.db"]


# --- what was recorded, and what must hold


def held(found: Survived) -> None:
    assert found.states >= 4
    assert found.troubles == []


def test_no_acknowledged_append_goes_with_the_power(fresh: dict[str, list[Call]], tmp_path: Path) -> None:
    held(survive(fresh["appends"], tmp_path, each=2, seed=3, part=3))


def test_no_power_loss_tears_the_memory_file_or_takes_it_back(fresh: dict[str, list[Call]], tmp_path: Path) -> None:
    held(survive(fresh["memory"], tmp_path, each=2, seed=4, part=8))


def test_what_is_kept_beside_the_tests_is_a_store_of_today(tmp_path: Path) -> None:
    """Where this fails after a change of the schema: ``make drill-power ARGS=--keep``."""
    found = survive(recording("memory"), tmp_path, each=2, seed=1, end=True)
    assert found.states
    assert found.troubles == []


def caught(calls: list[Call], folder: Path, key: str) -> None:
    found = survive(upto(calls, key), folder, each=32, seed=1, stop=1, end=True)
    assert found.troubles, f"{found.states} disks, and nothing is lost on any"


def test_a_build_with_synchronous_normal_is_caught(tmp_path: Path) -> None:
    caught(recording("appends with NORMAL"), tmp_path, "kept")


@pytest.mark.parametrize("build", WEAKER)
def test_a_build_that_leaves_a_sync_out_is_caught(build: str, tmp_path: Path) -> None:
    name, work = WEAKER[build]
    caught(work(recording(name)), tmp_path, SHOWS[name])
