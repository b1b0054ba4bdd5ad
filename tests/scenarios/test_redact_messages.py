"""``redact_messages``: off, originals are kept whole; on, a credential reaches no file of the workspace (issue 4)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook import Minutebook, Settings
from minutebook.domain.redaction import redact_message

TOKEN = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PASSWORD = "Zq8-" + "notLive4real"
ARGUMENTS = json.dumps({"command": f"curl -H 'Authorization: Bearer {TOKEN}' https://api.example.com"})
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": f"Use {TOKEN} and say nothing."},
    {"role": "assistant", "content": None,
     "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "sh", "arguments": ARGUMENTS}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": f"DATABASE=postgres://app:{PASSWORD}@db.internal/app"},
    {"role": "user", "content": [{"type": "text", "text": "The rest"}, {"type": "text", "text": f"is {TOKEN}"}]},
    {"role": "user", "content": "Nothing secret", "extra": {"password": PASSWORD}},
]  # fmt: skip


def everywhere(place: Path, needle: str) -> list[str]:
    return [str(path) for path in place.rglob("*") if path.is_file() and needle.encode() in path.read_bytes()]


@pytest.mark.sqlite_only("the bytes are looked for in files")
def test_off_is_the_default_and_every_field_comes_back_equal(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        with book.session("s").run() as run:
            run.append(MESSAGES)
        assert [message.source for message in book.session("s").messages()] == MESSAGES
    assert everywhere(tmp_path, TOKEN)


@pytest.mark.sqlite_only("the bytes are looked for in files")
def test_on_no_file_holds_the_secret_and_the_event_counts_what_was_taken(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, settings=Settings(redact_messages=True), automatic=False) as book:
        with book.session("s").run() as run:
            run.append(MESSAGES, id="m")
            request = run.context().to_openai()
        counts = [event.body["redacted"] for event in book.log(type="MessageRecorded")]
        assert counts == [1, 1, 1, 1, 1]
        call = request["messages"][1]["tool_calls"][0]
        assert call["id"] == "call_1"
        assert "[redacted:" in json.loads(call["function"]["arguments"])["command"]
        with book.session("s").run() as run:
            # A retry is redacted the same way, so it is the same message.
            assert len(run.append(MESSAGES, id="m")) == 5
        assert book.verify().ok
    assert everywhere(tmp_path, TOKEN) == []
    assert everywhere(tmp_path, PASSWORD) == []


def test_an_imported_transcript_is_redacted_and_the_same_file_again_adds_nothing(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"messages": MESSAGES[:4]}))
    with Minutebook.open(tmp_path / "ws", settings=Settings(redact_messages=True), automatic=False) as book:
        first = book.import_transcript(file, session="s")
        again = book.import_transcript(file, session="s")
        assert (first.messages, again.messages) == (4, 0)
        assert sum(event.body["redacted"] for event in book.log(type="MessageRecorded")) == 4
    assert everywhere(tmp_path / "ws", TOKEN) == []


def test_ids_signatures_and_media_are_left_alone() -> None:
    source = {
        "role": "assistant",
        "id": TOKEN,
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": TOKEN},
            {"type": "image", "source": {"media_type": "image/png", "data": "iVBOR" + "Ab3x" * 2_000}},
            {"type": "tool_use", "id": TOKEN, "name": "sh", "input": {"command": "ls"}},
        ],
    }
    assert redact_message(source) == (source, 0)
    assert redact_message(source)[0] is source


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
@settings(max_examples=100, deadline=None)
def test_redacting_is_idempotent_and_keeps_the_shape(value: Any) -> None:
    once, count = redact_message({"content": value})
    again, more = redact_message(once)
    assert (again, more) == (once, 0)
    if not count:
        assert once == {"content": value}


@pytest.mark.parametrize("piece", ["word ", "a.b/c-d=e ", "key: value\n", "x"])
def test_a_message_of_64_kb_costs_little(piece: str) -> None:
    text = piece * (65_536 // len(piece))
    redact_message({"content": "warm"})
    began = time.perf_counter()
    redact_message({"role": "tool", "content": text})
    # The bar is 50 ms; the room is for a machine that is busy with other tests.
    assert time.perf_counter() - began < 100
