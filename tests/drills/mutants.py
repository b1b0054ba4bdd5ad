"""The mutants of a source file: operators of cosmic-ray, and two of our own for what it has none for.

Ours remove a statement (a call that is not made, such as an fsync; a field that is not set; a refusal that does not
come) and let a ``return`` give None. What cannot change what a program does is left out: annotations, which nobody
evaluates here, imports, options of ``dataclass``, which guard programmers and no data, how much an ``lru_cache`` keeps,
and failpoints, which do nothing outside of tests and whose list has a test of its own.
"""

from __future__ import annotations

import ast
import importlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

_LEFT_OUT = ("RemoveDecorator", "VariableReplacer", "VariableInserter")
"""Of cosmic-ray: the first breaks every import, so that any test kills it; the others want to be told names."""

Place = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change of one file: where it is, what was there and what is."""

    file: str
    line: int
    last: int
    operator: str
    before: str
    after: str
    code: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.operator}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Site:
    """Where an operator can change a file, and how."""

    file: str
    place: Place
    last: int
    operator: str
    change: Callable[[], str | None]
    source: str

    def mutant(self) -> Mutant | None:
        """The mutant; None where it is no Python, or nothing that a program does."""
        try:
            code = self.change()
            ast.parse(code or "")
        except (SyntaxError, AttributeError):  # of cosmic-ray, where an exception is named with a dot
            return None
        if code is None or code == self.source:
            return None
        before, after = _difference(self.source, code)
        if "failpoint(" in before:
            return None
        return Mutant(self.file, self.place[0], self.last, self.operator, before, after, code)


def sites(root: Path, file: str) -> list[Site]:
    """Everything that an operator can do to a file."""
    source = (root / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    silent, sums = list(_silent(tree)), list(_sums(tree))
    found: list[Site] = []
    for operator, place, change in (*_ours(source, tree), *_cosmic(source)):
        of_stars = operator.startswith("ReplaceBinary") and not _inside(place, sums)
        if not of_stars and not _inside(place, silent):
            found.append(Site(file, place, _last(tree, place[0]), operator, change, source))
    return found


def sample(all_of_them: Sequence[Site], count: int, seed: int) -> Iterator[Mutant]:
    """So many mutants, at most one a place: an operator with ten variants has no ten times the weight."""
    chance = random.Random(seed)
    places: dict[tuple[str, Place], list[Site]] = {}
    for site in all_of_them:
        places.setdefault((site.file, site.place), []).append(site)
    order = sorted(places)
    chance.shuffle(order)
    made = 0
    for place in order:
        variants = places[place]
        chance.shuffle(variants)
        mutant = next((found for site in variants if (found := site.mutant()) is not None), None)
        if mutant is not None:
            yield mutant
            made += 1
        if made == count:
            return


# --- operators


def _cosmic(source: str) -> Iterator[tuple[str, Place, Callable[[], str | None]]]:
    plugins: Any = importlib.import_module("cosmic_ray.plugins")
    trees: Any = importlib.import_module("cosmic_ray.ast")
    mutating: Any = importlib.import_module("cosmic_ray.mutating")
    parsed = trees.get_ast(source)
    for name in sorted(plugins.operator_names()):
        short = name.partition("/")[2]
        if short.startswith(_LEFT_OUT):
            continue
        operator = plugins.get_operator(name)()
        places = [start for node in trees.ast_nodes(parsed) for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(places):
            yield short, tuple(start), partial(mutating.mutate_code, source, operator, occurrence)


def _ours(source: str, tree: ast.Module) -> Iterator[tuple[str, Place, Callable[[], str | None]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Call() | ast.Await() | ast.Yield() as value):
                yield (
                    "StatementRemoved",
                    _start(node),
                    partial(_spliced, source, node, "yield" if _yields(value) else "pass"),
                )
            case ast.Raise() | ast.Delete() | ast.AugAssign():
                yield "StatementRemoved", _start(node), partial(_spliced, source, node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield "StatementRemoved", _start(node), partial(_spliced, source, node, "pass")
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield "ReturnsNone", _start(node), partial(_spliced, source, value, "None")


def _yields(value: ast.expr) -> bool:
    return isinstance(value, ast.Yield)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _start(node: ast.stmt) -> Place:
    return node.lineno, node.col_offset


def _spliced(source: str, node: ast.stmt | ast.expr, text: str) -> str:
    """The source with another text in the place of a node, and the same number of lines."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    first, last = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
    whole = first[: node.col_offset].decode() + text + last[node.end_col_offset :].decode()
    gap = ["\n"] * (node.end_lineno - node.lineno)
    return "".join([*lines[: node.lineno - 1], whole, *gap, *lines[node.end_lineno :]])


# --- what says nothing


def _silent(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """Spans of annotations and of what only a type checker reads."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as said) | ast.AnnAssign(annotation=said):
                yield _span(said)
            case ast.FunctionDef(returns=ast.expr() as said) | ast.AsyncFunctionDef(returns=ast.expr() as said):
                yield _span(said)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Import() | ast.ImportFrom():
                yield _span(node)
            case ast.Assign(value=ast.Subscript() as value) if _is_type(value):
                yield _span(value)
            case ast.Call(func=ast.Name(id="dataclass" | "lru_cache")):
                yield _span(node)


def _sums(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """Spans of what has a binary operator; other stars are those of arguments."""
    return (_span(node) for node in ast.walk(tree) if isinstance(node, (ast.BinOp, ast.AugAssign)))


def _inside(place: Place, spans: Sequence[tuple[Place, Place]]) -> bool:
    return any(first <= place < last for first, last in spans)


def _is_type(value: ast.Subscript) -> bool:
    """``Callable[...]`` and the like, an alias of a type."""
    return isinstance(value.value, ast.Name) and value.value.id in ("Callable", "Literal", "Annotated", "Mapping")


def _span(node: ast.stmt | ast.expr) -> tuple[Place, Place]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _last(tree: ast.Module, line: int) -> int:
    """The last line of the smallest statement that holds a line: a test that runs any of it runs the mutant."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(spans, key=lambda span: span[1] - span[0])[1] if spans else line


def _difference(source: str, code: str) -> tuple[str, str]:
    """What the first changed line was, and what it is."""
    pairs = list(zip(source.splitlines(), code.splitlines(), strict=False))
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    if not changed:
        return "", ""
    before, after = changed[0]
    return before.strip(), after.strip()
