"""A workspace in which anything may have happened before something is erased, and what must hold after (E8)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from canaries import places

from minutebook import Minutebook, MinutebookError, Settings

QUIET = Settings(curation_automatic=False)
FILE = Path(".tinyagent") / "memory" / "MEMORY.md"
NUMBERS = {"add": 3, "replace": 10, "remove": 10, "hand": 1, "restore": 10, "erase_entry": 10, "erase_message": 10,
           "erase_session": 3}  # fmt: skip
"""What can be done, each with how many ways there are."""


class Died(BaseException):
    """Stands for the end of a process: nothing is cleaned up, nobody is told."""


REFUSED = {"unknown_revision", "revision_erased", "revision_displaced", "already_erased", "unknown_session",
           "memory_invalid", "memory_unchanged"}  # fmt: skip
"""What a person is told who asks for the impossible; nothing has changed then."""


class World:
    """One workspace, and a model of what must be gone from it."""

    def __init__(self, root: Path, database: str | None = None) -> None:
        self.root = root
        self.database = database
        self.count = 0
        self.gone: set[str] = set()
        self.fate: Callable[[], AbstractContextManager[Any]] = nullcontext
        """What an erasure meets on its way: for a drill that lets it die at a step."""
        self.book = self._open()

    def _open(self) -> Minutebook:
        return Minutebook.open(self.root, database=self.database, settings=QUIET, automatic=False)

    def _erase(self, kind: str, id: str | int, **options: Any) -> None:
        try:
            with self.fate():
                self.book.erase(kind, id, reason="a drill", **options)
        except Died:
            self.book.close()
            self.book = self._open()
            if not any(row["status"] == "completed" for row in self.book.erasures.list()[-1:]) or not self._asked(id):
                self.book.erase(kind, id, reason="a drill", **options)

    def _asked(self, id: str | int) -> bool:
        """Whether the last erasure was of this: it may have died before it was asked for."""
        last = self.book.erasures.list()[-1]
        return id in (last["id"], last["position"])

    def word(self) -> str:
        self.count += 1
        return f"word{self.count:03d}zq7xk"

    def act(self, action: str, number: int) -> None:
        try:
            getattr(self, action)(number)
        except MinutebookError as error:
            if error.code not in REFUSED:
                raise

    def _propose(self, session: str, operation: dict[str, Any], said: str) -> None:
        with self.book.session(session).run() as run:
            run.append({"role": "user", "content": f"Please note {said} for later, and thank you."})
            run.memory(operation)
        self.book.curate()

    def _entry(self, number: int) -> Any:
        entries = self.book.memory.entries()
        return entries[number % len(entries)] if entries else None

    def add(self, number: int) -> None:
        self._propose(f"s{number}", {"operation": "add", "text": f"The place of {self.word()} is known."}, self.word())

    def replace(self, number: int) -> None:
        if (entry := self._entry(number)) is not None:
            text = f"The place of {self.word()} is another."
            self._propose("s0", {"operation": "replace", "target": entry["id"], "text": text}, self.word())

    def remove(self, number: int) -> None:
        if (entry := self._entry(number)) is not None:
            self._propose("s1", {"operation": "remove", "target": entry["id"]}, self.word())

    def hand(self, _: int) -> None:
        file = self.root / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text() if file.exists() else ""
        file.write_text(before + ("§\n" if before else "") + f"By hand: {self.word()} was written.\n")
        self.book.memory.sync()

    def restore(self, number: int) -> None:
        self.book.memory.restore(number)

    def erase_entry(self, number: int) -> None:
        if (entry := self._entry(number)) is not None:
            self._erase("entry", entry["id"])
            self.gone |= words(entry["text"])

    def erase_message(self, number: int) -> None:
        found = [event for event in self.book.log(type="MessageRecorded") if event["body"]["payload"] is not None]
        if found:
            event = found[number % len(found)]
            self._erase("message", event["position"], block=False)
            self.gone |= words(str(event["body"]["payload"]))

    def erase_session(self, number: int) -> None:
        said = [str(event["body"]["payload"]) for event in self.book.log(session=f"s{number}")]
        self._erase("session", f"s{number}", block=False)
        self.gone |= {word for text in said for word in words(text)}


def words(text: str) -> set[str]:
    return {word for word in text.replace("'", " ").split() if word.endswith("zq7xk")}


def hold(world: World) -> None:
    for word in world.gone:
        assert places(world.root, word) == [], word
    report = world.book.verify()
    assert report["ok"], report["checks"]
    projections = world.book._runtime.projections
    projections.catch_up()
    before = {name: projections.dump_hash(name) for name in projections.names}
    projections.rebuild()
    assert before == {name: projections.dump_hash(name) for name in projections.names}
    shown = [entry["text"] for entry in world.book.memory.entries()]
    file = world.root / FILE
    assert (file.read_text() if file.exists() else "") == ("\n§\n".join(shown) + "\n" if shown else "")
    assert world.book.erasures.finish() == []
    for row in world.book.sessions():
        assert world.book.find_session(row["session"]).context().to_openai() is not None
