"""Requests of sizes and with pictures that a provider answers 400 to, and then at every later turn (C9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, Settings
from minutebook.domain.legality import check_anthropic, check_openai, check_openai_responses

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def calls(count: int) -> dict[str, Any]:
    made = [{"id": f"c{n}", "type": "function", "function": {"name": "count", "arguments": "{}"}} for n in range(count)]
    return {"role": "assistant", "content": "I count them all.", "tool_calls": made}


@pytest.mark.parametrize("media_type", ["image/svg+xml", "image/bmp", "image/tiff", "image/"])
@pytest.mark.parametrize("in_a_result", [False, True])
def test_a_picture_that_no_provider_takes_is_named_and_not_sent(
    tmp_path: Path, media_type: str, in_a_result: bool
) -> None:
    # given a picture in a format that providers refuse, from the user or in a tool's result
    picture = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{PIXEL}"}}
    block = {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": PIXEL}}
    with Minutebook.open(tmp_path) as book:
        session = book.session("s")
        session.append({"role": "user", "content": "Look." if in_a_result else [picture]})
        if in_a_result:
            use = {"type": "tool_use", "id": "t1", "name": "shot", "input": {}}
            session.append({"role": "assistant", "content": [use]})
            result = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
            session.append({"role": "user", "content": [result]})
        context = session.context()
    # then no request carries it, each says so, and each is legal
    for request, check in (
        (context.to_openai(), check_openai),
        (context.to_openai_responses(), check_openai_responses),
        (context.to_anthropic(), check_anthropic),
    ):
        assert PIXEL not in str(request)
        assert "not carried" in str(request)
        assert check(request) == []
    assert all(context.losses[target] for target in context.losses)


@pytest.mark.parametrize("media_type", ["image/jpg", "IMAGE/PNG", "image/pjpeg"])
def test_a_picture_under_another_name_of_its_format_is_sent_under_the_right_one(
    tmp_path: Path, media_type: str
) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{PIXEL}"}}
    with Minutebook.open(tmp_path) as book:
        book.session("s").append({"role": "user", "content": [picture]})
        context = book.session("s").context()
    for request, check in (
        (context.to_openai(), check_openai),
        (context.to_openai_responses(), check_openai_responses),
        (context.to_anthropic(), check_anthropic),
    ):
        assert PIXEL in str(request)
        assert check(request) == []


@pytest.mark.parametrize("count", [127, 128, 129, 300])
def test_more_parallel_calls_than_one_message_takes_go_into_several(tmp_path: Path, count: int) -> None:
    # given one answer with so many calls, every second of which has a result
    with Minutebook.open(tmp_path, settings=Settings(context_window=200_000)) as book:
        session = book.session("s")
        session.append({"role": "user", "content": "Count."})
        session.append(calls(count))
        for number in range(0, count, 2):
            session.append({"role": "tool", "tool_call_id": f"c{number}", "content": str(number)})
        messages = session.context().to_openai()["messages"]
    # then no message has more than 128 calls, every call stands once with its result behind it, and the text once
    assert check_openai({"messages": messages}) == []
    asked = [[call["id"] for call in message["tool_calls"]] for message in messages if "tool_calls" in message]
    assert [len(some) for some in asked] == [min(128, count - start) for start in range(0, count, 128)]
    assert [name for some in asked for name in some] == [f"c{number}" for number in range(count)]
    assert {message["tool_call_id"] for message in messages if message["role"] == "tool"} == {
        name for some in asked for name in some
    }
    assert str(messages).count("I count them all.") == 1
    by_call = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    assert by_call["c126"] == "126"


def test_more_messages_than_a_request_takes_are_summarised_before_they_fill_the_window(tmp_path: Path) -> None:
    # given many short messages, far below the trigger of a large window
    with Minutebook.open(tmp_path, settings=Settings(context_window=1_000_000)) as book:
        session = book.session("s")
        with session.run() as run:
            run.append([{"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(1_990)])
            assert run.context().to_openai()["messages"][5]["content"] == "message 5"
        with session.run() as run:
            run.append([{"role": ("user", "assistant")[n % 2], "content": f"and {n}"} for n in range(40)])
            # when there are more than 2,000 of them
            context = run.context()
            # then a summary stands for the middle, and nothing is made again at the next request
            assert len(context.to_openai()["messages"]) < 100
            assert any(message["state"] == "summary" for message in context.messages)
            run.append({"role": "user", "content": "Go on."})
            run.context()
        assert len(session.compactions()) == 1
        assert len(session.messages()) == 2_031


def test_many_messages_of_an_unfinished_run_are_never_hidden(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, settings=Settings(context_window=1_000_000)) as book:
        with book.session("s").run() as run:
            run.append([{"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(2_100)])
            assert len(run.context().messages) == 2_100
        assert book.session("s").compactions() == []
