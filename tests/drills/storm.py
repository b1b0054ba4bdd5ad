"""`make drill-storm`: storms of faults on one PostgreSQL, a seed each, until one loses something or time is over."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support")]

from own_server import end_tidily, own_server  # noqa: E402
from results import stamp, write_section  # noqa: E402
from storms import Storm  # noqa: E402

WHAT = (
    "A PostgreSQL of its own with 32 writers and three books in conversation, while the server ends connections, "
    "connections are cut on the wire before or after an answer or in the middle of one, or fall silent, and the "
    "server is stopped at once and started again. Every append that was acknowledged must be there once, none twice, "
    "and the log must verify."
)
HEAD = (
    "| storms | first seed | appends acknowledged | faults | violations | minutes |",
    "| --- | --- | --- | --- | --- | --- |",
)


def main(seeds: int, first: int, *, page: bool) -> int:
    """Each storm is a server of its own; a violation ends the drill with its seed, and the page stays as it was."""
    faults: Counter[str] = Counter()
    retried: Counter[str] = Counter()
    said, acknowledged, began = stamp(), 0, time.monotonic()
    for seed in range(first, first + seeds):
        with own_server() as server, tempfile.TemporaryDirectory() as folder:
            storm = Storm(server, Path(folder), seed, each=40, stops=3)
            storm.blow()
            storm.judge()
        acknowledged += len(storm.told)
        faults += storm.faults
        retried += storm.retried
        print(f"seed {seed}: {len(storm.told):,} acknowledged, {dict(storm.faults)}", flush=True)
    print(f"{seeds} storms, {acknowledged:,} appends acknowledged, each there once; faults {dict(faults)};")
    print(f"asked again where it was no append: {dict(retried)}; {time.monotonic() - began:,.0f} seconds")
    if page:
        seen = ", ".join(f"{fault} {count:,}" for fault, count in sorted(faults.items()))
        minutes = (time.monotonic() - began) / 60
        row = f"| {seeds} | {first} | {acknowledged:,} | {seen} | 0 | {minutes:.0f} |"
        write_section("storm", "Storms on a server", [said, "", WHAT, "", *HEAD, row])
    return 0


if __name__ == "__main__":
    end_tidily()
    parser = argparse.ArgumentParser(
        description="32 connections to a PostgreSQL that is cut and stopped, then a judge."
    )
    parser.add_argument("--seeds", type=int, default=20, help="storms")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reference/fault-drills.md as it is")
    options = parser.parse_args()
    raise SystemExit(main(options.seeds, options.seed, page=not options.no_page))
