"""`make drill-scaling`: how far one PostgreSQL goes, and what saturates first; the same for a SQLite file.

A real server of its own, with its defaults, is driven by 1 to 32 processes, one connection each for the log and one
or more for projections, over stores of several sizes. Beside every figure stands a floor of the same run: one INSERT of
the same bytes into a plain table, and its commit. The tables go into ``docs/explanation/scaling.md`` between their
markers; nobody writes them by hand. Clients and server share the machine, as the page says.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / ".package"), str(ROOT / "tests" / "support"), str(HERE)]

import figures  # noqa: E402
import psutil  # type: ignore[import-untyped]  # noqa: E402
from load_worker import turn  # noqa: E402
from own_server import OwnServer, end_tidily, own_server  # noqa: E402
from sqlalchemy import create_engine  # noqa: E402

from minutebook import Minutebook, Settings  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "scaling.md"
PLAIN = "CREATE TABLE plain (id {key}, session text, body text)"
MESSAGES = 200
"""Messages of a session that stands in the store."""
SAMPLES_SECONDS = 0.025
"""Between two looks at what the server's backends wait for."""


@dataclass(frozen=True)
class Plan:
    """How much is done: ``quick`` shows that it runs."""

    connections: Sequence[int] = (1, 2, 4, 8, 16, 32)
    processes: Sequence[int] = (1, 2, 4, 8)
    sizes: Sequence[int] = (10_000, 100_000, 1_000_000)
    seconds: float = 8.0
    rounds: int = 2
    crowd: int = 8
    databases: Sequence[int] = (1, 2, 4, 8)
    vacuum: Sequence[str] = ("on", "off")


QUICK = Plan(connections=(1, 2), processes=(1, 2), sizes=(400,), seconds=0.5, rounds=1, crowd=2, databases=(2,))


@dataclass
class Measured:
    """What one load came to: calls a second, what they took in milliseconds, where the server's backends stood."""

    kind: str
    processes: int
    seconds: float
    took: dict[str, list[float]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    client_cpu: float = 0.0
    server_cpu: float = 0.0

    def rate(self, call: str | None = None) -> float:
        return len(self.took.get(call or self.kind, ())) / self.seconds

    def milliseconds(self, share: float, call: str | None = None) -> float:
        found = sorted(self.took.get(call or self.kind, ()))
        return found[min(len(found) - 1, int(len(found) * share))] * 1000 if found else float("nan")

    def waiting(self, what: str) -> float:
        """The share of the samples of busy backends that stood at ``what``."""
        return self.waits[what] / max(1, self.waits.total())


class Store:
    """One database under load: on the server, or a file."""

    def __init__(self, url: str, folder: Path, server: OwnServer | None) -> None:
        self.url, self.folder, self.server = url, folder, server
        self.started = 0
        engine = create_engine(url + ("" if server else ".floor"))
        key = "bigserial PRIMARY KEY" if server else "INTEGER PRIMARY KEY"
        with engine.begin() as connection:
            connection.exec_driver_sql(PLAIN.format(key=key))
        engine.dispose()
        with self.book("w0"):
            pass

    def book(self, workspace: str) -> Minutebook:
        settings = Settings(workspace_id=workspace, curation_automatic=False, lock_timeout_seconds=60.0)
        return Minutebook.open(self.folder / workspace, database=self.url, settings=settings, automatic=False)

    def load(
        self,
        kind: str,
        processes: int,
        seconds: float,
        *,
        workspaces: int | None = None,
        others: Sequence[str] = (),
    ) -> Measured:
        """Runs the load and gathers what it took; every process begins at the same moment.

        ``others``: URLs of more databases, over which the processes are spread.
        """
        urls = (self.url, *others)
        workers = []
        for number in range(processes):
            self.started += 1
            workspace = f"w{number % (workspaces or processes)}"
            job = {
                "kind": kind, "url": urls[number % len(urls)], "workspace": workspace,
                "folder": str(self.folder / workspace),
                "seconds": seconds, "seed": self.started, "calls": int(3_000 * seconds / processes) + 500,
            }  # fmt: skip
            workers.append(
                subprocess.Popen(
                    [sys.executable, str(HERE / "load_worker.py"), json.dumps(job)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    env={**os.environ, "PYTHONPATH": str(ROOT / ".package")},
                )
            )  # fmt: skip
        done = Measured(kind, processes, seconds)
        try:
            for worker in workers:
                hear(worker, "ready")
            with self._watched(done):
                before = self._server_cpu()
                for worker in workers:
                    say(worker)
                answers = [json.loads(hear(worker)) for worker in workers]
                done.server_cpu = self._server_cpu() - before
            for worker in workers:
                say(worker)
                worker.wait(timeout=120)
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()
        done.seconds = max(answer["lasted"] for answer in answers)
        done.client_cpu = sum(answer["cpu"] for answer in answers)
        for answer in answers:
            done.refused.update(answer["refused"])
            for call, took in answer["took"].items():
                done.took.setdefault(call, []).extend(took)
        return done

    def _server_cpu(self) -> float:
        if self.server is None:
            return 0.0
        total = 0.0
        for process in self.server.processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                total += used.user + used.system
        return total

    @contextlib.contextmanager
    def _watched(self, done: Measured) -> Iterator[None]:
        """Samples at what the busy backends stand: the head row, the disk, the processor."""
        over = threading.Event()

        def look() -> None:
            engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                while not over.wait(SAMPLES_SECONDS):
                    rows = connection.exec_driver_sql(
                        "SELECT wait_event_type, wait_event, count(*) FROM pg_stat_activity WHERE state <> 'idle' "
                        "AND backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1, 2"
                    )
                    for kind, event, count in rows:
                        done.waits[standing(kind, event)] += count
            engine.dispose()

        thread = threading.Thread(target=look)
        if self.server is not None:
            thread.start()
        try:
            yield
        finally:
            over.set()
            if thread.ident is not None:
                thread.join()

    def fill(self, events: int) -> tuple[float, int]:
        """Grows the store to so many events, in workspaces of its own; how fast, and how many there are then."""
        chance, began, before = random.Random(events), time.monotonic(), self.events()
        number = 0
        while (there := self.events()) < events:
            number += 1
            with self.book(f"old-{events}-{number}") as book:
                for each in range(max(1, min(20, (events - there) // MESSAGES))):
                    with book.session(f"s{each}").run() as run:
                        run.append([message for at in range(MESSAGES // 4) for message in turn(chance, at)])
        return (there - before) / (time.monotonic() - began), there

    def events(self) -> int:
        engine = create_engine(self.url)
        with engine.connect() as connection:
            found: int = connection.exec_driver_sql("SELECT last_id FROM log_head").scalar_one()
        engine.dispose()
        return found

    def sizes(self) -> dict[str, int]:
        """Bytes of the log's rows, of its indexes, and of everything else but the floor's table."""
        if self.server is None:
            return {"all": sum(path.stat().st_size for path in self.folder.parent.glob("book.db*"))}
        query = (
            "SELECT relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE nspname = 'public' AND relkind = 'r' AND relname <> 'plain'"
        )
        found = {"log": 0, "indexes": 0, "projections": 0}
        for name, table, indexes in self.server.run(query):
            if name == "events":
                found["log"], found["indexes"] = table, indexes
            else:
                found["projections"] += table + indexes
        return found

    def vacuumed(self) -> dict[str, Any]:
        """What the update of the head row at each append leaves behind."""
        assert self.server is not None
        [row] = self.server.run(
            "SELECT n_tup_upd, n_tup_hot_upd, n_dead_tup, autovacuum_count, pg_relation_size(relid) "
            "FROM pg_stat_user_tables WHERE relname = 'log_head'"
        )
        return dict(zip(("updated", "hot", "dead", "vacuums", "bytes"), row, strict=True))


def standing(kind: str | None, event: str | None) -> str:
    if kind is None:
        return "processor"
    if kind == "Lock":
        return "head" if event in ("transactionid", "tuple") else "locks"
    if kind == "Client":
        return "client"
    if kind == "IO" or (event or "").startswith("WAL"):
        return "disk"
    return "other"


def hear(worker: subprocess.Popen[str], wanted: str | None = None) -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline().strip()
    if not line or (wanted is not None and line != wanted):
        raise RuntimeError(f"a worker ended early ({line!r}); its words stand above")
    return line


def say(worker: subprocess.Popen[str]) -> None:
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


@contextlib.contextmanager
def store_on(server: OwnServer | None, name: str = "drill") -> Iterator[Store]:
    """A fresh store: a database of the server, or a file of its own."""
    folder = Path(tempfile.mkdtemp(prefix="minutebook-drill-"))
    try:
        if server is None:
            yield Store(f"sqlite:///{folder / 'book.db'}", folder / "work", None)
            return
        server.run(f"CREATE DATABASE {name}")
        server.url = server.url.set(database=name)
        yield Store(server.shown, folder / "work", server)
        server.url = server.url.set(database="postgres")
        server.run(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def drive(plan: Plan, say_so: Any = print, keep: Any = None) -> figures.Found:
    """The whole drill; the kinds by turns in each round, so that a noisy neighbour disturbs all alike.

    ``keep`` is called with what was found after each of its parts: a run that is ended early is not all lost.
    """
    keep = keep or (lambda _found: None)
    found = figures.Found(plan.seconds, plan.rounds)
    before = idle()
    with own_server() as server:
        found.version = str(server.run("SHOW server_version")[0][0]).split()[0]
        with store_on(server) as store:
            for round_ in range(plan.rounds):
                for count in plan.connections:
                    for kind in ("floor", "log", "early", "append", "agent"):
                        done = store.load(kind, count, plan.seconds)
                        found.connections.append(done)
                        say_so(figures.line(done, f"round {round_ + 1}"))
            for workspaces in sorted({1, plan.crowd}):
                done = store.load("agent", plan.crowd, plan.seconds, workspaces=workspaces)
                found.workspaces.append((workspaces, done))
                say_so(figures.line(done, f"{workspaces} workspaces"))
        keep(found)
        for count in plan.databases:
            with store_on(server, "many_0") as store:
                names = [f"many_{number}" for number in range(1, count)]
                for name in names:
                    server.run(f"CREATE DATABASE {name}")
                others = [server.url.set(database=name).render_as_string(hide_password=False) for name in names]
                done = store.load("append", plan.crowd, plan.seconds, others=others)
                found.databases.append((count, done))
                say_so(figures.line(done, f"{count} databases"))
                for name in names:
                    server.run(f"DROP DATABASE {name} WITH (FORCE)")
        keep(found)
        for automatic in plan.vacuum:
            server.set(autovacuum=automatic)
            with store_on(server, f"vacuum_{automatic}") as store:
                for _ in range(max(2, plan.rounds)):
                    done = store.load("append", plan.crowd, plan.seconds)
                    found.vacuum.append((automatic, done, store.events(), store.vacuumed()))
                    say_so(figures.line(done, f"autovacuum {automatic}"))
        server.set(autovacuum="on")
        with store_on(server, "sizes") as store:
            for size in plan.sizes:
                rate, there = store.fill(size)
                server.run("VACUUM ANALYZE")
                server.run("CHECKPOINT")
                loads = {kind: store.load(kind, 1, plan.seconds) for kind in ("append", "context")}
                loads["agent"] = store.load("agent", plan.crowd, plan.seconds)
                found.sizes.append((there, rate, loads, store.sizes(), store.events()))
                keep(found)
                say_so(f"{there:,} events, filled at {rate:,.0f} a second")
                for done in loads.values():
                    say_so(figures.line(done, f"{size:,}"))
    with store_on(None) as store:
        for round_ in range(plan.rounds):
            for count in plan.processes:
                for kind in ("floor", "append", "agent"):
                    done = store.load(kind, count, plan.seconds)
                    found.sqlite.append(done)
                    say_so(figures.line(done, f"SQLite, round {round_ + 1}"))
    found.idle = (before, idle())
    return found


def idle() -> float:
    """The share of the processors that nobody uses, over some seconds."""
    return float(psutil.cpu_times_percent(interval=5.0).idle) / 100


def main() -> int:
    end_tidily()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small: to see that it runs; writes no page")
    parser.add_argument("--sizes", help="events of the stores, for instance 10000,100000")
    parser.add_argument("--seconds", type=float, help="seconds of each load")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--no-page", action="store_true", help="print only")
    options = parser.parse_args()
    changed: dict[str, Any] = {}
    if options.sizes:
        changed["sizes"] = tuple(map(int, options.sizes.split(",")))
    changed |= {name: value for name in ("seconds", "rounds") if (value := getattr(options, name))}
    plan = Plan(**{**vars(QUICK if options.quick else Plan()), **changed})
    kept = ROOT / "bench-results" / "scaling.md"
    kept.parent.mkdir(exist_ok=True)
    found = drive(plan, lambda text: print(text, flush=True), lambda so_far: kept.write_text(figures.tables(so_far)))
    tables = figures.tables(found)
    print(tables)
    if not (options.quick or options.no_page):
        figures.into(PAGE, tables)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
