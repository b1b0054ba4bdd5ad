"""erase …: session, message, entry, list, show, finish, allow."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated, Any

import typer

from .app import app, state
from .output import counted, shorten

erase_app = typer.Typer(help="Erase what must go, for good.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(erase_app, name="erase")

Id = Annotated[str, typer.Argument(metavar="ID")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the tombstone, so name no names.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")]
Keep = Annotated[list[str] | None, typer.Option("--keep", help="An entry that stays though it was derived.")]
NoBlock = Annotated[bool, typer.Option("--allow-relearning", help="Let the same be learned again.")]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="Erase also what repeats the words, wherever it stands.")
]


@erase_app.command("session")
def session(
    id: Id, reason: Reason = "", dry_run: DryRun = False, everywhere: Everywhere = False, keep: Keep = None,
    allow_relearning: NoBlock = False, yes: Yes = False,
) -> None:  # fmt: skip
    """Erase every text of a session, and what was derived from it."""
    _erase("session", id, reason, dry_run, yes, everywhere=everywhere or None, keep=keep or (),
           block=not allow_relearning)  # fmt: skip


@erase_app.command("message")
def message(
    id: Id, reason: Reason = "", dry_run: DryRun = False, everywhere: Everywhere = False, keep: Keep = None,
    session: Annotated[str | None, typer.Option(help="The session, where several have a message of that id.")] = None,
    allow_relearning: NoBlock = False, yes: Yes = False,
) -> None:  # fmt: skip
    """Erase one message, by its id or position, and what was derived from it."""
    _erase("message", id, reason, dry_run, yes, session=session, everywhere=everywhere or None, keep=keep or (),
           block=not allow_relearning)  # fmt: skip


@erase_app.command("entry")
def entry(
    id: Id, reason: Reason = "", dry_run: DryRun = False,
    keep_messages: Annotated[
        bool, typer.Option("--keep-messages", help="Erase it from memory alone, not where a message says the same.")
    ] = False,
    allow_relearning: NoBlock = False, yes: Yes = False,
) -> None:  # fmt: skip
    """Erase an entry of memory from every revision, and wherever its words stand."""
    _erase("entry", id, reason, dry_run, yes, everywhere=False if keep_messages else None, block=not allow_relearning)


def _erase(kind: str, id: str, reason: str, dry_run: bool, yes: bool, **options: Any) -> None:
    out = state.output
    if dry_run:
        found = state.look().erase(kind, id, dry_run=True, **options)
        if out.json:
            out.document(found)
        else:
            _print(found, "would be erased")
        return
    if not reason.strip():
        raise typer.BadParameter("say why, with --reason")
    book = state.write()
    if not (yes or out.json) and sys.stdin.isatty():
        _print(book.erase(kind, id, dry_run=True, **options), "would be erased")
        if not typer.confirm("This cannot be undone. Erase it?"):
            raise typer.Abort
    found = book.erase(kind, id, reason=reason, **options)
    _answer(found)


def _answer(found: dict[str, Any]) -> None:
    out = state.output
    if out.json:
        out.document(found)
    else:
        _print(found, "erased" if found["receipt"] else "is being erased")
        _print_receipt(found)
    if found["receipt"] is None:
        raise typer.Exit(1)


def _print(found: dict[str, Any], done: str) -> None:
    out, erased = state.output, found["erased"]
    out.line(
        f"{erased['kind']} {erased['id']} {done}: {counted(erased['payloads'], 'text')}, of them "
        f"{counted(erased['messages'], 'message')}",
        "bold",
    )
    for what, number in Counter(item["what"] for item in found["derived"]).items():
        named = [str(item["id"] or item["position"]) for item in found["derived"] if item["what"] == what]
        out.line(f"  {what.replace('_', ' ')}: {number:,}  {shorten(', '.join(named), 80)}")
    if found["forks"]:
        out.line(f"  shown as tombstones in {', '.join(found['forks'])}, forked from it")
    for item in found["elsewhere"]:
        place = item["id"] if item["what"] == "file" else f"position {item['position']}"
        out.line(f"  left, though it repeats the words: {item['what']} at {place}", "yellow")


def _print_receipt(found: dict[str, Any]) -> None:
    out, receipt = state.output, found["receipt"]
    if receipt is None:
        waits = found["waits_for"]
        out.line(f"No receipt yet: {waits['code']}: {waits['message']}", "bold red")
        return
    out.line(
        f"Receipt {receipt['erasure']}: event {receipt['position']}, {receipt['time']}, "
        f"{counted(receipt['payloads'], 'text')} erased, {receipt['wiped'].replace('_', ' ')}"
    )
    out.line(f"  chain {receipt['chain']}", "dim")


@erase_app.command("list")
def list_() -> None:
    """Every erasure: what, who, when, why, and whether it is done."""
    out = state.output
    found = state.look().erasures.list()
    if out.json:
        out.document(found)
    elif not found:
        out.line("Nothing was erased.")
    else:
        columns = ("erasure", "kind", "id", "status", "time", "actor", "reason")
        rows = [[*(row[name] for name in columns[:-1]), shorten(row["reason"] or "", 60)] for row in found]
        out.table(columns, [[*row[:4], row[4][:19], *row[5:]] for row in rows])
        for row in found:
            if row["waits_for"]:
                out.line(f"{row['erasure']} waits: {row['waits_for']['code']}: {row['waits_for']['message']}", "red")


@erase_app.command("show")
def show(erasure: Annotated[str, typer.Argument(metavar="ERASURE")]) -> None:
    """One erasure with its receipt."""
    out = state.output
    found = state.look().erasures.show(erasure)
    if out.json:
        out.document(found)
        return
    receipt = found["receipt"] or {}
    out.fields(
        [
            ("erasure", f"{found['erasure']}  {found['status']}"),
            ("what", f"{found['kind']} {found['id']}"),
            ("asked", f"{found['time']} by {found['actor']}, event {found['requested']}"),
            ("why", found["reason"]),
            ("waits for", found["waits_for"] and found["waits_for"]["message"]),
            ("receipt", receipt and f"event {receipt['position']}, {receipt['time']}"),
            ("chain", receipt.get("chain")),
            ("texts erased", receipt.get("payloads")),
            ("by type", ", ".join(f"{name} {count}" for name, count in receipt.get("by_type", {}).items()) or None),
            ("memory", receipt.get("memory_revision") and f"revision {receipt['memory_revision']}"),
            ("taken back", ", ".join(receipt.get("undone", ())) or None),
            ("made again", ", ".join(receipt.get("rebuilt", ())) or None),
            ("left elsewhere", receipt.get("elsewhere") or None),
            ("learning again", "blocked" if found["blocks_relearning"] else "not blocked"),
        ]
    )


@erase_app.command("finish")
def finish() -> None:
    """Go on with erasures that something stood in the way of."""
    out = state.output
    book = state.write()  # which goes on by itself, and waits for nobody
    left = book.erasures.finish()
    if out.json:
        out.document(left)
    elif not left:
        out.line("No erasure is unfinished.")
    else:
        for found in left:
            _print(found, "erased" if found["receipt"] else "is being erased")
            _print_receipt(found)
    if any(found["receipt"] is None for found in left):
        raise typer.Exit(1)


@erase_app.command("allow")
def allow(erasure: Annotated[str, typer.Argument(metavar="ERASURE")]) -> None:
    """Let be learned again what an erasure took out of memory."""
    answer = state.write().erasures.allow(erasure)
    if state.output.json:
        state.output.document(answer)
    else:
        state.output.line(
            f"{erasure}: what it {'erased' if answer['erasure'] else 'blocked'} may be learned again", "bold"
        )
