"""The command tree, its global options, and how a command gets its book."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ....domain.errors import InputError
from ...book import Minutebook
from ...book.shared_memory import Common
from ...store.system import telling
from .output import Output


class State:
    """What the global options said, and the book of this one command."""

    def __init__(self) -> None:
        self.workspace = Path()
        self.database: str | None = None
        self.common = False
        self.output = Output(as_json=False)
        self._book: Minutebook | None = None

    def look(self) -> Minutebook:
        """A book for reading: it may bring a projection up to date, and changes nothing else (M2)."""
        return self._open("look")

    def write(self, *, automatic: bool = False) -> Minutebook:
        """A book for changing. Nothing runs behind a command's back unless it says so: automatic curation is off."""
        return self._open("write", automatic=automatic)

    def _open(self, access: str, *, automatic: bool = False) -> Minutebook:
        with telling(f"the workspace {self.workspace} cannot be looked at"):
            there = self.workspace.is_dir()
        if access == "look" and not there:
            named = os.environ.get("MINUTEBOOK_WORKSPACE") == str(self.workspace)
            raise InputError(
                f"there is no folder {str(self.workspace)!r}{' (from MINUTEBOOK_WORKSPACE)' if named else ''}; "
                "name one with --workspace",
                code="unknown_workspace",
            )
        if self.database is not None and access == "write" and in_memory(self.database):
            raise InputError(
                f"{self.database!r} is a database in memory: what a command records in it is gone when it ends; "
                "name a file (sqlite:///book.db)",
                code="bad_database_url",
            )
        self._book = Minutebook.open(
            self.workspace,
            database=self.database,
            access=access,  # type: ignore[arg-type]
            automatic=None if automatic else False,
        )
        # What names the memory in common is given that and nothing else: no other command means it.
        return cast(Minutebook, _InCommon(self._book.common)) if self.common else self._book

    def close(self) -> None:
        if self._book is not None:
            book, self._book = self._book, None
            book.close()


class _InCommon:
    """A book of which only the memory is asked for, and that is the one in common."""

    def __init__(self, common: Common) -> None:
        self.memory = common
        self.curate = common.curate

    def __getattr__(self, name: str) -> Any:
        raise InputError(f"--common goes with the memory commands; leave it out for {name!r}", code="bad_option")


def in_memory(url: str) -> bool:
    """Whether a URL names SQLite without a file."""
    scheme, _, rest = url.partition("://")
    return scheme.split("+")[0] == "sqlite" and rest.strip("/") in ("", ":memory:")


state = State()

app = typer.Typer(
    name="minutebook",
    help="The minutes of an agent's work: context that fits, memory that can be traced and undone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
session_app = typer.Typer(help="Sessions and their messages.", no_args_is_help=True, rich_markup_mode=None)
compaction_app = typer.Typer(help="Undo and redo compactions.", no_args_is_help=True, rich_markup_mode=None)
memory_app = typer.Typer(help="Durable memory: MEMORY.md and its history.", no_args_is_help=True, rich_markup_mode=None)
propose_app = typer.Typer(help="Propose a change to memory yourself.", no_args_is_help=True, rich_markup_mode=None)
quarantine_app = typer.Typer(help="Candidates that wait for you.", no_args_is_help=True, rich_markup_mode=None)
evidence_app = typer.Typer(help="What completed runs left behind.", no_args_is_help=True, rich_markup_mode=None)
projections_app = typer.Typer(help="Read models of the log.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(session_app, name="session")
app.add_typer(compaction_app, name="compaction")
app.add_typer(memory_app, name="memory")
memory_app.add_typer(propose_app, name="propose")
memory_app.add_typer(quarantine_app, name="quarantine")
app.add_typer(evidence_app, name="evidence")
app.add_typer(projections_app, name="projections")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"minutebook {version('minutebook')}")
        raise typer.Exit


@app.callback()
def options(
    workspace: Annotated[
        Path | None,
        # Not for typer to judge: what may not be read is refused with a code of ours.
        typer.Option(
            "--workspace", readable=False, help="Folder of the workspace (default: here, or MINUTEBOOK_WORKSPACE)."
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", help="Database URL (default: MINUTEBOOK_DATABASE, else SQLite in the workspace)."),
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="The memory that the workspaces of one memory_root share.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    state.common = common
    state.workspace = workspace or Path(os.environ.get("MINUTEBOOK_WORKSPACE") or ".")
    state.database = database or os.environ.get("MINUTEBOOK_DATABASE") or None


# The commands register themselves; they are named twice so that no tool takes the imports for unused ones.
from . import (  # noqa: E402
    audit,
    backtest,
    blame,
    contexts,
    erasing,
    evidence,
    export,
    forgetting,
    memory,
    notes,
    plug_ins,
    search,
    sessions,
    upkeep,
    work,
)

COMMANDS = (
    audit, backtest, blame, contexts, erasing, evidence, export, forgetting, memory, notes, plug_ins, search, sessions,
    upkeep, work,
)  # fmt: skip
