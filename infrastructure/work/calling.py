"""Calls what the caller plugged in (a summariser, a curator) with a bound on its time (C5, D6)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...domain.errors import InputError


class TimedOut(Exception):
    """The call was given up; what it answers later is thrown away."""


class Exited(Exception):
    """The call tried to end the program (``sys.exit``): that is its failure, not the caller's end."""


def call(function: Callable[[Any], Any], request: Any, *, seconds: float) -> Any:
    """``function(request)`` in a thread of its own, waited for at most ``seconds``.

    Raises TimedOut, or what the function raised. A thread cannot be stopped: a late answer meets nobody.
    """
    answers: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(function(request))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="minutebook-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimedOut(f"no answer within {seconds:g} seconds")
    if errors:
        if isinstance(errors[0], Exception):
            raise errors[0]
        # No interrupt of ours: those reach the main thread only.
        raise Exited(f"{kind(errors[0])}: {said(errors[0])}") from errors[0]
    return answers[0]


def method(value: Any, name: str) -> Callable[[Any], Any]:
    """The function behind a plug-in: its method ``name``, or itself when it is a plain function."""
    found = getattr(value, name, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    if callable(value):
        return value  # type: ignore[no-any-return]
    raise InputError(
        f"{type(value).__name__} has no method {name!r} and is no function; give an object with {name}(request)",
        code="bad_plug_in",
    )


def label(value: Any) -> str:
    """The name under which a plug-in stands in events; whatever it does when it is asked."""
    try:
        name = getattr(value, "name", None) or getattr(value, "__name__", None) or type(value).__name__
        return plain(str(name), 100)
    except Exception:
        return plain(type(value).__name__, 100)


def kind(error: BaseException) -> str:
    """The class name of an error as a reason: bounded, printable."""
    return plain(type(error).__name__, 100)


def said(error: BaseException) -> str:
    """What an error says; an error of somebody else's may fail even at that."""
    try:
        return str(error)[:10_000].encode("utf-8", "replace").decode()
    except Exception:
        return "(the error could not say what it was)"


def plain(text: str, limit: int) -> str:
    return "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "?" for c in text[:limit]) or "?"
