"""Finding what was said and what is remembered: ranked, with its source, never beyond the scope asked in (D17)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from ...domain import ranking
from ...domain.errors import InputError, MinutebookError
from ...domain.events import LoggedEvent
from ...domain.passage import best_passage
from ...domain.ranking import Collection
from ...domain.said import said
from ...domain.search_query import ENTRIES, KINDS, MESSAGES, QUERY_CHARS_MAX, Query, holds, parse_query
from ...domain.terms import sequence
from ...domain.whole_numbers import whole_number
from ...projections import search_index as index
from ...projections.context import queries as context
from ...projections.search_index.packing import Key
from . import conversation, looking
from .runtime import Runtime
from .search_texts import Texts
from .visible import message_of

LIMIT_MAX = 1_000
"""Hits of one search."""
AROUND_MAX = 20
"""Neighbours of a hit on either side."""
TERMS_MAX = 64
"""Terms that a query is ranked by: of more the longest, which are most often the rare ones."""
TEXT_CHARS_MAX = 20_000
"""Of a longer text a hit holds a piece, around what was looked for; ``offset`` says where it begins."""
PASSAGE_CHARS = 300
"""The piece of a hit that a person is shown."""
LOOKED_AT = 100
"""Documents whose factors are looked up at a time, the best by words first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: where, what kinds, how many, and what a hit must have."""

    query: Query
    kinds: tuple[str, ...]
    limit: int = 10
    session: str | None = None
    role: str | None = None
    run: str | None = None
    since: str | None = None
    until: str | None = None
    at: int | None = None
    around: int = 0
    meaning: bool | None = False
    """Ranked by likeness of meaning as well as by words; None: where that is possible."""
    text: str = ""

    @property
    def filtered(self) -> bool:
        return any(value is not None for value in (self.role, self.run, self.since, self.until))


@dataclass(frozen=True, slots=True)
class Hit:
    """A document with its score and what it is made of."""

    key: Key
    score: float
    factors: Mapping[str, float]
    document: index.Document


def wanted(
    runtime: Runtime,
    query: Any,
    *,
    kind: Any = None,
    limit: Any = 10,
    session: str | None = None,
    role: Any = None,
    run: Any = None,
    since: Any = None,
    until: Any = None,
    at: int | None = None,
    around: Any = 0,
    meaning: Any = None,
) -> Wanted:
    """What a caller asks for, checked. Raises InputError ``bad_value``, ``bad_option``, ``unknown_position``,
    ``no_embedder``; SessionError ``unknown_session``.
    """
    if not isinstance(query, str):
        raise InputError(f"a query is text, not {type(query).__name__}; give the words to look for", code="bad_value")
    for name, value in (("role", role), ("run", run)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be text, not {type(value).__name__}", code="bad_option")
    if meaning not in (None, True, False):
        raise InputError(f"meaning is True, False or None, not {ascii(meaning)[:60]}", code="bad_option")
    if meaning and runtime.meaning is None:
        raise InputError(
            'this book has no embedder to rank by meaning; set embedder = "wordllama" (pip install '
            "'minutebook[vectors]'), or open it with embed=",
            code="no_embedder",
        )
    if session is not None:
        conversation.require_session(runtime, session)
    runtime.require_position(at)
    return Wanted(
        parse_query(query),
        _kinds(kind, session),
        whole_number(limit, "limit", least=1, most=LIMIT_MAX),
        session,
        role,
        run,
        looking.moment(since),
        looking.moment(until),
        at,
        whole_number(around, "around", most=AROUND_MAX),
        meaning if runtime.meaning is not None else False,
        query[:QUERY_CHARS_MAX],
    )


def _kinds(kind: Any, session: str | None) -> tuple[str, ...]:
    """One kind, or several with ``/`` or as a list; nothing named: all, and in one session its messages."""
    if kind is None:
        return KINDS if session is None else (MESSAGES,)
    names = kind.replace(",", "/").split("/") if isinstance(kind, str) else kind
    if not isinstance(names, Iterable) or not (found := [str(name).strip() for name in names]):
        found = [str(kind)]
    for name in found:
        if name not in KINDS:
            raise InputError(
                f"there is nothing of the kind {ascii(name)[:60]} to search; the kinds are {', '.join(KINDS)}",
                code="bad_option",
            )
    return tuple(dict.fromkeys(found))


def search(runtime: Runtime, asked: Wanted) -> list[dict[str, Any]]:
    """The hits, best first, each with its source; an empty list where nothing fits or the query has no word."""
    segments = _segments(runtime, asked)
    texts = Texts(runtime)
    with runtime.projections.reading("search_index") as (view, connection):
        within = index.scopes(view, connection, runtime.workspace, asked.kinds, segments, asked.at)
        ranked = _Ranking(runtime, view, connection, asked, within, None if segments is None else dict(segments), texts)
        hits = ranked.hits()
        around = {hit.key: _around(view, connection, within, hit.document, asked.around) for hit in hits}
    return _answers(runtime, asked, hits, around, texts)


def _segments(runtime: Runtime, asked: Wanted) -> list[tuple[str, int | None]] | None:
    if asked.session is None:
        return None
    with runtime.projections.reading("context") as (view, connection):
        return context.lineage(view, connection, runtime.workspace, asked.session, asked.at)


class _Ranking:
    """One search over one snapshot of the index."""

    def __init__(
        self,
        runtime: Runtime,
        view: Any,
        connection: Connection,
        asked: Wanted,
        within: Sequence[index.Scope],
        segments: Mapping[str, int | None] | None,
        texts: Texts,
    ) -> None:
        self.runtime = runtime
        self.view = view
        self.connection = connection
        self.asked = asked
        self.within = within
        self.segments = segments
        self.texts = texts

    def hits(self) -> list[Hit]:
        """The best hits, by words alone or by meaning too."""
        asked = self.asked
        if asked.meaning is False or not asked.query.terms:
            return self.best(asked.limit)
        try:
            likeness = self._by_meaning()
        except MinutebookError:
            # Who did not insist on meaning still gets what words can find; 'projections list' names the trouble.
            if asked.meaning:
                raise
            return self.best(asked.limit)
        return self._fused(likeness)

    def _fused(self, likeness: Mapping[Key, float]) -> list[Hit]:
        """Two rankings made one."""
        asked = self.asked
        by_words = {hit.key: hit for hit in self.best(max(asked.limit, ranking.DEPTH))}
        others = [key for key in likeness if key not in by_words]
        documents = index.documents(self.view, self.connection, others)
        found = {key: Hit(key, 0.0, {}, documents[key]) for key in others if key in documents}
        found = by_words | {hit.key: hit for hit in self._shown(list(found.values()))}
        by_meaning = [key for key in likeness if key in found]
        scores = ranking.fused(list(by_words), by_meaning)
        best = heapq.nlargest(asked.limit, ((score, key) for key, score in scores.items()))
        ranks = {key: rank for rank, key in enumerate(by_words, 1)}
        places = {key: rank for rank, key in enumerate(by_meaning, 1)}
        return [
            Hit(
                key,
                round(score, 6),
                {
                    **found[key].factors,
                    "words_rank": ranks.get(key, 0),
                    "meaning_rank": places.get(key, 0),
                    "likeness": round(likeness.get(key, 0.0), 6),
                },
                found[key].document,
            )
            for score, key in best
        ]

    def _by_meaning(self) -> dict[Key, float]:
        """The documents most alike, the best first. Raises what stands in the way: a halted projection, an embedder."""
        asked, runtime = self.asked, self.runtime
        assert runtime.meaning is not None
        generation = runtime.generation("search_vectors")
        entries = index.entries(self.view, self.connection, self.within, asked.session)
        with runtime.projections.reading("search_vectors") as (view, connection):
            return dict(
                runtime.meaning.best(
                    view, connection, generation, asked.text,
                    messages=MESSAGES in asked.kinds, segments=self.segments, at=asked.at, entries=entries,
                    passing=self._filter() if asked.filtered else None,
                )
            )  # fmt: skip

    def best(self, limit: int) -> list[Hit]:
        """The best hits by words, in order."""
        scores = self._scores()
        if not scores:
            return []
        newest = self._newest(scores)
        looked_at = LOOKED_AT
        while True:
            top = heapq.nlargest(looked_at + 1, ((score, key) for key, score in scores.items()))
            hits = self._weighed(top[:looked_at], newest)
            best = heapq.nlargest(limit, hits, key=lambda hit: (hit.score, hit.key))
            # What stands lower by words than its factors can make up for needs no look.
            enough = len(best) == limit and top[-1][0] * ranking.FACTOR_MAX < best[-1].score
            if len(top) <= looked_at or enough:
                return best
            looked_at *= 4

    def _scores(self) -> dict[Key, float]:
        """BM25 of every document that holds a term, and all that is required."""
        terms = self._terms()
        if not terms or not self.within:
            return {}
        found = index.candidates(self.view, self.connection, self.within, terms, self.asked.session)
        collection = Collection(found.documents, found.words)
        scores: dict[Key, float] = {}
        for term in terms:
            lists = found.postings[term]
            holding = sum(len(rows) for _, rows in lists)
            if holding:
                weight = collection.weight(holding)
                for base, rows in lists:
                    collection.add(scores, weight, base, rows)
        for term in self.asked.query.required:
            having = {base + row[0] for base, rows in found.postings[term] for row in rows}
            scores = {key: score for key, score in scores.items() if key in having}
        return self._passing(scores)

    def _terms(self) -> list[str]:
        query = self.asked.query
        if len(query.terms) <= TERMS_MAX:
            return list(query.terms)
        longest = sorted(query.terms, key=len, reverse=True)[:TERMS_MAX]
        return list(dict.fromkeys((*longest, *query.required)))

    def _passing(self, scores: dict[Key, float]) -> dict[Key, float]:
        if not self.asked.filtered or not scores:
            return scores
        passing = self._filter()
        return {key: score for key, score in scores.items() if key in passing}

    def _filter(self) -> set[Key]:
        asked = self.asked
        return index.holding(
            self.view, self.connection, self.within,
            role=asked.role, run=asked.run, since=asked.since, until=asked.until,
        )  # fmt: skip

    def _newest(self, scores: Mapping[Key, float]) -> datetime:
        key = max(scores)
        return datetime.fromisoformat(index.documents(self.view, self.connection, [key])[key].time)

    def _weighed(self, scored: Sequence[tuple[float, Key]], newest: datetime) -> list[Hit]:
        found = index.documents(self.view, self.connection, [key for _, key in scored])
        hits = []
        for score, key in scored:
            document = found[key]
            factors = {
                "bm25": round(score, 6),
                "recency": round(ranking.recency(datetime.fromisoformat(document.time), newest), 6),
                "trust": ranking.TRUST[document.trust],
            }
            whole = score * factors["recency"] * factors["trust"]
            hits.append(Hit(key, round(whole, 6), factors, document))
        return self._shown(hits)

    def _shown(self, hits: list[Hit]) -> list[Hit]:
        """Those that may be shown, and that hold every phrase word for word."""
        keys = self.texts.shown(hit.document for hit in hits)
        hits = [hit for hit in hits if hit.key in keys]
        phrases = self.asked.query.phrases
        if not phrases:
            return hits
        texts = self.texts.of(hit.document for hit in hits)
        kept = []
        for hit in hits:
            words = sequence(texts.get(hit.key, ""))
            if all(holds(words, phrase) for phrase in phrases):
                kept.append(hit)
        return kept


def _around(
    view: Any, connection: Connection, within: Sequence[index.Scope], document: index.Document, around: int
) -> tuple[list[int], list[int]]:
    if not around or document.kind != MESSAGES:
        return [], []
    scope = next(scope for scope in within if scope.kind == MESSAGES and scope.session == document.session)
    return index.neighbours(view, connection, scope, document.position, around)


def _answers(
    runtime: Runtime,
    asked: Wanted,
    hits: Sequence[Hit],
    around: Mapping[Key, tuple[list[int], list[int]]],
    found: Texts,
) -> list[dict[str, Any]]:
    texts = found.of(hit.document for hit in hits)
    near = runtime.log.at(position for sides in around.values() for side in sides for position in side)
    answers = []
    for hit in hits:
        if hit.key not in texts:
            continue
        answer = _answer(asked, hit, texts[hit.key]) | found.source(hit.document)
        if asked.around:
            before, after = around[hit.key]
            answer["before"] = [_neighbour(near[position]) for position in before]
            answer["after"] = [_neighbour(near[position]) for position in after]
        answers.append(answer)
    return answers


def _answer(asked: Wanted, hit: Hit, text: str) -> dict[str, Any]:
    document, terms = hit.document, frozenset(asked.query.terms)
    whole = best_passage(text, terms, TEXT_CHARS_MAX)
    shown = text[whole.start : whole.end]
    piece = best_passage(shown, terms, PASSAGE_CHARS)
    return {
        "score": hit.score,
        "kind": document.kind,
        "id": document.ref,
        "position": document.position,
        "text": shown,
        "session": document.session,
        "run": document.run,
        "role": document.role,
        "trust": document.trust,
        "time": document.time,
        "offset": whole.start,
        "characters": len(text),
        "passage": shown[piece.start : piece.end],
        "words": list(whole.words),
        "factors": dict(hit.factors),
        **({"revision": document.revision, "until": document.until} if document.kind == ENTRIES else {}),
    }


def _neighbour(event: LoggedEvent) -> dict[str, Any]:
    message = message_of(event)
    return {"position": event.position, "id": message.id, "role": message.role, "text": said(message.parts)}
