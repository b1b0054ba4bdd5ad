"""Faults that a tester found by trying, each with its whole kind (section 5 of the requirements)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stores import outside

from minutebook import Completion, ExtractiveSummarizer, Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import RunSucceeded, Usage
from minutebook.domain.errors import InputError
from minutebook.domain.message import Trust
from minutebook.infrastructure.book import Session
from minutebook.infrastructure.store.mapper import MinutebookMapper, OrjsonTranscoder

SMALL = Settings(context_window=4_000, protect_recent=3)


def refused(work: Callable[[], Any]) -> str:
    with pytest.raises(MinutebookError) as caught:
        work()
    return caught.value.code


def filled(book: Minutebook) -> Session:
    session = book.session("s")
    for turn in range(12):
        session.append({"role": "user", "content": f"please do {turn} " + "word " * 200})
        session.append({"role": "assistant", "content": "ok " + "bla " * 100})
    return session


@pytest.mark.parametrize("tokens", [2**63, 2**64, 10**30])
def test_usage_beyond_all_bounds_is_refused_and_the_book_goes_on(tmp_path: Path, tokens: int) -> None:
    # given a run that is told a usage which no database can hold
    with Minutebook.open(tmp_path) as book, book.session("s").run() as run:
        code = refused(lambda: run.append({"role": "user", "content": "x"}, usage={"input_tokens": tokens}))
        # then it is refused by name, and the run ends as if nothing had been
        assert code == "bad_usage"
        run.append({"role": "user", "content": "x"}, usage={"input_tokens": 2**40})
    # and the book opens and answers
    with Minutebook.open(tmp_path) as book:
        assert len(book.session("s").messages()) == 1
        assert book.verify().ok


def test_an_event_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    # given an event with a number beyond what every database and reader holds
    with Minutebook.open(tmp_path) as book:
        envelope = book._runtime.envelope(_stream(book), 1, actor="caller")
        event = RunSucceeded(envelope=envelope, usage=Usage(input_tokens=2**62))
        # then it is refused before it stands in the log
        with pytest.raises(InputError) as caught:
            MinutebookMapper(OrjsonTranscoder()).to_stored_event(event)
        assert caught.value.code == "bad_value"


def _stream(book: Minutebook) -> Any:
    from minutebook.domain.streams import runs_stream

    return runs_stream("local", "s")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lease_seconds", float("inf")),
        ("lease_seconds", 1e300),
        ("lock_timeout_seconds", float("nan")),
        ("curator_timeout_seconds", float("inf")),
        ("context_window", 10**30),
        ("memory_path", ".tinyagent/minutebook.lock"),
        ("memory_path", ".tinyagent/minutebook.db-wal"),
        ("memory_path", ".tinyagent/.gitignore"),
    ],
)
def test_a_setting_out_of_all_reason_is_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(MinutebookError) as caught:
        Settings.load(tmp_path, environ={f"MINUTEBOOK_{name.upper()}": str(value)})
    assert caught.value.code == "bad_setting"
    assert name in caught.value.message


def test_what_the_message_of_a_halted_projection_says_can_be_done(tmp_path: Path, command: Any) -> None:
    # given a book whose context projection has halted
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "x"})
        book.projections.list()
    with outside(tmp_path) as database:
        database.exec_driver_sql("UPDATE cursors SET status = 'halted', error = 'position 2' WHERE name = 'context'")
    # then the book opens, memory goes on, the context says why it does not, and retry mends it
    with Minutebook.open(tmp_path, automatic=False) as book:
        assert refused(book.sessions) == "projection_halted"
        assert book.memory.propose({"operation": "add", "text": "The build needs make 4.3."}).status == "admitted"
        assert book.projections.retry("context").status == "live"
        assert len(book.sessions()) == 1


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


def test_an_error_that_cannot_speak_is_a_failure_like_any_other(tmp_path: Path) -> None:
    calls = 0

    def summarise(request: Any) -> str:
        nonlocal calls
        calls += 1
        raise Speechless

    with Minutebook.open(tmp_path, settings=SMALL, summarizer=summarise, curator=summarise, automatic=False) as book:
        session = filled(book)
        with session.run() as run:
            run.append({"role": "user", "content": "go"})
            for _ in range(20):
                assert refused(run.context) == "compaction_failed"
        assert calls == 2
        assert {row.status for row in session.compactions()} == {"failed"}
        book.memory.propose({"operation": "add", "text": "The build needs make 4.3."})
        assert book.curate().status == "failed"


def test_a_completion_takes_usage_and_reasons_in_the_shapes_of_the_sdks(tmp_path: Path) -> None:
    class Reason:
        value = "length"

    def cut_off(request: Any) -> Completion:
        text = ExtractiveSummarizer().summarize(request).text
        return Completion(text, {"prompt_tokens": 7, "completion_tokens": 5}, Reason())  # type: ignore[arg-type]

    with Minutebook.open(tmp_path, settings=SMALL, summarizer=cut_off, automatic=False) as book:
        answer = filled(book).compact()
        assert (answer.status, answer.reason) == ("rejected", "truncated")
        assert book.usage().compressor == {"input_tokens": 7, "output_tokens": 5}


def test_an_id_of_the_shared_history_is_taken_in_a_fork_too(tmp_path: Path) -> None:
    # given a fork of a fork
    with Minutebook.open(tmp_path) as book:
        first = book.session("s").append({"role": "user", "content": "x"}, id="k1")
        fork = book.session("s").fork(id="f").fork(id="g")
        # then the same id again is the message that is there, other content is refused, a new id is new
        assert fork.append({"role": "user", "content": "x"}, id="k1") == first
        assert refused(lambda: fork.append({"role": "user", "content": "other"}, id="k1")) == "message_conflict"
        fork.append({"role": "user", "content": "y"}, id="k2")
        assert [message.id for message in fork.messages()] == ["k1", "k2"]
        # and what the parent recorded after the fork is its own
        book.session("s").append({"role": "user", "content": "later"}, id="k3")
        fork.append({"role": "user", "content": "other"}, id="k3")


def test_names_that_begin_with_an_at_sign_are_not_for_callers(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book:
        book.session("s").append({"role": "user", "content": "x"})
        data = b'{"messages": [{"role": "user", "content": "x"}]}'
        assert refused(lambda: book.session("@person")) == "bad_identifier"
        assert refused(lambda: book.session("s").fork(id="@x")) == "bad_identifier"
        assert refused(lambda: book.import_transcript(data, session="@person")) == "bad_identifier"


def test_half_a_surrogate_pair_in_an_id_comes_back_as_it_was(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book, book.session("s").run() as run:
        call = {"id": "a\ud800", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        said = {"role": "assistant", "content": None, "tool_calls": [call]}
        run.append(said)
        run.append({"role": "tool", "tool_call_id": "a\ud800", "content": "ok"})
        sent = run.context().to_openai()["messages"]
        assert sent[0]["tool_calls"][0]["id"] == sent[1]["tool_call_id"]
        assert book.session("s").messages()[0] == said


def test_a_database_in_memory_is_no_place_for_a_command_to_record_in(command: Any, tmp_path: Path) -> None:
    for url in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
        done = command("--workspace", str(tmp_path), "--database", url, "--json", "memory", "propose", "add", "x y z")
        assert done.code == 1
        assert done.refusal["error"] == "bad_database_url"


def test_a_code_that_is_no_finding_cannot_be_let_pass(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book:
        assert refused(lambda: book.memory.sync(allow=("nonsense",))) == "bad_option"
        assert refused(lambda: book.memory.sync(allow=("control_character",))) == "bad_option"


def test_what_a_curator_says_in_its_own_words_is_marked_shared_and_what_it_passes_over_is_set_aside(
    tmp_path: Path,
) -> None:
    # given a curator with words of its own, and one that takes in one candidate and never the other
    import json

    def rewriting(request: Any) -> str:
        known = [entry.text for entry in request.entries]
        return json.dumps([*known, "GNU make, 4.3 or newer, is wanted here."])

    def picky(request: Any) -> str:
        known = [entry.text for entry in request.entries]
        wanted = [c.operation.text for c in request.candidates if "package" in c.operation.text]
        return json.dumps([*known, *wanted])

    settings = Settings(curation_attempts_max=3)
    with Minutebook.open(tmp_path, settings=settings, curator=rewriting, automatic=False) as book:
        named = book.memory.propose({"operation": "add", "text": "The build needs make 4.3."}).candidate
        assert book.curate().status == "committed"
        (line,) = book.memory.blame()
        assert (line.shared, list(line.candidates)) == (True, [named])  # D4: its blame is the inputs of the job
    with Minutebook.open(tmp_path, settings=settings, curator=picky, automatic=False) as book:
        stubborn = book.memory.propose({"operation": "add", "text": "Releases are cut on Fridays."}).candidate
        for number in range(4):
            book.memory.propose({"operation": "add", "text": f"The package named p{number} needs make 4.{number + 4}."})
            assert book.curate().status == "committed"
        assert stubborn in book.memory.status().set_aside


def test_a_models_word_is_never_trusted_more_than_a_models_word(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path) as book:
        with book.session("s").run() as run:
            named: tuple[Trust, ...] = ("user", "operator", "tool")
            for number, source in enumerate(named):
                text = f"The package named p{number} needs make 4.{number}."
                assert run.memory({"operation": "add", "text": text}, source=source).status == "proposed"
        recorded = [event.trust for event in book.log(type="CandidateProposed")]
        assert recorded == ["model", "model", "tool"]
