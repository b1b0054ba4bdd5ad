"""A plug-in's tables and statements: what is refused before it runs, and what nobody else notices (E5)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from plugins import TokenCost
from sqlalchemy import (
    Column,
    Connection,
    Enum,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import IntegrityError

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import InputError
from minutebook.domain.events import LoggedEvent
from minutebook.infrastructure.store import schema
from minutebook.infrastructure.store.binding import bind
from minutebook.infrastructure.store.confinement import _wrong
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections, Status
from minutebook.projections.context import Context
from minutebook.projections.projection import BIG, Projection

MakeMessage = Callable[..., MessageRecorded]


@pytest.fixture
def log(database: Database) -> Log:
    return Log(database)


def state(projections: Projections, name: str) -> Status:
    return next(row for row in projections.status() if row.name == name)


class Tally(Projection):
    """One row an event; ``misdeed`` is for the subclasses."""

    name = "tally"
    event_types = frozenset({"MessageRecorded"})

    def tables(self, metadata: MetaData) -> None:
        self.rows = Table(
            "tally",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("events", Integer, nullable=False),
        )

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        connection.execute(insert(self.rows), [{"position": each.position, "events": 1} for each in events])
        self.misdeed(events, connection)

    def misdeed(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        """Nothing here."""


# --- what may be declared


def declaring(*make: Callable[[MetaData], Any], named: str = "token_cost") -> type[Projection]:
    class Declares(Tally):
        name = named

        def tables(self, metadata: MetaData) -> None:
            for each in make:
                each(metadata)

    return Declares


def table(name: str, *more: Any, **options: Any) -> Callable[[MetaData], Table]:
    return lambda metadata: Table(name, metadata, Column("k", Text, primary_key=True), *more, **options)


REFUSED: dict[str, tuple[type[Projection], str]] = {
    "the log's table": (declaring(table("events")), "must be named"),
    "another's table": (declaring(table("context_messages")), "must be named"),
    "a name that only begins alike": (declaring(table("token_cost2x")), "must be named"),
    "a quoted name": (declaring(table('token_cost_"x"')), "lower case"),
    "upper case": (declaring(table("token_cost_Lines")), "lower case"),
    "the name of a generation": (declaring(table("token_cost__g2")), "single underscores"),
    "a name too long": (declaring(table("token_cost_" + "x" * 50)), "at most 54"),
    "another schema": (declaring(table("token_cost", schema="other")), "leave the schema out"),
    "no table": (declaring(), "declares no table"),
    "the log's index": (
        declaring(table("token_cost", Index("events_by_topic", "k"))), "indexes and constraints must be named"
    ),
    "a constraint of another name": (
        declaring(table("token_cost", UniqueConstraint("k", name="once"))), "indexes and constraints must be named"
    ),
    "a foreign key to the log by name": (
        declaring(table("token_cost", Column("at", BIG, ForeignKey("events.position")))), "only its own tables"
    ),
    "a foreign key to the log by column": (
        declaring(table("token_cost", Column("at", BIG, ForeignKey(schema.events.c.position)))), "only its own tables"
    ),
    "a key that the database numbers": (
        declaring(lambda metadata: Table("token_cost", metadata, Column("id", Integer, primary_key=True))),
        "autoincrement=False",
    ),
    "the database's clock": (
        declaring(table("token_cost", Column("at", Text, server_default=func.now()))), "set the value in 'apply'"
    ),
    "a default that is computed": (
        declaring(table("token_cost", Column("at", Text, default=lambda: "now"))), "set the value in 'apply'"
    ),
    "a type of its own": (
        declaring(table("token_cost", Column("kind", Enum("a", "b", name="kinds")))), "native_enum=False"
    ),
    "the log's name": (declaring(table("events_mine"), named="events"), "belongs to the log"),
    "the beginning of the log's name": (declaring(table("log_mine"), named="log"), "belongs to the log"),
    "SQLite's name": (declaring(table("sqlite_mine"), named="sqlite_mine"), "belongs to the database"),
    "a name with a hyphen": (declaring(table("token-cost"), named="token-cost"), "lower case letters"),
    "a version that is none": (type("Bad", (Tally,), {"version": True}), "whole number"),
    "types in one text": (type("Bad", (Tally,), {"event_types": "MessageRecorded"}), "frozenset of topics"),
    "no apply": (type("Bad", (Projection,), {"name": "tally", "tables": Tally.tables}), "has no 'apply'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_meet_another_is_refused_before_it_is_made(case: str) -> None:
    projection, said = REFUSED[case]
    with pytest.raises(InputError, match=said) as caught:
        bind(projection)
    assert caught.value.code == "bad_projection"


@pytest.mark.parametrize("error", [RuntimeError("no tables today"), SystemExit(3), KeyError("x")], ids=repr)
def test_a_declaration_that_fails_is_told_with_its_reason(error: BaseException) -> None:
    class Failing(Tally):
        def tables(self, metadata: MetaData) -> None:
            raise error

    with pytest.raises(InputError, match=f"Failing cannot declare its tables: {type(error).__name__}") as caught:
        bind(Failing)
    assert caught.value.code == "bad_projection"


def test_two_that_mean_the_same_table_are_refused(log: Log) -> None:
    inner = declaring(table("token_cost_lines"))
    outer = declaring(table("token_cost_lines"), named="token")
    with pytest.raises(InputError, match="both declare 'token_cost_lines'"):
        Projections(log, [inner, outer])


def test_an_index_that_has_no_name_of_its_own_goes_through_generations(log: Log, message: MakeMessage) -> None:
    # given a plug-in whose index and constraint are named by SQLAlchemy and by the database, at the longest name
    longest = "tally_" + "x" * 38

    class Indexed(Tally):
        def tables(self, metadata: MetaData) -> None:
            self.rows = Table(
                longest,
                metadata,
                Column("position", BIG, primary_key=True, autoincrement=False),
                Column("events", Integer, nullable=False, index=True),
                UniqueConstraint("position", "events"),
            )

    projections = Projections(log, [Indexed])
    log.append([message(number) for number in range(1, 4)])
    projections.catch_up()
    before = projections.dump_hash("tally")

    # when it is rebuilt again and again
    for _ in range(3):
        projections.rebuild("tally")

    # then nothing has collided
    assert projections.dump_hash("tally") == before
    assert projections.verify("tally").ok


# --- what may be done

MISDEEDS: dict[str, tuple[Callable[[Connection], Any], str]] = {
    "commits": (lambda connection: connection.commit(), r"called commit\(\)"),
    "rolls back": (lambda connection: connection.rollback(), r"called rollback\(\)"),
    "closes": (lambda connection: connection.close(), r"called close\(\)"),
    "begins": (lambda connection: connection.begin(), r"called begin\(\)"),
    "commits in SQL": (lambda connection: connection.exec_driver_sql("COMMIT"), "may only read and write rows"),
    "commits behind a comment": (
        lambda connection: connection.execute(text("/* SELECT */ -- x\n COMMIT")), "may only read and write rows"
    ),
    "runs two statements": (
        lambda connection: connection.exec_driver_sql("SELECT 1; COMMIT"), "may only read and write rows"
    ),
    "drops a table": (lambda connection: connection.exec_driver_sql("DROP TABLE tally"), "may only read and write"),
    "releases the savepoint": (
        lambda connection: connection.exec_driver_sql("ROLLBACK TO SAVEPOINT minutebook_apply"), "the savepoint"
    ),
    "writes to the log": (
        lambda connection: connection.execute(text("UPDATE events SET actor = 'me'")), "writes to 'events'"
    ),
    "deletes from another": (
        lambda connection: connection.execute(text('DELETE FROM "context_messages"')), "writes to 'context_messages'"
    ),
    "writes to a cursor": (
        lambda connection: connection.execute(schema.cursors.update().values(position=0)), "writes to 'cursors'"
    ),
    "writes in a common table": (
        lambda connection: connection.execute(text("WITH x AS (SELECT 1) INSERT INTO leases (name) VALUES ('a')")),
        "writes to 'leases'",
    ),
    "reads the log": (
        lambda connection: connection.execute(select(func.count()).select_from(schema.events)), "reads 'events'"
    ),
    "reads another": (
        lambda connection: connection.execute(text("SELECT * FROM tally t, public.context_messages m")),
        "reads 'context_messages'",
    ),
    "leaves the process": (lambda connection: sys.exit(4), "Exited: apply called sys.exit"),
    "raises": (lambda connection: 1 / 0, "ZeroDivisionError"),
    "is recursive without end": (lambda connection: _recurse(), "RecursionError"),
}  # fmt: skip


def _recurse() -> None:
    _recurse()


@pytest.mark.parametrize("case", MISDEEDS)
def test_a_misdeed_halts_its_projection_and_is_felt_by_no_other(log: Log, message: MakeMessage, case: str) -> None:
    # given a plug-in that misbehaves at the second message
    do, said = MISDEEDS[case]

    class Wicked(Tally):
        def misdeed(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            if any(each.position == 2 for each in events):
                do(connection)

    projections = Projections(log, [Wicked, Context, TokenCost])
    log.append([message(number) for number in range(1, 6)])

    # when all are brought up to date
    projections.catch_up()

    # then it stands before that message, says why, and has the rows of the first only
    found = state(projections, "tally")
    assert (found.status, found.cursor) == ("halted", 1)
    assert found.error is not None
    assert re.search(said, found.error)
    assert projections.count("tally") == 1

    # and the others, the log and its cursors are whole
    assert (state(projections, "context").cursor, state(projections, "token_cost").cursor) == (5, 5)
    assert [projections.verify(name).ok for name in ("context", "token_cost")] == [True, True]
    assert log.append([message(6)]) == [6]


def test_a_savepoint_of_its_own_is_a_plug_ins_right(log: Log, message: MakeMessage) -> None:
    class Careful(Tally):
        def misdeed(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            for each in events:
                with suppress(IntegrityError), connection.begin_nested():
                    connection.execute(insert(self.rows), {"position": each.position, "events": 2})

    projections = Projections(log, [Careful])
    log.append([message(number) for number in range(1, 4)])
    projections.catch_up()
    assert (state(projections, "tally").status, projections.count("tally")) == ("live", 3)
    assert projections.verify("tally").ok


def test_who_commits_on_the_drivers_own_connection_is_found_out(log: Log, message: MakeMessage) -> None:
    # given a plug-in that goes behind every guard
    class Wily(Tally):
        def misdeed(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            driver: Any = connection.connection.driver_connection
            driver.commit()

    projections = Projections(log, [Wily, Context])
    log.append([message(number) for number in range(1, 4)])

    # when it has committed
    projections.catch_up()

    # then it is halted with the words that say what to do, and no other is touched
    found = state(projections, "tally")
    assert (found.status, found.error is not None and "ended the transaction" in found.error) == ("halted", True)
    assert projections.verify("context").ok
    assert log.append([message(4)]) == [4]


def test_a_failed_statement_that_is_passed_over_halts_where_the_database_does_not_forgive(
    log: Log, message: MakeMessage
) -> None:
    class Careless(Tally):
        def misdeed(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            try:
                connection.execute(insert(self.rows), {"position": events[0].position, "events": 2})
            except Exception:
                return

    projections = Projections(log, [Careless])
    log.append([message(1), message(2)])
    projections.catch_up()
    found = state(projections, "tally")
    if log.database.sqlite:
        assert (found.status, projections.count("tally")) == ("live", 2)
    else:
        assert (found.status, "begin_nested" in str(found.error)) == ("halted", True)


def test_what_is_kept_on_the_instance_is_named_by_verify(log: Log, message: MakeMessage) -> None:
    # given a plug-in that counts on its instance what stands in no table
    class Forgetful(Tally):
        def __init__(self) -> None:
            self.seen: list[int] = []

        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            for each in events:
                self.seen.append(each.position)
                connection.execute(insert(self.rows), {"position": each.position, "events": len(self.seen)})

    first = Projections(log, [Forgetful])
    log.append([message(1), message(2)])
    first.catch_up()
    assert first.verify("tally").ok

    # when another process goes on
    second = Projections(log, [Forgetful])
    log.append([message(3)])
    second.catch_up()

    # then the difference is named, and a look with the instance of the first changes nothing there
    for each in (first, second):
        report = each.verify("tally")
        assert (report.ok, report.table, report.column) == (False, "tally", "events"), report.detail


def test_rows_that_differ_from_run_to_run_are_named_by_verify(log: Log, message: MakeMessage) -> None:
    class Random(Tally):
        drawn = iter(range(1_000))

        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            for each in events:
                connection.execute(insert(self.rows), {"position": each.position, "events": next(self.drawn)})

    projections = Projections(log, [Random])
    log.append([message(1), message(2)])
    projections.catch_up()
    report = projections.verify("tally")
    assert (report.ok, report.key, report.column) == (False, "position=1", "events")


OWN = frozenset({"tally", "tally_lines"})

SOUND = [
    "SELECT tally.events FROM tally WHERE tally.events > 2 ORDER BY events",
    "INSERT INTO tally (position, events) VALUES (?, ?) ON CONFLICT (position) DO UPDATE SET events = excluded.events",
    "WITH recent AS (SELECT * FROM tally) SELECT recent.events FROM recent, tally_lines AS l",
    "UPDATE tally SET events = (SELECT count(*) FROM tally_lines) WHERE position IN (SELECT x FROM json_each(?))",
    "DELETE FROM \"tally\" WHERE name = 'DELETE FROM events; COMMIT'",
    "SELECT * FROM tally FOR UPDATE OF tally",
    "(SELECT 1) UNION (SELECT 2)",
    "INSERT OR REPLACE INTO tally VALUES (1, 2)",
    "SELECT 1 -- FROM events",
    "SELECT EXTRACT(year FROM tally.at) FROM tally;",
]


@pytest.mark.parametrize("statement", SOUND)
def test_what_touches_only_its_own_rows_passes(statement: str) -> None:
    assert _wrong(statement, OWN, frozenset({"events", "context_messages"})) is None
