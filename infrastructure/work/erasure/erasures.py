"""Asking for an erasure, going on with one, and what there is to show of each (E8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ....domain.catalogue import CandidateRefused, ErasureRequested, Refusal
from ....domain.erasure import Words, spans
from ....domain.errors import InputError, MemoryFault, MinutebookError, StoreError, StreamConflict
from ....domain.events import Event, LoggedEvent, encode_payload
from ....domain.streams import candidate_stream, document_stream, erasure_stream
from ....projections import candidates
from ...store.erasure import READER, SNAPSHOT
from ...store.failpoints import failpoint
from ...store.forking import ForkLock
from .. import claims, conversation
from ..claims import Claim
from ..publisher import Publisher
from ..runtime import Runtime, new_id
from ..safe_file import Bytes
from .blocks import blocking
from .files import files_with
from .plan import Plan, first_plan, next_plan
from .records import Record, records
from .steps import CLAIM_SECONDS, HELD_UP, Obstacle, Progress, Steps
from .targets import Target, find

RETRIES = 5
REASON_CHARS_MAX = 2_000
_OPEN = ("proposed", "admitted", "approved", "quarantined", "set_aside")


class Erasures:
    """The erasures of one workspace, as one open book carries them out."""

    def __init__(self, runtime: Runtime, publisher: Publisher) -> None:
        self._runtime = runtime
        self._publisher = publisher
        self._steps = Steps(runtime, publisher)
        self._one_at_a_time = ForkLock()
        self.waits_for: dict[str, Obstacle] = {}

    # --- asking

    def look(self, kind: str, id: str | int, session: str | None, everywhere: bool | None,
             keep: Sequence[str]) -> dict[str, Any]:  # fmt: skip
        """What an erasure would take with it; changes nothing."""
        target = find(self._runtime, kind, id, session)
        plan = first_plan(self._runtime, target, everywhere=_everywhere(kind, everywhere), keep=frozenset(keep))
        return self._answer(plan, None, None, files_with(self._publisher.workspace, plan.words), "would_be")

    def erase(
        self, kind: str, id: str | int, *, reason: str, session: str | None = None, everywhere: bool | None = None,
        keep: Sequence[str] = (), block: bool = True, actor: str = "person",
    ) -> dict[str, Any]:  # fmt: skip
        """Erases, or goes on with what was asked for before. ``receipt`` is None while something is in the way.

        Raises ``already_erased``, ``run_open``, ``memory_drift``, ``memory_remote``, ``erasure_busy``, ``bad_reason``.
        """
        runtime = self._runtime
        runtime.require_writing("an erasure")
        _require_reason(reason)
        target = find(runtime, kind, id, session)
        with self._claimed() as claim:
            self._publisher.recover()
            if (waiting := self._unfinished_of(target)) is not None:
                return self._finish(waiting, None, claim, patient=True)
            for _ in range(RETRIES):
                plan = first_plan(runtime, target, everywhere=_everywhere(kind, everywhere), keep=frozenset(keep))
                self._may(plan)
                failpoint("erase.planned")
                erasure = new_id("x")
                try:
                    positions = runtime.log.append(
                        self._request(erasure, plan, reason, block, actor),
                        expects=[(document_stream(runtime.workspace), self._publisher.document().version)],
                    )
                except StreamConflict:
                    continue  # Somebody proposed, curated or took in an edit: look again at what goes.
                failpoint("erase.requested")
                requested = runtime.log.at(positions[:1])[positions[0]]
                words = Words([*plan.words.texts, *plan.said])
                return self._finish(requested, plan, claim, patient=True, words=words)
        raise StreamConflict("others kept changing memory; try again")

    def finish(self, *, patient: bool = True) -> list[dict[str, Any]]:
        """Goes on with every erasure that was not completed, oldest first."""
        self._runtime.require_writing("an erasure")
        waiting = [record for record in records(self._runtime) if not record.completed]
        if not waiting:
            return []
        with self._claimed(patient=patient) as claim:
            return [
                self._finish(record.requested, None, claim, patient=patient)
                for record in records(self._runtime)
                if not record.completed
            ]

    def start(self) -> None:
        """A start goes on where the last process was stopped; what stands in the way is for ``status`` to say."""
        try:
            self.finish(patient=False)
        except MinutebookError as error:
            for record in records(self._runtime):
                if not record.completed:
                    self.waits_for[record.erasure] = Obstacle(error.code, error.message)

    # --- steps

    @contextmanager
    def _claimed(self, *, patient: bool = True) -> Iterator[Claim]:
        patience = self._runtime.settings.lock_timeout_seconds if patient else 0.0
        if not self._one_at_a_time.acquire(timeout=max(patience, 0.0)):
            raise _busy()
        try:
            name = f"erase:{self._runtime.workspace}"
            claim = claims.take(self._runtime, name, seconds=CLAIM_SECONDS, wait_seconds=patience)
            if claim is None:
                raise _busy()
            try:
                yield claim
            finally:
                claim.release()
        finally:
            self._one_at_a_time.release()

    def _may(self, plan: Plan) -> None:
        """Refuses what cannot be carried out, before anything is on record."""
        target = plan.target
        if target.kind == "session" and conversation.interrupt_if_dead(self._runtime, target.id):
            raise conversation.run_is_open(target.id)
        if not plan.left and not plan.entries.keys() & self._live():
            raise InputError(
                f"there is nothing left to erase of {target.kind} {target.id!r}; 'minutebook erase list' says when and "
                "why it went",
                code="already_erased",
            )
        state = self._publisher.state()
        if state.clean or not plan.entries:
            return
        look = self._publisher.workspace.look()
        held = isinstance(look, Bytes) and any(text.encode() in look.data for text in plan.entries.values() if text)
        if plan.entries.keys() & self._live() or held:
            raise state.error()

    def _live(self) -> set[str]:
        return {fact.entry for fact in self._publisher.document().facts}

    def _request(self, erasure: str, plan: Plan, reason: str, block: bool, actor: str) -> list[Event]:
        runtime, target = self._runtime, plan.target
        stay = {text for fact, text in zip(*self._document(), strict=False) if fact not in plan.entries}
        session = target.session if target.kind != "entry" else None
        envelope = runtime.envelope(
            erasure_stream(runtime.workspace, erasure), 1, actor=actor, session=session, trust="operator"
        )
        requested = ErasureRequested(
            envelope=envelope,
            erasure=erasure,
            kind=target.kind,
            target=target.id,
            position=target.position,
            everywhere=plan.everywhere,
            entries=tuple(plan.entries),
            candidates=tuple(plan.candidates),
            keep=tuple(sorted(plan.keep)),
            spans=spans(plan.left),
            elsewhere=len(plan.elsewhere),
            payload=encode_payload({"reason": reason}),
        )
        forgotten = [text for text in plan.said if text not in stay] if block else []
        return [requested, *blocking(runtime, erasure, forgotten), *self._refusals(erasure, plan)]

    def _document(self) -> tuple[list[str], tuple[str, ...]]:
        document = self._publisher.document()
        return [fact.entry for fact in document.facts], document.entries

    def _refusals(self, erasure: str, plan: Plan) -> Iterator[Event]:
        """Candidates that still waited are refused for good: no curator is given them any more."""
        runtime = self._runtime
        with runtime.projections.reading("candidates") as (view, connection):
            rows = [candidates.candidate(view, connection, runtime.workspace, name) for name in plan.candidates]
        for row in rows:
            if row is None or row.status not in _OPEN:
                continue
            stream = candidate_stream(runtime.workspace, row.candidate)
            yield CandidateRefused(
                envelope=runtime.envelope(
                    stream, runtime.log.version(stream) + 1, actor="minutebook", session=row.session, run=row.run,
                    trust=row.trust, causation=row.position,
                ),
                candidate=row.candidate,
                job=erasure,
                reasons=(Refusal(check="erased", entry=row.candidate, message="it was erased on request"),),
            )  # fmt: skip

    def _unfinished_of(self, target: Target) -> LoggedEvent | None:
        for record in records(self._runtime):
            same = (record.kind, record.target) == (target.kind, target.id)
            if same and not record.completed and record.body.position == target.position:
                return record.requested
        return None

    def _finish(
        self, requested: LoggedEvent, plan: Plan | None, claim: Claim, *, patient: bool, words: Words | None = None
    ) -> dict[str, Any]:
        way = Progress(requested, words)
        erasure = way.body.erasure
        plan = plan or next_plan(self._runtime, requested)
        receipt = self._steps.go_on(way, claim, patient=patient)
        if receipt is None:
            self.waits_for[erasure] = way.obstacles[0]
            self._note(erasure, way.obstacles[0].code)
        else:
            self.waits_for.pop(erasure, None)
            claims.forget(self._runtime, self._noted(erasure))
        return self._answer(plan, requested, receipt, files_with(self._publisher.workspace, plan.words), "erased")

    # --- answering

    def _answer(
        self, plan: Plan, requested: LoggedEvent | None, receipt: int | None, files: list[str], done: str
    ) -> dict[str, Any]:
        target = plan.target
        derived = [
            {"what": "entry", "id": name, "position": None, "session": None, "done": done} for name in plan.entries
        ]
        derived += [
            plan.found[position].row(done)
            for position in sorted(plan.found)
            if position != target.position and not (target.kind == "session" and _own(plan, position))
        ]
        answer: dict[str, Any] = {
            "erased": {
                "kind": target.kind,
                "id": target.id,
                "session": target.session,
                "position": target.position,
                "messages": sum(1 for one in plan.found.values() if one.what == "message"),
                "payloads": len(plan.found),
            },
            "derived": derived,
            "elsewhere": [one.row("left") for one in plan.elsewhere] + [{"what": "file", "id": name} for name in files],
            "forks": list(plan.forks),
            "receipt": None,
        }
        if requested is None:
            return answer
        record = next(one for one in records(self._runtime) if one.requested.position == requested.position)
        answer["erasure"] = record.erasure
        answer["receipt"] = record.receipt
        waits = self.waits_for.get(record.erasure)
        answer["waits_for"] = None if waits is None else {"code": waits.code, "message": waits.message}
        return answer

    def listed(self) -> list[dict[str, Any]]:
        """Every erasure, oldest first, with who, when and why, and its receipt."""
        return [self._row(record) for record in records(self._runtime)]

    def one(self, erasure: str) -> dict[str, Any]:
        """One erasure with all that it named. Raises InputError ``unknown_erasure``."""
        found = next((record for record in records(self._runtime) if record.erasure == erasure), None)
        if found is None:
            raise InputError(
                f"there is no erasure {erasure!r}; 'minutebook erase list' names those there are",
                code="unknown_erasure",
            )
        row = self._row(found)
        row["entries"], row["candidates"] = list(found.body.entries), list(found.body.candidates)
        row["spans"] = [list(span) for span in found.body.spans]
        return row

    def unfinished(self) -> list[dict[str, Any]]:
        """For ``status``: what is not done, and what it waits for."""
        return [row for row in self.listed() if row["status"] == "unfinished"]

    def _row(self, record: Record) -> dict[str, Any]:
        row = record.row()
        if not record.completed:
            waits = self.waits_for.get(record.erasure) or self._told(record)
            row["waits_for"] = {"code": waits.code, "message": waits.message}
        return row

    def _told(self, record: Record) -> Obstacle:
        """What an erasure waits for, as far as a look can tell."""
        state = self._publisher.state()
        if not state.clean and set(record.body.entries) & self._live():
            fault = state.error()
            return Obstacle(fault.code, fault.message)
        if self._runtime.writes and (busy := self._in_the_way()) is not None:
            return Obstacle(HELD_UP, busy)
        code, _ = claims.holder(self._runtime, self._noted(record.erasure))
        if code == HELD_UP:
            return Obstacle(HELD_UP, SNAPSHOT if not self._runtime.log.database.sqlite else READER)
        if code:
            return Obstacle(code, "the last try ended so; 'minutebook erase finish' tries again and says more")
        return Obstacle(
            "erasure_not_gone_on",
            "nobody has gone on with it; the next 'minutebook erase finish', or the next book that is opened, does",
        )

    def _note(self, erasure: str, code: str) -> None:
        """Leaves the code of an obstacle for whoever looks from another process; its words may quote what goes."""
        claims.hold(self._runtime, self._noted(erasure), lambda _owner, _running: code, seconds=0.0)

    def _noted(self, erasure: str) -> str:
        return f"erasure:{self._runtime.workspace}:{erasure}"

    def _in_the_way(self) -> str | None:
        try:
            return self._runtime.log.in_the_way()
        except StoreError as error:
            return error.message


def _own(plan: Plan, position: int) -> bool:
    one = plan.found[position]
    return one.session == plan.target.id and one.what in ("message", "prompt", "run_failure")


def _everywhere(kind: str, asked: bool | None) -> bool:
    """An entry is a sentence, and gone when the sentence is; a message is what somebody said in one place."""
    return kind == "entry" if asked is None else asked


def _require_reason(reason: Any) -> None:
    if not isinstance(reason, str) or not reason.strip():
        raise InputError("say why in a few words; the tombstone keeps them", code="bad_reason")
    if len(reason) > REASON_CHARS_MAX:
        raise InputError(
            f"the reason has {len(reason):,} characters, at most {REASON_CHARS_MAX:,} are kept; shorten it",
            code="bad_reason",
        )


def _busy() -> MemoryFault:
    return MemoryFault(
        "another erasure is under way in this workspace; it goes on by itself, try again when it is done",
        code="erasure_busy",
    )
