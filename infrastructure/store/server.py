"""Connections to a PostgreSQL server: patience with locks, none with a server that is gone."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL

from ...domain.errors import InputError

CONNECT_SECONDS = 10
"""A host that does not answer is given up after this; the system itself would wait for minutes."""

_ALIVE = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"}
# The other side of the same: what a vanished client has locked comes free after a minute, not after hours.
_SERVER_ALIVE = "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
_IDLE_SECONDS = {"AUTOCOMMIT": 60, "READ COMMITTED": 300}
"""A client that stopped in the middle of a transaction lets go after this: who appends holds all others up. A server's
own shorter limit would cut off a reader that computes between two looks at one snapshot."""

# Stricter levels, where a server has them as its default, would refuse every append that had to wait for another.
_LEVEL = r"-c default_transaction_isolation=read\ committed"


def server_engine(
    url: URL, *, isolation: Literal["AUTOCOMMIT", "READ COMMITTED"], read_only: bool, lock_timeout: float
) -> Engine:
    """An engine on a PostgreSQL server; what the URL says in its query wins over what is set here.

    Raises InputError ``driver_missing``.
    """
    # Zero would mean to wait for ever.
    options = [_SERVER_ALIVE, _LEVEL, f"-c lock_timeout={max(1, int(lock_timeout * 1000))}"]
    options.append(f"-c idle_in_transaction_session_timeout={_IDLE_SECONDS[isolation] * 1000}")
    if read_only:
        options.append("-c default_transaction_read_only=on")
    # What the URL says in its own "options" (a search_path) stays in force beside ours.
    options.append(str(url.query.get("options", "")))
    settings = {"connect_timeout": str(CONNECT_SECONDS), "application_name": "minutebook", **_ALIVE}
    if not read_only and _several_hosts(url):
        settings["target_session_attrs"] = "read-write"
    given = {name: value for name, value in settings.items() if name not in url.query}
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            isolation_level=isolation,
            hide_parameters=True,
            connect_args={**given, "client_encoding": "utf8", "options": " ".join(filter(None, options))},
        )
    except ModuleNotFoundError as error:
        raise InputError(
            "PostgreSQL needs the driver psycopg: install 'minutebook[postgres]'", code="driver_missing"
        ) from error
    event.listen(engine, "do_connect", _watched)
    event.listen(engine, "connect", _only_64_bits)
    return engine


def _several_hosts(url: URL) -> bool:
    """Of several servers one can be written to, and which it is may change."""
    named = url.query.get("host", ())
    return len(named) > 1 if isinstance(named, tuple) else "," in named


def _watched(_dialect: Any, _record: Any, words: list[Any], arguments: dict[str, Any]) -> Any:
    from .silence import Watched

    assert not words
    return Watched.dial(**arguments)


def _only_64_bits(connection: Any, _record: Any) -> None:
    # psycopg sends a larger number as numeric, and the answer would be silence; as bigint the server refuses it.
    from psycopg.types.numeric import Int8Dumper

    connection.adapters.register_dumper(int, Int8Dumper)
