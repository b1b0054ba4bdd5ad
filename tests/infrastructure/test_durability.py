"""An append is one wait for the disk, no more and no less (engine.md, D5)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# 50 small appends stay well below the 1,000 pages at which SQLite moves the write-ahead log into the file: such a
# checkpoint costs two more syncs. The first append after opening starts a new write-ahead log, which syncs its
# header as well, so it is done before the count begins.
_APPEND = """
import sys
from pathlib import Path
from datetime import UTC, datetime
from minutebook.domain.catalogue import RunStarted
from minutebook.domain.events import Envelope
from minutebook.domain.streams import runs_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log

database = Database(Path(sys.argv[1]))
log = Log(database)
stream = runs_stream("local", "s")

def started(version):
    return RunStarted(envelope=Envelope(stream, version, "local", datetime(2026, 1, 1, tzinfo=UTC), "agent", "s"))

log.append([started(1)])
sys.stderr.write("counting\\n")
sys.stderr.flush()
size = int(sys.argv[2])
for number in range(2, 2 + 50 * size, size):
    log.append([started(version) for version in range(number, number + size)], expects=[(stream, number - 1)])
sys.stderr.write("counted\\n")
sys.stderr.flush()
with database.projecting() as connection:
    connection.exec_driver_sql("INSERT INTO leases VALUES ('a', 'me', 1, '')")
sys.stderr.write("projected\\n")
sys.stderr.flush()
database.close()
"""


@pytest.mark.parametrize("batch", [1, 4])
def test_fifty_appends_are_fifty_syncs_and_a_projection_is_none(tmp_path: Path, batch: int) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    trace = tmp_path / "trace"
    done = subprocess.run(
        [
            *(strace, "-f", "-e", "trace=fsync,fdatasync,write", "-s", "16", "-o", str(trace)),
            *(sys.executable, "-c", _APPEND, str(tmp_path / "book.db"), str(batch)),
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / ".package")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "ptrace" in done.stderr.lower():
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr

    lines = trace.read_text()
    counted = lines[lines.index('"counting\\n"') : lines.index('"counted\\n"')]
    projected = lines[lines.index('"counted\\n"') : lines.index('"projected\\n"')]
    assert len(re.findall(r"\bf(?:data)?sync\(", counted)) == 50
    assert len(re.findall(r"\bf(?:data)?sync\(", projected)) == 0
