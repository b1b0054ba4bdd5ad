"""Processes of different kinds at work in one workspace; what was acknowledged stands in a file of each.

``python crowd_child.py ROLE WORKSPACE NUMBER COUNT``: ``COUNT`` rounds, or until the file ``over`` stands beside the
workspace where it is 0.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from minutebook import Minutebook, MinutebookError, Settings

SMALL = Settings(context_window=8_000, curation_automatic=False, lock_timeout_seconds=60.0)
NOISE = " ".join(f"line {number}: compiled unit_{number:04d}.c without a warning" for number in range(60))
BUSY = frozenset({"curation_busy", "curation_lease_lost", "memory_drift", "memory_changed", "memory_locked"})
"""What a second process may be told, and does again later."""


class Place:
    """The workspace, and the notes of one process beside it."""

    def __init__(self, root: Path, role: str, number: int, count: int) -> None:
        self.root, self.role, self.number, self.count = root, role, number, count
        self._ready = False
        self._notes = (root.parent / f"{role}-{number}.jsonl").open("a", buffering=1, encoding="utf-8")

    def note(self, **what: Any) -> None:
        self._notes.write(json.dumps(what) + "\n")

    def open(self, **options: Any) -> Minutebook:
        book = Minutebook.open(self.root, settings=SMALL, automatic=False, **options)
        if not self._ready:
            self._ready = True
            self.note(ready=True)
        return book

    def rounds(self) -> Iterator[int]:
        number = 0
        while number < self.count or not (self.count or (self.root.parent / "over").exists()):
            yield number
            number += 1


def talk(place: Place) -> None:
    """Runs in a session of its own: messages, contexts that need compactions, a fact to remember in each."""
    with place.open() as book:
        session = book.session(f"talk-{place.number}")
        for turn in place.rounds():
            with session.run() as run:
                for step, (role, text) in enumerate((("user", "Please look."), ("assistant", NOISE))):
                    name = f"m{turn}-{step}"
                    message = {"role": role, "content": f"{place.number}.{turn}: {text}"}
                    place.note(id=name, position=run.append(message, id=name), session=session.id)
                assert run.context().tokens <= 8_000
                fact = f"Server {place.number}-{turn} stands in rack {place.number * 1000 + turn}."
                assert run.memory({"operation": "add", "text": fact}).status == "proposed"
            place.note(fact=fact)


def compact(place: Place) -> None:
    """Compacts sessions that others talk in."""
    with place.open() as book:
        for _ in place.rounds():
            for row in book.sessions():
                again(place, book.session(row["session"]).compact)


def curate(place: Place) -> None:
    with place.open() as book:
        for _ in place.rounds():
            done = again(place, book.curate)
            if done is not None:
                place.note(status=done["status"], revision=done["revision"])


def status(place: Place) -> None:
    """Opens the book anew each time: whoever opens it for writing looks for owners that are dead."""
    for _ in place.rounds():
        with place.open() as book:
            place.note(head=book.status()["head"])


def follow(place: Place) -> None:
    """Reads the log as it grows; it may have neither a gap nor a double."""
    with place.open(access="look") as book:
        after, seen = 0, 0
        over = False
        while not over:
            over = (place.root.parent / "over").exists()
            for event in book.log(after=after):
                assert event["position"] > after
                after, seen = event["position"], seen + 1
        place.note(after=after, seen=seen)


def edit(place: Place) -> None:
    """A person who adds lines to the memory file with an editor, and says so."""
    with place.open() as book:
        file = place.root / ".tinyagent" / "memory" / "MEMORY.md"
        for turn in place.rounds():
            text = f"A person wrote line {turn} of editor {place.number} by hand."
            while not file.exists():
                time.sleep(0.01)
            if turn % 2:  # some editors write in place, some write beside it and rename
                beside = file.with_name(f"editor-{place.number}")
                beside.write_text(f"{file.read_text(encoding='utf-8')}§\n{text}\n", encoding="utf-8")
                beside.replace(file)
            else:
                with file.open("a", encoding="utf-8") as opened:
                    opened.write(f"§\n{text}\n")
            place.note(edit=text)
            while again(place, book.memory.sync) is None:
                pass


def again(place: Place, act: Callable[[], Any]) -> Any:
    """What it gives, or None where another process is at it."""
    try:
        return act()
    except MinutebookError as error:
        if error.code not in BUSY:
            raise
        place.note(busy=error.code)
        return None


ROLES = {each.__name__: each for each in (talk, compact, curate, status, follow, edit)}

if __name__ == "__main__":
    role, root, number, count = sys.argv[1:]
    ROLES[role](Place(Path(root), role, int(number), int(count)))
