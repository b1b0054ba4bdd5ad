"""What a look at the memory file comes to, of every kind of look and of every state of the log (D8, D11, F36)."""

from __future__ import annotations

from typing import Any

import pytest

from minutebook.domain.errors import MemoryFault
from minutebook.domain.revision import MemoryDocument, Revision
from minutebook.infrastructure.work.file_state import FileState, Mark, file_state
from minutebook.infrastructure.work.safe_file import Absent, Bytes, Refused

PATH = "memory/MEMORY.md"


def revision(number: int, digest: str) -> Revision:
    return Revision(number, "curated", number - 1, None, digest)


NEW = MemoryDocument()
WAITS_FIRST = MemoryDocument(1, 1, prepared=revision(1, "p1"))
HOLDS = MemoryDocument(10, 5, current=revision(5, "d5"))
WAITS = MemoryDocument(11, 6, current=revision(5, "d5"), prepared=revision(6, "d6"))
KEPT = MemoryDocument(14, 9, current=revision(5, "d5"), displaced={8: "x", 9: "y", 7: "z"})
TWO_NAMES = "the file has 2 hard links; a new revision will stand under this name only"


def held(digest: str, links: int = 1) -> Bytes:
    # Not the object that the log has: what is read from a disk is another one.
    return Bytes(b"whatever", "".join(list(digest)), 0o600, 1, 1, links)


def told(found: FileState) -> tuple[Any, ...]:
    return found.state, found.revision, found.found_digest, found.expected_digest, found.code, found.cause


@pytest.mark.parametrize("folder", [True, False])
def test_before_the_first_revision_there_is_no_file(folder: bool) -> None:
    found = file_state(NEW, Absent(folder), PATH)
    assert (found.path, told(found)) == (PATH, ("clean", 0, None, None, None, None))
    assert (found.clean, found.finding, found.detail, found.warnings) == (True, None, "", ())


@pytest.mark.parametrize("document", [HOLDS, WAITS, KEPT])
def test_a_file_that_is_gone_says_both_ways_on(document: MemoryDocument) -> None:
    found = file_state(document, Absent(), PATH)
    assert told(found) == ("missing", 5, None, "d5", None, None)
    assert (found.clean, found.finding) == (False, ("missing", None))
    assert found.detail == (
        f"{PATH} is gone, revision 5 stands in the log: 'minutebook memory restore 5' brings it back, "
        "'minutebook memory sync' accepts that memory is empty now"
    )


@pytest.mark.parametrize(("document", "digest", "number"), [(WAITS_FIRST, "p1", 0), (WAITS, "d6", 5)])
def test_what_is_written_and_not_yet_committed_is_no_edit(document: MemoryDocument, digest: str, number: int) -> None:
    found = file_state(document, held(digest, links=2), PATH)
    assert told(found) == ("clean", number, digest, document.digest, None, None)
    assert (found.clean, found.finding, found.warnings) == (True, None, (TWO_NAMES,))
    assert found.detail == f"revision {document.last} is written and not yet committed"


@pytest.mark.parametrize("document", [NEW, WAITS_FIRST])
def test_a_file_from_before_is_unadopted(document: MemoryDocument) -> None:
    found = file_state(document, held("other", links=2), PATH)
    assert told(found) == ("unadopted", 0, "other", None, None, None)
    assert (found.clean, found.finding, found.warnings) == (False, ("unadopted", "other"), (TWO_NAMES,))
    assert found.detail == f"{PATH} was there before minutebook; 'minutebook memory sync' takes it in"


@pytest.mark.parametrize("document", [HOLDS, WAITS])
def test_a_file_that_the_log_knows_is_clean(document: MemoryDocument) -> None:
    found = file_state(document, held("d5", links=2), PATH)
    assert told(found) == ("clean", 5, "d5", "d5", None, None)
    assert (found.clean, found.finding, found.detail, found.warnings) == (True, None, "", (TWO_NAMES,))


def test_a_clean_file_names_the_newest_edit_that_was_overtaken() -> None:
    assert file_state(KEPT, held("d5"), PATH).detail == (
        "an edit that was overtaken by a new revision is kept as displaced revision 9"
    )


@pytest.mark.parametrize("digest", ["a", "z"])
@pytest.mark.parametrize("mark", [None, Mark(4, "d4"), Mark(5, "d5")])
def test_an_edit_is_drift_and_says_both_ways_on(mark: Mark | None, digest: str) -> None:
    found = file_state(HOLDS, held(digest, links=2), PATH, mark)
    assert told(found) == ("drift", 5, digest, "d5", None, None)
    assert (found.clean, found.finding, found.warnings) == (False, ("drift", digest), (TWO_NAMES,))
    assert found.detail == (
        f"{PATH} is not what revision 5 holds: it was edited, or the database is an older copy (a restored backup): "
        "'minutebook memory sync' takes the file in, 'minutebook memory restore 5 --discard-edit' keeps a copy of it "
        "and goes back"
    )


@pytest.mark.parametrize("number", [6, 7, 20])
@pytest.mark.parametrize(
    ("digest", "edited"), [("d6", ""), ("a", " and was edited since"), ("z", " and was edited since")]
)
def test_a_database_that_is_older_than_the_file_is_named_and_no_edit(number: int, digest: str, edited: str) -> None:
    found = file_state(HOLDS, held(digest), PATH, Mark(number, "d6"))
    assert told(found) == ("drift", 5, digest, "d5", None, "database_behind_file")
    assert found.detail == (
        f"the database is older than the file (database_behind_file): {PATH} was written as revision {number}{edited}, "
        "and the newest that this database knows is 5, so it is a restored backup or another one. Bring the newer "
        "database back; or 'minutebook memory sync' takes the file in as it is, and 'minutebook memory restore 5 "
        "--discard-edit' keeps a copy of it and goes back"
    )


@pytest.mark.parametrize(
    ("document", "state", "number"), [(NEW, "unadopted", 0), (HOLDS, "drift", 5), (WAITS, "drift", 5)]
)
def test_what_may_not_be_read_keeps_its_code(document: MemoryDocument, state: str, number: int) -> None:
    found = file_state(document, Refused("memory_is_symlink", "replace it"), PATH)
    assert told(found) == (state, number, None, document.digest, "memory_is_symlink", None)
    assert (found.clean, found.finding, found.detail) == (False, ("unreadable", "memory_is_symlink"), "replace it")


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (FileState("drift", PATH, 5, "a", "b", cause="database_behind_file", detail="look"), "memory_drift"),
        (FileState("missing", PATH, 5, None, "b", detail="look"), "memory_drift"),
        (FileState("unadopted", PATH, 0, "a", detail="look"), "memory_drift"),
        (FileState("drift", PATH, 5, None, "b", "memory_is_symlink", detail="look"), "memory_is_symlink"),
        (FileState("remote", PATH, detail="look"), "memory_remote"),
    ],
)
def test_the_refusal_says_why_and_what_was_found(found: FileState, code: str) -> None:
    error = found.error()
    assert isinstance(error, MemoryFault)
    assert (error.code, error.message) == (code, "look")
    assert error.details == {
        "state": found.state, "expected": found.expected_digest, "found": found.found_digest, "cause": found.cause
    }  # fmt: skip


def test_a_file_that_is_kept_elsewhere_is_nothing_to_record() -> None:
    assert FileState("remote", PATH).finding is None
    assert not FileState("remote", PATH).clean


# --- the note in the lock file


@pytest.mark.parametrize("number", [0, 1, 42, 10**18 - 1])
def test_a_mark_is_read_as_it_was_written(number: int) -> None:
    assert Mark(number, "d5").line() == f"revision {number} d5\n"
    assert Mark.read(Mark(number, "d5").line()) == Mark(number, "d5")


@pytest.mark.parametrize(
    "text",
    ["", "4711\n", "revision", "revision 5", "revision five d5", "revision -5 d5", "revision ٥ d5", "revision ² d5",
     "revision 5 d5 more", "Revision 5 d5", "another 5 d5", f"revision {'9' * 19} d5", f"revision {'9' * 5000} d5"],
)  # fmt: skip
def test_what_somebody_else_wrote_in_the_lock_file_is_no_mark(text: str) -> None:
    assert Mark.read(text) is None
