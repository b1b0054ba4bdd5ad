"""`make drill-power`: the power goes at every step of real workloads; each disk that may be left is opened and judged.

The calls are recorded with strace from real processes. ``--keep`` also puts the recordings beside the tests, which
replay them where there is no strace.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(HERE)]

from disk import Call, keep  # noqa: E402
from failing import FaultServer, can_trace  # noqa: E402
from outage import RECORDINGS, WEAKER, survive  # noqa: E402
from recording import record  # noqa: E402
from results import stamp, write_section  # noqa: E402

DATA = ROOT / "tests" / "data" / "power"
WEAK = "appends with NORMAL"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--each", type=int, default=48, help="states of a cut that are drawn, or all where it has fewer"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reference/fault-drills.md alone")
    options = parser.parse_args(argv)
    if not can_trace():
        print("strace is not here, or may not look into a process: nothing is driven")
        return 2
    begun, server = stamp(), FaultServer()
    made = {name: record(server, workload, variant=variant) for name, (workload, variant) in RECORDINGS.items()}
    server.close()
    if options.keep:
        DATA.mkdir(exist_ok=True)
        for name in RECORDINGS:
            keep(made[name], DATA / f"{name.replace(' ', '-').lower()}.json.xz")
    rows, violations = [], []
    for name, calls in made.items():
        if name == WEAK:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="minutebook-power-") as folder:
            found = survive(calls, Path(folder), each=options.each, seed=options.seed)
        kinds = Counter(call.kind for call in calls)
        violations += [f"{name}: {trouble}" for trouble in found.troubles]
        cells = (len(calls) - kinds["told"], kinds["sync"], found.acknowledged, found.states, found.whole)
        rows.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} | {len(found.troubles)} |")
        print(rows[-1], f"{time.monotonic() - began:.0f} s", flush=True)
    weak = [caught("`synchronous=NORMAL`", WEAK, made[WEAK], options.each, options.seed)]
    weak += [
        caught(build, name, work(made[name]), options.each, options.seed) for build, (name, work) in WEAKER.items()
    ]
    for trouble in violations:
        print("VIOLATION", trouble)
    if not options.no_page:
        page(begun, rows, weak, violations, options)
    return 1 if violations or any(row.endswith("| no |") for row in weak) else 0


def page(begun: str, rows: list[str], weak: list[str], violations: list[str], options: argparse.Namespace) -> None:
    most = f"at most {options.each} disks for each moment at which the power goes"
    head = "calls of the disk | syncs | appends acknowledged | disks opened | from moments of which none was left out"
    lines = [
        begun,
        f"Seed {options.seed}, {most}. `make drill-power` does it again.",
        "",
        f"| workload | {head} | violations |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        *(f"* {trouble}" for trouble in violations),
        "",
        "Builds that promise less, and the disk that gives them away:",
        "",
        "| build | shown by | disks opened until then | what was wrong there | caught |",
        "| --- | --- | --- | --- | --- |",
        *weak,
    ]
    write_section("power", "Power loss", lines)


def caught(build: str, name: str, calls: list[Call], each: int, seed: int) -> str:
    """The row of a build that must be found out."""
    with tempfile.TemporaryDirectory(prefix="minutebook-power-") as folder:
        found = survive(calls, Path(folder), each=each, seed=seed, stop=1)
    what = next(iter(found.kinds), "nothing")
    row = f"| {build} | {name} | {found.states} | {what} | {'yes' if found.troubles else 'no'} |"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    raise SystemExit(main(sys.argv[1:]))
