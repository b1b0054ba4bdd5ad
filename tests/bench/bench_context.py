"""The context, now and in the past; catch-up, rebuild and verify beside a raw scan of the same rows (E2, E3)."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import orjson
from bench_append import fill, message, timed
from run import Table

from minutebook import Minutebook, Settings


def repeat(work: Callable[[], object], times: int = 15) -> float:
    return median(timed(work) for _ in range(times)) * 1e3


def run(quick: bool) -> Iterator[Table]:
    many = 2_000 if quick else 50_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with Minutebook.open(root, settings=Settings.model_validate({"context_window": 100_000})) as book:
            session = book.session("s")
            with session.run() as first:
                fill(first, many)
            began = time.perf_counter()
            session.compact()
            spent = time.perf_counter() - began
            with session.run() as second:
                second.append([message(number) for number in range(20)])
                yield contexts(book, second, many, spent)
                yield then_and_later(book, second, many)
            yield scans(book, root / ".tinyagent" / "minutebook.db")


def contexts(book: Minutebook, current: object, many: int, compaction: float) -> Table:
    session = book.session("s")
    middle = book.head // 2
    now = repeat(session.context)
    past = repeat(lambda: session.context(at=book.head - 10))
    before = repeat(lambda: session.messages(at=middle, limit=50), 7)
    table = Table(f"Context of a session of {many:,} messages, compacted (p50)", ("what", "ms", "ratio to now"))
    table.rows = [
        ("session.context(), now", now, 1.0),
        ("session.context(at=...), ten positions ago", past, past / now),
        ("the last 50 messages as of the middle", before, before / now),
        (f"one compaction of {many:,} messages, without a model", compaction * 1e3, compaction * 1e3 / now),
    ]
    return table


def then_and_later(book: Minutebook, run: Any, many: int) -> Table:
    """The same context at its time and as a past one, when the session has grown by half and was compacted again."""
    session, position = book.session("s"), book.head
    then = repeat(session.context)
    shown = session.context(at=position).digest
    for _ in range(2):
        run.append([message(number) for number in range(many // 4)])
        session.compact()
    later = repeat(lambda: session.context(at=position))
    assert session.context(at=position).digest == shown
    table = Table(f"A context of the past, {many // 2:,} messages and two compactions later (p50)",
                  ("what", "ms", "ratio to its time"))  # fmt: skip
    now = repeat(session.context)
    table.rows = [
        ("session.context(), at its time", then, 1.0),
        ("session.context(at=...), later", later, later / then),
        ("session.context(), later", now, now / then),
    ]
    return table


def scans(book: Minutebook, path: Path) -> Table:
    def raw() -> int:
        connection = sqlite3.connect(path)
        count = sum(
            1 for row in connection.execute("SELECT facts, payload FROM events") if orjson.loads(row[0]) is not None
        )
        connection.close()
        return count

    floor = median(timed(raw) for _ in range(3))
    rebuild = timed(lambda: book.projections.rebuild("context"))
    check = timed(book.verify)
    events = book.head
    table = Table(
        f"Replaying {events:,} events",
        ("what", "events/s", "ratio to raw"),
        floor="sqlite3, SELECT facts and payload of every row, orjson.loads of the facts",
    )
    table.rows = [
        ("raw scan", events / floor, 1.0),
        ("rebuild of the context projection", events / rebuild, rebuild / floor),
        ("verify: chain, digests, all projections recomputed", events / check, check / floor),
    ]
    return table
