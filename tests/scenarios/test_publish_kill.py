"""SIGKILL of a real process at every step of publishing, syncing, restoring and recovering (D5, M09-M26, S01-S06).

After each the next start must bring file and log to agreement without losing what was acknowledged. The judge reads
SQLite and the file by itself, not through the code under test.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, SEPARATOR, Server, Site

pytestmark = pytest.mark.sqlite_only("the steps of the file; test_curation_kill is on both")


FILE_STEPS = ["file.open_temp", "file.write_temp", "file.write_rest", "file.keep_owner", "file.keep_mode",
              "file.fsync_temp", "file.read_base", "file.set_aside", "file.replace", "file.exchange",
              "file.look_back", "file.fsync_folder", "file.check_folder"]  # fmt: skip
PUBLISH = ["publish.locked", "publish.base_read", "publish.preparing", "publish.prepared", *FILE_STEPS,
           "publish.commit", "publish.committing", "publish.committed", "file.unlink", "publish.cleaned"]  # fmt: skip
NEW_FILE = [step for step in FILE_STEPS if step not in
            {"file.keep_owner", "file.keep_mode", "file.exchange", "file.look_back"}]  # fmt: skip
WRITTEN = PUBLISH[PUBLISH.index("file.look_back") :]
COMMITTED = PUBLISH[PUBLISH.index("publish.committed") :]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def template(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "workspace"
    root.mkdir()
    site = Site(server, root, root.parent / "acks")
    assert site.run("publish", "Entry {number}.", times=2) == 0
    site.file.chmod(0o640)
    site.check()
    return root.parent


@pytest.fixture
def site(server: Server, template: Path, tmp_path: Path) -> Site:
    shutil.copytree(template, tmp_path / "site")
    return Site(server, tmp_path / "site" / "workspace", tmp_path / "site" / "acks")


@pytest.fixture
def empty(server: Server, tmp_path: Path) -> Site:
    (tmp_path / "workspace").mkdir()
    return Site(server, tmp_path / "workspace", tmp_path / "acks")


# --- kill, recover, check


@pytest.mark.parametrize("point", PUBLISH)
def test_a_kill_while_publishing_ends_in_agreement(site: Site, point: str) -> None:
    assert site.run("publish", "New.", f"{point}=kill") == KILLED
    answer = site.recover_and_check()
    assert (b"New." in site.file.read_bytes()) == (point in WRITTEN)
    assert (answer["committed"] == 3) == (point in WRITTEN and point not in COMMITTED)
    assert site.run("publish", "Later.") == 0
    site.check()


@pytest.mark.parametrize("point", ["publish.prepared", *NEW_FILE, "publish.commit", "publish.committed"])
def test_a_kill_while_the_first_file_is_made_ends_in_agreement(empty: Site, point: str) -> None:
    assert empty.run("publish", "First.", f"{point}=kill") == KILLED
    empty.recover_and_check(mode=0o600)
    assert empty.run("publish", "Later.") == 0
    empty.check(mode=0o600)


@pytest.mark.parametrize(
    "point", ["sync.read", "sync.validated", "sync.read_again", "sync.committing", "sync.committed"]
)
def test_a_kill_while_syncing_an_edit_loses_neither_edit_nor_log(site: Site, point: str) -> None:
    edit = "Entry 0.\n§\nBy hand.\n".encode()
    site.file.write_bytes(edit)
    assert site.run("sync", failpoint=f"{point}=kill") == KILLED
    assert site.run("recover") == 0
    assert site.file.read_bytes() == edit
    assert site.run("sync") == 0
    site.check()
    assert site.file.read_bytes() == edit


@pytest.mark.parametrize("point", ["sync.read", "sync.validated", *PUBLISH[2:]])
def test_a_kill_while_fixing_an_edit_ends_in_agreement(site: Site, point: str) -> None:
    site.file.write_bytes("Entry 0.\r\n§\r\nBy hand.".encode())
    assert site.run("fix", failpoint=f"{point}=kill") == KILLED
    assert site.run("recover") == 0
    assert site.run("fix") == 0
    site.check()
    assert site.file.read_bytes() == "Entry 0.\n§\nBy hand.\n".encode()


@pytest.mark.parametrize("point", ["restore.chosen", "restore.displaced", *PUBLISH[2:]])
def test_a_kill_while_an_edit_is_discarded_never_loses_the_edit(site: Site, point: str) -> None:
    edit = b"Mine, \xff and no text."
    site.file.write_bytes(edit)
    assert site.run("discard", "1", f"{point}=kill") == KILLED
    assert site.run("recover") == 0
    assert site.file.read_bytes() == edit or edit in site.known()
    assert site.run("discard", "1") == 0
    site.check()
    assert site.file.read_bytes() == b"Entry 0.\n"
    assert edit in site.known()


@pytest.mark.parametrize("point", ["restore.chosen", *PUBLISH[2:]])
def test_a_kill_while_restoring_ends_in_agreement(site: Site, point: str) -> None:
    assert site.run("restore", "1", f"{point}=kill") == KILLED
    site.recover_and_check()
    assert site.run("restore", "1") == 0
    assert site.file.read_bytes() == b"Entry 0.\n"


@pytest.mark.parametrize("point", NEW_FILE)
def test_a_kill_while_the_file_is_rebuilt_makes_no_revision(site: Site, point: str) -> None:
    before = site.rows()
    site.file.unlink()
    assert site.run("rebuild", failpoint=f"{point}=kill") == KILLED
    assert site.run("recover") == 0
    assert site.run("rebuild") == 0
    site.check(mode=0o600)
    assert site.rows() == before


@pytest.mark.parametrize("point", ["import.read", *PUBLISH[2:]])
def test_a_kill_while_notes_are_imported_ends_in_agreement(site: Site, point: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n- One fact\n- Another fact\n")
    assert site.run("import", str(notes), f"{point}=kill") == KILLED
    site.recover_and_check()
    assert site.run("import", str(notes)) == 0
    site.check()
    assert site.file.read_text() == "Entry 0.\n§\nEntry 1.\n§\nOne fact\n§\nAnother fact\n"


@pytest.mark.parametrize("point", ["import.read", "import.displaced", *PUBLISH[2:]])
def test_a_kill_while_the_edited_file_is_imported_never_loses_the_edit(site: Site, point: str) -> None:
    edit = "Entry 0.\n§\nMine:\n- of several\n- lines\n".encode()
    site.file.write_bytes(edit)
    assert site.run("import", str(site.file), f"{point}=kill") == KILLED
    assert site.run("recover") == 0
    assert site.file.read_bytes() == edit or edit in site.known()
    assert site.run("import", str(site.file)) == 0
    site.check()
    assert site.file.read_text() == "Entry 0.\n§\nMine: of several; lines\n"
    assert edit in site.known()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE])
@pytest.mark.parametrize(
    "point", ["publish.prepared", "file.fsync_temp", "file.exchange", "file.fsync_folder", "publish.committed"]
)
def test_a_signal_that_ends_the_process_is_no_worse_than_a_kill(
    site: Site, point: str, number: signal.Signals, tmp_path: Path
) -> None:
    parked = tmp_path / "parked"
    pid = site.start("publish", "New.", f"{point}=park({parked})")
    _until(parked.exists)
    os.kill(pid, number)
    if number == signal.SIGPIPE:
        parked.unlink()  # Python ignores it: the process goes on.
        assert site.wait(pid) == 0
    else:
        assert site.wait(pid) == -number
    site.recover_and_check()


# --- kill, kill the recovery, recover, check

UNDO = ["recover.locked", "recover.decided", "recover.abandoned", "recover.cleaned"]
REDO = ["recover.locked", "recover.decided", *FILE_STEPS, "recover.redone", "publish.committing", "recover.committed",
        "file.unlink", "recover.cleaned"]  # fmt: skip


@pytest.mark.parametrize("point", [*UNDO, "file.unlink"])
def test_a_kill_of_the_recovery_of_an_unwritten_revision_is_recovered(site: Site, point: str) -> None:
    assert site.run("publish", "New.", "file.exchange=kill") == KILLED
    assert site.run("recover", failpoint=f"{point}=kill") == KILLED
    site.recover_and_check()
    assert b"New." not in site.file.read_bytes()


@pytest.mark.parametrize("point", REDO)
def test_a_kill_of_the_recovery_of_a_written_revision_is_recovered(site: Site, point: str) -> None:
    assert site.run("publish", "New.", "file.fsync_folder=kill") == KILLED
    assert site.run("recover", failpoint=f"{point}=kill") == KILLED
    site.recover_and_check()
    assert b"New." in site.file.read_bytes()


# --- another process, an editor


@pytest.mark.parametrize("point", ["publish.prepared", "file.fsync_folder", "publish.committed"])
def test_a_recovery_never_disturbs_a_live_commit_and_takes_over_a_dead_one(
    site: Site, point: str, tmp_path: Path
) -> None:
    parked = tmp_path / "parked"
    live = site.start("publish", "New.", f"{point}=park({parked})")
    _until(parked.exists)
    second = site.start("recover")
    time.sleep(0.1)
    assert len(site.answers()) == 2, "the second process waits for the lock"
    os.kill(live, signal.SIGKILL)
    assert site.wait(live) == KILLED
    assert site.wait(second) == 0
    site.check()
    site.recover_and_check()


@pytest.mark.parametrize("editor", ["in place", "by rename"])
def test_an_edit_in_the_last_microsecond_before_a_kill_becomes_a_displaced_revision(
    site: Site, editor: str, tmp_path: Path
) -> None:
    parked, edit = tmp_path / "parked", b"Saved in the last microsecond."
    live = site.start("publish", "New.", f"file.exchange=park({parked});file.look_back=kill")
    _until(parked.exists)
    _save(site.file, edit, editor)
    parked.unlink()
    assert site.wait(live) == KILLED
    answer = site.recover_and_check()
    assert (answer["committed"], answer["displaced"]) == (3, [4])
    assert edit in site.known()


@pytest.mark.parametrize("point", ["recover.displaced", "recover.committed", "file.exchange", "file.unlink"])
def test_displaced_bytes_survive_a_kill_of_the_recovery(site: Site, point: str, tmp_path: Path) -> None:
    parked, edit = tmp_path / "parked", b"Saved in the last microsecond."
    live = site.start("publish", "New.", f"file.exchange=park({parked});file.look_back=kill")
    _until(parked.exists)
    _save(site.file, edit, "by rename")
    parked.unlink()
    assert site.wait(live) == KILLED
    assert site.run("recover", failpoint=f"{point}=kill") == KILLED
    site.recover_and_check()
    assert edit in site.known()
    kinds = [facts["kind"] for _, topic, facts, _ in site.rows() if topic == "RevisionPrepared"]
    assert kinds.count("displaced") == 1


def test_an_edit_while_a_dead_process_left_a_revision_prepared_is_drift_and_stays(site: Site) -> None:
    assert site.run("publish", "New.", "file.fsync_folder=kill") == KILLED
    site.file.write_bytes(b"Edited after the crash.\n")
    assert site.run("recover") == 0
    assert site.file.read_bytes() == b"Edited after the crash.\n"
    site.check(drift=True)


def test_writers_in_several_processes_lose_no_update(empty: Site) -> None:
    pids = [empty.start("publish", f"Writer {writer}, fact {{number}}.", times=12) for writer in range(3)]
    assert [empty.wait(pid) for pid in pids] == [0, 0, 0]
    texts = {answer["text"] for answer in empty.answers()}
    assert len(texts) == 36
    assert set(empty.file.read_text().removesuffix("\n").split(SEPARATOR)) == texts
    empty.check(mode=0o600)


@pytest.mark.parametrize("editor", ["in place", "by rename"])
def test_a_person_who_saves_while_the_agent_writes_loses_nothing(site: Site, editor: str) -> None:
    """Whatever the moment, a save is in the file or in the log at the end (M23, M24)."""
    for number in range(12):
        pid = site.start("publish", f"Fact {number} {{number}}.", times=3)
        time.sleep(0.003 * (number % 7))
        edit = f"Saved by hand, number {number}.\n".encode()
        _save(site.file, edit, editor)
        assert site.wait(pid) == 0
        assert site.run("recover") == 0
        assert site.run("sync") == 0
        assert edit in site.known()
    site.check(mode=site.file.stat().st_mode & 0o777)


def _save(path: Path, data: bytes, editor: str) -> None:
    if editor == "in place":
        with path.open("r+b") as file:
            file.write(data)
            file.truncate()
        return
    temp = path.parent / "editor-save"
    temp.write_bytes(data)
    temp.chmod(0o640)
    temp.replace(path)


def _until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)
