"""Auditing a memory of 10,000 revisions: log, diff, show, blame, restore, each as an API call (issue 4, D9)."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from run import Table

from minutebook import Minutebook, Settings
from minutebook.domain.catalogue import EntryFact, RevisionCommitted, RevisionPrepared
from minutebook.domain.document import render
from minutebook.domain.events import Envelope, Event, encode_payload
from minutebook.domain.streams import document_stream

BAR_MS = 10.0


def fill(book: Minutebook, revisions: int, entries: int = 40) -> None:
    """Revisions that each replace one entry of ``entries``, straight into the log; the file holds the last one."""
    stream, when = document_stream("local"), datetime(2026, 1, 1, tzinfo=UTC)
    facts: list[EntryFact] = []
    texts: list[str] = []
    base: str | None = None
    pending: list[Event] = []
    for number in range(1, revisions + 1):
        fact = EntryFact(
            entry=f"e{number:010x}", since=number, candidates=(f"k-{number}",), actor="model", trust="model"
        )
        text = f"The port of service {number % entries} is {1_000 + number}."
        if len(facts) < entries:
            facts.append(fact)
            texts.append(text)
        else:
            facts[number % entries], texts[number % entries] = fact, text
        data = render(texts)
        digest = hashlib.sha256(data).hexdigest()

        def envelope(version: int, number: int = number) -> Envelope:
            return Envelope(stream, version, "local", when + timedelta(seconds=number), "curator")

        pending += [
            RevisionPrepared(
                envelope=envelope(2 * number - 1),
                payload=encode_payload({"entries": texts}),
                revision=number,
                kind="curated",
                parent=number - 1,
                base_digest=base,
                digest=digest,
                entries=tuple(facts),
            ),
            RevisionCommitted(envelope=envelope(2 * number), revision=number, digest=digest),
        ]
        base = digest
        if len(pending) >= 1_000 or number == revisions:
            book._runtime.log.append(pending)
            pending = []
    path = book._publisher.workspace.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render(texts))
    path.chmod(0o600)


def timed(work: Callable[[int], object], times: int) -> float:
    spent = []
    for turn in range(times):
        began = perf_counter()
        work(turn)
        spent.append((perf_counter() - began) * 1e3)
    return median(spent)


def measure(book: Minutebook, revisions: int, times: int = 21) -> dict[str, float]:
    """The median of each audit call, in milliseconds."""
    memory, middle = book.memory, revisions // 2
    position = memory.revisions(limit=1, before=middle + 1)[0].position
    return {
        "log, the newest 50": timed(lambda _: memory.revisions(limit=50), times),
        "log, 50 from the middle": timed(lambda _: memory.revisions(limit=50, before=middle), times),
        "show": timed(lambda _: memory.show(), times),
        "show, revision from the middle": timed(lambda turn: memory.show(middle + turn), times),
        "show, as of a position": timed(lambda turn: memory.show(at=position + turn), times),
        "diff of neighbours": timed(lambda turn: memory.diff(middle + turn, middle + turn + 1), times),
        "diff of first and last": timed(lambda _: memory.diff(1, revisions), times),
        "blame": timed(lambda _: memory.blame(), times),
        "status": timed(lambda _: memory.status(), times),
    }


class Disk:
    """What a restore asks of the disk, by plain means: two durable commits, the new file and its folder synced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute("CREATE TABLE t (a)")

    def once(self, turn: int) -> None:
        self.connection.execute("INSERT INTO t VALUES (?)", (b"x" * 12_000,))
        with (self.folder / "floor.tmp").open("wb") as file:
            file.write(b"x" * 3_000)
            file.flush()
            os.fsync(file.fileno())
        (self.folder / "floor.tmp").replace(self.folder / "floor.txt")
        descriptor = os.open(self.folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        self.connection.execute("INSERT INTO t VALUES (?)", (b"x" * 500,))


def restores(book: Minutebook, floor: Disk, first: int, times: int) -> dict[str, float]:
    """A restore beside its floor, in turn, so that both meet the same machine; and the processor's share of it."""
    spent: list[float] = []
    plain: list[float] = []
    worked: list[float] = []
    for turn in range(times):
        began, at = perf_counter(), process_time()
        book.memory.restore(first + turn)
        spent.append((perf_counter() - began) * 1e3)
        worked.append((process_time() - at) * 1e3)
        began = perf_counter()
        floor.once(turn)
        plain.append((perf_counter() - began) * 1e3)
    return {
        "restore": median(spent),
        "restore, of it the processor": median(worked),
        "floor of a restore: two durable commits, file and folder synced": median(plain),
    }


def beside_a_hanging_curator(times: int) -> tuple[float, float]:
    """An append and a context, in milliseconds: alone, and in turn with that beside a curator that hangs (D6)."""
    asked, go_on = threading.Event(), threading.Event()

    def hangs(request: object) -> str:
        asked.set()
        go_on.wait()
        return "[]"

    hasty = Settings(curate_after_events=1)
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        Minutebook.open(Path(one), automatic=False) as alone,
        Minutebook.open(Path(two), curator=hangs, settings=hasty) as book,
    ):
        for each in (alone, book):
            with each.session("first").run() as run:
                run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        asked.wait()
        spent: dict[Minutebook, list[float]] = {alone: [], book: []}
        with alone.session("s").run() as quiet, book.session("s").run() as busy:
            for number in range(times):
                for each, run in ((alone, quiet), (book, busy)):
                    began = perf_counter()
                    run.append({"role": "user", "content": f"message {number}"})
                    run.context()
                    spent[each].append((perf_counter() - began) * 1e3)
        go_on.set()
        return median(spent[alone]), median(spent[book])


def run(quick: bool) -> Iterator[Table]:
    revisions = 1_000 if quick else 10_000
    with tempfile.TemporaryDirectory() as folder, Minutebook.open(Path(folder), automatic=False) as book:
        fill(book, revisions)
        began = perf_counter()
        book.memory.revisions(limit=1)
        caught_up = (perf_counter() - began) * 1e3
        whole = timed(lambda _: book.memory.revisions(), 3)
        found = measure(book, revisions)
        found |= restores(book, Disk(Path(folder)), revisions // 2, 41)
    table = Table(
        f"Auditing a memory of {revisions:,} revisions, 40 entries each (p50)", ("call", "ms", "of the bar of 10 ms")
    )
    table.rows = [(name, spent, spent / BAR_MS) for name, spent in found.items()]
    table.remarks = [
        f"Catching up once with {revisions:,} revisions: {caught_up:,.0f} ms; the whole log as a list: {whole:,.0f} ms."
    ]
    yield table
    without, beside = beside_a_hanging_curator(50 if quick else 200)
    table = Table("An append and a context beside a curator that hangs (p50)", ("book", "ms", "ratio"))
    table.rows = [("no curator", without, 1.0), ("beside a hanging curator", beside, beside / without)]
    yield table
