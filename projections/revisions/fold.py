"""Events of the memory document to revisions and to entries that are valid from one revision to another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import Connection, MetaData, Select, Table, Update, bindparam, func, select, update

from ...domain import catalogue
from ...domain.events import LoggedEvent
from ..prepared import prepared, write
from ..projection import Projection
from .tables import RevisionTables

Content: TypeAlias = tuple[Any, ...]
"""An entry in plain values: (entry, text, since, candidates, run, session, messages, actor, trust, shared)."""


class Revisions(RevisionTables, Projection):
    """Prepared, committed and abandoned revisions; entries only of committed ones. A displaced one changes no entry."""

    name = "revisions"
    version = 1
    event_types = frozenset(
        {
            catalogue.RevisionPrepared,
            catalogue.RevisionCommitted,
            catalogue.RevisionAbandoned,
            catalogue.PayloadsErased,
        }
    )

    def tables(self, metadata: MetaData) -> None:
        self.declare(metadata)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        fold = _Fold(self, connection)
        for event in events:
            fold.take(event)
        fold.flush()


@dataclass
class _Document:
    """The entries of one workspace in force, in order, as (row number, content)."""

    rows: list[tuple[int, Content]] = field(default_factory=list)


class _Fold:
    """One batch; the document in force is read once and kept while the batch lasts."""

    def __init__(self, tables: RevisionTables, connection: Connection) -> None:
        self.tables = tables
        self.connection = connection
        self.documents: dict[str, _Document] = {}
        self.new: dict[int, dict[str, Any]] = {}
        self.staged: dict[int, list[Content]] = {}
        self.last_row: int | None = None

    def take(self, event: LoggedEvent) -> None:
        match event.body:
            case catalogue.RevisionPrepared() as body:
                self.new[event.position] = _prepared(event, body)
                self.staged[event.position] = _contents(body)
            case catalogue.RevisionCommitted() as body:
                self._decide(event, body.revision, "committed", None)
            case catalogue.RevisionAbandoned() as body:
                self._decide(event, body.revision, "abandoned", body.reason)
            case catalogue.PayloadsErased() as body:
                self._erased(event, body)
            case _:
                pass

    def flush(self) -> None:
        """Writes the revisions of this batch; what is still prepared keeps its entries staged for a later batch."""
        for position, row in self.new.items():
            if row["status"] == "prepared":
                row["staged"] = _json(self.staged[position])
        write(self.tables.revisions, self.connection, list(self.new.values()))

    def _decide(self, event: LoggedEvent, revision: int, status: str, reason: str | None) -> None:
        found = self._open(event.workspace, revision)
        if found is None:
            return
        position, kind, staged = found
        change: dict[str, Any] = {"status": status, "reason": reason, "decided": event.position, "staged": None}
        if status == "committed":
            change["time"] = event.time_text
            if kind != "displaced":
                change["current_from"] = event.position
                change["rows"] = self._commit(event, revision, staged)
        if position in self.new:
            self.new[position].update(change)
        else:
            table = self.tables.revisions
            statement = prepared(table, ("decided", *change), lambda: _decided(table, change))
            statement.run(self.connection, at=position, **change)

    def _open(self, workspace: str, revision: int) -> tuple[int, str, list[Content]] | None:
        """The prepared revision of that number: its position, its kind and its entries."""
        for position, row in reversed(self.new.items()):
            if (row["workspace"], row["revision"], row["status"]) == (workspace, revision, "prepared"):
                return position, row["kind"], self.staged[position]
        table = self.tables.revisions
        stored = prepared(table, "open", lambda: _open(table)).one(
            self.connection, workspace=workspace, revision=revision
        )
        if stored is None:
            return None
        contents = [_plain(content) for content in json.loads(stored.staged or "[]")]
        return stored.prepared, stored.kind, contents

    def _commit(self, event: LoggedEvent, revision: int, staged: list[Content]) -> str:
        """Closes the entries that went or changed, opens the new ones, and returns the order as row numbers."""
        document = self._document(event.workspace)
        waiting: dict[Content, list[tuple[int, str]]] = {}
        for number, content in document.rows:
            waiting.setdefault(_same(content), []).append((number, content[_TEXT]))
        rows: list[tuple[int, Content]] = []
        opened: list[dict[str, Any]] = []
        for content in staged:
            same = waiting.get(_same(content))
            if same:
                number, text = same.pop(0)
                rows.append((number, _saying(content, text or content[_TEXT])))
                if content[_TEXT] and not text:
                    # The revisions before were erased, and this one still says what the entry is.
                    self._say(number, content[_TEXT])
            else:
                number = self._next_row()
                rows.append((number, content))
                opened.append(_opened(event, number, revision, content))
        entries = self.tables.entries
        closed = prepared(entries, "closed", lambda: _closed(entries))
        for number in sorted(number for gone in waiting.values() for number, _ in gone):
            closed.run(self.connection, number=number, until=revision)
        write(entries, self.connection, opened)
        document.rows = rows
        return _json([number for number, _ in rows])

    def _erased(self, event: LoggedEvent, body: catalogue.PayloadsErased) -> None:
        """Takes away what erased entries said, and gives back what others said in the revisions that went (E8)."""
        entries = self.tables.entries
        here = entries.c.workspace == event.workspace
        for name in body.entries:
            self.connection.execute(update(entries).where(here, entries.c.entry == name).values(text=""))
        for name, since, text in body.content.get("entries", ()):
            silent = (here, entries.c.entry == name, entries.c.blame == since, entries.c.text == "")
            self.connection.execute(update(entries).where(*silent).values(text=text))
        # What is kept while the batch lasts cannot be read again: its revisions are written at the end.
        if (document := self.documents.get(event.workspace)) is not None:
            told = {(name, since): text for name, since, text in body.content.get("entries", ())}
            gone = frozenset(body.entries)
            document.rows = [(number, _after(content, gone, told)) for number, content in document.rows]

    def _say(self, row: int, text: str) -> None:
        entries = self.tables.entries
        self.connection.execute(update(entries).where(entries.c.row == row).values(text=text))

    def _document(self, workspace: str) -> _Document:
        found = self.documents.get(workspace)
        if found is None:
            entries = self.tables.entries
            in_force = prepared(entries, "in force", lambda: _in_force(entries))
            kept = {row.row: _content(row) for row in in_force.all(self.connection, workspace=workspace)}
            revisions = self.tables.revisions
            order = prepared(revisions, "order", lambda: _order(revisions)).one(self.connection, workspace=workspace)
            rows = "[]" if order is None else order.rows
            found = _Document([(number, kept[number]) for number in json.loads(rows)])
            self.documents[workspace] = found
        return found

    def _next_row(self) -> int:
        if self.last_row is None:
            statement = select(func.coalesce(func.max(self.tables.entries.c.row), 0))
            self.last_row = int(self.connection.execute(statement).scalar_one())
        self.last_row += 1
        return self.last_row


# --- statements, each made once for a table


def _decided(revisions: Table, change: dict[str, Any]) -> Update:
    values: dict[str, Any] = {name: bindparam(name) for name in change}
    return update(revisions).where(revisions.c.prepared == bindparam("at")).values(values)


def _closed(entries: Table) -> Update:
    return update(entries).where(entries.c.row == bindparam("number")).values(until=bindparam("until"))


def _open(revisions: Table) -> Select[Any]:
    statement = select(revisions.c.prepared, revisions.c.kind, revisions.c.staged).where(
        revisions.c.workspace == bindparam("workspace"),
        revisions.c.revision == bindparam("revision"),
        revisions.c.status == "prepared",
    )
    return statement.order_by(revisions.c.prepared.desc()).limit(1)


def _in_force(entries: Table) -> Select[Any]:
    return select(entries).where(entries.c.workspace == bindparam("workspace"), entries.c.until.is_(None))


def _order(revisions: Table) -> Select[Any]:
    here = (revisions.c.workspace == bindparam("workspace"), revisions.c.current_from.is_not(None))
    return select(revisions.c.rows).where(*here).order_by(revisions.c.current_from.desc()).limit(1)


# --- rows

_TEXT = 1
"""Where the text stands in a content; empty where it was erased."""


def _same(content: Content) -> Content:
    """What makes an entry the same one: all but its text, which its id stands for and an erasure takes away."""
    return (*content[:_TEXT], *content[_TEXT + 1 :])


def _saying(content: Content, text: str) -> Content:
    return (*content[:_TEXT], text, *content[_TEXT + 1 :])


def _after(content: Content, gone: frozenset[str], told: Mapping[tuple[str, int], str]) -> Content:
    """A content after an erasure: silent, or told again."""
    entry, text, since = content[:3]
    return _saying(content, "" if entry in gone else text or told.get((entry, since), ""))


def _prepared(event: LoggedEvent, body: catalogue.RevisionPrepared) -> dict[str, Any]:
    return {
        "prepared": event.position,
        "workspace": event.workspace,
        "revision": body.revision,
        "kind": body.kind,
        "parent": body.parent,
        "status": "prepared",
        "decided": None,
        "current_from": None,
        "time": event.time_text,
        "digest": body.digest,
        "base_digest": body.base_digest,
        "actor": event.actor,
        "session": event.session,
        "run": event.run,
        "job": body.job,
        "curator": body.curator,
        "restored_from": body.restored_from,
        "entries": len(body.entries),
        "inputs": _json(body.inputs),
        "receipt": _json(body.receipt),
        "overrides": _json([finding.code for finding in body.overrides]),
        "reason": None,
        "input_tokens": body.usage.input_tokens,
        "output_tokens": body.usage.output_tokens,
        "staged": None,
        "rows": "[]",
    }


def _contents(body: catalogue.RevisionPrepared) -> list[Content]:
    # After an erasure (E8) the texts are gone: the entries stay, empty, as the tombstones say.
    texts = list(body.content.get("entries", ()))
    texts.extend([""] * (len(body.entries) - len(texts)))
    return [
        (
            fact.entry,
            text,
            fact.since,
            fact.candidates,
            fact.run,
            fact.session,
            fact.messages,
            fact.actor,
            fact.trust,
            int(fact.shared),
        )
        for fact, text in zip(body.entries, texts, strict=False)
    ]


def _plain(content: list[Any]) -> Content:
    return tuple(tuple(value) if isinstance(value, list) else value for value in content)


def _opened(event: LoggedEvent, number: int, revision: int, content: Content) -> dict[str, Any]:
    entry, text, since, candidates, run, session, messages, actor, trust, shared = content
    return {
        "row": number,
        "workspace": event.workspace,
        "since": revision,
        "until": None,
        "position": event.position,
        "entry": entry,
        "text": text,
        "blame": since,
        "candidates": _json(candidates),
        "run": run,
        "session": session,
        "messages": _json(messages),
        "actor": actor,
        "trust": trust,
        "shared": shared,
    }


def _content(row: Any) -> Content:
    candidates, messages = tuple(json.loads(row.candidates)), tuple(json.loads(row.messages))
    head = (row.entry, row.text, row.blame, candidates, row.run, row.session, messages)
    return (*head, row.actor, row.trust, row.shared)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
