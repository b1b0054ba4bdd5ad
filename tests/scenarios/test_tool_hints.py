"""Hints for single tools come from every place that a setting comes from (C3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.policy import ToolHint


def test_hints_come_from_the_file_the_environment_and_python(place: Path) -> None:
    hint = ToolHint("read_*", keep=True, arguments=("path", "line"))
    (place / "minutebook.toml").write_text(
        '[[tool_hints]]\ntool = "read_*"\nkeep = true\narguments = ["path", "line"]\n'
    )

    assert Settings.load(place, environ={}).tool_hints == (hint,)
    said = '[{"tool": "read_*", "keep": true, "arguments": ["path", "line"]}]'
    assert Settings.load(environ={"MINUTEBOOK_TOOL_HINTS": said}).tool_hints == (hint,)
    assert Settings(tool_hints=[{"tool": "read_*", "keep": True, "arguments": ["path", "line"]}]).tool_hints == (hint,)
    assert Settings(tool_hints=(hint,)).tool_hints == (hint,)


@pytest.mark.parametrize("said", ["not json", "{}", '[{"keep": true}]', '[{"tool": "a", "kept": 1}]', '["a"]'])
def test_a_hint_that_is_none_is_refused_with_its_setting(said: str) -> None:
    with pytest.raises(MinutebookError, match="tool_hints") as caught:
        Settings.load(environ={"MINUTEBOOK_TOOL_HINTS": said})
    assert caught.value.code == "bad_setting"


def test_a_hint_decides_what_a_context_shows(place: Path, conversation: Any) -> None:
    def shown(folder: Path, **given: Any) -> set[str]:
        folder.mkdir(exist_ok=True)
        settings = Settings(context_window=24_000, **given)
        with Minutebook.open(folder, automatic=False, settings=settings) as book:
            book.session("s").append(conversation(10))
            with book.session("s").run() as run:
                run.append({"role": "user", "content": "Go on."})
                return {message["state"] for message in run.context().messages}

    assert "reduced" in shown(place / "usual")
    assert "reduced" not in shown(place / "kept", tool_hints=(ToolHint("compile", keep=True),))
