"""Bad lines, bad files, and files that grow: reported, refused or taken, never lost and never a surprise."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.errors import InputError
from minutebook.infrastructure.work.transcripts import Limits, Transcript, pieces, read, tail

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "transcripts"


def _user(text: str, **more: Any) -> bytes:
    return json.dumps({"type": "message", "message": {"role": "user", "content": text}, **more}).encode()


def _claude(kind: str, content: Any, uuid: str, message: str | None = None, **more: Any) -> bytes:
    body = {"role": kind, "content": content} | ({"id": message} if message else {})
    return json.dumps({"type": kind, "uuid": uuid, "sessionId": "s", "message": body, **more}).encode()


def _file(*lines: bytes) -> bytes:
    return b"\n".join(lines) + b"\n"


def _reasons(transcript: Transcript) -> list[tuple[int, str]]:
    return [(skip.line, skip.reason) for skip in transcript.skipped]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "blank line"),
        (b" \t\r", "blank line"),
        (b"{broken", "not JSON"),
        (b'{"a": "\x00"}', "not JSON"),
        (b'{"a": "\xff\xfe"}', "not UTF-8: byte 8 of the line"),
        (b'{"a": NaN}', "not JSON: NaN is no JSON value"),
        (b'{"a": -Infinity}', "not JSON: -Infinity is no JSON value"),
        (b'{"a": 1e999}', "a number too large to be kept exactly"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number with too many digits"),
        (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}", "nested deeper than 200 levels"),
        (b"[" * 100_000, "nested deeper than 200 levels"),
        (b"42", "not an object"),
        (b'"text"', "not an object"),
        (b"[1]", "not an object"),
        (b"null", "not an object"),
        (b"{}", "not a message: no type"),
        (b'{"type": 7}', "not a message: 7"),
        (b'{"type": "model_change"}', "not a message: model_change"),
        (b'{"type": "message", "message": "text"}', "malformed: a message row without a message"),
        (b'{"type": "message", "message": {"role": "king"}}', "malformed: unknown role king"),
        (b'{"type": "message", "message": {"role": ["x"]}}', "malformed: unknown role"),
        (b'{"type": "\\u001b[31m"}', "not a message: '\\x1b[31m'"),
    ],
)
def test_a_bad_line_is_reported_with_its_number_and_the_others_are_taken(line: bytes, reason: str) -> None:
    transcript = read(_file(_user("one"), line, _user("two")))

    assert [message.lines for message in transcript.messages] == [(1,), (3,)]
    assert transcript.lines == 3
    [(number, told)] = _reasons(transcript)
    assert number == 2
    assert told.startswith(reason)


def test_a_line_longer_than_a_message_may_be_is_reported_without_being_read() -> None:
    limits = Limits(message_bytes_max=100)
    exactly = _user("x" * (100 - len(_user(""))))

    assert len(read(_file(exactly, _user("y")), limits=limits).messages) == 2
    transcript = read(_file(exactly + b" ", _user("y")), limits=limits)
    assert _reasons(transcript) == [(1, "too large: 101 bytes, at most 100")]


def test_strange_but_legal_json_comes_back_exactly() -> None:
    row = b'{"type":"message","message":{"role":"user","content":"\\ud800 \\u0000"},"n":123456789012345678901234567890,'
    row += b'"twice":1,"twice":2}'

    [message] = read(row).messages

    assert message.source == json.loads(row)
    assert message.source["twice"] == 2


def test_line_ends_of_windows_and_a_byte_order_mark_make_no_difference() -> None:
    plain = _file(_user("a", id="1"), _user("b", id="2"))

    other = read(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))

    assert other.messages == read(plain).messages


def test_a_unicode_line_separator_inside_a_text_ends_no_line() -> None:
    row = json.dumps({"type": "message", "message": {"role": "user", "content": "a\u2028b"}}, ensure_ascii=False)

    assert read(row.encode()).lines == 1


def test_a_last_line_that_is_still_being_written_is_taken_when_the_file_has_grown() -> None:
    whole = _file(_user("a"), _user("b"))

    cut = read(whole[:-20])
    grown = read(whole)

    assert len(cut.messages) == 1
    assert cut.skipped[0].reason.startswith("not complete JSON, and the file ends without a line end")
    assert [message.id for message in tail(grown, {"line-1"}).messages] == ["line-2"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"hello\nworld\n", "none of the 2 lines"),
        (bytes(range(256)) * 10, "none of the"),
        (gzip.compress(_user("a"), mtime=0), "gunzip"),
        (_user("a").decode().encode("utf-16"), "UTF-16"),
        (b"SQLite format 3\x00" + bytes(100), "SQLite"),
        (b'{\n  "messages": [\n', "a JSON document that cannot be read"),
        (b"[]", "none of the 0 lines"),
        (b'{"messages": []}', "none of the 0 lines"),
        (b'[{"role": "king"}]', "the one line"),
        (b'{"type": "session", "id": "x"}', "the one line"),
        (b'[{"traj": []}, {"traj": [7]}]', "none of the 2 lines"),
    ],
)
def test_a_file_without_a_recognisable_message_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        read(data)

    assert refused.value.code == "bad_transcript"


def test_a_file_that_is_no_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "absent", Path("a\0b"), Path("/dev/zero")):
        with pytest.raises(InputError) as refused:
            read(path)
        assert refused.value.code == "transcript_unreadable"


def test_a_file_that_does_not_fit_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(_user("x" * 100))
    for data in (tmp_path / "big", _user("x" * 100)):
        with pytest.raises(InputError) as refused:
            read(data, limits=Limits(file_bytes_max=100))
        assert refused.value.code == "transcript_too_large"
    with pytest.raises(InputError) as refused:
        read(b'[\n{"role": "user", "content": "' + b"x" * 200 + b'"}]', limits=Limits(message_bytes_max=100))
    assert refused.value.code == "transcript_too_large"


def test_more_lines_than_can_be_listed_are_refused() -> None:
    three = _file(*[_user("a")] * 3)

    assert read(three, limits=Limits(lines_max=3)).lines == 3
    for data in (_file(three), b'[\n1, 2, 3, {"role": "user", "content": "a"}]'):
        with pytest.raises(InputError) as refused:
            read(data, limits=Limits(lines_max=3))
        assert refused.value.code == "transcript_too_large"


def test_a_format_can_be_named_and_then_nothing_else_counts() -> None:
    chat = b'[{"role": "user", "content": "hello"}]'

    assert read(chat).format == "openai-chat"
    assert read(chat, "anthropic-messages").messages[0].form == "anthropic"
    with pytest.raises(InputError, match="pi message"):
        read(chat, "pi")
    with pytest.raises(InputError) as refused:
        read(chat, "word\x1b")
    assert refused.value.code == "bad_format"


def test_one_stray_line_does_not_turn_a_session_into_another_format() -> None:
    transcript = read(_file(b'{"role": "user", "content": "stray"}', _user("a"), _user("b")))

    assert transcript.format == "pi"
    assert _reasons(transcript) == [(1, "not a message: no type")]


def test_a_damaged_first_line_does_not_hide_the_lines_after_it() -> None:
    assert len(read(_file(b"{", _user("a"), _user("b"))).messages) == 2


def test_chat_messages_can_stand_one_a_line_in_a_list_and_in_a_logged_request() -> None:
    user = {"role": "user", "content": "hi"}
    answer = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]}
    log = {
        "messages": [user],
        "response": {
            "choices": [{"message": answer}, {"message": answer}, {}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        },
        "timestamp": 1757015046.5,
    }

    assert len(read(_file(json.dumps(user).encode(), json.dumps(answer).encode())).messages) == 2
    assert len(read(json.dumps([user, answer], indent=1).encode()).messages) == 2
    transcript = read(json.dumps(log, indent=1).encode())

    assert [message.source for message in transcript.messages] == [user, answer]
    said = transcript.messages[1]
    assert (said.usage and said.usage.input_tokens, said.time and said.time.year) == (7, 2025)
    assert _reasons(transcript) == [
        (3, "not a message: another choice of the same response"),
        (4, "not a message: a choice of the response without one"),
        (5, "not a message: key 'timestamp' of the document"),
    ]


def test_an_id_that_is_used_twice_or_is_not_safe_never_makes_two_messages_one() -> None:
    rows = [_user("a", id="x"), _user("b", id="x"), _user("a", id="x"), _user("c", id="../../etc"), _user("d", id=7)]

    transcript = read(_file(*rows, _user("e", id="line-7"), _user("f")))

    assert [message.id for message in transcript.messages] == ["x", "x@2", "line-4", "line-5", "line-7", "line-7@7"]
    assert _reasons(transcript) == [(3, "repeats line 1")]


@pytest.mark.parametrize(
    "name", ["a/b", "..", "a..b", ".a", "a.", "-a", "C:", "data:x", "nul", "CON.txt", "a@1", "a+1", "é"]
)
def test_an_id_that_could_be_anything_but_a_name_counts_as_none(name: str) -> None:
    [message] = read(_user("a", id=name)).messages

    assert message.id == "line-1"


def test_sidechain_lines_among_others_are_reported() -> None:
    transcript = read(_file(_claude("user", "a", "1"), _claude("user", "b", "2", isSidechain=True)))

    assert [message.id for message in transcript.messages] == ["1"]
    assert _reasons(transcript) == [(2, "sidechain: a line of a subagent's own conversation")]


# --- the same file again, and a grown file -----------------------------------------------------------


@pytest.mark.parametrize("sample", ["pi/session-excerpt.jsonl", "claude-code/tool_heavy.jsonl"])
def test_a_file_cut_anywhere_gives_the_same_messages_when_it_has_grown(sample: str) -> None:
    data = (SAMPLES / sample).read_bytes()
    lines = data.splitlines(keepends=True)
    whole = read(data)
    for cut in range(3, len(lines), 3):
        first = read(b"".join(lines[:cut]))
        known = {message.id: message.source for message in first.messages}

        rest = tail(whole, known)

        assert not known.keys() & {message.id for message in rest.messages}
        assert sorted(line for part in (first, rest) for message in part.messages for line in message.lines) == sorted(
            line for message in whole.messages for line in message.lines
        )
        assert {message.run for message in rest.messages} - {None} == {run.id for run in rest.runs}
        assert not {run.id for run in first.runs} & {run.id for run in rest.runs}
        known |= {message.id: message.source for message in rest.messages}
        assert tail(whole, known).messages == (), "the same file again changes nothing"


def test_the_tail_of_a_turn_is_a_run_of_its_own() -> None:
    rows = [
        _user("ask"),
        b'{"type":"message","message":{"role":"assistant","content":[],"stopReason":"stop"}}',
        _user("b"),
    ]

    rest = tail(read(_file(*rows)), {"line-1"})

    assert [(message.id, message.run) for message in rest.messages] == [
        ("line-2", "run-line-2"),
        ("line-3", "run-line-3"),
    ]


def test_lines_that_a_message_gained_later_become_a_message_that_goes_on_with_it() -> None:
    rows = [
        _claude("user", "ask", "u"),
        _claude("assistant", [{"type": "text", "text": "1"}], "a1", "msg"),
        _claude("assistant", [{"type": "text", "text": "2"}], "a2", "msg"),
        _claude("assistant", [{"type": "text", "text": "3"}], "a3", "msg"),
    ]
    known: dict[str, Any] = {}
    for count in range(1, len(rows) + 1):
        grown = tail(read(_file(*rows[:count])), known)
        known |= {message.id: message.source for message in grown.messages}

    assert list(known) == ["u", "a1", "a1+1", "a1+2"]
    assert [row for source in known.values() for row in source] == [json.loads(row) for row in rows]


def test_a_message_that_grew_is_cut_where_the_record_ends_so_that_its_past_can_be_compared() -> None:
    lines = [_claude("assistant", str(number), f"a{number}", "msg") for number in range(4)]
    first = read(_file(*lines[:2]))
    recorded = {message.id: message.source for message in first.messages}

    cut = pieces(read(_file(*lines)), recorded)

    assert [(message.id, message.lines) for message in cut.messages] == [("a0", (1, 2)), ("a0+2", (3, 4))]
    assert cut.messages[0].source == recorded["a0"]


def test_a_file_that_names_no_session_is_the_same_session_when_it_has_grown() -> None:
    chat = [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    other = [*chat[:1], {"role": "user", "content": "another"}]

    names = [read(json.dumps(messages).encode()).session for messages in (chat[:2], chat, other)]

    assert names[0] == names[1] != names[2]
    assert names[0].startswith("openai-chat-")


def test_lines_of_one_id_that_are_larger_together_than_a_message_are_several() -> None:
    row = [{"type": "text", "text": "x" * 100}]
    data = _file(_claude("assistant", row, "a", "m"), _claude("assistant", row, "b", "m"))

    assert len(read(data).messages) == 1
    assert len(read(data, limits=replace(Limits(), message_bytes_max=300)).messages) == 2


def test_progress_is_told_to_the_end() -> None:
    data = _file(*[_user("x")] * 450)
    told: list[tuple[int, int, int]] = []

    read(data, progress=lambda lines, done, total: told.append((lines, done, total)))

    assert [lines for lines, _, _ in told] == [200, 400, 450]
    assert told[-1][1:] == (len(data), len(data))
