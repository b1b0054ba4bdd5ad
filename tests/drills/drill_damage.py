"""Damage to any table, row, cursor, event or byte is mended by a rebuild or named by verify: none is unseen (E1, E2).

``drill(seed, place)`` makes a small book, damages it in a way that the seed chooses, and looks:

* a row of a projection (changed, deleted, added, made NULL, of a wrong type), a table, or a cursor: ``verify`` names
  the projection, and a rebuild brings back the very rows;
* the log (a changed, deleted, swapped or added row, a cut-off tail, the head): ``verify`` says no;
* on SQLite a byte of the file: ``verify`` says no or the book refuses to open; or, where the byte lay in free space,
  everything reads as before.

``python tests/drills/drill_damage.py 1-1000`` (``make soak-damage``) runs many seeds on both databases.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for _place in (HERE, HERE.parent / "support", HERE.parents[1] / ".package"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

from large_logs import Row, grow, template  # noqa: E402
from servers import a_server  # noqa: E402
from sqlalchemy import Column, Float, Integer, LargeBinary, NullPool, Table, create_engine, make_url, select  # noqa: E402

from minutebook.domain.errors import MinutebookError  # noqa: E402
from minutebook.infrastructure.book.catalogue import BUILT_IN  # noqa: E402
from minutebook.infrastructure.store.binding import bind  # noqa: E402
from minutebook.infrastructure.store.database import Database  # noqa: E402
from minutebook.infrastructure.store.log import Log  # noqa: E402
from minutebook.infrastructure.store.runner import Projections  # noqa: E402
from minutebook.infrastructure.store.verification import verify_log  # noqa: E402

TABLES: dict[str, tuple[str, Table]] = {
    table.name: (bound.name, table) for bound in map(bind, BUILT_IN) for table in bound.tables
}

Chance = random.Random


@dataclass
class Site:
    """One damaged book and what it was before."""

    url: str
    sqlite: bool
    before: dict[str, str]
    rows: list[tuple[Any, ...]]

    @contextmanager
    def outside(self) -> Iterator[Any]:
        """A connection of another program; each statement is on its own."""
        engine = create_engine(self.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()

    @property
    def file(self) -> Path:
        return Path(make_url(self.url).database or "")


# --- projections


def a_row(site: Site, chance: Chance, table: Table) -> Any:
    keys = list(table.primary_key.columns)
    with site.outside() as connection:
        rows = connection.execute(select(table).order_by(*keys)).all()
    return chance.choice(rows) if rows else None


def other(column: Column[Any], value: Any) -> Any:
    if isinstance(column.type, LargeBinary):
        return bytes(value or b"") + b"\x01"
    return (value or 0) + 100_000 if isinstance(column.type, Integer | Float) else f"{value}-more"


def here(table: Table, row: Any) -> list[Any]:
    return [key == row._mapping[key.name] for key in table.primary_key.columns]


def change(site: Site, chance: Chance, table: Table, row: Any) -> None:
    column = chance.choice([column for column in table.columns if not column.primary_key])
    value = other(column, row._mapping[column.name])
    run(site, table.update().where(*here(table, row)).values({column: value}))


def make_null(site: Site, chance: Chance, table: Table, row: Any) -> None:
    wanted = [column for column in table.columns if column.nullable and row._mapping[column.name] is not None]
    if not wanted:
        change(site, chance, table, row)
        return
    run(site, table.update().where(*here(table, row)).values({chance.choice(wanted): None}))


def wrong_type(site: Site, chance: Chance, table: Table, row: Any) -> None:
    """A blob in place of a text, a text in place of a number: only SQLite takes them."""
    if not site.sqlite:
        change(site, chance, table, row)
        return
    column = chance.choice([column for column in table.columns if not column.primary_key])
    value = row._mapping[column.name]
    other_type = {Integer: b"\xff\x00", Float: b"\xff\x00", LargeBinary: "text"}
    new = next((bad for kind, bad in other_type.items() if isinstance(column.type, kind)), str(value).encode())
    with closing(sqlite3.connect(site.file)) as connection, connection:
        keys = " AND ".join(f"{key.name} = ?" for key in table.primary_key.columns)
        arguments = [row._mapping[key.name] for key in table.primary_key.columns]
        quoted = '"' + column.name + '"'
        connection.execute(f"UPDATE {table.name} SET {quoted} = ? WHERE {keys}", (new, *arguments))


def delete(site: Site, chance: Chance, table: Table, row: Any) -> None:
    run(site, table.delete().where(*here(table, row)))


def add(site: Site, chance: Chance, table: Table, row: Any) -> None:
    values = dict(row._mapping)
    for column in table.primary_key.columns:
        values[column.name] = other(column, values[column.name])
    run(site, table.insert().values(values))


def empty(site: Site, chance: Chance, table: Table, row: Any) -> None:
    run(site, table.delete())


def lose(site: Site, chance: Chance, table: Table, row: Any) -> None:
    with site.outside() as connection:
        connection.exec_driver_sql(f"DROP TABLE {table.name}")


def lose_column(site: Site, chance: Chance, table: Table, row: Any) -> None:
    indexed = {column.name for index in table.indexes for column in index.columns}
    free = [column.name for column in table.columns if not column.primary_key and column.name not in indexed]
    with site.outside() as connection:
        connection.exec_driver_sql(f'ALTER TABLE {table.name} DROP COLUMN "{chance.choice(free)}"')


ROWS: tuple[Callable[[Site, Chance, Table, Any], None], ...] = (
    change, change, make_null, wrong_type, delete, add, empty, lose, lose_column,
)  # fmt: skip


def run(site: Site, statement: Any) -> None:
    with site.outside() as connection:
        assert connection.execute(statement).rowcount != 0


def damage_rows(site: Site, chance: Chance) -> str:
    name = chance.choice(sorted(TABLES))
    projection, table = TABLES[name]
    how = chance.choice(ROWS)
    row = a_row(site, chance, table)
    if row is None:
        how = lose
    how(site, chance, table, row)
    mended(site, projection)
    return f"{how.__name__} in {name}"


def damage_cursor(site: Site, chance: Chance) -> str:
    projection = chance.choice(sorted(site.before))
    how = chance.choice(
        ["position = position / 2", "position = position + 1000", "position = -1", "version = 9", "generation = 7",
         "status = 'halted', error = 'somebody'"]
    )  # fmt: skip
    with site.outside() as connection:
        connection.exec_driver_sql(f"UPDATE cursors SET {how} WHERE name = '{projection}'")
    # Another generation is no damage to the rows: nothing that is read depends on its number.
    mended(site, projection, named=not how.startswith("generation"))
    return f"cursor of {projection}: {how}"


def mended(site: Site, projection: str, *, named: bool = True) -> None:
    """Verify names the projection, and no other; a rebuild brings back the very rows."""
    with projections(site.url, "look") as engine:
        reports = {name: engine.verify(name) for name in engine.names}
        wrong = {name for name, report in reports.items() if not report.ok}
        assert wrong == ({projection} if named else set()), reports
    with projections(site.url, "write") as engine:
        engine.rebuild(projection)
        assert {name: engine.dump_hash(name) for name in engine.names} == site.before
        assert all(engine.verify(name).ok for name in engine.names)


# --- the log


def unguarded(site: Site) -> list[str]:
    """What lets another program write into the log on this database."""
    if not site.sqlite:
        return [f"ALTER TABLE {name} DISABLE TRIGGER USER" for name in ("events", "log_head", "erased")]
    with site.outside() as connection:
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
    return [f"DROP TRIGGER {name}" for name in found]


def guarded(site: Site) -> list[str]:
    """What puts the guards back, so that not their absence is what is noticed."""
    if not site.sqlite:
        return [f"ALTER TABLE {name} ENABLE TRIGGER USER" for name in ("events", "log_head", "erased")]
    from minutebook.infrastructure.store.schema import _SQLITE_GUARDS

    return list(_SQLITE_GUARDS)


def damage_log(site: Site, chance: Chance) -> str:
    at = chance.randrange(2, len(site.rows))
    text = "CAST(facts AS TEXT)" if site.sqlite else "convert_from(facts, 'UTF8')"
    spaced = f"{text} || ' '" if site.sqlite else f"convert_to({text} || ' ', 'UTF8')"
    added = (
        f"INSERT INTO events SELECT {len(site.rows) + 1}, stream, version + 1000, topic, schema, workspace, session, "
        "run, actor, trust, causation, time, facts, payload, salt, body_digest, chain FROM events "
        f"WHERE position = {at}"
    )
    ways: dict[str, list[str]] = {
        "a fact changed": [f"UPDATE events SET facts = {spaced} WHERE position = {at}"],
        "an actor changed": [f"UPDATE events SET actor = 'nobody' WHERE position = {at}"],
        "a run lost": [f"UPDATE events SET run = 'r-none' WHERE position = {at}"],
        "a time changed": [f"UPDATE events SET time = '2020-01-01T00:00:00.000000+00:00' WHERE position = {at}"],
        "an event deleted": [f"DELETE FROM events WHERE position = {at}"],
        "the tail deleted": [f"DELETE FROM events WHERE position > {at}"],
        "two events swapped": [
            f"UPDATE events SET position = -1 WHERE position = {at}",
            f"UPDATE events SET position = {at} WHERE position = {at + 1}",
            f"UPDATE events SET position = {at + 1} WHERE position = -1",
        ],
        "a link changed": [
            f"UPDATE events SET chain = (SELECT chain FROM events WHERE position = 1) WHERE position = {at}"
        ],
        "a salt lost": [f"UPDATE events SET salt = NULL WHERE position = {with_text(site, chance)}"],
        "a payload lost": [f"UPDATE events SET payload = NULL, salt = NULL WHERE position = {with_text(site, chance)}"],
        "an erasure claimed": [f"INSERT INTO erased VALUES ({with_text(site, chance)}, {len(site.rows)})"],
        "the head moved back": [f"UPDATE log_head SET last_id = {at}"],
        "the head changed": ["UPDATE log_head SET chain_hash = (SELECT chain FROM events WHERE position = 1)"],
        "an event added": [added],
    }  # fmt: skip
    how = chance.choice(sorted(ways))
    with site.outside() as connection:
        for statement in (*unguarded(site), *ways[how], *guarded(site)):
            connection.exec_driver_sql(statement)
    assert named(site), how
    return how


def with_text(site: Site, chance: Chance) -> int:
    with site.outside() as connection:
        found = connection.exec_driver_sql("SELECT position FROM events WHERE salt IS NOT NULL").scalars().all()
    return int(chance.choice(found))


def named(site: Site) -> bool:
    """Whether somebody who checks the log is told that something is wrong."""
    try:
        database = Database(site.url, access="look")
    except MinutebookError:
        return True
    try:
        return not verify_log(Log(database)).ok
    except MinutebookError:
        return True
    finally:
        database.close()


# --- the file


def damage_file(site: Site, chance: Chance) -> str:
    """Bytes of the file flipped: seen by verify, or of no consequence at all."""
    with closing(sqlite3.connect(site.file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(site.file.read_bytes())
    count = chance.choice([1, 1, 1, 4])
    for _ in range(count):
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
    for side in ("-wal", "-shm"):
        site.file.with_name(site.file.name + side).unlink(missing_ok=True)
    site.file.write_bytes(data)
    try:
        database = Database(site.url, access="look")
    except MinutebookError as refused:
        return f"{count} flipped: {refused.code}"
    try:
        log = Log(database)
        report = verify_log(log)
        engine = Projections(log, BUILT_IN)
        reports = {name: engine.verify(name) for name in engine.names}
        wrong = [name for name, one in reports.items() if not one.ok]
        if not report.ok or wrong:
            return f"{count} flipped: named by {'log' if not report.ok else wrong[0]}"
        # Free space, or a byte that nothing reads: then every row is as it was.
        with database.reading() as connection:
            rows = [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM events ORDER BY position")]
        assert rows == site.rows
        assert {name: engine.dump_hash(name) for name in engine.names} == site.before
        return f"{count} flipped: of no consequence"
    except MinutebookError as refused:
        return f"{count} flipped: {refused.code}"
    finally:
        database.close()


# --- the drill

_template: list[Row] = []
_made: list[tuple[bytes, Site]] = []
_copied: list[Site] = []
"""The book that the PostgreSQL databases of ``main`` are copies of."""


@contextmanager
def projections(url: str, access: Any) -> Iterator[Projections]:
    database = Database(url, access=access)
    try:
        yield Projections(Log(database), BUILT_IN)
    finally:
        database.close()


def make(url: str, sqlite: bool) -> Site:
    """A book with something in every table that real work fills, up to date."""
    if not _template:
        _template.extend(template())
    with projections(url, "write") as engine:
        grow(engine.log, _template, len(_template))
        engine.catch_up()
        hashes = {name: engine.dump_hash(name) for name in engine.names}
        with engine.database.reading() as connection:
            rows = [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM events ORDER BY position")]
    return Site(url, sqlite, hashes, rows)


def fresh(url: str, sqlite: bool) -> Site:
    """The same from a copy that is made once: a thousand seeds take minutes instead of an hour."""
    if not sqlite:
        return make(url, False) if not _copied else Site(url, False, _copied[0].before, _copied[0].rows)
    if not _made:
        original = Path(tempfile.mkdtemp(prefix="minutebook-damage-")) / "book.db"
        site = make(f"sqlite:///{original}", True)
        with closing(sqlite3.connect(original)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _made.append((original.read_bytes(), site))
        shutil.rmtree(original.parent)
    data, site = _made[0]
    Path(make_url(url).database or "").write_bytes(data)
    return Site(url, True, site.before, site.rows)


def drill(seed: int, place: Any) -> str:
    """One seed on a fresh database (``place.url``); says what was damaged and how it was noticed."""
    chance = random.Random(seed)
    sqlite = place.url.startswith("sqlite")
    site = fresh(place.url, sqlite)
    kinds = [damage_rows, damage_rows, damage_cursor, damage_log]
    if sqlite:
        kinds += [damage_file, damage_file]
    return chance.choice(kinds)(site, chance)


@dataclass(frozen=True)
class Place:
    folder: Path
    url: str
    short: bool = False


def main(seeds: range) -> int:
    """Runs the seeds on both databases and says what came of them; 1 where one passed unseen."""
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    failed = 0
    with a_server() as server:
        for kind in ("sqlite", "postgres"):
            outcomes: Counter[str] = Counter()
            for seed in seeds:
                try:
                    outcomes[_one(seed, kind, server)] += 1
                except Exception as error:
                    failed += 1
                    print(f"{kind}, seed {seed}: {type(error).__name__}: {error}", flush=True)
            print(f"{kind}: {sum(outcomes.values())} of {len(seeds)} held")
            for what, count in sorted(outcomes.items()):
                print(f"  {count:>5} {what}")
    return 1 if failed else 0


def _one(seed: int, kind: str, server: str | None) -> str:
    with tempfile.TemporaryDirectory(prefix="minutebook-damage-") as folder:
        if kind == "sqlite":
            return drill(seed, Place(Path(folder), f"sqlite:///{Path(folder) / 'book.db'}"))
        if server is None:
            return "no PostgreSQL here"
        name, original = (f"minutebook_damage_{os.getpid()}_{what}" for what in ("copy", "original"))
        admin = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
        with admin.connect() as connection:
            if not _copied:
                connection.exec_driver_sql(f"CREATE DATABASE {original}")
                _copied.append(make(_named(server, original), False))
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {original}")
            try:
                return drill(seed, Place(Path(folder), _named(server, name)))
            finally:
                connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def _named(server: str, database: str) -> str:
    return make_url(server).set(database=database).render_as_string(hide_password=False)


if __name__ == "__main__":
    first, _, last = (sys.argv[1] if len(sys.argv) > 1 else "1-1000").partition("-")
    raise SystemExit(main(range(int(first), int(last or first) + 1)))
