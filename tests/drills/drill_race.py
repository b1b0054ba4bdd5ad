"""Two workers, an appender and rebuilds race: every event is applied once, one sound generation is left (E2, E6)."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

from soak import Place
from sqlalchemy import NullPool, create_engine, inspect
from workers import Background, until

from minutebook import Minutebook, Settings


def drill(seed: int, place: Place) -> str:
    chance = random.Random(seed)
    messages, rebuilds = (30, 2) if place.short else (chance.randrange(150, 400), chance.randrange(4, 9))
    settings = Settings(curation_automatic=False, workspace_id="w", lock_timeout_seconds=60, worker_lease_seconds=3)

    def opened(name: str) -> Minutebook:
        return Minutebook.open(place.folder / name, database=place.url, settings=settings)

    with opened("one") as one, opened("two") as two, opened("talk") as talk, opened("mend") as mend:
        workers = [Background(one), Background(two)]
        failures: list[BaseException] = []

        def run(task: Callable[[], Any]) -> threading.Thread:
            def work() -> None:
                try:
                    task()
                except BaseException as error:
                    failures.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            return thread

        def talking() -> None:
            session = talk.session("s")
            with session.run() as run_:
                for number in range(messages):
                    run_.append({"role": "user", "content": f"message {number}"})
                run_.memory({"operation": "add", "text": "The port is 8080."})

        def mending() -> None:
            for _ in range(rebuilds):
                mend.projections.rebuild(*chance.choice([(), ("context",), ("candidates", "revisions")]))

        threads = [run(talking), run(mending), run(mending) if seed % 2 else run(lambda: None)]
        for thread in threads:
            thread.join()
        head = talk.head
        until(lambda: _cursors(place.url).get("context") == head, "the context at the head")
        for worker in workers:
            worker.end()
        assert failures == [], failures
        assert talk.verify()["ok"]
        assert len(talk.session("s").messages()) == messages
        with _looking(place.url) as connection:
            left = [name for name in inspect(connection).get_table_names() if "__g" in name]
        assert left == [], left
    return f"{messages} messages, {rebuilds} rebuilds, two workers"


def _looking(url: str) -> Any:
    return create_engine(url, poolclass=NullPool).connect()


def _cursors(url: str) -> dict[str, int]:
    with _looking(url) as connection:
        return dict(connection.exec_driver_sql("SELECT name, position FROM cursors").fetchall())
