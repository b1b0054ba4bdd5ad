"""Rebuild, verify and catch-up of a large log beside a raw select of the same rows, on both databases (E1, E2).

The floor is what anybody must at least do to replay a log: ``SELECT *`` of all its rows through the plain driver, and
orjson decoding the facts of each. Payloads are read with the rows; nobody decodes them, the rebuild neither. Every
measurement is a process of its own, so that its peak of memory is its own, and the floor is measured before and after.
The time of a server's processes is in the wall time only.

The search index reads and cuts up the words of every message: it is measured apart, over a tenth of the events.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / ".package"), str(HERE), str(HERE.parent / "support")]

import orjson  # noqa: E402
from large_logs import Row, grow, template  # noqa: E402
from peak import peak_mb  # noqa: E402
from run import Table  # noqa: E402
from servers import a_server  # noqa: E402
from sqlalchemy import make_url  # noqa: E402

from minutebook.infrastructure.book.catalogue import BUILT_IN  # noqa: E402
from minutebook.infrastructure.store import cursors  # noqa: E402
from minutebook.infrastructure.store.database import Database  # noqa: E402
from minutebook.infrastructure.store.log import Log  # noqa: E402
from minutebook.infrastructure.store.runner import Projections  # noqa: E402
from minutebook.infrastructure.store.verification import verify_log  # noqa: E402
from minutebook.infrastructure.store.worker import Worker  # noqa: E402
from minutebook.projections.search_index import SearchIndex  # noqa: E402

ROWS = tuple(each for each in BUILT_IN if each is not SearchIndex)
"""The projections that take facts, not words."""
SINGLE = 3_000
"""Events that are caught up one a transaction."""


# --- one measurement, in a process of its own


def raw(url: str) -> int:
    """The floor: every row whole, its facts decoded."""
    count = 0
    with raw_cursor(url) as cursor:
        for row in cursor.execute("SELECT * FROM events ORDER BY position"):
            orjson.loads(row[12])
            count += 1
    return count


@contextmanager
def raw_cursor(url: str) -> Iterator[Any]:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        import sqlite3

        plain = sqlite3.connect(parsed.database or "")
        yield plain
        plain.close()
        return
    import psycopg

    text = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(text) as connection, connection.cursor("floor", binary=True) as cursor:
        cursor.itersize = 2_000

        class Streaming:
            def execute(self, statement: str) -> Any:
                return cursor.execute(statement.encode())

        yield Streaming()


def measured(url: str, what: str) -> dict[str, float]:
    database = Database(url)
    log = Log(database)
    projections = Projections(log, [SearchIndex] if "index" in what else ROWS)

    def verify_rows() -> None:
        for name in projections.names:
            report = projections.verify(name)
            assert report.ok, report

    def verify_chain() -> None:
        report = verify_log(log)
        assert report.ok, report

    def verify_all() -> None:
        verify_chain()
        verify_rows()

    work: dict[str, Callable[[], Any]] = {
        "raw": lambda: raw(url),
        "catch up": projections.catch_up,
        "rebuild context": lambda: projections.rebuild("context"),
        "rebuild all": projections.rebuild,
        "verify log": verify_chain,
        "verify projections": verify_rows,
        "verify": verify_all,
        "catch up the index": projections.catch_up,
        "rebuild the index": projections.rebuild,
        "verify the index": verify_rows,
    }
    began, cpu = time.perf_counter(), time.process_time()
    work[what]()
    spent = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    database.close()
    return {**spent, "rss": peak_mb()}


def apart(url: str, what: str) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).resolve()), url, what]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# --- the tables

STEPS = ("rebuild context", "rebuild all", "verify log", "verify projections", "verify")
INDEX_STEPS = ("catch up the index", "rebuild the index", "verify the index")


def scans(url: str, events: int, kind: str, steps: tuple[str, ...] = STEPS) -> Table:
    if steps is STEPS:
        apart(url, "catch up")
    floors = [apart(url, "raw")]
    results = {}
    for step in steps:
        results[step] = apart(url, step)
        floors.append(apart(url, "raw"))
    wall, cpu = median(one["wall"] for one in floors), median(one["cpu"] for one in floors)
    table = Table(
        f"Rebuild and verify of {events:,} events{'' if steps is STEPS else ', the search index alone'}, {kind}",
        ("what", "seconds", "events/s", "ratio to raw", "ratio of own CPU", "peak MB"),
        floor="SELECT * of all events through the plain driver, orjson.loads of the facts of each",
    )
    table.rows = [("raw", wall, events / wall, 1.0, 1.0, max(one["rss"] for one in floors))]
    table.rows += [
        (step, one["wall"], events / one["wall"], one["wall"] / wall, one["cpu"] / cpu, one["rss"])
        for step, one in results.items()
    ]
    return table


def catching_up(url: str, events: int, kind: str) -> Table:
    """The context projection: one event a transaction, and batch by batch, beside the same rows by the driver."""
    database = Database(url)
    log = Log(database)
    Projections(log, [each for each in BUILT_IN if each.name != "context"]).drop("context")
    projections = Projections(log, BUILT_IN)
    worker = Worker(database, log, projections._bound["context"], projections.clock)
    began = time.perf_counter()
    for _ in range(SINGLE):
        with database.reading() as connection:
            cursor = cursors.find(connection, "context")
            assert cursor is not None
            batch = worker.feed.batch(connection, cursor.position, limit=1)
        worker.apply(cursor, batch)
    single = SINGLE / (time.perf_counter() - began)
    began = time.perf_counter()
    projections.catch_up("context")
    many = (events - SINGLE) / (time.perf_counter() - began)
    with database.reading() as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM context_messages ORDER BY position")]
    floor_single, floor_many = floor_of_rows(database, rows[:SINGLE], 1), floor_of_rows(database, rows, 2_000)
    database.close()
    table = Table(
        f"Catch-up of the context projection, {kind}",
        ("what", "events/s", "ratio to raw"),
        floor="the rows of the messages, ready made, and a cursor, by the plain driver in as many transactions",
    )
    table.rows = [
        ("raw, one row a transaction", floor_single, 1.0),
        ("one event a transaction", single, floor_single / single),
        ("raw, 2,000 rows a transaction", floor_many, 1.0),
        ("as it catches up: batches and bulk", many, floor_many / many),
    ]
    return table


def floor_of_rows(database: Database, rows: list[tuple[Any, ...]], size: int) -> float:
    places = ", ".join(["?" if database.sqlite else "%s"] * 11)
    with database.views.connect() as connection:
        driver: Any = connection.connection.driver_connection
        cursor = driver.cursor()
        cursor.execute("CREATE TABLE bench_floor AS SELECT * FROM context_messages LIMIT 0")
        cursor.execute("CREATE TABLE bench_cursor AS SELECT 0 AS position")
        if not database.sqlite:
            driver.commit()
            cursor.execute("SET synchronous_commit = off")
            driver.commit()
        began = time.perf_counter()
        for start in range(0, len(rows), size):
            if database.sqlite:
                cursor.execute("BEGIN IMMEDIATE")
            cursor.executemany(f"INSERT INTO bench_floor VALUES ({places})", rows[start : start + size])
            cursor.execute(f"UPDATE bench_cursor SET position = {start}")
            driver.commit()
        spent = time.perf_counter() - began
        cursor.execute("DROP TABLE bench_floor")
        cursor.execute("DROP TABLE bench_cursor")
        driver.commit()
    return len(rows) / spent


def run(quick: bool) -> Iterator[Table]:
    events = 20_000 if quick else int(os.environ.get("MINUTEBOOK_BENCH_EVENTS", "1000000"))
    rows = template()
    with tempfile.TemporaryDirectory(prefix="minutebook-bench-") as folder, a_server() as server:
        urls = {"SQLite": f"sqlite:///{Path(folder) / 'book.db'}"} | ({} if server is None else {"PostgreSQL": server})
        for kind, url in urls.items():
            grown(url, rows, events // 10)
            yield scans(url, events // 10, kind, INDEX_STEPS)
            grown(url, rows, events)
            yield scans(url, events, kind)
            yield catching_up(url, min(events, 200_000) if quick else events, kind)


def grown(url: str, rows: list[Row], events: int) -> None:
    database = Database(url)
    grow(Log(database), rows, events)
    if not database.sqlite:
        with database.views.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("ANALYZE events")
            connection.commit()
    database.close()


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2])))
