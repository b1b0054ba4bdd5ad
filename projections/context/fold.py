"""Events of sessions, runs, messages and compactions to the rows of the context projection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Table

from ...domain import catalogue as events
from ...domain.events import LoggedEvent
from ..prepared import replace, write
from . import epochs, queries, rows
from .epochs import Compacted, Stack, Visible
from .seen import Batch, Seen
from .tables import ContextTables

_PLAIN = frozenset({"MessageRecorded", "RunStarted", "RunSucceeded", "ContextShown"})
ENDS = {"RunSucceeded": "succeeded", "RunFailed": "failed", "RunInterrupted": "interrupted"}


class Fold:
    """One batch: rows are gathered and written together; what was just written is not asked for again."""

    def __init__(self, tables: ContextTables, connection: Connection) -> None:
        self.tables = tables
        self.connection = connection
        self.messages: list[tuple[Any, ...]] = []
        self.changed: set[tuple[str, str]] = set()
        self.runs: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.sessions: dict[tuple[str, str], dict[str, Any]] = {}
        self.others: dict[Table, list[dict[str, Any]]] = {}
        self.known = Batch()

    def flush(self) -> None:
        """Writes what was gathered: before a query that must see it, and at the end of the batch."""
        self._write_messages()
        write(self.tables.runs, self.connection, list(self.runs.values()))
        for table, new in self.others.items():
            write(table, self.connection, new)
        replace(self.tables.sessions, self.connection, [self.sessions[key] for key in sorted(self.changed)])
        self.changed, self.runs, self.others = set(), {}, {}

    def _write_messages(self) -> None:
        write(self.tables.messages, self.connection, self.messages)
        self.messages = []

    def take(self, event: LoggedEvent, name: str) -> None:
        key = (event.workspace, name)
        session = self.sessions.get(key) or self._session(event, name)
        session["last_position"], session["last_time"] = event.position, event.time_text
        self.changed.add(key)
        if event.topic in _PLAIN:
            self._plain(event, name, session)
            return
        self._other(event, name, session)
        self.changed.add(key)  # again: what it did may have been written out halfway

    def add(self, totals: Iterable[tuple[str, str, int, int, int, int, str]]) -> None:
        """Takes in what messages that are in the table already add to their sessions."""
        for workspace, name, count, tokens, first, last, time in totals:
            key = (workspace, name)
            session = self.sessions.get(key) or queries.session_row(self.tables, self.connection, *key)
            if session is None:
                session = rows.new_session(workspace, name, first, time)
            session["messages"] += count
            session["tokens"] += tokens
            session["first_position"] = min(session["first_position"], first)
            if last > session["last_position"]:
                session["last_position"], session["last_time"] = last, time
            self.sessions[key] = session
            self.changed.add(key)

    def _plain(self, event: LoggedEvent, name: str, session: dict[str, Any]) -> None:
        """The events that are nearly all of a log: their facts are copied, and no typed event is made of them."""
        facts = event.plain
        try:
            match event.topic:
                case "MessageRecorded":
                    self.messages.append(rows.message(event, name, facts))
                    session["messages"] += 1
                    session["tokens"] += facts["tokens"]
                case "RunStarted":
                    self._run(event, name, facts)
                    session["runs"] += 1
                case "RunSucceeded":
                    self._run_ended(event, name, rows.usage(facts["usage"]) | {"reason": None})
                case _:
                    self._shown(event, name, facts)
        except (KeyError, TypeError):
            _ = event.body  # says in full what is wrong with the event
            raise
        self.changed.add((event.workspace, name))

    def _other(self, event: LoggedEvent, name: str, session: dict[str, Any]) -> None:
        match event.body:
            case events.RunFailed() as body:
                self._run_ended(event, name, rows.usage(body.usage.model_dump()) | {"reason": body.error})
            case events.RunInterrupted() as body:
                self._run_ended(event, name, {"reason": body.reason})
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
                    event,
                    name,
                    body,
                    "rejected",
                    reasons=epochs.to_json(body.reasons),
                    **rows.usage(body.usage.model_dump()),
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
                self.known.newest[event.workspace, name, "preamble", body.preamble] = event.position
                row = {"preamble": body.preamble, "tokens": body.tokens}
                self._insert(self.tables.preambles, event, name, row)
            case _:
                pass

    # --- sessions, messages, runs

    def _session(self, event: LoggedEvent, name: str) -> dict[str, Any]:
        key = (event.workspace, name)
        found = self.sessions.get(key)
        if found is None:
            found = queries.session_row(self.tables, self.connection, *key)
            if found is None:
                found = rows.new_session(event.workspace, name, event.position, event.time_text)
                # Whatever it has comes in this batch; a fork sets this itself.
                self.known.sessions[key] = Seen([], [], [], 0)
            self.sessions[key] = found
        return found

    def _run(self, event: LoggedEvent, name: str, facts: Mapping[str, Any]) -> None:
        run = event.run or ""
        if (event.workspace, name, run) in self.runs:
            self.flush()  # the same run id again: two rows
        self.runs[event.workspace, name, run] = rows.run_started(event, name, facts)

    def _run_ended(self, event: LoggedEvent, name: str, more: dict[str, Any]) -> None:
        change = {"status": ENDS[event.topic], "ended": event.time_text, "ended_position": event.position, **more}
        pending = self.runs.get((event.workspace, name, event.run or ""))
        if pending is not None:
            pending.update(change)
            return
        queries.end_run(self.tables, self.connection, event.workspace, name, event.run or "", change)

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

    def _seen(self, event: LoggedEvent, name: str) -> Seen:
        """What is visible of the session at the event: as it was left, and the messages that came since."""
        key = (event.workspace, name)
        found = self.known.sessions.get(key)
        if found is None:
            self.flush()
            visible = queries.visible(self.tables, self.connection, *key, event.position)
            found = self.known.sessions[key] = Seen(visible, *self._stacks(*key, event.position), event.position)
        elif found.position < event.position:
            self._write_messages()
            found.extend(queries.since(self.tables, self.connection, *key, found.position, event.position))
            found.position = event.position
        return found

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
        seen = self._seen(event, name)
        changed = change(seen.visible, seen.undo, seen.redo)
        if changed is not None:
            self._write_epoch(event, name, kind, *changed)

    def _write_epoch(
        self, event: LoggedEvent, name: str, kind: str, visible: Visible, undo: Stack, redo: Stack
    ) -> None:
        key = (event.workspace, name)
        before = self.known.sessions.get(key)
        self.known.sessions[key] = Seen(visible, undo, redo, event.position, {} if before is None else before.ids)
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
        ids = self._positions(event, name, body.covers)
        covers = tuple(sorted(ids[message] for message in body.covers if message in ids))
        reduced = tuple(fact.position for fact in body.reductions)
        self._attempt(
            event, name, body, "committed",
            supersedes=body.supersedes, anchor=body.anchor, upto=body.upto,
            covers=epochs.to_json(covers), covers_count=len(covers), reduced=epochs.to_json(reduced),
            summary_tokens=body.summary_tokens, tokens_after=body.tokens_after, trust=body.trust,
            **rows.usage(body.usage.model_dump()),
        )  # fmt: skip
        done = Compacted(event.position, body.compaction, body.supersedes, body.anchor, covers, reduced)
        self.known.compactions[event.position] = done

        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack]:
            live = self._compacted(epochs.summaries(visible))
            return epochs.compact(visible, done, live), [*undo, (body.compaction, event.position)], []

        self._epoch(event, name, "compacted", change)

    def _positions(self, event: LoggedEvent, name: str, messages: Iterable[str]) -> dict[str, int]:
        """Positions of messages of the session: those of this batch are known, the others are looked for."""
        known = self._seen(event, name).ids
        others = [message for message in messages if message not in known]
        if not others:
            return known
        if self._session(event, name)["parent"] is not None:
            self.flush()  # the line of descent is read from the table
        place = (self.tables, self.connection, event.workspace, name)
        return queries.positions_of(*place, others, event.position) | known

    def _compacted(self, positions: Iterable[int]) -> list[Compacted]:
        known = self.known.compactions
        others = [position for position in positions if position not in known]
        found = {done.position: done for done in queries.compacted(self.tables, self.connection, others)}
        return [
            found.get(position) or known[position]
            for position in sorted(positions)
            if position in found or position in known
        ]

    def _undone(self, event: LoggedEvent, name: str, body: events.CompactionUndone) -> None:
        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack] | None:
            if not undo or undo[-1][0] != body.compaction:
                return None  # only the last one can be undone (C7); deciders never let another pass
            commit = undo[-1][1]
            self.flush()
            before = queries.visible(self.tables, self.connection, event.workspace, name, commit - 1)
            # What was erased cannot be redone: there is nothing left of it (E8).
            again = [*redo, undo[-1]] if body.cause == "asked" else redo
            return epochs.undo(before, visible, commit), undo[:-1], again

        self._epoch(event, name, "undone", change)

    def _redone(self, event: LoggedEvent, name: str, compaction: str) -> None:
        def change(visible: Visible, undo: Stack, redo: Stack) -> tuple[Visible, Stack, Stack] | None:
            if not redo or redo[-1][0] != compaction:
                return None
            (done,) = self._compacted([redo[-1][1]])
            live = self._compacted(epochs.summaries(visible))
            return epochs.compact(visible, done, live), [*undo, redo[-1]], redo[:-1]

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
        self.known.newest[event.workspace, name, "freeze", body.runtime] = event.position
        self._insert(self.tables.freezes, event, name, row)

    def _shown(self, event: LoggedEvent, name: str, facts: Mapping[str, Any]) -> None:
        preamble = facts["preamble"]
        row = {
            **facts,
            "run": event.run,
            "freeze_position": self._newest(event, name, "freeze", facts["runtime"]),
            "preamble_position": None if preamble is None else self._newest(event, name, "preamble", preamble),
        }
        self._insert(self.tables.shown, event, name, row)

    def _newest(self, event: LoggedEvent, name: str, kind: str, wanted: str) -> int | None:
        """The position of the last freeze of a runtime, or of the last record of a preamble."""
        key = (event.workspace, name, kind, wanted)
        if key not in self.known.newest:
            place = (self.tables, self.connection, event.workspace, name, event.position)
            found = queries.freeze(*place, runtime=wanted) if kind == "freeze" else queries.preamble(*place, id=wanted)
            self.known.newest[key] = None if found is None else found.position
        return self.known.newest[key]

    def _insert(self, table: Table, event: LoggedEvent, name: str, row: dict[str, Any]) -> None:
        head = {"position": event.position, "workspace": event.workspace, "session": name}
        self.others.setdefault(table, []).append(head | row)
