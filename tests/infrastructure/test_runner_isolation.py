"""A projection that hangs, is slow, raises or tries to leave delays no other, no append, no reader for long (E6)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from plugins import TokenCost
from sqlalchemy import Connection, func, insert, select

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import StoreError
from minutebook.domain.events import LoggedEvent
from minutebook.infrastructure.store import bounded
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections, Status
from minutebook.projections.context import Context
from minutebook.projections.projection import Projection

MakeMessage = Callable[..., MessageRecorded]
SECONDS = 1.5
"""What an event may take in these tests: long for a sound one, short to wait for."""


class Hanging(TokenCost):
    """Does not come back from a message in ``AT`` before ``release`` is set."""

    AT: set[str] = set()  # noqa: RUF012 - the tests change it
    entered = threading.Event()
    release = threading.Event()
    afterwards: list[BaseException | str] = []  # noqa: RUF012
    left = threading.Event()

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        if not any(isinstance(event.body, MessageRecorded) and event.body.message in self.AT for event in events):
            super().apply(events, connection)
            return
        row = {"session": f"late-{len(self.afterwards)}", "messages": 1, "tokens": 1}
        connection.execute(insert(self.totals), row | {"session": "early"})
        self.entered.set()
        self.release.wait(60)
        # It wakes up long after its transaction was taken away, and goes on as if nothing had happened.
        try:
            connection.execute(insert(self.totals), row)
            self.afterwards.append("written")
        except BaseException as error:
            self.afterwards.append(error)
        with suppress(Exception):
            connection.commit()
        self.left.set()


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    Hanging.AT = set()
    Hanging.afterwards = []
    Hanging.entered, Hanging.release, Hanging.left = threading.Event(), threading.Event(), threading.Event()
    yield
    Hanging.release.set()


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


def state(projections: Projections, name: str = "token_cost") -> Status:
    return next(row for row in projections.status() if row.name == name)


def sessions(log: Log, projection: Projection) -> set[str]:
    with log.database.reading() as connection:
        return set(connection.execute(select(projection.totals.c.session)).scalars())  # type: ignore[attr-defined]


def test_a_hanging_projection_is_halted_at_its_event_and_what_it_writes_later_is_not_kept(
    log: Log, message: MakeMessage
) -> None:
    Hanging.AT = {"m5"}
    projections = Projections(log, [Hanging, Context], seconds_max=SECONDS)
    log.append([message(number) for number in range(1, 10)])
    # when everything is brought up to date, the call comes back
    projections.catch_up()
    halted = state(projections)
    assert (halted.status, halted.cursor) == ("halted", 4)
    assert halted.error is not None
    assert halted.error.startswith("position 5 (MessageRecorded): TookTooLong")
    assert state(projections, "context").lag == 0
    # and when the thread wakes up at last, it finds its connection gone: nothing of it is kept
    Hanging.release.set()
    assert Hanging.left.wait(30)
    assert "written" not in Hanging.afterwards
    assert sessions(log, projections._bound["token_cost"].projection) == {"s"}
    assert state(projections).cursor == 4
    # mended, it goes on
    Hanging.AT = set()
    assert projections.retry("token_cost").status == "live"
    assert projections.verify("token_cost").ok


def test_an_append_waits_for_a_hanging_projection_no_longer_than_its_time(
    database_url: str, message: MakeMessage
) -> None:
    Hanging.AT = {"m1"}
    database, other = Database(database_url, lock_timeout=30), Database(database_url, lock_timeout=30)
    log, elsewhere = Log(database), Log(other)
    projections = Projections(log, [Hanging], seconds_max=SECONDS)
    log.append([message(1)])
    stuck = threading.Thread(target=projections.catch_up)
    stuck.start()
    assert Hanging.entered.wait(30)
    # when somebody appends meanwhile, then it is appended, although nobody releases the projection
    assert elsewhere.append([message(2)]) == [2]
    readers = Projections(elsewhere, [Context])
    with readers.reading("context") as (view, connection):
        assert connection.execute(select(func.count()).select_from(view.messages)).scalar_one() == 2
    stuck.join(60)
    assert state(projections).status == "halted"
    Hanging.release.set()
    database.close()
    other.close()


def test_a_statement_that_does_not_end_is_ended(log: Log, message: MakeMessage) -> None:
    class Endless(TokenCost):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000000000)"
            connection.exec_driver_sql(f"{numbers} SELECT count(*) FROM n").all()

    projections = Projections(log, [Endless, Context], seconds_max=SECONDS)
    log.append([message(1)])
    projections.catch_up()
    assert (state(projections).status, state(projections, "context").lag) == ("halted", 0)
    log.append([message(2)])


@pytest.mark.parametrize(
    ("what", "said"), [(SystemExit(3), "called sys.exit"), (asyncio.CancelledError(), "raised CancelledError")]
)
def test_a_projection_that_ends_its_caller_is_halted_and_the_program_goes_on(
    log: Log, message: MakeMessage, what: BaseException, said: str
) -> None:
    class Leaving(TokenCost):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            raise what

    projections = Projections(log, [Leaving, Context])
    log.append([message(1)])
    projections.catch_up()
    found = state(projections)
    assert (found.status, found.error) == ("halted", f"position 1 (MessageRecorded): Exited: apply {said}")
    assert state(projections, "context").lag == 0


def test_one_that_is_too_slow_for_a_batch_is_brought_up_to_date_in_small_ones(log: Log, message: MakeMessage) -> None:
    sizes: list[int] = []
    wait = threading.Event()

    class Slow(TokenCost):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            sizes.append(len(events))
            # Thirty milliseconds an event: a hundred of them do not fit into the time of a batch.
            for _ in events:
                wait.wait(0.03)
            super().apply(events, connection)

    projections = Projections(log, [Slow], seconds_max=4.0)
    log.append([message(number) for number in range(1, 111)])
    projections.catch_up()
    assert (state(projections).status, state(projections).lag) == ("live", 0)
    assert sizes[0] == 100
    assert set(sizes[1:101]) == {1}
    assert projections.verify("token_cost").ok


def test_an_interrupted_wait_leaves_no_transaction_behind(log: Log, message: MakeMessage) -> None:
    """Ctrl-C while a plug-in hangs: its connection goes, and the next worker finds the cursor free."""
    Hanging.AT = {"m1"}
    projections = Projections(log, [Hanging], seconds_max=60)
    log.append([message(1)])

    class Interrupting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if timeout == 60:
                assert Hanging.entered.wait(30)
                raise KeyboardInterrupt
            return super().wait(timeout)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("minutebook.infrastructure.store.bounded.threading.Event", Interrupting)
        with pytest.raises(KeyboardInterrupt):
            projections.catch_up()
    Hanging.AT = set()
    projections.catch_up()
    assert state(projections).lag == 0
    Hanging.release.set()


def test_a_reader_does_not_wait_for_a_lock_that_is_held_for_long(tmp_path: Path, message: MakeMessage) -> None:
    """With a writer stopped in the middle of its transaction, a reader folds what is missing and answers."""
    database, other = Database(tmp_path / "book.db", lock_timeout=300), Database(tmp_path / "book.db")
    log = Log(database)
    projections = Projections(log, [Context])
    log.append([message(1)])
    projections.catch_up()
    log.append([message(2)])
    with other.projecting(), projections.reading("context") as (view, connection):
        assert connection.execute(select(func.count()).select_from(view.messages)).scalar_one() == 2
    assert state(projections, "context").lag == 1
    database.close()
    other.close()


def test_our_own_projections_spare_the_thread_and_those_of_others_do_not() -> None:
    assert not bounded.is_foreign(Context())
    assert bounded.is_foreign(TokenCost())


def test_a_transient_error_is_no_poison_and_an_error_of_the_store_is_the_callers(
    log: Log, message: MakeMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minutebook.infrastructure.store.worker.DELAYS", (0.01, 0.01))
    failures = [StoreError("busy", code="store_locked")] * 2

    class Busy(TokenCost):
        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            if failures:
                raise failures.pop()
            super().apply(events, connection)

    projections = Projections(log, [Busy])
    log.append([message(1)])
    projections.catch_up()
    assert state(projections).status == "live"
    failures.append(StoreError("full", code="disk_full"))
    log.append([message(2)])
    with pytest.raises(StoreError) as caught:
        projections.catch_up()
    assert (caught.value.code, state(projections).status, state(projections).cursor) == ("disk_full", "live", 1)


@pytest.mark.usefixtures("on_postgres")
def test_a_transaction_that_sleeps_is_ended_by_the_server(postgres_url: str, message: MakeMessage) -> None:
    """A process that is stopped in the middle of a batch must not keep others off the cursor for ever."""
    asleep, awake = Database(postgres_url), Database(postgres_url, lock_timeout=60)
    log = Log(awake)
    projections = Projections(log, [TokenCost])
    log.append([message(1)])
    asleep.idle_seconds = 0.3

    def sleep() -> None:
        with asleep.projecting() as connection:
            connection.exec_driver_sql("UPDATE cursors SET heartbeat = 'asleep' WHERE name = 'token_cost'")
            projections.catch_up()
            connection.exec_driver_sql("SELECT 1")

    with pytest.raises(StoreError) as caught:
        sleep()
    assert caught.value.code == "store_unreachable"
    assert state(projections).lag == 0
    asleep.close()
    awake.close()
