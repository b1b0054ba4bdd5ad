"""Real memory files and variants of our own come to what was written down before the code was (issue 4, D1, D8)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.curation import Declined, adopt_edit, take_in
from minutebook.domain.document import is_canonical, parse, render
from minutebook.domain.limits import MemoryLimits
from minutebook.domain.notes import read_notes
from minutebook.domain.tokens import count_text

SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", Path(__file__).parents[2].parent / "shared")) / "data" / "memory-md"
EXPECTED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "memory_files" / "expected.json").read_text(encoding="utf-8")
)["files"]


def data_of(source: dict[str, Any]) -> bytes:
    match source:
        case {"shared": name}:
            if not (SHARED / name).is_file():
                pytest.skip("the shared data folder is absent")
            return bytes((SHARED / str(name)).read_bytes())
        case {"hex": text}:
            return bytes.fromhex(str(text))
        case {"repeat": text, "times": times, "suffix": suffix}:
            return (str(text) * int(times) + str(suffix)).encode()
        case _:
            return str(source["text"]).encode()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_is_synced_fixed_or_refused_as_written_down(name: str) -> None:
    data, expected = data_of(EXPECTED[name]["data"]), EXPECTED[name]["sync"]
    parsed = parse(data)
    verdict = adopt_edit(parsed, (), revision=1, fix=True, count=count_text)
    problems = verdict.problems if isinstance(verdict, Declined) else ()
    assert sorted(parsed.fixes) == expected["fixed"]
    assert {problem.line for problem in problems} == {line for line, _ in expected["refused"]}
    assert {(line, code) for line, code in expected["refused"]} <= {(p.line, p.code) for p in problems}
    if not isinstance(verdict, Declined):
        assert verdict.data == render(parsed.entries)
        assert parse(verdict.data).canonical
        assert parse(verdict.data).entries == parsed.entries


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_is_imported_entry_by_entry_as_written_down(name: str) -> None:
    data, expected = data_of(EXPECTED[name]["data"]), EXPECTED[name]["import"]
    intake = take_in(read_notes(data), (), revision=1, count=count_text)
    assert intake.kind == expected["kind"]
    assert {problem.line for problem in intake.refused} == {line for line, _ in expected["refused"]}
    assert {(line, code) for line, code in expected["refused"]} <= {(p.line, p.code) for p in intake.refused}
    assert [[left.line, left.reason] for left in intake.left_out] == expected["left_out"]
    if "count" in expected:
        assert len(intake.notes) == expected["count"]
    else:
        assert [[note.line, note.text] for note in intake.notes] == expected["entries"]
    written = render([entry.text for entry in intake.entries])
    assert parse(written).canonical


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(is_canonical), max_size=6))
@settings(max_examples=150, deadline=None)
def test_what_is_canonical_already_is_imported_as_it_is(texts: list[str]) -> None:
    data = render(texts)
    notes = read_notes(data)
    if notes.kind == "entries" and not notes.left_out and not notes.problems:
        assert [note.line for note in notes.entries] == sorted({note.line for note in notes.entries})
        assert len(notes.entries) <= len(texts)


_NOTE_LINES = st.sampled_from(
    ["", "§", " § ", "# Title", "## Part:", "- item", "  - child", "1. first", "| a | b |", "| --- | --- |", "```",
     "code", "text that goes on", "Lead:", "> quoted", "====", "---", "x\x00y", "\ufeff", "\u2028",
     "é", "e\u0301", "\tq"]
)  # fmt: skip


@given(st.lists(_NOTE_LINES, max_size=14), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300, deadline=None)
def test_every_line_of_any_notes_ends_up_somewhere_and_every_number_exists(lines: list[str], end: str) -> None:
    data = end.join(lines).encode()
    notes = read_notes(data)
    numbers = [note.line for note in notes.entries] + [problem.line for problem in notes.problems]
    numbers += [left.line for left in notes.left_out]
    assert all(1 <= number <= len(lines) for number in numbers)
    intake = take_in(notes, (), revision=1)
    assert parse(render([entry.text for entry in intake.entries])).canonical
    told = " ".join(note.text for note in notes.entries)
    front = any(left.reason == "front_matter" for left in notes.left_out)  # named by its first line
    within = lines.index("---", 1) + 1 if front else 0
    for number, line in enumerate(lines, 1):
        if number > within and line == "text that goes on" and not any(problem.line for problem in notes.problems):
            assert line in told or any(left.line == number for left in notes.left_out)


def test_more_than_the_memory_holds_is_refused_from_the_line_that_no_longer_fits() -> None:
    lines = "\n".join(f"- fact number {number} of the list" for number in range(1, 260))
    intake = take_in(read_notes(lines.encode()), (), revision=1)
    assert len(intake.notes) == 200
    assert [problem.line for problem in intake.refused] == list(range(201, 260))
    assert {problem.code for problem in intake.refused} == {"too_many_entries"}


@pytest.mark.parametrize(("size", "fine"), [(999_999, True), (1_000_000, True), (1_000_001, False)])
def test_a_megabyte_is_read_and_no_more(size: int, fine: bool) -> None:
    notes = read_notes(b"a" * size, MemoryLimits())
    assert [problem.code for problem in notes.problems] == ([] if fine else ["file_too_large"])
