"""The log row by row at the price of its digests: what is evidently as it was appended is passed over at once (E1).

A row that is not, for whatever reason, is left to ``verification``, which looks closely and says what is wrong. So a
fault of this short cut could only be that it takes something for right: it makes every test that the close look makes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from ...domain.events import TOPICS

if TYPE_CHECKING:
    from .verification import Walk

FIRST = -(1 << 63)
CHUNK = 20_000
"""Rows that PostgreSQL proves at a time."""

_SQLITE = """SELECT position, stream, version, topic, schema, workspace, session, run, actor, trust, causation, time,
    CAST(facts AS BLOB), CAST(payload AS BLOB), salt, body_digest, chain, typeof(facts), typeof(payload)
    FROM events WHERE position > ? ORDER BY position"""

_int, _str, _bytes, _none = int, str, bytes, type(None)
_TYPES: tuple[tuple[type, ...], ...] = (
    (_int,), (_bytes,), (_int,), (_str,), (_int,), (_str,), (_str, _none), (_str, _none), (_str,), (_str,),
    (_int, _none), (_str,), (_bytes,), (_bytes, _none), (_bytes, _none), (_bytes, _none), (_bytes,), (_str,), (_str,),
)  # fmt: skip


def pass_over(connection: Connection, walk: Walk) -> None:
    """Moves the walk over all rows that are evidently right; it then stands before the first other one."""
    if connection.dialect.name == "sqlite":
        _sqlite(connection, walk)
    else:
        while _postgres(connection, walk):
            pass


def validators() -> dict[tuple[str, int], Callable[[Any], Any]]:
    """What reads the facts of each event that this code knows in its present version."""
    return {(topic, known.class_version): known.__pydantic_validator__.validate_json for topic, known in TOPICS.items()}


def _sqlite(connection: Connection, walk: Walk) -> None:
    raw: Any = connection.connection
    known = validators()
    erased, fitting = walk.erased, set[tuple[type, ...]]()
    position, chain = walk.position, walk.chain
    try:
        with closing(raw.cursor()) as cursor:
            for row in cursor.execute(_SQLITE, (walk.position or FIRST,)):
                (at, stream, version, topic, schema, workspace, session, run, actor, trust, cause, time, facts,
                 payload, salt, body, link, facts_type, payload_type) = row  # fmt: skip
                if at != position + 1:
                    break
                shape = tuple(map(type, row))
                if shape not in fitting:
                    if not all(found in allowed for found, allowed in zip(shape, _TYPES, strict=True)):
                        break
                    fitting.add(shape)
                # As domain.chain puts it; a call for each row would cost as much as its digest.
                text = (
                    f"{version},{schema},{cause},{len(topic)}:{topic}{len(workspace)}:{workspace}"
                    f"{'-' if session is None else len(session)}:{session}{'-' if run is None else len(run)}:{run}"
                    f"{len(actor)}:{actor}{len(trust)}:{trust}{len(time)}:{time}{len(facts)}:"
                )
                digest = sha256(stream + text.encode() + facts + (b"-" if body is None else body)).digest()
                following = sha256(chain + at.to_bytes(8, "big") + digest).digest()
                if following != link or facts_type != "text":
                    break
                if payload is not None:
                    if body is None or salt is None or payload_type != "text" or at in erased:
                        break
                    if sha256(salt + payload).digest() != body:
                        break
                elif salt is not None or (body is None) is (at in erased):
                    break
                if not _readable(known, topic, schema, facts):
                    break
                position, chain = at, following
    except (sqlite3.Error, UnicodeError, OverflowError):
        pass  # the close look meets it again, and says where
    walk.position, walk.chain = position, chain


def _readable(known: dict[tuple[str, int], Callable[[Any], Any]], topic: str, schema: int, facts: bytes) -> bool:
    read = known.get((topic, schema))
    if read is None:
        return False
    try:
        read(facts)
    except ValueError:
        return False
    return True


# PostgreSQL computes the digests where the payloads are; only facts come over. A row that it cannot answer for is NULL.
_POSTGRES = """
SELECT position, topic, schema, facts, payload IS NULL, body_digest IS NULL, chain,
    chain = sha256(before || int8send(position) || sha256(uuid_send(stream) || convert_to(concat(
        version, ',', schema, ',', coalesce(causation::text, 'None'), ',', length(topic), ':', topic,
        length(workspace), ':', workspace,
        coalesce(length(session)::text, '-'), ':', coalesce(session, 'None'),
        coalesce(length(run)::text, '-'), ':', coalesce(run, 'None'),
        length(actor), ':', actor, length(trust), ':', trust, length(time), ':', time, octet_length(facts), ':'
    ), 'UTF8') || facts || coalesce(body_digest, '-'::bytea)))
    AND schema IS NOT NULL AND workspace IS NOT NULL AND actor IS NOT NULL AND trust IS NOT NULL AND time IS NOT NULL
    AND CASE WHEN payload IS NULL THEN salt IS NULL
        ELSE coalesce(sha256(salt || payload) = body_digest, false) END
FROM (SELECT *, coalesce(lag(chain) OVER (ORDER BY position), %s) AS before
      FROM events WHERE position > %s AND position <= %s) e ORDER BY position"""


def _postgres(connection: Connection, walk: Walk) -> bool:
    raw: Any = connection.connection
    known = validators()
    start = position = walk.position
    chain = walk.chain
    with raw.cursor(binary=True) as cursor:
        rows: Iterator[Any] = cursor.execute(_POSTGRES, (chain, start or FIRST, start + CHUNK))
        for at, topic, schema, facts, gone, bare, link, right in rows:
            if at != position + 1 or not right:
                break
            if (not gone and at in walk.erased) or (gone and bare is (at in walk.erased)):
                break
            if not _readable(known, topic, schema, facts):
                break
            position, chain = at, link
    walk.position, walk.chain = position, chain
    return position == start + CHUNK
