"""The engine of the projections: catching up, reading, status, retry and skip (E1-E6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, select

from ...domain.errors import InputError, MinutebookError, StoreError
from ...projections.projection import Projection
from . import bounded, cursors, lifecycle, overlay, poison
from .binding import Bound, apart, bind, create, one_builder
from .comparison import ProjectionReport, compare
from .cursors import Cursor
from .damage import naming_damage
from .dump import dump_hash
from .feed import Feed
from .lifecycle import By
from .log import Log
from .mapper import timestamp
from .rebuild import Progress, rebuild
from .standing import Status, statuses
from .worker import Clock, Fence, Overtaken, Worker

__all__ = ["By", "Projections", "Status"]

CANNOT_WRITE = frozenset(
    {
        "store_locked", "store_timeout", "store_read_only", "read_only", "store_unwritable", "store_forbidden",
        "disk_full", "store_exhausted",
    }
)  # fmt: skip
"""A reader goes on without writing after these, and folds the tail in memory (M2)."""

READER_SECONDS = 1.0
"""How long a reader waits for a lock before it folds what is missing in memory: longer than any transaction of ours
that is in order."""

CLOSE_LAG_MAX = 5_000
"""Events that a closing book still brings into its projections: a fraction of a second."""


NOBODY = By()


class Projections:
    """All projections of one book. Safe to use from several threads and several processes."""

    def __init__(
        self,
        log: Log,
        projections: Iterable[Projection | type[Projection]],
        *,
        clock: Clock = lambda: datetime.now(UTC),
        seconds_max: float = bounded.SECONDS_MAX,
    ) -> None:
        """Binds the projections. Raises InputError ``bad_projection``. With access ``write``, opens them too.

        ``seconds_max``: what ``apply`` of a plug-in may take for one event.
        """
        self.log = log
        self.database = log.database
        self.clock = clock
        self._bound: dict[str, Bound] = apart(bind(projection) for projection in projections)
        self.failed: dict[str, MinutebookError] = {}
        """Plug-ins that are wanted and not loaded, each with the reason: asking for one raises it (E5)."""
        self.origins: dict[str, tuple[str, str, int]] = {}
        """Package, release and version of the code of each plug-in that is loaded."""
        self.seconds_max = seconds_max
        self.database.idle_seconds = max(self.database.idle_seconds, 2 * seconds_max)
        self._workers = {name: self._worker(bound) for name, bound in self._bound.items()}
        if self.database.access == "write":
            self.open()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._bound)

    def bound(self, name: str) -> Bound | None:
        """The projection that is loaded under a name."""
        return self._bound.get(name)

    def cursor(self, name: str, connection: Connection) -> Cursor | None:
        """Where a projection stands, as stored."""
        return cursors.find(connection, name)

    def _worker(self, bound: Bound) -> Worker:
        return Worker(self.database, self.log, bound, self.clock, seconds_max=self.seconds_max)

    def open(self) -> None:
        """Makes the tables of new projections, and rebuilds those whose version is another than the stored one."""
        with self.database.reading() as connection:
            found = {cursor.name: cursor for cursor in cursors.every(connection)}
        for name, bound in list(self._bound.items()):
            try:
                self._open(bound, found.get(name))
            except MinutebookError as error:
                if not bound.plug_in:
                    raise
                # It keeps nobody else from working; asking for it says why.
                self.failed[name] = error
                del self._bound[name], self._workers[name]

    def _open(self, bound: Bound, cursor: Cursor | None) -> None:
        if cursor is None:
            self._create(bound)
        elif (
            cursor.version != bound.version
            and not cursor.resting
            and self.near(bound.name, 0)
            and self._outdated(bound)
        ):
            self.rebuild(bound.name)

    def near(self, name: str, position: int | None = None) -> bool:
        """Whether a projection (or one that stands at ``position``) is so near to the head that a look brings it up.

        A plug-in that is far behind is brought up by who asks for it: nobody else waits for its back-fill.
        """
        with self.database.reading() as connection:
            cursor = cursors.find(connection, name)
            at = (cursor.position if cursor else 0) if position is None else position
            return not self._known(name).plug_in or self.log.head(connection).position - at <= CLOSE_LAG_MAX

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
            self._catch_up(self._known(name).name, patience=READER_SECONDS)
        except StoreError as error:
            return error
        return None

    def follow(self, name: str, fence: Fence, progress: Callable[[int, int], None]) -> Cursor:
        """Brings one projection up to date for as long as ``fence`` lets it. Raises as ``catch_up``."""
        return self._catch_up(self._known(name).name, fence=fence, progress=progress)

    def known(self, names: Iterable[str]) -> tuple[str, ...]:
        """The named projections, or all of them. Raises InputError ``unknown_projection``."""
        return tuple(dict.fromkeys(self._known(name).name for name in names)) or self.names

    def settle(self) -> None:
        """Leaves the projections up to date, unless much is missing: the next reader should not have to pay."""
        try:
            rows = self.status()
        except StoreError:
            return  # with the server gone there is nothing to leave in order, and the book closes all the same
        for row in rows:
            if 0 < row.lag <= CLOSE_LAG_MAX and row.name in self._bound:
                self.refresh(row.name)

    def _catch_up(self, name: str, **how: Any) -> Cursor:
        worker = self._workers[name]
        cursor = worker.catch_up(**how)
        if cursor is None:
            self._create(self._bound[name])
            cursor = worker.catch_up(**how)
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
        if cursor.resting:
            self._check_whole(bound, cursor, connection)
            return cursor.position
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
            if cursor is not None and cursor.resting:
                self._check_whole(bound, cursor, connection)
                caught_up = True
            if cursor is not None and cursor.version == bound.version:
                self._check(bound, cursor)
                after = cursor.position
                # What others appended since this call is for the next one.
                if caught_up or self._workers[name].feed.batch(connection, after).end == after:
                    with naming_damage(name):
                        yield bound.projection, connection
                    return
            with overlay.scratch(bound) as (copy, target):
                if after:
                    with naming_damage(name):
                        overlay.copy_rows(connection, bound, target, copy)
                overlay.fold(self.log, connection, copy, target, after=after)
                yield copy.projection, target

    def _try_catch_up(self, name: str) -> bool:
        """False: the rows may lag, because nothing may or can be written."""
        if self.database.access == "read_only":
            return False
        try:
            self._catch_up(name, patience=READER_SECONDS)
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
        with naming_damage(bound.name):
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

    def _check_whole(self, bound: Bound, cursor: Cursor, connection: Connection) -> None:
        """One that nobody moves is read while nothing of its own is missing: never stale in silence (E6)."""
        feed = self._workers[bound.name].feed
        start = cursor.position if cursor.version == bound.version else 0
        for batch in feed.batches(connection, start):
            if batch.events:
                raise StoreError(
                    f"projection {bound.name!r} is {cursor.status} at position {cursor.position}, and event "
                    f"{batch.events[0].position} is missing from it; run 'minutebook projections resume {bound.name}'",
                    code="projection_paused" if cursor.status == "paused" else "projection_retired",
                    projection=bound.name,
                )

    # --- status, retry, skip

    def status(self) -> list[Status]:
        """One row per projection, loaded or only stored, against the head of the log."""
        return statuses(self)

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

    def skip(self, name: str, by: By = NOBODY) -> Status:
        """Passes over the event at which the projection halted, or the first that it parked; the log says so (E6).

        Raises StoreError ``nothing_to_skip``.
        """
        poison.skip(self, self._known(name), by)
        return self.retry(name)

    def pause(self, name: str, by: By = NOBODY) -> Status:
        """Nobody moves the projection until it is resumed; readers are refused as soon as an event is missing."""
        lifecycle.pause(self, name, by)
        return self._one(name)

    def resume(self, name: str, by: By = NOBODY) -> Status:
        """A paused or retired projection goes on where it stood."""
        lifecycle.resume(self, name, by)
        if name in self._bound:
            self.open()
            self.refresh(name)
        return self._one(name)

    def retire(self, name: str, by: By = NOBODY) -> Status:
        """Takes a plug-in out of service, wherever it is loaded. Raises StoreError ``projection_needed``."""
        lifecycle.retire(self, name, by)
        return self._one(name)

    def drop(self, name: str, by: By = NOBODY) -> None:
        """Removes what is stored of a projection that is not loaded here; the log keeps everything (E5).

        Raises StoreError ``projection_loaded``, ``projection_in_use``.
        """
        lifecycle.drop(self, name, by)

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
        with self.database.reading() as connection, naming_damage(name):
            return dump_hash(connection, self._known(name))

    def count(self, name: str) -> int:
        """How many rows a projection has. Raises ``projection_damaged``."""
        with self.database.reading() as connection, naming_damage(name):
            return sum(
                connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in self._known(name).tables
            )

    def _known(self, name: str) -> Bound:
        bound = self._bound.get(name)
        if bound is None:
            raise self.failed.get(name) or self.unknown(name)
        return bound

    def unknown(self, name: str) -> InputError:
        return InputError(
            f"there is no projection {name!r}; loaded are {', '.join(self._bound) or 'none'}", code="unknown_projection"
        )

    def now(self) -> str:
        """The time in its stored form."""
        return timestamp(self.clock())
