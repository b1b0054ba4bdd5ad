"""Rebuild and verify take the same memory however long the log is (E1, E2): looked at in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from large_logs import grow, template
from stores import PACKAGE, child_environment

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log

SHORT, LONG = 6_000, 18_000
GROWTH_MB = 10
"""Measured on SQLite: 4 MB. The payloads of the 12,000 events between the two take 20 MB, without any object."""
PEAK_MB = 300

CHILD = """
import json, sys
from peak import peak_mb
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store import overlay
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.infrastructure.store.verification import verify_log

overlay.TEMPORARY_KB = 2_000  # a cache that fills is no growth: here it is full at once
log = Log(Database(sys.argv[1]))
projections = Projections(log, [each for each in BUILT_IN if (each.name == "search_index") is (sys.argv[2] == "index")])
projections.catch_up()
projections.rebuild()
assert verify_log(log).ok
assert all(projections.verify(name).ok for name in projections.names)
print(json.dumps(peak_mb()))
"""


def peak(url: str, what: str) -> float:
    places = os.pathsep.join([str(PACKAGE), str(Path(__file__).resolve().parents[1] / "support")])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, url, what],
        capture_output=True,
        text=True,
        env=child_environment(PYTHONPATH=places),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    megabytes: float = json.loads(done.stdout)
    return megabytes


def test_memory_does_not_grow_with_the_log(database_url: str, tmp_path: Path) -> None:
    rows = template()
    peaks = []
    for events in (SHORT, LONG):
        database = Database(database_url)
        grow(Log(database), rows, events)
        database.close()
        peaks.append(peak(database_url, "rows"))
    assert peaks[1] - peaks[0] < GROWTH_MB, peaks
    assert max(peaks) < PEAK_MB, peaks


def test_the_search_index_is_made_within_the_same_bound(tmp_path: Path) -> None:
    """It cuts up every word, a hundred times the work: a shorter log, and the bound alone."""
    url = f"sqlite:///{tmp_path / 'book.db'}"
    database = Database(url)
    grow(Log(database), template(), 3_000)
    database.close()
    assert peak(url, "index") < PEAK_MB
