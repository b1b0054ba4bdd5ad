"""A person, an editor or a script at the file in the middle of a publication: nothing of theirs is lost (M23, M24)."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from minutebook.domain.catalogue import EntryFact
from minutebook.domain.document import render
from minutebook.domain.errors import MemoryFault, MinutebookError
from minutebook.domain.revision import Draft, fold, revision_of
from minutebook.infrastructure.settings import Settings
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.work.publisher import Publisher
from minutebook.infrastructure.work.replacement import InDoubt
from minutebook.infrastructure.work.workspace import Workspace

pytestmark = pytest.mark.sqlite_only("the steps of the file; the judge reads SQLite by itself")

TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)
EDIT = b"A person's own line.\n"
BEFORE_LAST_LOOK = ["publish.prepared", "file.open_temp", "file.write_rest", "file.fsync_temp", "file.read_base"]
AFTER_LAST_LOOK = ["file.set_aside", "file.replace"]
AFTER_REPLACEMENT = ["file.look_back", "file.fsync_folder", "publish.commit", "publish.committing",
                     "publish.committed", "file.unlink", "publish.cleaned"]  # fmt: skip
POINTS = [*BEFORE_LAST_LOOK, *AFTER_LAST_LOOK, *AFTER_REPLACEMENT]


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    settings = Settings.model_validate({})
    workspace = Workspace.of(tmp_path, settings)
    workspace.prepare()
    database = Database(tmp_path / ".tinyagent" / "minutebook.db")
    made = Publisher(Log(database), workspace, settings, lambda: TIME)
    publish(made, "One.")
    yield made
    database.close()


def publish(publisher: Publisher, text: str) -> int:
    document = publisher.document()
    fact = EntryFact(entry=f"c{document.next}", since=document.next)
    return publisher.publish(Draft("curated", (text,), (fact,)), version=document.version).revision


def in_place(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(EDIT)
        file.truncate()


def by_rename(path: Path) -> None:
    temp = path.parent / "editor-save"
    temp.write_bytes(EDIT)
    temp.replace(path)


def appears(path: Path) -> None:
    path.write_bytes(EDIT)


def once(act: Callable[[Path], None], path: Path, then: OSError | None = None) -> Callable[[], None]:
    done: list[bool] = []

    def action() -> None:
        if not done:
            done.append(True)
            act(path)
        if then is not None:
            raise then

    return action


def in_log(publisher: Publisher) -> set[bytes]:
    found: set[bytes] = set()
    for event in publisher.ledger.log.read(topics=("RevisionPrepared",)):
        revision = revision_of(event)
        found.add(revision.raw if revision.raw is not None else render(revision.texts or ()))
    return found


def agree(publisher: Publisher) -> None:
    """Whatever happened: after recovery and, in drift, a sync, file and log agree and nothing of ours lies about."""
    publisher.recover()
    publisher.sync()
    assert publisher.state().state == "clean"
    assert publisher.document().prepared is None
    assert [path.name for path in publisher.workspace.path.parent.iterdir()] == ["MEMORY.md"]
    assert publisher.recover().nothing


@pytest.mark.parametrize("edit", [in_place, by_rename])
@pytest.mark.parametrize("point", POINTS)
def test_an_edit_at_any_moment_is_in_the_file_or_in_the_log(
    publisher: Publisher, point: str, edit: Callable[[Path], None]
) -> None:
    path = publisher.workspace.path
    with armed(point, once(edit, path)), contextlib.suppress(MinutebookError):
        publish(publisher, "Two.")
    assert path.read_bytes() == EDIT or EDIT in in_log(publisher)
    agree(publisher)
    assert EDIT in in_log(publisher)
    if point in BEFORE_LAST_LOOK + AFTER_LAST_LOOK:
        assert path.read_bytes() == EDIT, "who saved before the replacement keeps the file"


@pytest.mark.parametrize("edit", [in_place, by_rename])
def test_an_edit_is_kept_too_where_names_cannot_be_exchanged(
    publisher: Publisher, edit: Callable[[Path], None]
) -> None:
    path = publisher.workspace.path
    action = once(edit, path, OSError(errno.ENOSYS, "no exchange"))
    with armed("file.exchange", action), pytest.raises(MemoryFault) as caught:
        publish(publisher, "Two.")
    assert caught.value.code == "memory_changed"
    assert path.read_bytes() == EDIT
    agree(publisher)
    assert EDIT in in_log(publisher)


@pytest.mark.parametrize("point", ["publish.commit", "publish.committed"])
def test_what_an_editor_writes_through_a_file_it_opened_before_is_kept(publisher: Publisher, point: str) -> None:
    path = publisher.workspace.path
    with path.open("r+b", buffering=0) as editor:

        def late(_: Path) -> None:
            editor.write(EDIT)
            editor.truncate()

        with armed(point, once(late, path)):
            assert publish(publisher, "Two.") == 2
    assert path.read_bytes() == b"Two.\n"
    displaced = publisher.revision(3)
    assert (displaced.kind, displaced.raw) == ("displaced", EDIT)
    assert "displaced revision 3" in publisher.state().detail
    agree(publisher)


@pytest.mark.parametrize("point", POINTS)
def test_a_file_that_is_deleted_at_any_moment_is_missing_or_replaced_and_never_half(
    publisher: Publisher, point: str
) -> None:
    path = publisher.workspace.path
    with armed(point, once(Path.unlink, path)), contextlib.suppress(MinutebookError):
        publish(publisher, "Two.")
    publisher.recover()
    state = publisher.state()
    assert state.state in {"missing", "clean"}
    if state.state == "missing":
        assert not path.exists()
        publisher.restore(1)
    agree(publisher)


@pytest.mark.parametrize("point", [*BEFORE_LAST_LOOK, *AFTER_LAST_LOOK, "file.fsync_folder"])
def test_a_folder_that_is_replaced_meanwhile_is_never_taken_for_ours(publisher: Publisher, point: str) -> None:
    folder = publisher.workspace.path.parent

    def replaced(_: Path) -> None:
        folder.rename(folder.with_name("moved-away"))
        folder.mkdir()
        (folder / "MEMORY.md").write_bytes(EDIT)

    with armed(point, once(replaced, folder)), pytest.raises(MinutebookError):
        publish(publisher, "Two.")
    publisher.recover()
    assert publisher.state().state == "drift"
    assert (folder / "MEMORY.md").read_bytes() == EDIT
    shutil.rmtree(folder.with_name("moved-away"))
    agree(publisher)


@pytest.mark.parametrize("point", ["file.read_base", "file.set_aside", "file.replace"])
def test_a_first_file_never_takes_the_name_from_one_that_appeared_meanwhile(tmp_path: Path, point: str) -> None:
    settings = Settings.model_validate({})
    workspace = Workspace.of(tmp_path, settings)
    workspace.prepare()
    database = Database(tmp_path / ".tinyagent" / "minutebook.db")
    publisher = Publisher(Log(database), workspace, settings, lambda: TIME)
    with (
        armed(point, once(appears, workspace.path)),
        pytest.raises(MemoryFault) as caught,
    ):
        publish(publisher, "One.")
    assert caught.value.code == "memory_changed"
    assert workspace.path.read_bytes() == EDIT
    assert publisher.state().state == "unadopted"
    agree(publisher)
    database.close()


@pytest.mark.parametrize("point", AFTER_LAST_LOOK)
def test_a_link_put_in_the_place_of_the_file_is_put_back_and_never_followed(publisher: Publisher, point: str) -> None:
    path = publisher.workspace.path
    precious = publisher.workspace.root / "precious"
    precious.write_bytes(b"precious")

    def link(_: Path) -> None:
        path.unlink()
        path.symlink_to(precious)

    with armed(point, once(link, path)), pytest.raises(MemoryFault):
        publish(publisher, "Two.")
    assert path.is_symlink()
    assert precious.read_bytes() == b"precious"
    for act in (publisher.sync, publisher.rebuild_file, lambda: publisher.restore(1, discard_edit=True)):
        with pytest.raises(MemoryFault) as caught:
            act()
        assert caught.value.code == "memory_is_symlink"
    assert path.is_symlink()


def test_an_edit_while_a_sync_judges_is_told_and_judged_next_time(publisher: Publisher) -> None:
    path = publisher.workspace.path
    path.write_bytes(b"First edit.\n")
    with armed("sync.validated", once(in_place, path)), pytest.raises(MemoryFault) as caught:
        publisher.sync()
    assert caught.value.code == "memory_changed"
    assert publisher.document().last == 1
    agree(publisher)
    assert EDIT in in_log(publisher)


def test_an_edit_after_the_hash_was_read_again_is_drift_and_stays(publisher: Publisher) -> None:
    path = publisher.workspace.path
    path.write_bytes(b"First edit.\n")
    with armed("sync.read_again", once(in_place, path)):
        publisher.sync()
    assert publisher.state().state == "drift"
    assert path.read_bytes() == EDIT
    agree(publisher)


def test_a_look_in_the_middle_of_a_publication_sees_no_drift(publisher: Publisher) -> None:
    seen: list[str] = []
    with armed("publish.commit", lambda: seen.append(publisher.state().state)):
        publish(publisher, "Two.")
    assert seen == ["clean"]


def test_an_error_that_is_in_doubt_is_settled_by_the_next_change(publisher: Publisher) -> None:
    with armed("file.fsync_folder", "raise(EIO):1"), pytest.raises(InDoubt):
        publish(publisher, "Two.")
    with pytest.raises(MinutebookError) as caught:
        publish(publisher, "Three.")
    assert caught.value.code == "stream_conflict"
    assert publish(publisher, "Three.") == 3


def test_the_document_read_from_the_end_is_the_document_read_from_the_beginning(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = publisher.workspace.path
    for number in range(12):
        if number % 3 == 0:
            path.write_bytes(f"Edit {number}.\n".encode())
            publisher.detect()
            publisher.restore(1, discard_edit=True)
        if number % 4 == 0:
            with armed("file.fsync_temp", "raise(EIO)"), contextlib.suppress(MemoryFault):
                publish(publisher, f"Never {number}.")
        publish(publisher, f"Number {number}.")
        for tail in (1, 2, 3, 64):
            monkeypatch.setattr("minutebook.infrastructure.work.ledger._TAIL", tail)
            read = publisher.document()
            assert read == fold(publisher.ledger.log.stream(publisher.ledger.stream))
