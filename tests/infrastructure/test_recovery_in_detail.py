"""What recovery does with each thing that a dead process can leave, and what the writer does when a step fails (D5)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from desk import TIME, Desk

from minutebook.domain.catalogue import DriftDetected, EntryFact, RevisionAbandoned
from minutebook.domain.errors import MemoryFault, StoreError
from minutebook.domain.events import Envelope
from minutebook.domain.revision import Draft, Revision
from minutebook.domain.streams import document_stream
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.work.recovery import Recovery, recover, sweep
from minutebook.infrastructure.work.replacement import InDoubt
from minutebook.infrastructure.work.safe_file import Absent
from minutebook.infrastructure.work.writer import Published, With, Writer

EDITS = ["an edit\n", "later\n", "a third edit\n", "edit four\n"]
"""Their digests stand on both sides of those that they are compared with."""


class Died(BaseException):
    """Stands for the end of a process: nothing is cleaned up."""


def die() -> None:
    raise Died


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.database.close()


def refusal(act: Callable[[], object]) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        act()
    return caught.value


def interrupted(desk: Desk, *texts: str, at: str = "publish.prepared") -> Revision:
    """A revision whose process ended at a point."""
    with armed(at, die), pytest.raises(Died):
        desk.publish(*texts)
    waiting = desk.publisher.document().prepared
    assert waiting is not None
    return waiting


def bodies(desk: Desk, kind: type) -> list[Any]:
    return [event.body for event in desk.log.read() if isinstance(event.body, kind)]


def abandoned(desk: Desk) -> list[tuple[int, str]]:
    return [(body.revision, body.reason) for body in bodies(desk, RevisionAbandoned)]


def drift(desk: Desk) -> list[tuple[str, str | None]]:
    return [(body.kind, body.found) for body in bodies(desk, DriftDetected)]


# --- a revision that waits


def test_a_file_that_holds_the_revision_is_written_again_and_the_revision_committed(desk: Desk) -> None:
    desk.publish("one")
    waiting = interrupted(desk, "two", at="publish.commit")
    desk.path.chmod(0o640)
    inode, before = desk.path.stat().st_ino, desk.advanced
    assert desk.publisher.recover() == Recovery(
        committed=2, removed=(".MEMORY.md.2-1.displaced", ".MEMORY.md.2.displaced")
    )
    assert (desk.bytes(), desk.names()) == (b"two\n", ["MEMORY.md"])
    assert (desk.path.stat().st_ino != inode, desk.path.stat().st_mode & 0o777) == (True, 0o640)
    assert desk.topics()[-2:] == ["RevisionPrepared", "RevisionCommitted"]
    current = desk.publisher.document().current
    assert current is not None
    assert (current.number, current.position, desk.advanced) == (2, waiting.position, before + 1)


@pytest.mark.parametrize("first", [True, False])
def test_a_revision_that_never_reached_the_file_is_abandoned_and_the_file_is_no_edit(desk: Desk, first: bool) -> None:
    if not first:
        desk.publish("one")
    number = interrupted(desk, "two").number
    assert desk.publisher.recover() == Recovery(abandoned=number, reason="not_written")
    assert (abandoned(desk), drift(desk)) == ([(number, "not_written")], [])
    assert desk.path.exists() is not first
    assert desk.publisher.recover() == Recovery()


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("first", [True, False])
def test_an_edit_in_the_place_of_either_is_drift_and_stays(desk: Desk, first: bool, edit: str) -> None:
    if not first:
        desk.publish("one")
    number = interrupted(desk, "two").number
    desk.edit(edit)
    assert desk.publisher.recover() == Recovery(abandoned=number, reason="file_changed")
    found = desk.workspace.look()
    assert not isinstance(found, Absent)
    assert drift(desk) == [("unadopted" if first else "drift", found.digest)]  # type: ignore[union-attr]
    assert desk.bytes() == edit.encode()


def test_a_base_that_is_gone_is_a_missing_file(desk: Desk) -> None:
    desk.publish("one")
    interrupted(desk, "two")
    desk.path.unlink()
    assert desk.publisher.recover() == Recovery(abandoned=2, reason="file_changed")
    assert drift(desk) == [("missing", None)]
    assert not desk.path.exists()


def test_a_link_in_the_place_of_the_file_is_named_as_the_reason(desk: Desk) -> None:
    desk.publish("one")
    interrupted(desk, "two")
    desk.path.unlink()
    desk.path.symlink_to(desk.root / "elsewhere")
    assert desk.publisher.recover() == Recovery(abandoned=2, reason="memory_is_symlink")
    assert drift(desk) == [("unreadable", "memory_is_symlink")]


def test_a_file_that_cannot_be_read_now_decides_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.publish("one")
    interrupted(desk, "two", at="publish.commit")
    before = desk.topics()

    def broken(*_arguments: Any) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as failed:
        failed.setattr(os, "read", broken)
        assert refusal(desk.publisher.recover).code == "memory_unreadable"
    assert desk.topics() == before
    assert desk.publisher.recover().committed == 2


@pytest.mark.parametrize(
    ("edit", "reason"), [("an edit\n", "file_changed"), ("later\n", "file_changed"), ("one\n", "not_written")]
)
def test_an_edit_while_recovery_writes_again_decides_anew(desk: Desk, edit: str, reason: str) -> None:
    desk.publish("one")
    interrupted(desk, "two", at="publish.commit")
    with armed("file.read_base", lambda: desk.edit(edit)):
        assert desk.publisher.recover() == Recovery(abandoned=2, reason=reason, removed=(".MEMORY.md.2.displaced",))
    assert desk.bytes() == edit.encode()
    assert [kind for kind, _ in drift(desk)] == (["drift"] if reason == "file_changed" else [])


def test_another_failure_while_recovery_writes_again_leaves_the_revision_waiting(desk: Desk) -> None:
    desk.publish("one")
    interrupted(desk, "two", at="publish.commit")
    with armed("file.fsync_temp", "raise(ENOSPC)"):
        assert refusal(desk.publisher.recover).code == "memory_disk_full"
    assert desk.topics()[-1] == "RevisionPrepared"
    assert desk.publisher.recover().committed == 2


def test_a_waiting_revision_whose_text_was_erased_is_committed_as_it_stands(desk: Desk) -> None:
    desk.publish("one")
    waiting = interrupted(desk, "two", at="publish.commit")
    inode = desk.path.stat().st_ino
    other = Envelope(document_stream("another"), 1, "another", TIME, "someone")
    event = DriftDetected(envelope=other, kind="missing", expected=None, found=None)
    desk.log.append([event], within=desk.log.erasing([waiting.position]))
    assert desk.publisher.recover() == Recovery(committed=2, removed=(".MEMORY.md.2.displaced",))
    assert (desk.bytes(), desk.path.stat().st_ino) == (b"two\n", inode)


# --- our own names


def beside(desk: Desk, name: str, data: bytes = b"") -> Path:
    path = desk.path.with_name(name)
    path.write_bytes(data)
    return path


def test_each_name_beside_the_file_has_its_fate_and_none_decides_on_another(desk: Desk) -> None:
    """Known bytes go, unknown ones become revisions first, and what is not of this log or not to be read stays."""
    desk.publish("one")
    desk.publish("two")
    beside(desk, ".MEMORY.md.1.tmp", b"torn")
    beside(desk, ".MEMORY.md.2-1.displaced", b"one\n")  # the base of revision 2
    beside(desk, ".MEMORY.md.2-2.displaced", b"two\n")  # what it wrote
    beside(desk, ".MEMORY.md.1.displaced", b"two\n")  # what another revision of this log wrote
    for number, edit in enumerate(EDITS, 3):
        beside(desk, f".MEMORY.md.2-{number}.displaced", edit.encode())
    strange = [".MEMORY.md.7.displaced", ".MEMORY.md.7.tmp"]
    for name in strange:
        beside(desk, name, b"of another log")
    desk.path.with_name(".MEMORY.md.1-1.displaced").symlink_to("nowhere")
    before = set(desk.names())
    told = desk.publisher.recover()
    assert told.displaced == (3, 4, 5, 6)
    assert told.left == (".MEMORY.md.1-1.displaced", *strange)
    assert set(told.removed) == before - set(told.left) - {"MEMORY.md"}
    assert desk.names() == [*told.left, "MEMORY.md"]
    assert [desk.publisher.revision(number).raw for number in told.displaced] == [edit.encode() for edit in EDITS]
    assert (told.committed, told.abandoned, told.reason, told.nothing) == (None, None, None, False)


def test_a_name_that_is_gone_before_it_is_looked_at_becomes_no_revision(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.publish("one")
    listed = os.listdir
    with monkeypatch.context() as raced:
        raced.setattr(os, "listdir", lambda folder: [*listed(folder), ".MEMORY.md.1.displaced"])
        told = sweep(desk.publisher.ledger, desk.workspace)
    assert (told.displaced, told.removed, told.left) == ((), (), (".MEMORY.md.1.displaced",))
    assert desk.topics() == ["RevisionPrepared", "RevisionCommitted"]


def test_unknown_bytes_that_cannot_be_removed_are_kept_once(desk: Desk) -> None:
    desk.publish("one")
    beside(desk, ".MEMORY.md.1.displaced", b"an edit\n")
    with armed("file.unlink", "raise(EACCES)"):
        told = desk.publisher.recover()
    assert (told.displaced, told.left, told.removed) == ((2,), (".MEMORY.md.1.displaced",), ())
    told = desk.publisher.recover()
    assert (told.displaced, told.left, told.removed) == ((2,), (), (".MEMORY.md.1.displaced",))
    assert desk.topics().count("RevisionPrepared") == 2


def test_a_recovery_with_nothing_to_do_does_nothing(desk: Desk) -> None:
    assert recover(desk.publisher.ledger, desk.workspace) == Recovery()
    desk.publish("one")
    assert recover(desk.publisher.ledger, desk.workspace) == Recovery()


# --- the writer


def facts(count: int) -> tuple[EntryFact, ...]:
    return tuple(EntryFact(entry=f"e{number}", since=1) for number in range(count))


def write(desk: Desk, *texts: str, **transaction: Any) -> Published:
    writer, document = desk.publisher.writer, desk.publisher.document()
    draft = Draft("curated", texts, facts(len(texts)))
    return writer.write(document, draft, desk.workspace.look(), With(**transaction) if transaction else None)


def test_a_written_revision_says_its_number_its_digest_and_that_it_is_new(desk: Desk) -> None:
    done = write(desk, "one")
    current = desk.publisher.document().current
    assert current is not None
    assert done == Published(1, current.digest, True, (), ())
    assert (current.base_digest, write(desk, "two").revision) == (None, 2)
    second = desk.publisher.document().current
    assert second is not None
    assert second.base_digest == current.digest


def test_bytes_that_turn_up_before_the_end_are_kept_and_told(desk: Desk) -> None:
    write(desk, "one")

    def turn_up() -> None:
        beside(desk, ".MEMORY.md.1.displaced", b"an edit\n")

    with armed("publish.commit", turn_up):
        done = write(desk, "two")
    assert (done.revision, done.displaced) == (2, (3,))
    assert desk.publisher.revision(3).raw == b"an edit\n"


def test_who_is_asked_once_more_may_refuse_and_then_nothing_is_written(desk: Desk) -> None:
    write(desk, "one")
    seen: list[tuple[str, list[str]]] = []

    def refuse() -> None:
        seen.append((desk.topics()[-1], desk.names()))
        raise MemoryFault("the lease was lost", code="curation_lease_lost")

    assert refusal(lambda: write(desk, "two", recheck=refuse)).code == "curation_lease_lost"
    assert seen == [("RevisionPrepared", ["MEMORY.md"])]
    assert (abandoned(desk), drift(desk), desk.bytes()) == ([(2, "curation_lease_lost")], [], b"one\n")
    asked: list[int] = []
    assert write(desk, "two", recheck=lambda: asked.append(1)).revision == 3
    assert asked == [1]


@pytest.mark.parametrize("point", ["file.fsync_folder", "file.check_folder"])
def test_what_is_in_doubt_is_not_abandoned(desk: Desk, point: str) -> None:
    with armed(point, "raise(EIO)"), pytest.raises(InDoubt):
        write(desk, "one")
    assert abandoned(desk) == []
    assert desk.publisher.recover().committed == 1


def test_a_refusal_over_a_file_that_holds_the_revision_all_the_same_is_in_doubt(desk: Desk) -> None:
    """Given a person who saved the very same bytes meanwhile, then to abandon the revision would make an edit of it."""
    write(desk, "one")
    with armed("file.read_base", lambda: desk.edit("two\n")), pytest.raises(InDoubt) as caught:
        write(desk, "two")
    assert caught.value.code == "memory_in_doubt"
    assert caught.value.message.endswith(
        " - and yet it holds the new revision; open the book again, recovery will decide"
    )
    assert caught.value.message.startswith("MEMORY.md was changed while a revision was being written")
    assert abandoned(desk) == []
    assert desk.publisher.recover().committed == 2


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_stops_a_revision_is_recorded_and_another_failure_is_none(desk: Desk, edit: str) -> None:
    write(desk, "one")
    with armed("file.read_base", lambda: desk.edit(edit)):
        assert refusal(lambda: write(desk, "two")).code == "memory_changed"
    assert abandoned(desk) == [(2, "memory_changed")]
    assert [kind for kind, _ in drift(desk)] == ["drift"]
    desk.edit("one\n")

    def edited_on_a_full_disk() -> None:
        desk.edit("later\n")
        die_of_a_full_disk()

    with armed("file.fsync_temp", edited_on_a_full_disk):
        assert refusal(lambda: write(desk, "two")).code == "memory_disk_full"
    assert len(drift(desk)) == 1, "the disk was full, whatever else there was: the next look tells of the edit"


def die_of_a_full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_abandonment_that_the_store_refuses_says_so_beside_the_reason(desk: Desk) -> None:
    write(desk, "one")

    def full() -> None:
        raise StoreError("the database is full", code="database_full")

    def fail() -> None:
        stack.enter_context(armed("append.begin", full))
        die_of_a_full_disk()

    with ExitStack() as stack, armed("file.open_temp", fail):
        error = refusal(lambda: write(desk, "two"))
    assert error.code == "memory_disk_full"
    assert error.__notes__ == ["the revision stays prepared until the next recovery: the database is full"]
    assert desk.topics()[-1] == "RevisionPrepared"
    assert desk.publisher.recover().abandoned == 2


def test_a_document_that_is_too_large_is_refused_in_numbers(tmp_path: Path) -> None:
    desk = Desk(tmp_path, memory_file_bytes_max=1_000)
    try:
        error = refusal(lambda: write(desk, "x" * 1_234))
        assert error.code == "memory_too_large"
        assert error.message == (
            "the document has 1,235 bytes, the file may have 1,000; shorten it, or raise memory_file_bytes_max"
        )
        assert desk.topics() == []
    finally:
        desk.database.close()


def test_drift_is_reported_when_it_is_found_and_a_clean_file_is_nothing_to_report(desk: Desk) -> None:
    write(desk, "one")
    writer, document = desk.publisher.writer, desk.publisher.document()
    writer.require_clean(document, desk.workspace.look())
    writer.report(document, writer.state(document, desk.workspace.look()))
    assert drift(desk) == []
    desk.edit("an edit\n")
    error = refusal(lambda: writer.require_clean(document, desk.workspace.look()))
    assert (error.code, len(drift(desk))) == ("memory_drift", 1)


# --- the note beside the database


def test_the_note_is_written_under_the_lock_when_there_is_something_to_note(desk: Desk) -> None:
    writer = desk.publisher.writer
    with desk.workspace.locked():
        writer.mark()
    assert (desk.workspace.noted(), writer.marked()) == ("", None)
    write(desk, "one")
    with desk.workspace.locked():
        for line in ("", "revision 9 later\n", "zzz\n", "a\n"):
            desk.workspace.note(line)
            writer.mark()
            mark = writer.marked()
            assert mark is not None
            assert (mark.revision, mark.digest) == (1, desk.publisher.document().digest)


@pytest.mark.parametrize("edit", EDITS)
def test_an_older_database_is_told_from_an_edit_by_the_note(desk: Desk, edit: str) -> None:
    desk.publish("one")
    desk.edit(edit)
    assert desk.publisher.state().cause is None
    with desk.workspace.locked():
        desk.workspace.note("revision 2 0\n")
    found = desk.publisher.state()
    assert (found.state, found.cause) == ("drift", "database_behind_file")
    assert "was written as revision 2 and was edited since" in found.detail


def test_the_note_of_a_clean_file_is_not_even_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking is cheap: a file that is what the log says needs no second file to be read."""
    desk.publish("one")
    opened: list[Any] = []
    real = os.open

    def noting(path: Any, *arguments: Any, **options: Any) -> int:
        opened.append(path)
        return real(path, *arguments, **options)

    with monkeypatch.context() as watched:
        watched.setattr(os, "open", noting)
        assert (
            Writer(desk.publisher.ledger, desk.workspace).state(desk.publisher.document(), desk.workspace.look()).clean
        )
        desk.path.unlink()
        assert desk.publisher.state().state == "missing"
    assert "minutebook.lock" not in opened
