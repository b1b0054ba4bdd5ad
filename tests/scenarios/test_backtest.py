"""A session played again under another policy: the same functions, no model, no event (C11)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from minutebook import ContextWindowExceeded, Minutebook, MinutebookError, Settings


def lived(book: Minutebook, messages: list[dict[str, Any]], per_run: int) -> list[int | None]:
    """Lives a session as an agent does, one request before each answer; returns the tokens of each request."""
    session, tokens = book.session("s"), list[int | None]()
    for start in range(0, len(messages), per_run):
        with session.run() as run:
            for message in messages[start : start + per_run]:
                if message["role"] == "assistant":
                    try:
                        tokens.append(run.context(system="You mend builds.").tokens)
                    except ContextWindowExceeded:
                        tokens.append(None)
                run.append(message)
    return tokens


@pytest.mark.sqlite_only("a decision knows no database")
@pytest.mark.parametrize(("window", "per_run"), [(8_000, 4), (8_000, 20), (16_000, 8), (200_000, 4), (1_500, 12)])
def test_it_tells_what_was_really_shown(place: Path, conversation: Any, window: int, per_run: int) -> None:
    """Given a session that was lived under a policy, a back-test under the same one finds every request again."""
    with Minutebook.open(place, settings=Settings(context_window=window), automatic=False) as book:
        tokens = lived(book, conversation(24), per_run)
        head = book.head
        answer = book.session("s").backtest()
        assert [None if turn["error"] else turn["tokens"] for turn in answer.turns[:-1]] == tokens
        assert book.head == head, "a back-test appends nothing"
        committed = [row for row in book.session("s").compactions() if row["status"] in ("committed", "superseded")]
        played = sum("compact" in turn["actions"] for turn in answer.turns[:-1])
        assert played == len(committed)
        if committed and "compact" not in answer.turns[-1]["actions"]:
            assert answer.hidden == committed[-1]["hidden"]
            assert answer.summary == committed[-1]["text"]
        assert answer.tokens_total <= answer.tokens_total_unchanged


@pytest.mark.sqlite_only("a decision knows no database")
def test_another_policy_is_played_from_the_originals_whatever_was_compacted(place: Path, conversation: Any) -> None:
    with Minutebook.open(place, settings=Settings(context_window=8_000), automatic=False) as book:
        lived(book, conversation(24), 4)
        session = book.session("s")
        wide, narrow = session.backtest(window=1_000_000), session.backtest(window=6_000, protect_recent=4)
        assert wide.compactions == wide.reductions == 0
        assert wide.hidden == []
        assert wide.tokens_total == wide.tokens_total_unchanged
        assert narrow.policy["protect_recent"] == 4
        assert narrow.compactions > 1
        assert narrow.tokens_total < session.backtest().tokens_total < wide.tokens_total
        assert narrow.largest["tokens"] <= 6_000 - narrow.policy["reserve"]
        assert {message.id for message in session.messages()} > set(narrow.hidden)
        late = session.backtest(threshold=0.9)
        assert late.compactions <= session.backtest(threshold=0.2).compactions
        assert session.backtest(threshold=0.9) == late, "the same question has the same answer"


def test_a_request_that_could_not_be_made_is_named_with_its_error(place: Path, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        with book.session("s").run() as run:
            run.append(conversation(12), id="m")
        answer = book.session("s").backtest(window=1_000)
        assert answer.errors
        assert {item["error"] for item in answer.errors} <= {"context_window_exceeded", "compaction_failed"}
        assert all(turn["tokens"] <= 1_000 - answer.policy["reserve"] for turn in answer.turns if not turn["error"])


def test_a_fork_an_empty_session_and_a_reader_are_played_too(place: Path, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append(conversation(3), id="m")
        book.session("s").fork(id="child").append({"role": "user", "content": "And now?"})
        book.session("empty")
    with Minutebook.open(place, read_only=True) as book:
        assert book.session("child").backtest().requests == book.session("s").backtest().requests
        empty = book.session("empty").backtest()
        assert (empty.requests, empty.largest, empty.turns, empty.hidden) == (0, None, [], [])


@pytest.mark.parametrize("given", [{"window": 0}, {"threshold": 7.0}, {"reserve": 10**9}, {"protect_first": -1}])
def test_a_policy_that_cannot_be_is_refused(place: Path, given: dict[str, Any]) -> None:
    with Minutebook.open(place, automatic=False) as book:
        session = book.session("s")
        with pytest.raises(MinutebookError, check=lambda error: error.code == "bad_setting"):
            session.backtest(**given)


def test_on_the_command_line_it_is_a_table_and_a_document(place: Path, conversation: Any, command: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        with book.session("s").run() as run:
            run.append(conversation(2), id="m")
        book.session("s").append(conversation(20), id="n")
    told = command("backtest", "s", "--window", "12000")
    assert told.code == 0
    assert "window of 12,000" in told.out
    assert "compact: hides" in told.out
    answer = command("--json", "backtest", "s", "--window", "12000", "--protect-recent", "4").answer
    assert answer["policy"]["protect_recent"] == 4
    assert answer["compactions"] >= 1
    failing = command("--json", "backtest", "s", "--window", "700")
    assert failing.code == 1
    assert json.loads(failing.out)["errors"]
    assert command("--json", "backtest", "s", "--threshold", "7").refusal["error"] == "bad_setting"
    assert command("--json", "backtest", "nobody").refusal["error"] == "unknown_session"


def test_a_real_session_of_a_thousand_messages_takes_seconds(place: Path, shared: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        imported = book.import_transcript(shared("transcripts/pi/before-compaction.jsonl"))
        began = time.perf_counter()
        answer = book.session(imported.session).backtest(window=64_000)
        assert time.perf_counter() - began < 200, "about 4 s on an idle machine"
        assert answer.compactions > 3
        assert not answer.errors
        assert answer.tokens_total < answer.tokens_total_unchanged / 4
