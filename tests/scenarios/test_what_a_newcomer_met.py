"""What someone who saw minutebook for the first time ran into: each answer names what is wrong and the mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook import MinutebookError, Settings


@pytest.mark.sqlite_only("a file beside which nothing is ready")
def test_init_beside_a_file_that_is_no_book_says_so(command: Any, tmp_path: Path) -> None:
    (tmp_path / ".tinyagent").mkdir(exist_ok=True)
    (tmp_path / ".tinyagent" / "minutebook.db").write_text("shopping list\n")
    done = command("init", "--json", workspace=tmp_path)
    assert (done.code, done.refusal["error"]) == (1, "not_a_book")
    assert (tmp_path / ".tinyagent" / "minutebook.db").read_text() == "shopping list\n"


@pytest.mark.sqlite_only("a file")
def test_init_over_what_a_first_start_left_is_ready_and_the_first_who_writes_makes_the_book(
    command: Any, tmp_path: Path
) -> None:
    place = tmp_path / "w" / ".tinyagent"
    place.mkdir(parents=True)
    (place / "minutebook.db").touch()
    assert command("init").code == 0
    assert command("memory", "propose", "add", "The door is green.").code == 0
    assert command("status").code == 0


@pytest.mark.sqlite_only("a server that is not there")
def test_init_says_when_its_server_is_not_there(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEBOOK_DATABASE", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    assert command("init", "--json").refusal["error"] == "store_unreachable"


def test_of_a_folder_of_transcripts_the_bad_one_is_named(command: Any, tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    folder.mkdir()
    (folder / "a.json").write_text('[{"role": "user", "content": "Hello."}]')
    (folder / "b.json").write_text('[{"role": "us')
    done = command("import", folder, "--json")
    assert (done.code, done.refusal["error"]) == (1, "bad_transcript")
    assert done.refusal["message"].startswith("b.json: ")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"context_windw": 1}, "did you mean 'context_window'?"),
        ({"qqq": 1}, "docs/reference/settings.md"),
        ({"context_window": -3}, "setting 'context_window'"),
    ],
)
def test_a_setting_that_is_none_has_a_code_in_python_too(values: dict[str, object], said: str) -> None:
    with pytest.raises(MinutebookError) as refusal:
        Settings(**values)
    assert refusal.value.code == "bad_setting"
    assert said in refusal.value.message
    assert "pydantic" not in refusal.value.message


@pytest.mark.parametrize("group", [(), ("memory",), ("session",), ("projections",), ("erase",), ("evidence",)])
def test_the_help_cuts_no_sentence(command: Any, group: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = command(*group, "--help").out
    assert "Commands:" in said
    assert "..." not in said.partition("Commands:")[2]
