"""Many connections to one server while connections are cut and the server is stopped; then a judge counts."""

from __future__ import annotations

import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from own_server import OwnServer
from wire import How, When, Wire

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log

IDLE = "-c idle_in_transaction_session_timeout=500"
CUT_ONE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = 'minutebook' ORDER BY random() LIMIT 3"
)
PATIENCE_SECONDS = 300.0
"""Far more than any bound that is stated: whoever is still at it then hangs."""


@dataclass
class Storm:
    """One storm: what was acknowledged, what failed, which faults there were."""

    server: OwnServer
    folder: Path
    seed: int
    writers: int = 32
    books: int = 3
    each: int = 12
    stops: int = 1
    told: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)

    def blow(self) -> None:
        """Lets everybody work until all is acknowledged, and faults come meanwhile."""
        with Minutebook.open(self.folder / "w0", database=self.server.shown, automatic=False):
            pass
        wires = [Wire(self.server.url) for _ in range(4)]
        urls = [wire.with_options(connect_timeout="2", options=IDLE) for wire in wires]
        work = [(self._write, number) for number in range(self.writers)]
        work += [(self._converse, number) for number in range(self.books)]
        jobs = [self._job(kind, number, urls[number % len(urls)]) for kind, number in work]
        threads = [threading.Thread(target=job, daemon=True) for job in jobs]
        over = threading.Event()
        weather = threading.Thread(target=self._weather, args=(wires, over), daemon=True)
        for thread in (*threads, weather):
            thread.start()
        until = time.monotonic() + PATIENCE_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        over.set()
        weather.join(60)
        hanging = [thread for thread in (*threads, weather) if thread.is_alive()]
        for wire in wires:
            wire.close()
        assert not hanging, f"{len(hanging)} hang (seed {self.seed})"
        assert self.failures == [], (f"seed {self.seed}", self.failures[:3])

    def judge(self) -> None:
        """Each acknowledged append is there once, where it was said to be; chain and projections are right."""
        database = Database(self.server.shown)
        log = Log(database)
        found: dict[str, list[int]] = {}
        for place, event in enumerate(log.read(), 1):
            assert event.position == place, "no gap"
            if isinstance(event.body, MessageRecorded):
                found.setdefault(f"{event.session}/{event.body.message}", []).append(event.position)
        assert found == {name: [position] for name, position in self.told.items()}, f"seed {self.seed}"
        assert verify_log(log).ok
        database.close()
        for number in range(self.books):
            with Minutebook.open(self.folder / f"w{number}", database=self.server.shown, automatic=False) as book:
                report = book.verify()
                assert report.ok, (self.seed, report)
                names = book._runtime.projections.names
                # Whoever opens a book ends runs whose owner is gone: what stands is compared at one position.
                book._runtime.projections.catch_up()
                before = {name: book._runtime.projections.dump_hash(name) for name in names}
                book.projections.rebuild()
                after = {name: book._runtime.projections.dump_hash(name) for name in names}
                assert after == before, (self.seed, "as rebuilt")

    def _job(self, work: Callable[[int, str], None], number: int, url: str) -> Callable[[], None]:
        def run() -> None:
            try:
                work(number, url)
            except BaseException as error:
                told = "".join(traceback.format_exception(error)[-4:])
                self.failures.append(f"{work.__name__} {number}: {told}")

        return run

    def _write(self, number: int, url: str) -> None:
        """A connection that appends to the log, and asks for nothing again by itself."""
        database = Database(url, lock_timeout=120.0)
        log = self._again(lambda: Log(database))
        session = f"writer-{number}"
        for count in range(self.each):
            name = f"m{count}"
            [self.told[f"{session}/{name}"]] = log.append([message(session, name)])
        database.close()

    def _converse(self, number: int, url: str) -> None:
        """A whole book: what is no append says that the server was lost, and is asked again."""
        settings = Settings(lock_timeout_seconds=120.0, curation_automatic=False)
        folder = self.folder / f"w{number}"
        book = self._again(lambda: Minutebook.open(folder, database=url, settings=settings, automatic=False))
        name = f"book-{number}"
        session = self._again(lambda: book.session(name))
        run = self._again(session.run)
        for count in range(self.each):
            position = run.append({"role": "user", "content": f"{number} says {count}"}, id=f"m{count}")
            self.told[f"{name}/m{count}"] = position
            assert self._again(run.context).messages
        fact = {"operation": "add", "text": f"Server {number} stands in rack {number}."}
        self._again(lambda: run.memory(fact, call_id="c1"))
        self._again(run.succeed)
        done = self._again(book.curate)
        if done.status == "failed":  # the candidate stays, and is asked for once more
            self.retried[f"curation {done['reasons'][0]['check']}"] += 1
            done = self._again(book.curate)
        assert done.status in ("committed", "nothing"), done
        self._again(book.close)

    def _again(self, act: Callable[[], Any]) -> Any:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return act()
            except MinutebookError as error:
                self.retried[error.code] += 1
                allowed = error.code in ("store_unreachable", "store_locked")
                if not allowed or time.monotonic() > until:
                    raise

    def _weather(self, wires: list[Wire], over: threading.Event) -> None:
        chance = random.Random(self.seed)
        stops = self.stops
        try:
            while not over.wait(chance.uniform(0.05, 0.3)):
                kind = chance.choice(["terminate", "wire", "wire", *(["stop"] if stops else [])])
                if kind == "terminate":
                    self.server.run(CUT_ONE)
                elif kind == "wire":
                    how, when = chance.choice(get_args(How)[:3]), chance.choice(get_args(When))
                    kind = f"{how} {when}"
                    chance.choice(wires).cut(when, chance.randint(1, 6), how)
                else:
                    stops -= 1
                    self.server.stop_at_once()
                    over.wait(chance.uniform(0.1, 1.0))
                    self.server.start()
                self.faults[kind] += 1
        except BaseException as error:
            self.failures.append(f"the weather: {type(error).__name__}: {error}")


def message(session: str, name: str) -> MessageRecorded:
    text = f"{session} says {name}"
    stream = message_stream("storm", session, name)
    return MessageRecorded(
        message=name, role="user", form="openai", tokens=3, counter="estimate-1", size=len(text),
        payload=encode_payload({"source": {"role": "user", "content": text}}),
        envelope=Envelope(stream, 1, "storm", datetime.now(UTC), "agent", session),
    )  # fmt: skip
