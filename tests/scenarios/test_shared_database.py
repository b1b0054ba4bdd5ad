"""Several folders on one database: one of them keeps the memory file of a workspace, the others are told so (D12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings

PATIENT = Settings(lease_seconds=300)
HASTY = Settings(lease_seconds=0.001)
FILE = ".tinyagent/memory/MEMORY.md"


class Folders:
    """Books on one database, by the name of their folder."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        self.url = url
        self.open: list[Minutebook] = []

    def __call__(self, name: str, settings: Settings = PATIENT) -> Minutebook:
        book = Minutebook.open(self.root / name, database=self.url, settings=settings, automatic=False)
        self.open.append(book)
        return book

    def file(self, name: str) -> str:
        return (self.root / name / FILE).read_text(encoding="utf-8")


@pytest.fixture
def folders(tmp_path: Path, database_url: str) -> Iterator[Folders]:
    made = Folders(tmp_path, database_url)
    yield made
    for book in made.open:
        book.close()


def remember(book: Minutebook, text: str) -> Any:
    book.memory.propose({"operation": "add", "text": text})
    return book.curate()


def test_another_folder_is_remote_reads_memory_and_changes_nothing(folders: Folders) -> None:
    one = folders("one")
    remember(one, "The port is 8080")
    two = folders("two")
    state = two.memory.status()
    assert (state.state, state.automatic_curation, str(folders.root / "one") in state.detail) == ("remote", False, True)
    assert [entry["text"] for entry in two.memory.entries()] == ["The port is 8080"]
    two.memory.propose({"operation": "add", "text": "Tea is in the kitchen"})
    for act in (two.curate, two.memory.sync, lambda: two.memory.restore(1)):
        with pytest.raises(MinutebookError) as refused:
            act()
        assert refused.value.code == "memory_remote"
    with two.session("s").run() as run:
        run.append({"role": "user", "content": "Hello"})
        assert "The port is 8080" in run.context(system="S").system
    assert not (folders.root / "two" / FILE).exists()
    assert {check["name"]: check["ok"] for check in two.verify().checks}["memory_file_on_disk"]

    assert one.curate().status == "committed"  # what was proposed in the other folder
    assert folders.file("one") == "The port is 8080\n§\nTea is in the kitchen\n"


def test_a_folder_keeps_its_file_over_a_restart_however_long_it_was_silent(folders: Folders) -> None:
    remember(folders("one", HASTY), "The port is 8080")
    folders.open.pop().close()
    assert folders("two", HASTY).memory.status().state == "remote"
    assert folders("one", HASTY).memory.status().state == "clean"


def test_a_file_whose_folder_is_gone_is_taken_over_by_a_persons_sync(folders: Folders) -> None:
    remember(folders("one", HASTY), "The port is 8080")
    two = folders("two")
    with pytest.raises(MinutebookError, check=lambda error: error.code == "memory_remote"):
        two.curate()
    assert two.memory.sync().changed is False
    assert (folders.file("two"), two.memory.status().state) == ("The port is 8080\n", "clean")
    assert folders.open[0].memory.status().state == "remote"
    remember(two, "Tea is in the kitchen")
    assert [row.kind for row in two.memory.revisions()] == ["curated", "curated"]


def test_a_stale_file_is_no_edit_when_its_folder_takes_over_again(folders: Folders) -> None:
    one, two = folders("one", HASTY), folders("two", HASTY)
    remember(one, "The port is 8080")
    two.memory.sync()
    remember(two, "Tea is in the kitchen")
    assert folders.file("one") == "The port is 8080\n"
    one.memory.sync()
    assert folders.file("one") == "The port is 8080\n§\nTea is in the kitchen\n"
    assert len(one.memory.revisions()) == 2


def test_an_edit_in_the_folder_that_takes_over_is_told_first(folders: Folders) -> None:
    one, two = folders("one", HASTY), folders("two", HASTY)
    remember(one, "The port is 8080")
    two.memory.sync()
    remember(two, "Tea is in the kitchen")
    (folders.root / "one" / FILE).write_text("By hand\n", encoding="utf-8")
    with pytest.raises(MinutebookError, check=lambda error: error.code == "memory_drift"):
        one.memory.sync()
    assert folders.file("one") == "By hand\n"
    assert one.memory.sync().changed  # the second word is a decision


def test_workspaces_of_one_database_wait_for_nobody_and_each_keeps_its_file(folders: Folders) -> None:
    """The cursor of ``memory_file`` is one for all: it waits for the slowest, and nobody waits for it (ADR 0010)."""
    slow, quick = (folders(name, Settings(workspace_id=name)) for name in ("slow", "quick"))
    slow.memory.propose({"operation": "add", "text": "The port is 8080"})
    for number in range(3):
        assert remember(quick, f"Server {number} stands in rack {number}").status == "committed"
    assert (quick.memory.status().state, quick.memory.status().pending) == ("clean", 0)
    assert quick.verify().ok
    lag = {row["name"]: row["lag"] for row in quick.projections.list()}
    assert lag["memory_file"] > 0
    slow.curate()
    assert {row["name"]: row["lag"] for row in quick.projections.list()}["memory_file"] == 0
    assert (len(slow.memory.entries()), len(quick.memory.entries())) == (1, 3)
