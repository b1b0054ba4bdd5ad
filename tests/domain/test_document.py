"""The canonical memory file: parse and render are inverse, and a person is told what is wrong and where (D1, D8)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minutebook.domain.document import canonical_text, digest, document_chars, is_canonical, parse, render
from minutebook.domain.errors import InputError
from minutebook.domain.limits import MemoryLimits

SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"

raw_text = st.text(st.characters(codec="utf-8"), max_size=40)
entries = st.lists(raw_text.map(canonical_text).filter(is_canonical), max_size=6)
pieces = st.sampled_from(
    [
        *(
            b"alpha",
            b"\xc2\xa7",
            b"\n",
            b"\r\n",
            b"\r",
            b" ",
            b"\t",
            b"\x00",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\xe2\x80\xa8",
        ),
        *(b"\xc2\x85", b"e\xcc\x81", b"\xc3\xa9", b"\x0b", b"# head", b"\xe2\x80\x8b", b"\xc2\xa0"),
    ]
)
file_bytes = st.one_of(st.binary(max_size=60), st.lists(pieces, max_size=14).map(b"".join))


@given(entries)
@settings(max_examples=150, deadline=None)
def test_what_is_rendered_is_read_back_equal(texts: list[str]) -> None:
    parsed = parse(render(texts))
    assert parsed.canonical
    assert list(parsed.entries) == texts


@given(file_bytes)
@example(b"\xef\xbb\xbf")
@example("\u2000x".encode())
@example("\u212b\n§\n\u1e9b\u0323\n".encode())
@settings(max_examples=400, deadline=None)
def test_bytes_without_a_problem_become_canonical_and_stay_so(data: bytes) -> None:
    parsed = parse(data)
    if parsed.problems:
        return
    again = render(parsed.entries)
    assert parse(again).canonical
    assert parse(again).entries == parsed.entries
    if parsed.canonical:
        assert again == data


@given(file_bytes)
@settings(max_examples=200, deadline=None)
def test_every_problem_names_a_line_that_exists(data: bytes) -> None:
    lines = max(1, data.count(b"\n") + (not data.endswith(b"\n")))
    assert all(1 <= problem.line <= lines for problem in parse(data).problems)


def test_an_empty_memory_is_zero_bytes() -> None:
    assert render([]) == b""
    assert parse(b"").canonical
    assert parse(b"").entries == ()


def test_the_form_is_the_one_that_the_requirements_name() -> None:
    assert render(["alpha", "béta"]) == b"alpha\n\xc2\xa7\nb\xc3\xa9ta\n"
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    "text", ["", " a", "a ", "a\nb", "§", "\ufeffa", "a\x00b", "e\u0301", "a\u2028b", "a\x85b", "\ud800"]
)
def test_a_text_that_is_no_entry_is_never_written(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        render(["fine", text])
    assert refusal.value.code == "bad_entry"


VARIANTS: list[tuple[str, bytes, tuple[str, ...], list[tuple[int, str]]]] = [
    ("two entries", b"a\n\xc2\xa7\nb\n", (), []),
    ("windows line ends", b"a\r\n\xc2\xa7\r\nb\r\n", ("crlf",), []),
    ("byte order mark", b"\xef\xbb\xbfa\n", ("bom",), []),
    ("only a byte order mark", b"\xef\xbb\xbf", ("bom",), []),
    ("no final newline", b"a\n\xc2\xa7\nb", ("final_newline",), []),
    ("blank lines around", b"\na\n\n\xc2\xa7\n\nb\n\n", ("blank_lines",), []),
    ("only a newline", b"\n", ("blank_lines",), []),
    ("trailing space", b"a \n", ("outer_space",), []),
    ("space around the separator", b"a\n \xc2\xa7 \nb\n", ("separator_space",), []),
    ("empty entry", b"a\n\xc2\xa7\n\xc2\xa7\nb\n", ("empty_entry",), []),
    ("separator at the end", b"a\n\xc2\xa7\n", ("empty_entry",), []),
    ("decomposed letters", b"e\xcc\x81\n", ("not_nfc",), []),
    ("two lines in an entry", b"a\n\xc2\xa7\nb\nc\n", (), [(3, "multi_line_entry")]),
    ("a heading before the first entry", b"# Memory\nold\n\xc2\xa7\nb\n", (), [(1, "multi_line_entry")]),
    ("plain notes without separators", b"# Notes\n- a\n- b\n", (), [(1, "no_separators")]),
    ("invalid bytes", b"a\n\xc2\xa7\nb\xff\n", (), [(3, "invalid_utf8")]),
    ("utf-16", "a\n".encode("utf-16"), (), [(1, "invalid_utf8")]),
    ("NUL", b"a\x00b\n", (), [(1, "nul")]),
    ("escape", b"a\n\xc2\xa7\n\x1b[2Kb\n", (), [(3, "control_character")]),
    ("lone carriage return", b"a\rb\n", (), [(1, "line_break")]),
    ("next line", b"a\xc2\x85b\n", (), [(1, "line_break")]),
    ("line separator", b"a\xe2\x80\xa8\xc2\xa7\xe2\x80\xa8b\n", (), [(1, "line_break")]),
    ("vertical tab", b"a\x0b\xc2\xa7\x0bb\n", (), [(1, "line_break")]),
]


@pytest.mark.parametrize(("data", "fixes", "problems"), [v[1:] for v in VARIANTS], ids=[v[0] for v in VARIANTS])
def test_a_hand_edit_is_accepted_fixed_or_refused_as_written_down(
    data: bytes, fixes: tuple[str, ...], problems: list[tuple[int, str]]
) -> None:
    parsed = parse(data)
    assert [(problem.line, problem.code) for problem in parsed.problems] == problems
    if not problems:
        assert parsed.fixes == fixes


def test_the_line_of_every_entry_is_known() -> None:
    assert parse(b"\na\n\xc2\xa7\n\n\nb\n").lines == (2, 6)


@pytest.mark.parametrize(("size", "fine"), [(999, True), (1000, True), (1001, False)])
def test_an_entry_holds_a_thousand_characters(size: int, fine: bool) -> None:
    codes = [problem.code for problem in parse(("a" * size + "\n").encode()).problems]
    assert codes == ([] if fine else ["entry_too_long"])


@pytest.mark.parametrize(("number", "fine"), [(199, True), (200, True), (201, False)])
def test_a_memory_holds_two_hundred_entries(number: int, fine: bool) -> None:
    codes = [problem.code for problem in parse(render([f"e{n}" for n in range(number)])).problems]
    assert codes == ([] if fine else ["too_many_entries"])


@pytest.mark.parametrize(("size", "fine"), [(15_999, True), (16_000, True), (16_001, False)])
def test_a_memory_holds_sixteen_thousand_characters_delimiters_included(size: int, fine: bool) -> None:
    texts = ["é" * 900 for _ in range(17)]
    texts.append("é" * (size - document_chars(texts) - 3))
    assert document_chars(texts) == len(render(texts).decode()) == size
    codes = [problem.code for problem in parse(render(texts)).problems]
    assert codes == ([] if fine else ["document_too_long"])


@pytest.mark.parametrize(("size", "fine"), [(999_999, True), (1_000_000, True), (1_000_001, False)])
def test_a_file_over_one_megabyte_is_not_read(size: int, fine: bool) -> None:
    codes = [problem.code for problem in parse(b"a" * (size - 1) + b"\n").problems]
    assert ("file_too_large" not in codes) is fine


def test_limits_come_from_anything_that_names_them() -> None:
    class Given:
        entry_chars_max = 10
        memory_chars_max = 100
        memory_entries_max = 3
        memory_tokens_max = 50
        memory_file_bytes_max = 1000
        operations_per_batch_max = 2
        curator_answer_bytes_max = 99

    assert MemoryLimits.of(Given()).entry_chars_max == 10


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder is absent")
@pytest.mark.parametrize(
    ("name", "entries_read", "fixes", "problems"),
    [
        (
            "hermes-large-en.md",
            16,
            {"final_newline", "empty_entry", "blank_lines"},
            [(30, "entry_too_long"), (33, "entry_too_long")],
        ),
        ("hermes-malformed-zh.md", 16, {"final_newline", "empty_entry", "blank_lines"}, [(1, "multi_line_entry")]),
        ("claude-index-long-lines.md", 0, {"blank_lines"}, [(1, "no_separators")]),
    ],
)
def test_real_memory_files_meet_the_outcome_that_was_written_down(
    name: str, entries_read: int, fixes: set[str], problems: list[tuple[int, str]]
) -> None:
    parsed = parse((SHARED / "memory-md" / name).read_bytes())
    assert len(parsed.entries) == entries_read
    assert set(parsed.fixes) == fixes
    assert [(problem.line, problem.code) for problem in parsed.problems] == problems
