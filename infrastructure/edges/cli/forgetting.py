"""memory forget, forgotten, allow."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import memory_app, state
from .output import counted, one_line


@memory_app.command("forget")
def forget(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Entry id, text that only one entry has, a claim or candidate id.")
    ],
) -> None:
    """Forget an entry or a claim: it goes with the next curation, and is not learnt again."""
    out = state.output
    answer = state.write().memory.forget(target)
    if out.json:
        out.document(answer)
    else:
        out.line(f"{answer['candidate'] or answer['block']}: {answer['status']}", "bold")
        out.line(answer["message"])
        out.line(f"To let it be learnt again: minutebook memory allow {answer['block']}", "dim")


@memory_app.command("forgotten")
def forgotten() -> None:
    """What must not be learnt again, and what a person allowed since."""
    out = state.output
    found = state.look().memory.forgotten()
    if out.json:
        out.document(found)
    elif not found:
        out.line("Nothing was forgotten.")
    for item in () if out.json else found:
        since = f", allowed again at {item['lifted']}" if item["lifted"] else ""
        out.line(f"{item['block']}  {item['reason']} by {item['actor']} at position {item['position']}{since}", "bold")
        out.line(f"  {one_line(item['text'] or _without_text(item))}")


def _without_text(item: dict[str, Any]) -> str:
    if item["reason"] == "forgotten":
        return "(its text was erased)"
    return f"({counted(item['texts'], 'text')} that an erasure took out of memory: 'minutebook erase show' names it)"


@memory_app.command("allow", short_help="Let something that was forgotten be learnt again.")
def allow(block: Annotated[str, typer.Argument(metavar="BLOCK", help="As 'memory forgotten' names it.")]) -> None:
    """Let something that was forgotten, or erased, be learnt again."""
    answer = state.write().memory.allow(block)
    if state.output.json:
        state.output.document(answer)
    else:
        state.output.line(f"{answer['block']}: {answer['status']}", "bold")
