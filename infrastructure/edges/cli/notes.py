"""memory import: an old memory file or Markdown notes become entries, after a look at what they would be."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...store.system import telling
from .app import memory_app, state
from .output import counted


@memory_app.command("import")
def import_notes(
    source: Annotated[str, typer.Argument(metavar="FILE/-", help="A multi-line '§' file, or Markdown notes.")],
    preview: Annotated[bool, typer.Option("--preview", help="Show what would result, and change nothing.")] = False,
    skip_refused: Annotated[bool, typer.Option("--skip-refused", help="Take the rest when lines are refused.")] = False,
    allow: Annotated[list[str] | None, typer.Option("--allow", help="Override a finding by its code.")] = None,
) -> None:
    """Add the entries of an old memory file or of Markdown notes; --preview shows them first."""
    out = state.output
    codes = tuple(allow or ())
    book = state.look() if preview else state.write()
    given = _standard_input(book.settings.memory_file_bytes_max + 1) if source == "-" else source
    if preview:
        answer = book.memory.preview(given, allow=codes)
    else:
        answer = book.memory.import_notes(given, allow=codes, skip=skip_refused)
    if out.json:
        out.document(answer)
    else:
        for entry in answer["entries"]:
            out.line(f"line {entry['line']}: {entry['text']}")
        for problem in answer["refused"]:
            out.line(f"line {problem['line']} refused, {problem['code']}: {problem['message']}", "red")
        for left in answer["left_out"]:
            out.line(f"line {left['line']} left out: {left['reason']}", "dim")
        count = f"{counted(len(answer['entries']), 'entry', 'entries')}, {len(answer['refused'])} refused"
        if preview:
            out.line(f"{count}. Nothing was changed.", "bold")
        elif answer["changed"]:
            out.line(f"{count}. MEMORY.md is revision {answer['revision']}.", "bold")
            for number in answer["displaced"]:
                out.line(f"What stood in the file is kept as revision {number}.", "dim")
        else:
            out.line(f"{count}. Nothing new.", "bold")
    if answer["refused"] and not skip_refused:
        raise typer.Exit(1)


def _standard_input(bytes_max: int) -> bytes:
    with telling("standard input cannot be read"):
        return sys.stdin.buffer.read(bytes_max)
