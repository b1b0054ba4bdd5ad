"""docs/reference/settings.md: every setting, and the environment variables that are none."""

from __future__ import annotations

import inspect
import re
from typing import Any

from minutebook.infrastructure.settings import PREFIX, Settings

from .markdown import HEADER, default, spoken, table

OTHER_VARIABLES = (
    ("MINUTEBOOK_WORKSPACE", "The workspace of the command line, where `--workspace` is not given."),
    (
        "MINUTEBOOK_DATABASE",
        "The database URL, where neither `--database` nor `database=` is given; unset: SQLite in the workspace.",
    ),
    ("MINUTEBOOK_DEBUG", "Set to anything: an internal error prints its traceback too."),
    ("MINUTEBOOK_FAILPOINT", "Crash drills only: the process stops itself at the named point of a write."),
    (
        "MINUTEBOOK_TEST_SHARE",
        "Of the scenarios that run on both databases one in so many runs on PostgreSQL; unset, all do.",
    ),
    ("MINUTEBOOK_TEST_POSTGRES", "The tests use this PostgreSQL server; unset, they start one of their own."),
    ("MINUTEBOOK_TEST_EVERY_STEP", "The drills of a generation kill and stop its owner at every step, not at a few."),
    ("MINUTEBOOK_BENCH_EVENTS", "How many events the benchmark of rebuilds makes."),
    ("MINUTEBOOK_SHARED", "The tests look for the shared transcripts in the folder `data` of this folder."),
)


INTRO = """\
Where a setting comes from, strongest first: what is passed in Python, the environment variable,
`minutebook.toml` in the workspace, `[tool.minutebook]` in its `pyproject.toml`, the default.
`minutebook init` shows the value of every setting and where it comes from.
"""


def page() -> str:
    """The page."""
    out = [
        HEADER + "# Settings\n\n",
        INTRO,
    ]
    for section, names in _sections():
        rows = []
        for name in names:
            field = Settings.model_fields[name]
            said = re.sub(r"\[(\w+)\]\(#\w+\)", r"`\1`", spoken(field.annotation))  # this page explains no types
            kind = ", ".join([said, *filter(None, map(_bound, field.metadata))])
            variable = f"`{PREFIX}{name.upper()}`"
            rows.append(
                (
                    f"`{name}`",
                    kind,
                    default(field.default) if field.default is not None else "unset",
                    variable,
                    field.description or "",
                )
            )
        out.append(f"\n## {section[0].upper()}{section[1:]}\n\n")
        out.append(table(("setting", "value", "default", "environment variable", "means"), rows))
    out.append("\n## Environment variables that are no settings\n\n")
    out.append(table(("environment variable", "means"), [(f"`{name}`", means) for name, means in OTHER_VARIABLES]))
    return "".join(out)


def _sections() -> list[tuple[str, list[str]]]:
    """The fields under the headings that the source has, ``# --- context`` and the like."""
    found: list[tuple[str, list[str]]] = []
    for line in inspect.getsource(Settings).splitlines():
        if heading := re.fullmatch(r"    # --- (.+)", line):
            found.append((heading[1], []))
        elif (field := re.match(r"    (\w+):", line)) and field[1] in Settings.model_fields:
            found[-1][1].append(field[1])
    return found


def _bound(constraint: Any) -> str:
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than",
             "min_length": "characters: at least", "max_length": "at most"}  # fmt: skip
    for name, said in words.items():
        if (value := getattr(constraint, name, None)) is not None:
            return f"{said} {value:,}"
    return ""
