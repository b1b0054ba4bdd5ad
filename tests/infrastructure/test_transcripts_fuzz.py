"""Whatever bytes come: a transcript or an InputError, every line accounted for, every view total."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.errors import InputError
from minutebook.domain.forms import FORMS
from minutebook.domain.message import View
from minutebook.infrastructure.work.transcripts import read_all, tail

_WORDS = st.sampled_from(
    [
        *("message", "compaction", "session", "user", "assistant", "system", "toolResult", "bashExecution", "tool"),
        *("text", "thinking", "toolCall", "tool_use", "tool_result", "image", "document", "base64", "summary", "x"),
        *("response_item", "event_msg", "compacted", "session_meta", "turn_context", "user_message", "turn_aborted"),
        *("function_call", "function_call_output", "custom_tool_call", "reasoning", "input_text", "output_text"),
        *("local_shell_call", "web_search_call", "token_count", "response", "run", "error", "finish", "null", "agent"),
    ]
)
_KEYS = st.sampled_from(
    [
        *("type", "message", "role", "content", "id", "uuid", "sessionId", "isSidechain", "isMeta", "isCompactSummary"),
        *("text", "thinking", "name", "input", "arguments", "tool_use_id", "toolCallId", "source", "data", "usage"),
        *("input_tokens", "timestamp", "stopReason", "summary", "messages", "loglines", "response", "choices"),
        *("tool_calls", "command", "output", "exitCode", "agentId", "media_type", "api", "provider", "metrics"),
        *("payload", "call_id", "output", "status", "action", "observation", "args", "info", "last_token_usage"),
        *("traj", "task_id", "trial", "history", "trajectory", "request", "object", "record_type", "instructions"),
        *("encrypted_content", "namespace", "tool_call_metadata", "extras", "cause", "stop_reason", "message_type"),
    ]
)
_ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | _WORDS | st.text(max_size=8)
_JSON = st.recursive(
    _ATOMS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=20,
)
_CONTENT = st.lists(
    st.fixed_dictionaries({"type": _WORDS | _JSON}, optional={"id": _WORDS, "text": _JSON, "input": _JSON})
)
_BODY = st.fixed_dictionaries({"role": _WORDS, "content": _CONTENT | _JSON}, optional={"usage": _JSON, "id": _WORDS})
_ITEM = st.fixed_dictionaries(
    {"type": _WORDS},
    optional={
        "role": _WORDS,
        "content": _CONTENT | _JSON,
        "call_id": _JSON,
        "name": _JSON,
        "arguments": _JSON,
        "output": _JSON,
        "message": _JSON,
        "info": _JSON,
        "summary": _JSON,
    },
)
_ROW = (
    st.fixed_dictionaries(
        {"type": _WORDS, "message": _BODY},
        optional={"uuid": _WORDS, "id": _JSON, "timestamp": _JSON, "isSidechain": st.booleans(), "agentId": _JSON},
    )
    | st.fixed_dictionaries({"type": _WORDS, "payload": _ITEM | _JSON}, optional={"timestamp": _JSON})
    | _ITEM
    | st.fixed_dictionaries(
        {"id": st.integers(), "source": st.sampled_from(["user", "agent", "environment"]) | _JSON},
        optional={
            "action": _WORDS,
            "args": _JSON,
            "observation": _WORDS,
            "content": _JSON,
            "tool_call_metadata": _JSON,
            "extras": _JSON,
        },
    )
)
_NESTED = st.fixed_dictionaries(
    {},
    optional={
        "traj": st.lists(_BODY | _JSON, max_size=3) | _JSON,
        "messages": st.lists(_BODY | _JSON, max_size=3),
        "history": st.lists(_BODY, max_size=2),
        "trajectory": _JSON,
        "input": st.lists(_ITEM, max_size=3) | _JSON,
        "output": st.lists(_ITEM, max_size=3) | _JSON,
        "object": st.just("response"),
        "response": _JSON | _BODY | st.fixed_dictionaries({"output": st.lists(_ITEM, max_size=2)}),
        "request": _JSON | st.fixed_dictionaries({"input": st.lists(_ITEM, max_size=2)}),
        "task_id": _JSON,
        "trial": _JSON,
    },
)


def _check(data: bytes) -> None:
    try:
        transcripts = read_all(data)
    except InputError:
        return  # anything else that is raised fails the test
    assert len({transcript.session for transcript in transcripts}) == len(transcripts)
    assert transcripts == read_all(data)
    for transcript in transcripts:
        taken = [line for message in transcript.messages for line in message.lines]
        reported = [skip.line for skip in transcript.skipped]
        assert sorted(taken + reported) == list(range(1, transcript.lines + 1))
        ids = [message.id for message in transcript.messages]
        assert len(set(ids)) == len(ids)
        assert tail(transcript, {message.id: message.source for message in transcript.messages}).messages == ()
        for message in transcript.messages:
            assert isinstance(FORMS[message.form](message.source), View)


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None)
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    _check(data)


@given(st.lists(_JSON | _ROW | _NESTED, min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_arbitrary_rows_are_read_or_refused(rows: list[Any]) -> None:
    _check("\n".join(map(json.dumps, rows)).encode())


@given(_JSON | _NESTED | st.lists(_ROW | _NESTED, max_size=5), st.sampled_from([None, 1]))
@settings(max_examples=100, deadline=None)
def test_arbitrary_documents_are_read_or_refused(document: Any, indent: int | None) -> None:
    _check(json.dumps(document, indent=indent).encode())


@given(_JSON | _ROW | st.lists(_ROW | _JSON, max_size=3))
@settings(max_examples=150, deadline=None)
def test_views_are_total_and_their_text_is_text(source: Any) -> None:
    for form in FORMS:
        view = FORMS[form](source)
        assert isinstance(view, View)
        assert view.role in ("system", "user", "assistant", "tool", "summary")


_SAMPLES = Path(__file__).parent.parent / "data" / "transcripts"
_FILES = sorted(path for path in _SAMPLES.rglob("*") if path.suffix in (".json", ".jsonl", ".traj"))


def _places(value: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every place inside a value: its path without the numbers of list items, what holds it, and its key."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        here = f"{path}/{key if isinstance(value, dict) else '-'}"
        yield here, value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner, here)


@pytest.mark.parametrize("file", _FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
@pytest.mark.parametrize("wrong", [[], {}, 5], ids=json.dumps)
def test_a_wrong_type_anywhere_in_a_real_transcript_is_read_or_refused(file: Path, wrong: Any) -> None:
    # given a sample of every format, with a value of another type in each kind of place that it has, one at a time
    text = file.read_text(encoding="utf-8")
    rows = file.suffix == ".jsonl"
    document = [json.loads(line) for line in text.splitlines()] if rows else json.loads(text)
    tried: set[str] = set()
    for path, holder, key in _places(document):
        if path in tried or len(tried) >= 80:
            continue
        tried.add(path)
        kept, holder[key] = holder[key], wrong
        # then it is read or refused, and never an error of the language
        _check("\n".join(map(json.dumps, document)).encode() if rows else json.dumps(document).encode())
        holder[key] = kept
