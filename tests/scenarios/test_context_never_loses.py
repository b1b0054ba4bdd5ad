"""What goes wrong around a summary, and that it costs nothing: the failure classes of C1 to C10 and of the peers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook import (
    CompactionFailed,
    CompactionNeeded,
    Completion,
    ContextWindowExceeded,
    ExtractiveSummarizer,
    Minutebook,
    MinutebookError,
    Settings,
)
from minutebook.domain.context import Preamble, build
from minutebook.domain.legality import check_anthropic, check_openai, check_openai_responses

PI = "transcripts/pi/before-compaction.jsonl"


def extract(request: Any) -> str:
    return ExtractiveSummarizer().summarize(request).text


def snapshot(book: Minutebook, session: str) -> bytes:
    """The context as bytes, and every original: what a failure may not change."""
    opened = book.session(session)
    context = opened.context(window=1_000_000)
    moving = {"position", "memory_frozen", "proved"}
    answer = {name: value for name, value in context.answer().items() if name not in moving}
    return json.dumps([answer, context.to_openai(), list(map(dict, opened.messages()))], default=str).encode()


def filled(place: Path, messages: list[dict[str, Any]], **options: Any) -> Minutebook:
    book = Minutebook.open(place, automatic=False, **options)
    book.session("s").append(messages, id="m")
    return book


# --- failing summarisers -----------------------------------------------------------------------------


def raises(request: Any) -> str:
    raise RuntimeError("the provider is gone")


def interrupted(request: Any) -> str:
    raise SystemExit(3)


def sleeps(request: Any) -> str:
    threading.Event().wait(3)
    return extract(request)


FAILING: dict[str, Callable[[Any], Any]] = {
    "raises": raises,
    "exits": interrupted,
    "too late": sleeps,
    "empty": lambda request: "",
    "blank": lambda request: " \n\t\n",
    "only thinking": lambda request: "<think>I should write a summary now.</think>",
    "a polite opening": lambda request: "Sure! Here is the summary:",
    "half": lambda request: extract(request)[: len(extract(request)) // 2],
    "mid-heading": lambda request: extract(request).rpartition("## ")[0] + "## Cri",
    "cut off by the provider": lambda request: Completion(extract(request), finish_reason="length"),
    "None": lambda request: None,
    "bytes": lambda request: b"bytes",
    "a list": lambda request: ["text"],
    "a number": lambda request: 42,
    "a megabyte": lambda request: extract(request) + "\n- " + "word " * 250_000,
    "longer than its input": lambda request: extract(request) + "\n" + "\n".join(
        f"- fact {number} that nobody said" for number in range(3_000)
    ),
    "headings only": lambda request: "\n".join(request.sections),
    "raw payload": lambda request: extract(request) + "\n- " + request.payloads[0][:400],
    "an echo": lambda request: extract(request) + "\n- " + request.instructions[:400],
    "foreign sources": lambda request: extract(request) + "\n- see [@999999]",
    "no coverage": lambda request: "\n".join(f"{heading}\n- nothing to say here" for heading in request.sections),
    "surrogates": lambda request: "\ud800" * 50,
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_a_summary_that_fails_changes_nothing_and_leaves_one_event(place: Path, conversation: Any, name: str) -> None:
    settings = Settings(context_window=8_000, summarizer_timeout_seconds=1.0)
    with filled(place, conversation(12), settings=settings, summarizer=FAILING[name]) as book:
        before, head = snapshot(book, "s"), book.head
        outcome = book.session("s").compact()
        assert outcome["status"] in ("rejected", "failed")
        assert outcome["reason"]
        assert outcome["hidden"] == []
        assert outcome["tokens_before"] == outcome["tokens_after"]
        events = [event["type"] for event in book.log(after=head)]
        assert events == ["CompactionFailed" if outcome["status"] == "failed" else "CompactionRejected"]
        assert snapshot(book, "s") == before
        assert book.session("s").compactions()[-1]["reason"] == outcome["reason"]
    with Minutebook.open(place, read_only=True) as book:
        assert snapshot(book, "s") == before


def test_what_was_refused_stands_in_the_event(place: Path, conversation: Any, small: Settings) -> None:
    with filled(place, conversation(12), settings=small, summarizer=lambda request: "Sure! Here it is.") as book:
        book.session("s").compact()
        event = next(event for event in book.log(type="CompactionRejected"))
        assert event["body"]["payload"]["summary"] == "Sure! Here it is."
        assert event["body"]["reasons"] == ["empty"]


def test_a_request_that_fits_is_given_unchanged_when_the_attempt_fails(place: Path, conversation: Any) -> None:
    settings = Settings(context_window=30_000, compaction_threshold=0.5)
    calls: list[int] = []

    def fails(request: Any) -> str:
        calls.append(1)
        return ""

    with filled(place, conversation(35, noise="word " * 280), settings=settings, summarizer=fails) as book:
        with book.session("s").run() as run:
            run.append({"role": "user", "content": "And?"})
            context = run.context()
        assert calls
        assert [message["state"] for message in context.messages] == ["original"] * 141


def test_a_request_that_does_not_fit_is_an_error_with_a_mend_and_nothing_changed(place: Path) -> None:
    talk = [{"role": ("user", "assistant")[n % 2], "content": f"{n}: " + "speech " * 150} for n in range(80)]
    with filled(place, talk, settings=Settings(context_window=8_000), summarizer=raises) as book:
        before = snapshot(book, "s")
        with book.session("s").run() as run:
            with pytest.raises(CompactionFailed) as caught:
                run.context()
            assert caught.value.code == "compaction_failed"
            assert "larger window" in caught.value.message
            with pytest.raises(CompactionNeeded):
                book.session("s").context()
        assert snapshot(book, "s") == before


# --- the loop breaker (C10) --------------------------------------------------------------------------


def test_twenty_requests_ask_a_failing_summariser_twice_and_again_after_growth(place: Path) -> None:
    calls: list[int] = []

    def fails(request: Any) -> str:
        calls.append(1)
        raise RuntimeError

    talk = [{"role": ("user", "assistant")[n % 2], "content": f"{n}: " + "speech " * 100} for n in range(60)]
    settings = Settings(context_window=20_000)
    with filled(place, talk, settings=settings, summarizer=fails) as book, book.session("s").run() as run:
        for _ in range(20):
            run.context()
        assert len(calls) == 2
        assert "s: 2 failed" in book.status()["compaction_note"]
        # Under a tenth more: it rests on; then it is asked once more.
        run.append({"role": "assistant", "content": "speech " * 300})
        run.context()
        assert len(calls) == 2
        run.append([{"role": "assistant", "content": "speech " * 1_200}])
        run.context()
        assert len(calls) >= 3
    with Minutebook.open(place, settings=settings, summarizer=fails, automatic=False) as book:
        calls.clear()
        with book.session("s").run() as run:
            for _ in range(5):
                run.context()
        assert len(calls) <= 1
    other = Settings(context_window=20_000, summary_tokens_max=3_000)
    with Minutebook.open(place, settings=other, summarizer=fails, automatic=False) as book:
        calls.clear()
        with book.session("s").run() as run:
            run.context()
        assert len(calls) == 1, "another setting is a reason to try again"


def test_a_success_ends_the_failures(place: Path, conversation: Any, small: Settings) -> None:
    answers = iter(["", ""])
    with filled(place, conversation(12), settings=small, summarizer=lambda r: next(answers, extract(r))) as book:
        assert book.session("s").compact()["status"] == "rejected"
        assert book.session("s").compact()["status"] == "rejected"
        assert book.session("s").compact()["status"] == "committed"
        assert book.status()["compaction_note"] is None


# --- meanwhile (C6) ----------------------------------------------------------------------------------


def test_a_message_that_arrives_while_the_summary_is_made_is_neither_lost_nor_hidden(
    place: Path, conversation: Any, small: Settings
) -> None:
    def summarise(request: Any) -> str:
        book.session("s").append({"role": "user", "content": "what time is it?"}, id="late")
        return extract(request)

    with filled(place, conversation(12), settings=small, summarizer=summarise) as book:
        outcome = book.session("s").compact()
        assert outcome["status"] == "committed"
        assert "late" not in outcome["hidden"]
        assert book.session("s").messages()[-1].state == "original"
        assert book.session("s").context().messages[-1]["content"] == "what time is it?"


def covered_once(book: Minutebook, session: str) -> None:
    """Every message is visible or covered by exactly one live summary, never both."""
    opened = book.session(session)
    lines = opened.context(window=10_000_000).messages
    covers = [name for line in lines if line["state"] == "summary" for name in line["covers"]]
    visible = [line["id"] for line in lines if line["state"] in ("original", "reduced")]
    assert len(covers) == len(set(covers))
    assert not set(covers) & set(visible)
    assert set(covers) | set(visible) == {message.id for message in opened.messages()}
    live = {row["compaction"]: row for row in opened.compactions() if row["status"] == "committed"}
    for message in opened.messages():
        assert (message.state == "compacted") == (message.id in covers)
        if message.state == "compacted":
            assert message.covered_by in live
            assert message.id in live[message.covered_by]["hidden"]


# --- what is protected (C2, C8) ----------------------------------------------------------------------


def test_the_protected_messages_are_the_same_before_and_after(place: Path, conversation: Any, small: Settings) -> None:
    with filled(
        place, [{"role": "system", "content": "Never touch ledger/."}, *conversation(12)], settings=small
    ) as book:
        session = book.session("s")
        given = {message.id: dict(message) for message in session.messages()}
        with session.run() as run:
            asked = [
                run.append({"role": "user", "content": f"Question {number}?"}, id=f"q{number}") for number in range(3)
            ]
            assert asked
            context = run.context()
        shown = {line["id"]: line for line in context.messages}
        assert any(line["state"] == "summary" for line in context.messages)
        for name in ("m-0", "m-1", "m-2", "m-44", "m-45", "m-47", "m-48", "q0", "q1", "q2"):
            assert shown[name]["state"] in ("original", "reduced"), name
        for name in ("m-0", "m-1", "q0", "q1", "q2"):
            assert shown[name]["content"] == given.get(name, {"content": f"Question {name[-1]}?"})["content"]
        covered_once(book, "s")


def test_the_open_run_is_never_summarised(place: Path, conversation: Any) -> None:
    with Minutebook.open(place, settings=Settings(context_window=8_000), automatic=False) as book:
        session = book.session("s")
        with session.run() as run:
            run.append(conversation(6), id="mine")
            context = run.context()
            assert context.tokens <= context.window - context.reserve
            assert all(line["state"] != "summary" for line in context.messages)
            assert {line["id"] for line in context.messages} == {f"mine-{number}" for number in range(24)}
            assert any(line["state"] == "reduced" for line in context.messages)


def test_a_pending_call_stays_verbatim_until_its_answer(place: Path, conversation: Any, small: Settings) -> None:
    pending = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "wait", "type": "function", "function": {"name": "approve", "arguments": '{"n": 1}'}}],
    }
    with filled(place, conversation(12), settings=small) as book:
        session = book.session("s")
        session.append(pending, id="pending")
        assert session.compact()["status"] == "committed"
        lines = session.context().messages
        assert next(line for line in lines if line["id"] == "pending")["state"] == "original"
        assert any(line["state"] == "synthetic" for line in lines)
        session.append({"role": "tool", "tool_call_id": "wait", "content": "approved"}, id="answer")
        lines = session.context().messages
        assert not any(line["state"] == "synthetic" for line in lines)
        assert [line["id"] for line in lines][-2:] == ["pending", "answer"]


def test_a_huge_newest_result_is_reduced_not_refused(place: Path, small: Settings) -> None:
    """Given a tool result of five megabytes at the very end, the request still fits, and the original comes back."""
    huge = "".join(f"{number:07d} some output\n" for number in range(250_000))
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '{"command": "make"}'}}
    with Minutebook.open(place, settings=small, automatic=False) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Build it."})
        run.append({"role": "assistant", "content": None, "tool_calls": [call]})
        position = run.append({"role": "tool", "tool_call_id": "c", "content": huge}, id="huge")
        context = run.context()
        line = next(line for line in context.messages if line["id"] == "huge")
        assert line["state"] == "reduced"
        assert context.tokens <= context.window - context.reserve
        said = json.dumps(line["content"])
        assert "make" in said
        assert str(position) in said
        assert not re.search(r"\b(error|failed|unavailable)\b", said, re.IGNORECASE)
        assert book.session("s").messages()[-1]["content"] == huge


def test_a_window_smaller_than_the_system_prompt_is_refused_with_the_sizes(place: Path, small: Settings) -> None:
    with filled(place, [{"role": "user", "content": "Hi."}], settings=small) as book, book.session("s").run() as run:
        with pytest.raises(ContextWindowExceeded) as caught:
            run.context(system="rule " * 30_000)
        assert caught.value.details["protected_tokens"] >= caught.value.details["preamble_tokens"] > 8_000
        assert f"{caught.value.details['preamble_tokens']:,}" in caught.value.message


def test_switched_off_it_neither_reduces_nor_summarises(place: Path, conversation: Any) -> None:
    settings = Settings(context_window=8_000, compaction_enabled=False)
    with filled(place, conversation(12), settings=settings, summarizer=raises) as book:
        with book.session("s").run() as run:
            with pytest.raises(ContextWindowExceeded, match="compaction_enabled"):
                run.context()
            run.memory({"operation": "add", "text": "Memory goes on without compaction."})
        assert book.curate()["status"] == "committed"
        assert not book.session("s").compactions()


# --- undo, redo, again (C7) --------------------------------------------------------------------------


def grow(book: Minutebook, conversation: Any, round_: int) -> str:
    session = book.session("s")
    session.append([{**message} for message in conversation(8)], id=f"r{round_}")
    outcome = session.compact()
    assert outcome["status"] == "committed", outcome
    return str(outcome["compaction"])


def test_undo_and_redo_go_to_any_depth_and_keep_what_came_later(
    place: Path, conversation: Any, small: Settings
) -> None:
    def shown() -> list[tuple[str, str]]:
        lines = book.session("s").context(window=1_000_000).messages
        return [(line["state"], json.dumps(line["content"])) for line in lines]

    with Minutebook.open(place, settings=small, automatic=False) as book:
        states, made = [], []
        for round_ in range(3):
            made.append(grow(book, conversation, round_))
            states.append(shown())
        book.session("s").append({"role": "user", "content": "Later."}, id="later")
        later = shown()
        for depth in (2, 1):
            with pytest.raises(MinutebookError, check=lambda error: error.code == "not_live"):
                book.undo_compaction(made[depth - 1])
            book.undo_compaction(made[depth])
            covered_once(book, "s")
            assert shown()[-1] == later[-1]
        book.undo_compaction(made[0])
        assert all(state != "summary" for state, _ in shown())
        assert len(shown()) == len(book.session("s").messages())
        with pytest.raises(MinutebookError, check=lambda error: error.code == "not_live"):
            book.undo_compaction(made[0])
        for compaction in made:
            book.redo_compaction(compaction)
            covered_once(book, "s")
        assert shown() == later
        with pytest.raises(MinutebookError, check=lambda error: error.code == "not_undone"):
            book.redo_compaction(made[0])
        book.undo_compaction(made[2])
        anew = book.session("s").compact()
        assert anew["status"] == "committed"
        with pytest.raises(MinutebookError, check=lambda error: error.code == "not_undone"):
            book.redo_compaction(made[2])
        covered_once(book, "s")


def test_after_an_undo_automatic_compaction_rests_until_it_must(place: Path, conversation: Any) -> None:
    settings = Settings(context_window=40_000, compaction_threshold=0.4)
    with filled(place, conversation(12), settings=settings) as book:
        session = book.session("s")
        compaction = session.compact()["compaction"]
        book.undo_compaction(compaction)
        with session.run() as run:
            run.append({"role": "user", "content": "Go on."})
            context = run.context()
        assert all(line["state"] == "original" for line in context.messages)
        session.append(conversation(12))
        with session.run() as run:
            context = run.context()
        assert context.tokens <= context.window - context.reserve


def test_reopening_shows_the_same_context(place: Path, conversation: Any, small: Settings) -> None:
    with filled(place, conversation(12), settings=small) as book:
        book.session("s").compact()
        before = book.session("s").context().digest
    with Minutebook.open(place, settings=small, automatic=False) as book:
        assert book.session("s").context().digest == before


def test_a_constraint_survives_every_compaction(place: Path, conversation: Any, small: Settings) -> None:
    rule = "Never touch the folder ledger, and always ask before you delete a file."
    with Minutebook.open(place, settings=small, automatic=False) as book:
        session = book.session("s")
        session.append(conversation(2), id="start")
        session.append({"role": "user", "content": rule}, id="rule")
        session.append({"role": "assistant", "content": "Understood."}, id="yes")
        for round_ in range(3):
            grow(book, conversation, round_)
            lines = session.context(window=1_000_000).messages
            summaries = [line for line in lines if line["state"] == "summary"]
            assert len(summaries) == 1
            assert "rule" in summaries[0]["covers"]
            assert "Never touch the folder ledger" in json.dumps(summaries[0]["content"])
            covered_once(book, "s")
            assert "history, not a request" in json.dumps(summaries[0]["content"])


def test_a_credential_in_a_tool_result_is_in_no_summary(place: Path, conversation: Any, small: Settings) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    messages = conversation(12)
    messages[6]["content"] = f"token={secret}\n" + messages[6]["content"]
    messages[7]["content"] = f"The token is {secret}, and part 1 needs it."
    with filled(place, messages, settings=small) as book:
        for _ in range(2):
            book.session("s").append(conversation(6))
            book.session("s").compact()
        for event in book.log():
            if event["type"] in ("CompactionCommitted", "ReductionDecided"):
                assert secret not in json.dumps(event["body"])
        assert json.dumps([dict(message) for message in book.session("s").messages()]).count(secret) == 2


# --- broken histories, always legal (C9) -------------------------------------------------------------

BROKEN: dict[str, list[dict[str, Any]]] = {
    "orphan result": [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "r"}],
    "orphan call": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "user", "content": "b"},
    ],
    "starts with the assistant": [{"role": "assistant", "content": "hello"}, {"role": "assistant", "content": "again"}],
    "two results": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "",
         "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "not json"}}]},
        {"role": "tool", "tool_call_id": "x", "content": "r1"},
        {"role": "tool", "tool_call_id": "x", "content": "r2"},
    ],
    "late result": [
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "user", "content": "meanwhile"},
        {"role": "tool", "tool_call_id": "x", "content": "r"},
    ],
    "only a system message": [{"role": "system", "content": "s"}],
    "empty contents": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}],
    "anthropic mixed": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "first"},
                                     {"type": "tool_result", "tool_use_id": "t", "content": "r"}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_makes_a_legal_request(place: Path, name: str) -> None:
    with Minutebook.open(place, automatic=False) as book, book.session("s").run() as run:
        run.append(BROKEN[name])
        run.append({"role": "user", "content": "Go on."})
        legal(run.context(system="S"))


def legal(context: Any) -> None:
    assert check_openai(context.to_openai()) == []
    assert check_openai_responses(context.to_openai_responses()) == []
    assert check_anthropic(context.to_anthropic()) == []


def test_every_window_over_nested_calls_is_legal_or_refused(place: Path, conversation: Any) -> None:
    with filled(place, conversation(8, noise="x " * 300)) as book:
        for window in range(600, 12_000, 700):
            session = book.session("s").fork(id=f"w{window}")
            settings = Settings(context_window=window)
            with Minutebook.open(place, settings=settings, automatic=False) as other:
                try:
                    with other.session(session.id).run() as run:
                        context = run.context()
                except (ContextWindowExceeded, CompactionFailed):
                    continue
                legal(context)
                assert context.tokens <= context.window - context.reserve


TRANSCRIPTS = [
    PI,
    "transcripts/claude-code/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
    "transcripts/claude-code/codemie-session-196820da.jsonl",
    "transcripts/claude-code/tool_heavy.jsonl",
    "transcripts/claude-code/daaain-edge_cases.jsonl",
    "transcripts/claude-code/daaain-representative_messages.jsonl",
    "transcripts/openai-chat/fncall-llm-message.json",
    "transcripts/cline/session.messages.json",
]


def may_refuse(refused: ContextWindowExceeded, window: int) -> None:
    """Only 8k, and only where the protected tokens that are printed exceed what fits."""
    assert window == 8_000, refused
    assert refused.details["protected_tokens"] > window - refused.details["reserve"]


@pytest.mark.parametrize("name", TRANSCRIPTS, ids=lambda name: str(name).rsplit("/", 1)[-1][:30])
def test_real_transcripts_stay_legal_and_whole_at_every_window(place: Path, shared: Any, name: str) -> None:
    """Given a real session, compacted at 200k, then 32k, then 8k: legal, fitting, and every original equal."""
    source = shared(name)
    with Minutebook.open(place, automatic=False) as book:
        imported = book.import_transcript(source)
        name_ = imported["session"]
        originals = [dict(message) for message in book.session(name_).messages()]
        assert len(originals) == imported["messages"] > 0
    for window in (200_000, 32_000, 8_000):
        settings = Settings(context_window=window)
        with Minutebook.open(place, settings=settings, automatic=False) as book:
            session = book.session(name_)
            try:
                if window == 200_000:
                    session.compact()
                with session.run() as run:
                    context = run.context()
            except ContextWindowExceeded as refused:
                may_refuse(refused, window)
                continue
            legal(context)
            assert context.tokens <= window - context.reserve
            covered_once(book, name_)
            assert [dict(message) for message in session.messages()] == originals


def test_nothing_at_all_is_a_request_too() -> None:
    assert build((), Preamble()).messages == []


def test_a_fork_undoes_and_redoes_what_it_shares_and_its_parent_is_not_touched(
    place: Path, conversation: Any, small: Settings
) -> None:
    with filled(place, conversation(12), settings=small) as book:
        parent = book.session("s")
        original = parent.context(window=1_000_000)
        shared = parent.compact()["compaction"]
        fork = parent.fork(id="f")
        fork.append(conversation(12), id="f")
        before = fork.context(window=1_000_000).digest
        own = fork.compact()["compaction"]
        compacted = parent.context().digest

        book.undo_compaction(own)
        assert fork.context(window=1_000_000).digest == before
        undone = book.undo_compaction(shared, session="f")

        assert undone["status"] == "undone"
        shown = fork.context(window=1_000_000)
        assert [message["state"] for message in shown.messages] == ["original"] * 96
        assert shown.messages[:48] == original.messages
        assert parent.context().digest == compacted
        assert book.redo_compaction(shared, session="f")["hidden"]
        assert fork.context(window=1_000_000).digest == before
        assert book.redo_compaction(own)["status"] == "redone"
        with pytest.raises(MinutebookError) as caught:
            book.undo_compaction(own, session="s")
        assert caught.value.code == "not_live"
        with pytest.raises(MinutebookError) as caught:
            book.undo_compaction(shared, session="nowhere")
        assert caught.value.code == "unknown_session"
        digest = fork.context(window=1_000_000).digest
        book.projections.rebuild("context")
        assert fork.context(window=1_000_000).digest == digest
        assert book.verify().ok
