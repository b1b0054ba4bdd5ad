"""Nothing that one process does beside an open book lets go of the locks by which SQLite keeps its log (I1)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from stores import child_environment

from minutebook import Minutebook, MinutebookError

OTHER = """
import sys
from minutebook import Minutebook
with Minutebook.open(sys.argv[1], automatic=False) as book:
    book.session("other").append({"role": "user", "content": "from another process"})
"""


def second_book(root: Path, book: Minutebook) -> None:
    Minutebook.open(root, automatic=False).close()


def second_reader(root: Path, book: Minutebook) -> None:
    Minutebook.open(root, read_only=True).close()


def import_of_the_database(root: Path, book: Minutebook) -> None:
    book.import_transcript(root / ".tinyagent" / "minutebook.db")


def import_of_its_shared_memory(root: Path, book: Minutebook) -> None:
    book.import_transcript(root / ".tinyagent" / "minutebook.db-shm")


def import_of_the_database_as_a_log(root: Path, book: Minutebook) -> None:
    book.import_log(root / ".tinyagent" / "minutebook.db")


def import_of_the_database_as_notes(root: Path, book: Minutebook) -> None:
    book.memory.import_notes(root / ".tinyagent" / "minutebook.db")


def export_over_the_database(root: Path, book: Minutebook) -> None:
    book.export_log(root / ".tinyagent" / "minutebook.db")


@pytest.mark.parametrize(
    "beside",
    [
        second_book, second_reader, import_of_the_database, import_of_its_shared_memory,
        import_of_the_database_as_a_log, import_of_the_database_as_notes, export_over_the_database,
    ],
)  # fmt: skip
def test_an_append_is_kept_whatever_else_the_process_did_with_the_database(
    tmp_path: Path, beside: Callable[[Path, Minutebook], None]
) -> None:
    """Tried: to open and close the file let another process take itself for the last, and remove the open log."""
    with Minutebook.open(tmp_path, automatic=False) as book:
        session = book.session("here")
        session.append({"role": "user", "content": "before"})
        with suppress(MinutebookError):
            beside(tmp_path, book)
        subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], env=child_environment(), check=True)
        acknowledged = session.append({"role": "user", "content": "after"})

        with closing(sqlite3.connect(tmp_path / ".tinyagent" / "minutebook.db")) as outside:
            rows = outside.execute("SELECT max(position) FROM events").fetchone()
    assert rows == (acknowledged,)
