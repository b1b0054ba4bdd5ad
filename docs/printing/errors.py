"""docs/reference/errors.md: every stable code, found in the source without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from minutebook.domain import errors, summary_checks

from .markdown import HEADER, ROOT, flat, table


@dataclass(frozen=True, order=True, slots=True)
class Said:
    """One place in the code that names a code: the code, what carries it, the module, the message with gaps."""

    code: str
    carrier: str
    module: str
    text: str


INTRO = """\
Every error is a `MinutebookError` with a stable `code`, a `message` that tells the mend, and `details` for
programs. On the command line it is printed as `code: message`, with `--json` as
`{"error": code, "message": text}` on stderr, with exit status 1. `…` stands for a value.

## Classes

"""

ONLY_ON_THE_COMMAND_LINE = """
Only on the command line: `usage` (the command was not understood, exit status 2) and `internal_error` (a fault of
minutebook itself; `MINUTEBOOK_DEBUG=1` prints the traceback).
"""

FINDINGS = """
## Findings of the checks

What a check says of a text that wants to become memory (`minutebook.check_entry`). A finding warns at the proposal
and refuses at the curation; `minutebook memory sync --allow CODE` overrides one in a hand edit.

"""

PROBLEMS = """
## Problems of a memory file

What `minutebook memory sync` says of a line, besides the findings above.

"""

REFUSALS = """
## Reasons of a curation

What `minutebook memory curate` gives as `check` when an entry, a candidate or an answer is refused, besides the
findings above and the codes of errors.

"""

REASONS = """
## Reasons of a compaction

Why a summary is refused, `reason` in `minutebook compact` and `minutebook compactions`. The summary ...

"""


@cache
def page() -> str:
    """The page; reading all the source takes a second, so it is made once."""
    classes = [errors.MinutebookError, *_subclasses(errors.MinutebookError)]
    described = [(f"`{c.__name__}`", f"`{c.__mro__[1].__name__}`", f"`{c.code}`", flat(c.__doc__)) for c in classes]
    known = {cls.__name__: cls.code for cls in classes}
    found = said(known)
    raised = [item for item in found if item.carrier in known]

    def carried(*names: str) -> str:
        rows = _grouped([item for item in found if item.carrier in names])
        return table(("code", "from", "message"), [(code, place, text) for code, _, place, text in rows])

    return "".join(
        [
            HEADER + "# Errors\n\n" + INTRO,
            table(("class", "is a", "code of its own", "means"), described),
            "\n## Codes\n\n" + table(("code", "class", "raised in", "message"), _grouped(raised)),
            ONLY_ON_THE_COMMAND_LINE + FINDINGS + carried("Finding", "rule"),
            PROBLEMS + carried("Problem"),
            REFUSALS + carried("Refusal"),
            REASONS + table(("reason", "the summary ..."), _reasons()),
        ]
    )


def _subclasses(cls: type) -> Iterator[Any]:
    for sub in sorted(cls.__subclasses__(), key=lambda sub: sub.__name__):
        yield sub
        yield from _subclasses(sub)


# --- reading the source


def said(classes: dict[str, str]) -> list[Said]:
    """Every code with what carries it: an error class (``classes`` gives each its own code), a finding, a refusal."""
    found: set[Said] = set()
    for path in sorted(p for part in ("domain", "projections", "infrastructure") for p in (ROOT / part).rglob("*.py")):
        module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.update(Said(code, carrier, module, text) for code, carrier, text in _call(node, classes, tree))
    return sorted(found)


def _call(node: ast.Call, classes: dict[str, str], tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    assert isinstance(node.func, ast.Name)
    name, places = node.func.id, node.args
    given = {word.arg: word.value for word in node.keywords}
    match name:
        case _ if name in classes:
            code = given.get("code")
            if isinstance(code, ast.Name):
                # The code was looked up: take it from the table that the module holds.
                yield from ((known, name, text) for known, text in _looked_up(tree))
            else:
                yield from ((each, name, _words(places[0] if places else None)) for each in _codes(code, classes[name]))
        case "Finding" | "Refusal":
            code = given.get("code" if name == "Finding" else "check")
            yield from ((each, name, _words(given.get("message"))) for each in _codes(code, ""))
        case "rule" if len(places) > 1:
            yield from ((each, name, _words(places[1])) for each in _codes(places[0], ""))
        case "Problem" if len(places) > 2:
            yield from ((each, name, _words(places[2])) for each in _codes(places[1], ""))
        case "_refused" if len(places) > 1:
            yield from ((each, "Problem", _words(places[1])) for each in _codes(places[0], ""))
        case "Refused" if len(places) > 1:
            yield from ((each, "MemoryFault", _words(places[1])) for each in _codes(places[0], ""))


def _looked_up(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=[*_, ast.Constant(value=str() as code), ast.Constant(value=str() as mend)]):
                if re.fullmatch(r"[a-z]+(_[a-z]+)+", code):
                    yield code, f"…: {mend}"


def _codes(node: ast.expr | None, default: str) -> list[str]:
    match node:
        case None:
            return [default] if default else []
        case ast.Constant(value=str() as code):
            return [code] if code else []
        case ast.IfExp(body=body, orelse=orelse):
            return _codes(body, "") + _codes(orelse, "")
        case ast.BoolOp(values=values):
            return [code for value in values for code in _codes(value, "")]
        case ast.JoinedStr():
            return [_words(node)]
    return []


def _words(node: ast.expr | None) -> str:
    """The text of a message as it stands in the source; values in it become ``…``."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return re.sub("…+", "…", "".join(_words(value) for value in values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _words(left) + _words(right)
    return "…"


# --- telling


def _grouped(found: list[Said]) -> list[tuple[str, ...]]:
    rows: dict[str, list[Said]] = {}
    for item in found:
        rows.setdefault(item.code, []).append(item)
    return [
        (
            f"`{code}`",
            ", ".join(f"`{name}`" for name in sorted({item.carrier for item in items})),
            ", ".join(f"`{name}`" for name in sorted({item.module for item in items})),
            _shortened(max((item.text for item in items), key=lambda text: (len(text), text))),
        )
        for code, items in sorted(rows.items())
    ]


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 160 else words[:160].rsplit(" ", 1)[0] + " …"


def _reasons() -> list[tuple[str, str]]:
    """The table in the docstring of the validator."""
    lines = re.findall(r"^``(\w+)`` +(.+)$", summary_checks.__doc__ or "", re.MULTILINE)
    return [(f"`{name}`", says.strip()) for name, says in lines]
