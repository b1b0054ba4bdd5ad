"""What a server can refuse: a stable code, the mend, and never a password in anything that is said (section 5)."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import URL, create_engine, make_url
from stores import child_environment

from minutebook import Minutebook, MinutebookError
from minutebook.domain.catalogue import MessageRecorded
from minutebook.infrastructure.edges.cli import main
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.faults import hide_password, translate
from minutebook.infrastructure.store.log import Log

Make = Callable[..., MessageRecorded]
SECRET = "Zq7wk2PmXv"


def commanded(*words: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        main(list(words))
    return int(left.value.code or 0), out.getvalue() + err.getvalue()


@pytest.mark.parametrize(
    ("url", "code"),
    [
        (f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:1/none", "store_unreachable"),
        (f"postgresql+psycopg://bob:{SECRET}@nowhere.invalid/none", "store_unreachable"),
        (f"postgres://bob:{SECRET}@127.0.0.1:1/none", "store_unreachable"),
        (f"postgresql://127.0.0.1:1/none?user=bob&password={SECRET}", "store_unreachable"),
        (f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:1/none?nosuch=1", "bad_connection_option"),
        (f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:1/none?connect_timeout=soon", "bad_connection_option"),
        (f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:port/none", "bad_database_url"),
        (f"mysql://bob:{SECRET}@127.0.0.1/none", "bad_database_url"),
        (f"postgresql+psycopg2://bob:{SECRET}@127.0.0.1/none", "bad_database_url"),
        (f"postgresql+asyncpg://bob:{SECRET}@127.0.0.1/none", "bad_database_url"),
        (f"bob:{SECRET}@127.0.0.1/none", "bad_database_url"),
    ],
)
def test_a_url_that_leads_nowhere_is_refused_and_its_password_said_nowhere(
    tmp_path: Path, url: str, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(MinutebookError) as caught:
        Minutebook.open(tmp_path, database=url)
    assert caught.value.code == code, caught.value
    said = ["".join(traceback.format_exception(caught.value)), repr(caught.value), repr(caught.value.details)]
    for words in (("status",), ("--json", "status"), ("memory", "propose", "add", "x"), ("--json", "verify")):
        status, text = commanded("--workspace", str(tmp_path), "--database", url, *words)
        assert (status, code in text) == (1, True), text
        said.append(text)
    assert SECRET not in "\n".join((*said, caplog.text))


def test_what_an_open_book_shows_of_itself_holds_no_password(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server of the tests trusts everybody; a password that is given is not asked for.
    url = make_url(postgres_url)
    shown = (url if url.password else url.set(password=SECRET)).render_as_string(hide_password=False)
    secret = url.password or SECRET
    monkeypatch.setenv("MINUTEBOOK_DATABASE", shown)
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "hello"})
        database = book._runtime.log.database
        texts = [repr(book), repr(book.status()), repr(book.settings), repr(database.url), str(database.url)]
        texts += [repr(database.engine), repr(database.views), repr(list(book.log())), repr(book.verify())]
    for words in (("status",), ("status", "--json"), ("init", "--json"), ("log",), ("projections", "list", "--json")):
        status, text = commanded("--workspace", str(tmp_path), *words)
        assert status == 0
        texts.append(text)
    assert secret not in "\n".join(texts)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("could not connect to postgresql://bob:pw@host/x", "could not connect to postgresql://bob:***@host/x"),
        ("options: user=bob password=pw host=h", "options: user=bob password=*** host=h"),
        ("FATAL: password authentication failed for user", "FATAL: password authentication failed for user"),
    ],
)
def test_a_password_in_what_a_driver_says_is_hidden(text: str, hidden: str) -> None:
    assert hide_password(text) == hidden


@pytest.mark.parametrize(
    "reason", ["Permission denied", "Input/output error", "Read-only file system", "No space left on device"]
)
@pytest.mark.parametrize(
    "what",
    [
        "consuming input failed: could not receive data from server",
        "sending query failed: could not send data to server",
        'connection is bad: connection to server on socket "/run/.s.PGSQL.5432" failed',
    ],
)
def test_a_call_to_the_server_that_fails_is_a_server_that_cannot_be_reached(what: str, reason: str) -> None:
    """Found by ``make drill-inject``: whatever the system says, the disk is not meant, nor the log."""
    assert translate(psycopg.OperationalError(f"{what}: {reason}")).code == "store_unreachable"


def test_a_missing_driver_names_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from minutebook.infrastructure.edges.cli import main\n"
        "main(['--workspace', sys.argv[1], '--database', 'postgresql://h/x', '--json', 'status'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=child_environment(),
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "driver_missing" in done.stderr
    assert "minutebook[postgres]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_or_role_that_is_not_there_is_named(tmp_path: Path, postgres_url: str) -> None:
    url = make_url(postgres_url)
    for changed, code in ((url.set(database="nono"), "store_unknown_database"), (url.set(username="nobody"), None)):
        with pytest.raises(MinutebookError) as caught:
            Minutebook.open(tmp_path, database=changed.render_as_string(hide_password=False))
        assert caught.value.code == code or caught.value.code == "store_login_refused"


def test_a_database_in_another_encoding_is_refused_before_anything_is_made(
    tmp_path: Path, new_postgres: Callable[..., AbstractContextManager[URL]], postgres_server: URL, on_postgres: None
) -> None:
    admin = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    name = "minutebook_latin"
    with admin.connect() as connection:
        connection.exec_driver_sql(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            with pytest.raises(MinutebookError) as caught:
                Minutebook.open(tmp_path, database=postgres_server.set(database=name).render_as_string(False))
            assert caught.value.code == "store_not_utf8"
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    admin.dispose()


def test_a_role_that_may_only_read_reads_everything_and_is_told_when_it_writes(
    tmp_path: Path, postgres_url: str
) -> None:
    with Minutebook.open(tmp_path, database=postgres_url, automatic=False) as book:
        book.session("s").append([{"role": "user", "content": str(number)} for number in range(3)])
        digest = book.session("s").context().digest
        book.session("s").append({"role": "user", "content": "behind the projections"})
        owner = book._runtime.log.database
        with owner.views.begin() as connection:
            run = connection.exec_driver_sql
            run("CREATE ROLE minutebook_reader LOGIN")
            run("GRANT USAGE ON SCHEMA public TO minutebook_reader")
            run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO minutebook_reader")
        try:
            url = make_url(postgres_url).set(username="minutebook_reader").render_as_string(hide_password=False)
            with Minutebook.open(tmp_path, database=url, access="look") as reader:
                assert len(reader.session("s").messages()) == 4
                assert reader.session("s").context(at=5).digest != digest
                assert reader.verify().ok
            with pytest.raises(MinutebookError) as caught, Minutebook.open(tmp_path, database=url) as writer:
                writer.session("s").append({"role": "user", "content": "no"})
            assert caught.value.code == "store_forbidden"
        finally:
            with owner.views.begin() as connection:
                connection.exec_driver_sql("DROP OWNED BY minutebook_reader")
                connection.exec_driver_sql("DROP ROLE minutebook_reader")


def test_a_server_in_recovery_is_read_and_not_written(tmp_path: Path, postgres_url: str) -> None:
    """Given a server that lets nobody write (a standby), then a look folds what is missing and a write is refused."""
    with Minutebook.open(tmp_path, database=postgres_url, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "hello"})
    url = make_url(postgres_url).update_query_dict({"options": "-c default_transaction_read_only=on"}, append=True)
    shown = url.render_as_string(hide_password=False)
    with Minutebook.open(tmp_path, database=shown, access="look") as reader:
        assert len(reader.session("s").messages()) == 1
    with pytest.raises(MinutebookError) as caught, Minutebook.open(tmp_path, database=shown) as writer:
        writer.session("s").append({"role": "user", "content": "no"})
    assert caught.value.code == "store_read_only"


def test_values_that_no_database_holds_are_refused_alike(database: Database, message: Make) -> None:
    log = Log(database)
    log.append([message(1)])
    for look in (
        lambda: list(log.read(after=10**30)),
        lambda: log.at([10**30]),
        lambda: list(log.read(session="half \ud800")),
    ):
        with pytest.raises(MinutebookError) as caught:
            look()
        assert caught.value.code == "bad_value"
    assert log.head().position == 1


def test_a_curator_that_fails_with_a_nul_in_its_words_halts_nothing(tmp_path: Path, database_url: str) -> None:
    def fails(request: Any) -> str:
        raise RuntimeError("a \x00 in the middle, and half a pair \ud800")

    with Minutebook.open(tmp_path, database=database_url, curator=fails, summarizer=fails, automatic=False) as book:
        with book.session("s").run() as run:
            run.append([{"role": "user", "content": f"{n} " + "word " * 50} for n in range(40)])
            run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        assert book.curate().status == "failed"
        assert book.session("s").compact(window=2_000).status == "failed"
        with pytest.raises(RuntimeError), book.session("s").run():
            raise RuntimeError("a \x00 here as well")
        assert {row.status for row in book.projections.list()} == {"live"}
        assert book.verify().ok
