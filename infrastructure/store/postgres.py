"""The log on PostgreSQL: one function call appends a batch, computes the chain and checks expectations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from .database import Database


def prepare_postgres(database: Database) -> None:
    raise NotImplementedError


def append_postgres(
    database: Database,
    stored: Sequence[Any],
    expects: Sequence[tuple[UUID, int]],
    within: Callable[[Connection, list[int]], None] | None,
) -> list[int]:
    raise NotImplementedError
