"""`make drill-inject`: the n-th call of each kind fails, once and for ever, in real processes at work.

Each scene is counted first; then its calls fail one after the other, at numbers that are spread over all that there
were, with each error. A judge outside compares what was acknowledged with the database and the file. Calls of the
system fail by strace, statements of SQLite's driver by a hook.
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
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(Path(__file__).parent)]

from failing import CALLS, ERRORS, WIRE, Child, Died, Fault, FaultServer, Told, can_trace, counted, hook, judge, strike  # noqa: E402  # noqa: E402
from hooked import STATEMENTS  # noqa: E402
from killing import KILLED  # noqa: E402
from own_server import OwnServer, end_tidily, own_server  # noqa: E402
from results import PAGE, commit, stamp, write_section  # noqa: E402

SCENES: dict[str, tuple[str, str, bool]] = {
    "append and context": ("talking", "old", True),
    "memory and its file": ("remembering", "old", True),
    "a start that recovers": ("starting", "killed", False),
    "a first start": ("starting", "new", False),
    "a first start and memory on PostgreSQL": ("remembering", "new", False),
}
"""What is done, in which store, and whether the book is open before the fault comes."""
ALL = (*CALLS, *STATEMENTS, *WIRE)


@dataclass
class Result:
    """What one scene came to."""

    scene: str
    calls: Counter[str]
    faults: int = 0
    met: int = 0
    acknowledged: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Stage:
    """Where a scene is played: its store, and the server on which each run has a database of its own, if any."""

    scene: str
    store: Path
    on: OwnServer | None = None

    def play(self, server: FaultServer, fault: Fault | None) -> tuple[Told, Counter[str]]:
        """One run in a copy of the store; what was told, and the calls. Raises what the judge finds."""
        workload, _, opened = SCENES[self.scene]
        with tempfile.TemporaryDirectory(prefix="minutebook-inject-") as folder, self._database() as database:
            root = Path(folder) / "w"
            shutil.copytree(self.store, root)
            if fault is not None and fault.call in STATEMENTS:
                told = hook(server, root, workload, fault, opened=opened)
                judge(root, told, fault)
                return told, Counter()
            told = strike(server, root, workload, fault, opened=opened, database=database)
            judge(root, told, fault)
            return told, counted(Path(folder) / "trace")

    @contextmanager
    def _database(self) -> Iterator[str | None]:
        if self.on is None:
            yield None
            return
        name = f"inject_{time.monotonic_ns()}"
        self.on.run(f"CREATE DATABASE {name}")
        os.environ["MINUTEBOOK_DATABASE"] = self.on.url.set(database=name).render_as_string(hide_password=False)
        try:
            yield os.environ["MINUTEBOOK_DATABASE"]
        finally:
            del os.environ["MINUTEBOOK_DATABASE"]
            self.on.run(f"DROP DATABASE {name} WITH (FORCE)")

    def count(self, server: FaultServer) -> Counter[str]:
        """How often each call is made when nothing fails."""
        _, calls = self.play(server, None)
        if self.on is not None:
            return Counter({call: many for call, many in calls.items() if call in WIRE})
        for call in STATEMENTS:
            told, _ = self.play(server, Fault(call, "EIO", 1 << 30))
            calls[call] = told.passed
        return Counter({call: many for call, many in calls.items() if call not in WIRE})


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


def numbers(count: int, each: int, chance: random.Random) -> list[int]:
    """The first ones, and others spread over all."""
    if count <= each:
        return list(range(1, count + 1))
    first = list(range(1, each // 2 + 1))
    return first + sorted(chance.sample(range(first[-1] + 1, count + 1), each - len(first)))


def faults(calls: Counter[str], each: int, seed: int) -> Iterator[Fault]:
    chance = random.Random(seed)
    for call in ALL:
        for number in numbers(calls[call], each, chance):
            for error in (*ERRORS, *(["ECONNRESET"] if call in WIRE else [])):
                for ever in (False, True):
                    yield Fault(call, error, number, ever)


def drive(server: FaultServer, stage: Stage, each: int, seed: int, part: int = 1) -> Result:
    """Each fault of a scene, or every ``part``-th of them."""
    result = Result(stage.scene, stage.count(server))
    for number, fault in enumerate(faults(result.calls, each, seed)):
        if number % part:
            continue
        result.faults += 1
        try:
            told, _ = stage.play(server, fault)
        except Exception as error:
            result.violations.append(f"{stage.scene}, {fault}: {error}")
            print(f"VIOLATION {stage.scene}, {fault}: {str(error)[:3000]}", flush=True)
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
    parser.add_argument("--scene", action="append", help="only this one; the page keeps the others")
    options = parser.parse_args(argv)
    if not can_trace():
        print("strace is not here, or may not look into a process: nothing is driven")
        return 2
    results = []
    begun, code, server = stamp(), commit(), FaultServer()
    with tempfile.TemporaryDirectory(prefix="minutebook-stores-") as folder, own_server() as postgres:
        made = stores(server, Path(folder))
        for scene, (_, store, _) in SCENES.items():
            if options.scene and scene not in options.scene:
                continue
            began = time.monotonic()
            stage = Stage(scene, made[store], postgres if "PostgreSQL" in scene else None)
            results.append(drive(server, stage, options.each, options.seed, options.part))
            print(row(results[-1], code), f"{time.monotonic() - began:.0f} s", flush=True)
            page(begun, code, results, options)
    server.close()
    return 1 if any(result.violations for result in results) else 0


HEAD = (
    "| scene | calls when nothing fails | faults | that came to pass | appends kept | refused | violations | commit |"
)


def row(result: Result, code: str) -> str:
    calls = ", ".join(f"{call} {result.calls[call]}" for call in ALL if result.calls[call])
    numbers = (result.faults, result.met, result.acknowledged, result.refused.total(), len(result.violations))
    return f"| {result.scene} | {calls} | {' | '.join(f'{number:,}' for number in numbers)} | {code} |"


def names(result: Result) -> str:
    found = ", ".join(f"`{code}` {many:,}" for code, many in result.refused.most_common())
    return "\n".join([f"* {result.scene}: {found}", *(f"  * violation: {each}" for each in result.violations)])


def page(begun: str, code: str, results: list[Result], options: argparse.Namespace) -> None:
    """Writes the section; of scenes that were not played now what stands there stays."""
    there = PAGE.read_text(encoding="utf-8").partition("<!-- drill inject: begin -->")[2].partition("<!-- drill")[0]
    rows, said = {}, {}
    for line in there.splitlines():
        for scene in SCENES:
            if line.startswith(f"| {scene} |"):
                rows[scene] = line
            if line.startswith(f"* {scene}: "):
                said[scene] = line
    rows |= {result.scene: row(result, code) for result in results}
    said |= {result.scene: names(result) for result in results}
    part = f", of which one in {options.part} was driven" if options.part > 1 else ""
    errors = f"each once and for ever, with {', '.join(ERRORS)}, to a server ECONNRESET too{part}"
    lines = [
        begun,
        f"Seed {options.seed}; up to {options.each} numbers of each call, {errors}. `make drill-inject` does it again.",
        "",
        HEAD,
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(rows[scene] for scene in SCENES if scene in rows),
        "",
        "What was refused while a call failed, by its code; when the fault was gone, nothing was:",
        "",
        *(said[scene] for scene in SCENES if scene in said),
    ]
    write_section("inject", "Calls that fail", lines)


if __name__ == "__main__":
    end_tidily()
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    raise SystemExit(main(sys.argv[1:]))
