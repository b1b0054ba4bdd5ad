"""A window too small for what is protected works as long as it can, and says so (C1, C10)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from minutebook import Minutebook, Settings


def live(book: Minutebook, turns: int) -> list[str]:
    """An agent's turns; the notes of its requests."""
    notes = []
    session = book.session("s")
    for turn in range(turns):
        with session.run() as run:
            run.append({"role": "user", "content": f"Please do item {turn}. " + "word " * 90})
            notes.append(run.context(system="rule " * 300).note)
            run.append({"role": "assistant", "content": f"Item {turn} is done. " + "word " * 90})
    return notes


def test_a_window_too_small_for_what_is_protected_is_named_where_one_looks(place: Path, command: Any) -> None:
    settings = Settings(context_window=2_500)
    with Minutebook.open(place, automatic=False, settings=settings) as book:
        notes = live(book, 12)
        said = [note for note in notes if "the window is too small" in note]
        assert said
        assert "raise context_window" in said[-1]
        assert "s: too little to gain: the window is too small" in str(book.status()["compaction_note"])
        assert "the window is too small" in str(book.session("s").context().answer()["note"])
    (place / "minutebook.toml").write_text("context_window = 2500\n")
    assert "the window is too small" in command("status").out.replace("\n", " ")
    assert "the window is too small" in command("context", "s").out.replace("\n", " ")


def test_a_window_with_room_says_nothing(place: Path) -> None:
    with Minutebook.open(place, automatic=False, settings=Settings(context_window=20_000)) as book:
        assert not any("too small" in note for note in live(book, 12))
        assert book.status()["compaction_note"] is None


def test_one_is_one_and_two_are_more_on_the_command_line(place: Path, command: Any, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False, settings=Settings(context_window=8_000)) as book:
        book.session("s").append(conversation(12))
        assert book.session("s").compact()["status"] == "committed"
        book.session("t").append({"role": "user", "content": "Hello."})
    assert "48 messages, 0 runs, " in command("session", "show", "s").out
    assert ", 1 compaction\n" in command("session", "show", "s").out
    assert command("session", "show", "t").out.startswith("t: 1 message, 0 runs, ")
    assert ": 1 message, " in command("context", "t").out


def test_a_fork_is_named_where_a_compaction_is_undone(place: Path, command: Any, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False, settings=Settings(context_window=8_000)) as book:
        book.session("parent").append(conversation(12))
        shared = book.session("parent").compact()["compaction"]
        book.session("parent").fork(id="child-of-it")
    assert command("compaction", "undo", shared, "--session", "child", "--json").answer["status"] == "undone"
    with Minutebook.open(place, read_only=True) as book:
        states = [{line["state"] for line in book.find_session(name).context(window=10**6).messages}
                  for name in ("parent", "child-of-it")]  # fmt: skip
    assert ["summary" in found for found in states] == [True, False]
    assert command("compaction", "redo", shared, "--session", "child", "--json").answer["status"] == "redone"
