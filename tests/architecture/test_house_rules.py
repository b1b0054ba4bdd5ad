"""The rules of the house (design/house.md) that a machine can hold: layout, imports, names, sizes, words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import minutebook
from minutebook.domain.errors import MinutebookError
from minutebook.domain.events import TOPICS, Event, Frozen

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("domain", "projections", "infrastructure")
LINES_MAX = 400

OVERSIZED = {
    "domain/catalogue.py": "one page on purpose: every event that is ever stored, printed as the reference page",
}
"""Files that may be longer, each with its reason."""

CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def sources() -> list[Path]:
    """Every Python file of the package."""
    return [*sorted(ROOT.glob("*.py")), *sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[tuple[int, int, str]]:
    """Line, number of dots and module of every import in a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.level, node.module or ""


def test_the_package_under_test_is_this_checkout() -> None:
    assert Path(minutebook.__file__).resolve() == ROOT / "__init__.py"
    for module in ("domain.errors", "projections.projection", "infrastructure.settings"):
        loaded = sys.modules[f"minutebook.{module}"]
        assert loaded.__file__ is not None
        assert Path(loaded.__file__).resolve() == ROOT / f"{module.replace('.', '/')}.py"


def test_nothing_is_imported_by_a_bare_name() -> None:
    """Users import minutebook.domain; a bare ``domain`` works only by accident of the working directory."""
    files = [*sources(), *sorted((ROOT / "tests").rglob("*.py"))]
    bare = [
        f"{name(path)}:{line}: {module}"
        for path in files
        for line, dots, module in imports(path)
        if not dots and module.split(".")[0] in LAYERS
    ]
    assert bare == []
    assert not set(LAYERS) & set(sys.modules)


def test_imports_inside_the_package_are_relative() -> None:
    absolute = [
        f"{name(path)}:{line}: {module}"
        for path in sources()
        if path != ROOT / "__init__.py"
        for line, dots, module in imports(path)
        if not dots and module.split(".")[0] == "minutebook"
    ]
    assert absolute == []


def test_no_module_is_named_after_nothing() -> None:
    forbidden = {"util", "utils", "helper", "helpers", "manager", "managers", "service", "services", "common", "misc"}
    named = [name(path) for path in sources() if set(path.relative_to(ROOT).with_suffix("").parts) & forbidden]
    assert named == []


def test_no_source_file_is_too_long() -> None:
    found = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    long = {path: lines for path, lines in found.items() if lines > LINES_MAX and path not in OVERSIZED}
    assert long == {}
    assert OVERSIZED.keys() <= found.keys(), "an exception whose file is gone"


def test_the_import_contracts_hold() -> None:
    """lint-imports, in a process of its own: it needs the checkout's links first on the path."""
    pytest.importorskip("importlinter", reason="import-linter is in the dev group")
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT / ".package"), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]


def test_the_links_of_the_checkout_are_those_of_the_wheel() -> None:
    linked = sorted(path.name for path in (ROOT / ".package" / "minutebook").iterdir() if path.name != "__pycache__")
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert linked == sorted(build["wheel"]["only-include"])
    assert set(linked) <= set(build["sdist"]["only-include"])
    assert all((ROOT / ".package" / "minutebook" / each).resolve() == ROOT / each for each in linked)


# --- pure layers -------------------------------------------------------------------------------------

IMPURE = {"os", "io", "time", "random", "socket", "subprocess", "threading", "tempfile", "shutil", "sqlite3",
          "secrets", "asyncio", "logging", "pathlib", "sqlalchemy", "orjson", "typer", "rich"}  # fmt: skip


def test_decisions_reach_for_no_clock_file_or_network() -> None:
    found = [
        f"{name(path)}:{line}: {module}"
        for path in sorted((ROOT / "domain").rglob("*.py"))
        for line, dots, module in imports(path)
        if not dots and module.split(".")[0] in IMPURE
    ]
    assert found == []
    assert _calls("domain", {"now", "today", "utcnow", "uuid4", "open"}) == []


def test_read_models_reach_for_no_clock_file_or_network() -> None:
    allowed = {"sqlalchemy", "orjson"}  # an encoder, and one that gives the same bytes everywhere
    found = [
        f"{name(path)}:{line}: {module}"
        for path in sorted((ROOT / "projections").rglob("*.py"))
        for line, dots, module in imports(path)
        if not dots and module.split(".")[0] in IMPURE - allowed
    ]
    assert found == []
    assert _calls("projections", {"now", "today", "utcnow", "uuid4", "open", "create_engine"}) == []


def _calls(layer: str, names: set[str]) -> list[str]:
    found = []
    for path in sorted((ROOT / layer).rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called in names:
                    found.append(f"{name(path)}:{node.lineno}: {called}")
    return found


def test_library_code_prints_nothing() -> None:
    found = [
        f"{name(path)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "breakpoint")
    ]
    assert found == []


# --- words -------------------------------------------------------------------------------------------


def codes() -> Iterator[tuple[str, str]]:
    """Where a code is written, and the code: of error classes, and every ``code="..."`` of a call."""
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg == "code":
                        for part in ast.walk(keyword.value):
                            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                                yield f"{name(path)}:{part.lineno}", part.value
            elif isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, ast.Assign) and getattr(item.targets[0], "id", "") == "code":
                        assert isinstance(item.value, ast.Constant)
                        yield f"{name(path)}:{item.lineno}", str(item.value.value)


def test_every_error_code_is_snake_case() -> None:
    found = list(codes())
    assert len(found) > 50
    # An f-string's pieces are prefixes: "async_" is one.
    assert [(place, code) for place, code in found if not CODE.fullmatch(code.removesuffix("_"))] == []


def test_every_error_has_a_root_a_code_and_a_message() -> None:
    def below(cls: type[MinutebookError]) -> Iterator[type[MinutebookError]]:
        for each in cls.__subclasses__():
            yield each
            yield from below(each)

    found = set(below(MinutebookError))
    assert found
    for cls in found:
        error = cls("what happened; what to do")
        assert CODE.fullmatch(error.code), cls
        assert (str(error), error.message) == ("what happened; what to do",) * 2


def test_every_event_has_frozen_facts_a_topic_and_the_past_tense() -> None:
    assert len(TOPICS) > 20
    for topic, cls in TOPICS.items():
        assert issubclass(cls, Event), topic
        assert topic == cls.TOPIC
        assert cls.model_config["frozen"] is True
        assert cls.model_config["extra"] == "forbid"
        assert cls.class_version >= 1
        assert cls.__doc__, topic
        assert re.search(r"(ed|Forked|Shown|Withdrawn|Aside|Frozen|Redone|Undone)$", topic), topic
        for field, info in cls.model_fields.items():
            if field in ("envelope", "payload"):
                continue
            assert "Any" not in str(info.annotation), (topic, field)
            assert "dict" not in str(info.annotation), (topic, field)
            assert not re.search(r"\blist\b|\bset\b", str(info.annotation)), (topic, field)


def test_nothing_outside_the_events_base_is_stored_unfrozen() -> None:
    for cls in Frozen.__subclasses__():
        assert cls.model_config.get("frozen") is True, cls


def test_every_module_says_what_it_is_for() -> None:
    silent = [name(path) for path in sources() if path.read_text().strip() and not ast.get_docstring(tree(path))]
    assert silent == []


def test_decisions_are_numbered_in_a_row_and_all_in_the_index() -> None:
    pages = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in pages if f"adr/{page.name}" not in index] == []
    assert [
        page.name for page in pages if not page.read_text(encoding="utf-8").startswith(f"# {page.name[:4]}. ")
    ] == []


def test_nothing_names_this_machine() -> None:
    """Paths of the workshop have no place in what is shipped."""
    shipped = [
        *sources(),
        ROOT / "README.md",
        ROOT / "pyproject.toml",
        ROOT / "Makefile",
        *(ROOT / "docs").rglob("*.md"),
    ]
    word = re.compile(r"(?<![\w.])/(?:work|root)/(?!\.\.)")
    assert [name(path) for path in shipped if word.search(path.read_text(encoding="utf-8"))] == []
