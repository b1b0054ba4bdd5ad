"""Candidates, revisions and the desired file, told by small histories (D3-D9, D13)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from histories import Book

from minutebook.domain.catalogue import EntryFact
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections import candidates, revisions
from minutebook.projections.candidates import Candidates
from minutebook.projections.memory_file import MemoryFile, desired
from minutebook.projections.revisions import Revisions

Reading = Callable[[str], AbstractContextManager[tuple[Any, Any]]]


@pytest.fixture
def projections(database: Database) -> Projections:
    return Projections(Log(database), [Candidates, Revisions, MemoryFile])


@pytest.fixture
def book(projections: Projections) -> Book:
    return Book(projections.log)


@pytest.fixture
def reading(projections: Projections) -> Reading:
    return projections.reading


def fact(entry: str, since: int = 1, **more: Any) -> EntryFact:
    return EntryFact(entry=entry, since=since, **more)


# --- candidates


def test_pending_is_what_was_admitted_or_approved_in_that_order(book: Book, reading: Reading) -> None:
    late = book.propose("quarantined")
    first = book.propose("admitted")
    for status in ("proposed", "declined", "withdrawn"):
        book.propose(status)
    book.settle(late, "approved")
    with reading("candidates") as (view, connection):
        assert [row.candidate for row in candidates.pending(view, connection, "local")] == [first, late]
        assert candidates.quarantined(view, connection, "local") == []
        assert candidates.counts(view, connection, "local") == {
            "approved": 1, "admitted": 1, "proposed": 1, "declined": 1, "withdrawn": 1,
        }  # fmt: skip
        assert candidates.pending(view, connection, "elsewhere") == []


def test_failed_jobs_are_counted_on_their_inputs_until_one_is_set_aside(book: Book, reading: Reading) -> None:
    one, other = book.propose(), book.propose()
    book.fail_job([one, other])
    book.fail_job([one], rejected=True)
    with reading("candidates") as (view, connection):
        rows = {row.candidate: row for row in candidates.pending(view, connection, "local")}
        assert (rows[one].attempts, rows[one].last_error) == (2, "shrink")
        assert (rows[other].attempts, rows[other].last_error) == (1, "OSError")
        failed = candidates.failures(view, connection, "local")
        assert [(row.outcome, row.error) for row in failed] == [("rejected", "shrink"), ("failed", "OSError")]
    # set aside, it holds nobody up; approved late, it starts afresh (D4)
    book.settle(one, "set_aside")
    with reading("candidates") as (view, connection):
        assert [row.candidate for row in candidates.pending(view, connection, "local")] == [other]
    book.settle(one, "approved")
    with reading("candidates") as (view, connection):
        found = candidates.candidate(view, connection, "local", one)
        assert found is not None
        assert (found.status, found.attempts) == ("approved", 0)


def test_a_commit_consumes_its_inputs_and_ends_the_row_of_failures(book: Book, reading: Reading) -> None:
    name = book.propose()
    book.fail_job([name])
    entries = [(fact("e1", candidates=(name,)), "a fact")]
    book.commit(book.prepare(entries, inputs=[name]), entries, [name])
    with reading("candidates") as (view, connection):
        found = candidates.candidate(view, connection, "local", name)
        assert found is not None
        assert (found.status, found.revision, found.pending_since) == ("consumed", 1, None)
        assert candidates.failures(view, connection, "local") == []


# --- revisions


@pytest.fixture
def written(book: Book) -> Book:
    """Revisions 1 to 5: two entries, one changed and moved, an abandoned one, a displaced one, one removed."""
    one, two = (fact("e1", run="r1", session="s", messages=("m1",)), "one"), (fact("e2"), "two")
    book.commit(book.prepare([one, two]), [one, two])
    changed = (fact("e2", 2), "two, but better")
    book.commit(book.prepare([changed, one], kind="manual"), [changed, one])
    book.abandon(book.prepare([one]))
    number = book.prepare((), kind="displaced")
    book.append(book.committed(number))
    book.commit(book.prepare([one]), [one])
    return book


def test_any_revision_is_shown_with_its_entries_in_order(written: Book, reading: Reading) -> None:
    with reading("revisions") as (view, connection):
        texts = {
            number: tuple(entry.text for entry in revisions.show(view, connection, "local", number) or ())
            for number in range(1, 6)
        }
        assert texts == {1: ("one", "two"), 2: ("two, but better", "one"), 3: (), 4: (), 5: ("one",)}
        assert revisions.show(view, connection, "local", 9) is None
        current = revisions.current(view, connection, "local")
        assert current is not None
        assert (current.revision, current.parent, current.digest) == (5, 2, "digest-5")


def test_the_log_lists_what_was_committed_and_on_request_all(written: Book, reading: Reading) -> None:
    with reading("revisions") as (view, connection):
        rows = revisions.log(view, connection, "local")
        assert [(row.revision, row.kind) for row in rows] == [
            (5, "curated"), (4, "displaced"), (2, "manual"), (1, "curated"),
        ]  # fmt: skip
        assert all(row.committed_position == row.position for row in rows)
        everything = revisions.log(view, connection, "local", all=True)
        assert [(row.revision, row.status) for row in everything][2] == (3, "abandoned")
        assert revisions.prepared(view, connection, "local") == []


def test_blame_names_where_an_entry_came_from_and_history_every_form_it_had(written: Book, reading: Reading) -> None:
    with reading("revisions") as (view, connection):
        (entry,) = revisions.blame(view, connection, "local")
        assert (entry.entry, entry.since, entry.run, entry.session, entry.messages) == ("e1", 1, "r1", "s", ("m1",))
        forms = revisions.history(view, connection, "local", "e2")
        assert [(form.text, form.since, form.until) for form in forms] == [
            ("two", 1, 2), ("two, but better", 2, 5),
        ]  # fmt: skip


def test_a_difference_names_added_removed_and_changed(written: Book, reading: Reading) -> None:
    with reading("revisions") as (view, connection):
        found = revisions.diff(view, connection, "local", 1, 2)
        assert found is not None
        assert [(before.text, after.text) for before, after in found.changed] == [("two", "two, but better")]
        assert (found.added, found.removed) == ((), ())
        gone = revisions.diff(view, connection, "local", 2, 5)
        assert gone is not None
        assert [entry.entry for entry in gone.removed] == ["e2"]
        first = revisions.diff(view, connection, "local", 0, 1)
        assert first is not None
        assert [entry.entry for entry in first.added] == ["e1", "e2"]
        assert revisions.diff(view, connection, "local", 1, 99) is None


def test_memory_is_found_by_position_and_by_time(written: Book, reading: Reading) -> None:
    with reading("revisions") as (view, connection):
        for row in revisions.log(view, connection, "local"):
            if row.kind == "displaced":
                continue
            at = revisions.at_position(view, connection, "local", row.position)
            before = revisions.at_position(view, connection, "local", row.position - 1)
            assert at is not None
            assert at.revision == row.revision
            assert before is None or before.revision < row.revision
            timed = revisions.at_time(view, connection, "local", row.time)
            assert timed is not None
            assert timed.revision == row.revision


def test_an_erased_text_leaves_an_empty_entry(book: Book, projections: Projections) -> None:
    entries = [(fact("e1"), "a secret")]
    book.commit(book.prepare(entries), entries)
    with projections.database.projecting() as connection:
        connection.exec_driver_sql("INSERT INTO erased VALUES (1, 1)")
        connection.exec_driver_sql("UPDATE events SET payload = NULL, salt = NULL WHERE position = 1")
    with projections.reading("revisions") as (view, connection):
        assert [entry.text for entry in revisions.blame(view, connection, "local")] == [""]


# --- the memory file


def test_the_cursor_of_the_file_waits_for_what_it_does_not_reflect(book: Book, projections: Projections) -> None:
    def cursor() -> tuple[int, int]:
        projections.catch_up()
        (row,) = [row for row in projections.status() if row.name == "memory_file"]
        return row.cursor, row.lag

    first = book.propose("admitted")  # 1 proposed, 2 admitted
    assert cursor() == (1, 1)
    second = book.propose("quarantined")  # 3, 4: nobody waits for a quarantined one
    assert cursor() == (1, 3)
    number = book.prepare([], inputs=[first])  # 5
    book.settle(second, "approved")  # 6: approved while the file is being written
    book.commit(number, [], [first])  # 7
    assert cursor() == (5, 2)
    with projections.reading("memory_file") as (view, connection):
        row = desired(view, connection, "local")
        assert (row.revision, row.state, row.prepared_revision) == (0, "prepared", 1)
    book.abandon(book.prepare([], inputs=[second]))  # 8, 9
    assert cursor() == (5, 4)
    book.settle(second, "refused")  # 10
    assert cursor() == (10, 0)
    with projections.reading("memory_file") as (view, connection):
        row = desired(view, connection, "local")
        assert (row.revision, row.digest, row.state) == (1, "digest-1", "committed")
    assert projections.verify("memory_file").ok


def test_a_displaced_revision_is_not_what_the_file_should_hold(book: Book, projections: Projections) -> None:
    entries = [(fact("e1"), "one")]
    book.commit(book.prepare(entries), entries)
    displaced = book.prepare((), kind="displaced")
    projections.catch_up()
    book.append(book.committed(displaced))
    with projections.reading("memory_file") as (view, connection):
        assert desired(view, connection, "local").revision == 1
