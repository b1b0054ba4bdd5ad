"""evidence …: list, show, collect."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import evidence_app, state
from .output import counted, one_line


@evidence_app.command("list")
def list_(
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only so many packets, the newest.")] = None,
) -> None:
    """Packets of evidence, the newest first, and how each claim stands."""
    out = state.output
    found = state.look().evidence.list(session, limit=limit)
    if out.json:
        out.document(found)
    elif not found:
        out.line("No evidence yet: 'minutebook evidence collect' reads the runs that succeeded.")
    for packet in () if out.json else found:
        out.line(f"{packet['evidence']}  session {packet['session']}, run {packet['run']}", "bold")
        for claim in packet["claims"]:
            _claim(claim)


def _claim(claim: dict[str, Any]) -> None:
    out = state.output
    said = "(forgotten)" if claim["text"] is None else one_line(claim["text"])
    out.line(f"  {claim['claim']}  {claim['state']}, {claim['kind']}, on {_ground(claim)}, trust {claim['trust']}")
    out.line(f"    {said}")
    if claim["contradicts"]:
        out.line(f"    contradicts {', '.join(claim['contradicts'])}", "yellow")
    if claim["findings"]:
        out.line(f"    the checks found: {', '.join(claim['findings'])}", "red")


def _ground(claim: dict[str, Any]) -> str:
    return {"user": "the user's word", "tool": "a tool's check", "none": "nothing yet"}[claim["basis"]]


@evidence_app.command("show")
def show(name: Annotated[str, typer.Argument(metavar="ID", help="Of a packet, or of one of its claims.")]) -> None:
    """One packet: its claims, the messages and files that it rests on, its hash."""
    out = state.output
    found = state.look().evidence.show(name)
    if out.json:
        out.document(found)
        return
    out.line(f"{found['evidence']}  session {found['session']}, run {found['run']}", "bold")
    out.fields(
        [
            ("hash", f"{found['hash']} ({'as the log has it' if found['verified'] else 'the log has another'})"),
            ("read by", found["extractor"]),
            ("position", found["position"]),
            ("messages", counted(found["messages_total"], "message")),
            ("redacted", found["redacted"] or None),
            ("left out", found["left_out"] or None),
        ]
    )
    for claim in found["claims"]:
        _claim(claim)
        for message in claim["messages"]:
            position = next((one["position"] for one in found["messages"] if one["id"] == message), None)
            where = "" if position is None else f" at position {position}"
            out.line(f"    from message {message}{where}", "dim")
    for file in found["files"]:
        known = file["digest"] or file["why"] or "not looked at"
        out.line(f"  {file['action']} {one_line(file['path'])}: {known}", "dim")


@evidence_app.command("collect")
def collect(
    session: Annotated[
        str | None, typer.Option(help="All runs of this session that succeeded, imported ones too.")
    ] = None,
) -> None:
    """Read the runs that succeeded since the last time; a curation does it by itself."""
    out = state.output
    answer = state.write().evidence.collect(session)
    if out.json:
        out.document(answer)
    else:
        claims = f"{counted(answer['claims'], 'claim')} in {counted(answer['packets'], 'packet')}"
        out.line(f"{counted(answer['runs'], 'run')} read: {claims}.")
