"""Legal histories for tests: every kind of event that the read models take, and an independent model of what they mean.

``Book`` appends to a log with the right streams and versions and keeps, in plain Python, what a session must show.
``HISTORIES`` draws programs (lists of small numbers) that ``Book.play`` turns into legal operations: any program is
legal, so that Hypothesis can shrink it freely.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from minutebook.domain import catalogue as events
from minutebook.domain import streams
from minutebook.domain.events import Envelope, Event, encode_payload
from minutebook.domain.message import Trust
from minutebook.infrastructure.store.log import Log

Step = tuple[int, int, int]
"""An operation, and two numbers that choose among what it can apply to."""

HISTORIES: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.integers(0, 29), st.integers(0, 40), st.integers(0, 40)), min_size=4, max_size=45
)


@dataclass
class Compaction:
    """A committed compaction of the model: positions."""

    id: str
    position: int
    covers: tuple[int, ...]
    reduced: tuple[int, ...]


@dataclass
class SessionModel:
    """What one session holds, told without epochs: messages, reductions, and the stacks of compactions."""

    messages: list[int] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    reductions: list[tuple[int, int]] = field(default_factory=list)
    stack: list[Compaction] = field(default_factory=list)
    redo: list[Compaction] = field(default_factory=list)
    run: str | None = None

    def copy(self) -> SessionModel:
        return SessionModel(
            list(self.messages), dict(self.ids), list(self.reductions), list(self.stack), list(self.redo)
        )

    def visible(self) -> list[tuple[Any, ...]]:
        """References as the context read model must give them."""
        hidden = {position for done in self.stack for position in done.covers}
        shown: list[tuple[tuple[int, int], tuple[Any, ...]]] = []
        for position in self.messages:
            if position not in hidden:
                decided = [event for message, event in self.reductions if message == position]
                decided += [done.position for done in self.stack if position in done.reduced]
                ref = ("r", position, max(decided)) if decided else ("m", position)
                shown.append(((position, 1), ref))
        if self.stack:  # each supersedes the one before: only the last is seen
            last = self.stack[-1]
            shown.append(((last.covers[0], 0), ("s", last.position)))
        return [ref for _, ref in sorted(shown)]


class Book:
    """Appends legal events of one workspace and remembers what they mean."""

    def __init__(self, log: Log, workspace: str = "local") -> None:
        self.log = log
        self.workspace = workspace
        self.sessions: dict[str, SessionModel] = {}
        self.past: dict[int, dict[str, list[tuple[Any, ...]]]] = {}
        self.candidates: dict[str, str] = {}
        self.entries: list[tuple[events.EntryFact, str]] = []
        self.revisions: dict[int, tuple[str, ...]] = {0: ()}
        self.revision = 0
        self.revision_at: dict[int, int] = {}
        self._versions: dict[UUID, int] = {}
        self._ids = itertools.count(1)
        self._time = datetime(2026, 1, 1, tzinfo=UTC)

    # --- appending

    def envelope(
        self, stream: UUID, session: str | None = None, run: str | None = None, trust: Trust = "model"
    ) -> Envelope:
        version = self._versions[stream] = self._versions.get(stream, 0) + 1
        self._time += timedelta(seconds=1)
        return Envelope(stream, version, self.workspace, self._time, "agent", session, run, trust)

    def append(self, *new: Event) -> int:
        """Appends in one transaction; returns the last position."""
        return self.log.append(new)[-1]

    def note(self) -> None:
        """Remembers what every session shows, and which revision is in force, at the head."""
        head = self.log.head().position
        self.past[head] = {name: model.visible() for name, model in self.sessions.items()}
        self.revision_at[head] = self.revision

    # --- sessions, runs, messages

    def open(self, name: str) -> SessionModel:
        stream = streams.session_stream(self.workspace, name)
        self.append(events.SessionOpened(envelope=self.envelope(stream, name)))
        return self.sessions.setdefault(name, SessionModel())

    def message(self, name: str, text: str = "hello", *, role: str = "user", id: str | None = None) -> int:
        return self.messages(name, [text], role=role, id=id)[0]

    def messages(self, name: str, texts: Sequence[str], *, role: str = "user", id: str | None = None) -> list[int]:
        model = self.sessions[name]
        new: list[Event] = []
        ids: list[str] = []
        for text in texts:
            ids.append(id or f"m{next(self._ids)}")
            stream = streams.message_stream(self.workspace, name, ids[-1])
            new.append(
                events.MessageRecorded(
                    message=ids[-1],
                    role=role,
                    form="openai",
                    tokens=len(text),
                    counter="estimate-1",
                    size=len(text),
                    envelope=self.envelope(stream, name, model.run),
                    payload=encode_payload({"source": {"role": role, "content": text}}),
                )
            )
        positions = self.log.append(new)
        model.messages.extend(positions)
        model.ids.update(zip(positions, ids, strict=True))
        return positions

    def start_run(self, name: str, run: str | None = None) -> str:
        run = run or f"r{next(self._ids)}"
        owner = events.Owner(host="h", pid=1, started="0", runtime="t1")
        self.append(events.RunStarted(owner=owner, envelope=self._runs(name, run)))
        self.sessions[name].run = run
        return run

    def end_run(self, name: str, outcome: int = 0) -> None:
        model = self.sessions[name]
        run, model.run = model.run, None
        assert run is not None
        envelope = self._runs(name, run)
        usage = events.Usage(input_tokens=10, output_tokens=2)
        match outcome % 3:
            case 0:
                self.append(events.RunSucceeded(usage=usage, envelope=envelope))
            case 1:
                self.append(events.RunFailed(error="ValueError", envelope=envelope))
            case _:
                self.append(events.RunInterrupted(reason="owner_gone", envelope=envelope))

    def _runs(self, name: str, run: str) -> Envelope:
        return self.envelope(streams.runs_stream(self.workspace, name), name, run)

    def fork(self, parent: str, name: str, at: int, model: SessionModel) -> None:
        """``model`` is what the parent held at ``at``."""
        stream = streams.session_stream(self.workspace, name)
        self.append(events.SessionForked(parent=parent, parent_position=at, envelope=self.envelope(stream, name)))
        self.sessions[name] = model.copy()

    # --- context

    def reduce(self, name: str, positions: Iterable[int]) -> int:
        model = self.sessions[name]
        facts = [self._fact(model, position) for position in positions]
        position = self.append(
            events.ReductionDecided(
                policy="policy-1",
                reductions=tuple(facts),
                envelope=self._compactions(name),
                payload=encode_payload({"reductions": {fact.message: {"parts": []} for fact in facts}}),
            )
        )
        model.reductions.extend((fact.position, position) for fact in facts)
        return position

    def compact(self, name: str, positions: Sequence[int], reduced: Sequence[int] = ()) -> str:
        """Hides ``positions`` besides what the live summary hides already, which it supersedes (C7)."""
        model = self.sessions[name]
        live = model.stack[-1] if model.stack else None
        covers = sorted({*positions, *(live.covers if live else ())})
        compaction = f"c{next(self._ids)}"
        position = self.append(
            events.CompactionCommitted(
                compaction=compaction,
                covers=tuple(model.ids[each] for each in covers),
                anchor=covers[0],
                upto=covers[-1],
                supersedes=live.id if live else None,
                range_digest="d",
                policy="policy-1",
                summarizer="extractive-1",
                summary_tokens=5,
                tokens_before=100,
                tokens_after=10,
                reductions=tuple(self._fact(model, each) for each in reduced),
                envelope=self._compactions(name),
                payload=encode_payload({"summary": "what happened", "reductions": {}}),
            )
        )
        model.stack.append(Compaction(compaction, position, tuple(covers), tuple(reduced)))
        model.redo = []
        return compaction

    def undo(self, name: str) -> None:
        model = self.sessions[name]
        model.redo.append(model.stack.pop())
        self.append(events.CompactionUndone(compaction=model.redo[-1].id, envelope=self._compactions(name)))

    def redo(self, name: str) -> None:
        model = self.sessions[name]
        model.stack.append(model.redo.pop())
        self.append(events.CompactionRedone(compaction=model.stack[-1].id, envelope=self._compactions(name)))

    def fail(self, name: str, *, rejected: bool = False) -> None:
        attempt = f"a{next(self._ids)}"
        envelope = self.envelope(streams.attempt_stream(self.workspace, attempt), name)
        common: dict[str, Any] = {
            "compaction": attempt, "range_digest": "d", "policy": "policy-1", "summarizer": "s", "tokens_before": 9,
        }  # fmt: skip
        if rejected:
            self.append(events.CompactionRejected(reasons=("empty",), envelope=envelope, **common))
        else:
            self.append(events.CompactionFailedEvent(error="TimeoutError", envelope=envelope, **common))

    def freeze(self, name: str, runtime: str = "t1") -> int:
        return self.append(
            events.MemoryFrozen(
                revision=self.revision,
                digest="d",
                runtime=runtime,
                block_digest="b",
                envelope=self._shown(name, runtime),
                payload=encode_payload({"block": "memory"}),
            )
        )

    def preamble(self, name: str, id: str, runtime: str = "t1") -> int:
        return self.append(events.PreambleRecorded(preamble=id, tokens=7, envelope=self._shown(name, runtime)))

    def show(self, name: str, preamble: str | None, digest: str = "shown", runtime: str = "t1") -> int:
        return self.append(
            events.ContextShown(
                runtime=runtime,
                digest=digest,
                renderer="neutral-1",
                policy="policy-1",
                seen=self.log.head().position,
                preamble=preamble,
                memory_revision=self.revision,
                window=200_000,
                tokens=50,
                messages=3,
                envelope=self._shown(name, runtime),
            )
        )

    def _shown(self, name: str, runtime: str) -> Envelope:
        return self.envelope(streams.shown_stream(self.workspace, name, runtime), name)

    def _compactions(self, name: str) -> Envelope:
        return self.envelope(streams.compactions_stream(self.workspace, name), name)

    def _fact(self, model: SessionModel, position: int) -> events.ReductionFact:
        return events.ReductionFact(message=model.ids[position], position=position, tokens_before=50, tokens_after=5)

    # --- memory

    def propose(self, status: str = "admitted", *, session: str | None = None, run: str | None = None) -> str:
        """A candidate brought to a state: proposed, admitted, quarantined, approved, declined, withdrawn."""
        name = f"k{next(self._ids)}"

        def at() -> Envelope:
            return self.envelope(streams.candidate_stream(self.workspace, name), session, run)

        payload = encode_payload({"operation": {"operation": "add", "text": f"fact {name}"}})
        self.append(events.CandidateProposed(candidate=name, operation="add", envelope=at(), payload=payload))
        match status:
            case "admitted":
                self.append(events.CandidateAdmitted(candidate=name, envelope=at()))
            case "withdrawn":
                self.append(events.CandidateWithdrawn(candidate=name, reason="run_failed", envelope=at()))
            case "quarantined" | "approved" | "declined":
                self.append(events.CandidateQuarantined(candidate=name, reason="trust", envelope=at()))
                if status == "approved":
                    self.append(events.CandidateApproved(candidate=name, envelope=at()))
                elif status == "declined":
                    self.append(events.CandidateDeclined(candidate=name, envelope=at()))
        self.candidates[name] = status
        return name

    def settle(self, name: str, status: str) -> None:
        """Refuses, sets aside or approves (late) a candidate."""
        envelope = self.envelope(streams.candidate_stream(self.workspace, name))
        match status:
            case "refused":
                reasons = (events.Refusal(check="duplicate", entry=name),)
                self.append(events.CandidateRefused(candidate=name, job="j", reasons=reasons, envelope=envelope))
            case "set_aside":
                self.append(events.CandidateSetAside(candidate=name, attempts=5, reason="failed", envelope=envelope))
            case _:
                self.append(events.CandidateApproved(candidate=name, envelope=envelope))
        self.candidates[name] = status

    @property
    def pending(self) -> list[str]:
        return [name for name, status in self.candidates.items() if status in ("admitted", "approved")]

    def fail_job(self, inputs: Sequence[str], *, rejected: bool = False) -> None:
        job = f"j{next(self._ids)}"
        envelope = self.envelope(streams.job_stream(self.workspace, job))
        if rejected:
            reasons = (events.Refusal(check="shrink", entry="e1"),)
            self.append(
                events.CurationRejected(job=job, inputs=tuple(inputs), reasons=reasons, curator="r", envelope=envelope)
            )
        else:
            self.append(
                events.CurationFailed(job=job, inputs=tuple(inputs), error="OSError", curator="r", envelope=envelope)
            )

    def prepare(
        self,
        entries: Sequence[tuple[events.EntryFact, str]],
        *,
        kind: events.RevisionKind = "curated",
        inputs: Sequence[str] = (),
    ) -> int:
        number = max(self.revisions) + 1
        payload = {"raw": "aGk="} if kind == "displaced" else {"entries": [text for _, text in entries]}
        self.append(
            events.RevisionPrepared(
                revision=number,
                kind=kind,
                parent=self.revision,
                base_digest=None,
                digest=f"digest-{number}",
                entries=tuple(fact for fact, _ in entries),
                inputs=tuple(inputs),
                job=f"j{number}" if kind == "curated" else None,
                envelope=self.envelope(streams.document_stream(self.workspace)),
                payload=encode_payload(payload),
            )
        )
        self.revisions[number] = tuple(text for _, text in entries)
        return number

    def commit(self, number: int, entries: Sequence[tuple[events.EntryFact, str]], inputs: Sequence[str] = ()) -> None:
        self.append(self.committed(number, inputs))
        self.entries, self.revision = list(entries), number
        self.candidates.update(dict.fromkeys(inputs, "consumed"))

    def committed(self, number: int, inputs: Sequence[str] = ()) -> events.RevisionCommitted:
        envelope = self.envelope(streams.document_stream(self.workspace))
        return events.RevisionCommitted(
            revision=number, digest=f"digest-{number}", inputs=tuple(inputs), envelope=envelope
        )

    def abandon(self, number: int) -> None:
        envelope = self.envelope(streams.document_stream(self.workspace))
        self.append(events.RevisionAbandoned(revision=number, reason="base changed", envelope=envelope))

    def revise(self, choice: int, how: int) -> None:
        """A revision of some kind from what stands and what is pending."""
        entries = list(self.entries)
        number = max(self.revisions) + 1
        inputs: list[str] = []
        for name in self.pending[: choice % 4]:
            inputs.append(name)
            fact = events.EntryFact(entry=f"e-{name}", since=number, candidates=(name,), actor="agent")
            entries.append((fact, f"fact {name}"))
        if entries and choice % 3 == 1:
            del entries[choice % len(entries)]
        if entries and choice % 5 == 2:
            fact, text = entries[choice % len(entries)]
            entries[choice % len(entries)] = (fact.model_copy(update={"since": number}), text + "!")
        if choice % 7 == 3:
            entries.reverse()
        if how % 6 == 5:
            number = self.prepare((), kind="displaced")
            self.append(self.committed(number))
            return
        number = self.prepare(entries, inputs=inputs, kind="manual" if how % 6 == 4 else "curated")
        if how % 6 == 3:
            self.abandon(number)
        else:
            self.commit(number, entries, inputs)

    # --- evidence

    def forget(self, text: str) -> int:
        """A person says what is not to be learnt again."""
        stream = streams.learning_stream(self.workspace)
        return self.append(
            events.LearningBlocked(
                envelope=self.envelope(stream), block=f"b{next(self._ids)}", payload=encode_payload({"text": text})
            )
        )

    # --- programs

    def play(self, program: Iterable[Step]) -> None:
        """Turns numbers into legal operations, and notes after each what must be seen."""
        snapshots: list[tuple[str, int, SessionModel]] = []
        for operation, a, b in program:
            self._step(operation, a, b, snapshots)
            self.note()
            for name, model in self.sessions.items():
                snapshots.append((name, self.log.head().position, model.copy()))

    def _step(self, operation: int, a: int, b: int, snapshots: list[tuple[str, int, SessionModel]]) -> None:
        if not self.sessions or operation == 0:
            self.open(f"s{len(self.sessions) % 3}")
            return
        name = sorted(self.sessions)[a % len(self.sessions)]
        model = self.sessions[name]
        shown = [ref[1] for ref in model.visible() if ref[0] != "s"]
        match operation:
            case 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8:
                self.messages(name, ["x" * (1 + b)] * (1 + b % 4), role="user" if b % 2 else "assistant")
            case 9 | 10:
                if model.run is None:
                    self.start_run(name)
                else:
                    self.end_run(name, b)
            case 12 | 18 | 19 if model.redo:
                self.redo(name)
            case 11 | 12 if shown:
                self.reduce(name, sorted({shown[b % len(shown)], shown[a % len(shown)]}))
            case 13 | 14 | 15 if len(shown) > 2:
                first = b % (len(shown) - 1)
                chosen = shown[first : first + 2 + a % 3]
                if len(chosen) > 2 and a % 2:
                    del chosen[1]  # a system message in the range stays where it is
                rest = [position for position in shown if position not in chosen]
                self.compact(name, chosen, rest[-1:] if b % 3 == 0 else ())
            case 16 | 17 if model.stack:
                self.undo(name)
            case 20 if snapshots and len(self.sessions) < 6:
                parent, at, then = snapshots[(a * 41 + b) % len(snapshots)]
                self.fork(parent, f"f{len(self.sessions)}-{b}", at, then)
            case 21:
                self.fail(name, rejected=bool(b % 2))
            case 22:
                self.freeze(name)
                self.preamble(name, f"p{b % 3}")
                self.show(name, f"p{b % 3}", digest=f"shown-{b}")
            case 23 | 24 | 25:
                states = ("admitted", "quarantined", "approved", "declined", "withdrawn", "proposed")
                self.propose(states[b % 6], session=name)
            case 26 if self.pending:
                self.settle(self.pending[b % len(self.pending)], ("refused", "set_aside", "approved")[a % 3])
            case 27 if self.pending:
                self.fail_job(self.pending[: 1 + b % 3], rejected=bool(a % 2))
            case 28 | 29:
                self.revise(a, b)
            case _:
                self.message(name)
