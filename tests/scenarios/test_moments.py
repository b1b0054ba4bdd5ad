"""A moment of the past by position, time or turn: "what did the model see at turn 41, and why?" (E3, C11)."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings, aio

BEGAN = datetime(2026, 11, 30, 10, tzinfo=UTC)


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.time = BEGAN

    def __call__(self) -> datetime:
        return self.time


def converse(book: Minutebook, clock: Clock, turns: int) -> list[Any]:
    """Turns of a minute each, with a tool call in every second; gives the contexts that the model was handed."""
    handed = []
    with book.session("talk").run() as run:
        for turn in range(1, turns + 1):
            clock.time = BEGAN + timedelta(minutes=turn)
            run.append({"role": "user", "content": f"Question {turn}?"})
            handed.append(run.context(system="You answer."))
            if turn % 2 == 0:
                call = {"id": f"c{turn}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                run.append({"role": "assistant", "content": None, "tool_calls": [call]})
                run.append({"role": "tool", "tool_call_id": f"c{turn}", "content": "found"})
                handed.append(run.context(system="You answer."))
            run.append({"role": "assistant", "content": f"Answer {turn}."})
    return handed


def test_a_turn_shows_what_the_model_was_handed_then(place: Path) -> None:
    # given a session in which the model was asked nine times
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        handed = converse(book, clock, 6)
        session = book.session("talk")

        # when each turn is asked for, then it is that context, byte for byte, proved by the recorded digest
        for turn, context in enumerate(handed, 1):
            seen = session.context(at=f"turn:{turn}")
            assert (seen.digest, seen.proved, seen.messages) == (context.digest, True, context.messages)

        # and the turn after the last answer is now
        assert session.context(at=f"turn:{len(handed) + 1}").position == book.head


def test_turns_are_those_of_a_back_test(place: Path, command: Any) -> None:
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        converse(book, clock, 4)
        session = book.session("talk")
        played = session.backtest()["turns"]
        for number, turn in enumerate(played, 1):
            assert session.context(at=f"turn:{number}").messages[-1]["position"] == turn["position"]


def test_a_time_means_the_last_event_dated_then_or_before(place: Path) -> None:
    # given events a minute apart
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        session = book.session("talk")
        positions = []
        for minute in range(5):
            clock.time = BEGAN + timedelta(minutes=minute)
            positions.append(session.append({"role": "user", "content": f"{minute}"}))

        def at(moment: Any) -> int:
            return session.context(at=moment).position

        # then a time stands for the position that was the head, whatever form it is given in
        assert at(BEGAN + timedelta(minutes=2)) == positions[2]
        assert at("2026-11-30T10:02:59.999999+00:00") == positions[2]
        assert at("2026-11-30T11:03+01:00") == positions[3]
        assert at("2026-11-30 10:03") == positions[3]
        assert at("2026-11-30T10:04Z") == positions[4] == book.head
        assert at("2026-11-29") == 0
        assert session.messages(at="2026-11-30T10:01Z")[-1]["content"] == "1"

        # and when the clock has run backwards, order is still the log's
        clock.time = BEGAN + timedelta(minutes=1)
        late = session.append({"role": "user", "content": "late"})
        assert at("2026-11-30T10:01Z") == late


def test_memory_is_shown_as_of_a_time(place: Path) -> None:
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        for minute, text in enumerate(["The port is 8080.", "Releases are cut on Thursdays."], 1):
            clock.time = BEGAN + timedelta(minutes=minute)
            book.memory.propose({"operation": "add", "text": text})
            assert book.curate()["status"] == "committed"
        clock.time = BEGAN + timedelta(minutes=9)

        assert book.memory.show(at="2026-11-30T10:00Z")["revision"] == 0
        assert [entry["text"] for entry in book.memory.show(at=BEGAN + timedelta(minutes=1))["entries"]] == [
            "The port is 8080."
        ]
        assert book.memory.show(at="2026-11-30T10:02Z")["revision"] == 2
        with pytest.raises(MinutebookError) as caught:
            book.memory.show(at="turn:1")
        assert (caught.value.code, "belongs to none" in caught.value.message) == ("bad_value", True)


def test_a_fork_a_difference_and_a_reason_take_moments_too(place: Path) -> None:
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        converse(book, clock, 3)
        session = book.session("talk")
        child = session.fork(at="turn:2")
        assert [message["content"] for message in child.messages()] == ["Question 1?", "Answer 1.", "Question 2?"]
        assert session.blame(at="turn:1")["lines"][0]["text"] == "Question 1?"
        changed = session.diff("turn:1", "turn:2")
        assert [row["text"] for row in changed["added"]] == ["Answer 1.", "Question 2?"]
        # a fork counts the turns that it shares
        assert child.context(at="turn:1").messages[-1]["content"] == "Question 1?"


REFUSED = {
    "turn:0": "unknown_position",
    "turn:99": "unknown_position",
    "turn:-1": "bad_value",
    "turn:": "bad_value",
    "turn:x": "bad_value",
    "yesterday": "bad_value",
    "": "bad_value",
    "2999-01-01": "unknown_position",
    "2026-13-01": "bad_value",
    "0001-01-01T00:00+05:00": "bad_value",
    "-1": "unknown_position",
    "999999": "unknown_position",
    "1" * 30: "bad_value",
    "1.5": "bad_value",
    "turn:1\n": "bad_value",
}


def test_what_is_no_moment_is_refused_by_a_code_that_says_the_mend(place: Path, command: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("talk").append({"role": "user", "content": "Hello."})
    for moment, code in REFUSED.items():
        found = command("context", "talk", "--at", moment, "--json")
        assert (found.code, found.refusal["error"]) == (1, code), (moment, found.err)


@pytest.mark.parametrize(("moment", "code"), [("turn:99", "unknown_position"), ("yesterday", "bad_value")])
def test_every_command_that_takes_a_moment_refuses_the_same(place: Path, command: Any, moment: str, code: str) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("talk").append({"role": "user", "content": "Hello."})
    for words in (
        ("session", "messages", "talk", "--at", moment),
        ("session", "fork", "talk", "--at", moment),
        ("blame", "talk", "--at", moment),
        ("diff", "--session", "talk", "--context", "1", moment),
    ):
        found = command(*words, "--json")
        assert (found.code, found.refusal["error"]) == (1, code), (words, found.err)
    for words in (("memory", "show", "--at", moment), ("projections", "show", "context", "--at", moment)):
        assert command(*words, "--json").refusal["error"] == "bad_value"


def test_the_command_line_takes_all_three(place: Path, command: Any) -> None:
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        handed = converse(book, clock, 4)
        position = handed[1].position
    for moment in (str(position), "turn:2", "2026-11-30T10:02:00Z"):
        found = command("context", "talk", "--at", moment, "--json")
        assert found.code == 0, found.err
        if moment != "2026-11-30T10:02:00Z":  # by then the turn was over
            assert found.answer["digest"] == handed[1].digest
    assert command("memory", "show", "--at", "2026-11-30T10:02Z", "--json").answer["revision"] == 0
    assert "turn" in command("context", "--help").out


def test_the_twins_for_asyncio_take_moments_and_open_the_past(place: Path) -> None:
    clock = Clock()
    with Minutebook.open(place, automatic=False, clock=clock) as book:
        handed = converse(book, clock, 2)

    async def look() -> tuple[str, int]:
        async with aio.Minutebook.open(place, read_only=True) as book:
            context = await (await book.find_session("talk")).context(at="turn:1")
            async with book.projections.at("context", handed[0].position) as (projection, connection):
                rows = connection.execute(projection.messages.select()).all()
            return context.digest, len(rows)

    assert asyncio.run(look()) == (handed[0].digest, 1)
    assert json.dumps(handed[0].messages)


def test_a_session_without_an_answer_has_one_turn_and_an_empty_one_has_none(place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        session = book.session("talk")
        with pytest.raises(MinutebookError, match="none yet") as caught:
            session.context(at="turn:1")
        assert caught.value.code == "unknown_position"
        session.append({"role": "user", "content": "Hello?"})
        assert session.context(at="turn:1").position == book.head
        # an answer that nothing stands before answers nothing
        other = book.session("other")
        other.append([{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Yes?"}])
        other.append([{"role": "assistant", "content": "One."}, {"role": "assistant", "content": "Two."}])
        assert [message["content"] for message in other.context(at="turn:1").messages] == ["Hi.", "Yes?"]
        assert other.context(at="turn:2").position == book.head


def test_rows_are_shown_of_this_workspace_only_where_tables_say_whose_they_are(place: Path) -> None:
    # given two workspaces that keep their books in one database
    database = os.environ.get("MINUTEBOOK_DATABASE") or f"sqlite:///{place / 'shared.db'}"
    for name in ("one", "two"):
        settings = Settings(workspace_id=name)
        with Minutebook.open(place / name, database=database, settings=settings, automatic=False) as book:
            book.session(f"session-{name}").append([{"role": "user", "content": "Hello."}] * 2)

            # when each looks at a projection, now and in the past, then it sees its own rows
            for moment in (None, book.head):
                shown = book.projections.show("context", at=moment, table="context_messages")["tables"][0]
                column = shown["columns"].index("session")
                assert shown["total"] == 2
                assert {row[column] for row in shown["rows"]} == {f"session-{name}"}
            with pytest.raises(MinutebookError) as caught:
                book.projections.show("context", table="events")
            assert caught.value.code == "unknown_table"
