"""Events of sessions, runs, messages and compactions to the rows of the context projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, MetaData, insert, update

from ...domain import catalogue as events
from ...domain.events import LoggedEvent
from ..projection import Projection, upsert
from . import epochs, queries, rows
from .epochs import Compacted, Stack, Visible
from .tables import ContextTables

ENDS = {"RunSucceeded": "succeeded", "RunFailed": "failed", "RunInterrupted": "interrupted"}


class Context(ContextTables, Projection):
    """Sessions, messages, runs and epochs: each epoch holds the whole visible list, so that the past is a look-up."""

    name = "context"
    version = 1
    event_types = frozenset(
        {
            events.SessionOpened,
            events.SessionForked,
            events.SessionClosed,
            events.SessionReopened,
            events.TranscriptImported,
            events.RunStarted,
            events.RunSucceeded,
            events.RunFailed,
            events.RunInterrupted,
            events.MessageRecorded,
            events.ReductionDecided,
            events.CompactionCommitted,
            events.CompactionRejected,
            events.CompactionFailedEvent,
            events.CompactionUndone,
            events.CompactionRedone,
            events.MemoryFrozen,
            events.PreambleRecorded,
            events.ContextShown,
        }
    )

    def tables(self, metadata: MetaData) -> None:
        self.declare(metadata)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        fold = _Fold(self, connection)
        for event in events:
            if event.session is not None:
                fold.take(event, event.session)
        fold.flush()


class _Fold:
    """One batch: messages and session totals are gathered and written together, epochs as they come."""

    def __init__(self, tables: ContextTables, connection: Connection) -> None:
        self.tables = tables
        self.connection = connection
        self.messages: list[dict[str, Any]] = []
        self.runs: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.sessions: dict[tuple[str, str], dict[str, Any]] = {}
        self.last: dict[tuple[str, str], LoggedEvent] = {}

    def flush(self) -> None:
        """Writes what was gathered: before a query that must see it, and at the end of the batch."""
        for table, new in ((self.tables.messages, self.messages), (self.tables.runs, list(self.runs.values()))):
            if new:
                self.connection.execute(insert(table), new)
        for key, event in self.last.items():
            self.sessions[key].update(last_position=event.position, last_time=rows.time(event))
        if self.sessions:
            statement = upsert(self.tables.sessions, self.connection)
            self.connection.execute(statement, list(self.sessions.values()))
        self.messages, self.runs, self.sessions, self.last = [], {}, {}, {}

    def take(self, event: LoggedEvent, name: str) -> None:
        session = self._session(event, name)
        self.last[event.workspace, name] = event
        match event.body:
            case events.MessageRecorded() as body:
                self._message(event, name, body)
                session["messages"] += 1
                session["tokens"] += body.tokens
            case events.RunStarted() as body:
                session["runs"] += 1
                self._run(event, name, body)
            case events.RunSucceeded() | events.RunFailed() | events.RunInterrupted() as body:
                self._run_ended(event, name, body)
            case events.SessionOpened() as body:
                session["origin"], session["format"] = body.origin, body.format
            case events.SessionForked() as body:
                self._forked(event, name, body)
            case events.SessionClosed():
                session["closed"] = 1
            case events.SessionReopened():
                session["closed"] = 0
            case events.TranscriptImported() as body:
                session["format"] = body.format
            case events.ReductionDecided() as body:
                self._reduced(event, name, frozenset(fact.position for fact in body.reductions))
            case events.CompactionCommitted() as body:
                session["compactions"] += 1
                session["suspended"] = 0
                self._committed(event, name, body)
            case events.CompactionRejected() as body:
                self._attempt(
                    event, name, body, "rejected", reasons=epochs.to_json(body.reasons), **rows.usage(body.usage)
                )
            case events.CompactionFailedEvent() as body:
                self._attempt(event, name, body, "failed", error=body.error)
            case events.CompactionUndone() as body:
                session["suspended"] = int(body.cause == "asked")
                self._undone(event, name, body)
            case events.CompactionRedone() as body:
                session["suspended"] = 0
                self._redone(event, name, body.compaction)
            case events.MemoryFrozen() as body:
                self._freeze(event, name, body)
            case events.PreambleRecorded() as body:
                row = {"preamble": body.preamble, "tokens": body.tokens}
                self._insert(self.tables.preambles, event, name, row)
            case events.ContextShown() as body:
                self._shown(event, name, body)
            case _:
                pass

    # --- sessions, messages, runs

    def _session(self, event: LoggedEvent, name: str) -> dict[str, Any]:
        key = (event.workspace, name)
        found = self.sessions.get(key)
        if found is None:
            row = queries.session_row(self.tables, self.connection, *key)
            found = row if row is not None else rows.new_session(event, name)
            self.sessions[key] = found
        return found

    def _message(self, event: LoggedEvent, name: str, body: events.MessageRecorded) -> None:
        self.messages.append(rows.message(event, name, body))

    def _run(self, event: LoggedEvent, name: str, body: events.RunStarted) -> None:
        run = event.run or ""
        if (event.workspace, name, run) in self.runs:
            self.flush()  # the same run id again: two rows
        self.runs[event.workspace, name, run] = rows.run_started(event, name, body)

    def _run_ended(
        self, event: LoggedEvent, name: str, body: events.RunSucceeded | events.RunFailed | events.RunInterrupted
    ) -> None:
        change: dict[str, Any] = {
            "status": ENDS[event.topic],
            "ended": rows.time(event),
            "ended_position": event.position,
        }
        if isinstance(body, events.RunInterrupted):
            change["reason"] = body.reason
        else:
            change.update(rows.usage(body.usage))
            change["reason"] = body.error if isinstance(body, events.RunFailed) else None
        pending = self.runs.get((event.workspace, name, event.run or ""))
        if pending is not None:
            pending.update(change)
            return
        runs = self.tables.runs
        self.connection.execute(
            update(runs)
            .where(
                runs.c.workspace == event.workspace,
                runs.c.session == name,
                runs.c.run == (event.run or ""),
                runs.c.status == "open",
            )
            .values(**change)
        )

    def _forked(self, event: LoggedEvent, name: str, body: events.SessionForked) -> None:
        self.flush()
        at = min(body.parent_position, event.position - 1)
        workspace = event.workspace
        messages, tokens = queries.totals(self.tables, self.connection, workspace, body.parent, at)
        self._session(event, name).update(
            parent=body.parent,
            parent_position=at,
            forked=event.position,
            inherited_messages=messages,
            inherited_tokens=tokens,
        )
        visible = queries.visible(self.tables, self.connection, workspace, body.parent, at)
        undo, redo = self._stacks(workspace, body.parent, at)
        self._write_epoch(event, name, "forked", visible, undo, redo)

    # --- epochs

    def _stacks(self, workspace: str, session: str, at: int | None) -> tuple[Stack, Stack]:
        epoch = queries.epoch(self.tables, self.connection, workspace, session, at)
        return ([], []) if epoch is None else (list(epoch.undo), list(epoch.redo))

    def _epoch(
        self,
        event: LoggedEvent,
        name: str,
        kind: str,
        change: Callable[[Visible, Stack, Stack], tuple[Visible, Stack, Stack] | None],
    ) -> None:
        """Writes the epoch that ``change`` makes of what is visible; none where the event cannot apply."""
        self.flush()
        visible = queries.visible(self.tables, self.connection, event.workspace, name, event.position)
        undo, redo = self._stacks(event.workspace, name, event.position)
        changed = change(visible, undo, redo)
        if changed is not None:
            self._write_epoch(event, name, kind, *changed)

    def _write_epoch(
        self, event: LoggedEvent, name: str, kind: str, visible: Visible, undo: Stack, redo: Stack
    ) -> None:
        live = undo[-1][0] if undo else None
        row = {
            "kind": kind,
            "visible": epochs.to_json(visible),
            "live": live,
            "undo": epochs.to_json(undo),
            "redo": epochs.to_json(redo),
        }
        self._insert(self.tables.epochs, event, name, row)

    def _reduced(self, event: LoggedEvent, name: str, positions: frozenset[int]) -> None:
        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack]:
            return epochs.reduce(visible, positions, event.position), undo, redo

        self._epoch(event, name, "reduced", change)

    def _committed(self, event: LoggedEvent, name: str, body: events.CompactionCommitted) -> None:
        self.flush()
        ids = queries.positions_of(self.tables, self.connection, event.workspace, name, body.covers)
        covers = tuple(sorted(ids[message] for message in body.covers if message in ids))
        reduced = tuple(fact.position for fact in body.reductions)
        self._attempt(
            event, name, body, "committed",
            supersedes=body.supersedes, anchor=body.anchor, upto=body.upto,
            covers=epochs.to_json(covers), covers_count=len(covers), reduced=epochs.to_json(reduced),
            summary_tokens=body.summary_tokens, tokens_after=body.tokens_after, trust=body.trust,
            **rows.usage(body.usage),
        )  # fmt: skip
        done = Compacted(event.position, body.compaction, body.supersedes, body.anchor, covers, reduced)

        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack]:
            live = queries.compacted(self.tables, self.connection, epochs.summaries(visible))
            return epochs.compact(visible, done, live), [*undo, (body.compaction, event.position)], []

        self._epoch(event, name, "compacted", change)

    def _undone(self, event: LoggedEvent, name: str, body: events.CompactionUndone) -> None:
        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack] | None:
            if not undo or undo[-1][0] != body.compaction:
                return None  # only the last one can be undone (C7); deciders never let another pass
            commit = undo[-1][1]
            before = queries.visible(self.tables, self.connection, event.workspace, name, commit - 1)
            # What was erased cannot be redone: there is nothing left of it (E8).
            again = [*redo, undo[-1]] if body.cause == "asked" else redo
            return epochs.undo(before, visible, commit), undo[:-1], again

        self._epoch(event, name, "undone", change)

    def _redone(self, event: LoggedEvent, name: str, compaction: str) -> None:
        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack] | None:
            if not redo or redo[-1][0] != compaction:
                return None
            done = queries.compacted(self.tables, self.connection, [redo[-1][1]])
            live = queries.compacted(self.tables, self.connection, epochs.summaries(visible))
            return epochs.compact(visible, done[0], live), [*undo, redo[-1]], redo[:-1]

        self._epoch(event, name, "redone", change)

    def _attempt(
        self,
        event: LoggedEvent,
        name: str,
        body: events.CompactionCommitted | events.CompactionRejected | events.CompactionFailedEvent,
        outcome: str,
        **more: Any,
    ) -> None:
        self._insert(self.tables.compactions, event, name, rows.attempt(event, body, outcome) | more)

    # --- what was shown

    def _freeze(self, event: LoggedEvent, name: str, body: events.MemoryFrozen) -> None:
        row = {
            "runtime": body.runtime,
            "revision": body.revision,
            "digest": body.digest,
            "block_digest": body.block_digest,
        }
        self._insert(self.tables.freezes, event, name, row)

    def _shown(self, event: LoggedEvent, name: str, body: events.ContextShown) -> None:
        tables, connection = self.tables, self.connection
        freeze = queries.freeze(tables, connection, event.workspace, name, event.position, runtime=body.runtime)
        preamble = None
        if body.preamble is not None:
            preamble = queries.preamble(tables, connection, event.workspace, name, event.position, id=body.preamble)
        row = body.model_dump() | {
            "run": event.run,
            "freeze_position": None if freeze is None else freeze.position,
            "preamble_position": None if preamble is None else preamble.position,
        }
        self._insert(tables.shown, event, name, row)

    def _insert(self, table: Any, event: LoggedEvent, name: str, row: dict[str, Any]) -> None:
        head = {"position": event.position, "workspace": event.workspace, "session": name}
        self.connection.execute(insert(table), head | row)
