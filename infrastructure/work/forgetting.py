"""Forgetting: what must not be learnt again stands in the log, and every door of memory asks for it (D16).

To forget is not to erase: past revisions and messages stay for audit. A person lifts a block by a word of their own.
"""

from __future__ import annotations

from typing import Any

from ...domain.catalogue import LearningAllowed, LearningBlocked, SourceFact
from ...domain.checks import Check
from ...domain.errors import MemoryFault, StreamConflict
from ...domain.events import Event, encode_payload
from ...domain.forgetting import Block, blocking, forgotten_finding, sources_of
from ...domain.identifiers import check_identifier
from ...domain.message import Trust
from ...domain.operations import Line, find_target, texts
from ...domain.streams import candidate_stream, learning_stream
from ...projections import evidence as catalogue
from ..store.forking import ForkLock
from .erasure import blocks as left_by_erasures
from .erasure.blocks import refusing
from .erasure.fence import mark
from .proposals import live_lines, operation_of, propose_as_person
from .publisher import Publisher
from .runtime import Runtime, new_id

RETRIES = 5


class Learning:
    """The live blocks of a workspace, read from the log's own stream: a projection that lags lets nothing through."""

    def __init__(self, runtime: Runtime) -> None:
        self._log = runtime.log
        self._stream = learning_stream(runtime.workspace)
        self._version = 0
        self._blocks: dict[str, Block] = {}
        self._erased = 0
        self._lock = ForkLock()

    def blocks(self) -> list[Block]:
        """What may not be learnt now."""
        with self._lock:  # the curator in the background asks too
            return self._read()

    def _read(self) -> list[Block]:
        version = self._log.version(self._stream)
        erased = mark(self._log) if self._blocks else self._erased
        if erased != self._erased:
            # The words of a block may have gone with what was erased: they are not to be known here either (E8).
            self._blocks, self._version, self._erased = {}, 0, erased
        if version != self._version:
            for event in self._log.stream(self._stream, after=self._version, upto=version):
                match event.body if event.known else None:
                    case LearningBlocked() as body:
                        self._blocks[body.block] = block_of(body)
                    case LearningAllowed() as body:
                        self._blocks.pop(body.block, None)
                    case _:
                        pass
            self._version = version
        return list(self._blocks.values())

    def checking(self, check: Check) -> Check:
        """The check of every door, and whether the text was forgotten."""

        def judge(text: str, source: Trust = "user", *, entry_chars_max: int = 1_000) -> Any:
            found = check(text, source, entry_chars_max=entry_chars_max)
            held = blocking(self.blocks(), text) if len(text) <= entry_chars_max else None
            return found if held is None else (*found, forgotten_finding(held))

        return judge


def guarded(runtime: Runtime, check: Check) -> Check:
    """The check of every door with both memories of what must not come back: what was forgotten, what was erased.

    A block that a person set by forgetting knows the words; one that an erasure left knows only digests of them (E8).
    """
    return refusing(Learning(runtime).checking(check), runtime.log, runtime.workspace)


def block_of(body: LearningBlocked) -> Block:
    """A block as the check compares with it."""
    named = frozenset((source.session, source.message) for source in body.sources)
    return Block(body.block, body.content.get("text"), named, body.reason, body.target)


def forget(runtime: Runtime, publisher: Publisher, target: str) -> dict[str, Any]:
    """A person forgets an entry, a claim or a candidate: ``candidate``, ``status``, ``block``.

    The entry goes with the next curation. Raises MemoryFault ``target_unknown``, ``target_ambiguous``.
    """
    lines = live_lines(publisher)
    named = _claim_or_candidate(runtime, target)
    if named is None:
        line = lines[find_target(lines, target)]
        fact = next(fact for fact in publisher.document().facts if fact.entry == line.id)
        return _forget(runtime, publisher, line.text, sources_of(fact.session, fact.messages), line)
    text, sources = named
    line_of = next((line for line in lines if line.text == text), None)
    return _forget(runtime, publisher, text, sources, line_of)


def _forget(
    runtime: Runtime, publisher: Publisher, text: str, sources: tuple[SourceFact, ...], line: Line | None
) -> dict[str, Any]:
    for _ in range(RETRIES):
        known = next((block for block in Learning(runtime).blocks() if block.text == text), None)
        events = [] if known else [block_event(runtime, new_id("b"), text, sources, line, actor="person")]
        name = known.block if known else events[0].block
        try:
            if line is None:
                if events:
                    runtime.log.append(events)
                return {"candidate": None, "status": "forgotten", "block": name, "entry": None,
                        "message": "It is not in memory; it will not be learnt again."}  # fmt: skip
            answer = propose_as_person(runtime, publisher, {"operation": "remove", "target": line.id}, also=events)
        except StreamConflict:
            continue
        said = "It goes with the next curation, and is not learnt again: minutebook memory curate"
        return {**answer, "block": name, "entry": line.id, "message": said}
    raise MemoryFault("others kept writing; try again", code="memory_busy")


def block_event(
    runtime: Runtime,
    name: str,
    text: str,
    sources: tuple[SourceFact, ...],
    line: Line | None,
    *,
    actor: str,
    session: str | None = None,
    run: str | None = None,
    trust: Trust = "user",
) -> LearningBlocked:
    """The block of one text, as the next event of the workspace's learning stream."""
    stream = learning_stream(runtime.workspace)
    return LearningBlocked(
        envelope=runtime.envelope(
            stream, runtime.log.version(stream) + 1, actor=actor, session=session, run=run, trust=trust
        ),
        block=name,
        target=None if line is None else line.id,
        sources=sources,
        payload=encode_payload({"text": text}),
    )


def _claim_or_candidate(runtime: Runtime, target: str) -> tuple[str, tuple[SourceFact, ...]] | None:
    """The text behind the id of a claim or candidate, and the messages that it rests on."""
    with runtime.projections.reading("evidence") as (view, connection):
        rows = catalogue.claims(view, connection, runtime.workspace, claim=target)
    if rows and rows[0].text:
        return rows[0].text, sources_of(rows[0].session, rows[0].messages)
    for event in runtime.log.stream(candidate_stream(runtime.workspace, target), limit=1):
        operation = operation_of(event.payload)
        said = () if operation is None else texts(operation)
        if len(said) == 1:
            return said[0], sources_of(event.session, getattr(event.body, "messages", ()))
    return None


def blocked(runtime: Runtime, block: str) -> bool:
    """Whether something that was forgotten is blocked under that id now."""
    return any(one.block == block for one in Learning(runtime).blocks())


def allow(runtime: Runtime, block: str) -> dict[str, Any]:
    """A person lifts a block, also one that an erasure left. Raises MemoryFault ``not_forgotten``."""
    check_identifier(block, what="block")
    if any(one.erasure == block for one in left_by_erasures.blocks(runtime.log, runtime.workspace)):
        left_by_erasures.allow(runtime, block)
        return {"block": block, "status": "allowed"}
    stream = learning_stream(runtime.workspace)
    for _ in range(RETRIES):
        if not blocked(runtime, block):
            raise MemoryFault(
                f"nothing is blocked under {block!r}; 'minutebook memory forgotten' lists what is", code="not_forgotten"
            )
        event: Event = LearningAllowed(
            envelope=runtime.envelope(stream, runtime.log.version(stream) + 1, actor="person", trust="user"),
            block=block,
        )
        try:
            runtime.log.append([event])
        except StreamConflict:
            continue
        return {"block": block, "status": "allowed"}
    raise MemoryFault("others kept writing; try again", code="memory_busy")


def forgotten(runtime: Runtime) -> list[dict[str, Any]]:
    """Every block, oldest first: ``block``, ``reason``, ``text``, ``sources``, ``lifted`` and who set it when.

    ``reason`` is ``forgotten``, or ``erased`` for what an erasure left: of that there are digests, no text.
    """
    with runtime.projections.reading("evidence") as (view, connection):
        rows = catalogue.blocks(view, connection, runtime.workspace)
    said = [
        {
            "block": row.value.block,
            "reason": row.value.reason,
            "text": row.value.text,
            "texts": 1,
            "entry": row.value.target,
            "sources": [{"session": session, "message": message} for session, message in sorted(row.value.sources)],
            "actor": row.actor,
            "position": row.position,
            "time": row.time,
            "lifted": row.lifted,
        }
        for row in rows
    ]
    erased: list[dict[str, Any]] = [
        {
            "block": left.erasure,
            "reason": "erased",
            "text": None,
            "texts": left.texts,
            "entry": None,
            "sources": [],
            "actor": left.actor,
            "position": left.position,
            "time": left.time,
            "lifted": left.lifted,
        }
        for left in left_by_erasures.every_block(runtime.log, runtime.workspace)
    ]
    return sorted([*said, *erased], key=lambda row: int(row["position"]))
