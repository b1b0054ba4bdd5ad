"""One process of the drill of scaling: says ``ready``, waits for a line, works for so many seconds, says what it took.

Started by ``scaling.py`` with a job as JSON in its first argument; not to be run by hand.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.postgres import _CALL, _columns
from minutebook.infrastructure.work.runtime import new_id

SENTENCE = "the build of part reads its header and writes one object file beside it then links all of them at once"
WORDS = SENTENCE.split()


def text(chance: random.Random, size: int) -> str:
    return " ".join(chance.choices(WORDS, k=max(1, size // 5)))


def turn(chance: random.Random, number: int) -> list[dict[str, Any]]:
    """One turn of an agent that uses a tool: four messages, some 2,500 characters; half of them the tool's."""
    call = f"call_{number}"
    arguments = json.dumps({"path": f"src/part_{number}.c", "mode": "check"})
    asked = {"id": call, "type": "function", "function": {"name": "compile", "arguments": arguments}}
    return [
        {"role": "user", "content": f"{number}: {text(chance, 200)}"},
        {"role": "assistant", "content": text(chance, 100), "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call, "content": text(chance, int(min(8_000, chance.lognormvariate(7, 0.8))))},
        {"role": "assistant", "content": f"{number}: {text(chance, 600)}"},
    ]


class Clock:
    """What each kind of call took, in seconds, and what was refused, by its code."""

    def __init__(self, seconds: float) -> None:
        self.began = time.monotonic()
        self.end = self.began + seconds
        self.took: dict[str, list[float]] = {}
        self.refused: Counter[str] = Counter()

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.end

    def time(self, kind: str, act: Callable[..., Any], *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            done = act(*arguments)
        except MinutebookError as error:
            self.refused[f"{kind} {error.code}"] += 1
            return None
        self.took.setdefault(kind, []).append(time.perf_counter() - began)
        return done


def stored(chance: random.Random, count: int) -> list[MessageRecorded]:
    """Messages as events, each of a session of its own, so that they can be made before the clock runs."""
    from datetime import UTC, datetime

    made = []
    for number in range(count):
        message = chance.choice(turn(chance, number))
        payload = encode_payload({"source": message})
        session, name, now = new_id("s"), f"m{number}", datetime.now(UTC)
        made.append(
            MessageRecorded(
                message=name, role=message["role"], form="openai", tokens=len(payload) // 4, counter="estimate-1",
                size=len(payload), payload=payload,
                envelope=Envelope(message_stream("drill", session, name), 1, "drill", now, "agent", session),
            )
        )  # fmt: skip
    return made


def floor(job: dict[str, Any], chance: random.Random) -> Callable[[Clock], None]:
    """The same bytes into one plain table, and a commit that waits for the disk; nothing else."""
    bodies = [json.dumps(message) for number in range(200) for message in turn(chance, number)]
    insert: Callable[[str], Any]
    if job["url"].startswith("sqlite"):
        plain = sqlite3.connect(job["url"].removeprefix("sqlite:///") + ".floor", isolation_level=None, timeout=60)
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("PRAGMA synchronous=FULL")
        insert = lambda body: plain.execute("INSERT INTO plain (session, body) VALUES ('s', ?)", (body,))  # noqa: E731
    else:
        driver: Any = Database(job["url"]).engine.connect().connection.driver_connection
        insert = lambda body: driver.execute("INSERT INTO plain (session, body) VALUES ('s', %s)", (body,))  # noqa: E731

    def work(clock: Clock) -> None:
        number = 0
        while not clock.over:
            clock.time("floor", insert, bodies[number % len(bodies)])
            number += 1

    return work


def function(job: dict[str, Any], chance: random.Random) -> Callable[[Clock], None]:
    """The log by itself: on PostgreSQL nothing but the call of its function, made ready before the clock runs.

    ``early``: the head row is let go before the disk has it, and the answer waits for the disk afterwards. What that
    would gain is measured here; minutebook does not do it.
    """
    database = Database(job["url"], lock_timeout=60.0)
    log = Log(database)
    events = stored(chance, job["calls"])
    if database.sqlite:
        batches: Any = iter(events)
        say: Callable[[Any], Any] = lambda event: log.append([event])  # noqa: E731
    else:
        rows = (_columns(log.mapper.to_stored_event(event)) for event in events)
        batches = iter([[[], [], *([value] for value in row)] for row in rows])
        driver: Any = database.engine.connect().connection.driver_connection
        if job["kind"] == "early":
            driver.execute("SET synchronous_commit = off")

        def say(arguments: Any) -> None:
            driver.execute(_CALL, arguments).fetchone()
            if job["kind"] == "early":
                driver.execute("SELECT pg_logical_emit_message(false, 'minutebook', '', true)")

    def work(clock: Clock) -> None:
        while not clock.over:
            clock.time(job["kind"], say, next(batches))

    return work


def opened(job: dict[str, Any]) -> Minutebook:
    settings = Settings(
        workspace_id=job["workspace"], lock_timeout_seconds=60.0, curation_automatic=False, context_window=100_000
    )
    return Minutebook.open(Path(job["folder"]), database=job["url"], settings=settings, automatic=False)


def append(job: dict[str, Any], chance: random.Random) -> Callable[[Clock], None]:
    """``run.append``, one message a time."""
    book = opened(job)
    run = book.session(new_id("s")).run()
    messages = [message for number in range(300) for message in turn(chance, number)]

    def work(clock: Clock) -> None:
        number = 0
        while not clock.over:
            clock.time("append", run.append, messages[number % len(messages)])
            number += 1

    return work


def context(job: dict[str, Any], chance: random.Random) -> Callable[[Clock], None]:
    """``session.context`` of a session of 200 messages that stands in the store, while nobody writes."""
    book = opened(job)
    session = book.session(new_id("s"))
    with session.run() as run:
        run.append([message for number in range(50) for message in turn(chance, number)])

    def work(clock: Clock) -> None:
        while not clock.over:
            clock.time("context", session.context, "You mend builds.")

    return work


def agent(job: dict[str, Any], chance: random.Random) -> Callable[[Clock], None]:
    """What an agent does: each turn asks for two contexts; ten turns are a run, which remembers and is curated."""
    book = opened(job)

    def work(clock: Clock) -> None:
        while not clock.over:
            session = clock.time("session", book.session, new_id("s"))
            run = session and clock.time("run", session.run)
            if not run:
                continue
            for number in range(10):
                asked, called, answered, closing = turn(chance, number)
                for before, then in ((asked, called), (answered, closing)):
                    clock.time("append", run.append, before)
                    clock.time("context", run.context, "You mend builds.")
                    clock.time("append", run.append, then)
                if clock.over:
                    break
            fact = f"Part {chance.randrange(10**6)} is built by rule {chance.randrange(10**6)}."
            clock.time("propose", run.memory, {"operation": "add", "text": fact})
            clock.time("end", run.succeed)
            clock.time("curate", book.curate)

    return work


KINDS = {"floor": floor, "log": function, "early": function, "append": append, "context": context, "agent": agent}


def main() -> None:
    job = json.loads(sys.argv[1])
    work = KINDS[job["kind"]](job, random.Random(job["seed"]))
    print("ready", flush=True)
    sys.stdin.readline()
    before, clock = time.process_time(), Clock(job["seconds"])
    work(clock)
    lasted = time.monotonic() - clock.began
    used = time.process_time() - before
    print(json.dumps({"lasted": lasted, "took": clock.took, "refused": clock.refused, "cpu": used}), flush=True)
    sys.stdin.readline()  # The backend stays until its processor time was read.


if __name__ == "__main__":
    main()
