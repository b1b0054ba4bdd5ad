"""What the contexts of sessions made of erased messages: summaries, attempts at them, reductions, failures (E8)."""

from __future__ import annotations

from collections.abc import Iterator

from ....domain import catalogue as events
from ....domain.events import LoggedEvent
from ..runtime import Runtime
from .evidence import read_by, summaries_of
from .targets import Target


class Lineage:
    """Which session was forked from which, and up to where they share their history (M6)."""

    def __init__(self, runtime: Runtime) -> None:
        self._parents: dict[str, tuple[str, int]] = {}
        for event in runtime.log.read(topics=(events.SessionForked.TOPIC,), workspace=runtime.workspace):
            if isinstance(body := event.body, events.SessionForked) and event.session is not None:
                self._parents[event.session] = (body.parent, body.parent_position)

    def shares(self, session: str | None, ancestor: str | None, position: int) -> bool:
        """Whether a session has what the ancestor recorded at a position."""
        seen: set[str] = set()
        while session is not None and session not in seen:
            if session == ancestor:
                return True
            seen.add(session)
            parent, upto = self._parents.get(session, (None, 0))
            if position > upto:
                return False
            session = parent
        return False

    def with_forks(self, session: str, position: int) -> list[str]:
        """The session itself and every one that shares what it recorded at a position."""
        return [session, *(child for child in self._parents if self.shares(child, session, position))]

    def forks_of(self, target: Target) -> tuple[str, ...]:
        """The sessions that were forked from the target's own and show tombstones from now on."""
        if target.session is None:
            return ()
        at = 0 if target.position is None else target.position
        return tuple(name for name in self.with_forks(target.session, at) if name != target.session)


def of_contexts(runtime: Runtime, target: Target, lineage: Lineage) -> Iterator[LoggedEvent]:
    """Events whose payload was made of the target's messages, wherever it is a session or a message."""
    if target.session is None:
        return
    messages = _messages(runtime, target)
    first = min(messages.values(), default=0)
    places = set(messages.values())
    # What was made after a message had gone was not made of it.
    until = runtime.log.erased_by(places)

    def knew(position: int, event: LoggedEvent) -> bool:
        return event.position < until.get(position, event.position + 1)

    gone: set[str] = set()
    topics = (
        events.EvidenceCollected.TOPIC,
        events.CompactionCommitted.TOPIC,
        events.CompactionRejected.TOPIC,
        events.CompactionFailedEvent.TOPIC,
        events.ReductionDecided.TOPIC,
        events.RunFailed.TOPIC,
    )
    for event in runtime.log.read(after=first, topics=topics, workspace=runtime.workspace):
        session = event.session
        match event.body if event.known else None:
            case events.CompactionCommitted() as body:
                covered = any(
                    name in messages
                    and lineage.shares(session, target.session, messages[name])
                    and knew(messages[name], event)
                    for name in body.covers
                )
                reduced = any(fact.position in places and knew(fact.position, event) for fact in body.reductions)
                if covered or reduced or (body.supersedes in gone and knew(first, event)):
                    gone.add(body.compaction)
                    yield event
            case events.ReductionDecided() as body:
                if any(fact.position in places and knew(fact.position, event) for fact in body.reductions):
                    yield event
            case events.CompactionRejected() | events.CompactionFailedEvent():
                # They name no messages: whatever was tried after the first of them may tell of it.
                if lineage.shares(session, target.session, first) and knew(first, event):
                    yield event
            case events.EvidenceCollected() as body:
                named = (name for name in read_by(event, body) if name in messages)
                read = any(
                    lineage.shares(session, target.session, messages[name]) and knew(messages[name], event)
                    for name in named
                )
                if read or not gone.isdisjoint(summaries_of(event, body)):
                    yield event
            case events.RunFailed():
                if session == target.session and event.run in (target.run or event.run,) and knew(first, event):
                    yield event
            case _:
                pass


def _messages(runtime: Runtime, target: Target) -> dict[str, int]:
    """The messages that go, by id."""
    if target.position is not None:
        return {target.id: target.position}
    return {
        event.body.message: event.position
        for event in runtime.log.read(
            topics=(events.MessageRecorded.TOPIC,), session=target.session, workspace=runtime.workspace
        )
        if isinstance(event.body, events.MessageRecorded)
    }
