"""The log as JSON Lines: a header, then one event a line, with all that its chain is made of (E4).

The form is written down in docs/reference/log-export-format.md. The same log always gives the same bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection

from ...domain.errors import StoreError
from .faults import guard
from .log import Head, Log
from .verification import Fault, Tombstones, Walk, erased_rows, head_row, raw_rows

FORMAT, VERSION = "minutebook-log", 1
BEGINNING = b'{"format":"minutebook-log"'
"""What an exported log begins with, whatever its version."""


def header(head: Head) -> bytes:
    """The first line."""
    return _line({"format": FORMAT, "version": VERSION, "head": head.position, "chain": head.chain.hex()})


def exported(log: Log, only: str | None = None) -> Generator[bytes, None, Head]:
    """The lines, in one snapshot and each checked as it goes out; memory does not grow with the log.

    Returns the head. Raises StoreError ``store_corrupt`` at the first event that is not what was appended, and
    ``other_workspaces`` at the first that is not of the workspace ``only``: what was given out until then names a head
    that it does not reach, and can be taken for no whole export.
    """
    with guard(), log.database.reading() as connection:
        try:
            return (yield from _lines(connection, Walk(log.database.sqlite), only))
        except Fault as fault:
            raise StoreError(
                f"the log cannot be exported: {fault.detail}; run 'minutebook verify' and restore a backup",
                code="store_corrupt",
                position=fault.position,
            ) from fault


def _lines(connection: Connection, walk: Walk, only: str | None) -> Generator[bytes, None, Head]:
    head = Head(*head_row(connection))
    walk.erased = erased_rows(connection)
    tombstones = Tombstones(head.position)
    for position, by_position in walk.erased.items():
        tombstones.name(position, by_position)
    yield header(head)
    with closing(_rows(connection, walk)) as rows:
        for row in rows:
            walk.take(row)
            tombstones.meet(row[0], row[3], row[4], row[10], row[12])
            if only is not None and row[5] not in (only, "", None):
                raise StoreError(
                    f"event {row[0]} is of another workspace, {row[5]!r}: the log of a shared database has one chain "
                    "through all of them; add --all-workspaces if you may take them all out",
                    code="other_workspaces",
                    position=row[0],
                )
            yield _event(row, walk.erased.get(row[0]))
    walk.compare(head.position, head.chain)
    return head


def _rows(connection: Connection, walk: Walk) -> Generator[Any, None, None]:
    rows: Iterator[Any] = raw_rows(connection, walk)
    yield from rows


def _event(row: Any, erased_by: int | None) -> bytes:
    (position, stream, version, topic, schema, workspace, session, run, actor, trust, causation, time, facts, payload,
     salt, body, link) = row  # fmt: skip
    return _line(
        {
            "position": position,
            "stream": str(stream if type(stream) is UUID else UUID(bytes=stream)),
            "version": version,
            "topic": topic,
            "schema": schema,
            "workspace": workspace,
            "session": session,
            "run": run,
            "actor": actor,
            "trust": trust,
            "causation": causation,
            "time": time,
            "facts": _text(facts),
            "payload": payload.decode() if type(payload) is bytes else payload,
            "salt": None if salt is None else salt.hex(),
            "body_digest": None if body is None else body.hex(),
            "chain": link.hex(),
            "erased_by": erased_by,
        }
    )


def _text(facts: str | bytes) -> str | dict[str, str]:
    """Facts as they are stored; those of another application need not be text."""
    if isinstance(facts, str):
        return facts
    try:
        return facts.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(facts).decode()}


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
