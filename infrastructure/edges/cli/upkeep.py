"""upgrade, backup, restore, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...book import Minutebook
from .app import app, state


@app.command("upgrade")
def upgrade(
    backup: Annotated[
        Path | None,
        typer.Option("--backup", readable=False, help="Where the backup goes (default: into .tinyagent/kept)."),
    ] = None,
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Make none: you have one of your own.")] = False,
) -> None:
    """Bring the store of an older minutebook to the schema of this one, after a backup.

    Nobody else may have the store open. Killed at any moment it leaves the old store or the new one; say it again.
    """
    if backup is not None and no_backup:
        raise typer.BadParameter("--backup and --no-backup exclude each other")
    done = Minutebook.upgrade(state.workspace, database=state.database, backup=backup, keep=not no_backup)
    out = state.output
    if out.json:
        out.document(done)
    elif not done["changed"]:
        out.line(f"The store has schema version {done['to']} already.")
    else:
        out.line(f"Upgraded from schema version {done['from']} to {done['to']}.", "bold")
        if done["backup"]:
            out.line(f"  backup: {done['backup']} (head {done['head']}, chain {done['chain']})")
