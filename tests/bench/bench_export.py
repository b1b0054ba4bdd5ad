"""A whole log out, checked, and in again, beside a raw select that writes each row as JSON, and a raw insert (E4)."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from bench_log import Ours
from run import Table

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.export import exported
from minutebook.infrastructure.store.load import load
from minutebook.infrastructure.store.log import Log
from minutebook.verify import verify


def raw_select(database: Path, target: Path) -> None:
    """Every column of every row as one JSON line, and nothing checked."""
    connection = sqlite3.connect(database)
    with target.open("wb") as file:
        for row in connection.execute("SELECT * FROM events ORDER BY position"):
            values = [value.hex() if isinstance(value, bytes) else value for value in row]
            file.write(orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE))
    connection.close()


def raw_insert(source: Path, target: Path) -> None:
    """The lines of ``raw_select`` into a bare table, in one transaction, and nothing checked."""
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(target, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    columns = ", ".join(f"c{n}" for n in range(16))
    connection.execute(f"CREATE TABLE bare (position INTEGER PRIMARY KEY, {columns})")
    connection.execute("BEGIN")
    with source.open("rb") as lines:
        connection.executemany(f"INSERT INTO bare VALUES ({', '.join('?' * 17)})", map(orjson.loads, lines))
    connection.execute("COMMIT")
    connection.close()


def run(quick: bool) -> Iterator[Table]:
    messages = 5_000 if quick else 100_000
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="minutebook-bench-") as name:
        folder = Path(name)
        ours = Ours(folder / "book.db", messages)
        lines = folder / "log.jsonl"

        def export() -> None:
            with lines.open("wb") as file:
                file.writelines(exported(ours.log))

        def check() -> None:
            with lines.open("rb") as file:
                assert verify(file).ok

        def take_in(path: Path) -> None:
            database = Database(path)
            with lines.open("rb") as file:
                load(Log(database), file)
            database.close()

        def timed(what: str, work: Callable[[], None]) -> None:
            started = time.perf_counter()
            work()
            times[what].append((time.perf_counter() - started) / messages * 1e6)

        for number in range(3):
            timed("raw select to JSON", lambda: raw_select(folder / "book.db", folder / "raw.jsonl"))
            timed("export", export)
            timed("verify the export", check)
            timed("raw insert from JSON", lambda: raw_insert(folder / "raw.jsonl", folder / "raw.db"))
            timed("import of the log", lambda number=number: take_in(folder / f"copy{number}.db"))
        peaks = []
        for work in (export, check, lambda: take_in(folder / "last.db")):
            tracemalloc.start()
            work()
            peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
            tracemalloc.stop()
        size = lines.stat().st_size / 1e6
        ours.database.close()
    p50 = {what: statistics.median(values) for what, values in times.items()}
    table = Table(
        f"A log of {messages:,} events out and in, per event (p50 of 3)",
        ("what", "µs an event", "ratio to raw", "raw"),
        floor="sqlite3 and orjson: every row as a JSON line, and such lines into a bare table; nothing checked",
    )
    for what, base in (
        ("export", "raw select to JSON"),
        ("verify the export", "raw select to JSON"),
        ("import of the log", "raw insert from JSON"),
    ):
        table.rows.append((what, p50[what], p50[what] / p50[base], base))
    held = ", ".join(
        f"{peak:.1f} MB to {what}" for peak, what in zip(peaks, ("export", "verify", "import"), strict=True)
    )
    table.remarks = [f"The file has {size:,.0f} MB; Python held at most {held}."]
    yield table
