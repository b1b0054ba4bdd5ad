"""Whatever happened before an erasure: no byte of it is left, a rebuild gives the same rows, the rest is as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from canaries import places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import URL

from minutebook import Minutebook, MinutebookError, Settings

QUIET = Settings(curation_automatic=False)
FILE = Path(".tinyagent") / "memory" / "MEMORY.md"

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 2)),
        st.tuples(st.just("replace"), st.integers(0, 9)),
        st.tuples(st.just("remove"), st.integers(0, 9)),
        st.tuples(st.just("hand"), st.just(0)),
        st.tuples(st.just("restore"), st.integers(1, 9)),
        st.tuples(st.just("erase_entry"), st.integers(0, 9)),
        st.tuples(st.just("erase_message"), st.integers(0, 9)),
        st.tuples(st.just("erase_session"), st.integers(0, 2)),
    ),
    min_size=3,
    max_size=14,
)


REFUSED = {"unknown_revision", "revision_erased", "revision_displaced", "already_erased", "unknown_session",
           "memory_invalid", "memory_unchanged"}  # fmt: skip
"""What a person is told who asks for the impossible; nothing has changed then."""


class World:
    """One workspace, and a model of what must be gone from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.count = 0
        self.gone: set[str] = set()
        self.book = Minutebook.open(root, settings=QUIET, automatic=False)

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
            self.book.erase("entry", entry["id"], reason="a drill")
            self.gone |= words(entry["text"])

    def erase_message(self, number: int) -> None:
        found = [event for event in self.book.log(type="MessageRecorded") if event["body"]["payload"] is not None]
        if found:
            event = found[number % len(found)]
            self.book.erase("message", event["position"], reason="a drill", block=False)
            self.gone |= words(str(event["body"]["payload"]))

    def erase_session(self, number: int) -> None:
        said = [str(event["body"]["payload"]) for event in self.book.log(session=f"s{number}")]
        self.book.erase("session", f"s{number}", reason="a drill", block=False)
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


def live(actions: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            for action, number in actions:
                world.act(action, number)
            hold(world)
        finally:
            world.book.close()


SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


@pytest.mark.sqlite_only("the same on a server has a database of its own for each example")
@settings(max_examples=15, deadline=None, suppress_health_check=SLOW)
@given(actions=ACTIONS)
def test_any_history_with_erasures_holds(actions: list[tuple[str, int]]) -> None:
    live(actions)


@settings(max_examples=4, deadline=None, suppress_health_check=SLOW)
@given(actions=ACTIONS)
def test_any_history_with_erasures_holds_on_a_server(
    new_postgres: Callable[..., AbstractContextManager[URL]], on_postgres: None, actions: list[tuple[str, int]]
) -> None:
    with new_postgres() as url, pytest.MonkeyPatch.context() as patched:
        patched.setenv("MINUTEBOOK_DATABASE", url.render_as_string(hide_password=False))
        live(actions)
