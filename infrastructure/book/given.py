"""What a caller hands in when a book is opened: refused at the start where it could only fail later."""

from __future__ import annotations

import inspect
from typing import Any

from ...domain.errors import InputError
from ..work.calling import method


def usable(value: Any, what: str, name: str) -> None:
    """Refuses at the start what could only fail later: no function at all, or one that answers later."""
    if value is None:
        return
    function = method(value, name)
    if any(inspect.iscoroutinefunction(each) for each in (function, getattr(function, "__call__", None))):  # noqa: B004
        raise InputError(
            f"the {what} is asynchronous and this book is not; use minutebook.aio, or give a plain function",
            code=f"async_{what}",
        )
