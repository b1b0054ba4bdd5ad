"""Each step of a replacement, each call in it that may fail, and what stands beside the file afterwards (D5, F14, F15).

On real files. Only calls of the system are replaced, where the machine that runs this has no such system.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from desk import Place

from minutebook.domain.errors import MemoryFault
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.work import replacement
from minutebook.infrastructure.work.replacement import (
    FileChanged,
    InDoubt,
    Leftover,
    discard,
    leftovers,
    look_at_leftover,
    overwrite,
    refuse_early,
    replace,
)
from minutebook.infrastructure.work.safe_file import Absent, Bytes, Refused

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.edit("one\n")
    made.path.chmod(0o600)
    return made


def seen(place: Place) -> Bytes:
    look = place.workspace.look()
    assert isinstance(look, Bytes)
    return look


def refusal(act: Callable[[], object]) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        act()
    return caught.value


def failing(number: int) -> Callable[..., Any]:
    def fail(*_arguments: Any, **_options: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


def once(act: Callable[[], object]) -> Callable[[], None]:
    left = [act]

    def acting() -> None:
        if left:
            left.pop()()

    return acting


# --- a replacement that goes well


def test_what_was_replaced_stands_aside_until_it_is_discarded(place: Place) -> None:
    aside = replace(place.workspace, b"two\n", revision=7, base=seen(place))
    assert aside == ".MEMORY.md.7.displaced"
    assert place.names() == [aside, "MEMORY.md"]
    assert (place.bytes(), place.path.with_name(aside).read_bytes()) == (b"two\n", b"one\n")
    assert discard(place.workspace, aside)
    assert place.names() == ["MEMORY.md"]


def test_a_first_file_leaves_nothing_aside_and_is_private_whatever_the_umask(place: Place) -> None:
    place.path.unlink()
    before = os.umask(0)
    try:
        assert replace(place.workspace, b"one\n", revision=1, base=None) is None
    finally:
        os.umask(before)
    assert place.names() == ["MEMORY.md"]
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("stale", [False, True])
def test_nobody_else_may_read_the_new_bytes_while_they_are_written(place: Place, stale: bool) -> None:
    place.path.chmod(0o644)
    temp = place.path.with_name(".MEMORY.md.2.tmp")
    if stale:
        temp.write_bytes(b"of a process that died, and longer than what comes")
        temp.chmod(0o666)
    modes: list[int] = []
    before = os.umask(0)
    try:
        with armed("file.write_temp", lambda: modes.append(stat.S_IMODE(temp.stat().st_mode))):
            replace(place.workspace, b"two\n", revision=2, base=seen(place))
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert (place.bytes(), stat.S_IMODE(place.path.stat().st_mode)) == (b"two\n", 0o644)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 5000])
def test_all_bytes_arrive_though_each_call_takes_a_few(
    place: Place, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(65 + number % 26 for number in range(size))
    write, asked = os.write, []

    def short(descriptor: int, part: bytes) -> int:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return write(descriptor, part)
        asked.append(len(part))
        return write(descriptor, bytes(part)[:1000])

    monkeypatch.setattr(os, "write", short)
    torn: list[int] = []
    with armed("file.write_rest", lambda: torn.append(place.path.with_name(".MEMORY.md.2.tmp").stat().st_size)):
        replace(place.workspace, data, revision=2, base=seen(place))
    assert place.bytes() == data
    assert torn == [size // 2], "a test that stops there finds half of it"
    assert 0 not in asked, "and none asks for nothing"


def test_the_bytes_are_on_the_disk_before_the_name_is_and_the_name_before_it_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        found = os.fstat(descriptor)
        steps.append("sync folder" if stat.S_ISDIR(found.st_mode) else f"sync {found.st_size} bytes")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with armed("file.replace", lambda: steps.append("replace")):
        replace(place.workspace, b"two\n", revision=2, base=seen(place))
        assert steps == ["sync 4 bytes", "replace", "sync folder"]
        steps.clear()
        overwrite(place.workspace, b"three\n", revision=3, base=seen(place))
        assert steps == ["sync 6 bytes", "replace", "sync folder"]
        steps.clear()
        place.path.unlink()
        replace(place.workspace, b"four\n", revision=4, base=None)
        assert steps == ["sync 5 bytes", "replace", "sync folder"]


def test_a_drive_that_keeps_an_fsync_for_itself_is_asked_for_the_full_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: of files; a folder has only the ordinary one."""
    asked: list[str] = []
    monkeypatch.setattr(replacement, "_FULLFSYNC", 51)
    monkeypatch.setattr(fcntl, "fcntl", lambda descriptor, command: asked.append(f"{command} {mode(descriptor)}"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: asked.append(f"fsync {mode(descriptor)}"))
    replace(place.workspace, b"two\n", revision=2, base=seen(place))
    assert asked == ["51 file", "fsync folder"]


def mode(descriptor: int) -> str:
    return "file" if stat.S_ISREG(os.fstat(descriptor).st_mode) else "folder"


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_that_cannot_sync_folders_is_no_error(place: Place, number: int) -> None:
    with armed("file.fsync_folder", f"raise({errno.errorcode[number]})"):
        assert replace(place.workspace, b"two\n", revision=2, base=seen(place)) is not None
        overwrite(place.workspace, b"three\n", revision=3, base=seen(place))
    assert place.bytes() == b"three\n"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.ENOENT])
@pytest.mark.parametrize("how", [replace, overwrite])
def test_a_folder_that_could_not_be_synced_leaves_the_new_file_in_doubt(
    place: Place, how: Callable[..., Any], number: int
) -> None:
    with armed("file.fsync_folder", f"raise({errno.errorcode[number]})"), pytest.raises(InDoubt) as caught:
        how(place.workspace, b"two\n", revision=2, base=seen(place))
    assert caught.value.code == "memory_in_doubt"
    assert f"({os.strerror(number)})" in caught.value.message
    assert place.bytes() == b"two\n"


def test_a_folder_that_was_made_anew_meanwhile_leaves_the_new_file_in_doubt(place: Place) -> None:
    def made_anew() -> None:
        place.path.parent.rename(place.root / "moved")
        place.path.parent.mkdir()

    with armed("file.check_folder", made_anew), pytest.raises(InDoubt) as caught:
        replace(place.workspace, b"two\n", revision=2, base=seen(place))
    assert caught.value.code == "memory_in_doubt"
    assert "was moved or made anew" in caught.value.message
    assert (place.root / "moved" / "MEMORY.md").read_bytes() == b"two\n"


def opened(place: Place) -> list[str]:
    """What this process has open in the workspace."""
    names = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            names.append(os.readlink(f"/proc/self/fd/{number}"))
    return [name for name in names if name.startswith(str(place.root.resolve()))]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="where a process can count what it has open")
@pytest.mark.parametrize("point", ["", "file.write_temp", "file.fsync_temp", "file.read_base", "file.replace"])
def test_no_step_leaves_a_file_open_whether_it_goes_well_or_not(place: Place, point: str) -> None:
    for how in (replace, overwrite):
        base = seen(place)
        if point:
            with armed(point, "raise(ENOSPC)"):
                assert refusal(lambda how=how, base=base: how(place.workspace, b"two\n", revision=2, base=base)).code  # type: ignore[misc]
        else:
            how(place.workspace, b"two\n", revision=2, base=base)
        assert opened(place) == []


# --- access


@root_only
@pytest.mark.parametrize("how", [replace, overwrite])
def test_owner_group_and_mode_stay_also_the_bits_that_a_change_of_owner_takes(
    place: Place, how: Callable[..., Any]
) -> None:
    os.chown(place.path, 1234, 4321)
    place.path.chmod(0o654)
    how(place.workspace, b"two\n", revision=2, base=seen(place))
    found = place.path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o654)


@pytest.mark.parametrize("how", [replace, overwrite])
def test_a_file_of_ours_needs_no_change_of_owner(
    place: Place, how: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fchown", failing(errno.EPERM))
    place.path.chmod(0o660)
    how(place.workspace, b"two\n", revision=2, base=seen(place))
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o660


@root_only
@pytest.mark.parametrize(
    ("owner", "mode", "acl", "given_up"),
    [
        (0, 0o600, None, True),  # the group may do nothing, so that nothing is lost
        (0, 0o607, None, True),
        (0, 0o610, None, False),
        (0, 0o620, None, False),
        (0, 0o640, None, False),
        (0, 0o600, b"acl", False),
        (1234, 0o600, None, False),
    ],
)
def test_a_group_that_cannot_be_given_back_is_given_up_only_where_it_may_do_nothing(
    place: Place, owner: int, mode: int, acl: bytes | None, given_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(place.path, owner, 4321)
    place.path.chmod(mode)
    base = changed(seen(place), acl=acl)
    monkeypatch.setattr(os, "fchown", failing(errno.EPERM))
    if given_up:
        # What was made is another file to look at, so that an exchange would be taken back: here it is only written.
        overwrite(place.workspace, b"two\n", revision=2, base=base)
        assert (place.bytes(), stat.S_IMODE(place.path.stat().st_mode)) == (b"two\n", mode)
        return
    for how in (replace, overwrite):
        error = refusal(lambda how=how: how(place.workspace, b"two\n", revision=2, base=base))  # type: ignore[misc]
        assert error.code == "memory_foreign_owner"
        assert error.message == (
            "the memory file belongs to another user or group and a new file could not be given back to them; "
            "run as its owner, or change the owner"
        )
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


@root_only
def test_another_error_of_a_change_of_owner_is_no_matter_of_rights(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(place.path, 0, 4321)
    monkeypatch.setattr(os, "fchown", failing(errno.EIO))
    assert refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=seen(place))).code == "memory_io_error"


# --- somebody else was at the file


def edited(place: Place) -> None:
    place.edit("an edit\n")


def edited_otherwise(place: Place) -> None:
    place.edit("later\n")


def edited_again(place: Place) -> None:
    place.edit("a third edit\n")


def gone(place: Place) -> None:
    place.path.unlink()


def opened_to_others(place: Place) -> None:
    place.path.chmod(0o644)


def closed_to_ourselves(place: Place) -> None:
    place.path.chmod(0o400)


CHANGES = [edited, edited_otherwise, edited_again, gone, opened_to_others, closed_to_ourselves]


@pytest.mark.parametrize("how", [replace, overwrite])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_another_than_the_base_is_left_as_it_is(
    place: Place, how: Callable[..., Any], change: Callable[[Place], None]
) -> None:
    base = seen(place)
    change(place)
    before = place.workspace.look()
    error = refusal(lambda: how(place.workspace, b"two\n", revision=2, base=base))
    assert isinstance(error, FileChanged)
    assert error.code == "memory_changed"
    assert error.message == (
        "MEMORY.md was changed while a revision was being written; it was left as it is: look at it, run 'minutebook "
        "memory sync' to take the edit in, or try again"
    )
    assert place.workspace.look() == before
    assert place.names() == (["MEMORY.md"] if isinstance(before, Bytes) else [])


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_the_last_look_and_the_exchange_gets_its_bytes_back(
    place: Place, exchanges: bool, change: Callable[[Place], None]
) -> None:
    base, after = seen(place), []

    def changes() -> None:
        change(place)
        after.append(place.workspace.look())

    def act() -> None:
        with armed("file.replace", once(changes)):
            replace(place.workspace, b"two\n", revision=2, base=base)

    if exchanges:
        error = refusal(act)
    else:
        with armed("file.exchange", "raise(ENOSYS)"):
            error = refusal(act)
    assert isinstance(error, FileChanged)
    match place.workspace.look():
        case Bytes() as found:
            assert found == after[0]
            assert place.names() == ["MEMORY.md"]
        case other:
            assert change is gone
            assert other == Absent()
            assert place.names() == []


@pytest.mark.parametrize("more", ["an edit of the new bytes\n", "later\n", "two\n\n"])
def test_an_edit_of_our_new_bytes_before_they_are_taken_back_is_kept_aside(place: Place, more: str) -> None:
    """Given an edit that is exchanged away, and one more of what stands there now, then both are still there."""
    aside = place.path.with_name(".MEMORY.md.2.displaced")

    def edits() -> None:
        place.edit(more)

    base = seen(place)
    with armed("file.replace", lambda: place.edit("an edit\n")), armed("file.look_back", edits):
        error = refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=base))
    assert isinstance(error, FileChanged)
    assert (place.bytes(), aside.read_bytes()) == (b"an edit\n", more.encode())


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSYS])
def test_bytes_that_cannot_be_given_back_leave_the_file_in_doubt(place: Place, number: int) -> None:
    calls = 0

    def second_fails() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(number, os.strerror(number))

    base = seen(place)
    with (
        armed("file.replace", lambda: place.edit("an edit\n")),
        armed("file.exchange", second_fails),
        pytest.raises(InDoubt) as caught,
    ):
        replace(place.workspace, b"two\n", revision=2, base=base)
    reason = os.strerror(number) if number == errno.EIO else "names cannot be exchanged"
    assert caught.value.code == "memory_in_doubt"
    assert caught.value.message == (
        f"MEMORY.md was replaced, and then a call failed ({reason}): whether the new revision lasts is in doubt; check "
        "the disk and open the book again, recovery will decide"
    )
    assert (place.bytes(), place.path.with_name(".MEMORY.md.2.displaced").read_bytes()) == (b"two\n", b"an edit\n")


def test_an_exchange_that_fails_leaves_neither_name_and_says_why(place: Place) -> None:
    with armed("file.exchange", "raise(EIO)"):
        error = refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=seen(place)))
    assert (error.code, type(error)) == ("memory_io_error", MemoryFault)
    assert error.message == (
        f"MEMORY.md cannot be replaced, it was left as it is: {os.strerror(errno.EIO)}; check the disk"
    )
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


@pytest.mark.parametrize(
    "point", ["file.open_temp", "file.write_rest", "file.fsync_temp", "file.read_base", "file.replace"]
)
def test_an_overwriting_that_fails_leaves_the_file_and_nothing_beside_it(place: Place, point: str) -> None:
    with armed(point, "raise(ENOSPC)"):
        error = refusal(lambda: overwrite(place.workspace, b"two\n", revision=2, base=seen(place)))
    assert error.code == "memory_disk_full"
    assert error.message.startswith("MEMORY.md cannot be replaced, it was left as it is: ")
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


def test_an_overwriting_leaves_nothing_beside_the_file(place: Place) -> None:
    place.path.chmod(0o640)
    overwrite(place.workspace, b"two\n", revision=2, base=seen(place))
    assert (place.bytes(), place.names(), stat.S_IMODE(place.path.stat().st_mode)) == (b"two\n", ["MEMORY.md"], 0o640)


def test_an_overwriting_leaves_kept_bytes_of_an_earlier_attempt_alone(place: Place) -> None:
    kept = place.path.with_name(".MEMORY.md.2.displaced")
    kept.write_bytes(b"an edit\n")
    temps: list[list[str]] = []
    with armed("file.replace", lambda: temps.append(place.names())):
        overwrite(place.workspace, b"two\n", revision=2, base=seen(place))
    assert temps == [[".MEMORY.md.2-1.tmp", ".MEMORY.md.2.displaced", "MEMORY.md"]]
    assert kept.read_bytes() == b"an edit\n"


# --- a first file


def test_a_file_that_appears_before_the_last_look_is_left_as_it_is(place: Place) -> None:
    with armed("file.set_aside", lambda: None):
        error = refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=None))
    assert isinstance(error, FileChanged)
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


def test_a_link_that_appears_in_the_place_of_a_first_file_is_left_as_it_is(place: Place) -> None:
    place.path.unlink()
    with armed("file.replace", lambda: place.path.symlink_to("nowhere")):
        error = refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=None))
    assert isinstance(error, FileChanged)
    assert (place.path.is_symlink(), place.names()) == (True, ["MEMORY.md"])


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.EMLINK])
def test_without_hard_links_a_first_file_is_renamed_into_its_place(
    place: Place, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.path.unlink()
    monkeypatch.setattr(os, "link", failing(number))
    assert replace(place.workspace, b"two\n", revision=2, base=None) is None
    assert (place.bytes(), place.names()) == (b"two\n", ["MEMORY.md"])


# --- without an exchange of names


def test_without_an_exchange_what_is_replaced_stands_under_the_same_name_aside(place: Place) -> None:
    inode = place.path.stat().st_ino
    with armed("file.exchange", "raise(ENOSYS)"):
        assert replace(place.workspace, b"two\n", revision=2, base=seen(place)) == ".MEMORY.md.2.displaced"
    aside = place.path.with_name(".MEMORY.md.2.displaced")
    assert (place.bytes(), aside.read_bytes(), aside.stat().st_ino) == (b"two\n", b"one\n", inode)
    assert place.names() == [aside.name, "MEMORY.md"]


def test_without_an_exchange_a_file_that_is_gone_was_changed(place: Place) -> None:
    base = seen(place)
    with armed("file.exchange", "raise(ENOSYS)"), armed("file.replace", place.path.unlink):
        assert isinstance(refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=base)), FileChanged)
    assert place.names() == []


def test_without_exchange_and_links_an_edit_while_the_copy_is_made_is_not_seen_in_the_copy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EPERM))
    with armed("file.exchange", "raise(ENOSYS)"), armed("file.open_temp", "raise(ENOSPC):2"):
        error = refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=seen(place)))
    assert error.code == "memory_disk_full"
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


@pytest.mark.parametrize("same", ["one\n", "another\n"])
def test_without_an_exchange_a_link_to_the_same_bytes_is_no_file_of_ours(place: Place, same: str) -> None:
    elsewhere = place.root / "elsewhere"
    elsewhere.write_text(same)
    elsewhere.chmod(0o600)

    def swapped() -> None:
        place.path.unlink()
        place.path.symlink_to(elsewhere)

    base = seen(place)
    with armed("file.exchange", "raise(ENOSYS)"), armed("file.replace", swapped):
        assert isinstance(refusal(lambda: replace(place.workspace, b"two\n", revision=2, base=base)), FileChanged)
    assert (place.path.is_symlink(), elsewhere.read_text(), place.names()) == (True, same, ["MEMORY.md"])


def test_a_link_in_the_place_of_our_temp_file_gives_no_other_file_the_name(place: Place) -> None:
    secret = place.root / "secret"
    secret.write_text("of another")
    place.path.unlink()
    temp = place.path.with_name(".MEMORY.md.2.tmp")

    def swapped() -> None:
        temp.unlink()
        temp.symlink_to(secret)

    with armed("file.replace", swapped):
        replace(place.workspace, b"two\n", revision=2, base=None)
    assert not os.path.samestat(place.path.lstat(), secret.stat())
    assert isinstance(place.workspace.look(), Refused)


# --- refused before anything is prepared


def test_a_folder_that_may_not_be_written_is_refused_with_the_mend(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def access(path: str, wanted: int, *, dir_fd: int) -> bool:
        asked.append((path, wanted, os.path.samestat(os.fstat(dir_fd), place.path.parent.stat())))
        return False

    monkeypatch.setattr(os, "access", access)
    for look in (seen(place), Absent()):
        error = refusal(lambda look=look: refuse_early(place.workspace, look))  # type: ignore[misc]
        assert error.code == "memory_unwritable"
        assert error.message == "the folder of MEMORY.md is not writable; make it writable for you"
    assert asked == [(".", os.W_OK | os.X_OK, True)] * 2
    refuse_early(place.workspace, Absent(folder=False))  # it will be made


def test_a_folder_that_is_to_be_made_is_nothing_to_refuse(place: Place) -> None:
    place.path.unlink()
    place.path.parent.rmdir()
    refuse_early(place.workspace, Absent(folder=False))
    assert not place.path.parent.exists()
    replace(place.workspace, b"two\n", revision=1, base=None)
    assert place.bytes() == b"two\n"


def test_a_folder_that_is_gone_is_not_made_again_for_a_file_that_was_there(place: Place) -> None:
    base = seen(place)
    place.path.unlink()
    place.path.parent.rmdir()
    for how in (replace, overwrite):
        error = refusal(lambda how=how: how(place.workspace, b"two\n", revision=2, base=base))  # type: ignore[misc]
        assert error.code == "memory_folder_gone"
    assert not place.path.parent.exists()


@pytest.mark.parametrize(
    ("mode", "acl", "refused"),
    [(0o600, None, False), (0o607, None, False), (0o610, None, True), (0o620, None, True), (0o640, None, True),
     (0o600, b"acl", True)],
)  # fmt: skip
def test_a_group_of_others_is_refused_where_it_may_do_anything(
    place: Place, mode: int, acl: bytes | None, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = Bytes(b"one\n", "digest", mode, 1000, 2000, 1, acl)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getegid", lambda: 1000)
    monkeypatch.setattr(os, "getgroups", lambda: [1000, 3000])
    if not refused:
        refuse_early(place.workspace, base)
        return
    error = refusal(lambda: refuse_early(place.workspace, base))
    assert error.code == "memory_foreign_owner"
    assert error.message.startswith("MEMORY.md belongs to another user or group")


# --- our own names


def test_our_own_names_are_told_from_similar_ones(place: Place) -> None:
    ours = {
        ".MEMORY.md.0.tmp": (0, "tmp"),
        ".MEMORY.md.12.displaced": (12, "displaced"),
        ".MEMORY.md.12-3.tmp": (12, "tmp"),
        ".MEMORY.md.12-9999.displaced": (12, "displaced"),
        f".MEMORY.md.{'9' * 18}.tmp": (10**18 - 1, "tmp"),
    }
    similar = [".MEMORY.md.tmp", ".MEMORY.md..tmp", ".MEMORY.md.1-.tmp", ".MEMORY.md.1-12345.tmp", ".MEMORY.md.-1.tmp",
               f".MEMORY.md.{'9' * 19}.tmp", ".MEMORY.md.1.tmp.old", "x.MEMORY.md.1.tmp", "MEMORY.md.1.tmp",
               ".MEMORYxmd.1.tmp", ".MEMORY.md.1.TMP", ".MEMORY.md.1.kept", ".MEMORY.md.1.tmp\n",
               ".OTHER.md.1.tmp"]  # fmt: skip
    for name in (*ours, *similar):
        place.path.with_name(name).write_bytes(b"")
    found = leftovers(place.workspace)
    assert found == [Leftover(name, *ours[name]) for name in sorted(ours)]  # type: ignore[arg-type]


def test_a_folder_that_is_gone_has_no_names_of_ours_and_nothing_to_discard(place: Place) -> None:
    place.path.unlink()
    place.path.parent.rmdir()
    assert leftovers(place.workspace) == []
    assert discard(place.workspace, ".MEMORY.md.1.tmp") is False


def test_a_folder_that_cannot_be_listed_is_an_error_that_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", failing(errno.EIO))
    error = refusal(lambda: leftovers(place.workspace))
    assert error.code == "memory_io_error"
    assert error.message.startswith("the folder of MEMORY.md cannot be listed: ")


def test_a_name_of_ours_is_read_as_the_memory_file_is(place: Place) -> None:
    name = ".MEMORY.md.2.displaced"
    assert look_at_leftover(place.workspace, name) == Absent()
    place.path.with_name(name).write_bytes(b"an edit\n")
    found = look_at_leftover(place.workspace, name)
    assert isinstance(found, Bytes)
    assert found.data == b"an edit\n"
    place.path.with_name(name).write_bytes(b"x" * (place.workspace.bytes_max + 1))
    assert isinstance(look_at_leftover(place.workspace, name), Refused)


def test_each_attempt_that_left_bytes_behind_keeps_them(place: Place) -> None:
    for number in range(3):
        place.edit(f"{number}\n")
        aside = replace(place.workspace, b"two\n", revision=2, base=seen(place))
        assert aside == (f".MEMORY.md.2-{number}.displaced" if number else ".MEMORY.md.2.displaced")
    kept = [place.path.with_name(f".MEMORY.md.2{more}.displaced").read_bytes() for more in ("", "-1", "-2")]
    assert kept == [b"0\n", b"1\n", b"2\n"]


@pytest.mark.parametrize("how", [replace, overwrite])
def test_a_thousand_attempts_that_left_bytes_behind_are_enough(
    place: Place, how: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, real, asked = seen(place), os.stat, []

    def there(name: Any, **options: Any) -> Any:
        if not str(name).endswith(".displaced"):
            return real(name, **options)
        asked.append(name)
        return None

    with monkeypatch.context() as filled:
        filled.setattr(os, "stat", there)
        error = refusal(lambda: how(place.workspace, b"two\n", revision=2, base=base))
    assert error.code == "memory_write_failed"
    assert error.message == (
        "1000 displaced copies of revision 2 lie beside MEMORY.md; look at them and move them away"
    )
    assert asked == [".MEMORY.md.2.displaced", *(f".MEMORY.md.2-{number}.displaced" for number in range(1, 1000))]
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


@pytest.mark.parametrize("how", [replace, overwrite])
def test_a_folder_that_cannot_be_looked_at_stops_before_anything_is_written(
    place: Place, how: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, real = seen(place), os.stat

    def broken(name: Any, **options: Any) -> Any:
        if str(name).endswith(".displaced"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(name, **options)

    with monkeypatch.context() as failed:
        failed.setattr(os, "stat", broken)
        error = refusal(lambda: how(place.workspace, b"two\n", revision=2, base=base))
    assert error.code == "memory_io_error"
    assert error.message.startswith("the folder of MEMORY.md cannot be looked at: ")
    assert (place.bytes(), place.names()) == (b"one\n", ["MEMORY.md"])


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENOENT])
def test_a_name_that_cannot_be_removed_is_told_and_stays(place: Place, number: int) -> None:
    left = place.path.with_name(".MEMORY.md.1.tmp")
    left.write_bytes(b"")
    with armed("file.unlink", f"raise({errno.errorcode[number]})"):
        assert discard(place.workspace, left.name) is False
    assert left.exists()
    assert discard(place.workspace, left.name) is True
    assert not left.exists()
