"""A backup of a live store is whole or not there; a restore leaves the old store or the restored one, both usable."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import past
import pytest
from stores import PACKAGE, at_once, killed_at, outside

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.failpoints import armed

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

Command = Callable[..., Any]


def memory_file(root: Path) -> Path:
    return root / ".tinyagent" / "memory" / "MEMORY.md"


def kept(root: Path) -> list[str]:
    folder = root / ".tinyagent" / "kept"
    return sorted(path.name for path in folder.iterdir() if path.name != ".gitignore") if folder.exists() else []


def unfinished(root: Path) -> list[Path]:
    return list(root.rglob(".minutebook-*"))


# --- backup


def test_a_backup_is_one_private_file_that_brings_everything_back(
    story: Any, command: Command, tmp_path: Path, where: str
) -> None:
    saved = tmp_path / "saved.backup"
    done = command("backup", saved, "--json").answer
    assert (done["head"], done["events"], done["file"]) == (story.head, story.head, str(saved))
    assert done["format"] == ("sqlite" if where == "sqlite" else "minutebook-log")
    assert saved.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("saved", ".minutebook"))] == [saved.name]

    events, memory, shape = past.content(story.root), memory_file(story.root).read_bytes(), past.shape(story.root)
    with Minutebook.open(story.root, automatic=False) as book:
        book.session("later").append({"role": "user", "content": "after the backup"})
        book.memory.propose({"operation": "add", "text": "This came after the backup."})
        assert book.curate()["status"] == "committed"
    refused = command("restore", "--from", saved, "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "store_ahead")
    assert "--replace" in refused.refusal["message"]
    back = command("restore", "--from", saved, "--replace", "--json").answer

    assert (back["ok"], back["head"], back["chain"]) == (True, story.head, done["chain"])
    assert past.content(story.root) == events
    assert past.shape(story.root) == shape
    assert memory_file(story.root).read_bytes() == memory
    assert back["memory_file"] == "clean"
    assert back["was"] > story.head
    with Minutebook.open(story.root, automatic=False) as book:
        projections = book._runtime.projections
        assert {name: projections.dump_hash(name) for name in projections.names} == story.sound
    assert unfinished(story.root) == []


def test_a_backup_is_taken_while_others_write(place: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    with Minutebook.open(place, automatic=False) as book:
        session = book.session("busy")
        acknowledged: list[int] = []

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                acknowledged.append(session.append({"role": "user", "content": f"message {number}"}))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            found = []
            for number in range(4):
                before = acknowledged[-1] if acknowledged else 0
                done = book.backup(tmp_path / f"{number}.backup")
                assert before <= done["head"]
                found.append(done)
        finally:
            stop.set()
            writer.join()
    for number, done in enumerate(found):
        fresh = tmp_path / f"w{number}"
        fresh.mkdir()
        with pytest.MonkeyPatch.context() as patched:
            patched.delenv("MINUTEBOOK_DATABASE", raising=False)
            back = Minutebook.restore(fresh, tmp_path / f"{number}.backup")
        assert (back["ok"], back["head"], back["chain"]) == (True, done["head"], done["chain"])


@pytest.mark.parametrize("taken", ["file", "empty", "folder", "link", "fifo", "inside", "database"])
def test_a_backup_goes_over_nothing(story: Any, command: Command, tmp_path: Path, taken: str) -> None:
    target = tmp_path / "taken"
    match taken:
        case "file":
            target.write_text("mine")
        case "empty":
            target.touch()
        case "folder":
            target.mkdir()
        case "link":
            target.symlink_to(tmp_path / "nowhere")
        case "fifo":
            os.mkfifo(target)
        case "inside":
            target = story.root / ".tinyagent" / "saved.backup"
        case "database":
            target = story.root / ".tinyagent" / "minutebook.db"
            target.touch()
    before = sorted(tmp_path.iterdir())
    done = command("backup", target, "--json")
    assert done.code == 1
    wanted = {"file": "file_exists", "empty": "file_exists", "inside": "bad_path", "database": "bad_path"}
    assert done.refusal["error"] == wanted.get(taken, "not_a_file")
    assert sorted(tmp_path.iterdir()) == before
    assert unfinished(tmp_path) == []


def test_a_folder_without_a_book_has_nothing_to_back_up(place: Path, command: Command, tmp_path: Path) -> None:
    assert command("backup", tmp_path / "saved", "--json").refusal["error"] == "not_a_book"
    assert not (tmp_path / "saved").exists()
    assert list(place.iterdir()) == []


def test_a_damaged_store_makes_no_backup(story: Any, command: Command, tmp_path: Path, where: str) -> None:
    with outside(story.root) as connection:
        if where == "sqlite":
            connection.exec_driver_sql("DROP TRIGGER events_update")
            connection.exec_driver_sql("UPDATE events SET actor = 'nobody' WHERE position = 3")
        else:
            connection.exec_driver_sql("ALTER TABLE events DISABLE TRIGGER ALL")
            connection.exec_driver_sql("UPDATE events SET actor = 'nobody' WHERE position = 3")
    done = command("backup", tmp_path / "saved", "--json")
    assert done.code == 1
    assert done.refusal["error"] in ("backup_damaged", "store_corrupt")
    assert "3" in done.refusal["message"]
    assert not (tmp_path / "saved").exists()
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("step", ["backup.copying", "backup.copied", "backup.appearing", "backup.appeared"])
def test_a_backup_that_is_killed_or_fails_is_whole_or_not_there(
    story: Any, command: Command, tmp_path: Path, step: str
) -> None:
    with (
        Minutebook.open(story.root, read_only=True) as book,
        armed(step, "raise(ENOSPC)"),
        pytest.raises((MinutebookError, OSError)),
    ):
        book.backup(tmp_path / "saved")
    whole = (tmp_path / "saved").exists()
    assert whole == (step == "backup.appeared")
    assert unfinished(tmp_path) == []

    def work() -> None:
        with Minutebook.open(story.root, read_only=True) as book:
            book.backup(tmp_path / "again")

    assert killed_at(step, work)
    assert (tmp_path / "again").exists() == (step == "backup.appeared")
    name = tmp_path / ("again" if step == "backup.appeared" else "third")
    if step != "backup.appeared":
        assert command("backup", name).code == 0
    assert command("restore", "--from", name).code == 0


def test_the_next_backup_removes_what_a_killed_one_left_and_none_that_is_under_way(
    story: Any, command: Command, tmp_path: Path
) -> None:
    def work() -> None:
        with Minutebook.open(story.root, read_only=True) as book:
            book.backup(tmp_path / "saved")

    # given a backup that was killed, and one that is under way
    assert killed_at("backup.copied", work)
    left, begun = unfinished(tmp_path), list[Path]()

    def meanwhile() -> None:
        with armed("backup.copied", lambda: None):
            assert command("backup", tmp_path / "other").code == 0
        begun.extend(unfinished(tmp_path))

    # when a third is made meanwhile
    with Minutebook.open(story.root, read_only=True) as book, armed("backup.copied", meanwhile):
        book.backup(tmp_path / "whole")
    # then the first is gone, and the second was left alone
    assert len(left) == len(begun) == 1
    assert left != begun
    assert unfinished(tmp_path) == []
    assert (tmp_path / "whole").exists()
    assert (tmp_path / "other").exists()


def test_the_next_start_removes_what_a_killed_restore_left(story: Any, command: Command, tmp_path: Path) -> None:
    assert command("backup", tmp_path / "saved").code == 0
    assert killed_at("restore.proved", lambda: Minutebook.restore(story.root, tmp_path / "saved", replace=True))
    assert unfinished(story.root) != []
    Minutebook.open(story.root, read_only=True).close()
    assert unfinished(story.root) != []
    Minutebook.open(story.root, automatic=False).close()
    assert unfinished(story.root) == []


# --- restore


def test_the_memory_file_keeps_its_mode_in_a_restore(story: Any, command: Command, tmp_path: Path) -> None:
    memory_file(story.root).chmod(0o640)
    assert command("backup", tmp_path / "saved").code == 0
    before = memory_file(story.root).read_bytes()
    with Minutebook.open(story.root, automatic=False) as book:
        book.memory.propose({"operation": "add", "text": "This came after the backup."})
        book.curate()
    assert memory_file(story.root).read_bytes() != before

    done = command("restore", "--from", tmp_path / "saved", "--replace", "--json").answer

    assert (done["ok"], done["memory_file"]) == (True, "clean")
    assert memory_file(story.root).read_bytes() == before
    assert memory_file(story.root).stat().st_mode & 0o777 == 0o640
    assert [path.name for path in memory_file(story.root).parent.iterdir()] == ["MEMORY.md"]


def test_a_backup_of_either_database_is_restored_on_either(
    story: Any, command: Command, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "saved"
    head = command("backup", saved, "--json").answer["head"]
    with outside(story.root) as connection:
        workspace = connection.exec_driver_sql("SELECT max(workspace) FROM events").scalar_one()
    monkeypatch.setenv("MINUTEBOOK_WORKSPACE_ID", workspace)
    other = tmp_path / "other"
    other.mkdir()
    if where == "postgres":
        monkeypatch.delenv("MINUTEBOOK_DATABASE")
        done = command("restore", "--from", saved, "--json", workspace=other).answer
    else:
        log = tmp_path / "log"
        assert command("export", "--log", "--to", log).code == 0
        done = command("restore", "--from", log, "--json", workspace=other).answer
    assert (done["ok"], done["head"], done["was"], done["kept"]) == (True, head, None, [])
    assert done["memory_file"] == "clean"
    assert memory_file(other).read_bytes() == memory_file(story.root).read_bytes()
    assert memory_file(other).stat().st_mode & 0o777 == 0o600


def test_what_sqlite_backed_up_is_restored_on_postgresql(
    tmp_path: Path, postgres_url: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with Minutebook.open(first, automatic=False) as book:
        book.session("s").append([{"role": "user", "content": f"message {number}"} for number in range(5)])
        book.memory.propose({"operation": "add", "text": "The build needs make 4.3."})
        book.curate()
        done = book.backup(tmp_path / "saved")
    monkeypatch.setenv("MINUTEBOOK_DATABASE", postgres_url)
    monkeypatch.setenv("MINUTEBOOK_WORKSPACE_ID", "local")
    back = command("restore", "--from", tmp_path / "saved", "--json", workspace=second).answer
    assert (back["ok"], back["head"], back["chain"]) == (True, done["head"], done["chain"])
    assert memory_file(second).read_text() == "The build needs make 4.3.\n"
    with Minutebook.open(second, automatic=False) as book:
        assert len(list(book.find_session("s").messages())) == 5


def test_an_edit_that_no_revision_took_in_is_kept(story: Any, command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    clean = memory_file(story.root).read_bytes()
    assert command("backup", saved).code == 0
    memory_file(story.root).write_text("Somebody wrote this and did not sync.\n")
    done = command("restore", "--from", saved, "--json").answer
    assert done["memory_file"] == "clean"
    assert memory_file(story.root).read_bytes() == clean
    copies = [path for path in done["kept"] if path.endswith("MEMORY.md")]
    assert [Path(path).read_text() for path in copies] == ["Somebody wrote this and did not sync.\n"]


@pytest.mark.sqlite_only("only a backup of SQLite holds the file as it stood")
def test_an_edit_that_stood_in_the_file_at_the_backup_is_kept_too(story: Any, command: Command, tmp_path: Path) -> None:
    clean = memory_file(story.root).read_bytes()
    memory_file(story.root).write_text("An edit before the backup.\n")
    assert command("backup", tmp_path / "saved").code == 0
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    done = command("restore", "--from", tmp_path / "saved", "--json", workspace=fresh).answer
    assert (done["memory_file"], memory_file(fresh).read_bytes()) == ("clean", clean)
    assert [Path(path).read_text() for path in done["kept"]] == ["An edit before the backup.\n"]


def _cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def _flip(saved: Path, bad: Path, where: str) -> None:
    """One letter of one text in the log is another."""
    if where == "postgres":
        bad.write_bytes(saved.read_bytes().replace(b"Remember what", b"Remember that", 1))
        return
    shutil.copy(saved, bad)
    with closing(sqlite3.connect(bad)) as connection:
        (guard,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'events_update'").fetchone()
        connection.execute("DROP TRIGGER events_update")
        connection.execute("UPDATE events SET payload = replace(payload, 'Remember what', 'Remember that')")
        connection.execute(guard)
        connection.commit()


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "text", "empty", "newer", "folder", "absent"])
def test_what_is_no_whole_backup_is_refused_and_nothing_is_touched(
    story: Any, command: Command, tmp_path: Path, damage: str, where: str
) -> None:
    saved, bad = tmp_path / "saved", tmp_path / "bad"
    assert command("backup", saved).code == 0
    wanted = {"not_a_backup"}
    match damage:
        case "cut":
            bad.write_bytes(_cut(saved.read_bytes()))
            wanted = {"backup_damaged", "export_damaged", "not_a_backup"}
        case "flipped":
            _flip(saved, bad, where)
            wanted = {"backup_damaged", "export_damaged"}
        case "other":
            with closing(sqlite3.connect(bad)) as other:
                other.execute("CREATE TABLE events (id INTEGER)")
        case "text":
            bad.write_text("this is no backup\n" * 99)
        case "empty":
            bad.touch()
        case "newer" if where == "sqlite":
            shutil.copy(saved, bad)
            with closing(sqlite3.connect(bad)) as newer:
                newer.execute("PRAGMA user_version=99")
            wanted = {"schema_newer"}
        case "newer":
            first, rest = saved.read_text().split("\n", 1)
            bad.write_text(json.dumps({**json.loads(first), "version": 99}, separators=(",", ":")) + "\n" + rest)
            wanted = {"export_newer"}
        case "folder":
            bad.mkdir()
        case "absent":
            wanted = {"path_missing"}
    events, memory = past.content(story.root), memory_file(story.root).read_bytes()
    done = command("restore", "--from", bad, "--replace", "--json")
    assert done.code == 1
    assert done.refusal["error"] in wanted
    assert past.content(story.root) == events
    assert memory_file(story.root).read_bytes() == memory
    assert (kept(story.root), unfinished(story.root)) == ([], [])
    assert command("verify").code == 0


@pytest.mark.sqlite_only("about the bytes of a SQLite file")
def test_a_byte_changed_anywhere_in_a_backup_is_found_or_changes_nothing(
    story: Any, command: Command, tmp_path: Path
) -> None:
    saved = tmp_path / "saved"
    assert command("backup", saved).code == 0
    whole = saved.read_bytes()
    events, memory = past.content(story.root), memory_file(story.root).read_bytes()
    chosen = random.Random(20261130)
    refused = 0
    for number in range(25):
        place = chosen.randrange(len(whole))
        bad = tmp_path / f"bad-{number}"
        bad.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << chosen.randrange(8)]) + whole[place + 1 :])
        done = command("restore", "--from", bad, "--replace", "--json")
        refused += done.code
        assert done.code == 0 or done.refusal["error"] in ("backup_damaged", "not_a_backup", "schema_newer"), place
        assert past.content(story.root) == events, place
        assert memory_file(story.root).read_bytes() == memory, place
    assert 0 < refused < 25
    assert command("verify").code == 0


def test_another_log_is_only_replaced_when_one_says_so(
    story: Any, command: Command, tmp_path: Path, where: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("MINUTEBOOK_DATABASE", raising=False)
        with Minutebook.open(other, automatic=False) as book:
            book.session("theirs").append([{"role": "user", "content": "hello"}] * 9)
            book.backup(tmp_path / "theirs")
    done = command("restore", "--from", tmp_path / "theirs", "--json")
    assert done.refusal["error"] == "store_differs"
    events = past.content(story.root)
    back = command("restore", "--from", tmp_path / "theirs", "--replace", "--json").answer
    assert (back["ok"], back["was"]) == (True, story.head)
    _assert_kept(story.root, back, events, where)


def _assert_kept(root: Path, back: dict[str, Any], events: list[Any], where: str) -> None:
    """What was there before is whole, under the name that was told."""
    if where == "sqlite":
        with closing(sqlite3.connect(back["kept"][0])) as connection:
            rows = connection.execute("SELECT * FROM events ORDER BY position").fetchall()
        assert rows == events[:-1]
        assert Path(back["kept"][0]).stat().st_mode & 0o777 == 0o600
        return
    schema = back["kept"][0].removeprefix("schema ")
    with outside(root) as connection:
        found = connection.exec_driver_sql(f"SELECT count(*) FROM {schema}.events").scalar_one()
    assert found == len(events) - 1


def test_a_store_that_lost_its_last_events_gets_them_back_without_a_word(
    story: Any, command: Command, tmp_path: Path, where: str
) -> None:
    with Minutebook.open(story.root, automatic=False) as book:
        early = book.backup(tmp_path / "early")["head"]
        book.session("later").append({"role": "user", "content": "later"})
        late = book.backup(tmp_path / "late")["head"]
    assert command("restore", "--from", tmp_path / "early", "--replace").code == 0
    done = command("restore", "--from", tmp_path / "late", "--json").answer
    assert (done["was"], done["head"], done["ok"]) == (early, late, True)


@pytest.mark.sqlite_only("about the bytes of a SQLite file")
@pytest.mark.parametrize("damage", ["header", "pages", "gone"])
def test_a_broken_database_is_replaced_and_its_bytes_are_kept(
    story: Any, command: Command, tmp_path: Path, damage: str
) -> None:
    assert command("backup", tmp_path / "saved").code == 0
    database = story.root / ".tinyagent" / "minutebook.db"
    size = database.stat().st_size
    if damage == "gone":
        database.unlink()
    else:
        with database.open("r+b") as file:
            file.seek(0 if damage == "header" else 4096)
            file.write(b"\xff" * (4096 if damage == "header" else size - 4096))
    broken = database.read_bytes() if database.exists() else b""
    if damage == "header":
        done = command("restore", "--from", tmp_path / "saved", "--json")
        assert done.refusal["error"] == "store_unreadable"
        assert database.read_bytes() == broken
    done = command("restore", "--from", tmp_path / "saved", "--replace", "--json").answer
    assert (done["ok"], done["head"], done["memory_file"]) == (True, story.head, "clean")
    if damage == "header":
        assert Path(done["kept"][0]).read_bytes() == broken
    assert command("verify").code == 0


STAY = """
import sys
from minutebook import Minutebook
book = Minutebook.open(sys.argv[1], automatic=False)
book.session("theirs").append({"role": "user", "content": "I am here"})
print("here", flush=True)
sys.stdin.readline()
"""


def test_while_another_process_has_the_store_open_nothing_is_restored(
    story: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEBOOK_LOCK_TIMEOUT_SECONDS", "0.2")
    assert command("backup", tmp_path / "saved").code == 0
    with subprocess.Popen(
        [sys.executable, "-c", STAY, str(story.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "here\n"
        events = past.content(story.root)
        done = command("restore", "--from", tmp_path / "saved", "--replace", "--json")
        assert done.refusal["error"] == "store_in_use"
        assert past.content(story.root) == events
        other.communicate("\n")
    with Minutebook.open(story.root, automatic=False):
        done = command("restore", "--from", tmp_path / "saved", "--replace", "--json")
        assert done.refusal["error"] == "store_in_use"
    assert command("restore", "--from", tmp_path / "saved", "--replace").code == 0


STEPS = ["restore.proved", "restore.keeping", "restore.kept", "restore.committing", "restore.committed",
         "restore.replaced", "restore.file_kept", "restore.file_gone"]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_store_is_the_old_or_the_restored_one(
    story: Any, command: Command, tmp_path: Path, step: str, where: str
) -> None:
    if step == ("restore.kept" if where == "postgres" else "restore.keeping"):
        pytest.skip("the other database's step")
    if (step, where) == ("restore.committing", "sqlite"):
        pytest.skip("SQLite commits inside its own backup; the file that cannot be opened has this step")
    saved = tmp_path / "saved"
    assert command("backup", saved).code == 0
    backed_up = past.content(story.root)
    with Minutebook.open(story.root, automatic=False) as book:
        book.session("later").append({"role": "user", "content": "later"})
        book.memory.propose({"operation": "add", "text": "This came after the backup."})
        book.curate()
    before = past.content(story.root)

    assert killed_at(step, lambda: Minutebook.restore(story.root, saved, replace=True))

    now = past.content(story.root)
    gone_back = STEPS.index(step) >= STEPS.index("restore.committed")
    assert now == (backed_up if gone_back else before)
    if not gone_back:
        assert command("verify").code == 0
    done = command("restore", "--from", saved, "--replace", "--json")
    assert done.code == 0, done.err
    assert (done.answer["ok"], done.answer["memory_file"]) == (True, "clean")
    assert past.content(story.root) == backed_up


@pytest.mark.parametrize("step", ["restore.proved", "restore.keeping", "restore.kept", "restore.committing"])
def test_a_restore_that_fails_leaves_the_store_and_nothing_else(
    story: Any, command: Command, tmp_path: Path, step: str
) -> None:
    """As on a disk that is full; tried on one, at every size from too small to large enough."""
    saved = tmp_path / "saved"
    assert command("backup", saved).code == 0
    with Minutebook.open(story.root, automatic=False) as book:
        book.session("later").append({"role": "user", "content": "later"})
    before, memory = past.content(story.root), memory_file(story.root).read_bytes()
    with armed(step, "raise(ENOSPC)"):
        done = command("restore", "--from", saved, "--replace", "--json")
    if done.code == 0:
        return  # a step of the other database
    assert done.refusal["error"] == "disk_full"
    assert (past.content(story.root), memory_file(story.root).read_bytes()) == (before, memory)
    assert (kept(story.root), unfinished(story.root)) == ([], [])
    assert command("verify").code == 0


@pytest.mark.sqlite_only("about the bytes of a SQLite file")
@pytest.mark.parametrize("step", ["restore.kept", "restore.committing", "restore.committed"])
def test_killed_over_a_broken_file_the_next_restore_ends_it(
    story: Any, command: Command, tmp_path: Path, step: str
) -> None:
    saved = tmp_path / "saved"
    assert command("backup", saved).code == 0
    (story.root / ".tinyagent" / "minutebook.db").write_bytes(b"\xff" * 9_000)
    assert killed_at(step, lambda: Minutebook.restore(story.root, saved, replace=True))
    assert command("restore", "--from", saved, "--replace").code == 0
    assert command("verify").code == 0


def test_two_that_restore_at_once_do_it_one_after_the_other(story: Any, command: Command, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    assert command("backup", saved).code == 0
    patience = Settings.load(story.root, lock_timeout_seconds=60)
    answers = at_once(2, lambda: Minutebook.restore(story.root, saved, replace=True, settings=patience)["ok"])
    assert answers == [True, True]
    assert command("verify").code == 0


@pytest.mark.sqlite_only("the kept stores of SQLite are files")
def test_a_backup_of_an_older_schema_is_restored_as_one_of_today(
    place: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past.put_back("v1-b1547e2", place)
    old = tmp_path / "old.backup"
    shutil.copy(place / ".tinyagent" / "minutebook.db", old)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    done = command("restore", "--from", old, "--json", workspace=fresh).answer
    assert (done["ok"], done["schema"], done["memory_file"]) == (True, 1, "clean")
    assert memory_file(fresh).read_bytes() == memory_file(place).read_bytes()
