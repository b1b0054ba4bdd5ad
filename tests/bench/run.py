"""`make bench`: every figure as a ratio to a raw floor of the same run, written as a table.

Each ``bench_*.py`` beside this file has ``run(quick) -> Table``; name some as arguments to run only those
(``make bench ONLY=append``). Absolute numbers of this machine mean little: read the ratios.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sqlite3
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / ".package"), str(HERE)]


@dataclass
class Table:
    """One table of figures: a title, what the floor is, columns, rows, and remarks."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]] = field(default_factory=list)
    floor: str = ""
    remarks: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"## {self.title}", ""]
        if self.floor:
            lines += [f"Floor: {self.floor}", ""]
        lines += ["| " + " | ".join(self.columns) + " |", "| " + " | ".join("---" for _ in self.columns) + " |"]
        lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in self.rows]
        return "\n".join([*lines, *(f"\n{remark}" for remark in self.remarks), ""])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the benchmarks and writes bench-results/results.md.")
    parser.add_argument("names", nargs="*", help="only these, for instance: append context")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that they run")
    options = parser.parse_args()
    os.environ.pop("MINUTEBOOK_DATABASE", None)  # the floors are SQLite files
    files = sorted(HERE.glob("bench_*.py"))
    wanted = [file for file in files if not options.names or file.stem.removeprefix("bench_") in options.names]
    if not wanted:
        print(f"there is no such benchmark; there are: {', '.join(f.stem.removeprefix('bench_') for f in files)}")
        return 2
    head = (
        f"# Results\n\nPython {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.machine()}, "
        f"{time.strftime('%Y-%m-%d')}. Ratios to the floor of the same run; more is slower, 1.00 is the floor.\n"
    )
    print(head)
    pieces = [head]
    for file in wanted:
        began = time.perf_counter()
        for table in load(file).run(options.quick):
            print(table.markdown(), flush=True)
            pieces.append(table.markdown())
        print(f"({file.stem}: {time.perf_counter() - began:.0f} s)\n", flush=True)
    folder = ROOT / "bench-results"
    folder.mkdir(exist_ok=True)
    (folder / "results.md").write_text("\n".join(pieces))
    return 0


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.modules.setdefault("run", sys.modules[__name__])
    raise SystemExit(main())
