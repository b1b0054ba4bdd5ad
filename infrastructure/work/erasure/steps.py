"""The steps of an erasure, each of which may be the last of this process and is taken up from its request (E8)::

    request - MEMORY.md without the entries - payloads - summaries taken back - read models - pages and WAL - receipt

A step that something stands in the way of is left, with a word about it; whoever comes next goes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from ....domain.catalogue import (
    CompactionCommitted,
    CompactionUndone,
    ErasedCount,
    ErasureCompleted,
    ErasureRequested,
    PayloadsErased,
    RevisionPrepared,
)
from ....domain.erasure import Words, spans
from ....domain.errors import MemoryFault, MinutebookError, StreamConflict
from ....domain.events import LoggedEvent, encode_payload
from ....domain.streams import compactions_stream, erasure_stream
from ....projections.context import queries
from ...store.failpoints import failpoint
from ..claims import Claim
from ..publisher import Publisher
from ..runtime import Runtime
from .contexts import Lineage
from .plan import Plan, next_plan
from .views import cleared, stored_tables

PAYLOADS_AT_ONCE = 1_000
"""Of one transaction: nobody who appends meanwhile waits for more."""
ROUNDS = 10
"""Looks for what came while we were at it; each finds less, since nothing new is made of what is gone."""
HELD_UP = "erasure_held_up"
"""The code of an erasure that a reader, or an older transaction, keeps from its end."""
CLAIM_SECONDS = 600.0
"""Longer than any single step is thought to take; a dead owner loses it at once, a lapsed one harms nothing."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What an erasure waits for: a stable code, and the mend."""

    code: str
    message: str


@dataclass(slots=True)
class Progress:
    """One erasure on its way."""

    requested: LoggedEvent
    words: Words | None = None
    revision: int | None = None
    undone: list[str] = field(default_factory=list)
    rebuilt: tuple[str, ...] = ()
    elsewhere: int = 0
    obstacles: list[Obstacle] = field(default_factory=list)

    @property
    def body(self) -> ErasureRequested:
        body = self.requested.body
        assert isinstance(body, ErasureRequested)
        return body


class Steps:
    """Carries out what was requested."""

    def __init__(self, runtime: Runtime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher

    def go_on(self, way: Progress, claim: Claim, *, patient: bool) -> int | None:
        """Takes every step that is left. Returns the position of the receipt, None while something is in the way."""
        for _ in range(ROUNDS):
            claim.renew(CLAIM_SECONDS)
            way.obstacles.clear()
            self._publish(way)
            plan = next_plan(self._runtime, way.requested, way.words)
            self._erase(way, plan)
            self._undo(way)
            if way.obstacles:
                return None
            claim.renew(CLAIM_SECONDS)
            if not self._clear(way, patient=patient):
                return None
            if not next_plan(self._runtime, way.requested, way.words).left:
                return self._complete(way)
        raise StreamConflict("others kept writing what is to be erased; run 'minutebook erase finish'")

    # --- memory

    def _publish(self, way: Progress) -> None:
        entries = way.body.entries
        if not entries:
            return
        # Also where memory has none of them any more: whoever holds the lock of the file may be about to restore one.
        try:
            revision = self._publisher.erase(entries, causation=way.requested.position)
        except MemoryFault as fault:
            live = {fact.entry for fact in self._publisher.document().facts}
            if fault.code != "memory_remote" or live & set(entries):
                way.obstacles.append(Obstacle(fault.code, fault.message))
            return
        way.revision = revision or way.revision
        failpoint("erase.published")

    # --- payloads

    def _erase(self, way: Progress, plan: Plan) -> None:
        left = self._erasable(way, plan)
        memory = [position for position in left if plan.found[position].what in ("revision", "kept_entries")]
        others = [position for position in left if position not in set(memory)]
        # What other entries said stands in the event that takes their revisions away: all of them in one.
        if memory:
            self._erase_at(way, memory, plan)
        for start in range(0, len(others), PAYLOADS_AT_ONCE):
            self._erase_at(way, others[start : start + PAYLOADS_AT_ONCE], None)

    def _erasable(self, way: Progress, plan: Plan) -> list[int]:
        """All but the revision in force, where memory could not be changed yet: it is still what the file holds."""
        current = self._publisher.document().current
        return [position for position in plan.left if current is None or position != current.position]

    def _erase_at(self, way: Progress, positions: list[int], plan: Plan | None) -> None:
        runtime, body = self._runtime, way.body
        kept = [] if plan is None else [[entry, since, text] for (entry, since), text in sorted(plan.kept.items())]
        stream = erasure_stream(runtime.workspace, body.erasure)
        event = PayloadsErased(
            envelope=runtime.envelope(
                stream,
                runtime.log.version(stream) + 1,
                actor=way.requested.actor,
                # What other entries said is memory's, and nothing that the session said.
                session=None if plan is not None else way.requested.session,
                causation=way.requested.position,
            ),
            erasure=body.erasure,
            spans=spans(positions),
            entries=() if plan is None else tuple(body.entries),
            kept=tuple(dict.fromkeys(str(entry) for entry, _, _ in kept)),
            payload=encode_payload({"entries": kept}) if kept else None,
        )
        failpoint("erase.erasing")
        runtime.log.append([event], within=runtime.log.erasing(positions))
        failpoint("erase.erased")

    # --- contexts

    def _undo(self, way: Progress) -> None:
        """Takes a summary back that was erased: its originals are shown again, and the next request sums them up."""
        runtime = self._runtime
        lineage = Lineage(runtime)
        sessions = {
            session
            for event in self._done(way)
            if event.topic == CompactionCommitted.TOPIC and event.session is not None
            for session in lineage.with_forks(event.session, event.position)
        }
        for session in sorted(sessions):
            while (top := self._erased_on_top(session)) is not None:
                stream = compactions_stream(runtime.workspace, session)
                version = runtime.log.version(stream)
                if self._erased_on_top(session) != top:
                    continue  # Somebody decided between the two looks.
                envelope = runtime.envelope(
                    stream,
                    version + 1,
                    actor=way.requested.actor,
                    session=session,
                    causation=way.requested.position,
                )
                try:
                    runtime.log.append([CompactionUndone(envelope=envelope, compaction=top, cause="erased")])
                except StreamConflict:
                    continue
                way.undone.append(top)
                failpoint("erase.undone")

    def _done(self, way: Progress) -> list[LoggedEvent]:
        """The events that lost their payload by this erasure."""
        plan = next_plan(self._runtime, way.requested, way.words)
        return list(self._runtime.log.at(plan.gone).values())

    def _erased_on_top(self, session: str) -> str | None:
        runtime = self._runtime
        with runtime.projections.reading("context") as (view, connection):
            epoch = queries.epoch(view, connection, runtime.workspace, session)
            refs = queries.visible(view, connection, runtime.workspace, session)
        if epoch is None or not epoch.undo:
            return None
        compaction, position = epoch.undo[-1]
        shown = {ref[1] for ref in refs if ref[0] == "s"}
        return compaction if position in shown and runtime.log.at([position])[position].erased else None

    # --- read models, pages, receipt

    def _clear(self, way: Progress, *, patient: bool) -> bool:
        log = self._runtime.log
        try:
            # A look first: what follows is dear, and for nothing while a reader holds the old pages.
            if not patient and (busy := log.in_the_way()) is not None:
                way.obstacles.append(Obstacle(HELD_UP, busy))
                return False
            way.rebuilt = cleared(self._runtime)
            failpoint("erase.projected")
            busy = log.wipe(stored_tables(self._runtime), patient=patient)
        except MinutebookError as error:
            way.obstacles.append(Obstacle(error.code, error.message))
            return False
        if busy is not None:
            way.obstacles.append(Obstacle(HELD_UP, busy))
            return False
        failpoint("erase.wiped")
        return True

    def _complete(self, way: Progress) -> int:
        runtime, body = self._runtime, way.body
        done = self._done(way)
        counted = Counter(event.topic for event in done)
        stream = erasure_stream(runtime.workspace, body.erasure)
        event = ErasureCompleted(
            envelope=runtime.envelope(
                stream,
                runtime.log.version(stream) + 1,
                actor=way.requested.actor,
                session=way.requested.session,
                causation=way.requested.position,
            ),
            erasure=body.erasure,
            kind=body.kind,
            target=body.target,
            requested=way.requested.position,
            events=len(done),
            erased=tuple(ErasedCount(topic=topic, events=count) for topic, count in sorted(counted.items())),
            entries=body.entries,
            candidates=body.candidates,
            undone=self._undone(way),
            revision=self._revision(way),
            rebuilt=way.rebuilt,
            wiped=self._wiped(),
            elsewhere=body.elsewhere,
        )
        position = runtime.log.append([event])[0]
        failpoint("erase.completed")
        return position

    def _undone(self, way: Progress) -> tuple[str, ...]:
        """The summaries that were taken back for it, also by a process before this one."""
        found = self._runtime.log.read(
            topics=(CompactionUndone.TOPIC,), workspace=self._runtime.workspace, after=way.requested.position
        )
        return tuple(
            event.body.compaction
            for event in found
            if isinstance(event.body, CompactionUndone) and event.envelope.causation == way.requested.position
        )

    def _revision(self, way: Progress) -> int | None:
        """The revision by which memory went over, whoever wrote it."""
        found = self._runtime.log.read(
            topics=(RevisionPrepared.TOPIC,), workspace=self._runtime.workspace, after=way.requested.position
        )
        numbers = [
            event.body.revision
            for event in found
            if isinstance(event.body, RevisionPrepared) and event.envelope.causation == way.requested.position
        ]
        return numbers[-1] if numbers else way.revision

    def _wiped(self) -> Literal["vacuumed_and_truncated", "vacuumed", "in_memory"]:
        database = self._runtime.log.database
        if not database.sqlite:
            return "vacuumed"
        return "in_memory" if database.path is None else "vacuumed_and_truncated"
