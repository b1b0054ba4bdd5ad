"""Codex rollouts of both generations: no turn twice, what Codex wrote itself is no request, runs end as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.forms import codex
from minutebook.domain.message import Reasoning, Text
from minutebook.infrastructure.work.transcripts import ImportedMessage, Transcript, read, tail

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "transcripts" / "codex"


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": payload}


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": "event_msg", "payload": {"type": kind, **payload}}


def asked(*texts: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return item(type="message", role="user", content=content)


def told(text: str) -> dict[str, Any]:
    return event("user_message", message=text, images=[])


def said(text: str) -> dict[str, Any]:
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])


def rollout(*rows: dict[str, Any]) -> Transcript:
    head = {"type": "session_meta", "payload": {"id": "s-1", "instructions": None}}
    return read("\n".join(map(json.dumps, (head, *rows))).encode())


def text(message: ImportedMessage) -> str:
    return "\n".join(part.text for part in codex.view(message.source).parts if isinstance(part, Text))


def reasons(transcript: Transcript) -> list[str]:
    return [skip.reason for skip in transcript.skipped[1:]]


# --- a user's turn stands once -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        (asked("why?"), told("why?")),
        (told("why?"), asked("why?")),
        (told("why?\n"), asked("  why?")),
        (asked("why?"), item(type="reasoning", summary=[]), told("why?")),
        (asked("<image name=[Image #1]>", "</image>", "why?"), told("why?")),
        (asked("# Context from my IDE\n\n## My request for Codex:\nwhy?"), told("why?")),
        (asked("<environment_context>x</environment_context>"), asked("why?"), told("why?")),
        (asked("why?"), asked("and how?"), told("why?"), told("and how?")),
    ],
    ids=range(8),
)
def test_a_turn_that_stands_as_item_and_as_event_is_taken_once(rows: tuple[dict[str, Any], ...]) -> None:
    transcript = rollout(*rows, said("so"))

    requests = [message for message in transcript.messages if message.begins]
    events = sum(row["type"] == "event_msg" for row in rows)
    assert len(requests) == events
    assert len([reason for reason in reasons(transcript) if reason.startswith("repeats line")]) == events


def test_a_turn_that_stands_only_as_event_is_taken_and_begins_a_run() -> None:
    transcript = rollout(told("go on"), said("done"), told("go on"), said("done again"))

    assert [text(message) for message in transcript.messages] == ["go on", "done", "go on", "done again"]
    assert len(transcript.runs) == 2


def test_many_turns_that_wait_for_each_other_stand_once() -> None:
    texts = [f"request {number}" for number in range(64)]

    transcript = rollout(*map(asked, texts), *map(told, texts), said("done"))

    assert len(transcript.messages) == 65


def test_a_file_of_nothing_but_requests_is_read_in_linear_time() -> None:
    transcript = rollout(*[told(f"request {number}") for number in range(20_000)], asked("request 19990"))

    assert len(transcript.messages) == 20_000
    assert reasons(transcript) == ["repeats line 19992"]


def test_the_same_words_in_another_turn_are_another_turn() -> None:
    turn = (asked("go on"), told("go on"), said("done"))

    transcript = rollout(*turn, *turn)

    assert [text(message) for message in transcript.messages] == ["go on", "done", "go on", "done"]


def test_what_codex_tells_of_the_models_words_is_reported_since_the_item_has_them() -> None:
    transcript = rollout(
        told("a"), event("agent_message", message="so"), event("agent_reasoning", text="hm"), said("so")
    )

    assert [text(message) for message in transcript.messages] == ["a", "so"]
    assert reasons(transcript) == ["not a message: event_msg agent_message", "not a message: event_msg agent_reasoning"]


# --- whose words they are ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "trust", "begins"),
    [
        ("<environment_context>\n<cwd>/w</cwd>", "tool", False),
        ("<user_instructions>never push", "operator", False),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>", "operator", False),
        ("<user_shell_command>ls", "tool", False),
        ("<subagent_notification>", "tool", False),
        ("What does <environment_context> mean?", "user", True),
    ],
)
def test_what_codex_wrote_itself_is_no_request_of_the_user(words: str, trust: str, begins: bool) -> None:
    [message] = rollout(asked(words)).messages

    assert (message.trust, message.begins) == (trust, begins)


def test_a_request_beside_what_codex_wrote_is_a_request_of_the_lower_trust() -> None:
    [message] = rollout(asked("<environment_context>x", "and now?")).messages

    assert (message.trust, message.begins) == ("tool", True)


def test_a_developer_message_is_the_operators() -> None:
    rows = [item(type="message", role="developer", content=[{"type": "input_text", "text": "be short"}]), asked("a")]

    first = rollout(*rows).messages[0]

    assert (first.trust, codex.view(first.source).role) == ("operator", "system")


def test_a_subagents_rollout_is_asked_by_a_model() -> None:
    head = {"type": "session_meta", "payload": {"id": "s-2", "source": {"subagent": {"thread_spawn": {}}}}}

    transcript = read("\n".join(map(json.dumps, (head, asked("look")))).encode())

    assert [(message.trust, message.begins) for message in transcript.messages] == [("model", True)]


# --- compaction, runs, usage ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    [
        {"type": "compacted", "payload": {"message": "We fixed the build.", "replacement_history": [{"x": 1}]}},
        asked(
            "Another language model started to solve this problem and produced a summary of its thinking process. So"
        ),
        item(type="compaction", encrypted_content="c2VhbGVk"),
    ],
    ids=["compacted", "handed over", "sealed"],
)
def test_a_summary_of_codex_is_of_the_lowest_trust_and_the_originals_stay(row: dict[str, Any]) -> None:
    transcript = rollout(told("a"), said("b"), row, told("c"))

    summary = transcript.messages[2]
    assert (summary.trust, summary.begins) == ("external", False)
    assert codex.view(summary.source).role == "summary"
    assert [text(message) for message in transcript.messages[:2]] == ["a", "b"]


def test_a_compaction_without_a_text_is_reported() -> None:
    row = {"type": "compacted", "payload": {"replacement_history": []}}

    assert reasons(rollout(told("a"), row)) == ["not a message: a compaction without a text"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (event("turn_aborted", reason="interrupted"), "aborted"),
        (asked("<turn_aborted>\nThe user interrupted"), "aborted"),
        (event("error", message="429"), "error"),
    ],
    ids=["event", "item", "error"],
)
def test_a_turn_that_was_cut_off_is_a_failed_run(row: dict[str, Any], reason: str) -> None:
    transcript = rollout(told("a"), said("I begin"), row, told("b"), said("done"))

    assert [(run.outcome, run.reason) for run in transcript.runs] == [("failed", reason), ("succeeded", None)]


def test_reported_usage_is_that_of_the_answer_before_it_and_counts_once() -> None:
    count = event("token_count", info={"last_token_usage": {"input_tokens": 70, "output_tokens": 5}})

    transcript = rollout(
        count, told("a"), said("b"), count, count, told("c"), said("d"), event("token_count", info=None)
    )

    reported = [message.usage.input_tokens if message.usage else 0 for message in transcript.messages]
    assert reported == [0, 70, 0, 0]


def test_encrypted_reasoning_is_kept_with_the_row_it_came_in() -> None:
    transcript = read(SAMPLES / "rollout-excerpt.jsonl")

    sealed = [part for message in transcript.messages for part in codex.view(message.source).parts
              if isinstance(part, Reasoning)]  # fmt: skip
    assert len(sealed) == 12
    assert all(part.raw["encrypted_content"].startswith("gAAAA") for part in sealed)
    assert not any(part.text for part in sealed)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (item(type="ghost_snapshot", ghost_commit={}), "not a message: response_item ghost_snapshot"),
        (item(type="message", role="king", content="x"), "not a message: response_item message"),
        (event("task_started"), "not a message: event_msg task_started"),
        ({"type": "turn_context", "payload": {"model": "m"}}, "not a message: turn_context"),
        ({"type": "response_item"}, "malformed: a response_item without a payload"),
        ({"type": "event_msg", "payload": 7}, "malformed: a event_msg without a payload"),
        ({"type": "session_meta", "payload": {"id": "parent"}}, "not a message: session_meta"),
    ],
)
def test_a_row_that_is_no_message_is_reported(row: dict[str, Any], reason: str) -> None:
    transcript = rollout(told("a"), row)

    assert (transcript.session, reasons(transcript)) == ("s-1", [reason])


# --- the first generation ------------------------------------------------------------------------------

FLAT: list[dict[str, Any]] = [
    {"id": "old-1", "timestamp": "2025-08-18T01:16:13.522Z", "instructions": None, "git": {"branch": "main"}},
    {"record_type": "state"},
    {
        "type": "message",
        "id": None,
        "role": "user",
        "content": [{"type": "input_text", "text": "<environment_context>"}],
    },
    {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "list files"}]},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "ls"}],
        "encrypted_content": "eA==",
    },
    {"type": "local_shell_call", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "function_call_output", "call_id": "c1", "output": {"content": "no such file", "success": False}},
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls","-l"]}', "call_id": "c2"},
    {"type": "function_call_output", "call_id": "c2", "output": "a.py"},
    {"record_type": "state"},
    {"type": "message", "id": None, "role": "assistant", "content": [{"type": "output_text", "text": "a.py"}]},
]


def test_the_flat_rows_of_the_first_generation_are_a_codex_session() -> None:
    transcript = read("\n".join(map(json.dumps, FLAT)).encode())

    assert (transcript.format, transcript.session) == ("codex", "old-1")
    assert [message.source for message in transcript.messages] == [row for row in FLAT if "type" in row]
    assert [run.id for run in transcript.runs] == ["run-line-4"]
    assert [skip.reason for skip in transcript.skipped] == [
        "not a message: head of the session",
        "not a message: state",
        "not a message: state",
    ]
    failed = codex.view(FLAT[6]).parts[0]
    assert (failed.text, failed.is_error) == ("no such file", True)  # type: ignore[union-attr]


# --- a rollout that grows ------------------------------------------------------------------------------

MIRRORED = [
    {"type": "session_meta", "payload": {"id": "s"}},
    told("a"),
    asked("a"),
    said("1"),
    event("turn_aborted"),
    asked("<environment_context>"),
    asked("b"),
    told("b"),
    item(type="function_call", call_id="c", name="f", arguments="{}"),
    event("token_count", info={"last_token_usage": {"input_tokens": 3}}),
    item(type="function_call_output", call_id="c", output="x"),
    told("b"),
    asked("b"),
    said("2"),
]


@pytest.mark.parametrize("rows", [FLAT, MIRRORED], ids=["flat", "mirrored"])
def test_a_rollout_cut_anywhere_gives_the_same_messages_when_it_has_grown(rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    whole = read(b"".join(lines))
    for cut in range(3, len(lines)):
        first = read(b"".join(lines[:cut]))

        rest = tail(whole, {message.id: message.source for message in first.messages})

        assert first.session == whole.session
        ids = [message.id for message in (*first.messages, *rest.messages)]
        assert ids == [message.id for message in whole.messages]
