"""SIGKILL of a real process at every step of publishing, syncing, restoring and recovering (D5, M09-M26, S01-S06).

After each the next start must bring file and log to agreement without losing what was acknowledged. The judge reads
SQLite and the file by itself, not through the code under test.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.sqlite_only("the steps of the file; the judge reads SQLite by itself")

HERE = Path(__file__).resolve().parent
KILLED = -signal.SIGKILL
SEPARATOR = "\n§\n"

FILE_STEPS = ["file.open_temp", "file.write_temp", "file.write_rest", "file.keep_owner", "file.keep_mode",
              "file.fsync_temp", "file.read_base", "file.set_aside", "file.replace", "file.exchange",
              "file.look_back", "file.fsync_folder", "file.check_folder"]  # fmt: skip
PUBLISH = ["publish.locked", "publish.base_read", "publish.preparing", "publish.prepared", *FILE_STEPS,
           "publish.commit", "publish.committing", "publish.committed", "file.unlink", "publish.cleaned"]  # fmt: skip
NEW_FILE = [step for step in FILE_STEPS if step not in
            {"file.keep_owner", "file.keep_mode", "file.exchange", "file.look_back"}]  # fmt: skip
WRITTEN = PUBLISH[PUBLISH.index("file.look_back") :]
COMMITTED = PUBLISH[PUBLISH.index("publish.committed") :]


class Server:
    """The fork server, as a context for the tests of this module."""

    def __init__(self) -> None:
        package = HERE.parents[1] / ".package"
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "publish_child.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(package)},
        )

    def say(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=10)
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@dataclass
class Site:
    """One workspace, its acknowledgements beside it, and an independent judge."""

    server: Server
    root: Path
    acks: Path

    @property
    def file(self) -> Path:
        return self.root / ".tinyagent" / "memory" / "MEMORY.md"

    def start(self, verb: str, argument: str = "", failpoint: str = "", times: int = 1) -> int:
        answer = self.server.say(
            root=str(self.root), acks=str(self.acks), verb=verb, argument=argument, failpoint=failpoint, times=times
        )
        pid: int = answer["pid"]
        return pid

    def wait(self, pid: int) -> int:
        status: int = self.server.say(wait=pid)["status"]
        return status

    def run(self, verb: str, argument: str = "", failpoint: str = "", times: int = 1) -> int:
        return self.wait(self.start(verb, argument, failpoint, times))

    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.acks.read_text().splitlines()] if self.acks.exists() else []

    def rows(self, *, cursor: bool = True) -> list[tuple[int, str, dict[str, Any], dict[str, Any]]]:
        connection = sqlite3.connect(self.root / ".tinyagent" / "minutebook.db")
        try:
            rows = connection.execute("SELECT position, topic, facts, payload FROM events ORDER BY position").fetchall()
            reached = connection.execute("SELECT position FROM cursors WHERE name = 'memory_file'").fetchone()
            head = connection.execute("SELECT last_id FROM log_head").fetchone()[0]
        finally:
            connection.close()
        commits = [row[0] for row in rows if row[1] == "RevisionCommitted"]
        position = reached[0] if reached else 0
        if cursor:
            assert position == (commits[-1] if commits else 0), "I4: the cursor moved with the commit"
        assert position <= head, "I4: no cursor is beyond the head"
        assert head == (rows[-1][0] if rows else 0)
        return [(p, topic, json.loads(facts), json.loads(payload or "{}")) for p, topic, facts, payload in rows]

    def known(self) -> set[bytes]:
        """Every text of the file that the log can give back, byte for byte."""
        found: set[bytes] = set()
        for _, topic, facts, payload in self.rows():
            if topic != "RevisionPrepared":
                continue
            if facts["kind"] == "displaced":
                found.add(base64.b64decode(payload["raw"]))
            else:
                found.add((SEPARATOR.join(payload["entries"]) + "\n").encode() if payload["entries"] else b"")
        return found

    def check(self, *, mode: int = 0o640, drift: bool = False, cursor: bool = True) -> None:
        rows = self.rows(cursor=cursor)
        prepared = {facts["revision"]: facts for _, topic, facts, _ in rows if topic == "RevisionPrepared"}
        committed = [facts for _, topic, facts, _ in rows if topic == "RevisionCommitted"]
        abandoned = {facts["revision"] for _, topic, facts, _ in rows if topic == "RevisionAbandoned"}
        ended = {facts["revision"] for facts in committed} | abandoned
        for answer in self.answers():
            if answer.get("revision"):
                digests = [facts["digest"] for facts in committed if facts["revision"] == answer["revision"]]
                assert digests == [answer["digest"]], "I1: acknowledged once, kept once"
        assert set(prepared) == ended, "I2: nothing stays prepared"
        assert not abandoned & {facts["revision"] for facts in committed}
        live = [facts for facts in committed if prepared[facts["revision"]]["kind"] != "displaced"]
        found = sha256(self.file.read_bytes()).hexdigest() if self.file.exists() else None
        if drift:
            last = max(p for p, topic, facts, _ in rows if topic == "RevisionCommitted")
            assert any(topic == "DriftDetected" and p > last for p, topic, _, _ in rows), "I3: drift is flagged"
        else:
            assert found == (live[-1]["digest"] if live else None), "I3: the file is the last committed revision"
        numbers = [facts["revision"] for _, topic, facts, _ in rows if topic == "RevisionPrepared"]
        assert numbers == sorted(set(numbers)), "I5: numbers strictly rise"
        names = [path.name for path in self.file.parent.glob("*")]
        assert names in (["MEMORY.md"], []), "I6: no names of ours remain"
        if self.file.exists():
            assert stat.S_IMODE(self.file.stat().st_mode) == mode, "I7: the mode is kept"

    def recover_and_check(self, **expected: Any) -> dict[str, Any]:
        assert self.run("recover") == 0
        answer = self.answers()[-1]
        assert "error" not in answer, answer
        self.check(**expected)
        before = (self.rows(), self.file.exists() and self.file.stat())
        assert self.run("recover") == 0
        after = (self.rows(), self.file.exists() and self.file.stat())
        assert before == after, "I8: a second recovery changes nothing"
        return answer


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


# --- the same through the public object, with its real projections (issue 2)

WHOLE = ["curate.leased", "curate.answered", "curate.decided", "publish.prepared", "file.read_base",
         "file.fsync_folder", "publish.committing", "publish.committed"]  # fmt: skip
STARTS = ["recover.locked", "recover.decided", "recover.committed", "recover.abandoned"]


@pytest.mark.parametrize("point", WHOLE)
def test_a_proposal_of_a_run_that_succeeded_survives_the_kill_of_its_curation(empty: Site, point: str) -> None:
    assert empty.run("book", "The build needs make 4.3 or newer.") == 0
    assert empty.run("book", "Tests run with pytest.", f"{point}=kill") == KILLED
    assert empty.run("book") == 0
    answer = empty.answers()[-1]
    assert answer["entries"] == ["The build needs make 4.3 or newer.", "Tests run with pytest."]
    assert (answer["file"], answer["pending"]) == ("clean", 0)
    empty.check(mode=0o600, cursor=False)


@pytest.mark.parametrize("point", STARTS)
def test_a_kill_of_the_start_that_recovers_is_recovered_by_the_next(empty: Site, point: str) -> None:
    first = "file.read_base" if point == "recover.abandoned" else "file.fsync_folder"
    assert empty.run("book", "One fact.", f"{first}=kill") == KILLED
    assert empty.run("book", failpoint=f"{point}=kill") == KILLED
    assert empty.run("book") == 0
    assert empty.answers()[-1]["entries"] == ["One fact."]
    empty.check(mode=0o600, cursor=False)


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
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)
