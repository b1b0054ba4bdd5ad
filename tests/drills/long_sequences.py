"""`make drill-sequences`: many long sequences of everything, kills included, beside a plain model, on both databases.

    make drill-sequences ARGS="--examples 2000 --seed 1"

The rules and what must hold are in ``tests/support/sequences.py``; ``tests/scenarios/test_sequences.py`` is the short
form. A sequence that fails is printed as Python, made as short as possible with ``--shrink``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(HERE)]

from hypothesis import HealthCheck, Phase, seed, settings  # noqa: E402
from hypothesis.stateful import run_state_machine_as_test  # noqa: E402
from own_server import OwnServer, end_tidily, own_server  # noqa: E402
from results import stamp, write_section  # noqa: E402
from sequences import Sequences  # noqa: E402

EXPLAINED = (
    "Sequences of up to {steps} actions, drawn by Hypothesis from seed {seed}, each beside a plain model that was "
    "written from the design. After every action: each message is there once and equal, seen or hidden for one "
    "reason; the context is a legal request; entries, revisions, pending candidates and the state of the file are "
    "the model's. At the end: every context that was shown is the same, `verify` says yes, a rebuild gives the same"
    " rows, a second opening changes nothing. A kill is a SIGKILL of a process at the n-th failpoint that it "
    "passes."
)


def drive(where: str, database: Callable[[], Any] | None, options: argparse.Namespace, examples: int) -> list[str]:
    """So many sequences on one database; a row of the page. Raises what does not hold."""

    class Here(Sequences):
        pass

    Here.database = None if database is None else staticmethod(database)
    Here.counts = Counter()
    phases = (Phase.generate, Phase.shrink) if options.shrink else (Phase.generate,)
    began = time.monotonic()
    asked = settings(
        max_examples=examples, stateful_step_count=options.steps, deadline=None, database=None, phases=phases,
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip

    @seed(options.seed)
    def machine() -> Sequences:
        return Here()

    run_state_machine_as_test(machine, settings=asked)  # type: ignore[arg-type]
    counts = dict(Here.counts)
    ran = counts.pop("examples")
    killed = sum(number for name, number in counts.items() if name.startswith("killed in"))
    row = [where, ran, sum(counts.values()), killed, 0, round(time.monotonic() - began)]
    print(row, dict(sorted(counts.items())), flush=True)
    told = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
    return ["| " + " | ".join(f"{each:,}" if isinstance(each, int) else str(each) for each in row) + " |", told]


@contextmanager
def fresh_on(server: OwnServer, number: list[int]) -> Iterator[str]:
    number[0] += 1
    name = f"sequence_{number[0]}"
    server.run(f"CREATE DATABASE {name}")
    yield server.url.set(database=name).render_as_string(hide_password=False)
    server.run(f"DROP DATABASE {name} WITH (FORCE)")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Sequences of everything beside a plain model.")
    parser.add_argument("--examples", type=int, default=200, help="on SQLite; on PostgreSQL a tenth of them")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", default="sqlite,postgres")
    parser.add_argument("--shrink", action="store_true", help="look for the shortest sequence that fails (minutes)")
    parser.add_argument("--no-page", action="store_true")
    options = parser.parse_args(argv)
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    rows = []
    if "sqlite" in options.on:
        rows.append(drive("SQLite", None, options, options.examples))
    if "postgres" in options.on:
        with own_server() as server:
            numbers = [0]
            rows.append(drive("PostgreSQL", lambda: fresh_on(server, numbers), options, max(1, options.examples // 10)))
    lines = [
        stamp(),
        "",
        EXPLAINED.format(steps=options.steps, seed=options.seed),
        "",
        "| database | sequences | actions | killed | violations | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
        *(row for row, _ in rows),
        "",
        f"What was done on the first: {rows[0][1]}.",
    ]
    if not options.no_page:
        write_section("model", "Sequences beside a model", lines)
    return 0


if __name__ == "__main__":
    end_tidily()
    raise SystemExit(main(sys.argv[1:]))
