"""Whatever happened: rebuilt equals incremental, the past equals a replay up to there, and both what it must mean."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from histories import HISTORIES, Book, Step
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, NullPool, create_engine, make_url

from minutebook.infrastructure.store import cursors, overlay
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.infrastructure.store.worker import Worker
from minutebook.projections import revisions
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context, history, queries
from minutebook.projections.memory_file import MemoryFile
from minutebook.projections.revisions import Revisions
from minutebook.projections.search_index import SearchIndex


class SmallBlocks(SearchIndex):
    """Blocks so small that short histories close many."""

    block = 7


ALL = (Context, Candidates, Revisions, MemoryFile, SmallBlocks)


class Fresh:
    """A new store for every example: SQLite in memory, or a schema of its own on PostgreSQL."""

    def __init__(self, server: str | None) -> None:
        self._server = server
        self._names = itertools.count(1)

    def examples(self, most: int) -> int:
        """On PostgreSQL an example costs twice as much (measured): a quarter of them there."""
        return most if self._server is None else most // 4

    @contextmanager
    def book(self) -> Iterator[tuple[Book, Projections]]:
        with self._url() as url:
            database = Database(url)
            try:
                log = Log(database)
                yield Book(log), Projections(log, ALL)
            finally:
                database.close()

    @contextmanager
    def _url(self) -> Iterator[str]:
        if self._server is None:
            yield "sqlite://"  # in memory: the properties append a great deal
            return
        name = f"example_{next(self._names)}"
        engine = create_engine(self._server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
            options = {"options": f"-csearch_path={name}"}
            yield make_url(self._server).update_query_dict(options).render_as_string(hide_password=False)
            connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def fresh(request: pytest.FixtureRequest) -> Fresh:
    return Fresh(request.getfixturevalue("postgres_url") if request.param == "postgres" else None)


def test_a_rebuild_gives_the_rows_of_incremental_projection_however_the_events_were_cut(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(40), deadline=None)
    @given(HISTORIES, st.lists(st.integers(1, 7), min_size=1, max_size=6))
    def holds(program: list[Step], cuts: list[int]) -> None:
        with fresh.book() as (written, projections):
            # given events projected in batches of odd sizes, while the history grew
            for number, steps in enumerate(_pieces(program, cuts)):
                written.play(steps)
                for name in projections.names:
                    _project_some(projections, name, cuts[number % len(cuts)])
            projections.catch_up()
            incremental = {name: projections.dump_hash(name) for name in projections.names}
            reports = [projections.verify(name) for name in projections.names]
            # when they are made again from the log
            projections.rebuild()
            # then not a byte differs, and verify had said so before
            assert {name: projections.dump_hash(name) for name in projections.names} == incremental
            assert all(report.ok for report in reports), reports
            assert {row.status for row in projections.status()} == {"live"}

    holds()


def _pieces(program: list[Step], cuts: list[int]) -> Iterator[list[Step]]:
    start = 0
    number = 0
    while start < len(program):
        size = cuts[number % len(cuts)]
        yield program[start : start + size]
        start, number = start + size, number + 1


def _project_some(projections: Projections, name: str, limit: int) -> None:
    worker = Worker(projections.database, projections.log, projections._bound[name], projections.clock)
    with projections.database.reading() as connection:
        cursor = cursors.find(connection, name)
        assert cursor is not None
        batch = worker.feed.batch(connection, cursor.position, limit=limit)
    if batch.end > cursor.position:
        worker.apply(cursor, batch)


def test_the_context_at_any_position_is_what_it_was_then(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(40), deadline=None)
    @given(HISTORIES)
    def holds(program: list[Step]) -> None:
        with fresh.book() as (written, projections):
            written.play(program)
            with projections.reading("context") as (view, connection):
                for position, sessions in written.past.items():
                    for name, expected in sessions.items():
                        found = queries.visible(view, connection, "local", name, position)
                        assert found == expected, (name, position)
                        _check_states(view, connection, name, position, expected)

    holds()


def _check_states(
    view: Context, connection: Connection, name: str, position: int, expected: list[tuple[Any, ...]]
) -> None:
    rows = history.messages(view, connection, "local", name, position)
    shown = {ref[1]: ref for ref in expected if ref[0] != "s"}
    summaries = [ref[1] for ref in expected if ref[0] == "s"]
    for row in rows:
        match row.state:
            case "original":
                assert shown[row.position] == ("m", row.position)
            case "reduced":
                assert shown[row.position] == ("r", row.position, row.reduction)
            case "compacted":
                # every hidden message is named by exactly one live summary (C5)
                assert row.position not in shown
                assert row.summary in summaries
    assert set(shown) <= {row.position for row in rows}


def test_the_past_equals_a_replay_up_to_there(fresh: Fresh) -> None:
    @settings(max_examples=fresh.examples(15), deadline=None)
    @given(HISTORIES, st.data())
    def holds(program: list[Step], data: st.DataObject) -> None:
        with fresh.book() as (written, projections):
            written.play(program)
            at = data.draw(st.sampled_from(sorted(written.past)))
            for name in ("context", "revisions"):
                bound = projections._bound[name]
                with (
                    projections.reading(name) as (live, connection),
                    projections.database.reading() as source,
                    overlay.scratch(bound) as (copy, target),
                ):
                    overlay.fold(projections.log, source, copy, target, after=0, upto=at)
                    check = _same_revision if name == "revisions" else _same_context
                    check(written, at, live, connection, copy.projection, target)

    holds()


def _same_revision(
    written: Book, at: int, live: Any, connection: Connection, replayed: Any, target: Connection
) -> None:
    now = revisions.at_position(live, connection, "local", at)
    assert now == revisions.current(replayed, target, "local")
    assert written.revision_at[at] == (0 if now is None else now.revision)
    if now is not None:
        entries = revisions.show(live, connection, "local", now.revision)
        assert entries is not None
        assert tuple(entry.text for entry in entries) == written.revisions[now.revision]


QUERIES: tuple[Callable[..., Any], ...] = (
    queries.visible,
    queries.totals,
    queries.freeze,
    queries.last_shown,
    history.messages,
    history.runs,
    history.open_run,
    history.compactions,
    history.failures,
)


def _same_context(written: Book, at: int, live: Any, connection: Connection, replayed: Any, target: Connection) -> None:
    for session in written.past[at]:
        for query in QUERIES:
            then = query(replayed, target, "local", session)
            assert query(live, connection, "local", session, at) == then, (query, session, at)
