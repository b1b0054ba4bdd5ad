"""The page of public failure classes, read out of the tests that rule them out: page and tests cannot drift."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from .markdown import HEADER, ROOT, table

SOURCE = Path("tests") / "scenarios" / "test_public_failures.py"
INTRO = """# Public failures, and what happens here

What users of other engines report as lost, broken or endless in the context of an agent, class by class: the smallest
scenario, the outcome here, and the test that shows it. The issues are public threads; where a fault has been mended
there since, the class of fault is still worth a test here. `make failure-table` runs the tests and prints this page
from them. Faults of durable memory (overwritten files, lost updates, unseen entries) have scenarios of their own under
`tests/scenarios/test_publish_*.py`.

"""


@dataclass(frozen=True)
class Row:
    """One class as the test file names it."""

    kind: str
    issues: str
    scenario: str
    outcome: str
    test: str


def page() -> str:
    """The Markdown page."""
    tree = ast.parse((ROOT / SOURCE).read_text(encoding="utf-8"))
    rows = list(_rows(tree))
    parts = [HEADER, INTRO]
    for kind, title in _kinds(tree).items():
        found = [(row.scenario, row.outcome, row.issues, _shown(row.test)) for row in rows if row.kind == kind]
        parts += [f"## {title}\n\n", table(("scenario", "outcome here", "reported as", "test"), found), "\n"]
    return "".join(parts).rstrip("\n") + "\n"


def _rows(tree: ast.Module) -> Iterator[Row]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if _calls(mark, "failure"):
                    yield Row(test=f"{SOURCE.as_posix()}::{node.name}", **_literals(mark))
        elif isinstance(node, ast.Expr) and _calls(node.value, "elsewhere"):
            yield Row(**_literals(node.value))


def _calls(node: ast.expr, name: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def _literals(call: ast.Call) -> dict[str, str]:
    named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
    return {"kind": ast.literal_eval(call.args[0]), **named}


def _kinds(tree: ast.Module) -> dict[str, str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "KINDS":
            kinds: dict[str, str] = ast.literal_eval(node.value)
            return kinds
    raise LookupError("the test file names no KINDS")


def _shown(test: str) -> str:
    path, _, name = test.partition("::")
    return f"`{Path(path).name}` {name.removeprefix('test_').replace('_', ' ')}"
