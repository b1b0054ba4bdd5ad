"""memory …: show, propose, curate, log, diff, blame, sync, restore, status, quarantine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ....domain.errors import InputError, MinutebookError
from .app import memory_app, propose_app, quarantine_app, state
from .moment import moment
from .output import counted, one_line


@memory_app.command("show")
def show(
    revision: Annotated[int | None, typer.Option(help="This revision.")] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="MOMENT", help="The revision in force at a position (42) or a time (2026-11-30T10:00Z)."),
    ] = None,
) -> None:
    """The entries of the current revision, or of a past one."""
    if revision is not None and at is not None:
        raise InputError("give --revision or --at, not both", code="bad_option")
    out = state.output
    found = state.look().memory.show(revision, at=moment(at))
    if out.json:
        out.document(found)
        return
    if found["kind"] == "displaced":
        number = found["revision"]
        out.line(f"revision {number}, displaced; what stood in the file, which 'memory restore {number}' reads", "bold")
        out.line((found["kept"] or "(erased)").rstrip("\n"))
        return
    entries = counted(len(found["entries"]), "entry", "entries")
    out.line(f"revision {found['revision']}, {entries}; file {found['file']['state']}", "bold")
    for entry in found["entries"]:
        out.line(f"{entry['id']}  {entry['text']}")


def _proposed(answer: dict[str, Any]) -> None:
    out = state.output
    if answer["status"] == "refused":
        # The model gets its refusal as an answer to act on; a person gets what every command says of one.
        raise MinutebookError(answer["message"].removeprefix(f"{answer['error']}: "), code=answer["error"])
    if out.json:
        out.document(answer)
    else:
        out.line(f"{answer['candidate'] or 'not recorded'}: {answer['status']}", "bold")
        if answer.get("message"):
            out.line(answer["message"])


@propose_app.command("add")
def propose_add(text: Annotated[str, typer.Argument(metavar="TEXT")]) -> None:
    """Propose a new entry."""
    _proposed(state.write().memory.propose({"operation": "add", "text": text}))


@propose_app.command("replace")
def propose_replace(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Entry id, or text that only one entry has.")],
    text: Annotated[str, typer.Argument(metavar="TEXT")],
) -> None:
    """Propose another text for an entry."""
    _proposed(state.write().memory.propose({"operation": "replace", "target": target, "text": text}))


@propose_app.command("remove")
def propose_remove(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Entry id, or text that only one entry has.")],
) -> None:
    """Propose that an entry goes."""
    _proposed(state.write().memory.propose({"operation": "remove", "target": target}))


@memory_app.command("curate")
def curate() -> None:
    """Turn admitted candidates into the next revision of MEMORY.md."""
    out = state.output
    answer = state.write().curate()
    if out.json:
        out.document(answer)
    elif answer["status"] == "nothing":
        out.line("Nothing to curate.")
    else:
        print_curation(answer)
    if answer["status"] in ("rejected", "failed"):
        raise typer.Exit(1)


def print_curation(answer: dict[str, Any]) -> None:
    """What a curation came to, for a person."""
    out = state.output
    out.line(f"{answer['status']}" + (f": revision {answer['revision']}" if answer["revision"] else ""), "bold")
    for reason in answer["reasons"]:
        out.line(
            f"  {reason['entry']}: {reason['check']}"
            + (f" ({one_line(reason['message'])})" if reason["message"] else "")
        )


@memory_app.command("log")
def log(
    limit: Annotated[int | None, typer.Option(help="Only so many, the newest.")] = None,
    before: Annotated[int | None, typer.Option(help="Only revisions of smaller numbers.")] = None,
) -> None:
    """Every revision, the oldest first."""
    out = state.output
    found = state.look().memory.revisions(limit, before=before)
    if out.json:
        out.document(found)
    elif not found:
        out.line("No revisions yet." if limit is None and before is None else "No revisions in this range.")
    else:
        columns = ("revision", "kind", "parent", "position", "time", "digest")
        out.table(
            columns,
            [[item[name][:19] if name in ("digest", "time") else item[name] for name in columns]
             for item in found],
            numbers=("revision", "parent", "position"),
        )  # fmt: skip


@memory_app.command("diff")
def diff(a: Annotated[int, typer.Argument(metavar="A")], b: Annotated[int, typer.Argument(metavar="B")]) -> None:
    """What changed between two revisions."""
    out = state.output
    found = state.look().memory.diff(a, b)
    if out.json:
        out.document(found)
        return
    for entry in found["added"]:
        out.line(f"+ {entry['id']}  {entry['text']}", "green")
    for entry in found["removed"]:
        out.line(f"- {entry['id']}  {entry['text']}", "red")
    for entry in found["changed"]:
        out.line(f"- {entry['replaces']}  {entry['before']}", "red")
        out.line(f"+ {entry['id']}  {entry['after']}", "green")
    if not any(found.values()):
        out.line("No difference.")


@memory_app.command("blame")
def blame(revision: Annotated[int | None, typer.Option(help="Of this revision.")] = None) -> None:
    """Where each entry came from: operation, run, messages, actor, checks."""
    out = state.output
    found = state.look().memory.blame(revision)
    if out.json:
        out.document(found)
        return
    if not found:
        out.line("No entries.")
    for item in found:
        out.line(f"{item['entry']}  {item['text']}", "bold")
        out.fields(
            [
                ("  revision", item["revision"]),
                ("  operation", item["operation"]),
                ("  run", item["run"]),
                ("  session", item["session"]),
                ("  messages", ", ".join(item["messages"]) or None),
                ("  actor", item["actor"]),
                ("  trust", item["trust"]),
                ("  checks", ", ".join(item["checks"]) or None),
                ("  let pass", ", ".join(item["overrides"]) or None),
            ]
        )


@memory_app.command("sync")
def sync(
    fix: Annotated[
        bool, typer.Option("--fix", help="Accept harmless differences and write the canonical form.")
    ] = False,
    allow: Annotated[list[str] | None, typer.Option("--allow", help="Override a finding by its code.")] = None,
) -> None:
    """Take a hand-edited MEMORY.md as a manual revision; with a clean file, curate."""
    out = state.output
    answer = state.write().memory.sync(fix=fix, allow=tuple(allow or ()))
    curation = answer.get("curation") or {"status": "nothing"}
    if out.json:
        out.document(answer)
    else:
        out.line(f"MEMORY.md is revision {answer['revision']}." if answer["revision"] else "Nothing to record.")
        for name in answer["fixed"]:
            out.line(f"  fixed: {name}", "dim")
        if curation["status"] != "nothing":
            print_curation(curation)
    if curation["status"] in ("rejected", "failed"):
        raise typer.Exit(1)


@memory_app.command("restore")
def restore(
    revision: Annotated[int, typer.Argument(metavar="N")],
    discard_edit: Annotated[
        bool, typer.Option("--discard-edit", help="Record what stands in the file as a displaced revision first.")
    ] = False,
    allow: Annotated[list[str] | None, typer.Option("--allow", help="Override a finding by its code.")] = None,
) -> None:
    """Make a new revision from an old one."""
    answer = state.write().memory.restore(revision, discard_edit=discard_edit, allow=tuple(allow or ()))
    if state.output.json:
        state.output.document(answer)
    elif answer["changed"]:
        state.output.line(f"MEMORY.md is revision {answer['revision']}, made from revision {revision}.")
    else:
        state.output.line(f"MEMORY.md holds what revision {revision} held; it stays revision {answer['revision']}.")


@memory_app.command("status")
def status() -> None:
    """State of the file, of the curator and of what waits."""
    out = state.output
    found = state.look().memory.status()
    if out.json:
        out.document(found)
    else:
        out.fields(
            [
                ("file", f"{found['state']}  {found['path']}"),
                ("detail", found["detail"] or None),
                ("revision", found["revision"]),
                ("automatic curation", "on" if found["automatic_curation"] else "off"),
                ("pending", found["pending"]),
                ("quarantined", found["quarantined"]),
                ("set aside", ", ".join(found["set_aside"]) or None),
                ("last error", found["last_error"]),
            ]
        )
    if found["state"] in ("drift", "missing", "unreadable"):
        raise typer.Exit(1)


@memory_app.command("candidates")
def candidates(
    status: Annotated[str | None, typer.Option(help="Only of this state: withdrawn, refused, set_aside...")] = None,
) -> None:
    """Every proposal: where it stands, and why."""
    out = state.output
    found = state.look().memory.candidates(status)
    if out.json:
        out.document(found)
    elif not found:
        out.line("No candidates.")
    else:
        for item in found:
            why = f": {item['reason']}" if item["reason"] else ""
            if item["status"] in ("admitted", "approved") and item["last_error"]:
                why = f", last attempt: {item['last_error']}"
            out.line(f"{item['candidate']}  {item['status']}{why}", "bold")
            out.line(f"  {item['operation']}: {one_line(item['text'])}")


@quarantine_app.command("list")
def quarantine_list() -> None:
    """Candidates of low trust that wait for a person."""
    out = state.output
    found = state.look().memory.quarantine()
    if out.json:
        out.document(found)
    elif not found:
        out.line("Nothing waits.")
    else:
        for item in found:
            out.line(f"{item['candidate']}  trust {item['trust']}, run {item['run']}", "bold")
            out.line(f"  {item['operation']}: {one_line(item['text'])}")
            if item["findings"]:
                found_in_it = ", ".join(dict.fromkeys(item["findings"]))
                out.line(f"  the checks found: {found_in_it}; as it stands the curation will refuse it", "red")


@quarantine_app.command("approve")
def quarantine_approve(candidate: Annotated[str, typer.Argument(metavar="CANDIDATE")]) -> None:
    """Let a candidate pass to the curator; one that was set aside starts afresh."""
    answer = state.write().memory.approve(candidate)
    if state.output.json:
        state.output.document(answer)
    else:
        state.output.line(f"{answer['candidate']}: {answer['status']}", "bold")
        state.output.line("The next curation takes it in if it passes the checks: minutebook memory curate")


@quarantine_app.command("reject")
def quarantine_reject(candidate: Annotated[str, typer.Argument(metavar="CANDIDATE")]) -> None:
    """Refuse a candidate, in quarantine or set aside."""
    answer = state.write().memory.reject(candidate)
    if state.output.json:
        state.output.document(answer)
    else:
        state.output.line(f"{answer['candidate']}: {answer['status']}")
