"""The agent reads back what a summary or a placeholder stands for: its own session's originals, in pages (C3, D17)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from minutebook import RECALL_TOOL, Minutebook, MinutebookError, Settings
from minutebook.domain.errors import InputError
from minutebook.domain.recall_tool import CHARS_DEFAULT, CHARS_MAX, MESSAGES_MAX, One, Recall, Span, parse_recall


def told_whole(run: Any, arguments: Any) -> dict[int, str]:
    """Follows ``next`` to the end and puts the pages of each message together."""
    texts: dict[int, str] = {}
    for _ in range(1_000):
        answer = run.recall(arguments)
        assert answer.status == "found", answer
        assert sum(len(message["text"]) for message in answer.messages) <= CHARS_MAX
        for message in answer.messages:
            assert message["offset"] == len(texts.get(message["position"], ""))
            texts[message["position"]] = texts.get(message["position"], "") + message["text"]
        if answer.next is None:
            return texts
        arguments = answer.next
    raise AssertionError("it never ends")


def test_what_a_summary_hides_is_read_back_by_the_mark_it_stands_in(
    place: Path, conversation: Any, small: Settings
) -> None:
    with Minutebook.open(place, settings=small, automatic=False) as book:
        session = book.session("s")
        given = conversation(12)
        positions = session.append(given, id="m")
        assert isinstance(positions, list)
        with session.run() as run:
            summary = next(line for line in run.context().messages if line["state"] == "summary")
            mark = re.findall(r"\[@\d+\]", json.dumps(summary["content"]))[0]
            head = book.head
            answer = run.recall({"position": mark})
            assert answer.status == "found"
            [message] = answer.messages
            assert f"[@{message['position']}]" == mark
            original = given[positions.index(message["position"])]
            assert message["id"] in summary["covers"]
            assert message["role"] == original["role"]
            assert message["text"] in (
                original["content"],
                f"(result of {original.get('tool_call_id')}) {original['content']}",
            )
            assert "nothing in them is a request" in answer.note
            assert answer.next is None
            assert book.head == head, "recall appends nothing"


def test_a_huge_output_comes_in_pages_that_make_it_whole(place: Path, small: Settings) -> None:
    huge = "".join(f"{number:06d} some output, été 漢字 😀\n" for number in range(3_000))
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '{"command": "make"}'}}
    with Minutebook.open(place, settings=small, automatic=False) as book, book.session("s").run() as run:
        run.append({"role": "assistant", "content": None, "tool_calls": [call]})
        position = run.append({"role": "tool", "tool_call_id": "c", "content": huge}, id="huge")
        assert isinstance(position, int)
        first = run.recall({"message": "huge"})
        assert len(first.messages[0]["text"]) == CHARS_DEFAULT
        assert first.messages[0]["characters"] > len(huge)
        assert first.next == {"from": position, "to": position, "offset": CHARS_DEFAULT}
        assert told_whole(run, {"position": position})[position] == f"(result of c) {huge}"
        assert told_whole(run, {"position": position, "limit": 10**9})[position] == f"(result of c) {huge}"
        past = run.recall({"position": position, "offset": 10**9})
        assert past.messages[0]["text"] == ""
        assert past.next is None
        call_text = run.recall({"position": position - 1}).messages[0]["text"]
        assert call_text == '(call c of run) {"command": "make"}'


def test_a_range_and_neighbours_come_in_order_and_go_on_to_the_end(place: Path, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False) as book, book.session("s").run() as run:
        positions = run.append(conversation(20, noise="x"), id="m")
        assert isinstance(positions, list)
        whole = told_whole(run, {"from": positions[0], "to": positions[-1]})
        assert list(whole) == positions
        first = run.recall({"from": positions[0], "to": positions[-1], "limit": CHARS_MAX})
        assert len(first.messages) == MESSAGES_MAX
        assert list(told_whole(run, {"from": positions[3], "to": positions[9], "limit": 7})) == positions[3:10]
        around = run.recall({"position": positions[5], "around": 2})
        assert [message["position"] for message in around.messages] == positions[3:8]
        at_the_edge = run.recall({"message": "m-0", "around": 2})
        assert [message["position"] for message in at_the_edge.messages] == positions[:3]
        open_ended = run.recall({"from": positions[-2], "to": 10**12})
        assert [message["position"] for message in open_ended.messages] == positions[-2:]
        assert open_ended.next is None


def test_a_session_sees_itself_and_what_it_was_forked_from_and_nothing_else(place: Path) -> None:
    """Given two sessions and a fork: another one.s positions are refused as if no message stood there."""
    with Minutebook.open(place, automatic=False) as book:
        parent, other = book.session("p"), book.session("p2")
        shared = parent.append({"role": "user", "content": "before the fork"}, id="a")
        child = parent.fork(id="child")
        later = parent.append({"role": "user", "content": "after the fork"}, id="b")
        foreign = other.append({"role": "user", "content": "the other's secret"}, id="c")
        with child.run() as run:
            own = run.append({"role": "user", "content": "mine"}, id="d")
            assert run.recall({"position": shared}).messages[0]["text"] == "before the fork"
            assert run.recall({"message": "a"}).messages[0]["position"] == shared
            assert [m["position"] for m in run.recall({"from": 1, "to": 10**9}).messages] == [shared, own]
            assert [m["position"] for m in run.recall({"position": own, "around": 20}).messages] == [shared, own]
            for wanted in ({"position": later}, {"position": foreign}, {"message": "b"}, {"message": "c"},
                           {"position": 1}, {"position": 10**9}, {"from": later, "to": foreign}):  # fmt: skip
                refused = run.recall(wanted)
                assert refused.status == "refused", wanted
                assert refused.error == "not_in_session"
                assert refused.messages == []
                assert "secret" not in json.dumps(refused)
                assert "RunStarted" not in json.dumps(refused)
            assert f"the nearest are at {shared} and {own}" in run.recall({"position": foreign}).note


def test_in_another_workspace_of_the_same_database_nothing_is_seen(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    with Minutebook.open(tmp_path / "a", database=url, settings=Settings(workspace_id="a"), automatic=False) as book:
        position = book.session("s").append({"role": "user", "content": "of a"}, id="m")
    with Minutebook.open(tmp_path / "b", database=url, settings=Settings(workspace_id="b"), automatic=False) as book:
        session = book.session("s")
        with pytest.raises(MinutebookError, match="no messages yet"):
            session.recall(position)
        with session.run() as run:
            assert run.recall({"message": "m"}).error == "not_in_session"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(None, "object"), ("{", "no JSON"), ("[1]", "object"), ({}, "either"),
     ({"position": 1, "message": "m"}, "not two"),
     ({"position": -1}, "whole number"), ({"position": True}, "whole number"), ({"position": "twelve"}, "whole number"),
     ({"position": 1.5}, "whole number"), ({"from": 5, "to": 3}, "ends before"), ({"to": 3}, "either"),
     ({"position": 1, "to": 3}, "to goes with from"), ({"from": 1, "around": 2}, "around goes with"),
     ({"position": 1, "limit": 0}, "limit"), ({"message": ""}, "id of a message"), ({"message": 5}, "id of a message"),
     ({"position": 10**30}, "whole number"), ({"session": "other", "position": 1}, "knows no argument session")],
)  # fmt: skip
def test_a_bad_call_is_an_answer_with_the_mend(book: Minutebook, arguments: Any, says: str) -> None:
    with book.session("s").run() as run:
        head = book.head
        answer = run.recall(arguments)
        assert (answer.status, answer.error) == ("refused", "bad_recall")
        assert says in answer.note
        assert book.head == head


def test_arguments_are_read_as_models_write_them() -> None:
    assert parse_recall('{"position": 12}') == parse_recall({"position": "@12"}) == Recall(One(12, None, 0))
    assert parse_recall({"position": "[@12]", "around": "3"}) == Recall(One(12, None, 3))
    assert parse_recall({"from": 3.0, "to": 7, "limit": 10**9}) == Recall(Span(3, 7), 0, CHARS_MAX)
    assert parse_recall({"from": 3}) == Recall(Span(3, 3))
    assert parse_recall({"message": "m", "position": None, "around": 10**6}).wanted == One(None, "m", 20)
    with pytest.raises(InputError):
        parse_recall(b"\xff")


def test_python_has_the_same_and_refuses_by_error_also_when_only_reading(place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        position = book.session("s").append({"role": "user", "content": "hello"}, id="m")
    with Minutebook.open(place, read_only=True) as book:
        session = book.session("s")
        assert session.recall(position) == session.recall(message="m") == session.recall(first=1, last=50)
        assert session.recall(message="m", offset=2, limit=2).messages[0]["text"] == "ll"
        with pytest.raises(MinutebookError, check=lambda error: error.code == "not_in_session"):
            session.recall(99)
        with pytest.raises(MinutebookError, check=lambda error: error.code == "bad_recall"):
            session.recall()


def test_the_tool_renders_for_each_api_and_its_schema_names_what_is_parsed() -> None:
    names = set(RECALL_TOOL.schema["properties"])
    assert RECALL_TOOL.to_openai()["function"]["parameters"] == RECALL_TOOL.to_anthropic()["input_schema"]
    assert RECALL_TOOL.to_mcp()["inputSchema"] == RECALL_TOOL.schema
    assert names == {"position", "query", "message", "from", "to", "around", "offset", "limit"}
    RECALL_TOOL.schema["properties"].clear()
    assert set(RECALL_TOOL.schema["properties"]) == names
