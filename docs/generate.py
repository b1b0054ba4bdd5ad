"""Prints the reference pages from the code: ``make docs`` writes them, ``make docs-check`` fails where they differ.

Every page is a pure function of the code, the same bytes on every run and on every supported Python: nothing here
prints a ``repr``, a path of this machine, a time, or help text that a library makes up.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"

# In a checkout the package is seen through its links, also where it is not installed.
for place in (DOCS.parent / ".package", DOCS):
    if place.is_dir() and str(place) not in sys.path:
        sys.path.insert(0, str(place))

from printing import cli, errors, events, settings, tables  # noqa: E402

PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli.page,
    "settings.md": settings.page,
    "events.md": events.page,
    "errors.md": errors.page,
    "tables.md": tables.page,
}


def differences() -> str:
    """A unified diff from the committed pages to what the code says; empty: they are equal."""
    out: list[str] = []
    for name, page in PAGES.items():
        path = REFERENCE / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        shown = f"docs/reference/{name}"
        lines = (old.splitlines(True), page().splitlines(True))
        out += difflib.unified_diff(*lines, f"{shown} as committed", f"{shown} from the code", n=1)
    return "".join(out)


def main(argv: list[str]) -> int:
    """Writes the pages; with ``--check`` only compares. Returns the exit status."""
    match argv:
        case ["--check"]:
            found = differences()
            if found:
                print(f"{found}\nThe reference pages differ from the code: run 'make docs' and commit the result.")
            return 1 if found else 0
        case []:
            for name, page in PAGES.items():
                (REFERENCE / name).write_text(page(), encoding="utf-8", newline="\n")
            return 0
    print("usage: generate.py [--check]")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
