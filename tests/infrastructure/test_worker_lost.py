"""A worker whose server goes away, whose connections are cut, whose notifications are lost: it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from own_server import OwnServer
from sqlalchemy import NullPool, create_engine
from workers import Background, until

from minutebook import Minutebook, Settings

RARE = {"worker_poll_seconds_max": 3600.0, "worker_lease_seconds": 36_000.0}
"""With an hour between two looks it is the notification that brings an append over, or nothing."""


class Outside:
    """A look from another program."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")

    def ask(self, statement: str) -> Any:
        with self._engine.connect() as connection:
            answer = connection.exec_driver_sql(statement)
            return answer.scalar() if answer.returns_rows else None

    def at_head(self) -> bool:
        return bool(self.ask("SELECT c.position = h.last_id FROM cursors c, log_head h WHERE c.name = 'context'"))

    def listening(self) -> int:
        return int(self.ask(f"SELECT count(*) FROM {LISTENING}"))


LISTENING = "pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%%'"
OURS = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Minutebook]]:
    books: list[Minutebook] = []

    def open_book(name: str, url: str, **settings: Any) -> Minutebook:
        chosen = Settings(curation_automatic=False, workspace_id="w", **settings)
        books.append(Minutebook.open(tmp_path / name, database=url, settings=chosen))
        return books[-1]

    yield open_book
    for book in books:
        book.close()


def test_a_notification_brings_an_append_of_another_process_over(
    opened: Callable[..., Minutebook], postgres_url: str
) -> None:
    other, outside = opened("other", postgres_url), Outside(postgres_url)
    worker = Background(opened("worker", postgres_url, **RARE), "context")
    try:
        until(lambda: worker.heard("caught_up", projection="context") and outside.listening() == 1)
        session = other.session("s")
        session.append(said(1))
        until(outside.at_head)
        # when the connection that listens is cut, then it dials again, and looks at once for what it has missed
        outside.ask(f"SELECT pg_terminate_backend(pid) FROM {LISTENING}")
        session.append(said(2))
        until(outside.at_head)
        until(lambda: outside.listening() == 1)
        session.append(said(3))
        until(outside.at_head)
    finally:
        worker.end()
    assert outside.listening() == 0


def test_a_lost_notification_costs_no_more_than_the_time_between_two_looks(
    opened: Callable[..., Minutebook], postgres_url: str
) -> None:
    other, outside = opened("other", postgres_url), Outside(postgres_url)
    # given a server that never notifies, as behind a pooler
    outside.ask(
        "DO $$ BEGIN EXECUTE replace(pg_get_functiondef('minutebook_append'::regproc), "
        "'PERFORM pg_notify', 'PERFORM concat'); END $$"
    )
    worker = Background(opened("worker", postgres_url, worker_poll_seconds_max=0.5), "context")
    try:
        until(lambda: worker.heard("caught_up", projection="context"))
        other.session("s").append(said(1))
        until(outside.at_head)
    finally:
        worker.end()


def test_a_worker_whose_connections_are_cut_again_and_again_loses_nothing(
    opened: Callable[..., Minutebook], postgres_url: str
) -> None:
    other, outside = opened("other", postgres_url), Outside(postgres_url)
    worker = Background(opened("worker", postgres_url, worker_poll_seconds_max=0.2), "context", "candidates")
    session = other.session("s")
    try:
        for number in range(8):
            session.append(said(number))
            outside.ask(f"SELECT pg_terminate_backend(pid) FROM {OURS}")
        session.append(said(8))
        until(outside.at_head)
    finally:
        worker.end()
    assert [message["content"] for message in session.messages()] == [f"message {number}" for number in range(9)]
    assert other.verify()["ok"]


@pytest.mark.slow
@pytest.mark.usefixtures("on_postgres")
def test_a_worker_outlives_the_restart_of_its_server(opened: Callable[..., Minutebook], server: OwnServer) -> None:
    url = server.url.render_as_string(hide_password=False)
    other, outside = opened("other", url), Outside(url)
    worker = Background(opened("worker", url, lock_timeout_seconds=0.2, worker_lease_seconds=3.0))
    session = other.session("s")
    try:
        until(lambda: worker.heard("caught_up", projection="context"))
        server.stop_at_once()
        until(lambda: worker.heard("waiting", error="store_unreachable"))
        server.start()
        until(lambda: worker.heard("back"))
        session.append(said(1))
        until(outside.at_head)
    finally:
        worker.end()
    assert other.verify()["ok"]


def said(number: int) -> dict[str, str]:
    return {"role": "user", "content": f"message {number}"}
