"""Runs the blocks of a documentation page: Python in one namespace, commands through the real command line.

How a page says what is to be run stands in docs/style.md. One workspace a page; the commands run in this process where
the line is nothing but ``minutebook ...``, else in a shell that finds ``minutebook`` on its path.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from minutebook.infrastructure.edges.cli import main

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / ".package"
SHOWN_DATABASE = "postgresql+psycopg://minutebook:secret@db.example/minutebook"
"""What pages show as a server; a page that does is run on the PostgreSQL of the tests."""

SET_UP = frozenset({". .venv/bin/activate"})
"""Lines that prepare a person's shell and mean nothing in a test."""

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b(?:[a-z]+(?:-[a-z]+)*-[0-9a-f]{12}|e[0-9a-f]{10})\b")
_LOOSE = re.compile(
    r"(?P<rest>\.\.\.)|(?P<time>20\d\d-\d\d-\d\dT[\d:.+]+)|(?P<hex>\b[0-9a-f]{15,}\b)"
    r"|(?P<size>\b\d{1,3}(?:,\d{3})+\b|\b\d{5,}\b|\b\d+(?= (?:earlier )?(?:tokens|messages)))"
    r"|(?P<id>" + _ID.pattern + r")|(?P<space> +)"
)
"""What a page shows of one run and the next run prints otherwise: times, digests, sizes, ids; ``...`` is anything."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, what else stands on the fence, its text, and the line where it begins."""

    language: str
    notes: tuple[str, ...]
    text: str
    line: int

    def note(self, name: str) -> str | None:
        """The value of ``name=value`` on the fence."""
        return next((note.partition("=")[2] for note in self.notes if note.startswith(f"{name}=")), None)


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the exit status it says, and the output it shows (None: shows none)."""

    text: str
    status: int
    output: list[str] | None


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, *notes = match["info"].split() or [""]
        found.append(Block(language, tuple(notes), match["body"], text.count("\n", 0, match.start()) + 2))
    return found


def commands_of(block: Block) -> list[Command]:
    """The commands of a ``sh`` block (every line one) or a ``console`` block (lines after ``$``, then output)."""
    found: list[Command] = []
    shown: list[str] | None = None
    for line in block.text.replace("\\\n", " ").splitlines():
        if block.language == "console" and not line.startswith("$ "):
            assert shown is not None, f"a console block begins with '$ ', not {line!r}"
            shown.append(line.rstrip())
            continue
        text = line.removeprefix("$ ").strip() if block.language == "console" else line.strip()
        if not text or text.startswith("#"):
            continue
        says = re.search(r"#.*\bexit status (\d)", text)
        shown = [] if block.language == "console" else None
        found.append(Command(text, int(says[1]) if says else 0, shown))
    return found


class Shell:
    """What a reader's terminal is: a folder, variables, and ids that differ from those the page shows."""

    def __init__(self, folder: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.database = SHOWN_DATABASE
        self.ids: dict[str, str] = {}
        self.namespace: dict[str, Any] = {"__name__": "page"}
        self._bin = bin_
        self._patch = monkeypatch
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "160")

    # --- blocks

    def run(self, block: Block, where: str) -> None:
        """Runs one block; a block of another language is text, or a file when its fence says ``file=``."""
        file = block.note("file")
        if file is not None:
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python" and "no-run" not in block.notes:
            self._python(block, where)
        elif block.language in ("sh", "console"):
            for command in commands_of(block):
                self._command(command, where)

    def _python(self, block: Block, where: str) -> None:
        source = "\n" * (block.line - 1) + self._translated(block.text)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, where.partition(":")[0], "exec", dont_inherit=True), self.namespace)

    def _command(self, command: Command, where: str) -> None:
        text = self._translated(command.text)
        words = shlex.split(text, comments=True)
        if text in SET_UP:
            return
        if words[0] == "make":
            targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert set(words[1:]) <= set(targets), f"{where}: {text!r} names no target of the Makefile"
        elif words[0] == "export":
            name, _, value = words[1].partition("=")
            self._patch.setenv(name, value)
        elif words[:2] == ["pip", "install"]:
            self._install(self.folder / words[-1])
        else:
            plain = words[0] == "minutebook" and not set("|<>$`;&*") & set(re.sub(r"'[^']*'|\"[^\"]*\"", "", text))
            status, out, err = self._main(words[1:]) if plain else self._sh(text)
            said = f"{where}: {text!r} ended with {status}, the page says {command.status}\n{out}{err}"
            assert status == command.status, said
            if command.output is not None:
                self._compare(command.output, out + err, f"{where}: {text}")

    # --- ways to run

    def _main(self, words: list[str]) -> tuple[int, str, str]:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(words)
            except SystemExit as end:
                status = end.code
        out.flush()
        data = out.buffer.getvalue() if isinstance(out.buffer, io.BytesIO) else b""
        return (status if isinstance(status, int) else 1), data.decode(), err.getvalue()

    def _sh(self, text: str) -> tuple[int, str, str]:
        path = f"{self._bin}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-ec", text], capture_output=True, encoding="utf-8", timeout=60, env={**os.environ, "PATH": path}
        )
        return done.returncode, done.stdout, done.stderr

    def _install(self, project: Path) -> None:
        """What ``pip install`` of a small project comes to, without a build: its metadata on the path."""
        # With a layout of its own, the code stands below src.
        place = project / "src" if (project / "src").is_dir() else project
        told = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        info = place / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
        groups = told["entry-points"].items()
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups]
        (info / "entry_points.txt").write_text("".join(lines))
        self._patch.syspath_prepend(str(place))

    # --- what differs from run to run

    def _translated(self, text: str) -> str:
        text = text.replace(SHOWN_DATABASE, self.database)
        return _ID.sub(lambda match: self.ids.get(match[0], match[0]), text)

    def _compare(self, shown: list[str], printed: str, where: str) -> None:
        seen: set[str] = set()
        pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else self._line(line, seen) for line in shown)
        lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
        match = re.fullmatch(pattern, lines)
        assert match, f"{where}\n--- the page shows\n" + "\n".join(shown) + f"\n--- it printed\n{lines}"
        for name, value in match.groupdict().items():
            self.ids[name.removeprefix("id_").replace("_", "-")] = value

    def _line(self, line: str, seen: set[str]) -> str:
        out, at = "", 0
        for match in _LOOSE.finditer(line):
            out += re.escape(line[at : match.start()])
            at = match.end()
            match match.lastgroup:
                case "rest":
                    out += ".*"
                case "time":
                    out += r"20\d\d-\d\d-\d\dT[\d:.+]+"
                case "hex":
                    out += r"[0-9a-f]{15,}"
                case "size":
                    out += r"\d[\d,]*"
                case "space":
                    out += r"[^\S\n]+"
                case _:
                    out += self._id(match[0], seen)
        return out + re.escape(line[at:].rstrip()) + "\n"

    def _id(self, shown: str, seen: set[str]) -> str:
        if shown in self.ids:
            return re.escape(self.ids[shown])
        name = "id_" + shown.replace("-", "_")
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{_ID.pattern})"


@pytest.fixture(scope="session")
def commands_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH in which ``minutebook`` and ``python`` are the ones under test."""
    folder = tmp_path_factory.mktemp("bin")
    call = "from minutebook.infrastructure.edges.cli import main; main()"
    for name, arguments in (("minutebook", f" -c '{call}'"), ("python", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nPYTHONPATH={PACKAGE} exec {sys.executable}{arguments} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.fixture
def read_page(
    tmp_path: Path, commands_folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Shell]]:
    """Runs a page from its first block to its last, in an empty folder with ``docs/demo`` and ``docs/examples``."""
    modules = set(sys.modules)

    def read(page: Path) -> Shell:
        folder = tmp_path / "reader"
        for given in ("demo", "examples"):
            shutil.copytree(ROOT / "docs" / given, folder / "docs" / given)
        for name in [name for name in os.environ if name.startswith("MINUTEBOOK_")]:
            monkeypatch.delenv(name)
        shell = Shell(folder, commands_folder, monkeypatch)
        if SHOWN_DATABASE in page.read_text(encoding="utf-8"):
            shell.database = request.getfixturevalue("postgres_url")
        for block in blocks_of(page):
            shell.run(block, f"{page.relative_to(ROOT)}:{block.line}")
        return shell

    yield read
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture(scope="session")
def page_blocks() -> Callable[[Path], list[Block]]:
    """The blocks of a page."""
    return blocks_of
