"""A session and memory go out in the form that somebody else reads, originals whole (surface.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores import PACKAGE

from minutebook import Minutebook, MinutebookError

Command = Callable[..., Any]


def test_every_original_goes_out_and_comes_in_again(story: Any, command: Command, tmp_path: Path) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        sources = [message.source for message in book.find_session("build-42").messages()]
    done = command("export", "build-42")
    assert done.code == 0
    assert done.lines == sources
    saved = tmp_path / "session.jsonl"
    assert command("export", "build-42", "--to", saved, "--json").answer == {
        "file": str(saved), "bytes": len(done.out.encode()),
    }  # fmt: skip
    assert saved.stat().st_mode & 0o777 == 0o600
    again = command("import", saved, "--session", "again", "--json").answer
    assert (again["messages"], again["skipped"]) == (len(sources), [])
    assert command("export", "again").out == done.out


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("neutral", {"position", "id", "role", "content", "state"}),
        ("openai", {"role", "content"}),
        ("openai-responses", {"role"}),
        ("anthropic", {"role", "content"}),
    ],
)
def test_a_session_goes_out_in_the_form_of_a_provider(story: Any, command: Command, form: str, first: set[str]) -> None:
    lines = command("export", "build-42", "--as", form).lines
    assert first <= set(lines[0])
    text = json.dumps(lines)
    assert "Please look at part 0 of the build" in text
    assert "Please look at part 11 of the build" in text
    assert "line 119: compiled unit_0119.c without a warning" in text, "a summary stands for it in the context only"


def test_a_session_is_read_by_a_person(story: Any, command: Command) -> None:
    text = command("export", "-", "--as", "markdown").out
    assert text.startswith("# Session ")
    text = command("export", "build-42", "--as", "markdown").out
    assert "\n## user (" in text
    assert "Calls `compile`:" in text


def test_memory_goes_out_as_the_bytes_of_its_file_or_with_its_origin(story: Any, command: Command) -> None:
    memory = (story.root / ".tinyagent" / "memory" / "MEMORY.md").read_text()
    assert command("export", "--memory").out == memory
    (story.root / ".tinyagent" / "memory" / "MEMORY.md").write_text("an edit that nobody took in\n")
    assert command("export", "--memory").out == memory
    rows = json.loads(command("export", "--memory", "--as", "json").out)
    assert [row["text"] for row in rows] == memory.rstrip("\n").split("\n§\n")
    assert {"entry", "text", "revision", "operation", "run", "messages", "actor"} <= set(rows[0])


def test_empty_memory_is_no_bytes(place: Path, command: Command) -> None:
    Minutebook.open(place, automatic=False).close()
    assert command("export", "--memory").out == ""
    assert json.loads(command("export", "--memory", "--as", "json").out) == []


@pytest.mark.parametrize("words", [(), ("build-42", "--log"), ("--log", "--memory"), ("--log", "--as", "openai")])
def test_one_thing_is_exported_at_a_time(story: Any, command: Command, words: tuple[str, ...]) -> None:
    assert command("export", *words).code == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [(("nobody",), "unknown_session"), (("build-42", "--as", "pdf"), "unknown_form"),
     (("--memory", "--as", "openai"), "unknown_form")],
)  # fmt: skip
def test_what_cannot_be_exported_is_refused(
    story: Any, command: Command, tmp_path: Path, words: tuple[str, ...], code: str
) -> None:
    assert command("export", *words, "--json").refusal["error"] == code
    assert command("export", *words, "--to", tmp_path / "out", "--json").refusal["error"] == code
    assert not (tmp_path / "out").exists()


def test_an_export_goes_over_nothing(story: Any, command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = command("export", "build-42", "--to", tmp_path / "mine", "--json")
    assert done.refusal["error"] == "file_exists"
    assert (tmp_path / "mine").read_text() == "mine"


def test_python_gives_the_same(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        assert [json.loads(line) for line in book.find_session("build-42").export()]
        assert book.memory.export().decode() == (story.root / ".tinyagent" / "memory" / "MEMORY.md").read_text()
        with pytest.raises(MinutebookError) as refused:
            book.find_session("build-42").export("pdf")
        assert refused.value.code == "unknown_form"


@pytest.mark.sqlite_only("about the shell, and no database")
@pytest.mark.parametrize(
    ("line", "wanted"), [("minutebook back", {"backup", "backtest"}), ("minutebook memory qu", {"quarantine"})]
)
def test_a_shell_completes_commands(tmp_path: Path, line: str, wanted: set[str]) -> None:
    code = "import sys; sys.argv[0] = 'minutebook'; from minutebook.infrastructure.edges.cli import main; main()"
    environment = {
        **os.environ, "PYTHONPATH": str(PACKAGE), "_MINUTEBOOK_COMPLETE": "complete_bash", "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert wanted <= set(done.stdout.split()), done.stderr
