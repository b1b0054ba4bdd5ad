"""doctor names what is wrong with a store or a machine, each with its mend; it only looks (issue 7)."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import past
import pytest
from stores import killed_at, outside

from minutebook import Minutebook
from minutebook.infrastructure.settings import PREFIX
from minutebook.infrastructure.store import place as places
from minutebook.infrastructure.work import doctor
from minutebook.infrastructure.work.doctor import machine
from minutebook.infrastructure.work.doctor import server as servers

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

Command = Callable[..., Any]
ALWAYS = {"sqlite_wal_reset", "server_no_fsync", "candidates_wait"}
"""What the machine of a test, its server without fsync, and the story have in any case."""


def told(story: Any, where: str) -> dict[str, dict[str, Any]]:
    """The findings by code, those that are always there apart."""
    found = Minutebook.doctor(story.root)["findings"]
    return {row["code"]: row for row in found if row["code"] not in ALWAYS}


def run(story: Any, *statements: str) -> None:
    with outside(story.root) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_a_sound_store_has_nothing_wrong(story: Any, command: Command, where: str) -> None:
    assert told(story, where) == {}
    done = command("doctor")
    if where == "sqlite":
        assert done.code == 0
        assert "Nothing is wrong" in done.out


# --- each trouble


@contextmanager
def unknown_variable(story: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(PREFIX + "CONTEXT_WINDOWS", "9")
        yield


@contextmanager
def bad_setting(story: Any) -> Iterator[None]:
    (story.root / "minutebook.toml").write_text("context_window = 'many'\n")
    yield


@contextmanager
def open_to_others(story: Any) -> Iterator[None]:
    (story.root / ".tinyagent").chmod(0o755)
    yield


@contextmanager
def other_owner(story: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: 4_711)
        yield


@contextmanager
def not_ignored(story: Any) -> Iterator[None]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", str(story.root)], check=True)
    (story.root / ".tinyagent" / ".gitignore").write_text("# somebody wrote their own\n")
    yield


@contextmanager
def unfinished_copy(story: Any) -> Iterator[None]:
    Minutebook.open(story.root, read_only=True).close()
    target = story.root / "saved"

    def work() -> None:
        with Minutebook.open(story.root, read_only=True) as book:
            book.backup(target)

    assert killed_at("backup.copied", work)
    left = next(story.root.glob(".minutebook-*"))
    shutil.move(left, story.root / ".tinyagent" / left.name)
    yield


@contextmanager
def kept_copies(story: Any) -> Iterator[None]:
    with Minutebook.open(story.root, automatic=False) as book:
        book.backup(story.root / "saved")
    (story.root / ".tinyagent" / "memory" / "MEMORY.md").write_text("an edit that is kept\n")
    Minutebook.restore(story.root, story.root / "saved")
    yield


@contextmanager
def unfinished_write(story: Any) -> Iterator[None]:
    def work() -> None:
        with Minutebook.open(story.root, automatic=False) as book:
            book.memory.propose({"operation": "add", "text": "The linter is ruff."})
            book.curate()

    assert killed_at("file.replace", work)
    yield


@contextmanager
def memory_drift(story: Any) -> Iterator[None]:
    (story.root / ".tinyagent" / "memory" / "MEMORY.md").write_text("edited\n")
    yield


@contextmanager
def memory_missing(story: Any) -> Iterator[None]:
    (story.root / ".tinyagent" / "memory" / "MEMORY.md").unlink()
    yield


@contextmanager
def disk_nearly_full(story: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=1_000))
        yield


@contextmanager
def network_file_system(story: Any) -> Iterator[None]:
    table = story.root / "mounts"
    table.write_text("36 35 98:0 / / rw - nfs4 server:/home rw\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(places, "MOUNTS", table)
        yield


@contextmanager
def clock_behind(story: Any) -> Iterator[None]:
    with Minutebook.open(story.root, automatic=False, clock=lambda: datetime.now(UTC) + timedelta(days=9)) as book:
        book.session("tomorrow").append({"role": "user", "content": "hello"})
        book.projections.list()
    yield


@contextmanager
def wal_large(story: Any) -> Iterator[None]:
    reader = sqlite3.connect(story.root / ".tinyagent" / "minutebook.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchall()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules["minutebook.infrastructure.work.doctor.store"], "_WAL_BYTES", 1_000)
        with Minutebook.open(story.root, automatic=False) as book:
            book.session("s").append([{"role": "user", "content": "x" * 400_000} for _ in range(9)])
            book.projections.list()
        yield
    reader.close()


@contextmanager
def pages_damaged(story: Any) -> Iterator[None]:
    with closing(sqlite3.connect(story.root / ".tinyagent" / "minutebook.db")) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'trackings'").fetchone()[0]
    with (story.root / ".tinyagent" / "minutebook.db").open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 100)
    yield


@contextmanager
def guard_missing(story: Any) -> Iterator[None]:
    sqlite = not os.environ.get("MINUTEBOOK_DATABASE")
    run(story, "DROP TRIGGER events_update" + ("" if sqlite else " ON events"))
    yield


@contextmanager
def head_differs(story: Any) -> Iterator[None]:
    sqlite = not os.environ.get("MINUTEBOOK_DATABASE")
    off = "DROP TRIGGER events_delete" if sqlite else "ALTER TABLE events DISABLE TRIGGER ALL"
    run(story, off, f"DELETE FROM events WHERE position = {story.head}")
    yield


@contextmanager
def projection_halted(story: Any) -> Iterator[None]:
    run(story, "UPDATE cursors SET status = 'halted', error = 'position 3: it broke' WHERE name = 'candidates'")
    yield


@contextmanager
def projection_outdated(story: Any) -> Iterator[None]:
    run(story, "UPDATE cursors SET version = version - 1 WHERE name = 'candidates'")
    yield


@contextmanager
def projection_at_rest(story: Any) -> Iterator[None]:
    with Minutebook.open(story.root, automatic=False) as book:
        book.projections.pause("candidates", reason="a look")
    yield


@contextmanager
def projection_ahead(story: Any) -> Iterator[None]:
    run(story, "UPDATE cursors SET position = 9999 WHERE name = 'revisions'")
    yield


@contextmanager
def projection_lags(story: Any) -> Iterator[None]:
    run(story, "UPDATE cursors SET position = position - 1 WHERE name = 'revisions'")
    yield


@contextmanager
def projection_not_loaded(story: Any) -> Iterator[None]:
    run(story, "INSERT INTO cursors (name, version, generation, position, status) VALUES ('plug', 1, 1, 9, 'live')")
    yield


@contextmanager
def events_parked(story: Any) -> Iterator[None]:
    run(story, "INSERT INTO parked (projection, position, stream, error) VALUES ('candidates', 3, 's', 'it broke')")
    yield


@contextmanager
def events_skipped(story: Any) -> Iterator[None]:
    projection_halted_at = "UPDATE cursors SET status = 'halted', error = 'no', position = 2 WHERE name = 'context'"
    run(story, projection_halted_at)
    with Minutebook.open(story.root, automatic=False) as book:
        book.projections.skip("context")
    yield


@contextmanager
def event_of_newer_version(story: Any) -> Iterator[None]:
    sqlite = not os.environ.get("MINUTEBOOK_DATABASE")
    off = "DROP TRIGGER events_update" if sqlite else "ALTER TABLE events DISABLE TRIGGER ALL"
    run(story, off, "UPDATE events SET schema = 7 WHERE position = 3")
    yield


@contextmanager
def revision_unfinished(story: Any) -> Iterator[None]:
    with unfinished_write(story):
        yield


@contextmanager
def run_of_dead_owner(story: Any) -> Iterator[None]:
    script = (
        "import os, sys; from minutebook import Minutebook; book = Minutebook.open(sys.argv[1], automatic=False); "
        "run = book.session('dead').run(); run.append({'role': 'user', 'content': 'x'}); book.projections.list(); "
        "os._exit(0)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / ".package")}
    subprocess.run([sys.executable, "-c", script, str(story.root)], env=environment, check=True)
    yield


@contextmanager
def erasure_unfinished(story: Any) -> Iterator[None]:
    with Minutebook.open(story.root, automatic=False) as book:
        book.session("to-go").append({"role": "user", "content": "a secret"})
    assert killed_at("erase.requested", lambda: _erase(story.root))
    yield


def _erase(root: Path) -> None:
    with Minutebook.open(root, automatic=False) as book:
        book.erase("session", "to-go", reason="asked for")


@contextmanager
def stale_lease(story: Any) -> Iterator[None]:
    run(story, "INSERT INTO leases VALUES ('curate:gone', '{}', 3, '2020-01-01T00:00:00.000')")
    yield


@contextmanager
def candidates_set_aside(story: Any) -> Iterator[None]:
    def broken(request: Any) -> str:
        raise RuntimeError("the curator is out")

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MINUTEBOOK_CURATION_ATTEMPTS_MAX", "1")
        with Minutebook.open(story.root, automatic=False, curator=broken) as book:
            book.curate()
            book.projections.list()
        yield


@contextmanager
def store_cannot_be_opened(story: Any) -> Iterator[None]:
    sqlite = not os.environ.get("MINUTEBOOK_DATABASE")
    run(story, "PRAGMA user_version=99" if sqlite else "UPDATE store_schema SET version = 99")
    yield


BOTH = [
    unknown_variable, bad_setting, open_to_others, other_owner, unfinished_copy, kept_copies, unfinished_write,
    memory_drift, memory_missing, clock_behind, guard_missing, head_differs, projection_halted, projection_outdated,
    projection_at_rest, erasure_unfinished,
    projection_ahead, projection_lags, projection_not_loaded, events_parked, events_skipped, event_of_newer_version,
    revision_unfinished, run_of_dead_owner, stale_lease, candidates_set_aside, store_cannot_be_opened,
]  # fmt: skip
FILE = [not_ignored, disk_nearly_full, network_file_system, wal_large, pages_damaged]
ELSEWHERE = {
    "sqlite_wal_reset", "no_store", "memory_unadopted", "memory_remote", "candidates_wait", "server_no_fsync",
    "server_old", "server_async_commit", "server_encoding", "server_no_privilege", "server_standby", "kept_schema",
}  # fmt: skip
"""Findings with a test of their own below."""


def check(story: Any, command: Command, trouble: Callable[[Any], Any], where: str) -> None:
    code = trouble.__name__
    with trouble(story):
        before = files(story.root)
        found = told(story, where)
        assert code in found, found
        assert found[code]["mend"]
        assert files(story.root) == before, "doctor only looks"
        done = command("doctor", "--json")
        assert code in [row["code"] for row in done.answer["findings"]]
        assert done.code == (0 if all(row["level"] != "wrong" for row in done.answer["findings"]) else 1)
        if found[code]["level"] == "wrong":
            assert done.code == 1


@pytest.mark.parametrize("trouble", BOTH, ids=lambda trouble: trouble.__name__)
def test_each_trouble_is_named(story: Any, command: Command, trouble: Callable[[Any], Any], where: str) -> None:
    check(story, command, trouble, where)


@pytest.mark.sqlite_only("about a database that is a file")
@pytest.mark.parametrize("trouble", FILE, ids=lambda trouble: trouble.__name__)
def test_each_trouble_of_a_file_is_named(story: Any, command: Command, trouble: Callable[[Any], Any]) -> None:
    check(story, command, trouble, "sqlite")


def test_every_finding_is_tried() -> None:
    tried = {trouble.__name__ for trouble in (*BOTH, *FILE)} | ELSEWHERE
    assert tried == set(doctor.KINDS)


def test_the_nearest_name_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + "ENTRY_CHAR_MAX", "9")
    texts = [row["text"] for row in Minutebook.doctor(place)["findings"] if row["code"] == "unknown_variable"]
    said = f"the environment sets {PREFIX}ENTRY_CHAR_MAX, which is no setting and changes nothing"
    assert texts == [f"{said}; {PREFIX}ENTRY_CHARS_MAX is one"]


def test_a_folder_without_a_book_is_nothing_wrong(place: Path, command: Command, where: str) -> None:
    done = command("doctor", "--json")
    assert "no_store" in [row["code"] for row in done.answer["findings"]]
    assert list(place.iterdir()) == []
    assert where == "postgres" or done.code == 0


def test_a_file_from_before_is_a_note(place: Path, command: Command) -> None:
    (place / ".tinyagent" / "memory").mkdir(parents=True, mode=0o700)
    (place / ".tinyagent" / "memory" / "MEMORY.md").write_text("from before\n")
    with Minutebook.open(place, automatic=False) as book:
        book.session("s")
    assert "memory_unadopted" in [row["code"] for row in Minutebook.doctor(place)["findings"]]


def test_a_folder_that_is_not_there_is_refused(place: Path, command: Command) -> None:
    done = command("doctor", "--json", workspace=place / "nowhere")
    assert (done.code, done.refusal["error"]) == (1, "unknown_workspace")


@pytest.mark.sqlite_only("about a file that is no database")
@pytest.mark.parametrize("bytes_", [b"", b"\xff" * 9_000, b"SQLite format 3\0" + b"\0" * 9_000])
def test_doctor_answers_whatever_stands_there(place: Path, command: Command, bytes_: bytes) -> None:
    folder_ = place / ".tinyagent"
    folder_.mkdir(mode=0o700)
    (folder_ / "minutebook.db").write_bytes(bytes_)
    (folder_ / "minutebook.db").chmod(0o600)
    done = command("doctor", "--json")
    assert [row["code"] for row in done.answer["findings"] if row["level"] == "wrong"] == ["store_cannot_be_opened"]
    assert (folder_ / "minutebook.db").read_bytes() == bytes_


@pytest.mark.sqlite_only("the store of a kept version is a file here")
def test_an_older_store_is_named_with_the_command_that_upgrades_it(place: Path, command: Command) -> None:
    past.put_back("v1-b1547e2", place)
    texts = [row["text"] for row in command("doctor", "--json").answer["findings"] if row["level"] == "wrong"]
    assert len(texts) == 1
    assert "minutebook upgrade" in texts[0]


@pytest.mark.parametrize(
    ("version", "has"),
    [((3, 6, 23), False), ((3, 7, 0), True), ((3, 40, 1), True), ((3, 44, 5), True), ((3, 44, 6), False),
     ((3, 45, 0), True), ((3, 50, 6), True), ((3, 50, 7), False), ((3, 51, 2), True), ((3, 51, 3), False),
     ((3, 52, 0), False), ((4, 0, 0), False)],
)  # fmt: skip
def test_which_sqlite_can_lose_a_commit(version: tuple[int, int, int], has: bool) -> None:
    assert machine.has_wal_reset_bug(version) is has
    assert bool(list(machine.sqlite_version(version))) is has


# --- a server


def test_what_a_server_is_set_to_is_named(story: Any, where: str) -> None:
    if where == "sqlite":
        return  # asked of a server alone; here it asks nothing
    with outside(story.root) as connection:
        name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET synchronous_commit = off")
        fsync = connection.exec_driver_sql("SHOW fsync").scalar_one()
    found = {row["code"] for row in Minutebook.doctor(story.root)["findings"]}
    assert "server_async_commit" in found
    with Minutebook.open(story.root, automatic=False) as book:
        book.backup(story.root / "saved")
    Minutebook.restore(story.root, story.root / "saved")
    assert "kept_schema" in {row["code"] for row in Minutebook.doctor(story.root)["findings"]}
    assert ("server_no_fsync" in found) == (fsync == "off")


class Said:
    """A server that says of itself what no server of the tests does: another version, a standby, another encoding."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {
            "SHOW fsync": "on", "SHOW full_page_writes": "on", "SHOW server_version_num": "180000",
            "SHOW server_version": "18.0", "SHOW server_encoding": "UTF8", "pg_is_in_recovery": False,
            "reset_val": "on", "nspname": [], "current_user": "reader", "to_regclass": "events",
            "has_table_privilege": True, **answers,
        }  # fmt: skip

    @contextmanager
    def reading(self) -> Iterator[Any]:
        yield self

    def exec_driver_sql(self, statement: str, parameters: Any = ()) -> Any:
        key = next(name for name in self.answers if statement == name or (name in statement and "SHOW" not in name))
        found = self.answers[key]
        return SimpleNamespace(scalar=lambda: found, scalars=lambda: SimpleNamespace(all=lambda: found))


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"SHOW server_version_num": "130012"}, "server_old"),
        ({"SHOW server_encoding": "SQL_ASCII"}, "server_encoding"),
        ({"pg_is_in_recovery": True}, "server_standby"),
        ({"has_table_privilege": False}, "server_no_privilege"),
        ({"reset_val": "remote_write"}, "server_async_commit"),
        ({"SHOW full_page_writes": "off"}, "server_no_fsync"),
        ({"nspname": ["minutebook_before_restore_1"]}, "kept_schema"),
    ],
)
def test_what_a_server_says_of_itself(answers: dict[str, Any], code: str) -> None:
    server: Any = Said(**answers)
    assert {found.code for found in servers(server)} == {code}


def test_a_sound_server_has_nothing_wrong() -> None:
    server: Any = Said()
    assert list(servers(server)) == []
