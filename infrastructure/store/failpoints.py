"""Named places where a test can stop the program, kill it or make a call fail (reliability.md 3.5).

Off, a failpoint is one look-up in an empty dictionary. It stands *before* the call that it names, so that
``raise(EIO)`` is that call failing and ``kill`` is the end of the process just after the step before.

Armed from outside by ``MINUTEBOOK_FAILPOINT="name=action[:n]"``, several separated by ``;``. Actions::

    kill            SIGKILL to this process          exit            leave at once, status 70, no clean-up
    raise(ENOSPC)   OSError with that errno          sleep(0.5)      wait so many seconds
    park(FILE)      make FILE and wait until it is gone (at most a minute)

``:n`` acts only at the n-th passing, without it at each. Tests in the same process use ``armed``.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...domain.errors import InputError

VARIABLE = "MINUTEBOOK_FAILPOINT"

POINTS: dict[str, str] = {
    "start.folder": "B01 the folder of the book is there, its ignore file is not",
    "start.ignore": "B01 the ignore file is written under another name",
    "start.id": "B01 the id of the folder is written under another name",
    "start.placed": "B02 the file of the database is there, empty",
    "start.creating": "B05 inside the transaction that makes the schema, all is made",
    "start.created": "B06 the schema is made, nothing else is done",
    "start.recovered": "B07 the recovery of the memory file is over, no run is looked at",
    "start.ready": "B08 all that a start does is done, nobody knows",
    "append.begin": "A01 a batch of events is encoded, no transaction is open",
    "append.begun": "A02 the transaction is open, the head not read",
    "append.inserted": "A03 the events are inserted, nothing else of the transaction is done",
    "append.commit": "A03 all of the transaction is done, nothing is committed",
    "append.committed": "A04 committed, not acknowledged",
    "run.interrupting": "P13 a run whose owner is gone is found, and stays open",
    "run.interrupted": "P13 it is ended, nobody knows",
    "context.built": "P12 a request is built from the log, nothing of it is recorded",
    "context.freezing": "P12 the memory for a session is read, not frozen",
    "context.frozen": "P12 it is frozen, the request is not built",
    "context.shown": "P13 the request is on record, nobody has it yet",
    "compact.selected": "C01 a range is selected, no claim is taken",
    "compact.requested": "C02 the claim is held, the summariser not asked",
    "compact.received": "C03 the summariser has answered, nothing is judged",
    "compact.validated": "C04 the summary is accepted, nothing is recorded",
    "compact.committing": "C05 inside the transaction of the compaction",
    "compact.committed": "C06 committed, the claim still held",
    "compact.reducing": "C04 a reduction is decided, nothing is recorded",
    "compact.reduced": "C06 the reduction is in the log, the request not built",
    "compact.changing": "C04 an undo or redo is decided, nothing is recorded",
    "compact.changed": "C06 the undo or redo is in the log, not acknowledged",
    "candidate.received": "M01 a proposal is read and checked, nothing is stored",
    "candidate.stored": "M02 the candidate is in the log, its run is open, not acknowledged",
    "candidate.ending": "M03 a run is about to end with its candidates, in one transaction",
    "candidate.ended": "M04 the run and its candidates are decided, not acknowledged",
    "candidate.deciding": "M03 a person's word about a candidate, nothing is recorded",
    "candidate.decided": "M04 it is in the log, not acknowledged",
    "publish.locked": "M09 the lock is held, nothing read",
    "publish.base_read": "M10 the file is what the log says",
    "publish.preparing": "M11 inside the transaction of the prepared revision",
    "publish.prepared": "M12 the prepared revision is durable",
    "file.open_temp": "M12 before the temp file is made",
    "file.write_temp": "M13 the temp file is there, empty",
    "file.write_rest": "M14 the temp file is torn",
    "file.keep_owner": "M15 all is written, owner not yet kept",
    "file.keep_mode": "M15 all is written, mode not yet kept",
    "file.fsync_temp": "M15 all is written, nothing synced",
    "file.read_base": "M16 the temp file is synced",
    "file.set_aside": "M17 the base was checked again",
    "file.replace": "M17 the name for the displaced bytes is taken",
    "file.exchange": "M18 raise(ENOSYS) here is a system that cannot exchange two names",
    "file.look_back": "M18 the file is replaced, the displaced bytes not yet looked at",
    "file.fsync_folder": "M18 the file is replaced, the folder not synced",
    "file.check_folder": "M19 the folder is synced",
    "publish.commit": "M19 before the committed revision",
    "publish.committing": "M20 inside the transaction of the committed revision",
    "publish.committed": "M21 committed, not acknowledged",
    "file.unlink": "M22 before one of our own names is removed",
    "publish.cleaned": "M22 all is done, not acknowledged",
    "sync.read": "S01-S02 the edited file was read",
    "sync.validated": "S03 it is valid",
    "sync.read_again": "S04 its hash was read again",
    "sync.committing": "S05 inside the transaction of the manual revision",
    "sync.committed": "S06 committed, not acknowledged",
    "import.read": "S01-S02 the notes and the file were read",
    "import.displaced": "S03 the bytes of the file are kept as a displaced revision",
    "curate.leased": "M05 the lease of the curation is held",
    "curate.answered": "M06-M07 the curator has answered, nothing is judged",
    "curate.decided": "M08 the answer is judged, nothing is recorded",
    "forget.decided": "M04 what a person forgets is proposed, its run is open, nothing is blocked",
    "evidence.read": "M05 runs were read for evidence, nothing is recorded",
    "evidence.promoting": "M05 claims are due to be promoted, nothing is recorded",
    "restore.chosen": "R01 the old snapshot was read and passed today's checks",
    "restore.displaced": "R01 the edited bytes are kept as a displaced revision",
    "recover.locked": "M26 recovery holds the lock",
    "recover.decided": "M26 recovery knows what to do with the prepared revision",
    "recover.abandoned": "M26 the prepared revision is abandoned",
    "recover.redone": "M26 the file is written again",
    "recover.committed": "M26 the revision is committed",
    "recover.displaced": "M24 displaced bytes are kept as a revision, their link still there",
    "recover.cleaned": "M26 recovery is done",
    "project.begun": "P01 the transaction of a projection is open, nothing is changed in it",
    "project.moved": "P02 the cursor is moved in it, no row is",
    "project.applied": "P03 the rows are written in it, nothing is committed",
    "project.committed": "P04 rows and cursor are committed, nobody knows",
    "work.kept": "P05 a worker has said that it is there, and kept its claims",
    "work.leased": "P06 a worker has taken a claim, nothing follows the log yet",
    "upgrade.locked": "B02 the lock is held, the store not yet looked at",
    "upgrade.backed_up": "B04 the backup is there and proved",
    "upgrade.migrating": "B05 inside the transaction, nothing changed",
    "upgrade.committing": "B05 all is changed, nothing committed",
    "upgrade.committed": "B06 today's schema, not acknowledged",
    "backup.ignoring": "F36 the folder of kept copies is there, its ignore file has no name yet",
    "backup.copying": "F36 the name is free, nothing is copied",
    "backup.copied": "F36 the copy is there, not yet proved",
    "backup.appearing": "F36 the copy is whole and synced, and has no name",
    "backup.appeared": "F36 the copy has its name, not acknowledged",
    "restore.proved": "F36 the backup is copied and proved, the store not touched",
    "restore.keeping": "F36 on a server: nothing is set aside yet",
    "restore.kept": "F36 what is there is kept, and still there",
    "restore.committing": "F36 all is replaced, nothing committed",
    "restore.committed": "F36 the backup is the store, the memory file is of the old one",
    "restore.replaced": "F36 the same, all locks let go",
    "restore.file_kept": "F36 the memory file of the old store is kept, and still there",
    "restore.file_gone": "F36 the bytes of the old store are gone from its place",
    "erase.planned": "X00 what goes is known, nothing is requested",
    "erase.requested": "X01 the request is in the log",
    "erase.published": "X02 memory is without the entries, its file too",
    "erase.erasing": "X03 inside the transaction that erases payloads",
    "erase.erased": "X03 payloads are erased, others may be left",
    "erase.undone": "X03 a summary that was erased is taken back",
    "erase.projected": "X04 read models are without the text",
    "erase.vacuum": "X05 before the database is written anew",
    "erase.truncate": "X05 before the write-ahead log is truncated",
    "erase.wiped": "X05 no page holds the text, no receipt is given",
    "erase.completed": "X06 the receipt is in the log, not acknowledged",
    "rebuild.begun": "P11 the tables of the next generation are there, empty",
    "rebuild.step": "P11 a part of the next generation is committed",
    "rebuild.swapping": "P11 inside the transaction of the swap, before the tables are exchanged",
    "rebuild.swapped": "P11 the new generation is live",
    "lock.wait": "F25 before the lock is tried",
}
"""Every failpoint and the row of the fault matrix that it stands for; a test holds this list to the source."""

_PARK_SECONDS_MAX = 60.0
_EXIT_STATUS = 70
_SPEC = re.compile(r"([a-z_.]+)=(kill|exit|raise|sleep|park)(?:\(([^()]*)\))?(?::([0-9]+))?")

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Does what a test armed ``name`` with; nothing in ordinary life."""
    action = _armed.get(name)
    if action is not None:
        action()


@contextmanager
def armed(name: str, action: str | Callable[[], None]) -> Iterator[None]:
    """Arms a failpoint for a block of a test in this process, with an action in words or any callable."""
    _check_name(name)
    before = _armed.get(name)
    _armed[name] = _action(f"{name}={action}")[1] if isinstance(action, str) else action
    try:
        yield
    finally:
        if before is None:
            _armed.pop(name, None)
        else:
            _armed[name] = before


def arm_from_environment() -> None:
    """Takes the armed failpoints from the environment; called once on import. Raises InputError ``bad_failpoint``."""
    _armed.clear()
    for spec in os.environ.get(VARIABLE, "").split(";"):
        if spec.strip():
            name, action = _action(spec.strip())
            _armed[name] = action


def _check_name(name: str) -> None:
    if name not in POINTS:
        raise InputError(f"there is no failpoint {name!r}; failpoints.POINTS lists them", code="bad_failpoint")


def _action(spec: str) -> tuple[str, Callable[[], None]]:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise InputError(f"{VARIABLE}: {spec!r} is not name=action[:n]", code="bad_failpoint")
    name, word, argument, count = match.groups()
    _check_name(name)
    act = _act(word, argument or "", spec)
    return name, act if count is None else _nth(act, int(count))


def _act(word: str, argument: str, spec: str) -> Callable[[], None]:
    if word == "kill":
        return lambda: os.kill(os.getpid(), signal.SIGKILL)
    if word == "exit":
        return lambda: os._exit(_EXIT_STATUS)
    if word == "raise":
        number = getattr(errno, argument, None)
        if not isinstance(number, int):
            raise InputError(f"{VARIABLE}: {spec!r} names no errno", code="bad_failpoint")
        return lambda: _raise(number)
    if word == "sleep":
        seconds = float(argument)
        return lambda: time.sleep(seconds)
    return lambda: _park(Path(argument))


def _nth(act: Callable[[], None], number: int) -> Callable[[], None]:
    passed = 0

    def counting() -> None:
        nonlocal passed
        passed += 1
        if passed == number:
            act()

    return counting


def _raise(number: int) -> None:
    raise OSError(number, os.strerror(number))


def _park(path: Path) -> None:
    path.touch()
    deadline = time.monotonic() + _PARK_SECONDS_MAX
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.005)


arm_from_environment()
