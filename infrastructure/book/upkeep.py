"""What is done to a store as a whole, mostly without opening its book: upgrade, backup, restore, doctor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ...domain.errors import InputError, MinutebookError
from ..settings import Settings
from ..store.database import Database
from ..store.keeping import one_at_a_time
from ..store.log import Log
from ..store.place import is_file
from ..store.system import telling
from ..work import backing_up, doctor, file_back, restoring, upgrading
from ..work.memory_root import keeping, root_of, scope
from ..work.workspace import Workspace
from .answers import Answer
from .given import effective_settings

DATABASE = Path(".tinyagent") / "minutebook.db"
DATABASE_VARIABLE = "MINUTEBOOK_DATABASE"


def place_of_book(root: Path, database: str | None, settings: Settings) -> str | Path:
    """The database of a workspace: the one named, else that of the environment, else the file in it or its root."""
    named = database or os.environ.get(DATABASE_VARIABLE)
    if named:
        return named
    apart = root_of(root, settings)
    return root.absolute() / DATABASE if apart is None else apart / DATABASE.name


def existing(workspace: str | Path, settings: Settings | None) -> tuple[Path, Workspace, Settings]:
    """A workspace whose folder is there, and its settings. Raises InputError ``unknown_workspace``."""
    root = Path(workspace)
    with telling(f"the workspace {root} cannot be looked at"):
        there = root.is_dir()
    if not there:
        raise _no_folder(root)
    effective = settings or Settings.load(root)
    return root, Workspace.of(root, effective), effective


def _no_folder(root: Path) -> InputError:
    return InputError(f"there is no folder {str(root)!r}; name one with --workspace", code="unknown_workspace")


class Upkeep:
    """The part of ``Minutebook`` that looks after a store; nothing here needs its book to be open, save a backup."""

    @classmethod
    def init(cls, workspace: str | Path = ".", *, database: str | None = None) -> Path:
        """Makes the ``.tinyagent`` folder of a workspace and nothing else; returns it.

        Raises what ``Minutebook.open`` raises where another file stands in the place of the book, or its server is
        not there. A file of no bytes is in nobody's way: the first who writes makes the book in it.
        """
        root = Path(workspace)
        with telling(f"the workspace {root} cannot be made"):
            root.mkdir(parents=True, exist_ok=True)
        effective = effective_settings(root, None)
        place = Workspace.of(root, effective)
        place.prepare()
        where = place_of_book(root, database, effective)
        if not (isinstance(where, Path) and is_file(where) and where.stat().st_size == 0):
            with closing(Database(where, access="read_only")) as store:
                Log(store)
        return place.folder

    @classmethod
    def upgrade(
        cls,
        workspace: str | Path = ".",
        *,
        database: str | None = None,
        settings: Settings | None = None,
        backup: str | Path | None = None,
        keep: bool = True,
    ) -> Answer:
        """Brings an older store to today's schema, after a proved backup: ``from``, ``to``, ``changed``, ``backup``.

        The backup goes to ``backup``, else into ``.tinyagent/kept``; ``keep=False`` makes none. Nobody else may have
        the store open. Raises StoreError ``schema_newer``, ``store_in_use``, ``backup_damaged``, ``not_a_book``.
        """
        root, _, effective = existing(workspace, settings)
        return Answer(
            upgrading.upgrade(
                keeping(root, effective, make=True),
                place_of_book(root, database, effective),
                backup=None if backup is None else Path(backup),
                keep=keep,
                timeout=effective.lock_timeout_seconds,
            )
        )

    @classmethod
    def doctor(
        cls: Any, workspace: str | Path = ".", *, database: str | None = None, settings: Settings | None = None
    ) -> Answer:
        """What is wrong with store or machine: ``ok``, ``findings`` (each ``code``, ``level``, ``text``, ``mend``).

        It only looks. ``ok`` is false when the level of a finding is ``wrong``; ``risk`` and ``note`` are the others.
        Raises InputError ``unknown_workspace``; all else that fails is a finding.
        """
        root = Path(workspace)
        with telling(f"the workspace {root} cannot be looked at"):
            there = root.is_dir()
        if not there:
            raise _no_folder(root)
        found = list(dict.fromkeys(_found(cls, root, database, settings)))
        found.sort(key=lambda each: ("wrong", "risk", "note").index(each.level))
        return Answer(
            {
                "ok": all(each.level != "wrong" for each in found),
                "findings": [
                    {"code": each.code, "level": each.level, "text": each.text, "mend": each.mend} for each in found
                ],
            }
        )

    def backup(self: Any, target: str | Path, *, all_workspaces: bool = False) -> Answer:
        """Writes a proved copy of this live store into one file: ``file``, ``format``, ``head``, ``chain``, ``bytes``.

        SQLite: a database with every table and the memory file as it stands. PostgreSQL: the exported log, of all
        workspaces only where ``all_workspaces`` says so. Keep ``head`` and ``chain`` elsewhere: they anchor the log.
        Raises InputError ``file_exists``, ``bad_path``; StoreError ``backup_damaged``, ``disk_full``.
        """
        done: dict[str, Any] = backing_up.back_up(
            self._runtime, self._publisher, Path(target), all_workspaces=all_workspaces
        )
        return Answer(done)

    @classmethod
    def restore(
        cls: Any,
        workspace: str | Path,
        source: str | Path,
        *,
        database: str | None = None,
        settings: Settings | None = None,
        replace: bool = False,
        all_workspaces: bool = False,
    ) -> Answer:
        """Puts a backup in the place of the store: ``head``, ``chain``, ``was``, ``kept``, ``memory_file``, ``ok``.

        ``source`` is what ``backup`` or ``export --log`` wrote, on either database. It is proved first; what was there
        is kept in ``.tinyagent/kept`` (on PostgreSQL in a schema of its own); MEMORY.md becomes what the restored log
        says. Nobody else may have the store open. Raises InputError ``not_a_backup``; StoreError ``backup_damaged``,
        ``schema_newer``, ``store_in_use``, and unless ``replace``: ``store_ahead``, ``store_differs``,
        ``store_unreadable``.
        """
        root, place, effective = existing(workspace, settings)
        where = place_of_book(root, database, effective)
        kept = keeping(root, effective, make=True)
        kept.prepare()
        with one_at_a_time(kept.folder, effective.lock_timeout_seconds):
            done = restoring.restore(
                kept,
                where,
                Path(source),
                replace=replace,
                all_workspaces=all_workspaces,
                timeout=effective.lock_timeout_seconds,
                workspace_id=lambda: _workspace_id(place, effective),
            )
            noted = done.notes.get("memory_file")
            edited = noted if isinstance(noted, bytes) else None
            with cls.open(root, database=database, settings=settings, automatic=False) as book:
                file = file_back.bring_back_file(book._publisher, done.aside, edited)
                report, rebuilt = _proved(book)
                mine = book.settings.workspace_id
        return Answer(
            {
                "head": done.head.position,
                "chain": done.head.chain.hex(),
                "was": None if done.was is None else done.was.position,
                "schema": done.schema,
                "kept": [*map(str, done.kept), *file["kept"]],
                "memory_file": file["state"],
                "workspace_id": mine,
                "workspaces": done.workspaces,
                "rebuilt": rebuilt,
                "ok": report["ok"],
                "checks": report["checks"],
            }
        )


def _found(cls: Any, root: Path, database: str | None, settings: Settings | None) -> Iterator[doctor.Finding]:
    try:
        effective = settings or Settings.load(root)
    except InputError as error:
        # The rest is looked at all the same, with what the settings are where nobody sets them.
        yield doctor.finding("bad_setting", said=error.message)
        effective = Settings()
        settings = Settings(**effective.model_dump(exclude={"workspace_id"}))
    where = place_of_book(root, database, effective)
    try:
        place, apart = Workspace.of(root, effective), root_of(root, effective)
        if apart is not None:
            place = scope(apart, _workspace_id(place, effective), effective, make=False)
        yield from doctor.safely(doctor.surroundings(place, where))
        with cls.open(root, database=database, settings=settings, read_only=True) as book:
            if book._runtime.log.database.absent:
                yield doctor.finding("no_store")
                return
            if not book._runtime.log.database.sqlite:
                yield from doctor.safely(doctor.server(book._runtime.log.database))
            yield from doctor.safely(doctor.store(book._runtime, book._publisher))
    except MinutebookError as error:
        yield doctor.finding("store_cannot_be_opened", error=error.code, said=error.message)


def _proved(book: Any) -> tuple[Any, list[str]]:
    """What ``verify`` says; a projection that came damaged out of the backup is made again from the log first."""
    report = book.verify()
    wrong = [check["name"].removeprefix("projection ") for check in report["checks"] if not check["ok"]]
    known = {row["name"] for row in book.projections.list()}
    rebuilt = [name for name in wrong if name in known]
    if rebuilt and report["checks"][0]["ok"]:
        book.projections.rebuild(*rebuilt)
        report = book.verify()
    return report, rebuilt


def _workspace_id(place: Workspace, settings: Settings) -> str:
    return settings.workspace_id if "workspace_id" in settings.model_fields_set else place.own_id(make=False)
