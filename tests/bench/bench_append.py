"""Appending: the cost at 100 and at 100,000 messages, beside raw SQLite with the same durability (M4)."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from run import Table

from minutebook import Minutebook
from minutebook.infrastructure.book import Run

TEXT = "The quick brown fox jumps over the lazy dog; the agent remembers the fox. " * 3
ROUNDS = 9
EACH = 40


def message(number: int) -> dict[str, str]:
    return {"role": "user" if number % 2 else "assistant", "content": f"{number} {TEXT}"}


def raw(path: Path) -> sqlite3.Connection:
    """The floor: one table, WAL, synchronous=FULL, nothing counted, hashed or checked."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, session TEXT, body TEXT)")
    for number in range(1_200):
        connection.execute("INSERT INTO messages (session, body) VALUES (?, ?)", ("warm", str(number)))
    return connection


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run(quick: bool) -> Iterator[Table]:
    many = 5_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        few_book, many_book = Minutebook.open(root / "few"), Minutebook.open(root / "many")
        with few_book, many_book:
            few, full = few_book.session("s").run(), many_book.session("s").run()
            fill(few, 100)
            fill(full, many)
            few_book.session("s").context(window=50_000_000)
            floor = raw(root / "raw.db")
            for book in (few_book, many_book):
                warm(book)
            yield appends(few, full, floor, many)
            floor.close()
            few.succeed()
            full.succeed()


def warm(book: Minutebook) -> None:
    """Grows the write-ahead log to where it is after a few hundred appends: while it grows each sync costs more."""
    for number in range(1_200):
        with book._runtime.log.database.projecting() as connection:
            connection.exec_driver_sql("UPDATE cursors SET heartbeat = ? WHERE name = 'context'", (str(number),))


def fill(run: Run, count: int) -> None:
    for start in range(0, count, 1_000):
        run.append([message(number) for number in range(start, min(start + 1_000, count))])


def appends(few: Run, full: Run, floor: sqlite3.Connection, many: int) -> Table:
    samples: dict[str, list[float]] = {"raw 1": [], "few 1": [], "many 1": [], "raw 100": [], "many 100": []}
    batch = [message(number) for number in range(100)]
    rows = [("s", item["content"]) for item in batch]

    def insert_batch() -> None:
        floor.execute("BEGIN IMMEDIATE")
        floor.executemany("INSERT INTO messages (session, body) VALUES (?, ?)", rows)
        floor.execute("COMMIT")

    # Interleaved, so that a noisy neighbour disturbs all alike.
    for _ in range(ROUNDS):
        for number in range(EACH):
            body = message(number)["content"]
            insert = "INSERT INTO messages (session, body) VALUES (?, ?)"
            samples["raw 1"].append(timed(lambda b=body, i=insert: floor.execute(i, ("s", b))))  # type: ignore[misc]
            samples["few 1"].append(timed(lambda n=number: few.append(message(n))))  # type: ignore[misc]
            samples["many 1"].append(timed(lambda n=number: full.append(message(n))))  # type: ignore[misc]
        for _ in range(2):
            samples["raw 100"].append(timed(insert_batch) / 100)
            samples["many 100"].append(timed(lambda: full.append(batch)) / 100)
    p50 = {name: median(values) * 1e6 for name, values in samples.items()}
    table = Table(
        "Append one message, durable (p50)",
        ("what", "µs a message", "ratio to raw"),
        floor="sqlite3, WAL, synchronous=FULL, one INSERT of the same text; nothing counted, hashed or checked",
    )
    table.rows = [
        ("raw, one", p50["raw 1"], 1.0),
        ("run.append, 100 messages in the session", p50["few 1"], p50["few 1"] / p50["raw 1"]),
        (f"run.append, {many:,} messages in the session", p50["many 1"], p50["many 1"] / p50["raw 1"]),
        ("raw, in batches of 100", p50["raw 100"], 1.0),
        (f"run.append of 100, {many:,} in the session", p50["many 100"], p50["many 100"] / p50["raw 100"]),
    ]
    table.remarks = [
        f"At {many:,} messages an append takes {p50['many 1'] / p50['few 1']:.2f} times what it takes at 100."
    ]
    return table
