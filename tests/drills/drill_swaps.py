"""Eight readers during twenty swaps see no torn state, and none of them waits for a rebuild (E2)."""

from __future__ import annotations

import random
import threading
import time

from histories import Book
from plugins import TokenCost
from soak import Place
from sqlalchemy import func, select

from minutebook.domain.errors import MinutebookError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.context import Context, queries

READERS, SWAPS = 8, 20
PATIENCE_SECONDS = 300.0


class Reader(threading.Thread):
    """Reads two projections again and again, each as another process would: with connections of its own."""

    def __init__(self, url: str, done: threading.Event) -> None:
        super().__init__(daemon=True)
        self.database = Database(url, access="look", lock_timeout=30)
        self.done, self.looks, self.torn = done, 0, []  # type: ignore[var-annotated]

    def run(self) -> None:
        engine = Projections(Log(self.database), [TokenCost, Context])
        try:
            while not self.done.is_set():
                try:
                    self._look(engine)
                except MinutebookError as error:
                    # A lock that is held is waited for, and said; anything else is a torn state.
                    if error.code != "store_locked":
                        self.torn.append(error)
                self.looks += 1
        finally:
            self.database.close()

    def _look(self, engine: Projections) -> None:
        with engine.reading("token_cost") as (view, connection):
            lines = connection.execute(select(func.count()).select_from(view.lines)).scalar_one()
            total = connection.execute(select(func.sum(view.totals.c.messages))).scalar_one()
            again = connection.execute(select(func.count()).select_from(view.lines)).scalar_one()
        if not lines == total == again:
            self.torn.append((lines, total, again))
        with engine.reading("context") as (view, connection):
            shown = len(queries.visible(view, connection, "local", "s"))
            kept = connection.execute(select(func.count()).select_from(view.messages)).scalar_one()
        if shown != kept or kept < lines:
            self.torn.append((shown, kept, lines))


def drill(seed: int, place: Place) -> str:
    chance = random.Random(seed)
    readers, swaps = (3, 4) if place.short else (READERS, SWAPS)
    database = Database(place.url, lock_timeout=30)
    log = Log(database)
    book = Book(log)
    book.open("s")
    book.messages("s", ["hello"] * chance.randrange(50, 300))
    engine = Projections(log, [TokenCost, Context])
    engine.catch_up()
    done = threading.Event()
    crew = [Reader(place.url, done) for _ in range(readers)]
    for reader in crew:
        reader.start()
    try:
        for _ in range(swaps):
            book.messages("s", ["more"] * chance.randrange(1, 20))
            engine.rebuild(*chance.choice([(), ("context",), ("token_cost",)]))
            _each_looks_again(crew)
    finally:
        done.set()
        for reader in crew:
            reader.join(PATIENCE_SECONDS)
    torn = [each for reader in crew for each in reader.torn]
    assert torn == [], torn[:3]
    assert all(engine.verify(name).ok for name in engine.names)
    looks = sum(reader.looks for reader in crew)
    database.close()
    return f"{readers} readers, {swaps} swaps, {looks} looks"


def _each_looks_again(crew: list[Reader]) -> None:
    """No swap without every reader having looked since the last one."""
    before = [reader.looks for reader in crew]
    until = time.monotonic() + PATIENCE_SECONDS
    while any(reader.looks <= looked + 1 for reader, looked in zip(crew, before, strict=True)):
        assert time.monotonic() < until, "a reader waits for ever"
        assert all(reader.is_alive() for reader in crew), [reader.torn for reader in crew]
        time.sleep(0.001)
