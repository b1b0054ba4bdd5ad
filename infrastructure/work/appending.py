"""Appends to a stream in which nothing is decided on what stands there, so that who comes second only goes behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from ...domain.errors import StreamConflict
from ..store.log import Within
from .runtime import Runtime

ATTEMPTS = 50
"""Each lost one means that somebody else's append went through; so many in a row mean a fault, not a crowd."""


def append_behind(
    runtime: Runtime, stream: UUID, make: Callable[[int], Sequence[Any]], within: Within | None = None
) -> list[int]:
    """Appends the events that ``make`` gives for the next version of the stream. Raises StreamConflict in the end."""
    for _ in range(ATTEMPTS - 1):
        try:
            return runtime.log.append(list(make(runtime.log.version(stream) + 1)), within=within)
        except StreamConflict:
            continue
    return runtime.log.append(list(make(runtime.log.version(stream) + 1)), within=within)
