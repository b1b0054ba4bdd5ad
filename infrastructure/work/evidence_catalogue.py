"""Packets and claims with their state, as a person and a program look at them (D14)."""

from __future__ import annotations

from typing import Any

from ...domain.errors import InputError
from ...domain.events import LoggedEvent
from ...domain.evidence import evidence_hash
from ...domain.evidence.promotion import Standing, contradictions
from ...domain.identifiers import check_identifier
from ...domain.streams import message_stream
from ...domain.whole_numbers import whole_number
from ...projections import evidence as catalogue
from ...projections.evidence import ClaimRow, PacketRow
from .runtime import Runtime


def listed(runtime: Runtime, session: str | None, limit: int | None) -> list[dict[str, Any]]:
    """Packets, the newest first, each with its claims and how they stand."""
    if limit is not None:
        whole_number(limit, "limit")
    with runtime.projections.reading("evidence") as (view, connection):
        rows = catalogue.packets(view, connection, runtime.workspace, session=session, limit=limit)
        claims = catalogue.claims(view, connection, runtime.workspace)
    against = _against(claims)
    by_packet: dict[str, list[dict[str, Any]]] = {}
    for claim in claims:
        by_packet.setdefault(claim.packet, []).append(_claim(claim, against))
    return [_packet(row, by_packet.get(row.packet, [])) for row in rows]


def shown(runtime: Runtime, name: str) -> dict[str, Any]:
    """One packet with its sources, by its id or that of one of its claims. Raises InputError ``unknown_evidence``."""
    check_identifier(name, what="id")
    with runtime.projections.reading("evidence") as (view, connection):
        row = catalogue.packet(view, connection, runtime.workspace, name)
        if row is None and (found := catalogue.claims(view, connection, runtime.workspace, claim=name)):
            row = catalogue.packet(view, connection, runtime.workspace, found[0].packet)
        claims = catalogue.claims(view, connection, runtime.workspace)
    if row is None:
        raise InputError(
            f"there is no packet and no claim {name!r}; 'minutebook evidence list' names them",
            code="unknown_evidence",
        )
    mine = [claim for claim in claims if claim.packet == row.packet]
    against = _against(claims)
    event = runtime.log.at([row.position])[row.position]
    content = event.body.content.get("content", {})
    disk = event.body.content.get("disk", ())
    answer = _packet(row, [_claim(claim, against) for claim in mine])
    answer["messages"] = [
        {"id": message, "role": role, "digest": digest, "position": _position(runtime, row.session, message)}
        for message, role, digest in content.get("messages", ())
    ]
    # The snapshot of a file could hold what was forgotten: while a claim of it is, none is shown.
    hidden = any(claim.state == "forgotten" for claim in mine)
    answer["files"] = [{**told, **_on_disk(disk, told["path"], hidden=hidden)} for told in content.get("files", ())]
    answer["summaries"] = [{"compaction": name, "digest": digest} for name, digest in content.get("summaries", ())]
    answer["range"] = content.get("range")
    answer["verified"] = _verified(event)
    answer["erased"] = event.erased
    return answer


def _packet(row: PacketRow, claims: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "evidence": row.packet,
        "session": row.session,
        "run": row.run,
        "extractor": row.extractor,
        "hash": row.hash,
        "position": row.position,
        "time": row.time,
        "messages_total": row.messages,
        "files_total": row.files,
        "redacted": row.redacted,
        "left_out": row.left_out,
        "claims": claims,
    }


def _claim(row: ClaimRow, against: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "claim": row.claim,
        "kind": row.kind,
        "text": row.text,
        "state": row.state,
        "basis": row.basis,
        "trust": row.trust,
        "language": row.language,
        "messages": list(row.messages),
        "findings": list(row.findings),
        "contradicts": against.get(row.claim, []),
        "candidate": row.candidate,
        "settled_by": row.settled_by,
        "blocked_by": row.blocked_by,
    }


def _against(claims: list[ClaimRow]) -> dict[str, list[str]]:
    standing = [
        Standing(
            row.claim, row.packet, row.kind, row.basis, row.trust, row.text, row.position, row.run, row.session
        )
        for row in claims
        if row.text and row.state in ("open", "promoted", "known")
    ]  # fmt: skip
    return contradictions(standing)


def _position(runtime: Runtime, session: str, message: str) -> int | None:
    found = runtime.log.stream(message_stream(runtime.workspace, session, message), limit=1)
    return found[0].position if found else None


def _on_disk(disk: Any, path: str, *, hidden: bool) -> dict[str, Any]:
    found: dict[str, Any] = next((one for one in disk if one["path"] == path), {})
    snapshot = None if hidden else found.get("snapshot")
    return {"digest": found.get("digest"), "size": found.get("size"), "why": found.get("why"), "snapshot": snapshot}


def _verified(event: LoggedEvent) -> bool:
    """Whether the hash of the packet is that of what the log holds of it."""
    content = event.body.content
    return bool(content) and evidence_hash(content["content"]) == content["hash"]
