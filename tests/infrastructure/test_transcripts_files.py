"""Real transcripts: every object comes back verbatim, every line is taken or reported, counts as documented."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.forms import FORMS, claude_code, pi
from minutebook.domain.message import ToolCall, ToolResult
from minutebook.infrastructure.work.transcripts import FORMATS, Transcript, read, read_all

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "transcripts"
SAMPLES = ROOT / "tests" / "data" / "transcripts"
PAGE = ROOT / "docs" / "reference" / "transcripts.md"

_COUNTS = re.compile(r"\| `([^`]+\.(?:jsonl?|traj))` \| ([a-z-]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|")


@dataclass(frozen=True)
class Expected:
    """One row of the page's tables of counts."""

    root: Path
    file: str
    format: str
    counts: tuple[int, ...]

    @property
    def path(self) -> Path:
        path = self.root / self.file
        if self.root == SHARED and not SHARED.is_dir():
            pytest.skip(f"the shared data is absent: {SHARED}")
        return path


def _documented() -> Iterator[Expected]:
    shared, samples = PAGE.read_text(encoding="utf-8").split("Samples in the repository:")
    for root, text in ((SHARED, shared), (SAMPLES, samples)):
        for file, format, *counts in _COUNTS.findall(text):
            yield Expected(root, file, format, tuple(map(int, counts)))


DOCUMENTED = list(_documented())
every_file = pytest.mark.parametrize("expected", DOCUMENTED, ids=lambda e: f"{e.root.name}/{e.file}")


def _raws(path: Path) -> list[dict[int, Any]]:
    """Of each conversation, line or element number to value, read without any code of the importer."""
    text = path.read_text(encoding="utf-8")
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        lines = text.removesuffix("\n").split("\n")
        return [{number: json.loads(line) for number, line in enumerate(lines, 1)}]
    if isinstance(document, list):
        conversations = [element["traj"] for element in document if "traj" in element] or [document]
    else:
        conversations = [_elements(document)]
    return [dict(enumerate(listed, 1)) for listed in conversations]


def _elements(document: dict[str, Any]) -> list[Any]:
    request = document.get("request", document)
    keys = ("messages", "loglines", "input", "history")
    listed = next((request[key] for key in keys if key in request), None)
    if listed is None:
        return [document]
    response = document.get("response", {})
    answers = [choice["message"] for choice in response.get("choices", [])] or response.get("output", [])
    return [*listed, *(answers or ([response] if "content" in response else []))]


def _raw(path: Path) -> dict[int, Any]:
    [found] = _raws(path)
    return found


def _sources(transcript: Transcript) -> dict[int, Any]:
    """Line number to the object that the messages keep for it."""
    found: dict[int, Any] = {}
    for message in transcript.messages:
        kept = message.source if message.form == "claude-code" else [message.source]
        found.update(zip(message.lines, kept, strict=True))
    return found


@every_file
def test_the_counts_of_a_file_are_the_documented_ones(expected: Expected) -> None:
    transcripts = read_all(expected.path)

    found = [
        (
            transcript.lines,
            len(transcript.messages),
            len(transcript.skipped),
            len(transcript.runs),
            sum(run.outcome == "failed" for run in transcript.runs),
        )
        for transcript in transcripts
    ]
    totals = tuple(sum(counts) for counts in zip(*found, strict=True))
    assert ({transcript.format for transcript in transcripts}, totals) == ({expected.format}, expected.counts)


def test_every_format_has_a_file_with_documented_counts() -> None:
    assert {expected.format for expected in DOCUMENTED} == set(FORMATS)


@every_file
def test_every_raw_object_comes_back_verbatim_or_is_reported(expected: Expected) -> None:
    for raw, transcript in zip(_raws(expected.path), read_all(expected.path), strict=True):
        kept, reported = _sources(transcript), {skip.line for skip in transcript.skipped}
        assert kept.keys() & reported == set()
        assert sorted(kept.keys() | reported) == list(range(1, transcript.lines + 1))
        assert all(kept[number] == value for number, value in raw.items() if number not in reported)
        assert all(number in reported for number in range(len(raw) + 1, transcript.lines + 1))


@every_file
def test_ids_are_unique_and_every_run_is_told(expected: Expected) -> None:
    transcripts = read_all(expected.path)

    assert len({transcript.session for transcript in transcripts}) == len(transcripts)
    for transcript in transcripts:
        ids = [message.id for message in transcript.messages]
        assert len(set(ids)) == len(ids)
        named = {message.run for message in transcript.messages} - {None}
        assert named == {run.id for run in transcript.runs}
        assert all(message.time is None or message.time.tzinfo is not None for message in transcript.messages)


def _calls_and_results(raw: dict[int, Any]) -> tuple[list[str], list[str]]:
    """Ids of all tool calls and of all results in raw rows, read without any code of the importer."""
    calls: list[str] = []
    results: list[str] = []
    for row in raw.values():
        message = row.get("message", row) if isinstance(row, dict) else None
        if not isinstance(message, dict):
            continue
        results += [message["toolCallId"]] if message.get("role") == "toolResult" else []
        for block in message.get("content") or []:
            if isinstance(block, dict):
                calls += [block["id"]] if block.get("type") in ("tool_use", "toolCall") else []
                results += [block["tool_use_id"]] if block.get("type") == "tool_result" else []
        item = row.get("payload", row)
        calls += [item["call_id"]] if item.get("type") == "function_call" else []
        results += [item["call_id"]] if item.get("type") == "function_call_output" else []
        calls += [call["id"] for call in message.get("tool_calls") or []]
        results += [message["tool_call_id"]] if "tool_call_id" in message else message.get("tool_call_ids") or []
    return calls, results


@pytest.mark.parametrize(
    "expected",
    [found for found in DOCUMENTED if found.format != "openhands"],
    ids=lambda e: f"{e.root.name}/{e.file}",
)
def test_every_call_and_result_of_a_file_is_seen_in_the_view(expected: Expected) -> None:
    for raw, transcript in zip(_raws(expected.path), read_all(expected.path), strict=True):
        parts = [part for message in transcript.messages for part in FORMS[message.form](message.source).parts]
        calls = [part for part in parts if isinstance(part, ToolCall)]
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        assert (sorted(call.id for call in calls), sorted(results)) == tuple(map(sorted, _calls_and_results(raw)))
        assert all(not call.arguments or isinstance(json.loads(call.arguments), dict) for call in calls)


def test_lines_that_share_an_assistant_message_id_are_one_message() -> None:
    raw = _raw(SAMPLES / "claude-code" / "tool_heavy.jsonl")
    shared = {value["message"]["id"] for value in raw.values() if value["type"] == "assistant"}

    transcript = read(SAMPLES / "claude-code" / "tool_heavy.jsonl")

    answers = [message for message in transcript.messages if message.trust == "model"]
    assert len(answers) == len(shared) == 4
    assert max(len(message.lines) for message in answers) > 2
    split = next(message for message in answers if message.lines[:2] == (25, 27))
    assert transcript.messages.index(split) < next(
        index for index, message in enumerate(transcript.messages) if message.lines == (26,)
    )


def test_a_summary_of_the_sources_own_compaction_is_a_message_of_the_lowest_trust_and_the_originals_stay() -> None:
    transcript = read(SAMPLES / "pi" / "session-excerpt.jsonl")

    at, summary = next(
        (index, message) for index, message in enumerate(transcript.messages) if message.trust == "external"
    )
    view = pi.view(summary.source)
    assert view.role == "summary"
    assert view.parts[0].text.startswith("# Context Checkpoint")  # type: ignore[union-attr]
    assert not summary.begins
    assert at > 5, "what the summary tells of still stands before it"


def test_a_claude_code_compaction_summary_is_of_the_lowest_trust_too() -> None:
    path = SHARED / "claude-code" / "258c7280-ae70-4798-800f-63464d01a85d.jsonl"
    if not path.exists():
        pytest.skip(f"the shared data is absent: {path}")

    summaries = [message for message in read(path).messages if claude_code.view(message.source).role == "summary"]

    assert [(message.trust, message.line, message.begins) for message in summaries] == [("external", 352, False)]


def test_an_aborted_turn_is_a_failed_run_and_a_shell_command_of_the_user_begins_none() -> None:
    transcript = read(SAMPLES / "pi" / "session-excerpt.jsonl")

    assert [(run.outcome, run.reason) for run in transcript.runs] == [
        ("succeeded", None),  # lines 3-14 end with an answer
        ("failed", "aborted"),
        ("failed", "aborted"),
        ("failed", "aborted"),
        ("failed", "error"),
        ("succeeded", None),
    ]
    shell = next(
        message for message in transcript.messages if message.source.get("message", {}).get("role") == "bashExecution"
    )
    assert (shell.trust, shell.begins) == ("tool", False)
    assert pi.view(shell.source).parts[0].text.startswith("$ ls\nAGENTS.md")  # type: ignore[union-attr]


def test_what_claude_code_wrote_itself_is_no_request_of_the_user() -> None:
    transcript = read(SAMPLES / "claude-code" / "tool_heavy.jsonl")

    requests = [message.line for message in transcript.messages if message.begins]
    assert requests == [2, 13, 18]  # the third row from the user is a slash command that the user typed
    assert [run.reason for run in transcript.runs] == ["aborted", None, "aborted"]


def test_a_subagents_file_is_a_session_of_its_own_asked_by_a_model() -> None:
    path = SHARED / "claude-code" / "258c7280-ae70-4798-800f-63464d01a85d" / "subagents" / "agent-a881341.jsonl"
    if not path.exists():
        pytest.skip(f"the shared data is absent: {path}")

    transcript = read(path)

    assert transcript.session == "258c7280-ae70-4798-800f-63464d01a85d-agent-a881341"
    assert transcript.messages[0].trust == "model"
    assert transcript.messages[0].begins


def test_usage_counts_what_came_from_the_cache() -> None:
    transcript = read(SAMPLES / "pi" / "session-excerpt.jsonl")

    first = next(message for message in transcript.messages if message.usage is not None)
    raw = first.source["message"]["usage"]
    assert first.usage is not None
    assert first.usage.input_tokens == raw["input"] + raw["cacheRead"] + raw["cacheWrite"]
    assert first.usage.output_tokens == raw["output"]


def test_the_demo_session_is_hundreds_of_messages_with_calls_and_a_compaction() -> None:
    path = ROOT / "docs" / "demo" / "session.jsonl"

    transcript = read(path)

    assert path.stat().st_size < 1_000_000
    assert (transcript.lines, len(transcript.messages), len(transcript.runs)) == (370, 365, 14)
    assert [message.line for message in transcript.messages if message.trust == "external"] == [360]
