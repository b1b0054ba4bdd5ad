"""`make drill-inject`: the n-th system call of each kind fails, once and for ever, in real processes at work.

Each scene is counted first; then its calls fail one after the other, at numbers that are spread over all that there
were, with each error. A judge outside compares what was acknowledged with the database and the file.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(Path(__file__).parent)]

from failing import CALLS, ERRORS, WIRE, Child, Died, Fault, FaultServer, can_trace, counted, judge, strike  # noqa: E402
from killing import KILLED  # noqa: E402
from results import stamp, write_section  # noqa: E402

SCENES: dict[str, tuple[str, str, bool]] = {
    "append and context": ("talking", "old", True),
    "memory and its file": ("remembering", "old", True),
    "a start that recovers": ("starting", "killed", False),
    "a first start": ("starting", "new", False),
}
"""What is done, in which store, and whether the book is open before the fault comes."""


@dataclass
class Result:
    """What one scene came to."""

    scene: str
    faults: int = 0
    met: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    violations: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)


def stores(server: FaultServer, folder: Path) -> dict[str, Path]:
    """The stores that scenes begin with: none, one with revisions, one whose process died while it published."""
    new, old, killed = (folder / name / "w" for name in ("new", "old", "killed"))
    for root in (new, old):
        root.mkdir(parents=True)
    child = Child(server, old, "remembering", alone=True)
    for word in ("ready", "worked"):
        child.until(word)
        child.go()
    child.until("over")
    assert child.end() == 0
    shutil.copytree(old.parent, killed.parent)
    child = Child(server, killed, "remembering", opened=True, failpoint="file.fsync_folder=kill")
    child.until("ready")
    child.go()
    with contextlib.suppress(Died):
        child.until("worked")
    assert child.end() == KILLED
    return {"new": new, "old": old, "killed": killed}


def one(
    server: FaultServer, scene: str, store: Path, fault: Fault | None, database: str | None = None
) -> tuple[Any, Counter[str]]:
    """One run in a copy of its store; what was told, and the calls that it made. Raises what the judge finds."""
    workload, _, opened = SCENES[scene]
    with tempfile.TemporaryDirectory(prefix="minutebook-inject-") as folder:
        root = Path(folder) / "w"
        shutil.copytree(store, root)
        told = strike(server, root, workload, fault, opened=opened, database=database)
        judge(root, told, fault)
        return told, counted(Path(folder) / "trace")


def numbers(count: int, each: int, chance: random.Random) -> list[int]:
    """The first ones, and others spread over all."""
    if count <= each:
        return list(range(1, count + 1))
    first = list(range(1, each // 2 + 1))
    return first + sorted(chance.sample(range(first[-1] + 1, count + 1), each - len(first)))


def faults(calls: Counter[str], each: int, seed: int, only: tuple[str, ...] = ERRORS) -> Iterator[Fault]:
    chance = random.Random(seed)
    for call in (*CALLS, *WIRE):
        for number in numbers(calls[call], each, chance):
            for error in only:
                for ever in (False, True):
                    yield Fault(call, error, number, ever)


def drive(server: FaultServer, scene: str, store: Path, each: int, seed: int, part: int = 1) -> Result:
    """Each fault of a scene, or every ``part``-th of them."""
    result = Result(scene)
    _, result.calls = one(server, scene, store, None)
    for number, fault in enumerate(faults(result.calls, each, seed)):
        if number % part:
            continue
        result.faults += 1
        try:
            told, _ = one(server, scene, store, fault)
        except Exception as error:
            result.violations.append(f"{scene}, {fault}: {error}")
            print(f"VIOLATION {scene}, {fault}: {str(error)[:3000]}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
            continue
        result.met += told.injected > 0
        result.refused.update(line["code"] for line in told.of("refused"))
        result.acknowledged += len(told.of("kept"))
    return result


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=12, help="numbers of each call")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", type=int, default=1, help="only every n-th fault")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reference/fault-drills.md alone")
    options = parser.parse_args(argv)
    if not can_trace():
        print("strace is not here, or may not look into a process: nothing is driven")
        return 2
    results = []
    server = FaultServer()
    with tempfile.TemporaryDirectory(prefix="minutebook-stores-") as folder:
        made = stores(server, Path(folder))
        for scene, (_, store, _) in SCENES.items():
            began = time.monotonic()
            results.append(drive(server, scene, made[store], options.each, options.seed, options.part))
            print(row(results[-1]), f"{time.monotonic() - began:.0f} s", flush=True)
    server.close()
    if not options.no_page:
        page(results, options)
    return 1 if any(result.violations for result in results) else 0


def row(result: Result) -> str:
    calls = ", ".join(f"{call} {result.calls[call]}" for call in (*CALLS, *WIRE) if result.calls[call])
    return (f"| {result.scene} | {calls} | {result.faults} | {result.met} | {result.acknowledged} "
            f"| {sum(result.refused.values())} | {len(result.violations)} |")  # fmt: skip


def page(results: list[Result], options: argparse.Namespace) -> None:
    codes: Counter[str] = sum((result.refused for result in results), Counter())
    part = f", one in {options.part} of the faults" if options.part > 1 else ""
    write_section("inject", "Calls that fail", [
        stamp(),
        f"Seed {options.seed}; {options.each} numbers of each call{part}, each once and for ever, with "
        f"{', '.join(ERRORS)}. `make drill-inject` does it again.",
        "",
        "| scene | calls that there are | faults | met | appends acknowledged | refusals | violations |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(row(result) for result in results),
        "",
        "What was refused had these names: " + ", ".join(f"`{code}` {many}" for code, many in codes.most_common()) + ".",
    ])  # fmt: skip


if __name__ == "__main__":
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    raise SystemExit(main(sys.argv[1:]))
