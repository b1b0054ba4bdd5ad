"""What minutebook has in a workspace: ``.tinyagent``, its ignore file, the one lock, the memory file (D12)."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from ...domain.errors import InputError, MemoryFault, StoreError
from ...domain.identifiers import check_identifier
from ..settings import Settings
from ..store.failpoints import failpoint
from ..store.place import appear, there
from .runtime import new_id
from .safe_file import Absent, Bytes, FileLook, Refused, fault, look_at, open_folder

FOLDER = ".tinyagent"
LOCK = "minutebook.lock"
DATABASE = "minutebook.db"
ID = "workspace-id"
IGNORE = ".gitignore"
_LEFT = re.compile(r"\.(gitignore|workspace-id)\.[0-9a-f]{16}\.tmp|\.w-[0-9a-f]+\.tmp")
_IGNORE = f"""\
# Written once by minutebook: log, lock and id are not for version control; MEMORY.md may be.
{DATABASE}
{DATABASE}-wal
{DATABASE}-shm
{LOCK}
{ID}
.*.tmp
.*.displaced
"""
_ID_BYTES_MAX = 300
_NOTE_BYTES_MAX = 200
_POLL_SECONDS = 0.005
_POLL_SECONDS_MAX = 0.05

_LIVE: weakref.WeakSet[Workspace] = weakref.WeakSet()


class Workspace:
    """One workspace folder. Its root may be reached by any path; below the root no symbolic link is followed."""

    def __init__(
        self,
        root: Path,
        *,
        memory_path: str = f"{FOLDER}/memory/MEMORY.md",
        bytes_max: int = 1_000_000,
        lock_timeout: float = 5.0,
        apart: bool = False,
    ) -> None:
        """``apart``: the folder lies under a memory root, is named in full, and may not be there yet (D18)."""
        self.apart = apart
        self.root = root.absolute()
        self.memory_path = PurePosixPath(memory_path)
        self.bytes_max = bytes_max
        self.lock_timeout = lock_timeout
        self.name = self.memory_path.name
        self._held: int | None = None
        self._holder: tuple[int, int] | None = None
        _LIVE.add(self)

    @classmethod
    def of(cls, root: Path, settings: Settings, *, apart: bool = False) -> Workspace:
        """The workspace with the path, the limit and the patience that the settings name."""
        return cls(
            root,
            memory_path=settings.memory_path,
            bytes_max=settings.memory_file_bytes_max,
            lock_timeout=settings.lock_timeout_seconds,
            apart=apart,
        )

    @property
    def path(self) -> Path:
        """Where the memory file is, or would be."""
        return self.root / self.memory_path

    @property
    def shown(self) -> str:
        """The memory file as a person is told of it: inside the workspace, or in full."""
        return str(self.path if self.apart else self.memory_path)

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    def prepare(self) -> None:
        """Makes ``.tinyagent`` (0700) and, once, the ignore file in it. Raises MemoryFault."""
        with self._opened(FOLDER, create=True) as folder:
            failpoint("start.folder")
            try:
                if not there(folder, IGNORE):  # a person may have written their own
                    appear(folder, IGNORE, _IGNORE, lambda: failpoint("start.ignore"))
                # Whole files appear under their name at once; what is left under another comes of a kill.
                for name in os.listdir(folder):
                    if _LEFT.fullmatch(name):
                        with suppress(FileNotFoundError):
                            os.unlink(name, dir_fd=folder)
            except OSError as error:
                raise fault(error, f"{FOLDER}/{IGNORE} cannot be made") from error

    # --- its name in a database that several share

    def own_id(self, *, make: bool) -> str:
        """The id of this folder, where the settings name none: it moves with the folder and is made once (``make``).

        A reader of a folder that has none gets one that nothing was recorded under. Raises StoreError
        ``bad_workspace_id``.
        """
        found = self._read_id()
        if found is None and make:
            self._make_id(new_id("w"))
            found = self._read_id()  # another process may have been first
        return found or new_id("w")

    def _read_id(self) -> str | None:
        try:
            with self._opened(FOLDER, create=False) as folder:
                look = look_at(folder, ID, _ID_BYTES_MAX)
        except MemoryFault as error:
            if error.code != "memory_folder_gone":
                raise
            return None
        if isinstance(look, Absent):
            return None
        try:
            return check_identifier(look.data.decode().strip() if isinstance(look, Bytes) else "")
        except (InputError, UnicodeDecodeError) as error:
            raise StoreError(
                f"{FOLDER}/{ID} does not hold the id of a workspace; set workspace_id, or put back what stood there",
                code="bad_workspace_id",
            ) from error

    def _make_id(self, made: str) -> None:
        with self._opened(FOLDER, create=True) as folder:
            try:
                appear(folder, ID, f"{made}\n", lambda: failpoint("start.id"))
            except OSError as error:
                raise fault(error, f"{FOLDER}/{ID} cannot be made") from error

    # --- the one lock

    @contextmanager
    def locked(self, timeout: float | None = None) -> Iterator[None]:
        """Holds the lock that commit, sync, restore and recovery share; a thread that holds it may enter again.

        It goes with the process that held it, however that ended. Raises MemoryFault ``memory_locked``.
        """
        me = (os.getpid(), threading.get_ident())
        if self._holder == me:
            yield
            return
        descriptor = self._acquire(self.lock_timeout if timeout is None else timeout)
        self._held, self._holder = descriptor, me
        try:
            yield
        finally:
            # A child that was forked in here must not let go of what its parent holds.
            if me[0] == os.getpid():
                self._held = self._holder = None
                # Unlocked by word, not only by closing: a child that inherited the descriptor would keep it locked.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
                os.close(descriptor)

    def _acquire(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        pause = _POLL_SECONDS
        while True:
            failpoint("lock.wait")
            descriptor = self._try_lock()
            if descriptor is not None:
                return descriptor
            if time.monotonic() >= deadline:
                raise MemoryFault(
                    f"another process is writing the memory of this workspace ({FOLDER}/{LOCK}); try again, or raise "
                    "lock_timeout_seconds",
                    code="memory_locked",
                )
            time.sleep(pause)
            pause = min(pause * 1.5, _POLL_SECONDS_MAX)

    def _try_lock(self) -> int | None:
        with self._opened(FOLDER, create=True) as folder:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                descriptor = os.open(LOCK, flags, 0o600, dir_fd=folder)
            except OSError as error:
                raise fault(error, f"the lock {FOLDER}/{LOCK} cannot be opened") from error
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise StoreError(f"{FOLDER}/{LOCK} is not a plain file; move it away", code="bad_lock_file")
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same_name(folder, LOCK, descriptor):
                    return descriptor
                # Somebody removed the lock file: the next one to come would lock another file than we did.
                os.close(descriptor)
            except BlockingIOError:
                os.close(descriptor)
            except OSError as error:
                os.close(descriptor)
                raise fault(error, f"{FOLDER}/{LOCK} cannot be locked") from error
            except BaseException:
                os.close(descriptor)
                raise
            return None

    def note(self, text: str) -> None:
        """Leaves a word in the lock file for whoever looks later; call it under the lock. Losing it loses nothing."""
        if self._held is not None:
            data = text.encode()
            with suppress(OSError):
                os.pwrite(self._held, data, 0)
                os.ftruncate(self._held, len(data))

    def noted(self) -> str:
        """What was noted last; empty when nothing was, or it cannot be read."""
        try:
            with self._opened(FOLDER, create=False) as folder:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                descriptor = os.open(LOCK, flags, dir_fd=folder)
                try:
                    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                        return ""
                    return os.read(descriptor, _NOTE_BYTES_MAX).decode("utf-8", "replace")
                finally:
                    os.close(descriptor)
        except (OSError, MemoryFault, StoreError):
            return ""

    # --- the memory file

    def look(self) -> FileLook:
        """The memory file, read once through one descriptor; a pure look that makes and changes nothing."""
        if self.apart and not os.path.isdir(self.root):
            return Absent(folder=False)
        root = self._open_root()
        try:
            folder = open_folder(root, self.memory_path.parts[:-1], create=False)
        finally:
            os.close(root)
        if not isinstance(folder, int):
            return folder
        try:
            return look_at(folder, self.name, self.bytes_max)
        finally:
            os.close(folder)

    @contextmanager
    def memory_folder(self, *, create: bool = False) -> Iterator[int]:
        """A descriptor of the folder of the memory file. Raises MemoryFault."""
        with self._opened(*self.memory_path.parts[:-1], create=create) as folder:
            yield folder

    def same_folder(self, folder: int) -> bool:
        """True while the path still leads to the open folder: it may have been moved or made anew (F19)."""
        try:
            with self.memory_folder() as now:
                return os.path.samestat(os.fstat(now), os.fstat(folder))
        except MemoryFault:
            return False

    @contextmanager
    def _opened(self, *parts: str, create: bool) -> Iterator[int]:
        root = self._open_root()
        try:
            folder = open_folder(root, parts, create=create)
        finally:
            os.close(root)
        match folder:
            case int():
                try:
                    yield folder
                finally:
                    os.close(folder)
            case Refused():
                folder.raise_()
            case Absent():
                raise MemoryFault(
                    f"the folder {'/'.join(parts)} is not there; 'minutebook init' makes it", code="memory_folder_gone"
                )

    def _open_root(self) -> int:
        try:
            return os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError(
                f"the workspace {self.root} cannot be opened: {error.strerror}; name an existing folder",
                code="bad_workspace",
            ) from error


def _same_name(folder: int, name: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _after_fork() -> None:
    # Closing does not unlock (the parent still has it open); keeping it would lock for as long as the child lives.
    for workspace in list(_LIVE):
        if workspace._held is not None:
            os.close(workspace._held)
        workspace._held = workspace._holder = None


os.register_at_fork(after_in_child=_after_fork)
