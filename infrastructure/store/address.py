"""What names a database: a path, or an SQLAlchemy URL in which a password may stand and which is never printed."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ...domain.errors import InputError

_FORMS = "use sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME"

_PSYCOPG = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
"""Hosters write the first, older versions of SQLAlchemy mean another driver by the second."""


def database_url(value: str | Path | URL) -> URL:
    """The URL of a database. Raises InputError ``bad_database_url``, which does not repeat what was given."""
    if isinstance(value, Path):
        return URL.create("sqlite", database=str(value))
    try:
        url = make_url(value)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            f"that is no database URL; {_FORMS}, and write '@', ':', '/' and '%' in a password as %40, %3A, %2F, %25",
            code="bad_database_url",
        ) from error
    if url.drivername in _PSYCOPG:
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite":
        return url
    raise InputError(f"databases of the kind {url.drivername!r} are not supported; {_FORMS}", code="bad_database_url")
