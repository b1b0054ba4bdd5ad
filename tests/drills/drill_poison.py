"""A poison event in each built-in projection: it halts that one, says so everywhere, and retry or skip mends it (E6).

Odd seeds: an event whose facts fit nothing, as a faulty writer would leave it, is passed over by a skip. Even seeds:
code that cannot bear a sound event is mended, and tried again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from histories import Book
from soak import Place
from sqlalchemy import Connection

from minutebook.domain.errors import StoreError
from minutebook.domain.events import Envelope, LoggedEvent
from minutebook.domain.streams import session_stream
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import EnvelopedEvent, timestamp
from minutebook.infrastructure.store.runner import By, Projections, Status
from minutebook.projections.projection import Projection


def drill(seed: int, place: Place) -> str:
    chance = random.Random(seed)
    poisoned = 0
    for number, kind in enumerate(BUILT_IN):
        url = place.url if not place.sqlite else place.url.replace("book.db", f"{kind.name}.db")
        if not place.sqlite and number:
            _empty(url)
        database = Database(url)
        try:
            log = Log(database)
            book = Book(log)
            _grow(book, chance, 8 if place.short else 25)
            if seed % 2:
                _unreadable(log, book, kind, chance)
            else:
                _unbearable(log, book, kind, chance)
            poisoned += 1
        finally:
            database.close()
    return f"{poisoned} projections poisoned"


def _grow(book: Book, chance: random.Random, steps: int) -> None:
    book.play([(chance.randrange(30), chance.randrange(41), chance.randrange(41)) for _ in range(steps)])
    book.revise(chance.randrange(9), 1)
    book.forget(f"what was said {steps} times")


def _unreadable(log: Log, book: Book, kind: type[Projection], chance: random.Random) -> None:
    engine = Projections(log, BUILT_IN)
    engine.catch_up()
    topic = chance.choice(sorted(kind().topics()))
    takers = {each.name for each in BUILT_IN if topic in each().topics()}
    stream = session_stream("local", "written by somebody else")
    envelope = Envelope(stream, 1, "local", engine.clock(), "agent", "s")
    facts = chance.choice([b'{"no": "such facts"}', b"[1]", b'{"message": 5}', b"null"])
    (position,) = log.append_stored([
        EnvelopedEvent(stream, 1, topic, facts, envelope=envelope, time=timestamp(envelope.time))
    ])  # fmt: skip
    _grow(book, chance, 4)
    engine.catch_up()
    # then those that take such events stand before it, by name, and the others are at the head
    rows = _rows(engine)
    for name, row in rows.items():
        if name in takers:
            # The memory file holds its cursor before what the file does not reflect, wherever the poison is.
            assert row.status == "halted", row
            assert row.cursor == position - 1 or (name == "memory_file" and row.cursor < position), row
            assert row.error is not None
            assert f"position {position} ({topic})" in row.error
            assert not engine.verify(name).ok
            _refused(engine, name)
        elif name not in takers and name != "memory_file":
            assert (row.status, row.lag) == ("live", 0), row
    # a skip with a reason lets it go on; verify and the list go on naming what is missing
    for name in sorted(takers):
        while _rows(engine)[name].status == "halted":
            engine.skip(name, By("person", f"seed {position}"))
        found = _rows(engine)[name]
        if found.skipped:
            assert position in found.skipped
            report = engine.verify(name)
            assert not report.ok
            assert f"{position}" in report.detail
            before = engine.dump_hash(name)
            engine.rebuild(name)
            assert engine.dump_hash(name) == before, "a rebuild passes over it too"
    skips = [event for event in log.read(after=position) if event.topic == "ProjectionSkipped"]
    assert all(event.actor == "person" and event.body.content["reason"] for event in skips)


def _unbearable(log: Log, book: Book, kind: type[Projection], chance: random.Random) -> None:
    events = [event for event in log.read() if event.topic in kind().topics()]
    bad = chance.choice(events).position
    faulty = {"on": True}

    class Faulty(kind):  # type: ignore[misc,valid-type]
        def apply(self, given: Sequence[LoggedEvent], connection: Connection) -> None:
            if faulty["on"] and any(event.position == bad for event in given):
                raise ZeroDivisionError("a fault of the code")
            super().apply(given, connection)

    engine = Projections(log, [Faulty, *(each for each in BUILT_IN if each is not kind)])
    engine.catch_up()
    rows = _rows(engine)
    row = rows[kind.name]
    reached = row.status == "halted"
    if reached:
        assert row.cursor == bad - 1
        assert "ZeroDivisionError: a fault of the code" in str(row.error)
        assert not engine.verify(kind.name).ok
        _refused(engine, kind.name)
        assert engine.retry(kind.name).status == "halted", "tried again with the fault it stands where it stood"
    assert all(other.status == "live" for name, other in rows.items() if name != kind.name)
    _grow(book, chance, 3)
    # mended, it goes on, and is what it would have been without the fault
    faulty["on"] = False
    found = engine.retry(kind.name)
    assert found.status in ("live", "building"), found
    assert engine.verify(kind.name).ok
    plain = engine.dump_hash(kind.name)
    engine.rebuild(kind.name)
    if kind.name != "memory_file":
        assert engine.dump_hash(kind.name) == plain


def _refused(engine: Projections, name: str) -> None:
    with pytest.raises(StoreError) as caught, engine.reading(name):
        pass
    assert caught.value.code == "projection_halted"
    assert f"projections retry {name}" in caught.value.message


def _rows(engine: Projections) -> dict[str, Status]:
    return {row.name: replace(row) for row in engine.status()}


def _empty(url: str) -> None:
    from sqlalchemy import NullPool, create_engine

    engine: Any = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
