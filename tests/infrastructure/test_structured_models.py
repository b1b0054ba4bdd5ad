"""A model that is asked with a schema, against the server of ``chat_server``: what is sent, and every way to fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import (
    Asked,
    ChatServer,
    Reply,
    Sees,
    Step,
    fails,
    gives,
    knows_no_schema,
    memory_of,
    says,
    schema_of,
    summary_of,
    typed,
    value_of,
)
from model_talk import KEY, MODEL, Prompt, conversation, settings, snapshot

from minutebook import Completion, Minutebook, MinutebookError, Settings
from minutebook.domain.structured import MEMORY_FORM, SUMMARY_FORM
from minutebook.infrastructure.work import calling, models
from minutebook.infrastructure.work.models import ModelCurator, ModelSummarizer

Serve = Callable[..., ChatServer]
WITH_TOOLS = "sambanova:test"
"""Its profile takes tools and no JSON schema."""
BOTH = pytest.mark.parametrize("model", [MODEL, WITH_TOOLS], ids=["schema", "tool"])
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
DECLINED = "the schema was refused: "


def ask(model: str = MODEL, **options: Any) -> Completion:
    return ModelSummarizer(model, **{"back_off_seconds": 0.01, **options}).summarize(Prompt())


def refused(code: str) -> Any:
    return pytest.raises(MinutebookError, check=lambda error: error.code == code)


# --- what is sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["auto", "structured"])
def test_the_schema_goes_beside_the_prompt_and_the_prompt_stays_the_only_message(serve: Serve, output: str) -> None:
    """Given a model that takes a schema, when it is asked, then the prompt is the one message and the schema beside."""
    server = serve(Sees(typed))
    answer = ask(output=output)
    assert server.asked[0]["messages"] == [{"role": "user", "content": "Say it."}]
    sent = server.asked[0]["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"], sent["schema"]) == ("summary", True, SUMMARY_FORM.schema)
    assert "tools" not in server.asked[0]
    assert (answer.output, answer.note, answer.mismatch, answer.finish_reason) == ("native", "", "", "stop")
    assert answer.text == summary_of("Say it.")


def test_a_model_with_tools_alone_must_call_the_one_that_takes_the_answer(serve: Serve) -> None:
    server = serve(Sees(typed))
    answer = ask(WITH_TOOLS)
    assert server.asked[0]["messages"] == [{"role": "user", "content": "Say it."}]
    assert server.asked[0]["tool_choice"] == "required"
    assert [tool["function"]["name"] for tool in server.asked[0]["tools"]] == ["summary"]
    assert schema_of(server.asked[0]) == SUMMARY_FORM.schema
    assert "response_format" not in server.asked[0]
    assert (answer.output, answer.mismatch) == ("tool", "")
    assert answer.text == summary_of("Say it.")


def test_a_provider_that_needs_it_is_told_the_schema_in_words_too(serve: Serve) -> None:
    """Given a profile that wants the schema in its instructions, then the prompt is still a message of its own."""
    server = serve(Sees(typed))
    assert ask("vllm:test").output == "native"
    system, prompt = server.asked[0]["messages"]
    assert (system["role"], prompt) == ("system", {"role": "user", "content": "Say it."})
    assert '"additionalProperties":false' in system["content"].replace(" ", "")
    assert schema_of(server.asked[0]) == SUMMARY_FORM.schema


@BOTH
def test_a_curator_is_asked_for_an_object_and_answers_the_strict_array(serve: Serve, model: str) -> None:
    server = serve(Sees(lambda asked: gives(asked, {"entries": ["one", "two"]})))
    assert ModelCurator(model).curate(Prompt()).text == '["one", "two"]'
    assert schema_of(server.asked[0]) == MEMORY_FORM.schema


@BOTH
def test_text_is_text_whatever_the_model_takes(serve: Serve, model: str) -> None:
    server = serve(says('{"goal": []}'))
    answer = ask(model, output="text")
    assert schema_of(server.asked[0]) is None
    assert (answer.text, answer.output, answer.mismatch) == ('{"goal": []}', "text", "")


def test_a_model_that_takes_neither_is_asked_for_text_or_refused_at_once(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a profile without schema and tools, then ``structured`` is refused when it is chosen."""
    monkeypatch.setenv("SNOWFLAKE_ACCOUNT", "local")
    monkeypatch.setenv("SNOWFLAKE_TOKEN", KEY)
    assert ModelSummarizer("snowflake:mistral-7b").name == "snowflake:mistral-7b"
    with refused("model_unusable") as caught:
        ModelSummarizer("snowflake:mistral-7b", output="structured")
    assert "set its output to auto or text" in str(caught.value)


def test_an_unknown_way_to_ask_is_refused(serve: Serve, tmp_path: Path) -> None:
    serve()
    with refused("bad_setting"):
        ModelSummarizer(MODEL, output="json")  # type: ignore[arg-type]
    with refused("bad_setting"):
        Settings.load(tmp_path, environ={"MINUTEBOOK_SUMMARIZER_OUTPUT": "json"})


# --- a server that does not know schemas ---------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("status", sorted(models.SCHEMA_REFUSED))
def test_a_server_that_knows_no_schema_is_asked_once_more_for_text_and_that_is_remembered(
    serve: Serve, model: str, status: int
) -> None:
    """Given a server that refuses what is beside the prompt, when it is asked twice, then the second time for text."""
    server = serve(knows_no_schema(status))
    summarizer = ModelSummarizer(model)
    first, second = summarizer.summarize(Prompt()), summarizer.summarize(Prompt())
    assert first == second
    assert (first.text, first.output, first.mismatch) == (summary_of("Say it."), "text", "")
    assert first.note.startswith(DECLINED)
    assert "unknown field 'response_format'" in first.note
    assert [schema_of(asked) is None for asked in server.asked] == [False, True, True]
    assert ModelSummarizer(model).summarize(Prompt()) == first, "another object finds out for itself"
    assert len(server.asked) == 5


@pytest.mark.parametrize(("status", "code"), [(400, "context_length_exceeded"), (404, "model_not_found")])
def test_a_refusal_that_is_not_about_the_schema_is_told_and_not_remembered(
    serve: Serve, status: int, code: str
) -> None:
    """Given a request that is refused as text too, then its reason is told, and the next one has a schema again."""
    server = serve(fails(status, f"because of {code}", code=code))
    summarizer = ModelSummarizer(MODEL)
    for _ in range(2):
        with pytest.raises(models.ModelRefused, match=code):
            summarizer.summarize(Prompt())
    assert [schema_of(asked) is None for asked in server.asked] == [False, True, False, True]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_bad_key_is_asked_once(serve: Serve, status: int) -> None:
    server = serve(fails(status, "no credit"))
    with pytest.raises(models.ModelRefused, match="no credit"):
        ask()
    assert len(server.asked) == 1


def test_settings_that_the_library_refuses_are_a_refusal_and_nothing_is_sent(serve: Serve) -> None:
    server = serve(Sees(typed))
    with pytest.raises(models.ModelRefused, match="tool_choice"):
        ask(settings={"tool_choice": "required"})
    assert server.asked == []


def test_who_insists_on_a_schema_is_told_what_to_set(serve: Serve) -> None:
    server = serve(knows_no_schema())
    with pytest.raises(models.ModelRefused, match=r"unknown field .*; .* set the output to auto or text"):
        ask(output="structured")
    assert len(server.asked) == 1


def test_a_busy_server_is_asked_again_with_the_schema_and_each_way_has_its_attempts(serve: Serve) -> None:
    busy = fails(429, "slow down")
    server = serve(busy, fails(503), fails(400, "what schema?"), busy, busy, says("Said."))
    assert ask(attempts_max=3).text == "Said."
    assert [schema_of(asked) is None for asked in server.asked] == [False, False, False, True, True, True]


def test_both_ways_together_end_at_the_deadline(serve: Serve) -> None:
    slow = Reply(fails(400).body, 400, seconds=0.4)
    serve(slow, says("Too late.", seconds=30))
    began = time.monotonic()
    with pytest.raises(calling.TimedOut, match=r"1 seconds"):
        ask(seconds=1.0)
    assert time.monotonic() - began < 100


# --- a summary through a book ------------------------------------------------------------------------


@BOTH
def test_a_typed_summary_is_committed_and_paid_as_a_text_is(serve: Serve, tmp_path: Path, model: str) -> None:
    """Given the same notes as a value and as text, when both are committed, then they are the same byte for byte."""
    bodies = {}
    for output, answer in (("structured", Sees(typed)), ("text", lambda prompt: says(summary_of(prompt)))):
        serve(answer)
        chosen = settings(summarizer_model=model, summarizer_output=output)
        with Minutebook.open(tmp_path / output, settings=chosen, automatic=False) as book:
            book.session("s").append(conversation())
            assert book.session("s").compact().status == "committed"
            assert book.usage()["compressor"] == {"input_tokens": 1_000, "output_tokens": 200}
            assert book.usage()["runs"] == {"input_tokens": 0, "output_tokens": 0}
            body = next(book.log(type="CompactionCommitted"))["body"]
            bodies[output] = (book.session("s").compactions()[0].text, body["usage"])
            way = "text" if output == "text" else "native" if model == MODEL else "tool"
            assert body["payload"]["asked"] == {"output": way}
            assert book.verify().ok
    assert bodies["structured"] == bodies["text"]
    assert "Never push to main without my approval" in str(bodies["structured"][0])


def test_why_a_model_was_asked_for_text_is_on_record_in_every_summary(serve: Serve, tmp_path: Path) -> None:
    """Given a server that knows no schema, when a range is summarised in chunks, then the event says why it is text."""
    server = serve(knows_no_schema())
    with Minutebook.open(tmp_path, settings=settings(summarizer_input_tokens=1_500), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "committed"
        asked = next(book.log(type="CompactionCommitted"))["body"]["payload"]["asked"]
        assert asked["output"] == "text"
        assert asked["note"].startswith(DECLINED)
        answered = len(server.asked) - 1
        assert answered > 1
        assert sum(schema_of(sent) is not None for sent in server.asked) == 1, (
            "asked with a schema once, and never more"
        )
        assert book.usage()["compressor"] == {"input_tokens": 1_000 * answered, "output_tokens": 200 * answered}


def test_neither_a_key_nor_half_a_character_gets_into_the_reason(serve: Serve, tmp_path: Path) -> None:
    """Given a refusal that quotes the key and is no valid text, then its words are on record without both."""

    def step(asked: Asked) -> Reply:
        if schema_of(asked) is not None:
            return fails(400, f"the key {KEY} \ud800 may not use schemas")
        return says(summary_of(asked["messages"][-1]["content"]))

    serve(Sees(step))
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "committed"
        note = next(book.log(type="CompactionCommitted"))["body"]["payload"]["asked"]["note"]
        assert "may not use schemas" in note
        assert KEY not in note


def test_a_server_that_passes_over_the_schema_is_taken_by_its_text(serve: Serve, tmp_path: Path) -> None:
    """Given a server that ignores what it does not know, when its text is good, then ``auto`` takes it and says so."""
    serve()
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "committed"
        asked = next(book.log(type="CompactionCommitted"))["body"]["payload"]["asked"]
        assert asked == {"output": "native", "note": "a schema went beside the prompt, and the answer came as text"}


def changed(change: Callable[[dict[str, Any]], Any]) -> Sees:
    """A good typed answer after ``change``, which gives another value or the text that stands in its place."""
    return Sees(lambda asked: gives(asked, change(value_of(asked))))


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda value: {key: items for key, items in value.items() if key != name}


def cut_on_the_way(asked: Asked) -> Reply:
    whole = typed(asked).body
    return Reply(whole[: len(whole) // 2], missing=len(whole) - len(whole) // 2)


FAULTS: dict[str, tuple[Step, str, list[str]]] = {
    "malformed": (changed(lambda value: json.dumps(value)[:-40]), "rejected", ["schema_mismatch"]),
    "section missing": (changed(without("state")), "rejected", ["schema_mismatch"]),
    "name too many": (changed(lambda value: {**value, "next": []}), "rejected", ["schema_mismatch"]),
    "name twice": (changed(lambda value: json.dumps(value)[:-1] + ', "goal": []}'), "rejected", ["schema_mismatch"]),
    "other type": (changed(lambda value: {**value, "goal": "mend it"}), "rejected", ["schema_mismatch"]),
    "trailing words": (changed(lambda value: json.dumps(value) + " Done."), "rejected", ["schema_mismatch"]),
    "all empty": (changed(lambda value: {name: [] for name in value}), "rejected", ["empty"]),
    "demand left out": (
        changed(lambda value: {**value, "goal": [], "constraints": []}),
        "rejected",
        ["coverage_missing"],
    ),
    "length": (
        Sees(lambda asked: gives(asked, json.dumps(value_of(asked))[:-40], finish_reason="length")),
        "rejected",
        ["schema_mismatch", "truncated"],
    ),
    "length, and whole": (
        Sees(lambda asked: gives(asked, value_of(asked), finish_reason="length")),
        "rejected",
        ["truncated"],
    ),
    "nothing": (says(""), "rejected", ["empty"]),
    "no content": (says(None), "rejected", ["empty"]),
    "cut on the way": (Sees(cut_on_the_way), "failed", ["ModelUnavailable"]),
    "schema refused": (fails(400, "what schema?"), "failed", ["ModelRefused"]),
}


@BOTH
@pytest.mark.parametrize("output", ["auto", "structured"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_typed_answer_with_a_fault_leaves_the_context_as_it_was_and_one_event(
    serve: Serve, tmp_path: Path, model: str, output: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an answer with one fault, when a summary is asked for, then every byte stays and one event says why."""
    step, status, reasons = FAULTS[name]
    monkeypatch.setattr(models, "BACK_OFF_SECONDS_MAX", 0.02)
    serve(step)
    chosen = settings(summarizer_model=model, summarizer_output=output)
    with Minutebook.open(tmp_path, settings=chosen, automatic=False) as book:
        book.session("s").append(conversation())
        before, head = snapshot(book), book.head
        answer = book.session("s").compact()
        assert answer.status == status
        assert snapshot(book) == before
        recorded = [found for found in book.log(after=head) if found["type"] != "MemoryFrozen"]
        assert len(recorded) == 1
        body = recorded[0]["body"]
        assert body.get("reasons", [body.get("error")]) == reasons
        if status == "rejected":
            assert book.usage()["compressor"] == {"input_tokens": 1_000, "output_tokens": 200}
            asked = body["payload"]["asked"]
            assert asked["output"] == ("native" if model == MODEL else "tool")
            assert ("mismatch" in asked) == ("schema_mismatch" in reasons)


@pytest.mark.parametrize(
    ("output", "reasons"), [("auto", {"empty", "truncated"}), ("structured", {"schema_mismatch", "truncated"})]
)
def test_a_refusal_is_no_answer_in_any_way_of_asking(
    serve: Serve, tmp_path: Path, output: str, reasons: set[str]
) -> None:
    serve(says(None, refusal="I cannot help with that."))
    with Minutebook.open(tmp_path, settings=settings(summarizer_output=output), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "rejected"
        body = next(book.log(type="CompactionRejected"))["body"]
        assert set(body["reasons"]) == reasons
        assert body["payload"]["summary"] == "I cannot help with that."
        assert book.usage()["compressor"] == {"input_tokens": 1_000, "output_tokens": 200}


def test_who_insists_on_a_schema_gets_no_text_instead(serve: Serve, tmp_path: Path) -> None:
    serve()
    with Minutebook.open(tmp_path, settings=settings(summarizer_output="structured"), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().reason == "schema_mismatch"


def test_two_calls_are_no_answer(serve: Serve) -> None:
    def twice(asked: Asked) -> Reply:
        one = json.loads(typed(asked).body)
        one["choices"][0]["message"]["tool_calls"] *= 2
        return Reply(json.dumps(one).encode())

    serve(Sees(twice))
    assert ask(WITH_TOOLS).mismatch == "2 calls instead of one"


def test_another_way_of_asking_ends_the_rest_after_failures(serve: Serve, tmp_path: Path) -> None:
    """Given two failures after which the compressor rests, when text is chosen, then it asks again at once (C10)."""
    server = serve(knows_no_schema())
    with Minutebook.open(tmp_path, settings=settings(summarizer_output="structured"), automatic=False) as book:
        session = book.session("s")
        session.append(conversation())
        with session.run() as run:
            for _ in range(4):
                run.context()
        assert len(server.asked) == 2, "two attempts, then it rests"
    with (
        Minutebook.open(tmp_path, settings=settings(summarizer_output="text"), automatic=False) as book,
        book.session("s").run() as run,
    ):
        context = run.context()
        assert [message["state"] for message in context.messages].count("summary") == 1


# --- a curation through a book -----------------------------------------------------------------------


def curated(tmp_path: Path, **given: Any) -> tuple[Any, list[str], dict[str, Any]]:
    """Proposes a fact and curates once: the answer, the entries, and the payload of the event that decided."""
    with Minutebook.open(tmp_path, settings=Settings(**{"curator_model": MODEL, **given}), automatic=False) as book:
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        answer = book.curate()
        kind = "RevisionPrepared" if answer.status == "committed" else "CurationRejected"
        assert book.usage()["curator"] == {"input_tokens": 1_000, "output_tokens": 200}
        return answer, [entry.text for entry in book.memory.entries()], next(book.log(type=kind))["body"]["payload"]


@BOTH
def test_a_typed_memory_is_committed_and_how_it_was_asked_is_on_record(
    serve: Serve, tmp_path: Path, model: str
) -> None:
    serve(Sees(typed))
    answer, entries, payload = curated(tmp_path, curator_model=model, curator_output="structured")
    assert (answer.status, entries) == ("committed", ["The build needs make 4.3 or newer."])
    assert payload["asked"] == {"output": "native" if model == MODEL else "tool"}


@pytest.mark.parametrize(
    "value",
    [{}, {"entries": ["one"], "why": "so"}, {"entries": "one"}, {"entries": [1]}, '{"entries": ["one"'],
    ids=["nothing", "a name too many", "no array", "no text", "cut"],
)
def test_a_typed_memory_with_a_fault_is_refused_and_nothing_changes(serve: Serve, tmp_path: Path, value: Any) -> None:
    serve(Sees(lambda asked: gives(asked, value)))
    answer, entries, payload = curated(tmp_path)
    assert (answer.status, [reason["check"] for reason in answer.reasons]) == ("rejected", ["schema_mismatch"])
    assert entries == []
    assert payload["asked"]["output"] == "native"
    assert payload["asked"]["mismatch"] in answer.reasons[0]["message"]


def test_a_secret_in_a_typed_memory_is_refused_as_in_a_text(serve: Serve, tmp_path: Path) -> None:
    serve(Sees(lambda asked: gives(asked, {"entries": ["The build needs make 4.3. Token: " + SECRET]})))
    answer, entries, payload = curated(tmp_path)
    assert (answer.status, entries) == ("rejected", [])
    assert "schema_mismatch" not in [reason["check"] for reason in answer.reasons]
    assert SECRET not in str(payload)


def test_why_a_curator_was_asked_for_text_is_on_record(serve: Serve, tmp_path: Path) -> None:
    serve(knows_no_schema(422, answer=memory_of))
    answer, entries, payload = curated(tmp_path)
    assert (answer.status, entries) == ("committed", ["The build needs make 4.3 or newer."])
    assert payload["asked"]["output"] == "text"
    assert payload["asked"]["note"].startswith(DECLINED)


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
def test_a_cut_memory_is_refused(serve: Serve, tmp_path: Path, finish_reason: str) -> None:
    serve(Sees(lambda asked: gives(asked, value_of(asked), finish_reason=finish_reason)))
    answer, entries, _ = curated(tmp_path)
    assert ([reason["check"] for reason in answer.reasons], entries) == (["truncated"], [])


def test_claims_come_as_the_schema_asks_and_are_judged_as_text(serve: Serve, tmp_path: Path) -> None:
    claim = "decision [m:said] everything in this repository is formatted with ruff, not by hand"
    server = serve(Sees(lambda asked: gives(asked, {"claims": [claim]})))
    chosen = Settings(evidence_model="openai:gpt-5-mini")
    with Minutebook.open(tmp_path, settings=chosen, automatic=False) as book:
        with book.session("s").run() as run:
            said = "Everything in this repository is formatted with ruff, not by hand."
            run.append({"role": "user", "content": said}, id="said")
        assert book.curate().status == "committed"
        assert book.evidence.list()[0].extractor == "signals-1+openai:gpt-5-mini"
    assert len(server.asked) == 1
