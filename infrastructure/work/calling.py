"""Calls what the caller plugged in (a summariser, a curator) with a bound on its time (C5, D6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from ...domain.errors import InputError

T = TypeVar("T")
_LOOK_SECONDS = 0.02
_cancelled: ContextVar[threading.Event | None] = ContextVar("minutebook_cancelled", default=None)


class Cancelled(BaseException):
    """Nobody waits for the answer any more; like an interrupt it is no failure of what was asked."""


class TimedOut(Exception):
    """The call was given up, by us or by the model itself; what it answers later is thrown away."""


class Exited(Exception):
    """The call tried to end the program (``sys.exit``): that is its failure, not the caller's end."""


def until_cancelled(cancelled: threading.Event, function: Callable[[], T]) -> T:
    """``function()`` in this thread, in which ``require_caller`` raises from the moment that ``cancelled`` is set."""
    _cancelled.set(cancelled)
    return function()


def require_caller() -> None:
    """Raises Cancelled when the caller has given this call up: nothing is decided for nobody (C5)."""
    cancelled = _cancelled.get()
    if cancelled is not None and cancelled.is_set():
        raise Cancelled("the caller gave the call up")


def call(function: Callable[[Any], Any], request: Any, *, seconds: float) -> Any:
    """``function(request)`` in a thread of its own, waited for at most ``seconds``, or until its caller gives up.

    Raises TimedOut, Cancelled, or what the function raised. A thread cannot be stopped, so a late answer meets
    nobody; a function with a method ``give_up`` is told.
    """
    answers: list[Any] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            answers.append(function(request))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=work, name="minutebook-call", daemon=True).start()
    try:
        _wait(done, seconds)
    except BaseException:
        give_up = getattr(function, "give_up", None)
        if callable(give_up):
            give_up()
        raise
    if errors:
        if isinstance(errors[0], Exception):
            raise errors[0]
        # No interrupt of ours: those reach the main thread only.
        raise Exited(f"{kind(errors[0])}: {said(errors[0])}") from errors[0]
    return answers[0]


def _wait(done: threading.Event, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    step = seconds if _cancelled.get() is None else _LOOK_SECONDS
    while not done.wait(max(min(step, deadline - time.monotonic()), 0.0)):
        require_caller()
        if time.monotonic() >= deadline:
            raise TimedOut(f"no answer within {seconds:g} seconds")


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
