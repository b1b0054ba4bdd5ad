"""A long memory is audited page by page, and no call reads more than it answers (issue 4, D9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minutebook import Minutebook, MinutebookError
from minutebook.infrastructure.edges.cli import main
from minutebook.infrastructure.store import log as log_module


def grown(place: Path, revisions: int) -> None:
    with Minutebook.open(place, automatic=False) as book:
        for number in range(revisions):
            book.memory.import_notes(f"- Server {number} stands in rack {number}\n".encode())


def test_the_log_comes_in_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grown(tmp_path, 7)
    with Minutebook.open(tmp_path, read_only=True) as book:
        assert [row.revision for row in book.memory.revisions()] == [1, 2, 3, 4, 5, 6, 7]
        newest = book.memory.revisions(limit=3)
        assert [row.revision for row in newest] == [5, 6, 7]
        assert [row.revision for row in book.memory.revisions(limit=3, before=newest[0].revision)] == [2, 3, 4]
        assert book.memory.revisions(limit=0) == []
        with pytest.raises(MinutebookError) as refusal:
            book.memory.revisions(limit=-1)
        assert refusal.value.code == "bad_option"
    with pytest.raises(SystemExit):
        main(["--workspace", str(tmp_path), "--json", "memory", "log", "--limit", "2", "--before", "4"])
    assert [row["revision"] for row in json.loads(capsys.readouterr().out)] == [2, 3]


def test_what_is_read_does_not_grow_with_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = [0]
    original = log_module.Log._rows

    def counting(self: log_module.Log, *arguments: object, **options: object) -> object:
        rows = original(self, *arguments, **options)  # type: ignore[arg-type]
        rows = list(rows)
        read[0] += len(rows)
        return rows

    counts = []
    for revisions in (6, 30):
        place = tmp_path / str(revisions)
        place.mkdir()
        grown(place, revisions)
        with Minutebook.open(place, automatic=False) as book:
            book.memory.show()
            with monkeypatch.context() as patched:
                patched.setattr(log_module.Log, "_rows", counting)
                read[0] = 0
                book.memory.status()
                book.memory.show(revisions // 2)
                book.memory.diff(1, revisions)
                book.memory.revisions(limit=5)
                counts.append(read[0])
    assert counts[1] <= counts[0] + 4, counts
