"""`make drill-fuzz`: spoilt bytes for everything that reads what comes from outside, in confined processes.

    make drill-fuzz ARGS="--inputs 20000 --seed 1"

Each batch of inputs is read in a process that may take so much processor time and so much memory and no more; then
pieces are repeated to inputs of doubling length, and the time of each is compared with the one before. What fails is
kept in ``fuzz-found`` beside the checkout: mend it, then move the input to ``tests/data/fuzz``. The short form is
``tests/infrastructure/test_fuzz.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(HERE)]

from fuzzing import Fallen, Target, confined, drawn, grown, seconds_of, targets  # noqa: E402
from results import stamp, write_section  # noqa: E402

BATCH = 200
SIZES = (8_000, 16_000, 32_000, 64_000)
SLOW_SECONDS = 0.3
"""Shorter times say nothing about growth."""
FACTOR = 3.0
"""Of the time, where the length doubles: four is a square, two is a line."""


EXPLAINED = (
    "Real samples with bits turned, pieces cut, doubled and taken from each other, deep nesting, numbers of 400 "
    "digits, lone surrogates, NUL and lines of 20,000 characters; seed {seed}, {minutes} minutes. Every input is "
    "read or refused with a code, in a process with 60 seconds of processor time for 200 inputs and 700 MB more "
    "than it had. Pieces are repeated to 8,000, 16,000, 32,000 and 64,000 bytes: the time may not grow with the "
    "square."
)


def batch(target: Target, seed: str, count: int) -> list[bytes]:
    chance = random.Random(seed)
    return [drawn(target.samples, chance) for _ in range(count)]


def growing(target: Target, seed: str, count: int) -> list[Fallen]:
    """Pieces whose time grows faster than their length; in this process, whose limits are those of a batch."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        before, piece, after = grown(target.samples, chance)
        took: list[float] = []
        for size in SIZES:
            took.append(seconds_of(target, before + piece * (size // len(piece)) + after))
            if took[-1] < SLOW_SECONDS / 16:
                break
        else:
            if took[-1] > SLOW_SECONDS and all(b > FACTOR * a for a, b in zip(took[-3:], took[-2:], strict=False)):
                said = ", ".join(f"{each:.2f}" for each in took)
                found.append(
                    Fallen(target.name, f"grows with the square: {said} s", before + b"|" + piece + b"|" + after)
                )
    return found


def keep(fallen: Sequence[Fallen]) -> None:
    for each in fallen:
        folder = ROOT / "fuzz-found" / each.target
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(each.data).hexdigest()[:12]
        (folder / name).write_bytes(each.data)
        print(f"{each.target}: {each.why}: {folder / name}", flush=True)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Spoilt bytes for everything that reads them.")
    parser.add_argument("names", nargs="*", help="only these targets")
    parser.add_argument("--inputs", type=int, default=2_000, help="of each target")
    parser.add_argument("--pieces", type=int, default=40, help="of each target, that are repeated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-page", action="store_true")
    options = parser.parse_args(argv)
    began, rows, all_fallen = time.monotonic(), [], 0
    for name, target in targets().items():
        if options.names and name not in options.names:
            continue
        fallen: list[Fallen] = []
        start = time.monotonic()
        for number in range(0, options.inputs, BATCH):
            seed = f"{options.seed} {name} {number}"
            fallen += confined(target, partial(batch, target, seed, min(BATCH, options.inputs - number)))
        fallen += growing(target, f"{options.seed} {name} grows", options.pieces)
        keep(fallen)
        all_fallen += len(fallen)
        rows.append(f"| {name} | {len(target.samples)} | {options.inputs:,} | {options.pieces} | {len(fallen)} |")
        print(rows[-1], f"{time.monotonic() - start:.0f} s", flush=True)
    lines = [
        stamp(),
        "",
        EXPLAINED.format(seed=options.seed, minutes=round((time.monotonic() - began) / 60)),
        "",
        "| what reads | samples | inputs | pieces | violations |",
        "| --- | --- | --- | --- | --- |",
        *rows,
    ]
    if not options.no_page and not options.names:
        write_section("fuzz", "Spoilt bytes", lines)
    return 1 if all_fallen else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
