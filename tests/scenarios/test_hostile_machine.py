"""A clock that lies, a process that may have no more, another program's file, an old library (issue 7, item 8).

What else of these is driven stands in the table of ``docs/explanation/crash-and-recovery.md`` (``MACHINE`` here), each
with the test that holds it; this module has what no other one drives.
"""

from __future__ import annotations

import ast
import json
import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from failing import same_as_told
from stores import outside

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.version import SQLITE_MIN

# ruff: noqa: E501 - the table is read in rows

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "explanation" / "crash-and-recovery.md"
ME, FAULTS, SYSTEM, DATABASE = "test_hostile_machine", "test_memory_faults", "test_system_errors", "test_database"
SURFACE, SCHEDULE = "test_surface_python", "test_curation_schedule"

MACHINE: dict[str, tuple[tuple[str, str], ...]] = {
    "the clock is set back": ((SURFACE, "test_a_clock_that_runs_backwards_changes_no_order"), ("test_public_failures", "test_a_clock_that_is_set_back_stops_no_compaction"), ("test_identity", "test_on_another_host_the_lease_decides_and_a_clock_that_runs_backwards_never_kills"), (FAULTS, "test_a_clock_that_jumps_decides_no_order_of_revisions"), (ME, "test_a_clock_that_is_set_back_does_not_end_curation_in_the_background")),
    "the clock stands still": ((SURFACE, "test_a_frozen_clock_loses_no_order"), (FAULTS, "test_a_clock_that_jumps_decides_no_order_of_revisions"), (ME, "test_a_lying_clock_takes_no_run_from_its_owner"), (ME, "test_a_clock_that_stands_still_or_goes_back_renews_the_lease_of_a_run_all_the_same")),
    "the clock jumps ahead": ((SCHEDULE, "test_a_lease_runs_out_on_the_clock_of_the_database"), ("test_generation_drills", "test_a_lease_ends_by_the_clock_of_the_database"), (ME, "test_a_lying_clock_takes_no_run_from_its_owner"), (ME, "test_a_lying_clock_on_another_host_ends_no_run")),
    "no more open files": ((FAULTS, "test_a_process_without_descriptors_fails_cleanly_and_goes_on_later"), (ME, "test_whatever_a_process_may_not_have_is_told_and_loses_nothing")),
    "no more memory": ((ME, "test_a_command_without_memory_says_so_and_loses_nothing"),),
    "no longer files": ((ME, "test_whatever_a_process_may_not_have_is_told_and_loses_nothing"), ("test_export_and_import", "test_a_write_that_fails_leaves_the_old_export")),
    "a full disk": (("test_contention", "test_a_full_disk_keeps_nothing_of_the_write_and_goes_on_when_there_is_room"), (SYSTEM, "test_a_full_file_system_is_told_as_one"), ("test_server_faults", "test_a_full_disk_of_the_server_keeps_nothing_of_the_write_and_reading_goes_on")),
    "a file system that is read-only": ((SYSTEM, "test_a_read_only_file_system_is_looked_at_and_not_written"), (DATABASE, "test_a_book_in_a_read_only_folder_can_be_read_and_not_written")),
    "another user's files": ((SYSTEM, "test_no_command_takes_a_denied_file_for_a_fault_of_ours"), (DATABASE, "test_a_reader_without_rights_is_told_so"), (DATABASE, "test_files_and_folder_are_the_owners_alone")),
    "the database of another program": ((DATABASE, "test_another_programs_database_is_refused_untouched"), (DATABASE, "test_another_programs_postgresql_schema_is_refused_untouched"), (ME, "test_a_database_that_another_program_has_marked_is_refused_untouched")),
    "a file that is no database": ((DATABASE, "test_a_file_that_is_no_database_is_refused_untouched"), (DATABASE, "test_what_is_no_regular_file_is_refused")),
    "a newer or an older schema": ((DATABASE, "test_a_newer_schema_is_refused_untouched"), (DATABASE, "test_a_newer_schema_on_postgresql_is_refused"), ("test_upgrade", "test_a_store_of_another_schema_is_refused_unchanged_by_every_command")),
    "an old SQLite": (("test_doctor", "test_which_sqlite_can_lose_a_commit"), (ME, "test_a_sqlite_too_old_for_us_is_refused_before_anything_is_made")),
    "a network file system": ((SYSTEM, "test_a_book_on_a_network_file_system_is_refused_before_anything_is_made"),),
}  # fmt: skip
"""What the machine does to a book: (module, test) of each test that drives it."""


def test_every_row_names_tests_that_there_are_and_stands_on_the_page() -> None:
    there: dict[str, set[str]] = {}
    for path in HERE.parent.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        there[path.stem] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert [(row, test) for row, tests in MACHINE.items() for module, test in tests if test not in there[module]] == []
    page = PAGE.read_text(encoding="utf-8")
    for row, tests in MACHINE.items():
        modules = ", ".join(f"`{module}`" for module in dict.fromkeys(module for module, _ in tests))
        assert f"| {row} | {modules} |" in page


# --- the clock


def add(text: str) -> dict[str, str]:
    return {"operation": "add", "text": text}


def test_a_clock_that_is_set_back_does_not_end_curation_in_the_background(tmp_path: Path) -> None:
    """A failure that lies ahead of the clock kept the next try waiting until the clock had come there: for years."""
    now = [datetime(2036, 1, 1, tzinfo=UTC)]

    def fails(request: Any) -> str:
        raise RuntimeError("the curator is out")

    with Minutebook.open(tmp_path, clock=lambda: now[0], automatic=False, curator=fails) as book:
        with book.session("s").run() as run:
            run.memory(add("Tests run with pytest."))
        assert book.curate().status == "failed"
    now[0] = datetime(2026, 1, 1, tzinfo=UTC)
    with Minutebook.open(tmp_path, clock=lambda: now[0], automatic=True):
        pass  # closing waits for what was begun in the background
    with Minutebook.open(tmp_path, automatic=False) as book:
        assert [entry.text for entry in book.memory.entries()] == ["Tests run with pytest."]


@pytest.mark.parametrize("step", [timedelta(days=-3_650), timedelta(0), timedelta(days=3_650)])
def test_a_lying_clock_takes_no_run_from_its_owner(tmp_path: Path, step: timedelta) -> None:
    here = datetime(2026, 1, 1, tzinfo=UTC)
    with Minutebook.open(tmp_path, clock=lambda: here, automatic=False) as book:
        run = book.session("s").run()
        first = run.append({"role": "user", "content": "One."})
        with Minutebook.open(tmp_path, clock=lambda: here + step, automatic=False) as other:
            with pytest.raises(MinutebookError) as refusal:
                other.session("s").run()
            assert refusal.value.code == "run_open"
            other.session("t").append({"role": "user", "content": "Beside it."})
        assert run.append({"role": "user", "content": "Two."}) > first
        assert [message["content"] for message in run.context().messages] == ["One.", "Two."]
        run.succeed()
        assert "RunInterrupted" not in {event.type for event in book.log()}
        assert book.verify().ok


ELSEWHERE = """
import sys
from datetime import UTC, datetime, timedelta
from minutebook import Minutebook, MinutebookError
step = timedelta(days=float(sys.argv[2]))
with Minutebook.open(sys.argv[1], clock=lambda: datetime.now(UTC) + step, automatic=False) as book:
    try:
        book.session("s").run()
    except MinutebookError as error:
        print(error.code)
"""


@pytest.mark.parametrize("days", [-3_650, 3_650])
def test_a_lying_clock_on_another_host_ends_no_run(tmp_path: Path, days: int) -> None:
    """A process in a namespace of its own is one on another host: it sees no other process, the lease alone."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a namespace can only be made by root")
    with Minutebook.open(tmp_path, automatic=False) as book:
        run = book.session("s").run()
        run.append({"role": "user", "content": "One."})
        done = subprocess.run(
            [*inside, sys.executable, "-c", ELSEWHERE, str(tmp_path), str(days)],
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / ".package")},
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.stdout == "run_open\n", done.stderr
        run.append({"role": "user", "content": "Two."})
        run.succeed()


def test_a_clock_that_stands_still_or_goes_back_renews_the_lease_of_a_run_all_the_same(tmp_path: Path) -> None:
    now = [datetime(2036, 1, 1, tzinfo=UTC)]
    settings = Settings(lease_seconds=0.000001)
    with Minutebook.open(tmp_path, clock=lambda: now[0], automatic=False, settings=settings) as book:
        run = book.session("s").run()
        for _ in range(2):
            now[0] -= timedelta(days=365)
            run.append({"role": "user", "content": "Still here."})
            with outside(tmp_path) as connection:
                query = "SELECT expires FROM leases WHERE substr(name, 1, 4) = 'run:'"
                [heard] = connection.exec_driver_sql(query).scalars()
            assert datetime.fromisoformat(heard).replace(tzinfo=UTC) - datetime.now(UTC) < timedelta(minutes=10)
        assert {row["code"] for row in Minutebook.doctor(tmp_path)["findings"]}.isdisjoint({"stale_lease"})
        run.succeed()


@pytest.mark.parametrize("end", ["succeed", "fail", "interrupt"])
def test_a_run_has_a_lease_by_the_clock_of_the_database_from_start_to_end(tmp_path: Path, end: str) -> None:
    """Given a program whose clock is years behind, then from the first moment its run is known to live; after the
    run, however it ended, no row of it is left."""

    def leases() -> list[str]:
        with outside(tmp_path) as connection:
            return list(connection.exec_driver_sql("SELECT expires FROM leases").scalars())

    past = datetime(2001, 1, 1, tzinfo=UTC)
    with Minutebook.open(tmp_path, clock=lambda: past, automatic=False) as book:
        run = book.session("s").run()
        [heard] = leases()
        assert abs(datetime.fromisoformat(heard).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(minutes=10)
        if end == "succeed":
            run.succeed()
        elif end == "fail":
            run.fail(RuntimeError("no"))
    assert leases() == []


# --- limits of a process

LIMITED = """
import json, os, resource, sys
from pathlib import Path
from minutebook import Minutebook, MinutebookError, Settings
root, kind = sys.argv[1], sys.argv[2]
def limit():
    if kind == "files":
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1, hard))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
name = resource.RLIMIT_NOFILE if kind == "files" else resource.RLIMIT_FSIZE
soft, hard = resource.getrlimit(name)
def tell(**what):
    os.write(1, json.dumps(what).encode() + b"\\n")
def attempt(what, act):
    try:
        tell(did=what, **(act() or {}))
    except MinutebookError as error:
        tell(refused=what, code=error.code)
def append(book, number):
    return {"kept": f"m{number}", "position": book.session("s").append({"role": "user", "content": "x" * 9_000}, id=f"m{number}")}
def publish(book, number):
    book.memory.import_notes(f"- Fact {number}\\n".encode())
with Minutebook.open(root, automatic=False) as book:
    append(book, 0); publish(book, 0)
    limit()
    for number in (1, 2):
        attempt("append", lambda: append(book, number))
        attempt("publish", lambda: publish(book, number))
    attempt("open", lambda: Minutebook.open(root, automatic=False).close())
    resource.setrlimit(name, (soft, hard))
    tell(over=True)
    attempt("append", lambda: append(book, 3))
attempt("open", lambda: Minutebook.open(root, automatic=False).close())
with Minutebook.open(root, automatic=False) as book:
    attempt("publish", lambda: publish(book, 3))
    tell(state=book.memory.status().state, proved=book.verify().ok)
"""

NAMED = {"store_unwritable", "store_io_error", "disk_full", "bad_workspace", "memory_busy", "memory_write_failed",
         "bad_setting", "memory_disk_full", "memory_io_error", "too_many_files"}  # fmt: skip


@pytest.mark.sqlite_only("limits of the process that has the file")
@pytest.mark.parametrize("kind", ["files", "size"])
def test_whatever_a_process_may_not_have_is_told_and_loses_nothing(tmp_path: Path, kind: str) -> None:
    """No descriptor is left, no file may grow: each refusal has a name, and afterwards the same process goes on."""
    root = tmp_path / "w"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(root), kind],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / ".package")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    over = told.index({"over": True})
    refused = [line for line in told if "refused" in line]
    assert refused
    assert {line["code"] for line in refused} <= NAMED
    assert not [line for line in told[over:] if "refused" in line], told[over:]
    assert told[-1] == {"state": "clean", "proved": True}
    same_as_told(root, told)


@pytest.mark.sqlite_only("memory of the process that has the file")
def test_a_command_without_memory_says_so_and_loses_nothing(tmp_path: Path) -> None:
    root, large = tmp_path / "w", tmp_path / "large.jsonl"
    with Minutebook.open(root, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "Kept."})
    line = json.dumps({"role": "user", "content": "word " * 1_000_000})
    large.write_text("".join(line + "\n" for _ in range(60)))
    script = (
        "import resource, sys\n"
        "from minutebook.infrastructure.edges.cli import main\n"
        "taken = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (taken + 40_000_000,) * 2)\n"
        "main(['--workspace', sys.argv[1], '--json', 'import', sys.argv[2]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(root), str(large)],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / ".package")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, (done.stdout[-500:], done.stderr[-2_000:])
    assert "Traceback" not in done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["error"] == "out_of_resources"
    with Minutebook.open(root, automatic=False) as book:
        assert [message.id for message in book.session("s").messages()]
        assert book.verify().ok


# --- files of others, libraries of before


@pytest.mark.sqlite_only("the header of a file")
@pytest.mark.parametrize("tables", [0, 1])
@pytest.mark.parametrize("access", ["write", "look", "read_only"])
def test_a_database_that_another_program_has_marked_is_refused_untouched(
    tmp_path: Path, access: Any, tables: int
) -> None:
    """An application_id says whose a file is, before there is a table in it."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA application_id = 0x47504B47")
        if tables:
            other.execute("CREATE TABLE features (id INTEGER PRIMARY KEY)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(MinutebookError) as refusal:
        Minutebook.open(tmp_path / "w", database=f"sqlite:///{path}", access=access)
    assert refusal.value.code == "not_a_book"
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("other.db-*"))


@pytest.mark.sqlite_only("SQLite's own version")
def test_a_sqlite_too_old_for_us_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 35, 5))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.35.5")
    with pytest.raises(MinutebookError) as refusal:
        Minutebook.open(tmp_path / "w", automatic=False)
    assert refusal.value.code == "sqlite_too_old"
    assert "3.35.5" in str(refusal.value)
    assert ".".join(map(str, SQLITE_MIN)) in str(refusal.value)
    assert not list(tmp_path.rglob("*.db*"))
    assert command("status", "--json").refusal["error"] == "sqlite_too_old"
