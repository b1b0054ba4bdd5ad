"""Whatever the system refuses, a command answers with a stable code and the mend, and never a fault of ours (D12).

Real folders without rights, as another user; a real read-only and a real full file system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store import place, system

ROOT = Path(__file__).parents[2]
NOBODY = 65534

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",), ("init",), ("log",), ("context", "s"), ("verify",), ("session", "messages", "s"),
    ("import", "TRANSCRIPT"), ("import", "FOLDER"), ("trace", "1"), ("recall", "1"),
    ("projections", "list"), ("projections", "rebuild", "context"), ("memory", "show"), ("memory", "status"),
    ("memory", "propose", "add", "Tests run with pytest."), ("memory", "sync"), ("memory", "restore", "1"),
    ("memory", "import", "NOTES"), ("export", "--log"), ("blame", "s"), ("import", "LOG"),
)  # fmt: skip
"""Every way to a file: the workspace, its settings, the database, the lock, the memory, what is imported."""

RUN = """
import io, json, os, sys, contextlib
root, uid, commands = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
import encodings, importlib, pkgutil
for codec in pkgutil.iter_modules(encodings.__path__):
    if codec.name not in ("mbcs", "oem", "cp65001"):
        importlib.import_module("encodings." + codec.name)  # what is loaded late may lie where nobody may read
import minutebook, minutebook.infrastructure.edges.cli.entry as entry
import rich.progress, rich.table, concurrent.futures, sqlite3, sqlalchemy.dialects.postgresql
if uid:
    os.setgroups([]); os.setgid(uid); os.setuid(uid)
    os.umask(0o077)
for command in commands:
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            entry.main(["--workspace", root, "--json", *command])
        except SystemExit as left:
            code = left.code
        except BaseException as error:
            code = repr(error)
    print(json.dumps([command, code, err.getvalue()]))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="minutebook-test-"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def book(open_folder: Path) -> Path:
    """A workspace with a session, two revisions and settings of its own, and what is imported beside it."""
    root = open_folder / "parent" / "work"
    root.mkdir(parents=True)
    with Minutebook.open(root, automatic=False) as made:
        with made.session("s").run() as run:
            run.append({"role": "user", "content": "Build it."})
            run.memory({"operation": "add", "text": "The build needs make."})
        made.curate()
        made.memory.import_notes(b"- Releases are on Fridays\n")
        made.export_log(open_folder / "log.jsonl")
    (open_folder / "log.jsonl").chmod(0o644)
    (root / "minutebook.toml").write_text("entry_chars_max = 900\n")
    (open_folder / "notes.md").write_text("- One fact\n")
    (open_folder / "transcripts").mkdir()
    (open_folder / "transcripts" / "one.json").write_text('[{"role": "user", "content": "Hello."}]')
    return root


def answers(root: Path, *, uid: int = NOBODY, before: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any, str]]:
    """Each command with its exit status and what it said on stderr, run as another user where that can be."""
    if os.geteuid() != 0:
        uid = 0
    beside = root.parents[1]
    names = {
        "LOG": str(beside / "log.jsonl"),
        "NOTES": str(beside / "notes.md"),
        "TRANSCRIPT": str(beside / "transcripts" / "one.json"),
        "FOLDER": str(beside / "transcripts"),
    }
    commands = json.dumps([[names.get(word, word) for word in command] for command in COMMANDS])
    done = subprocess.run(
        [*before, sys.executable, "-c", RUN, str(root), str(uid), commands],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".package"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/", capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(COMMANDS)
    return found


def codes(found: list[tuple[tuple[str, ...], Any, str]]) -> dict[str, list[str]]:
    """The commands by the code that they answered with; a fault of ours, or no code at all, is refused here."""
    by_code: dict[str, list[str]] = {}
    for command, status, said in found:
        assert status in (0, 1), (command, status, said)
        assert "Traceback" not in said, (command, said)
        code = json.loads(said.splitlines()[-1])["error"] if status == 1 and said.strip() else f"exit {status}"
        assert code not in ("internal_error", "usage", "system_error"), (command, said)
        by_code.setdefault(code, []).append(" ".join(command[:2]))
    return by_code


def shut(*names: str, mode: int) -> Callable[[Path], None]:
    def work(root: Path) -> None:
        for name in names:
            for path in root.parent.glob(name):
                path.chmod(mode)

    return work


def owned_by_another(root: Path) -> None:
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


DENIALS: dict[str, tuple[Callable[[Path], None], ...]] = {
    "everything is another user's": (owned_by_another,),
    "as it was made": (lambda root: None,),
    "the parent may not be entered": (owned_by_another, lambda root: root.parent.chmod(0o600)),
    "the workspace may not be entered": (owned_by_another, shut("work", mode=0o600)),
    "the workspace may not be listed": (owned_by_another, shut("work", mode=0o711)),
    "the folder may not be entered": (owned_by_another, shut("work/.tinyagent", mode=0o000)),
    "the folder may not be listed": (owned_by_another, shut("work/.tinyagent", mode=0o711)),
    "the database may not be read": (owned_by_another, shut("work/.tinyagent/minutebook.db", mode=0o000)),
    "the folder is open, its files are not": (owned_by_another, shut("work/.tinyagent", mode=0o777)),
    "the folder is open, the lock is shut": (
        owned_by_another,
        shut("work/.tinyagent", "work/.tinyagent/minutebook.db", mode=0o777),
        shut("work/.tinyagent/minutebook.lock", mode=0o000),
    ),
    "the memory may not be entered": (owned_by_another, shut("work/.tinyagent/memory", mode=0o000)),
    "the memory file may not be read": (owned_by_another, shut("work/.tinyagent/memory/MEMORY.md", mode=0o000)),
    "the settings may not be read": (owned_by_another, shut("work/minutebook.toml", mode=0o000)),
    "what is imported may not be read": (
        owned_by_another,
        shut("../notes.md", "../transcripts", mode=0o000),
    ),
    "what is imported may not be entered": (owned_by_another, shut("../transcripts", mode=0o600)),
}


@pytest.mark.parametrize("denial", DENIALS)
def test_no_command_takes_a_denied_file_for_a_fault_of_ours(book: Path, denial: str) -> None:
    for work in DENIALS[denial]:
        work(book)
    found = codes(answers(book))
    if os.geteuid() == 0:
        assert set(found) - {"exit 0"}, "nothing was refused, so nothing was tried"


@pytest.mark.sqlite_only("a folder with the database in it")
def test_a_read_only_file_system_is_looked_at_and_not_written(book: Path) -> None:
    beside = book.parents[1]
    script = f'mount --bind {beside} {beside} && mount -o remount,ro,bind {beside} && exec "$@"'
    inside = ("unshare", "--mount", "sh", "-c", script, "sh")
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a read-only file system can only be mounted by root")
    found = codes(answers(book, uid=0, before=inside))
    assert {"memory show", "log", "verify"} <= set(found["exit 0"])
    refused = {code: names for code, names in found.items() if not code.startswith("exit")}
    refused.pop("not_a_message", None)  # what stands at position 1
    assert any("memory propose" in names for names in refused.values())
    assert set(refused) <= {"store_unwritable", "memory_unwritable", "read_only_file_system"}


def test_a_full_file_system_is_told_as_one(open_folder: Path) -> None:
    root, disk = open_folder / "disk" / "work", open_folder / "disk"
    disk.mkdir()
    (open_folder / "notes.md").write_text("- One fact\n")
    (open_folder / "transcripts").mkdir()
    (open_folder / "transcripts" / "one.json").write_text('[{"role": "user", "content": "Hello."}]')
    small = f"mount -t tmpfs -o size=1m tmpfs {disk} && mkdir {root}"
    script = f'{small} && dd if=/dev/zero of={disk}/full 2>/dev/null; exec "$@"'
    inside = ("unshare", "--mount", "sh", "-c", script, "sh")
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root")
    found = codes(answers(root, uid=0, before=inside))
    said = found.get("disk_full", []) + found.get("memory_disk_full", [])
    assert "init" in said, found
    assert "memory propose" in said, found


def test_an_answer_that_cannot_be_written_is_told(book: Path) -> None:
    command = [sys.executable, "-m", "minutebook", "--workspace", str(book), "--json", "memory", "show"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".package")}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"] == "disk_full"


@pytest.mark.parametrize("name", ["EACCES", "EROFS", "ENOSPC", "EMFILE", "EIO", "ENOENT", "ENOTDIR", "ELOOP", "ENOMEM"])
def test_each_kind_of_error_has_a_code_and_a_mend(name: str) -> None:
    import errno

    number = getattr(errno, name)
    told = system.refusal(OSError(number, os.strerror(number)), "the file cannot be used")
    assert told.code != "system_error"
    assert told.message.startswith(f"the file cannot be used: {os.strerror(number)}; ")


def test_a_workspace_that_cannot_be_made_is_refused_to_a_program_too(open_folder: Path) -> None:
    (open_folder / "file").write_text("in the way")
    for path in (open_folder / "file" / "work", open_folder / ("long" * 100)):
        for work in (Minutebook.init, Minutebook.open):
            with pytest.raises(MinutebookError) as refusal:
                work(path)
            assert refusal.value.code in ("not_a_folder", "bad_path")


# --- F24: a network file system

MOUNTED = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:35 / {here} rw,relatime shared:9 - {kind} server:/export rw
41 22 0:36 / /elsewhere rw - tmpfs tmpfs rw
"""


@pytest.mark.sqlite_only("a database file on a share")
@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "ceph"])
def test_a_book_on_a_network_file_system_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folder = tmp_path / "on a share"
    folder.mkdir()
    table = tmp_path / "mounts"
    table.write_text(MOUNTED.format(here=str(folder).replace(" ", "\\040"), kind=kind))
    monkeypatch.setattr(place, "MOUNTS", table)
    with pytest.raises(MinutebookError) as refusal:
        Minutebook.open(folder)
    assert refusal.value.code == "not_durable"
    assert kind in str(refusal.value)
    assert not list(folder.rglob("*.db*"))
    with Minutebook.open(folder, database=f"sqlite:///{tmp_path}/local.db", automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        assert book.memory.status().state == "clean"


def test_file_systems_of_this_machine_are_none_of_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    for kind in ("ext4", "btrfs", "overlay", "tmpfs", "fuse.fuse-overlayfs", "virtiofs", "9p"):
        table.write_text(MOUNTED.format(here=tmp_path, kind=kind))
        monkeypatch.setattr(place, "MOUNTS", table)
        place.require_local(tmp_path / "book.db")
    monkeypatch.setattr(place, "MOUNTS", tmp_path / "absent")
    place.require_local(tmp_path / "book.db")
    assert place.file_system("not a table", tmp_path) is None
    with Minutebook.open(tmp_path / "here", settings=Settings(), automatic=False):
        pass
