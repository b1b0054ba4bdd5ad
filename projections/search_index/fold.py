"""Events that hold something to be found, to the rows of the search index."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, MetaData, delete, func, insert, select, update

from ...domain import catalogue
from ...domain.checks import redact_credentials
from ...domain.events import LoggedEvent
from ...domain.forms import view
from ...domain.said import original, said
from ...domain.search_query import ENTRIES, EVIDENCE, MESSAGES
from ...domain.terms import VERSION, count_terms
from ..projection import Projection
from .packing import PLACES_MAX, Key, key_of, packed, spelled, unspelled
from .tables import SearchTables


class _Waiting(NamedTuple):
    """A document of the block that is not full yet."""

    scope: int
    key: Key
    length: int
    terms: dict[str, int]


class SearchIndex(SearchTables, Projection):
    """Messages as they were recorded, claims as they were read, memory entries for as long as they were in force."""

    name = "search_index"
    version = VERSION
    event_types = frozenset(
        {
            catalogue.MessageRecorded,
            catalogue.EvidenceCollected,
            catalogue.RevisionPrepared,
            catalogue.RevisionCommitted,
            catalogue.RevisionAbandoned,
        }
    )

    def tables(self, metadata: MetaData) -> None:
        self.declare(metadata)

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        fold = _Fold(self, connection)
        for event in events:
            fold.take(event)
        fold.flush()


class _Fold:
    """One batch: documents are gathered, and written together at its end."""

    def __init__(self, tables: SearchTables, connection: Connection) -> None:
        self.tables = tables
        self.connection = connection
        self.scopes: dict[tuple[str, str, str], int] = {}
        self.documents: list[dict[str, Any]] = []
        self.waiting: list[_Waiting] = []
        last = connection.execute(select(func.max(tables.tail.c.position))).scalar()
        self.block = -1 if last is None else last // tables.block
        self.stored = last is not None
        """Whether the tail has rows of an earlier batch."""

    def take(self, event: LoggedEvent) -> None:
        block = event.position // self.tables.block
        if block != self.block:
            self._close(block)
        match event.body:
            case catalogue.MessageRecorded() as body if event.session is not None:
                self._message(event, event.session, body)
            case catalogue.EvidenceCollected() as body if event.session is not None:
                self._claims(event, event.session, body)
            case catalogue.RevisionPrepared() as body if body.kind != "displaced":
                self._stage(event, body)
            case catalogue.RevisionCommitted() as body:
                self._commit(event, body.revision)
            case catalogue.RevisionAbandoned() as body:
                self._unstaged(event.workspace, body.revision)
            case _:
                pass

    def flush(self) -> None:
        """Writes what was gathered: at the end of the batch, and before a query that must see it."""
        if self.documents:
            self.connection.execute(insert(self.tables.documents), self.documents)
            self.documents = []
        if self.waiting:
            rows = []
            for scope, key, length, terms in self.waiting:
                position, place = key >> 16, key & 0xFFFF
                row = {"scope": scope, "position": position, "place": place, "length": length}
                rows.append(row | {"terms": spelled(terms)})
            self.connection.execute(insert(self.tables.tail), rows)
            self.waiting, self.stored = [], True

    # --- documents

    def _message(self, event: LoggedEvent, session: str, body: catalogue.MessageRecorded) -> None:
        source = body.content.get("source")  # None: erased (E8)
        # A credential that a message is kept with is no term to be looked up by (D14).
        text = "" if source is None else redact_credentials(said(original(view(body.form, source).parts)))[0]
        row = {
            "ref": body.message,
            "session": session,
            "run": event.run,
            "role": body.role,
            "trust": event.envelope.trust,
            "text": None,
            "revision": None,
        }
        self._add(event, self._scope(event, MESSAGES, session), 0, text, row)

    def _claims(self, event: LoggedEvent, session: str, body: catalogue.EvidenceCollected) -> None:
        # Whether one was forgotten since is for the catalogue of evidence to say, and its text for the log.
        claims = body.content.get("content", {}).get("claims", ())  # none: erased (E8)
        for place, (fact, claim) in enumerate(zip(body.claims[:PLACES_MAX], claims, strict=False)):
            row = {
                "ref": fact.claim,
                "session": session,
                "run": event.run,
                "role": None,
                "trust": fact.trust,
                "text": None,
                "revision": None,
            }
            self._add(event, self._scope(event, EVIDENCE, session), place, claim.get("text", ""), row)

    def _add(self, event: LoggedEvent, scope: int, place: int, text: str, row: dict[str, Any]) -> None:
        counted = count_terms(text)
        head = {"position": event.position, "place": place, "scope": scope, "length": counted.length}
        time = event.time.isoformat(timespec="microseconds")
        self.documents.append(head | {"time": time, "until": None} | row)
        if counted.terms:
            self.waiting.append(_Waiting(scope, key_of(event.position, place), counted.length, counted.terms))

    def _scope(self, event: LoggedEvent, kind: str, session: str) -> int:
        name = (event.workspace, kind, session)
        found = self.scopes.get(name)
        if found is None:
            table = self.tables.scopes
            statement = select(table.c.scope).where(
                table.c.workspace == name[0], table.c.kind == kind, table.c.session == session
            )
            found = self.connection.execute(statement).scalar()
            if found is None:
                found = event.position
                row = {"scope": found, "workspace": name[0], "kind": kind, "session": session}
                self.connection.execute(insert(table), row)
            self.scopes[name] = found
        return found

    # --- entries of memory

    def _stage(self, event: LoggedEvent, body: catalogue.RevisionPrepared) -> None:
        """Keeps the entries until the revision is committed: only then are they memory."""
        texts = list(body.content.get("entries", ()))
        texts.extend([""] * (len(body.entries) - len(texts)))  # erased (E8): the entries stay, and say nothing
        entries = [
            [fact.entry, text, fact.session, fact.run, fact.trust]
            for fact, text in zip(body.entries, texts, strict=False)
        ]
        row = {"prepared": event.position, "workspace": event.workspace, "revision": body.revision}
        stored = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        self.connection.execute(insert(self.tables.staged), row | {"entries": stored})

    def _unstaged(self, workspace: str, revision: int) -> list[list[Any]] | None:
        """The entries of the prepared revision of that number, which are staged no longer; None: none is."""
        table = self.tables.staged
        here = (table.c.workspace == workspace, table.c.revision == revision)
        statement = select(table.c.entries).where(*here).order_by(table.c.prepared.desc()).limit(1)
        found = self.connection.execute(statement).scalar()
        if found is None:
            return None
        self.connection.execute(delete(table).where(*here))
        entries: list[list[Any]] = json.loads(found)
        return entries

    def _commit(self, event: LoggedEvent, revision: int) -> None:
        entries = self._unstaged(event.workspace, revision)
        if entries is None:
            return  # a displaced revision changes no entry
        self.flush()
        scope = self._scope(event, ENTRIES, "")
        table = self.tables.documents
        statement = select(table).where(table.c.scope == scope, table.c.until.is_(None))
        in_force: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
        for row in self.connection.execute(statement.order_by(table.c.position, table.c.place)):
            in_force[row.ref, row.text, row.session, row.run, row.trust].append((row.position, row.place))
        for place, (entry, text, session, run, trust) in enumerate(entries[:PLACES_MAX]):
            same = in_force.get((entry, text, session, run, trust))
            if same:
                same.pop(0)
                continue
            new = {"ref": entry, "session": session, "run": run, "role": None, "trust": trust, "text": text}
            self._add(event, scope, place, text, new | {"revision": revision})
        for position, place in sorted(gone for rows in in_force.values() for gone in rows):
            here = (table.c.position == position, table.c.place == place)
            self.connection.execute(update(table).where(*here).values(until=event.position))

    # --- blocks

    def _close(self, block: int) -> None:
        """The log has passed the block: its tail becomes postings."""
        tail = self.tables.tail
        waiting = self.waiting
        if self.stored:
            stored = [
                _Waiting(row.scope, key_of(row.position, row.place), row.length, unspelled(row.terms))
                for row in self.connection.execute(select(tail).order_by(tail.c.position, tail.c.place))
            ]
            waiting = [*stored, *waiting]
            self.connection.execute(delete(tail))
        self._write_block(waiting)
        self.waiting, self.stored, self.block = [], False, block

    def _write_block(self, waiting: Sequence[_Waiting]) -> None:
        if not waiting:
            return
        base = key_of(self.block * self.tables.block, 0)
        terms: dict[tuple[int, str], list[tuple[Key, int, int]]] = defaultdict(list)
        sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for scope, key, length, counts in waiting:
            sums[scope][0] += 1
            sums[scope][1] += length
            for term, times in counts.items():
                terms[scope, term].append((key, times, length))
        self.connection.execute(
            insert(self.tables.blocks),
            [
                {"scope": scope, "block": self.block, "documents": documents, "words": words}
                for scope, (documents, words) in sorted(sums.items())
            ],
        )
        self.connection.execute(
            insert(self.tables.postings),
            [
                {"scope": scope, "block": self.block, "term": term, "postings": packed(terms[scope, term], base)}
                for scope, term in sorted(terms)
            ],
        )
