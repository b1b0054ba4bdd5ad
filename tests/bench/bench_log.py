"""The log without the book: append at 100 and at 100,000 messages, read, verify, beside the raw driver (M4).

The variants run interleaved and shuffled on the same disk, so that the noise of a shared machine falls on all
alike. The floor writes the same rows into a table without index, guard or chain.
"""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from run import Table

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import MinutebookMapper, OrjsonTranscoder
from minutebook.infrastructure.store.rows import sqlite_row
from minutebook.infrastructure.store.verification import verify_log

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "A message of some length, as an agent writes them all day long. " * 6
BATCH = 100


def message(number: int) -> MessageRecorded:
    return MessageRecorded(
        message=f"m{number}",
        role="assistant",
        form="openai",
        tokens=96,
        counter="estimate-1",
        size=len(TEXT),
        envelope=Envelope(message_stream("local", "bench", f"m{number}"), 1, "local", WHEN, "agent", "bench", "r1"),
        payload=encode_payload({"source": {"role": "assistant", "content": TEXT}}),
    )


class Ours:
    """A log that is already so long."""

    def __init__(self, path: Path, messages: int) -> None:
        self.database = Database(path)
        self.log = Log(self.database)
        self.next = 1
        while self.next <= messages:
            size = min(1_000, messages + 1 - self.next)
            self.log.append([message(self.next + n) for n in range(size)])
            self.next += size

        # A write-ahead log that still grows makes each sync twice as slow (measured), whatever stands in the log.
        # So every file is first brought to where a book is after its first few hundred appends.
        with self.database.projecting() as connection:
            connection.exec_driver_sql("INSERT INTO leases VALUES ('warm', 'bench', 0, '')")
        for number in range(1_200):
            with self.database.projecting() as connection:
                connection.exec_driver_sql("UPDATE leases SET fence = ?", (number,))

    def append(self, size: int) -> float:
        events = [message(self.next + n) for n in range(size)]
        self.next += size
        started = time.perf_counter()
        self.log.append(events)
        return time.perf_counter() - started


class Floor:
    """The same rows, ready made, into a bare table."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        columns = ", ".join(f"c{n}" for n in range(16))
        self.connection.execute(f"CREATE TABLE bare (position INTEGER PRIMARY KEY, {columns})")
        self.mapper = MinutebookMapper(OrjsonTranscoder())
        self.next = 1
        for _ in range(12):
            self.append(BATCH)

    def append(self, size: int) -> float:
        rows = [
            sqlite_row(self.next + n, self.mapper.to_stored_event(message(self.next + n)), bytes(32))
            for n in range(size)
        ]
        self.next += size
        run = self.connection.execute
        started = time.perf_counter()
        run("BEGIN IMMEDIATE")
        self.connection.executemany(f"INSERT INTO bare VALUES ({', '.join('?' * 17)})", rows)
        run("COMMIT")
        return time.perf_counter() - started


def measure(rounds: int, messages: int, folder: Path) -> dict[str, list[float]]:
    """Microseconds per event of every append, by variant. The short log grows to a few hundred messages meanwhile."""
    large, floor = Ours(folder / "large.db", messages), Floor(folder / "floor.db")
    small = Ours(folder / "small.db", 100)
    times: dict[str, list[float]] = defaultdict(list)
    dice = random.Random(1)
    for _ in range(rounds):
        variants: list[tuple[str, Callable[[int], float], int, int]] = [
            ("100 messages, one at a time", small.append, 1, 30),
            (f"{messages:,} messages, one at a time", large.append, 1, 30),
            ("raw SQLite, one at a time", floor.append, 1, 30),
            (f"{messages:,} messages, {BATCH} at a time", large.append, BATCH, 3),
            (f"raw SQLite, {BATCH} at a time", floor.append, BATCH, 3),
        ]
        dice.shuffle(variants)
        # One append of each in turn, so that a slow moment of the disk meets all of them.
        for step in range(30):
            for name, append, size, repeat in variants:
                if step < repeat:
                    times[name].append(append(size) / size * 1e6)
    small.database.close()
    times |= reading(large)
    large.database.close()
    floor.connection.close()
    return times


def reading(large: Ours) -> dict[str, list[float]]:
    """Microseconds per event to read, decode and verify the whole log."""
    times: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, work: Callable[[], Any]) -> None:
        started = time.perf_counter()
        work()
        times[name].append((time.perf_counter() - started) / (large.next - 1) * 1e6)

    def raw() -> None:
        with large.database.reading() as connection:
            cursor: Any = connection.connection.cursor()
            for _ in cursor.execute("SELECT * FROM events ORDER BY position"):
                pass

    for _ in range(3):
        timed("raw SQLite, select all", raw)
        timed("read", lambda: [None for _ in large.log.read()])
        timed("read with bodies", lambda: [event.body for event in large.log.read(limit=20_000)])
        timed("verify_log", lambda: verify_log(large.log))
    times["read with bodies"] = [value * (large.next - 1) / 20_000 for value in times["read with bodies"]]
    return times


def run(quick: bool) -> Iterator[Table]:
    messages = 5_000 if quick else 100_000
    with tempfile.TemporaryDirectory(prefix="minutebook-bench-") as folder:
        times = measure(3 if quick else 10, messages, Path(folder))
    p50 = {name: statistics.median(values) for name, values in times.items()}
    raw, all_rows = "raw SQLite, one at a time", "raw SQLite, select all"
    against = {
        "100 messages, one at a time": raw,
        f"{messages:,} messages, one at a time": raw,
        f"{messages:,} messages, {BATCH} at a time": f"raw SQLite, {BATCH} at a time",
        "read": all_rows,
        "read with bodies": all_rows,
        "verify_log": all_rows,
    }
    table = Table(
        "The log alone, per event (p50)",
        ("what", "µs an event", "ratio to raw", "raw"),
        floor="sqlite3, WAL, synchronous=FULL: the same rows, ready made, into a bare table of as many columns",
    )
    table.rows = [(name, p50[name], p50[name] / p50[base], base) for name, base in against.items()]
    few, many = p50["100 messages, one at a time"], p50[f"{messages:,} messages, one at a time"]
    table.remarks = [f"At {messages:,} messages an append takes {many / few:.2f} times what it takes at 100."]
    yield table
