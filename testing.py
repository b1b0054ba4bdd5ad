"""Is a projection sound? A check for the tests of whoever writes one (E5).

::

    from minutebook.testing import check_projection

    def test_it_is_sound():
        check_projection(TokenCost)

What a rebuild, a look at the past and ``verify`` rest on is tried on real events: the same rows at every run, however
the events are cut into batches, with nothing kept on the instance, after a batch that had to be taken back, and where
payloads were erased; then in a real book, incrementally and rebuilt.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import Connection

from .domain.errors import InputError, MinutebookError
from .domain.events import TOPICS, LoggedEvent
from .infrastructure.book import Minutebook
from .infrastructure.settings import Settings
from .infrastructure.store import overlay
from .infrastructure.store.binding import Bound, bind
from .infrastructure.store.dump import rows
from .infrastructure.store.runner import Projections
from .projections.projection import Projection

__all__ = ["Soundness", "check_projection"]

Source: TypeAlias = "Minutebook | str | Path | Sequence[Mapping[str, Any]] | None"
Rows: TypeAlias = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Soundness:
    """What a check came to: how many events the projection was given, and how many rows it made of them."""

    events: int
    rows: int
    cuts: int


def check_projection(
    projection: type[Projection], source: Source = None, *, cuts: int = 10, seed: int = 0, database: str | None = None
) -> Soundness:
    """Tries a projection on the events of ``source``; ``cuts`` ways to cut them into batches are drawn from ``seed``.

    ``source`` is a list of messages, a folder with a transcript's book or an open book (its log is copied), or None:
    a small log of our own with something of every kind. ``database`` names an empty PostgreSQL database to keep the
    book in. Raises InputError ``projection_unsound`` with what differs, ``bad_projection`` for what it declares.
    """
    bound = bind(projection)
    _check_types(bound)
    with tempfile.TemporaryDirectory(prefix="minutebook-") as folder:
        settings = Settings(curation_automatic=False)
        with Minutebook.open(Path(folder) / "book", settings=settings, database=database, automatic=False) as book:
            _fill(book, source, Path(folder))
            log = book._runtime.log
            wanted = bound.projection.topics()
            events = [each for each in log.read() if each.known and (not wanted or each.topic in wanted)]
            count = _check_rows(bound, events, cuts, random.Random(seed))
            _check_erased(bound, events)
            _check_engine(Projections(log, [projection], clock=book._runtime.clock), bound.name)
    return Soundness(len(events), count, cuts)


def _check_types(bound: Bound) -> None:
    unknown = sorted(bound.projection.topics() - TOPICS.keys())
    if unknown:
        raise _unsound(bound, f"asks for {unknown[0]!r}, and no event has that type; it would never be given one")


# --- the events


def _fill(book: Minutebook, source: Source, folder: Path) -> None:
    match source:
        case None:
            _sample(book)
        case Minutebook():
            _copy(source, book, folder)
        case str() | Path():
            with Minutebook.open(source, read_only=True) as other:
                _copy(other, book, folder)
        case _:
            session = book.session("s")
            with session.run() as run:
                run.append([dict(message) for message in source])


def _copy(source: Minutebook, book: Minutebook, folder: Path) -> None:
    source.export_log(folder / "log.jsonl")
    book.import_log(folder / "log.jsonl")


def _sample(book: Minutebook) -> None:
    """Sessions, runs that end well and badly, tools, a compaction undone, memory, a fork: something of each kind."""
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "README.md"}'}}
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "What does the README say?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "It says hello. " * 200},
        {"role": "assistant", "content": "It says hello."},
    ]
    session = book.session("sample")
    with session.run("first") as run:
        run.append(talk)
        run.append([{"role": "user", "content": f"And line {number}?"} for number in range(20)])
        run.memory({"operation": "add", "text": "The README says hello."})
        run.context(system="You read files.")
    session.run("second").fail("the line was cut")
    compaction = session.compact()["compaction"]
    if compaction is not None:
        book.undo_compaction(compaction)
    book.curate()
    with session.run("wished") as run:
        run.append({"role": "user", "content": "Remember that releases are cut on Thursdays."})
    book.curate()
    other = session.fork(id="sample-fork")
    with other.run("third") as run:
        # The forms differ in how a message says the same: an Anthropic block form, and text in another script.
        run.append({"role": "user", "content": [{"type": "text", "text": "读 README，再来一次。"}]})
        run.append({"role": "assistant", "content": [{"type": "text", "text": "Hello."}]})
    other.close()


# --- the rows


def _check_rows(bound: Bound, events: list[LoggedEvent], cuts: int, draw: random.Random) -> int:
    whole = _computed(bound, [events])
    if _computed(bound, [events]) != whole:
        raise _unsound(bound, "gives other rows for the same events at the second run; nothing but events may decide")
    one_by_one = [[event] for event in events]
    _same(bound, whole, _computed(bound, one_by_one), "one by one, each given to a new instance")
    for _ in range(cuts):
        _same(bound, whole, _computed(bound, _cut(events, draw)), "cut into batches, each given to a new instance")
    _same(bound, whole, _computed(bound, _cut(events, draw), again=True), "after each batch was taken back once")
    return sum(len(found) for found in whole.values())


def _cut(events: list[LoggedEvent], draw: random.Random) -> list[list[LoggedEvent]]:
    if len(events) < 2:
        return [events]
    places = sorted(draw.sample(range(1, len(events)), draw.randint(1, min(8, len(events) - 1))))
    return [events[a:b] for a, b in zip([0, *places], [*places, len(events)], strict=True)]


def _computed(bound: Bound, batches: list[list[LoggedEvent]], *, again: bool = False) -> Rows:
    """The rows that batches give; ``again`` takes each back and applies it anew, as after a lock that was lost."""
    with overlay.scratch(bound) as (first, connection):
        for batch in batches:
            # Tables by the same names; what an instance keeps on itself is not there for the next batch.
            fresh = bind(bound)
            if again:
                with connection.begin_nested() as taken_back:
                    _apply(fresh, batch, connection)
                    taken_back.rollback()
            _apply(fresh, batch, connection)
        return {table.name: list(rows(connection, table)) for table in first.tables}


def _apply(bound: Bound, events: Sequence[LoggedEvent], connection: Connection) -> None:
    if not events:
        return
    try:
        bound.apply(events, connection)
    except Exception as error:
        said = error.message if isinstance(error, MinutebookError) else f"{type(error).__name__}: {error}"
        where = f"between positions {events[0].position} and {events[-1].position}"
        raise _unsound(bound, f"cannot apply the events {where}: {said}") from error


def _same(bound: Bound, whole: Rows, found: Rows, how: str) -> None:
    for table, expected in whole.items():
        for left, right in zip(expected, found[table], strict=False):
            if left != right:
                raise _unsound(bound, f"gives {right!r:.200} in {table} {how}, and {left!r:.200} in one batch")
        if len(expected) != len(found[table]):
            raise _unsound(bound, f"gives {len(found[table])} rows in {table} {how}, and {len(expected)} in one batch")


def _check_erased(bound: Bound, events: list[LoggedEvent]) -> None:
    """Every payload may be gone one day, and a rebuild then still has to go through."""
    without = [
        LoggedEvent(
            event.position, event.topic, event.schema, event.envelope, event.facts, None, event.body_digest, event.chain
        )
        for event in events
    ]
    try:
        _computed(bound, [without])
    except InputError as error:
        raise _unsound(bound, f"fails where payloads were erased: {error.message}") from error


def _check_engine(engine: Projections, name: str) -> None:
    bound = engine._known(name)
    engine.catch_up(name)
    status = next(row for row in engine.status() if row.name == name)
    if status.status != "live" or status.parked:
        raise _unsound(bound, f"is {status.status} in a real book: {status.error or 'it parked events'}")
    before = engine.dump_hash(name)
    engine.rebuild(name)
    if engine.dump_hash(name) != before:
        raise _unsound(bound, "gives other rows when it is rebuilt in a real book")
    report = engine.verify(name)
    if not report.ok:
        raise _unsound(bound, f"is not what 'verify' computes: {report.detail}")


def _unsound(bound: Bound, text: str) -> InputError:
    return InputError(f"projection {bound.name!r} {text}", code="projection_unsound", projection=bound.name)
