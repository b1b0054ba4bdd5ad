"""What was erased is not learned again, until a person lifts the block (D16, E8)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ....domain.catalogue import Finding, RelearningAllowed, RelearningBlocked
from ....domain.checks import Check
from ....domain.errors import MemoryFault, StreamConflict
from ....domain.events import Event, encode_payload
from ....domain.message import Trust
from ....domain.relearning import Forgotten, can_be_kept
from ....domain.streams import relearning_stream
from ...store.forking import ForkLock
from ...store.log import Log
from ..runtime import Runtime

CODE = "erased"
"""The finding of a text that was erased: it refuses at every door, and a person may let it pass by hand."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block, with the erasure that left it, who asked for that and when, and where a person lifted it."""

    erasure: str
    position: int
    forgotten: Forgotten
    texts: int = 0
    actor: str = ""
    time: str = ""
    lifted: int | None = None


def every_block(log: Log, workspace: str) -> list[Block]:
    """The blocks of a workspace, oldest first, those that were lifted too."""
    found: dict[str, Block] = {}
    for event in log.read(topics=(RelearningBlocked.TOPIC, RelearningAllowed.TOPIC), workspace=workspace):
        match event.body if event.known else None:
            case RelearningBlocked() as body:
                found[body.erasure] = Block(
                    body.erasure,
                    event.position,
                    Forgotten.read({} if event.erased else body.content),
                    body.texts,
                    event.actor,
                    event.time.isoformat(timespec="microseconds"),
                )
            case RelearningAllowed() as body if body.erasure in found:
                found[body.erasure] = replace(found[body.erasure], lifted=event.position)
            case _:
                pass
    return list(found.values())


def blocks(log: Log, workspace: str) -> list[Block]:
    """The blocks of a workspace that nobody lifted."""
    return [block for block in every_block(log, workspace) if block.lifted is None]


class Erased:
    """The texts of a workspace that must not be learned again: asked by the checks, and by what promotes claims."""

    def __init__(self, log: Log, workspace: str) -> None:
        self._log = log
        self._workspace = workspace
        self._lock = ForkLock()
        self._last = 0
        self._kept: list[Block] = []
        # A slow digest by design, and a text is asked about several times on its way in.
        self._known = lru_cache(maxsize=1_000)(self._erasure_of)

    def erasure_of(self, text: str) -> str | None:
        """The erasure that blocks a text; None: it may be learned."""
        newest = self._log.newest_of(RelearningBlocked.TOPIC, RelearningAllowed.TOPIC)
        with self._lock:
            if newest != self._last:
                self._kept, self._last = blocks(self._log, self._workspace), newest
                self._known.cache_clear()
            none = not self._kept
        return None if none else self._known(text)

    def _erasure_of(self, text: str) -> str | None:
        return next((block.erasure for block in self._kept if block.forgotten.knows(text)), None)


def refusing(check: Check, log: Log, workspace: str) -> Check:
    """The check with one finding more: ``erased``, for a text that somebody had erased from memory."""
    erased = Erased(log, workspace)

    def refuse(text: str, source: Trust = "user", *, entry_chars_max: int = 1_000) -> tuple[Finding, ...]:
        found = check(text, source, entry_chars_max=entry_chars_max)
        erasure = None if len(text) > entry_chars_max else erased.erasure_of(text)
        if erasure is None:
            return found
        message = (
            "it was erased on request and is not learned again; a person can lift that: "
            f"minutebook erase allow {erasure}"
        )
        return (*found, Finding(code=CODE, message=message))

    return refuse


def blocking(runtime: Runtime, erasure: str, texts: Sequence[str]) -> list[Event]:
    """The event that blocks these texts, with one salt for the whole workspace: a look asks each text once."""
    texts = [text for text in texts if can_be_kept(text)]
    if not texts:
        return []
    kept = blocks(runtime.log, runtime.workspace)
    salt = kept[0].forgotten.salt if kept else os.urandom(16)
    stream = relearning_stream(runtime.workspace, erasure)
    return [
        RelearningBlocked(
            envelope=runtime.envelope(stream, 1, actor="minutebook"),
            erasure=erasure,
            texts=len(texts),
            payload=encode_payload(Forgotten.of(texts, salt).content),
        )
    ]


def allow(runtime: Runtime, erasure: str) -> dict[str, object]:
    """Lifts a block, and erases its digests. Raises MemoryFault ``nothing_blocked``."""
    runtime.require_writing("this")
    block = next((one for one in blocks(runtime.log, runtime.workspace) if one.erasure == erasure), None)
    if block is None:
        raise MemoryFault(
            f"erasure {erasure!r} blocks nothing (any more); 'minutebook erase list' shows those that do",
            code="nothing_blocked",
        )
    stream = relearning_stream(runtime.workspace, erasure)
    event = RelearningAllowed(
        envelope=runtime.envelope(stream, 2, actor="person", causation=block.position), erasure=erasure
    )
    try:
        runtime.log.append([event], within=runtime.log.erasing([block.position]))
    except StreamConflict as error:
        raise MemoryFault(f"somebody else lifted the block of {erasure!r} just now", code="nothing_blocked") from error
    return {"erasure": erasure, "status": "allowed"}
