"""docs/reference/cli.md: every command, read from the functions that the command tree registers.

Not from the parser that typer makes of them: its classes differ from one version of typer to the next.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from minutebook.infrastructure.edges.cli.app import app, options

from .markdown import HEADER, SIMPLE, flat, prose, table


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or option as a person sees it."""

    kind: Literal["argument", "option"]
    name: str
    value: str
    required: bool
    help: str


NOTES = """\

`--install-completion` and `--show-completion` set up completion in your shell; `--help` explains every command.

Exit status: 0, done; 1, the answer is no or the command was refused; 2, wrong usage.
With `--json` the answer is one JSON document on stdout, and a refusal is `{"error": code, "message": text}`
on stderr. [errors.md](errors.md) lists the codes.

"""


def page() -> str:
    """The page."""
    found = list(commands(app))
    out = [
        HEADER + "# Command line\n\n",
        "`minutebook [--workspace DIR] [--database URL] [--json] COMMAND`. The global options may stand anywhere.\n\n",
        _options(parameters(options)),
        NOTES,
        table(("command", "does"), [(f"[{name}](#{anchor(name)})", flat(call.__doc__)) for name, call in found]),
    ]
    for name, call in found:
        taken = parameters(call)
        arguments = [each for each in taken if each.kind == "argument"]
        given = [each for each in taken if each.kind == "option"]
        shown = [each.name if each.required else f"[{each.name}]" for each in arguments]
        line = " ".join(["minutebook", name, *shown, *(["[OPTIONS]"] if given else [])])
        out.append(f"\n## {name}\n\n{prose(call.__doc__)}\n\n```text\n{line}\n```\n")
        explained = [(f"`{each.name}`", each.help) for each in arguments if each.help]
        if explained:
            out.append("\n" + table(("argument", "means"), explained))
        if given:
            out.append("\n" + _options(given))
    return "".join(out)


def commands(tree: typer.Typer, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its full name and its function, in the order of the alphabet."""
    found: list[tuple[str, Any]] = [(f"{prefix}{each.name}", each.callback) for each in tree.registered_commands]
    for group in tree.registered_groups:
        assert group.typer_instance is not None
        found += commands(group.typer_instance, f"{prefix}{group.name} ")
    yield from sorted(found, key=lambda pair: pair[0])


def parameters(call: Any) -> list[Parameter]:
    """What a command takes."""
    hints = get_type_hints(call, include_extras=True)
    found = []
    for name, given in inspect.signature(call).parameters.items():
        kind, *notes = get_args(hints[name])
        info = next(note for note in notes if isinstance(note, OptionInfo | ArgumentInfo))
        needed = given.default is inspect.Parameter.empty
        if isinstance(info, ArgumentInfo):
            found.append(Parameter("argument", info.metavar or name.upper(), "", needed, info.help or ""))
            continue
        names = tuple(info.param_decls or ()) + ((info.default,) if isinstance(info.default, str) else ())
        shown = " ".join(f"`{each}`" for each in names or (f"--{name.replace('_', '-')}",))
        found.append(Parameter("option", shown, _value(kind, info, given.default), needed, info.help or ""))
    return found


def _value(kind: Any, info: OptionInfo, standard: Any) -> str:
    inner = next((each for each in (kind, *get_args(kind)) if each in SIMPLE), str)
    if inner is bool:
        return ""
    words = ["folder" if inner is Path else SIMPLE[inner]]
    if info.min is not None:
        words.append(f"at least {info.min:g}")
    if standard is inspect.Parameter.empty:
        words.append("required")
    elif standard is not None:
        words.append(f"default `{standard}`")
    if any(getattr(each, "__origin__", None) is list for each in (kind, *get_args(kind))):
        words.append("can be given again")
    return ", ".join(words)


def _options(given: list[Parameter]) -> str:
    return table(("option", "value", "means"), [(each.name, each.value, each.help) for each in given])


def anchor(name: str) -> str:
    """The anchor that a renderer gives the command's heading."""
    return re.sub(r"[^a-z -]", "", name).replace(" ", "-")
