"""A new store for every example of a property, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from histories import Book
from sqlalchemy import NullPool, create_engine, make_url

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.candidates import Candidates
from minutebook.projections.context import Context
from minutebook.projections.memory_file import MemoryFile
from minutebook.projections.projection import Projection
from minutebook.projections.revisions import Revisions
from minutebook.projections.search_index import SearchIndex


class SmallBlocks(SearchIndex):
    """Blocks so small that short histories close many."""

    block = 7


SmallBlocks.__module__ = SearchIndex.__module__  # one of our own, and no plug-in

ALL: tuple[type[Projection], ...] = (Context, Candidates, Revisions, MemoryFile, SmallBlocks)
"""The built-in projections."""


class Fresh:
    """A new store for every example: SQLite in memory, or a schema of its own on PostgreSQL."""

    def __init__(self, server: str | None, projections: tuple[type[Projection], ...] = ALL) -> None:
        self._server = server
        self._projections = projections
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
                yield Book(log), Projections(log, self._projections)
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
