"""The memory that a session shows in one runtime: frozen by an event at its first request (D7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from ...domain.catalogue import MemoryFrozen
from ...domain.document import digest, render
from ...domain.erasure import ERASED_BLOCK, ERASED_ENTRY
from ...domain.errors import StreamConflict
from ...domain.events import encode_payload
from ...domain.memory_block import common_block, memory_block
from ...domain.message import Trust, lowest_trust
from ...domain.streams import shown_stream
from ...projections.context import queries
from ...projections.revisions import queries as revisions
from ..store.failpoints import failpoint
from ..store.forking import ForkLock
from .appending import append_behind
from .erasure.fence import mark, since
from .memory_root import COMMON
from .publisher import Publisher
from .runtime import Runtime


@dataclass(frozen=True, slots=True)
class Frozen:
    """A memory block as a session shows it; ``frozen`` is false for the latest revision that nobody froze yet."""

    revision: int
    digest: str
    block: str
    frozen: bool
    trust: Trust = "operator"


class Freezer:
    """Freezes memory for one session in one runtime."""

    def __init__(self, runtime: Runtime, publisher: Publisher, session: str, *, anew: bool = False) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._session = session
        self._anew = anew
        self._lock = ForkLock()
        self._mine: Frozen | None = None
        self._mark = 0

    def freeze(self, run: str | None) -> Frozen | None:
        """The block of this runtime; frozen now, by an event, at the first request. None when memory is off."""
        if not self._runtime.settings.memory_enabled:
            return None
        with self._lock:  # several threads of an agent may ask in one run
            if (found := mark(self._runtime.log)) != self._mark:
                # What was frozen may have been erased since: that is the one thing that ends a freeze (E8).
                self._mine, self._mark = None if self._mine is None else self._kept(), found
            if self._mine is None and not self._anew:
                # Another Session object of this runtime may have frozen it already.
                self._mine = self._recorded(None, runtime=self._runtime.id)
            if self._mine is None:
                self._mine = self._record(run)
                self._anew = False
            return self._mine

    def _kept(self) -> Frozen | None:
        return self._recorded(None, runtime=self._runtime.id)

    def at(self, position: int | None) -> Frozen | None:
        """The last freeze at or before a position; else the latest revision of that time, unfrozen (C8).

        With memory switched off there is none now; what was frozen in the past is shown all the same (D7).
        """
        if self._runtime.settings.memory_enabled:
            return self._recorded(position) or self._latest(position)
        return None if position is None else self._recorded(position)

    def _recorded(self, position: int | None, runtime: str | None = None) -> Frozen | None:
        with self._runtime.projections.reading("context") as (view, connection):
            row = queries.freeze(view, connection, self._runtime.workspace, self._session, position, runtime=runtime)
        if row is None:
            return None
        event = self._runtime.log.at([row.position])[row.position]
        if event.erased:
            # Before the erasure something stood there; after it the next request freezes the memory of then.
            gone = self._runtime.log.erased_by([row.position]).get(row.position, 0)
            return Frozen(row.revision, row.digest, ERASED_BLOCK, True) if position and position < gone else None
        return Frozen(row.revision, row.digest, str(event.body.content.get("block", "")), True)

    def _latest(self, position: int | None = None) -> Frozen:
        own = self._own(position)
        if self._runtime.settings.memory_common == "none":
            return own
        block, trust = self._common(position)
        joined = "\n".join(each for each in (own.block, block) if each)
        return replace(own, block=joined, trust=lowest_trust(own.trust, trust))

    def _common(self, position: int | None) -> tuple[str, Trust]:
        """The block of the memory in common, as the log says it: nobody looks at the file for this (D18)."""
        with self._runtime.projections.reading("revisions") as (view, connection):
            revision = revisions.at_position(view, connection, COMMON, position)
            shown = None if revision is None else revisions.blame(view, connection, COMMON, revision.revision)
        entries = [(entry.entry, entry.text) for entry in shown or ()]
        block = "" if revision is None else common_block(revision.revision, entries)
        return block, lowest_trust("operator", *(entry.trust for entry in shown or ()))

    def _own(self, position: int | None) -> Frozen:
        with self._runtime.projections.reading("revisions") as (view, connection):
            revision = revisions.at_position(view, connection, self._runtime.workspace, position)
            shown = (
                None
                if revision is None
                else revisions.blame(view, connection, self._runtime.workspace, revision.revision)
            )
        if revision is None:
            return Frozen(0, digest(render(())), "", False)
        # A file that was deleted means: nothing is to be remembered for now (D11).
        if position is None and self._publisher.state().state == "missing":
            return Frozen(revision.revision, digest(render(())), "", False)
        entries = [(entry.entry, entry.text or ERASED_ENTRY) for entry in shown or ()]
        trust = lowest_trust("operator", *(entry.trust for entry in shown or ()))
        return Frozen(revision.revision, revision.digest, memory_block(revision.revision, entries), False, trust)

    def _record(self, run: str | None) -> Frozen:
        while True:
            seen = mark(self._runtime.log)
            try:
                return self._recorded_now(self._latest(), run, seen)
            except StreamConflict:
                if mark(self._runtime.log) == seen:
                    raise

    def _recorded_now(self, latest: Frozen, run: str | None, seen: int) -> Frozen:
        runtime = self._runtime
        stream = shown_stream(runtime.workspace, self._session, runtime.id)

        def events(version: int) -> list[MemoryFrozen]:
            envelope = runtime.envelope(
                stream, version, actor="minutebook", session=self._session, run=run, trust=latest.trust
            )
            return [
                MemoryFrozen(
                    envelope=envelope,
                    revision=latest.revision,
                    digest=latest.digest,
                    runtime=runtime.id,
                    block_digest=sha256(latest.block.encode()).hexdigest(),
                    payload=encode_payload({"block": latest.block}),
                )
            ]

        failpoint("context.freezing")
        append_behind(runtime, stream, events, within=since(runtime.log, seen))
        failpoint("context.frozen")
        return Frozen(latest.revision, latest.digest, latest.block, True, latest.trust)
