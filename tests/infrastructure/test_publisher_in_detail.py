"""Small promises of the publisher that mutation testing found nobody to keep (``make drill-mutation``)."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from desk import Desk

from minutebook.domain.catalogue import DriftDetected, EntryFact
from minutebook.domain.errors import MemoryFault
from minutebook.domain.revision import Draft, Revision
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.work import exchange
from minutebook.infrastructure.work.ledger import Ledger
from minutebook.infrastructure.work.recovery import Recovery, needed
from minutebook.infrastructure.work.replacement import FileChanged, refuse_early
from minutebook.infrastructure.work.safe_file import Bytes, Refused


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.database.close()


def code(act: Any) -> str:
    with pytest.raises(MemoryFault) as caught:
        act()
    return caught.value.code


@pytest.mark.parametrize(
    ("me", "groups", "owner", "group", "mode", "acl", "refused"),
    [
        (0, (), 1000, 1000, 0o660, b"acl", False),  # the administrator can give back whatever it is
        (1000, (1000,), 1000, 1000, 0o660, None, False),
        (1000, (1000, 2000), 1000, 2000, 0o660, b"acl", False),  # one of my other groups
        (1000, (1000,), 1000, 2000, 0o600, None, False),  # the group may do nothing, so that nothing is lost
        (1000, (1000,), 1000, 2000, 0o640, None, True),
        (1000, (1000, 2000), 1000, 500, 0o640, None, True),
        (1000, (1000, 2000), 500, 1000, 0o600, None, True),
        (1000, (1000,), 1000, 2000, 0o600, b"acl", True),
        (1000, (1000,), 2000, 1000, 0o600, None, True),
    ],
)
def test_a_file_that_could_not_be_given_back_is_refused_early(
    me: int, groups: tuple[int, ...], owner: int, group: int, mode: int, acl: bytes | None, refused: bool,
    desk: Desk, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    desk.publish("one")
    base = Bytes(b"one\n", "digest", mode, owner, group, 1, acl)
    monkeypatch.setattr(os, "geteuid", lambda: me)
    monkeypatch.setattr(os, "getegid", lambda: groups[0] if groups else 0)
    monkeypatch.setattr(os, "getgroups", lambda: list(groups))
    if refused:
        assert code(lambda: refuse_early(desk.workspace, base)) == "memory_foreign_owner"
    else:
        refuse_early(desk.workspace, base)


def test_an_edit_that_was_displaced_before_a_failed_restore_is_not_kept_twice(desk: Desk) -> None:
    desk.publish("one")
    desk.publish("two")
    desk.edit("an edit\n")
    with armed("file.open_temp", "raise(ENOSPC)"):
        assert code(lambda: desk.publisher.restore(1, discard_edit=True)) == "memory_disk_full"
    assert desk.bytes() == b"an edit\n"
    done = desk.publisher.restore(1, discard_edit=True)
    kinds = [event.body.kind for event in desk.log.read() if event.topic == "RevisionPrepared"]  # type: ignore[attr-defined]
    assert kinds.count("displaced") == 1
    assert done.displaced == (3,)
    assert desk.bytes() == b"one\n"


def test_a_canonical_file_from_before_is_imported_where_it_stands(desk: Desk) -> None:
    """Given a file that nobody adopted, as we would write it, then an import records it and writes nothing."""
    desk.edit("one\n§\ntwo\n")
    before = desk.path.stat()
    intake, done = desk.publisher.import_notes(desk.bytes())
    assert [entry.text for entry in intake.entries] == ["one", "two"]
    assert (done.revision, done.changed, done.displaced) == (1, True, ())
    assert (desk.path.stat().st_ino, desk.path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert desk.publisher.state().clean


def test_a_restore_that_is_refused_because_of_an_edit_records_the_drift(desk: Desk) -> None:
    first = desk.publish("one")
    desk.edit("an edit\n")
    assert code(lambda: desk.publisher.restore(1)) == "memory_drift"
    [drift] = [event.body for event in desk.log.read() if isinstance(event.body, DriftDetected)]
    assert (drift.kind, drift.expected) == ("drift", first.digest)
    assert code(lambda: desk.publisher.restore(1)) == "memory_drift"
    assert desk.topics().count("DriftDetected") == 1, "once for each finding"


class Counting(Log):
    """A log that notes which versions of a stream were read."""

    read_versions: list[int]

    def stream(self, *arguments: Any, **options: Any) -> Any:
        found = super().stream(*arguments, **options)
        self.read_versions += [event.version for event in found]
        return found


def test_the_document_is_read_from_the_end_and_no_event_of_it_twice(desk: Desk) -> None:
    desk.publish("one")
    for number in range(30):
        desk.edit(f"an edit {number}\n")
        assert code(lambda: desk.publisher.restore(1)) == "memory_drift"
    log = Counting(desk.database)
    log.read_versions = []
    document = Ledger(log, desk.settings.workspace_id, lambda: desk.time, None).document()
    assert document.current is not None
    assert document.current.number == 1
    assert len(document.drift) == 30
    assert sorted(log.read_versions) == sorted(set(log.read_versions)) == list(range(1, 33))


def test_each_revision_is_noted_beside_the_database_when_it_is_written(desk: Desk) -> None:
    """F36: a restored older database does not know the revision; the note in the lock file does."""
    for number, text in enumerate(("one", "two"), 1):
        done = desk.publish(text)
        assert desk.workspace.noted() == f"revision {number} {done.digest}\n"
    desk.edit("three\n")
    taken = desk.publisher.sync()
    assert desk.workspace.noted() == f"revision 3 {taken.digest}\n"


def test_a_name_that_cannot_be_removed_is_left_for_the_next_recovery_and_told(desk: Desk) -> None:
    desk.publish("one")
    left = desk.path.with_name(".MEMORY.md.1.tmp")
    left.write_text("torn")
    with armed("file.unlink", "raise(EACCES)"):
        told = desk.publisher.recover()
    assert (told.left, told.removed, left.exists()) == ((left.name,), (), True)
    told = desk.publisher.recover()
    assert (told.left, told.removed, left.exists()) == ((), (left.name,), False)


def test_a_system_that_knows_no_exchange_of_names_gets_a_link_and_a_rename(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange._call.cache_clear()
    monkeypatch.setattr(sys, "platform", "another")
    try:
        with pytest.raises(exchange.ExchangeUnsupported):
            exchange.exchange(0, "one", "other")
        desk.publish("one")
        desk.publish("two")
    finally:
        exchange._call.cache_clear()
    assert desk.bytes() == b"two\n"
    assert desk.names() == ["MEMORY.md"]


class Died(BaseException):
    """Stands for the end of a process: nothing is cleaned up."""


def test_an_edit_while_a_revision_waits_is_drift(desk: Desk) -> None:
    def die() -> None:
        raise Died

    desk.publish("one")
    with armed("publish.prepared", die), pytest.raises(Died):
        desk.publish("one", "two")
    assert desk.publisher.state().state == "clean", "the file is the base"
    desk.edit("an edit\n")
    assert desk.publisher.state().state == "drift"
    desk.edit("one\n§\ntwo\n")
    assert desk.publisher.state().state == "clean", "it is written, and not yet committed"


def test_a_document_may_be_as_large_as_the_file_may_be_and_no_larger(tmp_path: Path) -> None:
    desk = Desk(tmp_path, memory_file_bytes_max=10)
    try:
        assert desk.publish("12345678").changed  # nine bytes with the line end
        assert desk.publish("123456789").changed
        assert code(lambda: desk.publish("1234567890")) == "memory_too_large"
        assert code(lambda: desk.publish("1234567890 and more")) == "memory_too_large"
        assert desk.bytes() == b"123456789\n"
        assert desk.topics().count("RevisionPrepared") == 2
    finally:
        desk.database.close()


def test_a_file_that_changed_before_the_last_look_is_not_touched_at_all(desk: Desk) -> None:
    desk.publish("one")
    exchanged: list[bytes] = []
    with (
        armed("file.read_base", lambda: desk.edit("an edit\n")),
        armed("file.exchange", lambda: exchanged.append(desk.bytes())),
    ):
        assert code(lambda: desk.publish("two")) == "memory_changed"
    assert exchanged == []
    assert desk.bytes() == b"an edit\n"


def test_a_recorded_revision_knows_where_it_was_prepared(desk: Desk) -> None:
    desk.edit("one\n")
    facts = (EntryFact(entry="e1", since=1, actor="person", trust="user"),)
    revision = desk.publisher.ledger.record(desk.publisher.document(), Draft("manual", ("one",), facts))
    [prepared] = [event for event in desk.log.read() if event.topic == "RevisionPrepared"]
    assert revision.position == prepared.position
    assert desk.publisher.ledger.committed(revision)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="these two exchange names")
def test_where_the_system_can_names_are_exchanged(desk: Desk) -> None:
    desk.publish("one")
    exchanged: list[bytes] = []
    with armed("file.exchange", lambda: exchanged.append(desk.bytes())):
        desk.publish("two")
    assert exchanged == [b"one\n"]


def test_what_may_not_be_read_is_refused_before_anything_is_prepared(desk: Desk) -> None:
    assert code(lambda: refuse_early(desk.workspace, Refused("memory_is_a_symlink", "look at it"))) == (
        "memory_is_a_symlink"
    )


def test_a_recovery_says_whether_it_did_nothing() -> None:
    assert Recovery().nothing
    assert Recovery(left=(".MEMORY.md.1.tmp",)).nothing
    for did in (
        Recovery(committed=1),
        Recovery(abandoned=1, reason="not_written"),
        Recovery(displaced=(2,)),
        Recovery(removed=(".MEMORY.md.1.tmp",)),
    ):
        assert not did.nothing, did


def interrupted(desk: Desk, *texts: str) -> Revision:
    """A revision that was prepared, and whose process ended then."""

    def die() -> None:
        raise Died

    with armed("publish.prepared", die), pytest.raises(Died):
        desk.publish(*texts)
    waiting = desk.publisher.document().prepared
    assert waiting is not None
    return waiting


def test_a_commit_is_found_behind_whatever_came_between(desk: Desk) -> None:
    desk.publish("one")
    waiting = interrupted(desk, "one", "two")
    ledger = desk.publisher.ledger
    for number in range(5):
        ledger.record_displaced(ledger.document(), f"an edit {number}\n".encode())
        assert not ledger.committed(waiting)
    ledger.commit(ledger.document().version, waiting)
    assert ledger.committed(waiting)


def test_recovery_is_needed_while_a_revision_waits_or_a_name_of_ours_lies_about(desk: Desk) -> None:
    desk.publish("one")
    assert not needed(desk.publisher.ledger, desk.workspace)
    interrupted(desk, "two")
    assert needed(desk.publisher.ledger, desk.workspace)
    assert desk.publisher.recover().abandoned == 2
    assert not needed(desk.publisher.ledger, desk.workspace)
    desk.path.with_name(".MEMORY.md.2.displaced").write_text("an edit\n")
    assert needed(desk.publisher.ledger, desk.workspace)


def test_the_log_holds_the_bytes_of_its_revisions_and_not_those_of_a_person(desk: Desk) -> None:
    desk.publish("one")
    desk.publish("two")
    desk.edit("an edit\n")
    desk.publisher.restore(1, discard_edit=True)
    held = [desk.publisher.ledger.holds(sha256(data).hexdigest()) for data in (b"one\n", b"two\n", b"an edit\n")]
    assert held == [True, True, False]


def test_a_file_that_is_gone_when_names_are_exchanged_was_changed(desk: Desk) -> None:
    desk.publish("one")
    with armed("file.replace", desk.path.unlink), pytest.raises(FileChanged) as caught:
        desk.publish("two")
    assert caught.value.code == "memory_changed"
    assert desk.names() == []
    assert desk.publisher.state().state == "missing"


def test_without_links_a_file_that_appeared_is_not_written_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_arguments: Any, **_options: Any) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    with armed("file.replace", lambda: desk.edit("a person was first\n")):
        assert code(lambda: desk.publish("one")) == "memory_changed"
    assert desk.bytes() == b"a person was first\n"
    desk.path.unlink()
    assert desk.publish("one").changed
    assert desk.bytes() == b"one\n"


def test_where_names_cannot_be_exchanged_a_rename_that_fails_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.publish("one")

    def failing(*_arguments: Any, **_options: Any) -> None:
        raise OSError(errno.EIO, "it broke")

    with armed("file.exchange", "raise(ENOSYS)"), monkeypatch.context() as broken:
        broken.setattr(os, "replace", failing)
        assert code(lambda: desk.publish("two")) == "memory_io_error"
    assert desk.bytes() == b"one\n"
    assert desk.names() == ["MEMORY.md"]
    assert desk.publisher.document().prepared is None
    assert desk.publish("two").changed


def test_a_rebuild_of_the_file_settles_first_what_waits(desk: Desk) -> None:
    desk.publish("one")
    interrupted(desk, "two")
    assert not desk.publisher.rebuild_file()
    assert desk.topics()[-1] == "RevisionAbandoned"
    assert desk.publisher.document().prepared is None


def test_a_finding_is_reported_once(desk: Desk) -> None:
    desk.publish("one")
    ledger = desk.publisher.ledger
    assert ledger.report(ledger.document(), ("missing", None))
    assert not ledger.report(ledger.document(), ("missing", None))


def test_a_commit_that_fails_in_its_transaction_is_none(desk: Desk) -> None:
    desk.publish("one")
    before = desk.advanced

    def die() -> None:
        raise Died

    with armed("publish.committing", die), pytest.raises(Died):
        desk.publish("two")
    assert desk.topics()[-1] == "RevisionPrepared"
    assert desk.advanced == before + 1, "the cursor moves in that transaction, and goes back with it"
    desk.publisher.recover()
    desk.edit("three\n")
    with armed("sync.committing", die), pytest.raises(Died):
        desk.publisher.sync()
    assert [event.topic for event in desk.log.read()].count("RevisionCommitted") == 2


def test_a_system_whose_library_cannot_be_loaded_exchanges_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_arguments: Any, **_options: Any) -> None:
        raise OSError("no such library")

    exchange._call.cache_clear()
    with monkeypatch.context() as broken:
        broken.setattr(ctypes, "CDLL", none)
        assert exchange._call() is None
    exchange._call.cache_clear()


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="these two exchange names")
def test_an_exchange_that_fails_says_why(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(FileNotFoundError):
            exchange.exchange(folder, "one", "other")
    finally:
        os.close(folder)


def test_without_exchange_and_links_a_copy_keeps_what_is_replaced(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.publish("one")
    desk.path.chmod(0o640)

    def no_links(*_arguments: Any, **_options: Any) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    kept: list[bytes] = []
    monkeypatch.setattr(os, "link", no_links)
    with (
        armed("file.exchange", "raise(ENOSYS)"),
        armed("publish.commit", lambda: kept.append(desk.path.with_name(".MEMORY.md.2.displaced").read_bytes())),
    ):
        assert desk.publish("two").changed
    assert kept == [b"one\n"]
    assert (desk.bytes(), desk.names(), stat.S_IMODE(desk.path.stat().st_mode)) == (b"two\n", ["MEMORY.md"], 0o640)


def test_an_edit_that_stops_a_revision_is_recorded_with_its_abandonment(desk: Desk) -> None:
    desk.publish("one")
    with armed("file.read_base", lambda: desk.edit("an edit\n")):
        assert code(lambda: desk.publish("two")) == "memory_changed"
    assert desk.topics()[-2:] == ["RevisionAbandoned", "DriftDetected"]
    desk.publisher.restore(1, discard_edit=True)
    with armed("file.open_temp", "raise(ENOSPC)"):
        assert code(lambda: desk.publish("two")) == "memory_disk_full"
    assert desk.topics()[-1] == "RevisionAbandoned", "a full disk is no drift"


def test_a_link_that_leads_nowhere_takes_a_name_all_the_same(desk: Desk) -> None:
    desk.publish("one")
    odd = desk.path.with_name(".MEMORY.md.2.displaced")
    odd.symlink_to("nowhere")
    assert desk.publish("two").revision == 2
    assert odd.is_symlink(), "it is not ours to write over, nor to read"
    assert desk.bytes() == b"two\n"
