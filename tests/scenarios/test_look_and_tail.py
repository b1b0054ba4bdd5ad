"""A look that adds the tail to the one before shows what a look at the projection shows (C9, C11, M6)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook import Minutebook, Settings
from minutebook.domain.errors import MinutebookError
from minutebook.infrastructure.book import Session
from minutebook.infrastructure.work import visible
from minutebook.infrastructure.work.visible import Reader, Seen

STEPS = st.lists(
    st.sampled_from(
        [
            "turn",
            "turn",
            "long",
            "tool",
            "fail",
            "open",
            "append",
            "context",
            "compact",
            "undo",
            "redo",
            "memory",
            "fork",
        ]
    ),
    min_size=3,
    max_size=14,
)
SETTINGS = Settings(context_window=3_000, summary_tokens_max=400)


def plain(seen: Seen) -> tuple[Any, ...]:
    return (seen.visible, seen.open_run, seen.suspended, seen.live, seen.fence, seen.epoch, seen.reported)


def play(book: Minutebook, session: Session, step: str, number: int) -> None:
    try:
        match step:
            case "turn" | "long":
                with session.run() as run:
                    run.append({"role": "user", "content": f"Step {number}: never touch ledger{number}."})
                    text = f"Done with {number}, see src/a{number}.py. " * (60 if step == "long" else 1)
                    run.append({"role": "assistant", "content": text}, usage={"input_tokens": 9 * number})
            case "tool":
                with session.run() as run:
                    call = {"id": f"t{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
                    run.append({"role": "assistant", "content": None, "tool_calls": [call]})
                    run.append({"role": "tool", "tool_call_id": f"t{number}", "content": "x y z " * 400})
            case "fail":
                session.run().fail("no")
            case "open":
                session.run().append({"role": "user", "content": "still open"})
            case "append":
                session.append({"role": "user", "content": f"outside {number}"})
            case "context":
                with session.run() as run:
                    run.context(system="be brief")
            case "compact":
                session.compact()
            case "undo":
                book.undo_compaction([row for row in session.compactions() if row.status == "committed"][-1].compaction)
            case "redo":
                book.redo_compaction([row for row in session.compactions() if row.status == "undone"][-1].compaction)
            case "memory":
                with session.run() as run:
                    run.memory({"operation": "add", "text": f"Fact number {number} holds."})
            case "fork":
                session.fork(id=f"f{number}")
    except (MinutebookError, IndexError):
        pass  # What may not be done now: the looks must agree all the same.


def test_a_look_that_adds_the_tail_equals_a_look_at_the_projection(where: str) -> None:
    # An example is some hundred round trips to a server: few of them there.
    @given(STEPS)
    @settings(max_examples=25 if where == "sqlite" else 5, deadline=None, suppress_health_check=list(HealthCheck))
    def agrees(steps: list[str]) -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            Minutebook.open(folder, settings=SETTINGS, automatic=False) as book,
        ):
            session = book.session("s")
            kept = Reader(book._runtime, "s")
            for number, step in enumerate(steps, 1):
                play(book, session, step, number)
                assert plain(kept.see()) == plain(Reader(book._runtime, "s").see())

    agrees()


def test_a_long_tail_is_looked_up_again(tmp_path: Path) -> None:
    # given a look, and more events after it than a look adds
    with Minutebook.open(tmp_path) as book:
        session = book.session("s")
        kept = Reader(book._runtime, "s")
        kept.see()
        session.append([{"role": "user", "content": str(number)} for number in range(visible.TAIL_MAX + 10)])
        # when it is looked at again
        seen = kept.see()
        # then everything is there, and the projection was brought up to date
        assert len(seen.visible) == visible.TAIL_MAX + 10
        assert next(row.lag for row in book.projections.list() if row.name == "context") == 0
