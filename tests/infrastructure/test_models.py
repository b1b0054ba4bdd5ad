"""A model by name as summariser and curator, against a real HTTP server that speaks the OpenAI chat protocol."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, a_port_where_nobody_listens, fails, memory_of, says, summary_of
from model_talk import KEY, MODEL, WINDOW, Prompt, conversation, settings, snapshot

from minutebook import CompactionFailed, Completion, ExtractiveSummarizer, Minutebook, MinutebookError, Settings
from minutebook.domain.catalogue import Usage
from minutebook.infrastructure.work import calling, models
from minutebook.infrastructure.work.models import ModelCurator, ModelSummarizer

PACKAGE = Path(__file__).parents[2] / ".package"
Serve = Callable[..., ChatServer]


def refused(code: str) -> Any:
    return pytest.raises(MinutebookError, check=lambda error: error.code == code)


def ask(**options: Any) -> Completion:
    return ModelSummarizer(MODEL, **{"back_off_seconds": 0.01, **options}).summarize(Prompt())


# --- one answer --------------------------------------------------------------------------------------


def test_the_prompt_and_nothing_else_is_sent_where_text_was_chosen(serve: Serve) -> None:
    server = serve(says("Said."))
    answer = ask(output="text")
    assert answer == Completion("Said.", Usage(input_tokens=1_000, output_tokens=200), "stop", output="text")
    assert server.paths == ["/v1/chat/completions"]
    assert server.keys == [f"Bearer {KEY}"]
    sent = dict(server.asked[0])
    assert sent.pop("messages") == [{"role": "user", "content": "Say it."}]
    assert sent.pop("model") == "test"
    assert not {"tools", "response_format", "max_tokens", "temperature"} & sent.keys(), sent


def test_settings_of_the_caller_reach_the_provider(serve: Serve) -> None:
    server = serve(says("Said."))
    ask(settings={"temperature": 0.0})
    assert server.asked[0]["temperature"] == 0.0


def test_a_busy_provider_is_asked_again(serve: Serve) -> None:
    server = serve(fails(429, "slow down"), fails(503, "starting"), says("Said."))
    assert ask().text == "Said."
    assert len(server.asked) == 3


def test_waits_grow_and_the_providers_own_word_counts(serve: Serve) -> None:
    serve(fails(500, retry_after=None), fails(500, retry_after=None), fails(429, retry_after="1"), says("Said."))
    began = time.monotonic()
    assert ask(back_off_seconds=0.2).text == "Said."
    assert 0.1 + 0.2 + 1.0 <= time.monotonic() - began < 100


def test_a_wait_that_would_outlast_the_deadline_is_not_begun(serve: Serve) -> None:
    server = serve(fails(429, "come back tomorrow", retry_after="3600"))
    began = time.monotonic()
    with pytest.raises(models.ModelUnavailable, match="come back tomorrow"):
        ask(seconds=5.0)
    assert time.monotonic() - began < 100
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_provider_that_stays_broken_is_given_up(serve: Serve, status: int) -> None:
    server = serve(fails(status, "broken"))
    with pytest.raises(models.ModelUnavailable, match="broken"):
        ask()
    assert len(server.asked) == models.ATTEMPTS_MAX


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "context_length_exceeded"),
        (422, "bad_parameter"),
        (401, "invalid_api_key"),
        (404, "model_not_found"),
        (429, "insufficient_quota"),
    ],
)
def test_what_no_waiting_mends_is_asked_once(serve: Serve, status: int, code: str) -> None:
    server = serve(fails(status, f"because of {code}", code=code))
    with pytest.raises(models.ModelRefused, match=code):
        ask(output="text")
    assert len(server.asked) == 1


def test_an_answer_that_is_cut_off_on_the_way_is_asked_for_again(serve: Serve) -> None:
    whole = says("Said.")
    cut = Reply(whole.body[:60], missing=len(whole.body) - 60)
    server = serve(cut, whole)
    assert ask().text == "Said."
    assert len(server.asked) == 2
    server.script = (cut,)
    with pytest.raises(models.ModelUnavailable):
        ask(attempts_max=2)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b'{"choices": [{"message": '),
        Reply(b"<html>Welcome to the proxy</html>", content_type="text/html"),
        Reply(b"Said.", content_type="text/plain"),
        Reply(b""),
        Reply(b"[]"),
        Reply(b'"Said."'),
        Reply(b'{"object": "chat.completion"}'),
        Reply(b'{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}'),
        Reply(b"\xff\xfe{}"),
    ],
    ids=["cut JSON", "HTML", "text", "nothing", "list", "string", "no choices", "empty choices", "no UTF-8"],
)
def test_what_is_no_answer_of_this_api_is_named_so(serve: Serve, reply: Reply) -> None:
    server = serve(reply)
    with pytest.raises(models.ModelAnswerUnreadable):
        ask()
    assert len(server.asked) == 1


def test_a_slow_provider_is_given_up_in_time(serve: Serve) -> None:
    serve(says("Too late.", seconds=30))
    began = time.monotonic()
    with pytest.raises(calling.TimedOut, match=r"0\.3 seconds"):
        ask(seconds=0.3)
    assert time.monotonic() - began < 100


def test_a_provider_out_of_reach_is_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{a_port_where_nobody_listens()}/v1")
    with pytest.raises(models.ModelUnavailable, match=r"attempt 2"):
        ask(attempts_max=2)


def test_the_reason_for_ending_is_passed_on(serve: Serve) -> None:
    serve(says("Half of", finish_reason="length"), says("", finish_reason="content_filter"))
    assert ask().finish_reason == "length"
    assert ask().finish_reason == "content_filter"


def test_a_refusal_is_kept_and_is_no_answer(serve: Serve) -> None:
    serve(says(None, refusal="I cannot help with that."))
    answer = ask()
    assert (answer.text, answer.finish_reason) == ("I cannot help with that.", "content_filter")
    assert answer.usage == Usage(input_tokens=1_000, output_tokens=200)


def test_an_absent_usage_is_zero(serve: Serve) -> None:
    serve(says("Said.", usage=None))
    assert ask().usage == Usage()


# --- opening a book ----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["summarizer_model", "curator_model"])
@pytest.mark.parametrize("name", ["gpt-5-mini", ":", "openai:", ":test"])
def test_a_name_without_provider_or_model_is_refused_at_the_opening(tmp_path: Path, setting: str, name: str) -> None:
    with refused("bad_setting"):
        Minutebook.open(tmp_path / "w", settings=Settings(**{setting: name}))
    assert not (tmp_path / "w").exists()


def test_an_unknown_provider_and_a_missing_key_are_refused_at_the_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with refused("model_unusable"):
        Minutebook.open(tmp_path, settings=Settings(summarizer_model="nobody:test"))
    with refused("model_unusable") as caught:
        Minutebook.open(tmp_path, settings=Settings(summarizer_model=MODEL))
    assert "OPENAI_API_KEY" in str(caught.value)


def test_a_provider_whose_package_is_missing_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    """Given a provider for which no client is installed here, when a book is opened, then it says what to install."""
    with refused("extra_missing") as caught:
        Minutebook.open(tmp_path, settings=Settings(curator_model="groq:test"))
    assert "pip install 'pydantic-ai-slim[groq]'" in str(caught.value)


def python(source: str, *, forbid: str = "") -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, in which ``forbid`` cannot be imported."""
    start = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n"
    if forbid:
        start += f"sys.modules[{forbid!r}] = None\n"
    return subprocess.run([sys.executable, "-c", start + source], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("setting", ["summarizer_model", "curator_model"])
def test_a_missing_extra_is_refused_at_the_opening_with_the_command_that_mends_it(tmp_path: Path, setting: str) -> None:
    done = python(
        "from minutebook import Minutebook, MinutebookError, Settings\n"
        f"try: Minutebook.open({str(tmp_path / 'w')!r}, settings=Settings({setting}='openai:test'))\n"
        "except MinutebookError as error: print(error.code, error)\n",
        forbid="pydantic_ai",
    )
    assert done.stdout.startswith("extra_missing "), done.stderr
    assert "pip install 'minutebook[models]'" in done.stdout
    assert setting in done.stdout
    assert not (tmp_path / "w").exists()


def test_nothing_of_the_extra_is_imported_unless_a_setting_names_a_model(tmp_path: Path) -> None:
    done = python(
        "from minutebook import Minutebook, Settings\n"
        f"with Minutebook.open({str(tmp_path)!r}, settings=Settings(summarizer_model='')) as book: book.session('s')\n"
        "model = Settings(summarizer_model='openai:test')\n"
        f"with Minutebook.open({str(tmp_path)!r}, settings=model, read_only=True): pass\n"
        "print([name for name in ('pydantic_ai', 'openai', 'bpe_openai', 'asyncio') if name in sys.modules])\n"
    )
    assert done.stdout.strip() in ("[]", "['asyncio']"), done.stdout + done.stderr


# --- a summary through a book ------------------------------------------------------------------------

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def test_a_summary_is_committed_and_its_tokens_are_accounted_apart(serve: Serve, tmp_path: Path) -> None:
    """Given a model by its setting, when the context is asked for, then its summary stands there and is paid apart."""
    server = serve(lambda prompt: says(summary_of(prompt), usage=(4_321, 123)))
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        session = book.session("s")
        session.append(conversation())
        with session.run() as run:
            run.append({"role": "user", "content": "And now?"})
            context = run.context(system="You mend builds.")
            run.append({"role": "assistant", "content": "Done."}, usage={"input_tokens": 7, "output_tokens": 3})
        assert [message["state"] for message in context.messages].count("summary") == 1
        shown = next(str(message["content"]) for message in context.messages if message["state"] == "summary")
        assert "Never push to main without my approval" in shown
        assert "Written by openai:test." in shown
        committed = next(book.log(type="CompactionCommitted"))["body"]
        assert committed["summarizer"] == MODEL
        assert committed["usage"] == {"input_tokens": 4_321, "output_tokens": 123}
        assert book.usage()["compressor"] == {"input_tokens": 4_321, "output_tokens": 123}
        assert run.usage == Usage(input_tokens=7, output_tokens=3)
        assert book.usage()["runs"] == {"input_tokens": 7, "output_tokens": 3}
        assert book.verify().ok
    assert len(server.asked) == 1
    assert server.prompts[0].startswith("You condense a stretch of an agent's working history")


def test_a_range_beyond_the_models_window_is_asked_in_chunks_and_paid_in_full(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda prompt: says(summary_of(prompt), usage=(1_000, 10)))
    with Minutebook.open(tmp_path, settings=settings(summarizer_input_tokens=1_500), automatic=False) as book:
        book.session("s").append(conversation())
        book.session("s").compact()
        assert book.usage()["compressor"] == {
            "input_tokens": 1_000 * len(server.asked), "output_tokens": 10 * len(server.asked)
        }  # fmt: skip


def test_what_a_failed_attempt_has_used_is_accounted(serve: Serve, tmp_path: Path) -> None:
    """Given a range in chunks, when a later chunk fails, then what the earlier ones took is in the account (D10)."""
    server = serve(lambda prompt: says(summary_of(prompt), usage=(1_000, 10)), fails(401, "the credit is used up"))
    with Minutebook.open(tmp_path, settings=settings(summarizer_input_tokens=1_500), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "failed"
        assert book.usage()["compressor"] == {"input_tokens": 1_000, "output_tokens": 10}
    assert len(server.asked) == 2


BAD: dict[str, tuple[Any, str, str]] = {
    "429 for ever": (fails(429, "slow down"), "CompactionFailed", "ModelUnavailable"),
    "500 for ever": (fails(500, "broken"), "CompactionFailed", "ModelUnavailable"),
    "bad key": (fails(401, "wrong key"), "CompactionFailed", "ModelRefused"),
    "cut on the way": (Reply(b'{"choi', missing=500, headers={}), "CompactionFailed", "ModelUnavailable"),
    "invalid JSON": (Reply(b"{nonsense"), "CompactionFailed", "ModelAnswerUnreadable"),
    "wrong content type": (Reply(b"Hello", content_type="text/html"), "CompactionFailed", "ModelAnswerUnreadable"),
    "empty": (says(""), "CompactionRejected", "empty"),
    "no content": (says(None), "CompactionRejected", "empty"),
    "length": (lambda prompt: says(summary_of(prompt), finish_reason="length"), "CompactionRejected", "truncated"),
    "refusal": (says(None, refusal="I cannot help with that."), "CompactionRejected", "truncated"),
    "half": (lambda prompt: says(summary_of(prompt).partition("## State")[0]), "CompactionRejected", "truncated"),
    "another language of form": (says('{"goal": "mend the build"}'), "CompactionRejected", "schema_mismatch"),
    "the prompt itself": (lambda prompt: says(prompt), "CompactionRejected", "prompt_echo"),
    "a megabyte": (says("word " * 200_000), "CompactionRejected", "too_long"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_provider_that_fails_leaves_the_context_as_it_was_and_one_event(
    serve: Serve, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a provider that fails, when a summary is asked for, then every byte stays and one event says why."""
    reply, event, reason = BAD[name]
    monkeypatch.setattr(models, "BACK_OFF_SECONDS_MAX", 0.02)
    serve(reply)
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        book.session("s").append(conversation())
        before, head = snapshot(book), book.head
        answer = book.session("s").compact()
        assert answer.status == ("failed" if event == "CompactionFailed" else "rejected")
        assert snapshot(book) == before
        recorded = [found for found in book.log(after=head) if found["type"] != "MemoryFrozen"]
        assert [found["type"] for found in recorded] == [event]
        body = recorded[0]["body"]
        assert body["summarizer"] == MODEL
        assert reason in body.get("reasons", [body.get("error")])
        if event == "CompactionRejected":
            assert book.usage()["compressor"] == {"input_tokens": 1_000, "output_tokens": 200}


def test_a_slow_model_is_given_up_and_nothing_changes(serve: Serve, tmp_path: Path) -> None:
    serve(says("Too late.", seconds=30))
    with Minutebook.open(tmp_path, settings=settings(summarizer_timeout_seconds=0.5), automatic=False) as book:
        book.session("s").append(conversation())
        before, began = snapshot(book), time.monotonic()
        answer = book.session("s").compact()
        assert (answer.status, answer.reason) == ("failed", "TimedOut")
        assert time.monotonic() - began < 100
        assert snapshot(book) == before


def test_a_run_goes_on_without_the_summary_while_the_request_fits(serve: Serve, tmp_path: Path) -> None:
    server = serve(fails(500, "broken"))
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        session = book.session("s")
        session.append(conversation())
        with session.run() as run:
            for _ in range(6):
                context = run.context()
            assert {message["state"] for message in context.messages} == {"original"}
            assert len(server.asked) == 2 * models.ATTEMPTS_MAX, "two attempts, then it rests (C10)"
            run.append({"role": "user", "content": "Read this. " + "It is long, and nobody may cut it. " * 600})
            with pytest.raises(CompactionFailed, match="ModelUnavailable"):
                run.context()


def test_a_credential_in_a_summary_is_redacted_and_the_summary_goes_on(serve: Serve, tmp_path: Path) -> None:
    def leaks(prompt: str) -> Reply:
        return says(summary_of(prompt).replace("## Completed\n- none", f"## Completed\n- used the token {SECRET}"))

    serve(leaks)
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "committed"
        assert SECRET not in json.dumps(next(book.log(type="CompactionCommitted")))
        assert "used the token" in str(book.session("s").compactions()[0].text)
    assert SECRET.encode() not in (tmp_path / ".tinyagent/minutebook.db").read_bytes()


def test_the_key_of_the_provider_is_never_recorded(serve: Serve, tmp_path: Path) -> None:
    serve(fails(401, f"Incorrect API key provided: {KEY}"))
    with Minutebook.open(tmp_path, settings=settings(), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "failed"
        said = next(book.log(type="CompactionFailed"))["body"]["payload"]["message"]
        assert "Incorrect API key" in said
        assert KEY not in said


def test_a_summariser_that_is_passed_wins_over_the_setting(serve: Serve, tmp_path: Path) -> None:
    server = serve(says("never asked"))
    with Minutebook.open(tmp_path, settings=settings(), summarizer=ExtractiveSummarizer(), automatic=False) as book:
        book.session("s").append(conversation())
        assert book.session("s").compact().status == "committed"
        assert book.session("s").compactions()[0].summarizer == "extractive-1"
    assert server.asked == []


def test_the_setting_works_on_the_command_line(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from minutebook.infrastructure.edges.cli import main

    server = serve()
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.session("s").append(conversation())
    monkeypatch.setenv("MINUTEBOOK_SUMMARIZER_MODEL", MODEL)
    monkeypatch.setenv("MINUTEBOOK_CONTEXT_WINDOW", str(WINDOW))
    with pytest.raises(SystemExit, check=lambda end: end.code == 0):
        main(["--workspace", str(tmp_path), "--json", "compact", "s"])
    assert json.loads(capsys.readouterr().out)["status"] == "committed"
    assert len(server.asked) == 1
    monkeypatch.setenv("MINUTEBOOK_SUMMARIZER_MODEL", "nonsense")
    with pytest.raises(SystemExit, check=lambda end: end.code == 1):
        main(["--workspace", str(tmp_path), "--json", "compact", "s"])
    assert json.loads(capsys.readouterr().err)["error"] == "bad_setting"


# --- a curation through a book -----------------------------------------------------------------------


def curated(tmp_path: Path, **given: Any) -> tuple[Any, dict[str, Any], list[str], str]:
    """Proposes two facts, curates once: the answer, the accounts, the entries, and what the last event was."""
    with Minutebook.open(tmp_path, settings=Settings(curator_model=MODEL, **given), automatic=False) as book:
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
            run.memory({"operation": "add", "text": "Tests run with 'npm test'."})
        answer = book.curate()
        last = [found["type"] for found in book.log()][-1]
        assert (tmp_path / ".tinyagent/memory/MEMORY.md").exists() == (answer.status == "committed")
        return answer, book.usage()["curator"], [entry.text for entry in book.memory.entries()], last


def test_a_curation_is_committed_and_its_tokens_are_accounted_apart(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda prompt: says(memory_of(prompt), usage=(55, 44)))
    answer, usage, entries, _ = curated(tmp_path)
    assert answer.status == "committed"
    assert entries == ["The build needs make 4.3 or newer.", "Tests run with 'npm test'."]
    assert usage == {"input_tokens": 55, "output_tokens": 44}
    assert server.prompts[0].startswith("You keep the long-term memory of an agent.")


@pytest.mark.parametrize(
    ("dress", "check"),
    [
        ("```json\n{}\n```", "answer_not_array"),
        ("Here is the memory:\n{}", "answer_not_array"),
        ("{}\nI kept everything.", "answer_trailing_text"),
        ('{{"entries": {}}}', "answer_not_array"),
        ("[1, {}]", "answer_not_string"),
        ("", "answer_empty"),
    ],
)
def test_an_answer_in_a_dress_is_refused_by_the_strict_parser(
    serve: Serve, tmp_path: Path, dress: str, check: str
) -> None:
    """Given a model that wraps its array, when it curates, then the parser refuses it: nothing was mended before."""
    serve(lambda prompt: says(dress.format(memory_of(prompt))))
    answer, usage, entries, last = curated(tmp_path, curator_output="text")
    assert (answer.status, [reason["check"] for reason in answer.reasons]) == ("rejected", [check])
    assert (entries, last) == ([], "CurationRejected")
    assert usage == {"input_tokens": 1_000, "output_tokens": 200}


def test_a_cut_curation_is_refused_and_a_failing_provider_is_on_record(serve: Serve, tmp_path: Path) -> None:
    serve(lambda prompt: says(memory_of(prompt), finish_reason="length"))
    answer, _, _, last = curated(tmp_path / "cut")
    assert ([reason["check"] for reason in answer.reasons], last) == (["truncated"], "CurationRejected")
    serve(fails(500, "broken"))
    answer, usage, entries, last = curated(tmp_path / "broken")
    assert ([reason["check"] for reason in answer.reasons], last) == (["ModelUnavailable"], "CurationFailed")
    assert (entries, usage) == ([], {"input_tokens": 0, "output_tokens": 0})


def test_a_curator_that_is_passed_wins_over_the_setting(serve: Serve, tmp_path: Path) -> None:
    server = serve(says("never asked"))
    with Minutebook.open(
        tmp_path, settings=Settings(curator_model=MODEL), curator=lambda request: "[]", automatic=False
    ) as book:
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        book.curate()
    assert server.asked == []


def test_a_curator_by_name_needs_no_book(serve: Serve) -> None:
    serve(says('["one"]'))
    assert ModelCurator(MODEL).curate(Prompt()).text == '["one"]'
