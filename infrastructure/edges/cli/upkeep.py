"""upgrade, backup, restore, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...book import Minutebook
from .app import app, state
from .output import counted


@app.command("upgrade", short_help="Bring an older store to today's schema, after a backup.")
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


@app.command("backup", short_help="Write a proved copy of the store, while others use it.")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", readable=False, help="A name that nothing has yet.")],
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="Also where other workspaces share the database, and so the log.")
    ] = False,
) -> None:
    """Write a proved copy of the store into one file, while others work with it.

    Of SQLite a database file, of PostgreSQL the exported log; 'restore --from FILE' takes either back. Note head and
    chain elsewhere: by them you know the log again.
    """
    done = state.look().backup(file, all_workspaces=all_workspaces)
    out = state.output
    if out.json:
        out.document(done)
        return
    out.line(f"{done['file']}: {done['bytes']:,} bytes, proved", "bold")
    out.line(f"  {done['events']:,} events, head {done['head']}, chain {done['chain']}")
    if done["memory_file"] != "clean":
        out.line(f"  MEMORY.md is {done['memory_file']}: 'minutebook memory status' says more")


@app.command("restore", short_help="Put a backup in the place of the store.")
def restore(
    source: Annotated[
        Path, typer.Option("--from", metavar="FILE", readable=False, help="What backup or export --log wrote.")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Also over later events, or another log; what is there is kept aside.")
    ] = False,
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="Also where other workspaces share the database, and go back too.")
    ] = False,
) -> None:
    """Put a backup in the place of the store; what was there is kept aside.

    The backup is proved first. Nobody else may have the store open. Killed at any moment it leaves the old store or the
    restored one; say it again. MEMORY.md becomes what the restored log says, an edited one is kept aside.
    """
    out = state.output
    done = Minutebook.restore(
        state.workspace, source, database=state.database, replace=replace, all_workspaces=all_workspaces
    )
    if out.json:
        out.document(done)
    else:
        out.line(f"Restored: {done['head']:,} events, chain {done['chain']}", "bold")
        if done["was"] is not None:
            out.line(f"  before: head {done['was']}")
        for kept in done["kept"]:
            out.line(f"  kept: {kept}")
        out.line(f"  MEMORY.md: {done['memory_file']}")
        if done["workspaces"] and done["workspace_id"] not in done["workspaces"]:
            out.line(
                f"  It is of workspace {', '.join(done['workspaces'])} and this one is {done['workspace_id']}: set "
                "workspace_id to see it.",
                "bold",
            )
        for check in done["checks"]:
            if not check["ok"]:
                out.line(f"  NO  {check['name']}: {check['detail']}", "bold red")
    if not done["ok"]:
        raise typer.Exit(1)


@app.command("doctor", short_help="What is wrong with this store or machine, and the mend.")
def doctor() -> None:
    """What is wrong with this store or this machine, each with the command that mends it; it only looks.

    Exit status 1 when something is wrong; a risk or a note gives 0. 'verify' recomputes everything, this does not.
    """
    out = state.output
    done = Minutebook.doctor(state.workspace, database=state.database)
    if out.json:
        out.document(done)
    else:
        for found in done["findings"]:
            style = {"wrong": "bold red", "risk": "yellow"}.get(found["level"], "")
            out.line(f"{found['level'].upper():<6}{found['code']}: {found['text']}", style)
            out.line(f"      {found['mend']}", "dim")
        wrong = sum(1 for found in done["findings"] if found["level"] == "wrong")
        risks = sum(1 for found in done["findings"] if found["level"] == "risk")
        well = f"Nothing is wrong now; {counted(risks, 'risk')}." if risks else "Nothing is wrong."
        out.line(f"{counted(wrong, 'thing')} wrong." if wrong else well, "bold")
    if not done["ok"]:
        raise typer.Exit(1)
