"""Messages to rows by one statement over the log: nearly all of a log, without a round through Python.

The statement takes facts as minutebook writes them when no name in them needs an escape (``_SIMPLE``); where a span
holds others they are applied one by one, as by ``apply``. A property holds the two equal.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table

from ...domain.catalogue import MessageRecorded
from ..prepared import raw
from ..projection import NotInBulk
from .tables import ContextTables

_INTO = (
    "INSERT INTO {messages} (position, workspace, session, message, role, form, run, tokens, trust, calls, results) "
)
_SELECT = {
    "sqlite": """SELECT position, coalesce(workspace, ''), session, json_extract(facts, '$.message'),
        json_extract(facts, '$.role'), json_extract(facts, '$.form'), run, json_extract(facts, '$.tokens'),
        coalesce(trust, 'external'), replace(coalesce(json_extract(facts, '$.calls'), '[]'), '","', '", "'),
        replace(coalesce(json_extract(facts, '$.results'), '[]'), '","', '", "')
        FROM {log} NOT INDEXED WHERE position > ? AND position <= ? AND topic = ? AND session IS NOT NULL AND """,
    "postgresql": """SELECT position, coalesce(workspace, ''), session, f.message, f.role, f.form, run, f.tokens,
        coalesce(trust, 'external'), replace(coalesce(f.calls::text, '[]'), '","', '", "'),
        replace(coalesce(f.results::text, '[]'), '","', '", "')
        FROM {log} CROSS JOIN LATERAL json_to_record(convert_from(facts, 'UTF8')::json)
            AS f(message text, role text, form text, tokens bigint, calls json, results json)
        WHERE position > ? AND position <= ? AND topic = ? AND session IS NOT NULL AND """,
}
_SIMPLE = {
    "sqlite": f"schema = {MessageRecorded.class_version} AND instr(facts, char(92)) = 0 "
    "AND length(facts) = length(CAST(facts AS BLOB))",
    "postgresql": f"schema = {MessageRecorded.class_version} AND position('\\x5c'::bytea IN facts) = 0 "
    "AND octet_length(facts) = length(convert_from(facts, 'UTF8'))",
}
"""Facts without escapes and beyond ASCII: what a list of names looks like is then known to the letter."""

_COUNT = "SELECT count(*) FROM {log} WHERE position > ? AND position <= ? AND topic = ?"
_SESSIONS = """SELECT m.workspace, m.session, m.n, m.tokens, m.first, m.last, e.time FROM (
    SELECT workspace, session, count(*) AS n, sum(tokens) AS tokens, min(position) AS first, max(position) AS last
    FROM {messages} WHERE position > ? AND position <= ? GROUP BY workspace, session) m
    JOIN {log} e ON e.position = m.last"""


def write_messages(tables: ContextTables, connection: Connection, log: Table, after: int, upto: int) -> None:
    """Inserts the rows of the messages after one position and up to another. Raises NotInBulk."""
    kind = connection.dialect.name
    names = {"messages": tables.messages.name, "log": log.name}
    span = (after, upto, MessageRecorded.TOPIC)
    wanted = raw(connection, _COUNT.format(**names), span).fetchone()[0]
    written = raw(connection, (_INTO + _SELECT[kind] + _SIMPLE[kind]).format(**names), span).rowcount
    if written != wanted:
        raise NotInBulk


def totals(
    tables: ContextTables, connection: Connection, log: Table, after: int, upto: int
) -> list[tuple[str, str, int, int, int, int, str]]:
    """What those messages add to each session: workspace, session, messages, tokens, first, last, time of the last."""
    names = {"messages": tables.messages.name, "log": log.name}
    found: list[Any] = raw(connection, _SESSIONS.format(**names), (after, upto)).fetchall()
    return [(row[0], row[1], row[2], int(row[3]), row[4], row[5], row[6]) for row in found]
