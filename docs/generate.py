"""Prints the reference pages, and the table of public failures, from the code.

``make docs`` writes them, ``make docs-check`` fails where they differ.

Every page is a pure function of the code, the same bytes on every run and on every supported Python: nothing here
prints a ``repr``, a path of this machine, a time, or help text that a library makes up.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"

# In a checkout the package is seen through its links, also where it is not installed.
for place in (DOCS.parent / ".package", DOCS):
    if place.is_dir() and str(place) not in sys.path:
        sys.path.insert(0, str(place))

from printing import cli, errors, events, failures, findings, settings, tables  # noqa: E402

PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli.page,
    "settings.md": settings.page,
    "events.md": events.page,
    "errors.md": errors.page,
    "findings.md": findings.page,
    "tables.md": tables.page,
}
EXPLAINED: Mapping[str, Callable[[], str]] = {"public-failures.md": failures.page}
"""Pages of the explanation that are printed too, from what the tests say of themselves."""


def printed() -> Iterator[tuple[Path, str, Callable[[], str]]]:
    """Every printed page: where it stands, how it is called, what makes it."""
    for folder, shown, pages in ((REFERENCE, "reference", PAGES), (DOCS / "explanation", "explanation", EXPLAINED)):
        for name, page in pages.items():
            yield folder / name, f"docs/{shown}/{name}", page


def differences() -> str:
    """A unified diff from the committed pages to what the code says; empty: they are equal."""
    out: list[str] = []
    for path, shown, page in printed():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = (old.splitlines(True), page().splitlines(True))
        out += difflib.unified_diff(*lines, f"{shown} as committed", f"{shown} from the code", n=1)
    return "".join(out)


def main(argv: list[str]) -> int:
    """Writes the pages; with ``--check`` only compares. Returns the exit status."""
    match argv:
        case ["--check"]:
            found = differences()
            if found:
                print(f"{found}\nThe printed pages differ from the code: run 'make docs' and commit the result.")
            return 1 if found else 0
        case []:
            for path, _, page in printed():
                path.write_text(page(), encoding="utf-8", newline="\n")
            return 0
    print("usage: generate.py [--check]")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
