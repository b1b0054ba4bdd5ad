"""Every object of a transcript comes back verbatim, read here without a line of the importer's code (M1, issue 2)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook

FILES = [
    "transcripts/pi/before-compaction.jsonl",
    "transcripts/claude-code/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
    "transcripts/claude-code/codemie-session-196820da.jsonl",
    "transcripts/claude-code/tool_heavy.jsonl",
    "transcripts/claude-code/daaain-edge_cases.jsonl",
    "transcripts/claude-code/simonw-sample_session.jsonl",
]


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("name", FILES, ids=lambda name: name.rsplit("/", 1)[-1][:30])
def test_every_line_is_found_back_verbatim_or_reported(command: Any, place: Path, shared: Any, name: str) -> None:
    """Given a real file, taken plus reported lines are its lines, and what was taken comes back equal, in order."""
    file = shared(name)
    rows = {number: json.loads(line) for number, line in enumerate(file.read_text().splitlines(), 1) if line.strip()}
    answer = command("import", file, "--json").answer
    reported = [item["line"] for item in answer["skipped"]]
    assert len(reported) == len(set(reported))
    messages = command("session", "messages", answer["session"], "--json").answer
    # One message may be made of several rows (Claude Code splits an answer over lines): they stand in its source.
    back = [
        row
        for message in messages
        for row in (message["source"] if isinstance(message["source"], list) else [message["source"]])
    ]
    taken = [row for number, row in rows.items() if number not in reported]
    assert Counter(map(text, back)) == Counter(map(text, taken))
    assert len(taken) + len(reported) == answer["lines"] == len(file.read_text().splitlines())
    firsts = [
        text(message["source"][0] if isinstance(message["source"], list) else message["source"]) for message in messages
    ]
    order = [text(row) for row in taken]
    assert [order.index(first) for first in firsts] == sorted(order.index(first) for first in firsts)
    assert all(item["reason"] for item in answer["skipped"])


def test_the_messages_of_a_document_come_back_too(command: Any, place: Path, shared: Any) -> None:
    file = shared("transcripts/cline/session.messages.json")
    given = json.loads(file.read_text())["messages"]
    answer = command("import", file, "--json").answer
    messages = command("session", "messages", answer["session"], "--json").answer
    assert [message["source"] for message in messages] == given


def test_summaries_of_the_source_cover_nothing_here(command: Any, place: Path, shared: Any) -> None:
    answer = command("import", shared("transcripts/pi/before-compaction.jsonl"), "--json").answer
    messages = command("session", "messages", answer["session"], "--json").answer
    summaries = [message for message in messages if message["role"] == "summary"]
    assert len(summaries) == 2
    assert {message["trust"] for message in summaries} == {"external"}
    assert {message["state"] for message in messages} == {"original"}
    assert command("memory", "curate", "--json").answer["status"] == "nothing"
    with Minutebook.open(place, read_only=True) as book:
        assert book.memory.status()["pending"] == 0
        assert book.verify()["ok"]


def test_the_real_session_is_compacted_on_the_command_line(command: Any, place: Path, shared: Any) -> None:
    """Given the pi session of 1,003 rows, it is a legal request that fits 200k and then 32k."""
    from minutebook.domain.legality import check_anthropic, check_openai

    session = command("import", shared("transcripts/pi/before-compaction.jsonl"), "--json").answer["session"]
    before = command("session", "messages", session, "--json").answer
    for window, reserve in ((200_000, 16_384), (32_000, 4_000)):
        done = command("compact", session, "--window", window, "--json").answer
        assert done["status"] == "committed"
        context = command("context", session, "--window", window, "--json").answer
        assert context["tokens"] <= window - reserve
        assert check_openai(command("context", session, "--window", window, "--as", "openai").answer) == []
        assert check_anthropic(command("context", session, "--window", window, "--as", "anthropic").answer) == []
    after = command("session", "messages", session, "--json").answer
    assert [message["source"] for message in after] == [message["source"] for message in before]
