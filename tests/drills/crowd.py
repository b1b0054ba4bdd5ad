"""`make drill-crowd`: processes in one workspace for a minute, on a SQLite file and on a PostgreSQL; then a judge."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support")]

from crowds import gather, judge  # noqa: E402
from own_server import end_tidily, own_server  # noqa: E402
from results import stamp, write_section  # noqa: E402

FOUR = {"talk": 1, "compact": 1, "curate": 1, "status": 1}
EIGHT = {"talk": 3, "edit": 1, "curate": 2, "follow": 1, "status": 1}
WHAT = (
    "Processes share one workspace: they talk in runs, compact, curate, edit the file by hand, follow the log and ask "
    "for `status`. Afterwards every message and every fact that was acknowledged must be there once, every edit in a "
    "revision, no run interrupted while its owner lived, and every projection as a rebuild makes it."
)
HEAD = (
    "| database | processes | seconds | events | messages | facts | edits | violations |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def drive(crowd: dict[str, int], seconds: float, where: str) -> str:
    """One crowd in a folder of its own, judged: a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "w"
        gather(root, {}, crowd, seconds)
        found = judge(root)
    print(f"{where}, {sum(crowd.values())} processes, {seconds:g} seconds: {found}", flush=True)
    roles = ", ".join(f"{role} {many}" for role, many in crowd.items())
    return f"| {where} | {roles} | {seconds:g} | " + " | ".join(f"{count:,}" for count in found.values()) + " | 0 |"


def main(seconds: float, *, page: bool) -> int:
    """Raises what the judge finds: a run that was interrupted, or anything lost; the page then stays as it was."""
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    said, rows = stamp(), [drive(crowd, seconds, "SQLite") for crowd in (FOUR, EIGHT)]
    with own_server() as server:
        for name, crowd in (("four", FOUR), ("eight", EIGHT)):
            server.run(f"CREATE DATABASE {name}")
            os.environ["MINUTEBOOK_DATABASE"] = server.url.set(database=name).render_as_string(hide_password=False)
            rows.append(drive(crowd, seconds, "PostgreSQL"))
    if page:
        write_section("crowd", "Crowds", [said, "", WHAT, "", *HEAD, *rows])
    return 0


if __name__ == "__main__":
    end_tidily()
    parser = argparse.ArgumentParser(description="Processes in one workspace, then a judge.")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each crowd")
    parser.add_argument("--no-page", action="store_true", help="leave docs/reference/fault-drills.md as it is")
    options = parser.parse_args()
    raise SystemExit(main(options.seconds, page=not options.no_page))
