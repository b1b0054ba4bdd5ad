"""What the hits of a search say, and which are shown no more: what was erased, what was forgotten (D16, D17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...domain.forgetting import blocking
from ...domain.said import said
from ...domain.search_query import ENTRIES, EVIDENCE
from ...projections import evidence as catalogue
from ...projections.evidence import ClaimRow
from ...projections.search_index import Document
from ...projections.search_index.packing import Key
from .forgetting import Learning
from .runtime import Runtime
from .visible import message_of

CHUNK = 400
"""Positions in one IN."""


class Texts:
    """The texts of documents, for one search."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._claims: dict[Key, ClaimRow | None] = {}
        self._blocks = Learning(runtime).blocks

    def shown(self, documents: Iterable[Document]) -> set[Key]:
        """Those that may be shown: no claim and no entry that was forgotten, and no claim that was erased."""
        documents = list(documents)
        claims = self._read(documents)
        blocks = self._blocks() if any(document.kind == ENTRIES for document in documents) else []
        keys = set()
        for document in documents:
            if document.kind == EVIDENCE:
                row = claims.get(document.key)
                shown = row is not None and bool(row.text)
            elif document.kind == ENTRIES:
                named = any(block.target == document.ref for block in blocks)
                shown = not named and blocking(blocks, document.text or "") is None
            else:
                shown = True
            if shown:
                keys.add(document.key)
        return keys

    def of(self, documents: Iterable[Document]) -> dict[Key, str]:
        """What each says: a message from the log, a claim from the catalogue of evidence, an entry from the index."""
        documents = list(documents)
        claims = self._read(documents)
        logged = [one for one in documents if one.text is None and one.kind != EVIDENCE]
        events = self._runtime.log.at(document.position for document in logged)
        found: dict[Key, str] = {}
        for document in documents:
            if document.text is not None:
                found[document.key] = document.text
            elif document.kind == EVIDENCE:
                row = claims.get(document.key)
                if row is not None and row.text:
                    found[document.key] = row.text
            elif (event := events.get(document.position)) is not None and not event.erased:
                found[document.key] = said(message_of(event).parts)
        return found

    def source(self, document: Document) -> dict[str, Any]:
        """What only a claim has: its packet, how it stands, and the messages that it rests on."""
        row = self._claims.get(document.key)
        if row is None:
            return {}
        return {"evidence": row.packet, "claim": row.kind, "state": row.state, "messages": list(row.messages)}

    def _read(self, documents: Iterable[Document]) -> Mapping[Key, ClaimRow | None]:
        wanted = {one.ref: one for one in documents if one.kind == EVIDENCE and one.key not in self._claims}
        if wanted:
            runtime = self._runtime
            with runtime.projections.reading("evidence") as (view, connection):
                rows = {
                    row.claim: row
                    for chunk in _chunks(sorted({one.position for one in wanted.values()}))
                    for row in catalogue.claims(view, connection, runtime.workspace, positions=chunk)
                }
            self._claims |= {one.key: rows.get(name) for name, one in wanted.items()}
        return self._claims


def _chunks(values: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]
