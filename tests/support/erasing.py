"""Payloads erased as the product erases them: named by an event that says so, in its transaction (E8)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from minutebook.domain.catalogue import PayloadsErased
from minutebook.domain.erasure import spans
from minutebook.domain.events import Envelope
from minutebook.domain.streams import erasure_stream
from minutebook.infrastructure.store.log import Log


def erase(log: Log, positions: Collection[int]) -> bool:
    """One event more, at the head; returns whether the bytes have left the write-ahead log too."""
    name = f"x-{log.head().position}"
    envelope = Envelope(erasure_stream("local", name), 1, "local", datetime(2026, 1, 2, tzinfo=UTC), "person")
    event = PayloadsErased(erasure=name, spans=spans(positions), envelope=envelope)
    log.append([event], within=log.erasing(positions))
    return log.scrub()
