"""An erasure that is killed, held up or asked for twice ends in one receipt, given only when it is true (E8)."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from canaries import places
from killing import KILLED, Server, Site
from stores import outside

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store import rebuild
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.worker import Worker

HASTY = Settings(context_window=8_000, curation_automatic=False, lock_timeout_seconds=0.3)
LONG = " ".join(f"unit_{number:04d} was compiled without a warning" for number in range(20))
WORD = "canary-of-the-drill-zq7xk"
ENTRY = f"The vault of {WORD} is closed on Mondays."
REST = "Releases are cut on Thursdays, whatever happens."
FILE = Path(".tinyagent") / "memory" / "MEMORY.md"


def plant(root: Path) -> str:
    """A message, a summary of it, an entry that came of it and one that did not. Returns the id of the entry."""
    with Minutebook.open(root, settings=HASTY, automatic=False) as book:
        with book.session("other").run() as run:
            run.append({"role": "user", "content": "Remember when releases are cut."})
            run.memory({"operation": "add", "text": REST})
        session = book.session("s")
        with session.run() as run:
            run.append([{"role": "user", "content": f"Part {number}. {LONG}"} for number in range(4)])
            run.append({"role": "user", "content": f"Mind {WORD}, please."}, id="secret")
            run.append([{"role": "assistant", "content": f"Done {number}. {LONG}"} for number in range(20)])
        with session.run() as run:
            run.append({"role": "user", "content": "Go on."}, id="later")
            run.context()
            run.memory({"operation": "add", "text": ENTRY})
        assert any(row["status"] == "committed" for row in session.compactions())
        assert book.curate()["status"] == "committed"
        return str(next(entry["id"] for entry in book.memory.entries() if WORD in entry["text"]))


def types(book: Minutebook) -> list[str]:
    return [event["type"] for event in book.log()]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def site(server: Server, place: Path, tmp_path: Path) -> Site:
    plant(place)
    return Site(server, place, tmp_path / "acks")


STEPS = ["erase.requested", "erase.published", "erase.erasing", "erase.erased", "erase.undone", "erase.projected",
         "erase.vacuum", "erase.truncate", "erase.wiped", "erase.completed"]  # fmt: skip
FILE_STEPS = ["publish.prepared", "file.replace", "file.fsync_folder", "publish.committing", "file.unlink"]


@pytest.mark.parametrize("point", STEPS)
def test_the_next_start_goes_on_where_an_erasure_was_killed(site: Site, point: str) -> None:
    killed_and_gone_on_with(site, point)


@pytest.mark.sqlite_only("the steps of the file are the same on every database")
@pytest.mark.parametrize("point", FILE_STEPS)
def test_the_next_start_goes_on_where_the_new_revision_was_killed(site: Site, point: str) -> None:
    killed_and_gone_on_with(site, point)


def killed_and_gone_on_with(site: Site, point: str) -> None:
    # given a session whose erasure is killed at a step, and so is the start that goes on with it, where it gets there
    assert site.run("erase", "session:s", f"{point}=kill") == KILLED
    assert site.run("erase", failpoint=f"{point}=kill") in (0, KILLED)
    # when somebody opens the book
    assert site.run("erase") == 0
    # then all is done, once
    assert site.answers()[-1]["unfinished"] == []
    assert places(site.root, WORD) == []
    with Minutebook.open(site.root, settings=HASTY, automatic=False) as book:
        assert types(book).count("ErasureRequested") == types(book).count("ErasureCompleted") == 1
        assert [entry["text"] for entry in book.memory.entries()] == [REST]
        assert (site.root / FILE).read_text() == REST + "\n"
        report = book.verify()
        assert report["ok"], report["checks"]
        receipt = book.erasures.list()[0]["receipt"]
        assert receipt["memory_revision"] == book.memory.revisions()[-1]["revision"]
        assert len(receipt["undone"]) == 1
    assert site.run("erase") == 0
    assert site.answers()[-1]["unfinished"] == []


def test_an_erasure_that_is_killed_before_its_request_never_was(site: Site) -> None:
    assert site.run("erase", "session:s", "erase.planned=kill") == KILLED
    with Minutebook.open(site.root, settings=HASTY, automatic=False) as book:
        assert book.erasures.list() == []
        assert book.erase("session", "s", reason="a drill")["receipt"]
    assert places(site.root, WORD) == []


# --- somebody still looks


def test_no_receipt_is_given_while_a_reader_can_still_see_the_text(place: Path, where: str, command: Any) -> None:
    plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        with outside(place) as reader:
            reader.exec_driver_sql("BEGIN" if where == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ")
            reader.exec_driver_sql("SELECT count(*) FROM events").one()

            done = book.erase("session", "s", reason="a drill")

            assert done["receipt"] is None
            assert done["waits_for"]["code"] == "erasure_held_up"
            assert [row["waits_for"]["code"] for row in book.status()["erasures"]] == ["erasure_held_up"]
            assert "ErasureCompleted" not in types(book)
            assert {row["state"] for row in book.find_session("s").messages()} == {"erased"}
            if where == "sqlite":
                assert places(place, WORD) != [], "the old pages are still there, and it says so"
            assert [one["receipt"] for one in book.erasures.finish()] == [None]
            told = command("erase", "list", "--json").answer
            assert told[0]["status"] == "unfinished"
            assert told[0]["waits_for"]["code"] == "erasure_held_up"
            assert "erasure_held_up" in command("status").out
            reader.exec_driver_sql("ROLLBACK")
        assert [bool(one["receipt"]) for one in book.erasures.finish()] == [True]
        assert book.erasures.finish() == []
        assert book.status()["erasures"] == []
    assert places(place, WORD) == []


def test_a_start_waits_for_no_reader_and_says_what_is_left(site: Site, where: str, command: Any) -> None:
    assert site.run("erase", "session:s", "erase.projected=kill") == KILLED
    with outside(site.root) as reader:
        reader.exec_driver_sql("BEGIN" if where == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.exec_driver_sql("SELECT count(*) FROM events").one()
        if where == "sqlite":
            # Something must stand in the log of the database after the snapshot, or there is nothing to hold up.
            with Minutebook.open(site.root, settings=HASTY, automatic=False) as book:
                book.session("more")
        with Minutebook.open(site.root, settings=HASTY, automatic=False) as book:
            waiting = book.status()["erasures"]
            assert where == "postgres" or [row["waits_for"]["code"] for row in waiting] == ["erasure_held_up"]
        reader.exec_driver_sql("ROLLBACK")
    assert command("erase", "finish").code == 0
    assert places(site.root, WORD) == []


# --- twice, and at once


def test_two_who_erase_the_same_at_once_get_one_receipt(place: Path) -> None:
    plant(place)
    patient = Settings(curation_automatic=False, lock_timeout_seconds=30)
    barrier = threading.Barrier(2)

    def erase(_: int) -> str:
        with Minutebook.open(place, settings=patient, automatic=False) as book:
            barrier.wait(timeout=30)
            try:
                return "done" if book.erase("session", "s", reason="a drill")["receipt"] else "waits"
            except MinutebookError as error:
                return error.code

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(erase, range(2)))
    # Each book holds the write-ahead log of the other for no longer than a statement takes.
    assert said in (["already_erased", "done"], ["done", "waits"]), said
    with Minutebook.open(place, settings=patient, automatic=False) as book:
        book.erasures.finish()
        assert types(book).count("ErasureCompleted") == 1
        assert book.verify()["ok"]
    assert places(place, WORD) == []


def test_a_summary_that_is_under_way_does_not_bring_the_text_back(place: Path) -> None:
    plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as eraser:
        seen: list[bool] = []

        def slow(request: Any) -> str:
            seen.append(WORD in request.prompt)
            eraser.erase("message", "secret", reason="meanwhile")
            return f"It was about {WORD} all the time."

        with Minutebook.open(place, settings=HASTY, automatic=False, summarizer=slow) as book:
            answer = book.find_session("s").compact(from_originals=True)
        assert seen[0] is True
        assert answer["status"] != "committed"
        assert [row["state"] for row in eraser.find_session("s").messages() if row["id"] == "secret"] == ["erased"]
        left = eraser.erase("entry", eraser.memory.entries()[-1]["id"], reason="the entry too") if any(
            WORD in entry["text"] for entry in eraser.memory.entries()) else None  # fmt: skip
        assert left is None or left["receipt"]
    assert places(place, WORD) == []


def test_a_curation_that_is_under_way_does_not_bring_the_text_back(place: Path) -> None:
    entry = plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as eraser:
        eraser.memory.propose({"operation": "add", "text": "Tea is in the kitchen, as ever."})

        def slow(request: Any) -> str:
            if WORD in request.prompt:
                eraser.erase("session", "s", reason="meanwhile")
                eraser.erase("entry", entry, reason="meanwhile", everywhere=True) if entry in {
                    one["id"] for one in eraser.memory.entries()} else None  # fmt: skip
                return json.dumps([ENTRY, "and a number", 7])
            return json.dumps([one.text for one in request.entries] + ["Tea is in the kitchen, as ever."])

        with Minutebook.open(place, settings=HASTY, automatic=False, curator=slow) as book:
            book.curate()
            book.curate()
        assert [one["text"] for one in eraser.memory.entries()] == [REST, "Tea is in the kitchen, as ever."]
    assert places(place, WORD) == []


# --- what is refused, with nothing half done


def test_what_cannot_be_erased_is_refused_with_a_code(place: Path, command: Any) -> None:
    entry = plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        asked: list[tuple[str, Any, str]] = [
            ("session", "nobody", "unknown_session"),
            ("message", "nothing", "unknown_message"),
            ("message", 999_999, "unknown_position"),
            ("message", 1, "unknown_message"),
            ("entry", "e0000000000", "unknown_entry"),
            ("cookie", "x", "bad_option"),
            ("message", "a\0b", "unknown_message"),
            ("message", "\ud800", "unknown_message"),
            ("message", None, "bad_value"),
            ("session", 3.5, "bad_value"),
            ("entry", True, "bad_value"),
            ("session", "../up", "bad_identifier"),
        ]
        for kind, id, code in asked:
            with pytest.raises(MinutebookError) as refused:
                book.erase(kind, id, reason="no reason")
            assert refused.value.code == code, (kind, id)
        with pytest.raises(MinutebookError) as unsaid:
            book.erase("session", "s", reason=" ")
        assert unsaid.value.code == "bad_reason"
        run = book.session("s").run()
        with pytest.raises(MinutebookError) as alive:
            book.erase("session", "s", reason="while it runs")
        assert alive.value.code == "run_open"
        # One message of an open run can go: the run shows a tombstone from its next request on.
        run.append({"role": "user", "content": "This one must go."}, id="slip")
        assert book.erase("message", "slip", reason="a slip")["receipt"]
        assert "This one must go." not in str(run.context().to_openai())
        run.succeed()
        (place / FILE).write_text((place / FILE).read_text() + "§\nA line by hand.\n")
        with pytest.raises(MinutebookError) as drifted:
            book.erase("entry", entry, reason="while it is edited")
        assert drifted.value.code == "memory_drift"
        assert [row["id"] for row in book.erasures.list()] == ["slip"]
    with Minutebook.open(place, read_only=True) as book:
        with pytest.raises(MinutebookError) as read_only:
            book.erase("session", "s", reason="by a reader")
        assert read_only.value.code == "read_only"
        assert book.erase("session", "s", dry_run=True)["erased"]["messages"] > 10
    assert command("erase", "session", "s").code == 2
    assert command("erase", "session", "nobody", "--reason", "x", "--json").refusal["error"] == "unknown_session"


def test_an_edit_between_request_and_file_is_waited_for_and_everything_else_goes(site: Site) -> None:
    assert site.run("erase", "session:s", "erase.requested=kill") == KILLED
    file = site.root / FILE
    file.write_text(file.read_text() + "§\nA line by hand.\n")
    with Minutebook.open(site.root, settings=HASTY, automatic=False) as book:
        assert [row["waits_for"]["code"] for row in book.status()["erasures"]] == ["memory_drift"]
        assert {row["state"] for row in book.find_session("s").messages()} == {"erased"}
        assert book.memory.entries()[-1]["text"] == ENTRY, "memory is what the file was"
        book.memory.sync()
        assert [bool(one["receipt"]) for one in book.erasures.finish()] == [True]
        assert [entry["text"] for entry in book.memory.entries()] == [REST, "A line by hand."]
        assert book.verify()["ok"]
    assert places(site.root, WORD) == []


# --- not more than was asked for


def test_another_workspace_in_the_same_database_keeps_all_it_has(tmp_path: Path, where: str) -> None:
    url = os.environ.get("MINUTEBOOK_DATABASE") or f"sqlite:///{tmp_path / 'shared.db'}"
    books = []
    for name in ("a", "b"):
        settings = Settings(workspace_id=name, curation_automatic=False)
        (tmp_path / name).mkdir()
        book = Minutebook.open(tmp_path / name, database=url, settings=settings, automatic=False)
        with book.session("s").run() as run:
            run.append({"role": "user", "content": f"The word is zq7xk-{name}-word."}, id="m")
            run.memory({"operation": "add", "text": f"The word to know is zq7xk-{name}-word."})
        book.curate()
        books.append(book)
    a, b = books
    head = a.head
    done = a.erase("session", "s", reason="only here")
    assert done["receipt"]
    assert [row["state"] for row in b.find_session("s").messages()] == ["original"]
    assert [entry["text"] for entry in b.memory.entries()] == ["The word to know is zq7xk-b-word."]
    assert b.erasures.list() == []
    assert all(event["position"] <= head for event in b.log())
    assert places(tmp_path, "zq7xk-a-word") == []
    assert places(tmp_path, "zq7xk-b-word") != []
    with pytest.raises(MinutebookError) as foreign:
        a.erase("message", b.find_session("s").messages()[0]["position"], reason="of another")
    assert foreign.value.code == "unknown_position"
    assert a.verify()["ok"]
    for book in books:
        book.close()


# --- elsewhere: an export, an import, the same transcript


@pytest.mark.sqlite_only("a copy needs a database of its own")
def test_an_export_of_an_erased_book_is_good_and_comes_in_equal(place: Path, tmp_path: Path, command: Any) -> None:
    from minutebook.verify import verify

    plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        book.erase("session", "s", reason="a drill")
        wanted = list(book.log())
    file = tmp_path / "log.jsonl"
    assert command("export", "--log", "--to", file).code == 0
    assert WORD not in file.read_text()
    with file.open("rb") as lines:
        report = verify(lines)
    assert report.ok
    assert report.erased > 15
    other = tmp_path / "other"
    assert command("import", file, workspace=other).code == 0
    with Minutebook.open(other, settings=HASTY, automatic=False) as book:
        assert list(book.log()) == wanted
        assert book.verify()["ok"]
        assert book.erasures.list()[0]["status"] == "completed"
        assert [entry["text"] for entry in book.memory.entries()] == [REST]


def test_the_same_transcript_again_brings_nothing_back(place: Path) -> None:
    lines = [{"role": "user", "content": f"The word is {WORD}."}, {"role": "assistant", "content": "I see it."}]
    data = "\n".join(map(json.dumps, lines)).encode()
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        session = book.import_transcript(data)["session"]
        book.erase("session", session, reason="a drill")
        assert book.import_transcript(data)["messages"] == 0
        longer = data + b"\n" + json.dumps({"role": "user", "content": "And now?"}).encode()
        assert book.import_transcript(longer)["messages"] == 1
    assert places(place, WORD) == []


# --- tables of others


PLUG_IN = """
from minutebook import Projection
from sqlalchemy import Column, Integer, Table, Text, insert

class Notes(Projection):
    name = "notes"
    version = 1
    event_types = frozenset({"MessageRecorded"})

    def tables(self, metadata):
        position = Column("position", Integer, primary_key=True, autoincrement=False)
        self.notes = Table("notes", metadata, position, Column("text", Text))

    def apply(self, events, connection):
        rows = [{"position": e.position, "text": None if e.payload is None else e.payload.decode()} for e in events]
        if rows:
            connection.execute(insert(self.notes), rows)

class Fussy(Notes):
    name = "fussy"

    def tables(self, metadata):
        position = Column("position", Integer, primary_key=True, autoincrement=False)
        self.notes = Table("fussy", metadata, position, Column("text", Text))

    def apply(self, events, connection):
        for event in events:
            if b"zq7xk" in (event.payload or b""):
                raise ValueError(f"cannot bear {event.payload.decode()}")
        super().apply(events, connection)
"""


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A package with two projections, as an installed one is seen."""
    site = tmp_path / "site"
    info = site / "noter-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "noter.py").write_text(PLUG_IN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[minutebook.projections]\nnotes = noter:Notes\nfussy = noter:Fussy\n")
    monkeypatch.syspath_prepend(str(site))
    return Settings(projections=("notes", "fussy"), curation_automatic=False)


def test_what_plug_ins_kept_goes_too_and_so_do_the_words_of_their_errors(place: Path, plugged: Settings) -> None:
    plant(place)
    with Minutebook.open(place, settings=plugged, automatic=False) as book:
        book._runtime.projections.catch_up("notes")
        book._runtime.projections.catch_up("fussy")
        halted = next(row for row in book.projections.list() if row["name"] == "fussy")
        assert WORD in halted["error"]
        assert any("notes" in found or "minutebook.db" in found for found in places(place, WORD))

        done = book.erase("session", "s", reason="a drill")

        assert done["receipt"]["rebuilt"] == ["evidence", "fussy", "notes", "search_index"]
        assert places(place, WORD) == []
        assert {row["name"]: row["status"] for row in book.projections.list()}["fussy"] == "live"
        assert book.verify()["ok"]


def test_a_plug_in_that_is_not_loaded_loses_its_tables_and_fills_them_again(place: Path, plugged: Settings) -> None:
    plant(place)
    with Minutebook.open(place, settings=plugged, automatic=False) as book:
        book._runtime.projections.catch_up("notes")
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        done = book.erase("session", "s", reason="a drill")
        assert done["receipt"]["rebuilt"] == ["evidence", "fussy", "notes", "search_index"]
        assert [row["name"] for row in book.projections.list() if row["name"] in ("fussy", "notes")] == []
    assert places(place, WORD) == []
    with Minutebook.open(place, settings=plugged, automatic=False) as book:
        book._runtime.projections.catch_up("notes")
        assert book.verify()["ok"]


def test_a_generation_that_was_being_built_is_thrown_away(place: Path) -> None:
    plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        projections = book._runtime.projections
        bound = projections._bound["revisions"]
        _, shadow = rebuild._begin(projections, bound)
        Worker(projections.database, projections.log, shadow, projections.clock, name="revisions@building").catch_up()
        assert book.erase("session", "s", reason="a drill")["receipt"]
        assert places(place, WORD) == []
        assert book.verify()["ok"]


def test_a_file_that_somebody_laid_beside_the_database_is_named(place: Path) -> None:
    entry = plant(place)
    shutil.copy(place / FILE, place / ".tinyagent" / "copy of memory.md")
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        done = book.erase("entry", entry, reason="a drill")
        assert done["elsewhere"] == [{"what": "file", "id": ".tinyagent/copy of memory.md"}]


def test_an_error_on_the_way_leaves_it_to_the_next_finish(place: Path) -> None:
    plant(place)
    with Minutebook.open(place, settings=HASTY, automatic=False) as book:
        with armed("erase.wiped", "raise(EIO)"), pytest.raises(OSError, match="Input/output"):
            book.erase("session", "s", reason="a drill")
        assert [row["status"] for row in book.erasures.list()] == ["unfinished"]
        assert book.erase("session", "s", reason="a drill again")["receipt"]
        assert types(book).count("ErasureRequested") == 1


def test_a_folder_that_does_not_keep_the_file_erases_messages_and_leaves_memory_to_the_one_that_does(
    tmp_path: Path,
) -> None:
    url = os.environ.get("MINUTEBOOK_DATABASE") or f"sqlite:///{tmp_path / 'shared.db'}"
    team = Settings(workspace_id="team", lease_seconds=300, curation_automatic=False)
    books = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        books.append(Minutebook.open(tmp_path / name, database=url, settings=team, automatic=False))
    one, two = books
    with one.session("s").run() as run:
        run.append({"role": "user", "content": "A word that must go: early-zq7xk."}, id="early")
    one.memory.propose({"operation": "add", "text": ENTRY})
    one.curate()
    assert two.memory.status()["state"] == "remote"
    assert two.erase("message", "early", reason="from the other folder")["receipt"]
    with pytest.raises(MinutebookError) as elsewhere:
        two.erase("entry", one.memory.entries()[0]["id"], reason="from the other folder")
    assert elsewhere.value.code == "memory_remote"
    assert one.erase("entry", one.memory.entries()[0]["id"], reason="where the file is")["receipt"]
    assert places(tmp_path, WORD) == []
    assert places(tmp_path, "early-zq7xk") == []
    for book in books:
        book.close()
