"""The server goes away in the middle: an append in doubt is settled by what the log says, and is in it once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from own_server import OwnServer
from sqlalchemy import Connection, create_engine, make_url
from wire import When, Wire

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import StoreError, StreamConflict
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log

Make = Callable[..., MessageRecorded]

TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def wire(postgres_url: str) -> Iterator[Wire]:
    made = Wire(make_url(postgres_url))
    yield made
    made.close()


def positions(log: Log) -> list[tuple[int, str]]:
    return [(event.position, event.body.message) for event in log.read() if isinstance(event.body, MessageRecorded)]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("exchange", [1, 2, 3, 4])
@pytest.mark.parametrize("more", [False, True], ids=["alone", "with more in its transaction"])
def test_an_append_that_is_cut_off_is_in_the_log_once(
    wire: Wire, message: Make, when: When, exchange: int, more: bool
) -> None:
    """Given a connection cut at any step of an append, before or after the server acted, then it is there once."""
    database = Database(wire.url)
    log = Log(database)
    log.append([message(1)])

    def within(connection: Connection, appended: list[int]) -> None:
        connection.exec_driver_sql("INSERT INTO trackings VALUES ('follower', %s)", (appended[-1],))

    # The cut comes at this append, or, where it has fewer exchanges, at the next ones.
    wire.cut(when, exchange)
    assert log.append([message(2), message(3)], within=within if more else None) == [2, 3]
    number = 4
    while not wire.cuts:
        assert log.append([message(number)]) == [number]
        number += 1
    assert positions(log) == [(each, f"m{each}") for each in range(1, number)]
    assert verify_log(log).ok
    with database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT notification_id FROM trackings").scalars().all()
    assert rows == ([3] if more else [])
    database.close()


def test_a_condition_is_checked_once_and_not_against_ourselves(wire: Wire, message: Make) -> None:
    database = Database(wire.url)
    log = Log(database)
    log.append([message(1)])
    stream = message_stream("local", "s", "m1")
    wire.cut("after")
    assert log.append([message(2)], expects=[(stream, 1)]) == [2]
    # and a condition that does not hold is a conflict, connection or not
    wire.cut("before")
    with pytest.raises(StreamConflict):
        log.append([message(3)], expects=[(stream, 5)])
    assert log.head().position == 2
    database.close()


def test_another_writer_of_the_same_stream_is_not_taken_for_ourselves(wire: Wire, message: Make) -> None:
    """Given our append lost on the way and another's in its place, then it is a conflict and not a success."""
    database, other = Database(wire.url, lock_timeout=1.0), Database(make_url_of(wire))
    log, theirs = Log(database), Log(other)
    log.append([message(1)])
    wire.cut("before")
    # The other one is quicker than our second try: it writes while the first is being cut.
    theirs.append([message(2, "another text")])
    with pytest.raises(StreamConflict):
        log.append([message(2)])
    assert len(positions(log)) == 2
    other.close()
    database.close()


def make_url_of(wire: Wire) -> str:
    return wire._server.render_as_string(hide_password=False)


def test_a_connection_that_was_dropped_is_dialled_again(postgres_url: str, message: Make) -> None:
    database = Database(postgres_url)
    log = Log(database)
    log.append([message(1)])
    with database.views.connect() as other:
        other.exec_driver_sql(TERMINATE)
    assert log.append([message(2)]) == [2]
    assert log.head().position == 2
    assert verify_log(log).ok
    database.close()


def test_a_whole_conversation_goes_on_while_connections_are_cut(
    tmp_path: Path, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Given every connection killed again and again, then each message is there once and memory was curated."""
    done = threading.Event()

    def cutting() -> None:
        engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            while not done.wait(0.15):
                connection.exec_driver_sql(TERMINATE)
        engine.dispose()

    def again(act: Callable[[], Any]) -> Any:
        # What is not an append says that the server was lost, and is simply asked again.
        for _ in range(50):
            try:
                return act()
            except MinutebookError as error:
                if error.code != "store_unreachable":
                    raise
        raise AssertionError("never got through")

    settings = Settings(lock_timeout_seconds=20.0, curation_automatic=False)
    with Minutebook.open(tmp_path, database=postgres_url, settings=settings) as book:
        session = book.session("s")
        run = session.run("r")
        thread = threading.Thread(target=cutting)
        thread.start()
        try:
            told = [again(partial(run.append, user(f"message {n}"), id=f"m{n}")) for n in range(40)]
            again(lambda: run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."}))
            assert again(run.context).messages
        finally:
            done.set()
            thread.join()
        run.succeed()
        assert book.curate().status == "committed"
        assert [message["content"] for message in session.messages()] == [f"message {n}" for n in range(40)]
        assert [message["position"] for message in session.messages()] == told
        assert book.verify().ok
    assert caplog.records == [], "on a command line this would be a traceback"


def test_an_append_that_could_not_be_settled_says_how_it_can_be(wire: Wire, message: Make) -> None:
    database = Database(wire.url, lock_timeout=0.3)
    log = Log(database)
    log.append([message(1)])
    wire.close()
    with pytest.raises(StoreError) as caught:
        log.append([message(2)])
    assert caught.value.code == "store_unreachable"
    assert "settles it" in caught.value.message
    database.close()


# --- a server of the drill's own, stopped at once


@pytest.mark.slow
@pytest.mark.usefixtures("on_postgres")
def test_a_server_that_is_stopped_at_once_loses_and_doubles_nothing(tmp_path: Path, server: OwnServer) -> None:
    """Given two immediate stops in the middle of appends, then all that was acknowledged is there, once, in order."""
    url = server.shown
    told: list[int] = []
    failures: list[BaseException] = []
    stop = threading.Event()
    settings = Settings(lock_timeout_seconds=60.0, curation_automatic=False)
    with Minutebook.open(tmp_path, database=url, settings=settings) as book:
        session = book.session("s")
        run = session.run("r")

        def talk() -> None:
            try:
                while not stop.is_set():
                    told.append(run.append({"role": "user", "content": f"message {len(told)}"}))
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            for _ in range(2):
                wait_until(grown(told, failures))
                server.stop_at_once()
                time.sleep(0.3)
                server.start()
            wait_until(grown(told, failures))
        finally:
            stop.set()
            thread.join()
        assert failures == []
        run.succeed()
        messages = session.messages()
        assert [message["content"] for message in messages] == [f"message {n}" for n in range(len(told))]
        assert [message["position"] for message in messages] == told
        assert book.verify().ok


def test_a_server_that_stays_away_leaves_the_append_open_and_says_so(
    tmp_path: Path, server: OwnServer, on_postgres: None
) -> None:
    url = server.shown
    settings = Settings(lock_timeout_seconds=0.2, curation_automatic=False)
    with Minutebook.open(tmp_path, database=url, settings=settings) as book:
        session = book.session("s")
        hello = {"role": "user", "content": "hello"}
        session.append(hello, id="first")
        server.stop_at_once()
        with pytest.raises(StoreError) as caught:
            session.append(hello, id="second")
        assert caught.value.code == "store_unreachable"
        server.start()
        position = session.append(hello, id="second")
        assert session.append(hello, id="second") == position
        assert [message["id"] for message in session.messages()] == ["first", "second"]


def grown(told: list[int], failures: list[BaseException]) -> Callable[[], bool]:
    """Whether twenty more appends were acknowledged since now."""
    before = len(told)
    return lambda: len(told) > before + 20 or bool(failures)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
