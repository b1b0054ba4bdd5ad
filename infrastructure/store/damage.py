"""Tables of a projection that are not as it made them, told by name and with the mend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError, ProgrammingError

from ...domain.errors import StoreError

_SIGNS = ("no such table", "no such column", "does not exist", "UTF-8")


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """What the database says of a missing table or column, as StoreError ``projection_damaged``."""
    try:
        yield
    except (OperationalError, ProgrammingError) as error:
        if not any(sign in str(error) for sign in _SIGNS):
            raise
        raise StoreError(
            f"the tables of projection {name!r} are damaged ({error.orig}); run 'minutebook projections rebuild "
            f"{name}': the log has everything",
            code="projection_damaged",
            projection=name,
        ) from error
