"""The catalogue of evidence: packets, claims with their state, and what must not be learnt again (D14, D16).

A claim is ``open`` until it was promoted or settled; ``refused`` when a check keeps it out for good. What a block
holds is ``forgotten``, whenever it was read: no query here gives its text, and once the block is lifted it stands as
before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Column, Connection, Index, Integer, MetaData, Table, Text, func, insert, select, update

from ..domain import catalogue as events
from ..domain.events import LoggedEvent
from ..domain.forgetting import Block, blocking
from ..domain.message import Trust
from .projection import BIG, Projection, upsert

ClaimState = Literal["open", "refused", "promoted", "known", "superseded", "unmatched", "forgotten"]
STATES: tuple[ClaimState, ...] = ("open", "refused", "promoted", "known", "superseded", "unmatched", "forgotten")


class Evidence(Projection):
    """One row per packet, per claim, per block."""

    name = "evidence"
    version = 1
    event_types = frozenset(
        {
            events.EvidenceCollected,
            events.ClaimPromoted,
            events.ClaimSettled,
            events.LearningBlocked,
            events.LearningAllowed,
        }
    )

    packets: Table
    claims: Table
    blocks: Table

    def tables(self, metadata: MetaData) -> None:
        self.packets = Table(
            "evidence",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("packet", Text, primary_key=True),
            Column("session", Text, nullable=False),
            Column("run", Text, nullable=False),
            Column("extractor", Text, nullable=False),
            Column("position", BIG, nullable=False),
            Column("time", Text, nullable=False),
            Column("hash", Text),
            Column("messages", Integer, nullable=False),
            Column("files", Integer, nullable=False),
            Column("claims", Integer, nullable=False),
            Column("redacted", Integer, nullable=False),
            Column("left_out", Integer, nullable=False),
        )
        Index("evidence_by_position", self.packets.c.workspace, self.packets.c.position)
        self.claims = Table(
            "evidence_claims",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("claim", Text, primary_key=True),
            Column("packet", Text, nullable=False),
            Column("ordinal", Integer, nullable=False),
            Column("kind", Text, nullable=False),
            Column("basis", Text, nullable=False),
            Column("trust", Text, nullable=False),
            Column("text", Text, nullable=False),
            Column("language", Text, nullable=False),
            Column("session", Text, nullable=False),
            Column("run", Text, nullable=False),
            Column("messages", Text, nullable=False),
            Column("findings", Text, nullable=False),
            Column("position", BIG, nullable=False),
            Column("state", Text, nullable=False),
            Column("changed", BIG, nullable=False),
            Column("candidate", Text),
            Column("settled_by", Text),
            Column("blocked_by", Text),
        )
        Index("evidence_claims_by_state", self.claims.c.workspace, self.claims.c.state, self.claims.c.position)
        self.blocks = Table(
            "evidence_blocks",
            metadata,
            Column("workspace", Text, primary_key=True),
            Column("block", Text, primary_key=True),
            Column("reason", Text, nullable=False),
            Column("target", Text),
            Column("text", Text),
            Column("sources", Text, nullable=False),
            Column("actor", Text, nullable=False),
            Column("position", BIG, nullable=False),
            Column("time", Text, nullable=False),
            Column("lifted", BIG),
        )

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        for event in events:
            self._take(event, connection)

    def _take(self, event: LoggedEvent, connection: Connection) -> None:
        match event.body:
            case events.EvidenceCollected() as body:
                self._collected(event, body, connection)
            case events.ClaimPromoted() as body:
                change = {"state": "promoted", "candidate": body.candidate}
                self._change(event, connection, body.claim, **change)
            case events.ClaimSettled() as body:
                self._change(event, connection, body.claim, state=body.outcome, settled_by=body.by)
            case events.LearningBlocked() as body:
                self._blocked(event, body, connection)
            case events.LearningAllowed() as body:
                self._allowed(event, body, connection)
            case _:
                pass

    def _collected(self, event: LoggedEvent, body: events.EvidenceCollected, connection: Connection) -> None:
        content = body.content.get("content", {})
        texts = [claim.get("text", "") for claim in content.get("claims", ())]
        texts += [""] * (len(body.claims) - len(texts))  # after an erasure (E8) the texts are gone
        row = {
            "workspace": event.workspace,
            "packet": body.packet,
            "session": event.session or "",
            "run": event.run or "",
            "extractor": body.extractor,
            "position": event.position,
            "time": event.time.isoformat(timespec="microseconds"),
            "hash": body.content.get("hash"),
            "messages": body.messages,
            "files": body.files,
            "claims": len(body.claims),
            "redacted": body.redacted,
            "left_out": body.left_out,
        }
        connection.execute(upsert(self.packets, connection), row)
        blocks = self._live_blocks(connection, event.workspace)
        rows = []
        for ordinal, (fact, text) in enumerate(zip(body.claims, texts, strict=False)):
            held = blocking(blocks, text, [(event.session or "", name) for name in fact.messages])
            rows.append(
                {
                    "workspace": event.workspace,
                    "claim": fact.claim,
                    "packet": body.packet,
                    "ordinal": ordinal,
                    "kind": fact.kind,
                    "basis": fact.basis,
                    "trust": fact.trust,
                    "text": text,
                    "language": fact.language,
                    "session": event.session or "",
                    "run": event.run or "",
                    "messages": _json(fact.messages),
                    "findings": _json(fact.findings),
                    "position": event.position,
                    "state": "refused" if fact.findings else "open",
                    "changed": event.position,
                    "candidate": None,
                    "settled_by": None,
                    "blocked_by": None if held is None else held.block,
                }
            )
        if rows:
            connection.execute(insert(self.claims), rows)

    def _change(self, event: LoggedEvent, connection: Connection, claim: str, **values: Any) -> None:
        table = self.claims
        mine = (table.c.workspace == event.workspace, table.c.claim == claim)
        connection.execute(update(table).where(*mine).values(changed=event.position, **values))

    def _blocked(self, event: LoggedEvent, body: events.LearningBlocked, connection: Connection) -> None:
        row = {
            "workspace": event.workspace,
            "block": body.block,
            "reason": body.reason,
            "target": body.target,
            "text": body.content.get("text"),
            "sources": _json([[source.session, source.message] for source in body.sources]),
            "actor": event.actor,
            "position": event.position,
            "time": event.time.isoformat(timespec="microseconds"),
            "lifted": None,
        }
        connection.execute(upsert(self.blocks, connection), row)
        self._mark(event.workspace, connection)

    def _allowed(self, event: LoggedEvent, body: events.LearningAllowed, connection: Connection) -> None:
        table = self.blocks
        mine = (table.c.workspace == event.workspace, table.c.block == body.block)
        connection.execute(update(table).where(*mine).values(lifted=event.position))
        claims = self.claims
        held = (claims.c.workspace == event.workspace, claims.c.blocked_by == body.block)
        connection.execute(update(claims).where(*held).values(blocked_by=None))
        self._mark(event.workspace, connection)

    def _mark(self, workspace: str, connection: Connection) -> None:
        """Marks every claim that a live block holds and that is not marked yet; blocks are rare, and so is this."""
        blocks = self._live_blocks(connection, workspace)
        table = self.claims
        free = (table.c.workspace == workspace, table.c.blocked_by.is_(None))
        for row in connection.execute(select(table).where(*free).order_by(table.c.position, table.c.ordinal)).all():
            held = blocking(blocks, row.text, [(row.session, name) for name in json.loads(row.messages)])
            if held is not None:
                mine = (table.c.workspace == workspace, table.c.claim == row.claim)
                connection.execute(update(table).where(*mine).values(blocked_by=held.block))

    def _live_blocks(self, connection: Connection, workspace: str) -> list[Block]:
        return [row.value for row in blocks(self, connection, workspace) if row.lifted is None]


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# --- queries


@dataclass(frozen=True, slots=True)
class PacketRow:
    """One packet; ``position`` is where its content stands in the log, ``hash`` None after an erasure."""

    packet: str
    session: str
    run: str
    extractor: str
    position: int
    time: str
    hash: str | None
    messages: int
    files: int
    claims: int
    redacted: int
    left_out: int


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim as it stands; ``text`` is None when it was forgotten, "" after an erasure."""

    claim: str
    packet: str
    ordinal: int
    kind: str
    basis: str
    trust: Trust
    text: str | None
    language: str
    session: str
    run: str
    messages: tuple[str, ...]
    findings: tuple[str, ...]
    position: int
    state: ClaimState
    changed: int
    candidate: str | None
    settled_by: str | None
    blocked_by: str | None


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block; ``lifted`` is the position at which a person allowed the fact again."""

    value: Block
    actor: str
    position: int
    time: str
    lifted: int | None


def packets(
    tables: Evidence, connection: Connection, workspace: str, *, session: str | None = None, limit: int | None = None
) -> list[PacketRow]:
    """Packets, the newest first."""
    table = tables.packets
    statement = select(table).where(table.c.workspace == workspace).order_by(table.c.position.desc())
    if session is not None:
        statement = statement.where(table.c.session == session)
    found = connection.execute(statement if limit is None else statement.limit(limit))
    return [PacketRow(**_without(row, "workspace")) for row in found]


def packet(tables: Evidence, connection: Connection, workspace: str, name: str) -> PacketRow | None:
    """One packet by its id."""
    table = tables.packets
    statement = select(table).where(table.c.workspace == workspace, table.c.packet == name)
    row = connection.execute(statement).one_or_none()
    return None if row is None else PacketRow(**_without(row, "workspace"))


def claims(
    tables: Evidence,
    connection: Connection,
    workspace: str,
    *states: ClaimState,
    packet: str | None = None,
    claim: str | None = None,
    candidate: str | None = None,
    positions: Iterable[int] | None = None,
) -> list[ClaimRow]:
    """Claims in the order in which they were read, of these states (none named: all), of packets at ``positions``."""
    table = tables.claims
    statement = select(table).where(table.c.workspace == workspace)
    for column, value in ((table.c.packet, packet), (table.c.claim, claim), (table.c.candidate, candidate)):
        if value is not None:
            statement = statement.where(column == value)
    if positions is not None:
        statement = statement.where(table.c.position.in_(sorted(set(positions))))
    rows = [_claim(row) for row in connection.execute(statement.order_by(table.c.position, table.c.ordinal))]
    return [row for row in rows if not states or row.state in states]


def blocks(tables: Evidence, connection: Connection, workspace: str) -> list[BlockRow]:
    """What must not be learnt again, oldest first, with what was lifted since."""
    table = tables.blocks
    statement = select(table).where(table.c.workspace == workspace).order_by(table.c.position)
    return [_block(row) for row in connection.execute(statement)]


def counts(tables: Evidence, connection: Connection, workspace: str) -> dict[str, int]:
    """How many claims are in each state, and how many packets there are."""
    table = tables.claims
    statement = (
        select(table.c.state, table.c.blocked_by.is_not(None).label("held"), func.count().label("number"))
        .where(table.c.workspace == workspace)
        .group_by(table.c.state, table.c.blocked_by.is_not(None))
    )
    found: dict[str, int] = dict.fromkeys(STATES, 0)
    for row in connection.execute(statement):
        found["forgotten" if row.held else row.state] += row.number
    total = select(func.count()).select_from(tables.packets).where(tables.packets.c.workspace == workspace)
    return {"packets": connection.execute(total).scalar_one(), **found}


def _claim(row: Any) -> ClaimRow:
    values = _without(row, "workspace")
    values["messages"] = tuple(json.loads(values["messages"]))
    values["findings"] = tuple(json.loads(values["findings"]))
    if values["blocked_by"] is not None:
        values["state"], values["text"] = "forgotten", None
    return ClaimRow(**values)


def _block(row: Any) -> BlockRow:
    named = frozenset((session, message) for session, message in json.loads(row.sources))
    value = Block(row.block, row.text, named, row.reason, row.target)
    return BlockRow(value, row.actor, row.position, row.time, row.lifted)


def _without(row: Any, name: str) -> dict[str, Any]:
    values: dict[str, Any] = row._asdict()
    del values[name]
    return values
