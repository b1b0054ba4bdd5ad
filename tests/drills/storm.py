"""`make drill-storm`: storms of faults on one PostgreSQL, a seed each, until one loses something or time is over."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support")]

from own_server import end_tidily, own_server  # noqa: E402
from storms import Storm  # noqa: E402


def main(seeds: int, first: int) -> int:
    """Each storm is a server of its own; a violation ends the drill with its seed."""
    faults: Counter[str] = Counter()
    retried: Counter[str] = Counter()
    acknowledged, began = 0, time.monotonic()
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
    return 0


if __name__ == "__main__":
    end_tidily()
    words = sys.argv[1:]
    raise SystemExit(main(int(words[0]) if words else 20, int(words[1]) if words[1:] else 1))
