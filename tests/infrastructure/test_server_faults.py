"""What a server does to its clients while it lives: silence, limits, stricter levels, deadlocks, another primary."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from own_server import OwnServer, folder_of_server, own_server
from sqlalchemy import Connection, make_url
from wire import How, When, Wire

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import StoreError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log

Make = Callable[..., MessageRecorded]
HELLO = {"role": "user", "content": "hello"}
CALM = Settings(curation_automatic=False)
IDLE = "-c idle_in_transaction_session_timeout=600"


@pytest.fixture
def wire(postgres_url: str) -> Iterator[Wire]:
    made = Wire(make_url(postgres_url))
    yield made
    made.close()


@pytest.fixture(scope="module")
def servers() -> Iterator[OwnServer]:
    with own_server() as made:
        yield made


@pytest.fixture
def server(servers: OwnServer, on_postgres: None) -> Iterator[OwnServer]:
    """A server of the drill's own with one database, its settings as they were afterwards."""
    yield servers
    servers.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    servers.run("ALTER SYSTEM RESET ALL")
    servers.run("SELECT pg_reload_conf()")
    servers.run("DROP SCHEMA public CASCADE")
    servers.run("CREATE SCHEMA public")


def all_at_once(work: Callable[[int], Any], count: int) -> list[Any]:
    """What ``work(0)`` to ``work(count - 1)`` come to in threads of their own: an answer, or what was raised."""
    found: list[Any] = [None] * count
    start = threading.Barrier(count)

    def one(number: int) -> None:
        start.wait()
        try:
            found[number] = work(number)
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def other(server: OwnServer) -> psycopg.Connection[Any]:
    """Another program of the same database."""
    return psycopg.connect(host=str(server.place), user="postgres", dbname="postgres")


def kept(log: Log) -> list[str]:
    return [event.body.message for event in log.read() if isinstance(event.body, MessageRecorded)]


# --- a connection that is half there


@pytest.mark.parametrize("exchange", [1, 2, 3])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["half", "silent"])
def test_an_append_over_a_connection_that_is_half_there_is_in_the_log_once(
    wire: Wire, message: Make, how: How, when: When, exchange: int
) -> None:
    """Given BEGIN, the call or COMMIT that went into nothing, or whose answer did, then the append is kept once."""
    # The store is there before: to make it takes longer, on a busy machine, than this server lets a transaction idle.
    first = Database(wire.with_options(connect_timeout="30"))
    Log(first)
    first.close()
    # A server that waits for the rest of a transaction lets its locks go, and a silent one is asked, sooner than it is.
    database = Database(wire.with_options(connect_timeout="2", options=IDLE), lock_timeout=30.0)
    log = Log(database)
    log.append([message(1)])

    def within(connection: Connection, appended: list[int]) -> None:
        connection.exec_driver_sql("INSERT INTO trackings VALUES ('follower', %s)", (appended[-1],))

    wire.cut(when, exchange, how)
    assert log.append([message(2), message(3)], within=within) == [2, 3]
    assert wire.cuts == 1
    assert kept(log) == ["m1", "m2", "m3"]
    assert verify_log(log).ok
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT notification_id FROM trackings").scalars().all() == [3]
    database.close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_that_comes_late_is_waited_for_while_the_server_lives(wire: Wire, message: Make, when: When) -> None:
    database = Database(wire.with_options(connect_timeout="30"))
    log = Log(database)
    log.append([message(1)])
    wire.cut(when, 1, "late")
    threading.Timer(0.5, wire.deliver).start()
    assert log.append([message(2)]) == [2]
    assert wire.cuts == 1
    assert kept(log) == ["m1", "m2"]
    database.close()


def test_a_server_that_works_for_long_is_waited_for(postgres_url: str) -> None:
    """Given a statement that takes longer than a silent server is waited for, then it is not given up."""
    database = Database(make_url(postgres_url).update_query_dict({"connect_timeout": "1"}).render_as_string(False))
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT pg_sleep(3.5), 7").one()[1] == 7
    database.close()


def test_a_server_that_hangs_is_given_up_and_what_was_in_doubt_is_settled(
    tmp_path: Path, server: OwnServer, message: Make
) -> None:
    """Given a server whose every process stands still, when it is asked, then nothing waits for it for ever."""
    url = server.url.update_query_dict({"connect_timeout": "2"}).render_as_string(hide_password=False)
    settings = Settings(curation_automatic=False, lock_timeout_seconds=1.0)
    with Minutebook.open(tmp_path, database=url, settings=settings) as book:
        session = book.session("s")
        session.append(HELLO, id="first")
        with server.frozen():
            for ask in (lambda: session.append(HELLO, id="second"), session.context, book.status):
                with pytest.raises(StoreError) as caught:
                    ask()
                assert caught.value.code == "store_unreachable"
        position = session.append(HELLO, id="second")
        assert session.append(HELLO, id="second") == position
        assert [row["id"] for row in session.messages()] == ["first", "second"]
        assert book.verify().ok


# --- limits of the server


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_server_that_is_stricter_by_default_refuses_no_append(server: OwnServer, message: Make, level: str) -> None:
    """Given another isolation level as the server's default, when many append at once, then each goes through."""
    server.set(default_transaction_isolation=level)

    def work(worker: int) -> list[int]:
        database = Database(server.shown)
        log = Log(database)
        done = [log.append([message(number, session=f"s{worker}")])[0] for number in range(20)]
        database.close()
        return done

    found = all_at_once(work, 6)
    assert [error for error in found if isinstance(error, BaseException)] == []
    assert sorted(position for positions in found for position in positions) == list(range(1, 121))
    database = Database(server.shown)
    assert verify_log(Log(database)).ok
    database.close()


def test_when_no_connection_is_free_the_error_says_so_and_an_append_waits_for_one(
    tmp_path: Path, server: OwnServer
) -> None:
    with Minutebook.open(tmp_path / "first", database=server.shown, settings=CALM) as book:
        book.session("s")
    server.set(max_connections=12)
    server.restart()
    patient = Settings(curation_automatic=False, lock_timeout_seconds=60.0)
    with Minutebook.open(tmp_path / "first", database=server.shown, settings=patient) as book:
        session = book.session("s")
        held = []
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                held.append(other(server))
        with pytest.raises(MinutebookError) as caught:
            Minutebook.open(tmp_path / "second", database=server.shown, settings=CALM)
        assert caught.value.code == "store_unreachable"
        assert "max_connections" in caught.value.message
        release = threading.Timer(0.5, lambda: [*map(psycopg.Connection.close, held)])
        release.start()
        assert session.append(HELLO, id="m1") == session.append(HELLO, id="m1")
        release.join()
        assert book.verify().ok
    server.run("ALTER SYSTEM RESET max_connections")
    server.restart()


def test_a_statement_that_the_server_ends_is_named_as_that_and_halts_nothing(tmp_path: Path, server: OwnServer) -> None:
    with Minutebook.open(tmp_path, database=server.shown, settings=CALM) as book:
        session = book.session("s")
        session.append(HELLO)
        server.set(statement_timeout="200ms")
        with other(server) as holder:
            holder.execute("SET statement_timeout = 0")
            holder.execute("SELECT * FROM log_head FOR UPDATE")
            with pytest.raises(StoreError) as caught:
                session.append(HELLO)
            assert caught.value.code == "store_timeout"
            assert "statement_timeout" in caught.value.message
            holder.execute("SELECT * FROM cursors FOR UPDATE")
            assert session.context().messages  # the tail is folded by the reader
        assert {row["status"] for row in book.projections.list()} <= {"live", "building"}
        server.set(statement_timeout="0")
        session.append(HELLO)
        assert book.verify().ok


def test_what_a_client_that_stopped_has_locked_comes_free(server: OwnServer, message: Make) -> None:
    """Given a client that stands still between the append and its commit, then the others go on after its limit."""
    url = server.url.update_query_dict({"options": IDLE}).render_as_string(hide_password=False)
    stuck, going = Database(url, lock_timeout=60.0), Database(server.shown, lock_timeout=60.0)
    log, theirs = Log(stuck), Log(going)
    log.append([message(1)])
    others: list[int] = []

    def stands_still(connection: Connection, appended: list[int]) -> None:
        if not others:
            others.extend(theirs.append([message(2, session="other")]))

    # Its own attempt is lost, and said again behind the other's.
    assert (log.append([message(3)], within=stands_still), others) == ([3], [2])
    assert verify_log(theirs).ok
    for database in (stuck, going):
        database.close()


def test_a_server_that_cuts_off_idle_readers_does_not_cut_off_ours(tmp_path: Path, server: OwnServer) -> None:
    server.set(idle_in_transaction_session_timeout="20ms")
    with Minutebook.open(tmp_path, database=server.shown, settings=CALM) as book:
        session = book.session("s")
        for _ in range(3):
            session.append(HELLO)
            assert session.context().messages
        assert book.verify().ok
        book.projections.rebuild("context")


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_transaction_that_the_server_takes_back_is_said_again(server: OwnServer, message: Make, state: str) -> None:
    """Given a serialization failure or a deadlock in an append, then the caller does not hear of it."""
    database = Database(server.shown, lock_timeout=60.0)
    log = Log(database)
    log.append([message(1)])
    server.run("CREATE SEQUENCE refusals")
    server.run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('refusals') < 4 THEN "
        f"RAISE EXCEPTION 'taken back' USING ERRCODE = '{state}'; END IF; RETURN NEW; END $$"
    )
    server.run("CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()")
    assert log.append([message(2)]) == [2]
    assert kept(log) == ["m1", "m2"]
    assert verify_log(log).ok
    database.close()


def test_a_real_deadlock_with_another_program_loses_nothing(server: OwnServer, message: Make) -> None:
    database = Database(server.shown, lock_timeout=60.0)
    log = Log(database)
    log.append([message(1)])
    server.run("INSERT INTO trackings VALUES ('follower', 0)")
    server.set(deadlock_timeout="50ms")
    tried: list[list[int]] = []
    with other(server) as holder:
        holder.execute("SET deadlock_timeout = '1h'")  # so that it is ours that is taken back
        holder.execute("UPDATE trackings SET notification_id = 1")

        def the_head_too() -> None:
            holder.execute("SELECT * FROM log_head FOR UPDATE")
            holder.rollback()

        waiting = threading.Thread(target=the_head_too)

        def within(connection: Connection, appended: list[int]) -> None:
            tried.append(appended)
            if len(tried) == 1:
                waiting.start()
                until_it_waits(server)
            connection.exec_driver_sql("UPDATE trackings SET notification_id = %s", (appended[-1],))

        assert log.append([message(2)], within=within) == [2]
        waiting.join()
    assert len(tried) == 2
    assert kept(log) == ["m1", "m2"]
    database.close()


def until_it_waits(server: OwnServer) -> None:
    while not server.run("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
        pass


@pytest.mark.parametrize(
    ("state", "code", "mend"),
    [
        ("53200", "store_exhausted", "memory"),
        ("53400", "store_exhausted", "memory"),
        ("53100", "disk_full", "free some space"),
        ("57014", "store_timeout", "statement_timeout"),
        ("25P03", "store_unreachable", "idle_in_transaction_session_timeout"),
        ("25006", "store_read_only", "primary server"),
        ("58030", "store_io_error", "disk of the server"),
        ("57P01", "store_unreachable", "check the server"),
    ],
)
def test_each_refusal_has_its_code_and_its_mend_and_makes_no_event_a_poison(
    tmp_path: Path, server: OwnServer, state: str, code: str, mend: str
) -> None:
    """Given a server that refuses the rows of a projection, then no event is blamed for it."""
    with Minutebook.open(tmp_path, database=server.shown, settings=CALM, automatic=False) as book:
        session = book.session("s")
        session.append([HELLO, HELLO])
        server.run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'as it is' USING ERRCODE = '{state}'; END $$"
        )
        server.run("CREATE TRIGGER refuse BEFORE INSERT ON context_messages FOR EACH ROW EXECUTE FUNCTION refuse()")
        with pytest.raises(StoreError) as caught:
            book._runtime.projections.catch_up("context")
        assert caught.value.code == code
        assert mend in caught.value.message
        server.run("DROP FUNCTION refuse CASCADE")
        assert len(session.context().messages) == 2
        assert {row["status"] for row in book.projections.list()} == {"live"}
        assert book.verify().ok


def test_more_threads_than_connections_look_at_one_book(tmp_path: Path, database_url: str) -> None:
    """Given a pool of fifteen connections, when forty threads look and write at once, then each gets its turn."""
    with Minutebook.open(tmp_path, database=database_url, settings=CALM, automatic=False) as book:
        session = book.session("s")

        def work(number: int) -> int:
            position = session.append(HELLO, id=f"m{number}")
            assert session.context().messages
            assert book.sessions()
            return position

        found = all_at_once(work, 40)
        assert [error for error in found if isinstance(error, BaseException)] == []
        assert len(set(found)) == 40
        assert book.verify().ok


# --- another primary


@pytest.mark.slow
def test_another_server_takes_over_and_the_conversation_goes_on(tmp_path: Path, on_postgres: None) -> None:
    """Given a standby that is made the primary, and a name that leads to it, then nothing acknowledged is lost."""
    with own_server() as first, folder_of_server() as folder:
        first.set(synchronous_standby_names="")
        wire = Wire(first.url)
        settings = Settings(curation_automatic=False, lock_timeout_seconds=60.0)
        with Minutebook.open(tmp_path / "w", database=wire.url, settings=settings) as book:
            session = book.session("s")
            told = [session.append(HELLO, id=f"m{number}") for number in range(3)]
            second = first.standby(folder)
            try:
                # What is acknowledged is on both, and seen there.
                first.set(synchronous_standby_names="*", synchronous_commit="remote_apply")
                told.append(session.append(HELLO, id="m3"))
                # A standby is read, and refuses a write with its code.
                with Minutebook.open(tmp_path / "w", database=second.shown, read_only=True) as reader:
                    assert len(reader.session("s").messages()) == 4
                    assert reader.session("s").context().messages
                    assert reader.verify().ok
                with pytest.raises(StoreError) as caught:
                    Minutebook.open(tmp_path / "w", database=second.shown).session("s").append(HELLO)
                assert caught.value.code == "store_read_only"
                # The old one goes on as a server that lets nobody write: its connections stay, and are of no use.
                first.set(synchronous_standby_names="")
                first.set(default_transaction_read_only="on")
                second.promote()
                wire.lead_to(second.url)
                told.append(session.append(HELLO, id="m4"))
                assert session.append(HELLO, id="m4") == told[-1]
                assert [row["position"] for row in session.messages()] == told
                assert book.verify().ok
                assert session.context().messages
                # The other way: it is gone at once, in the middle.
                first.stop_at_once()
                told.append(session.append(HELLO, id="m5"))
                assert [row["position"] for row in session.messages()] == told
                assert book.verify().ok
            finally:
                second.close()
        wire.close()


def test_of_several_servers_in_the_url_the_one_that_can_be_written_is_taken(tmp_path: Path, server: OwnServer) -> None:
    with folder_of_server() as folder:
        second = server.standby(folder)
        try:
            both = server.url.set(query={"host": f"{second.place},{server.place}"})
            with Minutebook.open(tmp_path, database=both.render_as_string(False), settings=CALM) as book:
                book.session("s").append(HELLO)
                assert book.verify().ok
            only = server.url.set(query={"host": f"{second.place},{second.place}"})
            with pytest.raises(StoreError) as caught:
                Minutebook.open(tmp_path, database=only.render_as_string(False), settings=CALM)
            assert caught.value.code == "store_read_only"
            assert "primary" in caught.value.message
        finally:
            second.close()


# --- its disk


@pytest.fixture
def small_disk(servers: OwnServer) -> Iterator[Path]:
    """A file system of four megabytes that the server may write to."""
    with folder_of_server() as folder:
        place = folder / "small"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=777", "tmpfs", str(place)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("a small disk can only be mounted by root")
        servers.give(place)
        yield place
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_of_the_server_keeps_nothing_of_the_write_and_reading_goes_on(
    tmp_path: Path, server: OwnServer, small_disk: Path
) -> None:
    with Minutebook.open(tmp_path, database=server.shown, settings=CALM, automatic=False) as book:
        session = book.session("s")
        server.run(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
        server.run("ALTER TABLE events SET TABLESPACE small")
        told: list[int] = []

        def fill() -> None:
            while True:
                text = os.urandom(20_000).hex()
                told.append(session.append({"role": "user", "content": text}, id=f"m{len(told)}"))

        with pytest.raises(StoreError) as caught:
            fill()
        assert caught.value.code == "disk_full"
        assert "free some space on the server" in caught.value.message
        assert [row["position"] for row in session.messages()] == told
        assert book.verify().ok
        server.run("ALTER TABLE events SET TABLESPACE pg_default")
        told.append(session.append(HELLO, id="last"))
        assert [row["position"] for row in session.messages()] == told
        assert book.verify().ok
        server.run("DROP TABLESPACE small")
