"""The reference pages are printed from the code: they are equal to it, and nothing of the code is missing in them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import minutebook
from minutebook.domain.events import TOPICS
from minutebook.infrastructure.book.evidence import Evidence
from minutebook.infrastructure.book.memory import Memory
from minutebook.infrastructure.book.projections import ProjectionsFace
from minutebook.infrastructure.edges.cli.app import app
from minutebook.infrastructure.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
INSIDE = {(minutebook.Context, "of"), (minutebook.Context, "built")}
"""Public by name only: the composition root calls them."""


@pytest.fixture(scope="module")
def generator() -> Any:
    """``docs/generate.py`` as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_pages_are_what_the_code_says(generator: Any) -> None:
    assert generator.differences() == "", "run 'make docs'"


def test_a_changed_page_fails_the_check_with_a_diff(
    generator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generator, "REFERENCE", tmp_path)
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    page = tmp_path / "settings.md"
    page.write_text(page.read_text(encoding="utf-8").replace("`context_window`", "`window`"), encoding="utf-8")

    assert generator.main(["--check"]) == 1

    told = capsys.readouterr().out
    assert "-| `window` |" in told
    assert "+| `context_window` |" in told
    assert "make docs" in told


def test_the_pages_have_the_same_bytes_in_another_process(generator: Any, tmp_path: Path) -> None:
    code = (
        "import pathlib, runpy, sys; sys.argv = ['generate.py'];"
        f"g = runpy.run_path({str(ROOT / 'docs' / 'generate.py')!r});"
        f"[pathlib.Path({str(tmp_path)!r}, n).write_text(p(), encoding='utf-8') for n, p in g['PAGES'].items()]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={"PYTHONHASHSEED": "7"}, cwd=tmp_path)
    for name, page in generator.PAGES.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == page()


def test_every_command_is_on_the_page_and_has_help(generator: Any) -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    found = list(generator.cli.commands(app))
    assert len(found) > 30
    for name, call in found:
        assert f"\n## {name}\n" in text
        assert call.__doc__, f"minutebook {name} has no help text"


def test_every_option_has_help(generator: Any) -> None:
    missing = [
        f"{name} {each.name}"
        for name, call in generator.cli.commands(app)
        for each in generator.cli.parameters(call)
        if each.kind == "option" and not each.help
    ]
    assert not missing


def test_every_event_and_every_setting_is_on_its_page() -> None:
    events = (REFERENCE / "events.md").read_text(encoding="utf-8")
    settings = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    for topic in TOPICS:
        assert f"\n## {topic}\n" in events
    for name, field in Settings.model_fields.items():
        assert f"| `{name}` |" in settings
        assert field.description


def test_every_public_name_is_on_the_page_of_the_python_api() -> None:
    text = (REFERENCE / "python-api.md").read_text(encoding="utf-8")
    assert [name for name in minutebook.__all__ if not re.search(rf"\b{name}\b", text)] == []
    for prefix, cls in (
        ("book", minutebook.Minutebook),
        ("session", minutebook.Session),
        ("run", minutebook.Run),
        ("context", minutebook.Context),
        ("memory", Memory),
        ("evidence", Evidence),
        ("projections", ProjectionsFace),
    ):
        for name in (name for name in vars(cls) if not name.startswith("_")):
            found = re.search(rf"(?:\b(?:{prefix}|Minutebook|projections)|`)\.{name}\b", text)
            assert found or (cls, name) in INSIDE, f"{cls.__name__}.{name}"


def test_every_environment_variable_of_the_source_is_on_the_settings_page() -> None:
    settings = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    for path in (
        p for part in ("domain", "projections", "infrastructure", "tests") for p in (ROOT / part).rglob("*.py")
    ):
        for name in re.findall(r"(?<!_)MINUTEBOOK_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")):
            assert f"`{name}`" in settings, f"{path.relative_to(ROOT)} reads {name}"


def test_a_code_that_is_raised_is_on_the_errors_page() -> None:
    errors = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    for code in ("context_window_exceeded", "store_locked", "memory_drift", "memory_is_symlink", "unknown_session"):
        assert f"| `{code}` |" in errors
    assert "| `` |" not in errors
