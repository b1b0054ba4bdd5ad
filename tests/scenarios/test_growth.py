"""What a long session takes: disk in proportion to what was said, reads in proportion to what is shown (M4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook import Minutebook, Settings
from minutebook.infrastructure.store.log import Log

PROMPTS = ("You are the agent. " + "rule " * 500, "You are its helper. " + "rule " * 500)


def say(book: Minutebook, count: int) -> None:
    with book.session("s").run() as run:
        for turn in range(count // 10):
            roles = ("user", "assistant") * 5
            run.append(
                [{"role": role, "content": f"{turn}, {place}: " + "word " * 40} for place, role in enumerate(roles)]
            )
            run.context(system=PROMPTS[turn % 2])


def size(place: Path) -> int:
    return sum(file.stat().st_size for file in (place / ".tinyagent").iterdir() if file.is_file())


def test_twice_the_messages_take_twice_the_disk(place: Path) -> None:
    """Given two prompts that take turns, as an agent's and its helper's do."""
    settings = Settings(context_window=1_000_000, compaction_threshold=1.0)
    sizes = []
    for _ in range(2):
        with Minutebook.open(place, settings=settings, automatic=False) as book:
            for _ in range(10):
                say(book, 100)
        with Minutebook.open(place, read_only=True) as book:
            sizes.append(size(place))
            preambles = list(book.log(type="PreambleRecorded"))

    assert sizes[1] / sizes[0] <= 2.1
    assert len(preambles) <= 2 * 2 * 10, "one of each prompt a session object, not one a turn"


def test_a_request_reads_what_it_shows_and_not_what_is_hidden(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    at = Log.at

    def counted(self: Log, positions: object, connection: object = None) -> object:
        found = at(self, positions, connection)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    reads = []
    for name, turns in (("short", 3), ("long", 30)):
        folder = place / name
        folder.mkdir()
        settings = Settings(context_window=8_000)
        with Minutebook.open(folder, settings=settings, automatic=False) as book:
            for _ in range(turns):
                say(book, 20)
            book.session("s").compact()
        with Minutebook.open(folder, settings=settings, automatic=False) as book, book.session("s").run() as run:
            run.append({"role": "user", "content": "And now?"})
            monkeypatch.setattr(Log, "at", counted)
            read.clear()
            shown = len(run.context(system=PROMPTS[0]).messages)
            monkeypatch.undo()
            reads.append((sum(read), shown))

    (few, short), (many, long) = reads
    assert abs(long - short) <= 8
    assert many <= few + 16, reads
