"""`make drill-crowd`: processes in one workspace for a minute, on a SQLite file and on a PostgreSQL; then a judge."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support")]

from crowds import gather, judge  # noqa: E402
from own_server import end_tidily, own_server  # noqa: E402

FOUR = {"talk": 1, "compact": 1, "curate": 1, "status": 1}
EIGHT = {"talk": 3, "edit": 1, "curate": 2, "follow": 1, "status": 1}


def drive(crowd: dict[str, int], seconds: float, where: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "w"
        gather(root, {}, crowd, seconds)
        print(f"{where}, {sum(crowd.values())} processes, {seconds:g} seconds: {judge(root)}", flush=True)


def main(seconds: float) -> int:
    """Raises what the judge finds: a run that was interrupted, or anything lost."""
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    for crowd in (FOUR, EIGHT):
        drive(crowd, seconds, "SQLite")
    with own_server() as server:
        for name, crowd in (("four", FOUR), ("eight", EIGHT)):
            server.run(f"CREATE DATABASE {name}")
            os.environ["MINUTEBOOK_DATABASE"] = server.url.set(database=name).render_as_string(hide_password=False)
            drive(crowd, seconds, "PostgreSQL")
    return 0


if __name__ == "__main__":
    end_tidily()
    raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else 60.0))
