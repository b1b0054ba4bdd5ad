"""The engine of the projections: catching up, reading, status, retry and skip (E1-E6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.exc import OperationalError, ProgrammingError

from ...domain.errors import InputError, StoreError
from ...projections.projection import Projection
from . import cursors, overlay, poison
from .binding import Bound, bind, create, drop, one_builder
from .comparison import ProjectionReport, compare
from .cursors import BUILDING, Cursor
from .dump import dump_hash
from .feed import Feed
from .log import Log
from .mapper import timestamp
from .rebuild import Progress, rebuild
from .schema import parked
from .worker import Clock, Overtaken, Worker

CANNOT_WRITE = frozenset(
    {
        "store_locked", "store_timeout", "store_read_only", "read_only", "store_unwritable", "store_forbidden",
        "disk_full", "store_exhausted",
    }
)  # fmt: skip
"""A reader goes on without writing after these, and folds the tail in memory (M2)."""

CLOSE_LAG_MAX = 5_000
"""Events that a closing book still brings into its projections: a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Status:
    """How one projection stands; ``lag`` counts events after its cursor, ``parked`` what it put aside."""

    name: str
    version: int
    cursor: int
    head: int
    lag: int
    status: str
    error: str | None
    heartbeat: str | None
    generation: int
    parked: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    building: int | None = None


class Projections:
    """All projections of one book. Safe to use from several threads and several processes."""

    def __init__(
        self,
        log: Log,
        projections: Iterable[Projection | type[Projection]],
        *,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        """Binds the projections. Raises InputError ``bad_projection``. With access ``write``, opens them too."""
        self.log = log
        self.database = log.database
        self.clock = clock
        self._bound: dict[str, Bound] = {}
        for projection in projections:
            bound = bind(projection)
            if bound.name in self._bound:
                raise InputError(f"two projections are named {bound.name!r}; rename one", code="bad_projection")
            self._bound[bound.name] = bound
        self._workers = {name: Worker(self.database, log, bound, clock) for name, bound in self._bound.items()}
        if self.database.access == "write":
            self.open()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._bound)

    def open(self) -> None:
        """Makes the tables of new projections, and rebuilds those whose version is another than the stored one."""
        with self.database.reading() as connection:
            found = {cursor.name: cursor for cursor in cursors.every(connection)}
        for name, bound in self._bound.items():
            if name not in found:
                self._create(bound)
            elif found[name].version != bound.version and self._outdated(bound):
                self.rebuild(name)

    def _outdated(self, bound: Bound) -> bool:
        """Looked at again: of many processes that open an old store at once, one has made it new meanwhile."""
        with self.database.reading() as connection:
            cursor = cursors.find(connection, bound.name)
        return cursor is not None and cursor.version != bound.version

    def _create(self, bound: Bound) -> None:
        with self.database.projecting() as connection:
            one_builder(connection)
            if cursors.find(connection, bound.name) is None:
                create(connection, bound)
                cursors.start(connection, bound.name, bound.version, 1, bound.table_names, self.now())

    # --- catching up

    def catch_up(self, name: str | None = None) -> None:
        """Brings one projection, or all, to the head of the log; a halted one is passed by (E6).

        Raises StoreError for what is no fault of an event: ``store_locked``, ``disk_full``, ``log_hole``.
        """
        first: StoreError | None = None
        for each in self.names if name is None else (self._known(name).name,):
            try:
                self._catch_up(each)
            except StoreError as error:
                first = first or error
        if first is not None:
            raise first

    def refresh(self, name: str) -> StoreError | None:
        """Brings a projection up to date as far as it may and can, before a look; returns what stood in the way."""
        if self.database.access == "read_only":
            return None
        try:
            self._catch_up(self._known(name).name)
        except StoreError as error:
            return error
        return None

    def settle(self) -> None:
        """Leaves the projections up to date, unless much is missing: the next reader should not have to pay."""
        try:
            rows = self.status()
        except StoreError:
            return  # with the server gone there is nothing to leave in order, and the book closes all the same
        for row in rows:
            if 0 < row.lag <= CLOSE_LAG_MAX:
                self.refresh(row.name)

    def _catch_up(self, name: str) -> Cursor:
        cursor = self._workers[name].catch_up()
        if cursor is None:
            self._create(self._bound[name])
            cursor = self._workers[name].catch_up()
        assert cursor is not None
        return cursor

    def advance(self, name: str, connection: Connection) -> int:
        """Catches up inside a transaction that somebody else holds and commits: rows and cursor move with it (D5).

        Returns the cursor. Raises StoreError ``projection_halted`` and what ``apply`` raises: then roll back.
        """
        bound, worker = self._known(name), self._workers[name]
        cursor = cursors.find(connection, name, lock=True)
        if cursor is None:
            one_builder(connection)
            cursor = cursors.find(connection, name, lock=True)
        if cursor is None:
            create(connection, bound)
            cursor = cursors.start(connection, name, bound.version, 1, bound.table_names, self.now())
        self._check(bound, cursor)
        while (batch := worker.feed.batch(connection, cursor.position)).end != cursor.position:
            try:
                cursor = worker.step(connection, cursor, batch)
            except Overtaken:
                raise StoreError(f"another worker moved projection {name!r}; try again", code="store_locked") from None
        return cursor.position

    # --- reading

    @contextmanager
    def reading(self, name: str) -> Iterator[tuple[Any, Connection]]:
        """The projection and a connection in one snapshot that holds all that this process appended before.

        Where nothing may or can be written, the tail is folded into a copy in memory (M2). Raises StoreError
        ``projection_halted`` rather than give rows that an event is missing from, and ``projection_damaged``.
        """
        bound = self._known(name)
        caught_up = self._try_catch_up(name)
        with self.database.reading() as connection:
            self._steady(connection, bound)
            cursor = cursors.find(connection, name)
            after = 0
            if cursor is not None and cursor.version == bound.version:
                self._check(bound, cursor)
                after = cursor.position
                # What others appended since this call is for the next one.
                if caught_up or self._workers[name].feed.batch(connection, after).end == after:
                    with self._damage(name):
                        yield bound.projection, connection
                    return
            with overlay.scratch(bound) as (copy, target):
                if after:
                    with self._damage(name):
                        overlay.copy_rows(connection, bound, target, copy)
                overlay.fold(self.log, connection, copy, target, after=after)
                yield copy.projection, target

    def _try_catch_up(self, name: str) -> bool:
        """False: the rows may lag, because nothing may or can be written."""
        if self.database.access == "read_only":
            return False
        try:
            self._catch_up(name)
        except StoreError as error:
            if error.code not in CANNOT_WRITE:
                raise
            return False
        return True

    def _steady(self, connection: Connection, bound: Bound) -> None:
        # On PostgreSQL a swap between the snapshot and the first look at a table would mix two generations: the
        # lock comes before the snapshot. On SQLite the snapshot holds the tables themselves.
        if self.database.sqlite:
            return
        quote = connection.dialect.identifier_preparer.quote
        tables = ", ".join(quote(name) for name in bound.table_names)
        with self._damage(bound.name):
            connection.exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS SHARE MODE")

    def _check(self, bound: Bound, cursor: Cursor) -> None:
        if cursor.halted:
            raise StoreError(
                f"projection {bound.name!r} is halted at {cursor.error}; mend the cause and run 'minutebook "
                f"projections retry {bound.name}', or pass over the event with 'projections skip {bound.name}'",
                code="projection_halted",
                projection=bound.name,
                error=cursor.error,
            )
        if cursor.version != bound.version:
            raise StoreError(
                f"projection {bound.name!r} is stored in version {cursor.version}, this process has "
                f"{bound.version}; open the book again",
                code="projection_changed",
            )

    @contextmanager
    def _damage(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OperationalError, ProgrammingError) as error:
            if not any(word in str(error) for word in ("no such table", "no such column", "does not exist", "UTF-8")):
                raise
            raise StoreError(
                f"the tables of projection {name!r} are damaged ({error.orig}); run 'minutebook projections rebuild "
                f"{name}': the log has everything",
                code="projection_damaged",
                projection=name,
            ) from error

    # --- status, retry, skip

    def status(self) -> list[Status]:
        """One row per projection, known or only stored, against the head of the log."""
        with self.database.reading() as connection:
            head = self.log.head(connection).position
            found = {cursor.name: cursor for cursor in cursors.every(connection)}
            aside: dict[str, list[int]] = {}
            for aside_row in connection.execute(select(parked).order_by(parked.c.position)):
                aside.setdefault(aside_row.projection, []).append(aside_row.position)
            rows: list[Status] = []
            for name in [*self._bound, *(other for other in found if other not in self._bound)]:
                if name.endswith(BUILDING):
                    continue
                shadow = found.get(name + BUILDING)
                skipped = self.skipped(name, connection)
                row = self._status(name, found.get(name), head, tuple(aside.get(name, ())), skipped, shadow)
                rows.append(row)
        return rows

    def _status(
        self,
        name: str,
        cursor: Cursor | None,
        head: int,
        aside: tuple[int, ...],
        skipped: tuple[int, ...],
        shadow: Cursor | None,
    ) -> Status:
        building = None if shadow is None else shadow.position
        if cursor is None:
            version = self._bound[name].version
            return Status(name, version, 0, head, head, "new", None, None, 0, aside, skipped, building)
        status = cursor.status
        if name not in self._bound:
            status = "not loaded"
        elif cursor.version != self._bound[name].version:
            status = "outdated"
        return Status(
            name, cursor.version, cursor.position, head, head - cursor.position, status, cursor.error,
            cursor.heartbeat, cursor.generation, aside, skipped, building,
        )  # fmt: skip

    def feed(self, name: str) -> Feed:
        """The events that a projection is given."""
        return self._workers[self._known(name).name].feed

    def skipped(self, name: str, connection: Connection) -> tuple[int, ...]:
        """Positions that a person let the projection pass over."""
        worker = self._workers.get(name)
        return () if worker is None else tuple(sorted(worker.feed.skipped(connection)))

    def retry(self, name: str) -> Status:
        """Lets a halted projection try again, and applies what it parked, in order (E6)."""
        poison.retry(self, self._known(name))
        self._catch_up(name)
        return self._one(name)

    def skip(self, name: str, *, reason: str = "", actor: str = "person", workspace: str = "") -> Status:
        """Passes over the event at which the projection halted, or the first that it parked; the log says so (E6).

        Raises StoreError ``nothing_to_skip``.
        """
        poison.skip(self, self._known(name), reason=reason, actor=actor, workspace=workspace)
        return self.retry(name)

    def _one(self, name: str) -> Status:
        return next(row for row in self.status() if row.name == name)

    # --- rebuilding and checking

    def rebuild(self, *names: str, progress: Progress | None = None) -> None:
        """Makes projections (none named: all) again; readers go on with the old rows until the swap (E2)."""
        for name in names or self.names:
            rebuild(self, self._known(name), progress)

    def verify(self, name: str) -> ProjectionReport:
        """Computes the projection again from the log and compares it with the live rows (E1)."""
        return compare(self, self._known(name))

    def dump_hash(self, name: str) -> str:
        """The hash over every live row of a projection, in order of the primary keys. Raises ``projection_damaged``."""
        with self.database.reading() as connection, self._damage(name):
            return dump_hash(connection, self._known(name))

    def count(self, name: str) -> int:
        """How many rows a projection has. Raises ``projection_damaged``."""
        with self.database.reading() as connection, self._damage(name):
            return sum(
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in self._known(name).tables
            )

    def drop(self, name: str) -> None:
        """Removes the tables and the cursor of a projection, loaded or not; the log keeps everything (E5)."""
        with self.database.projecting() as connection:
            for each in (name, name + BUILDING):
                cursor = cursors.find(connection, each, lock=True)
                if cursor is None and each == name:
                    self._known(name)
                if cursor is not None:
                    drop(connection, cursor.tables)
                    cursors.remove(connection, each)
                connection.execute(delete(parked).where(parked.c.projection == each))

    def _known(self, name: str) -> Bound:
        bound = self._bound.get(name)
        if bound is None:
            raise InputError(
                f"there is no projection {name!r}; loaded are {', '.join(self._bound) or 'none'}",
                code="unknown_projection",
            )
        return bound

    def now(self) -> str:
        """The time in its stored form."""
        return timestamp(self.clock())
