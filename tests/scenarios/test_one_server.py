"""Many workspaces, folders and processes on one server: apart where they must be, together where they may (D12)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from stores import child_environment

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.work import file_owner

TEAM = Settings(workspace_id="team", lease_seconds=1.0, curation_automatic=False)


@pytest.fixture(autouse=True)
def _on_server(monkeypatch: pytest.MonkeyPatch, postgres_url: str) -> None:
    monkeypatch.setenv("MINUTEBOOK_DATABASE", postgres_url)


def remember(book: Minutebook, text: str) -> None:
    book.memory.propose({"operation": "add", "text": text})


def texts(book: Minutebook) -> list[str]:
    return [entry.text for entry in book.memory.entries()]


def memory(root: Path) -> Path:
    return root / ".tinyagent" / "memory" / "MEMORY.md"


def test_two_folders_share_a_server_and_see_nothing_of_each_other(tmp_path: Path) -> None:
    """Given the same names in two folders on one database, then no row, message or memory of one is in the other."""
    with Minutebook.open(tmp_path / "a") as one, Minutebook.open(tmp_path / "b") as two:
        for book, word in ((one, "alpha"), (two, "beta")):
            with book.session("s").run("r") as run:
                run.append({"role": "user", "content": f"{word} asks"}, id="m1")
                run.memory({"operation": "add", "text": f"The {word} build needs make 4.3."})
            assert book.curate().status == "committed"
        for book, word in ((one, "alpha"), (two, "beta")):
            assert [message["content"] for message in book.session("s").messages()] == [f"{word} asks"]
            assert texts(book) == [f"The {word} build needs make 4.3."]
            assert memory(book.workspace).read_text() == f"The {word} build needs make 4.3.\n"
            assert len(book.sessions()) == 1
            assert book.status()["messages"] == 1
            assert len(book.memory.revisions()) == 1
            assert book.verify().ok
        assert one.settings.workspace_id != two.settings.workspace_id
        # A position of the other one shows nothing of it here.
        foreign = next(event.position for event in two.log(type="MessageRecorded"))
        assert foreign not in [event.position for event in one.log()]
        for look in (one.trace, one.recall):
            with pytest.raises(MinutebookError) as caught:
                look(foreign)
            assert caught.value.code == "unknown_position"
            assert "beta" not in caught.value.message


def test_the_id_moves_with_the_folder(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path / "before", automatic=False) as book:
        book.session("s").append({"role": "user", "content": "hello"})
        remember(book, "The build needs make 4.3.")
        assert book.curate().status == "committed"
        name = book.settings.workspace_id
    file = tmp_path / "before" / ".tinyagent" / "workspace-id"
    assert file.read_text() == f"{name}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "workspace-id" in (tmp_path / "before" / ".tinyagent" / ".gitignore").read_text()
    shutil.move(tmp_path / "before", tmp_path / "after")
    with Minutebook.open(tmp_path / "after", automatic=False) as book:
        assert len(book.session("s").messages()) == 1
        # Nobody waits for the folder that is no more.
        assert texts(book) == ["The build needs make 4.3."]
        remember(book, "Releases are cut on Thursdays.")
        assert book.curate().status == "committed"
        assert book.verify().ok


@pytest.mark.parametrize("content", [b"", b"../up\n", b"\xff\xfe", b"x" * 500, b"two\nlines\n"])
def test_a_damaged_id_is_named_and_nothing_is_mixed_up(tmp_path: Path, content: bytes) -> None:
    Minutebook.open(tmp_path).close()
    (tmp_path / ".tinyagent" / "workspace-id").write_bytes(content)
    with pytest.raises(MinutebookError) as caught:
        Minutebook.open(tmp_path)
    assert caught.value.code == "bad_workspace_id"


OPENER = """
import sys
from minutebook import Minutebook
with Minutebook.open(sys.argv[1]) as book:
    book.session(sys.argv[2]).append({"role": "user", "content": sys.argv[2]})
    print(book.settings.workspace_id)
"""


def test_six_processes_open_a_new_folder_on_an_empty_server_at_once(tmp_path: Path) -> None:
    """Given no schema, no tables and no id, when all begin together, then there is one of each and nothing is lost."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(tmp_path / "w"), f"s{number}"],
            env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(6)
    ]  # fmt: skip
    ended = [(*process.communicate(timeout=300), process.returncode) for process in started]
    assert [code for _, _, code in ended] == [0] * 6, [error[-500:] for _, error, _ in ended]
    assert len({out for out, _, _ in ended}) == 1
    with Minutebook.open(tmp_path / "w", automatic=False) as book:
        assert len(book.sessions()) == 6
        assert book.verify().ok


# --- one workspace in two folders


def test_the_folder_that_writes_memory_keeps_the_file_and_it_is_remote_elsewhere(tmp_path: Path) -> None:
    long = TEAM.model_copy(update={"lease_seconds": 300.0})
    with Minutebook.open(tmp_path / "a", settings=long) as one, Minutebook.open(tmp_path / "b", settings=long) as two:
        remember(one, "The build needs make 4.3.")
        assert one.curate().status == "committed"
        assert two.memory.status().state == "remote"
        assert texts(two) == ["The build needs make 4.3."]
        remember(two, "Releases are cut on Thursdays.")
        for act in (two.curate, two.memory.sync, lambda: two.memory.restore(1)):
            with pytest.raises(MinutebookError) as caught:
                act()
            assert caught.value.code == "memory_remote"
        assert not memory(tmp_path / "b").exists()
        assert two.verify().ok
        # What was proposed there is taken in by the owner.
        assert one.curate().status == "committed"
        assert len(texts(two)) == 2


def test_an_idle_file_is_taken_over_and_brought_up_to_the_log(tmp_path: Path) -> None:
    """Given two folders that write by turns, then each finds the other's revision in its own copy and goes on."""
    with Minutebook.open(tmp_path / "a", settings=TEAM) as one, Minutebook.open(tmp_path / "b", settings=TEAM) as two:
        for number, book in enumerate((one, two, one, two), 1):
            remember(book, f"Server {number} stands in rack {number}.")
            time.sleep(1.1)
            assert book.curate().status == "committed"
            assert len(texts(book)) == number
            assert memory(book.workspace).read_text().count("\n§\n") == number - 1
            assert book.verify().ok


def test_an_edit_in_the_folder_that_takes_over_stays_and_is_drift(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path / "a", settings=TEAM) as one, Minutebook.open(tmp_path / "b", settings=TEAM) as two:
        remember(one, "The build needs make 4.3.")
        assert one.curate().status == "committed"
        memory(tmp_path / "b").parent.mkdir(parents=True)
        memory(tmp_path / "b").write_text("A person wrote this here.\n")
        time.sleep(1.1)
        remember(two, "Releases are cut on Thursdays.")
        with pytest.raises(MinutebookError) as caught:
            two.curate()
        assert caught.value.code == "memory_drift"
        assert memory(tmp_path / "b").read_text() == "A person wrote this here.\n"


def test_a_revision_that_is_being_written_elsewhere_is_not_abandoned_here(tmp_path: Path) -> None:
    """Given one folder between prepared and committed, when another opens the workspace, then it leaves that alone."""
    long = TEAM.model_copy(update={"lease_seconds": 300.0})
    with Minutebook.open(tmp_path / "a", settings=long) as one:
        remember(one, "The build needs make 4.3.")

        def meanwhile() -> None:
            with Minutebook.open(tmp_path / "b", settings=long) as two:
                assert two.memory.status().state == "remote"

        with armed("publish.prepared", meanwhile):
            assert one.curate().status == "committed"
        assert [event.type for event in one.log() if event.type.startswith("Revision")] == [
            "RevisionPrepared",
            "RevisionCommitted",
        ]


def test_another_machine_is_another_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the same path on two machines, then they are two folders."""
    long: Any = TEAM.model_copy(update={"lease_seconds": 300.0})
    with Minutebook.open(tmp_path / "a", settings=long) as one:
        remember(one, "The build needs make 4.3.")
        assert one.curate().status == "committed"
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(file_owner, "machine", lambda: "another-machine")
            with Minutebook.open(tmp_path / "a", settings=long) as two:
                assert two.memory.status().state == "remote"
        assert one.memory.status().state == "clean"
