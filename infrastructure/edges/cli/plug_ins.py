"""projections available, projections show."""

from __future__ import annotations

from typing import Annotated

import typer

from ...book.projections import ROWS_SHOWN
from .app import projections_app, state
from .moment import At, moment
from .output import counted, one_line


@projections_app.command("available")
def available() -> None:
    """The plug-ins that installed packages offer; nothing of them is run for it."""
    out = state.output
    found = state.look().projections.available()
    if out.json:
        out.document(found)
    elif not found:
        out.line("No installed package offers a projection.")
    else:
        columns = ("name", "package", "version", "status", "error")
        out.table(columns, [[row[name] for name in columns] for row in found])


@projections_app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    at: At = None,
    table: Annotated[str | None, typer.Option(help="Only this table.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each table.")] = ROWS_SHOWN,
) -> None:
    """The rows of a projection, now or as of a moment of the past."""
    out = state.output
    found = state.look().projections.show(name, at=moment(at), table=table, limit=limit)
    if out.json:
        out.document(found)
        return
    out.line(f"{found['name']}, version {found['version']}, at {found['position']}", "bold")
    for each in found["tables"]:
        shown, total = len(each["rows"]), each["total"]
        more = "" if shown == total else f", the first {shown:,} (--limit shows more)"
        out.line()
        out.line(f"{each['table']}: {counted(total, 'row')}{more}", "bold")
        if shown:
            numbers = [
                name
                for place, name in enumerate(each["columns"])
                if all(isinstance(row[place], int | float) for row in each["rows"])
            ]
            rows = [["" if cell is None else one_line(cell) for cell in row] for row in each["rows"]]
            out.table(each["columns"], rows, numbers=numbers)
