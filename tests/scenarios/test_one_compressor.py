"""Two compressors never both commit, a summary can be made anew from its originals (C6, C7)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gates import Gate

from minutebook import ExtractiveSummarizer, Minutebook, Settings
from minutebook.domain.errors import StreamConflict
from minutebook.infrastructure.book import Session
from minutebook.infrastructure.work import claims

SETTINGS = Settings(context_window=4_000, summarizer_timeout_seconds=90)


def long_session(book: Minutebook, name: str = "s") -> Session:
    session = book.session(name)
    for turn in range(30):
        with session.run() as run:
            run.append(
                {"role": "user", "content": f"Step {turn}: never touch the folder ledger{turn}. " + "please " * 20}
            )
            run.append(
                {"role": "assistant", "content": f"Done with step {turn}; see src/step_{turn}.py. " + "fine " * 20}
            )
    return session


def in_background(work: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()
    return thread, answers


def test_the_second_compressor_waits_and_then_finds_the_work_done(tmp_path: Path) -> None:
    # given two books on one workspace, and one that is in the middle of a summary
    gate = Gate()
    with (
        Minutebook.open(tmp_path, settings=SETTINGS, summarizer=gate) as first,
        Minutebook.open(tmp_path, settings=SETTINGS, summarizer=gate) as second,
    ):
        long_session(first)
        one, answers = in_background(first.session("s").compact)
        assert gate.entered.wait(100)
        # when the other is asked to compact too
        two, others = in_background(second.session("s").compact)
        gate.go_on.set()
        one.join(100)
        two.join(100)
        # then one summary was made and committed, and the second call found it
        assert [answer.status for answer in answers] == ["committed"]
        assert others[0].status in ("not_needed", "committed")
        committed = [row for row in first.session("s").compactions() if row.status == "committed"]
        assert len(committed) == 1
        hidden = [message for message in first.session("s").messages() if message.state == "compacted"]
        assert {message.covered_by for message in hidden} == {committed[0].compaction}


def test_a_reduction_or_summary_decided_on_an_old_look_is_not_committed(tmp_path: Path) -> None:
    # given a summary under way
    gate = Gate()
    with Minutebook.open(tmp_path, settings=SETTINGS, summarizer=gate) as book:
        session = long_session(book)
        thread, answers = in_background(session.compact)
        assert gate.entered.wait(100)
        # when its claim is lost to another process before it comes back
        claims.forget(book._runtime, "compact:local:s")
        stolen = claims.take(book._runtime, "compact:local:s", seconds=60)
        assert stolen is not None
        with book._runtime.log.database.projecting() as connection:
            connection.exec_driver_sql("UPDATE leases SET owner = 'r-another', fence = 9")
        before = session.context(window=100_000)
        gate.go_on.set()
        thread.join(100)
        # then it changes nothing, and says why
        assert [(answer.status, answer.reason) for answer in answers] == [("rejected", "superseded")]
        assert session.context(window=100_000).digest == before.digest


def test_a_claim_runs_out_by_the_clock_of_the_database_and_its_fence_only_rises(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book:
        runtime = book._runtime
        # given a claim whose time is over
        first = claims.take(runtime, "x", seconds=-1)
        assert first is not None
        # when somebody else takes it
        second = claims.take(runtime, "x", seconds=60)
        # then the first one can no longer commit, and nobody takes the second before its time
        assert second is not None
        assert second.fence > first.fence
        assert claims.take(runtime, "x", seconds=60, wait_seconds=0.1) is None
        with runtime.log.database.reading() as connection:
            second.check(connection, [])
            with pytest.raises(StreamConflict):
                first.check(connection, [])
        second.release()
        third = claims.take(runtime, "x", seconds=60)
        assert third is not None
        assert third.fence > second.fence


def test_a_summary_is_made_anew_from_its_originals_and_can_be_taken_back(tmp_path: Path) -> None:
    # given a session that was compacted, and then again
    seen: list[Any] = []

    def spy(request: Any) -> Any:
        seen.append(request)
        return ExtractiveSummarizer().summarize(request)

    with Minutebook.open(tmp_path, settings=SETTINGS, summarizer=spy) as book:
        session = long_session(book)
        first = session.compact()
        assert first.status == "committed"
        assert session.compact().status == "not_needed"
        # when it is compacted from the originals
        again = session.compact(from_originals=True)
        # then the summariser read the messages themselves and no summary, and exactly one summary is live
        assert again.status == "committed"
        assert seen[-1].earlier is None
        assert {material.id for material in seen[-1].messages} == set(again.hidden) == set(first.hidden)
        assert [row.status for row in session.compactions()] == ["superseded", "committed"]
        shown = [message for message in session.context().messages if message["state"] == "summary"]
        assert len(shown) == 1
        # and an undo brings the first summary back
        book.undo_compaction(again.compaction)
        assert [row.status for row in session.compactions()] == ["committed", "undone"]


def test_who_looked_before_another_was_done_looks_again_and_asks_for_no_summary(tmp_path: Path) -> None:
    """Given a compaction between the look of a second compressor and its claim, then no summary is thrown away."""
    asked: list[str] = []

    def spy(request: Any) -> Any:
        asked.append("second")
        return ExtractiveSummarizer().summarize(request)

    with (
        Minutebook.open(tmp_path, settings=SETTINGS) as first,
        Minutebook.open(tmp_path, settings=SETTINGS, summarizer=spy) as second,
    ):
        long_session(first)
        session = second.session("s")
        take = claims.take

        def late(*arguments: Any, **named: Any) -> Any:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(claims, "take", take)
                if not first.session("s").compactions():
                    assert first.session("s").compact().status == "committed"
            return take(*arguments, **named)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(claims, "take", late)
            answer = session.compact()
        assert answer.status in ("not_needed", "committed")
        assert [row.status for row in session.compactions() if row.status == "rejected"] == []
        assert len(asked) == sum(row.status == "committed" for row in session.compactions()) - 1


def test_threads_that_append_and_ask_in_one_run_never_stand_in_each_others_way(tmp_path: Path) -> None:
    # given one run that four threads of an agent share
    failures: list[BaseException] = []
    with Minutebook.open(tmp_path, settings=SETTINGS, automatic=False) as book, book.session("s").run() as run:

        def work(name: str) -> None:
            for turn in range(8):
                try:
                    run.append({"role": "assistant", "content": f"{name} {turn} " + "word " * 20})
                    run.context(system=f"You are {name}.")
                except BaseException as error:
                    failures.append(error)

        # when all of them append and ask at once
        threads = [threading.Thread(target=work, args=(name,)) for name in ("A", "B", "C", "D")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        # then none fails, nothing is lost, memory is frozen once, and what was seen at a position can be proved
        assert failures == []
        session = book.session("s")
        assert len(session.messages()) == 32
        assert len(list(book.log(type="MemoryFrozen"))) == 1
        for position in {event["body"]["seen"] for event in book.log(type="ContextShown")}:
            assert session.context(at=position).proved
