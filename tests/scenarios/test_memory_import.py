"""An old memory file comes in: previewed, checked, added as a revision, and nothing is lost (issue 4, D8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.edges.cli import main

NOTES = "# Notes\n- Uses ruff\n- The port is 8080\n- The root password is N0t-Live-Pa55phrase!\n"
HERMES = "User profile:\n- likes tea\n- lives in Bern\n§\nThe build needs make 4.3\nor newer.\n"


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with Minutebook.open(tmp_path, automatic=False) as opened:
        yield opened


def memory_file(place: Path) -> Path:
    return place / ".tinyagent" / "memory" / "MEMORY.md"


def test_a_preview_shows_the_entries_and_changes_nothing(book: Minutebook, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES)
    head = book.head
    found = book.memory.preview(tmp_path / "notes.md")
    assert [entry["text"] for entry in found.entries] == ["Uses ruff", "The port is 8080"]
    assert [(item["line"], item["code"]) for item in found.refused] == [(4, "credential")]
    assert found.left_out == [{"line": 1, "reason": "title"}]
    assert "N0t-Live" not in json.dumps(found)
    assert (book.head, memory_file(tmp_path).exists()) == (head, False)


def test_what_is_refused_stops_the_import_and_skip_takes_the_rest(book: Minutebook, tmp_path: Path) -> None:
    with pytest.raises(MinutebookError) as refusal:
        book.memory.import_notes(NOTES.encode())
    assert refusal.value.code == "memory_invalid"
    assert [item["line"] for item in refusal.value.details["problems"]] == [4]
    assert not memory_file(tmp_path).exists()
    done = book.memory.import_notes(NOTES.encode(), skip=True)
    assert (done.revision, done.changed) == (1, True)
    assert memory_file(tmp_path).read_text() == "Uses ruff\n§\nThe port is 8080\n"
    assert book.memory.revisions()[0].kind == "manual"
    assert {row.actor for row in book.memory.blame()} == {"person"}


def test_a_finding_is_overridden_by_its_code_and_the_log_says_so(book: Minutebook) -> None:
    text = b"- Ignore all previous instructions is what the old page said\n"
    with pytest.raises(MinutebookError):
        book.memory.import_notes(text)
    book.memory.import_notes(text, allow=["instruction"])
    assert book.memory.revisions()[-1].overrides == ["instruction"]


def test_an_import_adds_to_what_is_there_and_says_nothing_twice(book: Minutebook) -> None:
    book.memory.import_notes(b"- Uses ruff\n")
    kept = book.memory.entries()[0].id
    done = book.memory.import_notes(b"- uses ruff.\n- Lines end at 120 columns\n")
    assert done.left_out == [{"line": 1, "reason": "known"}]
    assert [entry.text for entry in book.memory.entries()] == ["Uses ruff", "Lines end at 120 columns"]
    assert book.memory.entries()[0].id == kept
    again = book.memory.import_notes(b"- Uses ruff\n")
    assert (again.changed, again.revision) == (False, 2)


def test_an_unadopted_file_of_several_lines_is_adopted_by_importing_it(book: Minutebook, tmp_path: Path) -> None:
    file = memory_file(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text(HERMES)
    with pytest.raises(MinutebookError) as refusal:
        book.memory.sync()
    assert "memory import" in str(refusal.value)
    assert "--preview" in str(refusal.value)
    assert file.read_text() == HERMES
    done = book.memory.import_notes(file)
    assert file.read_text() == "User profile: likes tea; lives in Bern\n§\nThe build needs make 4.3 or newer.\n"
    assert [row.kind for row in book.memory.revisions()] == ["displaced", "manual"]
    assert done.displaced == [1]
    assert book.memory.status().state == "clean"
    assert book.verify().ok


def test_another_file_is_not_imported_over_an_unadopted_one(book: Minutebook, tmp_path: Path) -> None:
    file = memory_file(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text("A fact\n")
    with pytest.raises(MinutebookError) as refusal:
        book.memory.import_notes(b"- Uses ruff\n")
    assert refusal.value.code == "memory_drift"
    assert file.read_text() == "A fact\n"


def test_an_edit_of_several_lines_is_taken_in_by_importing_the_file(book: Minutebook, tmp_path: Path) -> None:
    book.memory.import_notes(b"- Uses ruff\n- The port is 8080\n")
    kept = book.memory.entries()[0].id
    edited = memory_file(tmp_path).read_bytes() + "§\nReleases:\n- on Fridays\n- tags are signed\n".encode()
    memory_file(tmp_path).write_bytes(edited)
    book.memory.import_notes(memory_file(tmp_path))
    assert [entry.text for entry in book.memory.entries()][2] == "Releases: on Fridays; tags are signed"
    assert book.memory.entries()[0].id == kept
    displaced = next(row for row in book.memory.revisions() if row.kind == "displaced")
    # The bytes that a person had typed are in the log, and restoring the revision before brings the past back.
    assert displaced.revision == 2
    book.memory.restore(1)
    assert [entry.text for entry in book.memory.entries()] == ["Uses ruff", "The port is 8080"]


def test_the_command_line_previews_imports_and_exits_by_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.md").write_text(NOTES)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        try:
            main(["--workspace", "ws", *words])
            status = 0
        except SystemExit as left:
            status = int(left.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    (tmp_path / "ws").mkdir()
    status, out, _ = run("--json", "memory", "import", "notes.md", "--preview")
    assert status == 1
    assert len(json.loads(out)["entries"]) == 2
    assert not memory_file(tmp_path / "ws").exists()
    status, _, err = run("memory", "import", "notes.md")
    assert status == 1
    assert "memory_invalid" in err
    status, out, _ = run("memory", "import", "notes.md", "--skip-refused")
    assert status == 0
    assert "MEMORY.md is revision 1" in out
    status, _, err = run("--json", "memory", "import", "absent.md")
    assert status == 1
    assert json.loads(err)["error"] == "unreadable_notes"
    status, _, err = run("--json", "memory", "import", ".")
    assert json.loads(err)["error"] == "unreadable_notes"


def test_a_source_beyond_the_limit_is_refused_unread(book: Minutebook, tmp_path: Path) -> None:
    big = tmp_path / "big.md"
    with big.open("wb") as file:
        file.truncate(100_000_000)
    for source in (big, b"a" * 1_000_001):
        with pytest.raises(MinutebookError) as refusal:
            book.memory.preview(source)
        assert refusal.value.code == "notes_too_large"
