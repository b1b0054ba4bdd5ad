"""The context read model told by small histories: forks, undo, attempts, what was shown (C7, C10, C11, M2, M6)."""

from __future__ import annotations

from typing import Any

import pytest
from histories import Book

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.context import Context, history, queries


@pytest.fixture
def projections(database: Database) -> Projections:
    return Projections(Log(database), [Context])


@pytest.fixture
def book(projections: Projections) -> Book:
    return Book(projections.log)


def ask(projections: Projections, query: Any, session: str, *more: Any, **named: Any) -> Any:
    with projections.reading("context") as (view, connection):
        return query(view, connection, "local", session, *more, **named)


def test_an_undo_restores_what_was_seen_and_keeps_later_messages_and_reductions(
    book: Book, projections: Projections
) -> None:
    book.open("s")
    first = book.messages("s", ["hello"] * 6)
    book.compact("s", first[1:4])
    later = book.messages("s", ["more"] * 2)
    reduced = book.reduce("s", [later[0], first[5]])
    book.undo("s")
    assert ask(projections, queries.visible, "s") == [
        *(("m", position) for position in first[:5]),
        ("r", first[5], reduced), ("r", later[0], reduced), ("m", later[1]),
    ]  # fmt: skip
    row = ask(projections, history.session, "s")
    assert row.suspended
    book.redo("s")
    (done,) = ask(projections, history.compactions, "s")
    assert (done.status, done.covers) == ("committed", tuple(first[1:4]))
    assert not ask(projections, history.session, "s").suspended


def test_compactions_stack_and_their_states_follow(book: Book, projections: Projections) -> None:
    book.open("s")
    positions = book.messages("s", ["hello"] * 9)
    book.compact("s", positions[1:3])
    book.compact("s", positions[3:5])
    at_two = projections.log.head().position

    def states(at: int | None = None) -> list[str]:
        return [row.status for row in ask(projections, history.compactions, "s", at)]

    assert states() == ["superseded", "committed"]
    book.undo("s")
    assert states() == ["committed", "undone"]
    book.compact("s", positions[5:6])
    assert states() == ["superseded", "undone", "committed"]
    assert ask(projections, queries.epoch, "s").redo == ()
    assert states(at_two) == ["superseded", "committed"]


def test_a_fork_shares_the_past_and_goes_its_own_way(book: Book, projections: Projections) -> None:
    book.open("s")
    positions = book.messages("s", ["hello"] * 5)
    then = book.sessions["s"].copy()
    at = projections.log.head().position
    book.messages("s", ["parent only"])
    book.fork("s", "f", at, then)
    own = book.messages("f", ["child only"])
    rows = ask(projections, history.messages, "f")
    assert [row.position for row in rows] == [*positions, *own]
    assert [row.session for row in rows] == ["s"] * 5 + ["f"]
    assert rows[-1].total == 5 * 5 + len("child only")
    session = ask(projections, history.session, "f")
    assert (session.messages, session.tokens, session.parent, session.parent_position) == (6, 35, "s", at)
    # the child compacts what it inherited, and the parent sees nothing of it
    book.compact("f", positions[1:3])
    assert ("m", positions[1]) in ask(projections, queries.visible, "s")
    book.undo("f")
    assert ask(projections, queries.visible, "f") == [("m", position) for position in [*positions, *own]]
    # a page of the newest messages reaches over the fork
    page = ask(projections, history.messages, "f", limit=3, before=own[0])
    assert [row.position for row in page] == positions[2:]


def test_a_run_is_open_until_it_ended_at_any_position(book: Book, projections: Projections) -> None:
    book.open("s")
    run = book.start_run("s")
    during = projections.log.head().position
    book.end_run("s", 1)
    assert ask(projections, history.open_run, "s") is None
    found = ask(projections, history.open_run, "s", during)
    assert (found.run, found.status, found.owner["runtime"]) == (run, "open", "t1")
    assert [(row.status, row.reason) for row in ask(projections, history.runs, "s")] == [("failed", "ValueError")]
    with projections.reading("context") as (view, connection):
        assert history.open_runs(view, connection, "local") == []


def test_failures_count_since_the_last_compaction(book: Book, projections: Projections) -> None:
    book.open("s")
    positions = book.messages("s", ["hello"] * 5)
    book.fail("s")
    book.compact("s", positions[1:3])
    assert ask(projections, history.failures, "s") == []
    book.fail("s")
    book.fail("s", rejected=True)
    found = ask(projections, history.failures, "s")
    assert [(row.status, row.error, row.reasons) for row in found] == [
        ("failed", "TimeoutError", ()), ("rejected", None, ("empty",)),
    ]  # fmt: skip


def test_what_was_frozen_and_shown_is_found_at_any_position(book: Book, projections: Projections) -> None:
    book.open("s")
    first = book.freeze("s", "t1")
    recorded = book.preamble("s", "p1", "t1")
    shown = book.show("s", "p1", "d1", "t1")
    second = book.freeze("s", "t2")
    assert ask(projections, queries.freeze, "s").position == second
    assert ask(projections, queries.freeze, "s", second - 1).position == first
    assert ask(projections, queries.freeze, "s", runtime="t1").position == first
    assert ask(projections, queries.freeze, "s", first - 1) is None
    row = ask(projections, queries.last_shown, "s")
    assert (row.position, row.freeze_position, row.preamble_position) == (shown, first, recorded)
    assert ask(projections, history.was_shown, "s", "d1")
    assert not ask(projections, history.was_shown, "s", "d2")


def test_reserved_sessions_are_not_listed(book: Book, projections: Projections) -> None:
    book.open("@person")
    book.open("one")
    book.open("two")
    book.message("one")
    with projections.reading("context") as (view, connection):
        assert [row.session for row in history.sessions(view, connection, "local")] == ["one", "two"]
        listed = history.sessions(view, connection, "local", reserved=True)
        assert [row.session for row in listed] == ["one", "two", "@person"]


def test_a_system_message_in_the_range_stays_in_its_place(book: Book, projections: Projections) -> None:
    book.open("s")
    positions = book.messages("s", ["hello"] * 5)
    book.compact("s", [positions[1], positions[3]])
    summary = projections.log.head().position
    assert ask(projections, queries.visible, "s") == [
        ("m", positions[0]), ("s", summary), ("m", positions[2]), ("m", positions[4]),
    ]  # fmt: skip
    rows = ask(projections, history.messages, "s")
    assert [row.state for row in rows] == ["original", "compacted", "original", "compacted", "original"]
    assert {row.summary for row in rows if row.state == "compacted"} == {summary}
