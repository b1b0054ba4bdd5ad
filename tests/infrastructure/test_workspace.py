"""The workspace folder: the lock, and a memory file that is never followed, never waited for, never too large (D12)."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stores import killed_at

from minutebook.domain.errors import MemoryFault, MinutebookError, StoreError
from minutebook.infrastructure.settings import Settings
from minutebook.infrastructure.work.replacement import FileChanged, leftovers, refuse_early, replace
from minutebook.infrastructure.work.safe_file import Absent, Bytes, Refused
from minutebook.infrastructure.work.workspace import Workspace

fork = multiprocessing.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
"""The children fork from a test worker that has threads of its own; they use none of its locks."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    root.mkdir()
    made = Workspace.of(root, Settings.model_validate({"lock_timeout_seconds": 0.2}))
    made.prepare()
    made.path.parent.mkdir()
    return made


def refusal(act: Callable[[], object]) -> MinutebookError:
    with pytest.raises(MinutebookError) as caught:
        act()
    return caught.value


def code(workspace: Workspace) -> str:
    look = workspace.look()
    assert isinstance(look, Refused)
    assert look.message
    return look.code


# --- the folder


def test_the_folder_is_private_and_its_ignore_file_is_written_once(workspace: Workspace) -> None:
    ignore = workspace.folder / ".gitignore"
    assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
    assert {"minutebook.db", "minutebook.db-wal", "minutebook.lock"} <= set(ignore.read_text().splitlines())
    ignore.write_text("mine\n")
    workspace.prepare()
    assert ignore.read_text() == "mine\n"


def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root" / ".tinyagent").symlink_to(tmp_path / "elsewhere")
    workspace = Workspace(tmp_path / "root")
    assert refusal(workspace.prepare).code == "memory_folder_is_symlink"
    assert code(workspace) == "memory_folder_is_symlink"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_root_that_is_reached_through_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    workspace = Workspace(tmp_path / "link")
    workspace.prepare()
    with workspace.locked():
        replace(workspace, b"One.\n", revision=1, base=None)
    assert (tmp_path / "real" / ".tinyagent" / "memory" / "MEMORY.md").read_bytes() == b"One.\n"


@pytest.mark.parametrize("there", [True, False])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "root").write_text("a file")
    assert refusal(Workspace(tmp_path / "root").prepare).code == "bad_workspace"


# --- looking (F16, F17, F20, F22)


def test_an_absent_file_and_an_absent_folder_are_told_apart(workspace: Workspace) -> None:
    assert workspace.look() == Absent(folder=True)
    workspace.path.parent.rmdir()
    assert workspace.look() == Absent(folder=False)


def test_a_plain_file_is_read_whole_with_its_mode_and_owner(workspace: Workspace) -> None:
    workspace.path.write_bytes(b"One.\n")
    workspace.path.chmod(0o640)
    look = workspace.look()
    assert isinstance(look, Bytes)
    assert (look.data, look.mode, look.uid, look.links) == (b"One.\n", 0o640, os.geteuid(), 1)


@pytest.mark.parametrize("target", ["inside", "outside", "dangling", "loop"])
def test_a_symbolic_link_is_refused_wherever_it_leads(workspace: Workspace, target: str) -> None:
    inside, outside = workspace.root / "notes.md", workspace.root.parent / "outside.md"
    for path in (inside, outside):
        path.write_bytes(b"Not memory.\n")
    where = {"inside": inside, "outside": outside, "dangling": workspace.root / "nothing", "loop": workspace.path}
    workspace.path.symlink_to(where[target])
    assert code(workspace) == "memory_is_symlink"
    # The publisher refuses before this; the replacement by itself takes no link's place either.
    assert isinstance(refusal(lambda: replace(workspace, b"New.\n", revision=1, base=None)), FileChanged)
    assert workspace.path.is_symlink()
    assert inside.read_bytes() == outside.read_bytes() == b"Not memory.\n"


def test_whatever_is_no_regular_file_is_refused_at_once(workspace: Workspace) -> None:
    began = time.monotonic()
    workspace.path.mkdir()
    assert code(workspace) == "memory_is_directory"
    workspace.path.rmdir()
    os.mkfifo(workspace.path)
    assert code(workspace) == "memory_is_special"
    workspace.path.unlink()
    here = os.getcwd()
    os.chdir(workspace.path.parent)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(workspace.name)
        assert code(workspace) == "memory_is_special"
    os.chdir(here)
    workspace.path.unlink()
    if os.geteuid() == 0:
        os.mknod(workspace.path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        assert code(workspace) == "memory_is_special"
    assert time.monotonic() - began < 60


def test_a_file_of_100_megabytes_is_refused_without_being_read(workspace: Workspace) -> None:
    with workspace.path.open("wb") as file:
        file.truncate(100_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    assert code(workspace) == "memory_too_large"
    assert time.monotonic() - began < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize(("size", "read"), [(999_999, True), (1_000_000, True), (1_000_001, False)])
def test_the_limit_is_exact(workspace: Workspace, size: int, read: bool) -> None:
    workspace.path.write_bytes(b"x" * size)
    assert isinstance(workspace.look(), Bytes if read else Refused)


def test_a_file_in_the_place_of_the_folder_is_named(workspace: Workspace) -> None:
    workspace.path.parent.rmdir()
    workspace.path.parent.write_text("a file")
    assert code(workspace) == "memory_folder_is_file"


# --- refusing before anything is prepared (F14)


def told_to_an_ordinary_user(root: Path, act: Callable[[], object]) -> str:
    """The code that an ordinary user is refused with: root, who may do anything, becomes nobody in a child."""
    pipe, end = fork.Pipe()

    def user() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            act()
            end.send("passed")
        except MinutebookError as error:
            end.send(error.code)

    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, 65534, 65534)
    process = fork.Process(target=user)
    process.start()
    answer: str = pipe.recv()
    process.join()
    return answer


@pytest.fixture
def common() -> Iterator[Workspace]:
    """A workspace in a folder that any user can reach, which pytest's own is not."""
    root = Path(tempfile.mkdtemp(prefix="minutebook-"))
    workspace = Workspace(root)
    workspace.path.parent.mkdir(parents=True)
    workspace.path.write_bytes(b"One.\n")
    yield workspace
    for folder in (root, workspace.folder, workspace.path.parent):
        folder.chmod(0o700)
    shutil.rmtree(root)


def test_a_file_that_may_not_be_read_is_named(common: Workspace) -> None:
    common.path.chmod(0)
    assert told_to_an_ordinary_user(common.root, lambda: refuse_early(common, common.look())) == "memory_unreadable"


def test_a_folder_that_may_not_be_written_is_refused_before_anything_is_prepared(common: Workspace) -> None:
    common.path.parent.chmod(0o500)
    assert told_to_an_ordinary_user(common.root, lambda: refuse_early(common, common.look())) == "memory_unwritable"


def test_a_root_that_may_not_be_written_is_refused_with_the_mend(common: Workspace) -> None:
    shutil.rmtree(common.folder)
    common.root.chmod(0o500)
    assert told_to_an_ordinary_user(common.root, common.prepare) == "memory_unwritable"
    common.folder.mkdir()
    common.path.parent.mkdir()


# --- replacing: names of others


def test_names_that_only_look_like_ours_are_not_ours(workspace: Workspace) -> None:
    ours = [".MEMORY.md.7.tmp", ".MEMORY.md.7.displaced", ".MEMORY.md.7-1.displaced"]
    others = [".MEMORY.md.tmp", ".MEMORY.md.x.tmp", "MEMORY.md.7.tmp", ".MEMORY.md.7.tmp~", ".OTHER.md.7.tmp",
              ".MEMORY.md.7-.tmp", "memory.md"]  # fmt: skip
    for name in ours + others:
        (workspace.path.parent / name).write_bytes(b"")
    assert {found.name for found in leftovers(workspace)} == set(ours)


def test_a_stale_temp_file_is_in_nobodys_way_and_displaced_bytes_are_never_overwritten(workspace: Workspace) -> None:
    workspace.path.write_bytes(b"One.\n")
    (workspace.path.parent / ".MEMORY.md.2.tmp").write_bytes(b"torn")
    (workspace.path.parent / ".MEMORY.md.2.displaced").write_bytes(b"A person's last save.\n")
    base = workspace.look()
    assert isinstance(base, Bytes)
    aside = replace(workspace, b"Two.\n", revision=2, base=base)
    assert aside == ".MEMORY.md.2-1.displaced"
    assert (workspace.path.parent / aside).read_bytes() == b"One.\n"
    assert (workspace.path.parent / ".MEMORY.md.2.displaced").read_bytes() == b"A person's last save.\n"
    assert workspace.path.read_bytes() == b"Two.\n"


def test_a_link_in_the_place_of_the_temp_file_is_not_followed(workspace: Workspace) -> None:
    target = workspace.root / "precious"
    target.write_bytes(b"precious")
    (workspace.path.parent / ".MEMORY.md.1.tmp").symlink_to(target)
    replace(workspace, b"One.\n", revision=1, base=None)
    assert target.read_bytes() == b"precious"
    assert workspace.path.read_bytes() == b"One.\n"


# --- the lock


def test_a_second_holder_is_told_who_to_wait_for_and_how_long(workspace: Workspace) -> None:
    other = Workspace.of(workspace.root, Settings.model_validate({"lock_timeout_seconds": 0.1}))
    with workspace.locked():
        began = time.monotonic()
        error = refusal(lambda: other.locked().__enter__())
        assert isinstance(error, MemoryFault)
        assert error.code == "memory_locked"
        assert "lock_timeout_seconds" in error.message
        assert 0.1 <= time.monotonic() - began < 60
    with other.locked():
        pass


def test_the_same_thread_may_enter_again_and_another_may_not(workspace: Workspace) -> None:
    seen: list[str] = []

    def other() -> None:
        try:
            with workspace.locked(0.05):
                seen.append("entered")
        except MemoryFault as error:
            seen.append(error.code)

    with workspace.locked(), workspace.locked():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["memory_locked"]
    other()
    assert seen == ["memory_locked", "entered"]


def test_the_lock_dies_with_its_process(workspace: Workspace) -> None:
    pipe, end = fork.Pipe()

    def hold() -> None:
        with workspace.locked():
            end.send("held")
            time.sleep(600)

    process = fork.Process(target=hold)
    process.start()
    assert pipe.recv() == "held"
    assert refusal(lambda: workspace.locked(0).__enter__()).code == "memory_locked"
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with workspace.locked(0):
        pass


def test_a_child_forked_under_the_lock_neither_holds_it_nor_lets_go_of_it(workspace: Workspace) -> None:
    pipe, end = fork.Pipe()

    def child() -> None:
        try:
            with workspace.locked(0):
                end.send("entered")
        except MemoryFault as error:
            end.send(error.code)
        time.sleep(600)

    with workspace.locked():
        process = fork.Process(target=child)
        process.start()
        assert pipe.recv() == "memory_locked"
    try:
        with workspace.locked(0):
            pass
    finally:
        process.kill()
        process.join()


def test_a_lock_file_that_is_taken_away_divides_nobody(workspace: Workspace) -> None:
    lock = workspace.folder / "minutebook.lock"
    with workspace.locked():
        lock.unlink()
    with workspace.locked():
        assert lock.exists()
        other = Workspace(workspace.root)
        assert refusal(lambda: other.locked(0).__enter__()).code == "memory_locked"


def test_a_lock_file_that_is_no_plain_file_is_refused(workspace: Workspace) -> None:
    lock = workspace.folder / "minutebook.lock"
    os.mkfifo(lock)
    error = refusal(lambda: workspace.locked().__enter__())
    assert isinstance(error, StoreError)
    assert error.code == "bad_lock_file"
    lock.unlink()
    lock.symlink_to(workspace.root / "precious")
    assert refusal(lambda: workspace.locked().__enter__()).code == "memory_write_failed"
    assert not (workspace.root / "precious").exists()


# --- a start that is killed


@pytest.mark.parametrize(("point", "name"), [("start.ignore", ".gitignore"), ("start.id", "workspace-id")])
def test_a_small_file_is_whole_or_not_there_and_what_a_kill_left_is_removed(
    tmp_path: Path, point: str, name: str
) -> None:
    def begin() -> str:
        made = Workspace(tmp_path)
        made.prepare()
        return made.own_id(make=True)

    assert killed_at(point, begin)
    folder = tmp_path / ".tinyagent"
    assert not (folder / name).exists()
    assert [path for path in folder.iterdir() if path.name.endswith(".tmp")] != []

    mine = begin()

    assert begin() == mine
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "workspace-id"]
    assert "minutebook.db" in (folder / ".gitignore").read_text()
