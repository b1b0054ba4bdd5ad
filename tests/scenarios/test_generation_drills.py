"""A generation under a lease: owners that are killed, or stopped and wake up late, at each step (D15, M04-M22).

Real processes on both databases. A stopped owner is stopped by SIGSTOP; that its time ran out is said by the clock of
the database, which the test moves by hand. Whatever happens: nothing half done, nothing twice, and the status says why.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, Server, Site
from sqlalchemy import text
from stores import outside

from minutebook import Minutebook
from minutebook.domain.errors import MemoryFault
from minutebook.infrastructure.work import claims
from minutebook.infrastructure.work.curation_lease import require_lease_now

PATIENCE_SECONDS = 60.0
EVERY_STEP = bool(os.environ.get("MINUTEBOOK_TEST_EVERY_STEP"))
"""Set by ``make drill-memory``: the suite itself stops at the steps that tell most."""


def some(always: tuple[str, ...], besides: tuple[str, ...]) -> tuple[str, ...]:
    return (*always, *besides) if EVERY_STEP else always


FACT = "the build needs make 4.3 or newer."


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def site(server: Server, tmp_path: Path) -> Site:
    """A workspace in which a user said one thing worth keeping."""
    (tmp_path / "workspace").mkdir()
    made = Site(server, tmp_path / "workspace", tmp_path / "acks")
    with Minutebook.open(made.root, automatic=False) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": f"Please remember that {FACT}"})
    return made


def wait_for(state: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not state():
        assert time.monotonic() < deadline, "the state that was waited for never came"
        time.sleep(0.01)


class Stopped:
    """A process that was stopped at a failpoint."""

    def __init__(self, site: Site, point: str, mark: Path, argument: str = "") -> None:
        self.site = site
        self.pid = site.start("curate", argument, f"{point}=park({mark}):1")
        wait_for(mark.exists)
        os.kill(self.pid, signal.SIGSTOP)
        wait_for(lambda: self._state() == "T")
        mark.unlink()

    def _state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def wake(self) -> dict[str, Any]:
        os.kill(self.pid, signal.SIGCONT)
        assert self.site.wait(self.pid) == 0
        return next(answer for answer in self.site.answers() if answer.get("pid") == self.pid)


def time_passes(site: Site) -> None:
    """The lease of the curation runs out."""
    with outside(site.root) as connection:
        changed = connection.execute(text("UPDATE leases SET expires = '2000-01-01' WHERE name LIKE 'curate:%'"))
        assert changed.rowcount == 1


def committed(site: Site) -> list[int]:
    return [facts["revision"] for _, topic, facts, _ in site.rows(cursor=False) if topic == "RevisionCommitted"]


def said(site: Site) -> tuple[list[str], str | None]:
    with Minutebook.open(site.root, automatic=False) as book:
        assert book.verify().ok
        return [entry.text for entry in book.memory.entries()], book.memory.status().last_error


# --- an owner that is killed

KILLS = some(
    ("evidence.promoting", "curate.decided", "publish.prepared"),
    ("evidence.read", "curate.leased", "curate.answered", "publish.locked", "publish.preparing", "file.fsync_temp",
     "file.fsync_folder", "publish.committing", "publish.committed"),
)  # fmt: skip


@pytest.mark.parametrize("point", KILLS)
def test_an_owner_that_is_killed_leaves_one_packet_and_one_entry(site: Site, point: str) -> None:
    assert site.run("curate", "", f"{point}=kill") == KILLED
    assert site.run("curate") == 0
    assert said(site) == ([FACT], None)
    topics = [topic for _, topic, _, _ in site.rows(cursor=False)]
    assert [topics.count(name) for name in ("EvidenceCollected", "ClaimPromoted", "CandidateAdmitted")] == [1, 1, 1]
    site.check(mode=0o600, cursor=False)


def test_a_person_who_is_killed_while_forgetting_has_forgotten_nothing_or_all(site: Site) -> None:
    assert site.run("curate") == 0
    assert site.run("curate", "make 4.3", "forget.decided=kill") == KILLED
    with Minutebook.open(site.root, automatic=False) as book:
        assert book.memory.forgotten() == []
        assert book.memory.forget("make 4.3")["status"] == "admitted"
        book.curate()
    assert said(site) == ([], None)


# --- an owner that is stopped and wakes up late

BEFORE = some(("evidence.promoting", "curate.decided"), ("curate.leased", "curate.answered"))


@pytest.mark.parametrize("point", BEFORE)
def test_an_owner_that_wakes_up_late_changes_nothing(site: Site, point: str, tmp_path: Path) -> None:
    owner = Stopped(site, point, tmp_path / "mark")
    time_passes(site)
    assert site.run("curate") == 0
    assert site.answers()[-1]["status"] == "committed"
    before = site.rows(cursor=False), site.file.read_bytes()

    answer = owner.wake()

    assert answer["status"] in ("nothing", "refused")
    assert committed(site) == [1]
    assert site.file.read_bytes() == before[1]
    after = site.rows(cursor=False)
    assert after[: len(before[0])] == before[0]
    told = [(topic, facts.get("error")) for _, topic, facts, _ in after[len(before[0]) :]]
    lost = answer["error"] == "curation_lease_lost"
    assert told == ([("CurationFailed", "curation_lease_lost")] if lost else [])
    entries, why = said(site)
    assert entries == [FACT]
    assert ("curation_lease_lost" in (why or "")) == lost
    site.check(mode=0o600, cursor=False)


HOLDING = some(("publish.prepared",), ("publish.locked", "publish.base_read"))


@pytest.mark.parametrize("point", HOLDING)
def test_an_owner_that_loses_its_lease_with_the_file_in_hand_does_not_write(
    site: Site, point: str, tmp_path: Path
) -> None:
    owner = Stopped(site, point, tmp_path / "mark")
    time_passes(site)
    assert site.run("curate") == 0
    assert site.answers()[-1]["error"] == "memory_locked"
    assert committed(site) == []

    answer = owner.wake()

    assert answer["error"] == "curation_lease_lost"
    assert committed(site) == []
    assert not site.file.exists()
    entries, why = said(site)
    assert (entries, "curation_lease_lost" in (why or "")) == ([], True)

    assert site.run("curate") == 0
    assert said(site) == ([FACT], None)
    site.check(mode=0o600, cursor=False)


@pytest.mark.parametrize("point", HOLDING)
def test_a_lease_that_ran_out_is_lost_though_nobody_took_it(site: Site, point: str, tmp_path: Path) -> None:
    owner = Stopped(site, point, tmp_path / "mark")
    time_passes(site)
    assert owner.wake()["error"] == "curation_lease_lost"
    assert committed(site) == []
    with Minutebook.open(site.root, automatic=False) as book:
        assert "curation_lease_lost" in book.memory.status().last_error
        assert book.memory.status().pending == 1


AFTER = some(("file.fsync_folder",), ("file.read_base", "publish.commit", "publish.committed"))


@pytest.mark.parametrize("point", AFTER)
def test_an_owner_that_is_stopped_while_it_writes_ends_what_it_began(site: Site, point: str, tmp_path: Path) -> None:
    owner = Stopped(site, point, tmp_path / "mark")
    time_passes(site)
    assert site.run("curate") == 0
    owner.wake()
    assert committed(site) == [1]
    assert said(site)[0] == [FACT]
    site.check(mode=0o600, cursor=False)


def test_an_owner_whose_time_still_runs_is_waited_for_and_ends(site: Site, tmp_path: Path) -> None:
    owner = Stopped(site, "curate.decided", tmp_path / "mark")
    with Minutebook.open(site.root, automatic=False) as book:
        assert book.memory.status().curating == {"pid": owner.pid, "host": book._runtime.owner.host, "state": "running"}
    assert owner.wake()["status"] == "committed"
    with Minutebook.open(site.root, automatic=False) as book:
        assert book.memory.status().curating is None


def test_the_status_names_an_owner_that_died_with_the_lease(site: Site) -> None:
    assert site.run("curate", "", "curate.decided=kill") == KILLED
    with Minutebook.open(site.root, automatic=False) as book:
        assert book.memory.status().curating["state"] == "dead"
        assert book.curate().status == "committed"
        assert book.memory.status().curating is None


# --- the clock of the database


def test_a_lease_ends_by_the_clock_of_the_database(site: Site) -> None:
    with Minutebook.open(site.root, automatic=False) as book:
        lease = claims.take(book._runtime, f"curate:{book._runtime.workspace}", seconds=0.2)
        assert lease is not None

        def over() -> bool:
            with book._runtime.log.database.reading() as connection:
                return not lease.in_force(connection)

        wait_for(over)
        with pytest.raises(MemoryFault) as lost:
            require_lease_now(book._runtime, lease)
        assert lost.value.code == "curation_lease_lost"
        with book._runtime.log.database.reading() as connection:
            assert lease.held(connection), "nobody has taken it"


def test_a_generation_that_is_not_what_was_decided_is_abandoned(site: Site) -> None:
    """A revision whose stored entries are other than those to be written: nothing is written, nothing committed."""
    with Minutebook.open(site.root, automatic=False) as book:
        ledger = book._publisher.ledger
        assert book.curate().status == "committed"
        revision = ledger.document().current
        assert revision is not None
        ledger.require_valid(revision, site.file.read_bytes())
        for wrong in (site.file.read_bytes() + b"more\n", b""):
            with pytest.raises(MemoryFault) as refused:
                ledger.require_valid(revision, wrong)
            assert refused.value.code == "generation_invalid"
