"""A file that cannot be read for a moment decides nothing: found by ``make drill-inject`` (openat, at a start)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.store.failpoints import armed

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def add(root: Path, text: str) -> str:
    with Minutebook.open(root, automatic=False) as book:
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": text})
        return str(book.curate().status)


def dies_when_the_file_is_replaced(root: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with armed("file.fsync_folder", "exit"):
            add(root, "Tests run with pytest.")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 70


@pytest.mark.parametrize("error", ["EIO", "EMFILE"])
def test_a_start_that_cannot_read_the_memory_file_leaves_the_verdict_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """Given a process that died with the new file in place, when the next cannot read it, then the one after commits.

    It was abandoned, and what was in the file was taken for a person's edit, which nobody had made.
    """
    assert add(tmp_path, "The build needs make 4.3 or newer.") == "committed"
    dies_when_the_file_is_replaced(tmp_path)
    plain, number = os.open, getattr(errno, error)

    def failing(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if path == "MEMORY.md" and not flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), path)
        return plain(path, flags, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", failing)
        with Minutebook.open(tmp_path, automatic=False) as book:
            assert "memory_unreadable" in str(book.memory.status().last_error)
            with book.session("t").run() as run:
                run.append({"role": "user", "content": "The conversation goes on."})
                assert run.context().messages
            with pytest.raises(MinutebookError) as refusal:
                book.curate()
            assert refusal.value.code == "memory_unreadable"
    with Minutebook.open(tmp_path, automatic=False) as book:
        assert "RevisionAbandoned" not in {event.type for event in book.log()}
        assert book.memory.status().state == "clean"
        assert [entry.text for entry in book.memory.entries()] == [
            "The build needs make 4.3 or newer.", "Tests run with pytest.",
        ]  # fmt: skip
        assert book.curate().status == "nothing"
        assert book.verify().ok
