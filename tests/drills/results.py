"""The page on which the long drills write what they came to: each replaces its own section, nobody else's.

``write_section("kill", "Kills", lines)`` puts ``lines`` under a heading between ``<!-- drill kill: begin -->`` and
``<!-- drill kill: end -->``; the section is added at the end of the page when it is not there yet. ``stamp`` gives the
line that every section begins with: when, on what and with which code it ran.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "fault-drills.md"
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def write_section(name: str, title: str, lines: Iterable[str], *, level: int = 2, page: Path = PAGE) -> None:
    """Puts the section of one drill on the page; the rest of the page stays byte for byte."""
    assert _NAME.fullmatch(name), name
    begin, end = f"<!-- drill {name}: begin -->", f"<!-- drill {name}: end -->"
    body = "\n".join(lines).strip("\n")
    assert "<!-- drill " not in body, "a section holds no marker"
    section = f"{begin}\n\n{'#' * level} {title}\n\n{body}\n\n{end}"
    text = page.read_text(encoding="utf-8")
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    text = found.sub(lambda _: section, text, count=1) if found.search(text) else f"{text.rstrip()}\n\n{section}\n"
    fresh = page.with_name(f".{page.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8", newline="\n")
    fresh.replace(page)


def stamp() -> str:
    """When, on which machine and with which code a drill ran, as one line."""
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"Run on {datetime.now(UTC):%Y-%m-%d}, commit {commit()}, {system}, {python}."


def commit() -> str:
    """The commit of the checkout, and whether the code of product or tests differs from it."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)

    found = git("rev-parse", "--short", "HEAD").stdout.strip()
    changes = git("diff", "--quiet", "HEAD", "--", "*.py").returncode if found else 0
    return f"{found or 'unknown'}{' with changes' if changes else ''}"
