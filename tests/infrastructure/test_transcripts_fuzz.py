"""Whatever bytes come: a transcript or an InputError, every line accounted for, every view total."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.errors import InputError
from minutebook.domain.forms import claude_code, pi
from minutebook.domain.message import View
from minutebook.infrastructure.work.transcripts import read, tail

_WORDS = st.sampled_from(
    [
        *("message", "compaction", "session", "user", "assistant", "system", "toolResult", "bashExecution", "tool"),
        *("text", "thinking", "toolCall", "tool_use", "tool_result", "image", "document", "base64", "summary", "x"),
    ]
)
_KEYS = st.sampled_from(
    [
        *("type", "message", "role", "content", "id", "uuid", "sessionId", "isSidechain", "isMeta", "isCompactSummary"),
        *("text", "thinking", "name", "input", "arguments", "tool_use_id", "toolCallId", "source", "data", "usage"),
        *("input_tokens", "timestamp", "stopReason", "summary", "messages", "loglines", "response", "choices"),
        *("tool_calls", "command", "output", "exitCode", "agentId", "media_type", "api", "provider", "metrics"),
    ]
)
_ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | _WORDS | st.text(max_size=8)
_JSON = st.recursive(
    _ATOMS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=20,
)
_CONTENT = st.lists(st.fixed_dictionaries({"type": _WORDS}, optional={"id": _WORDS, "text": _JSON, "input": _JSON}))
_BODY = st.fixed_dictionaries({"role": _WORDS, "content": _CONTENT | _JSON}, optional={"usage": _JSON, "id": _WORDS})
_ROW = st.fixed_dictionaries(
    {"type": _WORDS, "message": _BODY},
    optional={"uuid": _WORDS, "id": _JSON, "timestamp": _JSON, "isSidechain": st.booleans(), "agentId": _JSON},
)


def _check(data: bytes) -> None:
    try:
        transcript = read(data)
    except InputError:
        return  # anything else that is raised fails the test
    taken = [line for message in transcript.messages for line in message.lines]
    reported = [skip.line for skip in transcript.skipped]
    assert sorted(taken + reported) == list(range(1, transcript.lines + 1))
    ids = [message.id for message in transcript.messages]
    assert len(set(ids)) == len(ids)
    assert tail(transcript, {message.id: message.source for message in transcript.messages}).messages == ()
    for message in transcript.messages:
        if message.form in ("pi", "claude-code"):
            assert isinstance((pi.view if message.form == "pi" else claude_code.view)(message.source), View)


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    _check(data)


@given(st.lists(_JSON | _ROW, min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_arbitrary_rows_are_read_or_refused(rows: list[Any]) -> None:
    _check("\n".join(map(json.dumps, rows)).encode())


@given(_JSON | st.lists(_ROW, max_size=5), st.sampled_from([None, 1]))
@settings(max_examples=200, deadline=None)
def test_arbitrary_documents_are_read_or_refused(document: Any, indent: int | None) -> None:
    _check(json.dumps(document, indent=indent).encode())


@given(_JSON | _ROW | st.lists(_ROW | _JSON, max_size=3))
@settings(max_examples=300, deadline=None)
def test_views_are_total_and_their_text_is_text(source: Any) -> None:
    for view in (pi.view(source), claude_code.view(source)):
        assert isinstance(view, View)
        assert view.role in ("system", "user", "assistant", "tool", "summary")
