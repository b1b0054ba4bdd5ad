"""SIGKILL of a real process at the steps of a curation, through the public object, on both databases (D5, M05-M22)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from killing import KILLED, Server, Site


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def empty(server: Server, tmp_path: Path) -> Site:
    (tmp_path / "workspace").mkdir()
    return Site(server, tmp_path / "workspace", tmp_path / "acks")


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
