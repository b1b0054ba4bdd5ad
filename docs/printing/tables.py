"""docs/reference/tables.md: the tables of the log and of the projections."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise

from sqlalchemy import MetaData, Table
from sqlalchemy.dialects import postgresql, sqlite

from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.infrastructure.store import schema, version

from .markdown import HEADER, prose, table

INTRO = """\
On SQLite the book is one file, `.tinyagent/minutebook.db`, and any SQLite tool can read it. Types are given for
SQLite and PostgreSQL. Schema version VERSION; on SQLite it stands in `user_version`.
Only the log is the truth. The tables of a projection can be made again from it at any time:
`minutebook projections rebuild --all`. Two kinds of tables are not on this page: those of plug-ins, and `checkpoints`,
which a long look at the past of a projection makes; nothing is lost with it.

# The log
"""


def page() -> str:
    """The page."""
    out = [
        HEADER + "# Tables\n\n",
        INTRO.replace("VERSION", str(version.SCHEMA_VERSION)),
    ]
    notes = _notes()
    out += [_table(each, notes.get(each.name, "")) for each in schema.metadata.tables.values()]
    for projection in BUILT_IN:
        metadata = MetaData()
        instance = projection()
        instance.tables(metadata)
        out.append(f"\n# The projection {instance.name}, version {instance.version}\n\n{prose(projection.__doc__)}\n")
        taken = sorted(instance.topics())
        out.append("\nFed by " + (", ".join(f"[{t}](events.md#{t.lower()})" for t in taken) or "every event") + ".\n")
        out.extend(_table(each, "") for each in metadata.tables.values())
    return "".join(out)


LOG_NOTES = {
    "events": "The log: one row an event. Rows are only appended; triggers refuse everything else but an erasure.",
    "log_head": "One row: the last position, and the chain there.",
    "erased": "Which payloads were erased, and by which event.",
}


def _notes() -> dict[str, str]:
    """What the source says under each table: the string that follows the assignment."""
    body = ast.parse(inspect.getsource(schema)).body
    notes = dict(LOG_NOTES)
    for node, after in pairwise(body):
        match node, after:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str() as text)):
                notes[name] = prose(text)
    return notes


def _table(each: Table, note: str) -> str:
    rows = []
    for column in each.columns:
        types = [str(column.type.compile(dialect=dialect)) for dialect in (sqlite.dialect(), postgresql.dialect())]
        kind = types[0] if types[0] == types[1] else " / ".join(types)
        rows.append(
            (f"`{column.name}`", kind, "key" if column.primary_key else "" if column.nullable else "always set")
        )
    return f"\n## {each.name}\n\n" + (f"{note}\n\n" if note else "") + table(("column", "type", ""), rows)
