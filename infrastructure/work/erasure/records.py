"""What the log says of every erasure: who asked for it, when and why, how far it came, and its receipt (E8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ....domain.catalogue import ErasureCompleted, ErasureRequested, PayloadsErased
from ....domain.events import LoggedEvent
from ..runtime import Runtime
from .blocks import blocks


@dataclass(slots=True)
class Record:
    """One erasure: its request, the steps that erased payloads, its receipt."""

    requested: LoggedEvent
    erased: list[LoggedEvent] = field(default_factory=list)
    completed: LoggedEvent | None = None
    blocks: bool = False

    @property
    def body(self) -> ErasureRequested:
        body = self.requested.body
        assert isinstance(body, ErasureRequested)
        return body

    @property
    def erasure(self) -> str:
        return self.body.erasure

    @property
    def kind(self) -> str:
        return self.body.kind

    @property
    def target(self) -> str:
        return self.body.target

    @property
    def reason(self) -> str | None:
        """Why; None where that was erased itself."""
        return None if self.requested.erased else str(self.body.content.get("reason", ""))

    @property
    def receipt(self) -> dict[str, Any] | None:
        """What proves it: positions, counts, times, and the link of the chain to hold against a kept export."""
        if self.completed is None:
            return None
        body = self.completed.body
        assert isinstance(body, ErasureCompleted)
        return {
            "erasure": body.erasure,
            "position": self.completed.position,
            "chain": self.completed.chain.hex(),
            "time": self.completed.time.isoformat(),
            "actor": self.completed.actor,
            "requested": body.requested,
            "payloads": body.events,
            "by_type": {count.topic: count.events for count in body.erased},
            "entries": list(body.entries),
            "candidates": list(body.candidates),
            "undone": list(body.undone),
            "memory_revision": body.revision,
            "rebuilt": list(body.rebuilt),
            "wiped": body.wiped,
            "elsewhere": body.elsewhere,
        }

    def row(self) -> dict[str, Any]:
        return {
            "erasure": self.erasure,
            "kind": self.kind,
            "id": self.target,
            "session": self.requested.session,
            "position": self.body.position,
            "status": "unfinished" if self.completed is None else "completed",
            "requested": self.requested.position,
            "time": self.requested.time.isoformat(),
            "actor": self.requested.actor,
            "reason": self.reason,
            "everywhere": self.body.everywhere,
            "keep": list(self.body.keep),
            "blocks_relearning": self.blocks,
            "waits_for": None,
            "receipt": self.receipt,
        }


def records(runtime: Runtime) -> list[Record]:
    """The erasures of this workspace, oldest first."""
    found: dict[str, Record] = {}
    topics = (ErasureRequested.TOPIC, PayloadsErased.TOPIC, ErasureCompleted.TOPIC)
    for event in runtime.log.read(topics=topics, workspace=runtime.workspace):
        match event.body if event.known else None:
            case ErasureRequested() as body:
                found[body.erasure] = Record(event)
            case PayloadsErased() as body if body.erasure in found:
                found[body.erasure].erased.append(event)
            case ErasureCompleted() as body if body.erasure in found:
                found[body.erasure].completed = event
            case _:
                pass
    if found:
        for block in blocks(runtime.log, runtime.workspace):
            if block.erasure in found:
                found[block.erasure].blocks = True
    return list(found.values())


def tombstones(runtime: Runtime, positions: list[int]) -> dict[int, dict[str, Any]]:
    """Of erased positions: by which erasure, who asked for it, when and why."""
    by = runtime.log.erased_by(positions)
    if not by:
        return {}
    said = {
        place: {
            "erasure": record.erasure,
            "actor": record.requested.actor,
            "time": record.requested.time.isoformat(),
            "reason": record.reason,
            "requested": record.requested.position,
        }
        for record in records(runtime)
        for place in (record.requested.position, *(event.position for event in record.erased))
    }
    return {position: said.get(place, {"requested": place}) for position, place in by.items()}
