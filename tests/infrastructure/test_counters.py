"""Who counts tokens: the estimate, or the exact vocabulary of a model family, by one setting (M5)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.tokens import COUNTER, MESSAGE_TOKENS, count_text, count_tools, estimate
from minutebook.infrastructure.work import vocabulary

PACKAGE = Path(__file__).parents[2] / ".package"
TRANSCRIPTS = Path(__file__).parents[1] / "data" / "transcripts"
EXACT = Settings(token_counter="bpe:o200k")
TEXT = "The build needs make 4.3 or newer; `cc1` ends with signal 11. 建设需要更新的版本。"
TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}


def recorded(book: Minutebook) -> list[tuple[str, int]]:
    return [(event["body"]["counter"], event["body"]["tokens"]) for event in book.log(type="MessageRecorded")]


# --- the counters themselves -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("o200k", "hello world", 2),
        ("cl100k", "hello world", 2),
        ("voyage3", "12345", 5),
        ("o200k", "", 0),
        ("o200k", "<|endoftext|>", 7),
        ("o200k", "今天天气很好", 4),
    ],
)
def test_a_vocabulary_counts_as_its_models_do(name: str, text: str, tokens: int) -> None:
    counter = vocabulary.counter(name)
    assert counter.name == f"bpe:{name}-1"
    assert abs(counter.count(text) - tokens) <= (1 if len(text) > 5 and name != "voyage3" else 0)


def test_any_text_has_a_count() -> None:
    """Given half a surrogate pair, a long run without a space, or megabytes, when counted, then a number comes."""
    count = vocabulary.counter("o200k").count
    assert count("a\ud800b") > 0
    assert count("x" * 500_000) > 10_000
    assert count("好" * 400_000) > 100_000
    line = "One line of a log that goes on for megabytes.\n"
    once, many = count(line * 1_000), count(line * 100_000)
    assert many == pytest.approx(100 * once, rel=0.01)


def test_blocks_cost_a_token_each_at_most() -> None:
    import bpe_openai  # type: ignore[import-untyped]

    text = (TRANSCRIPTS / "cline" / "session.messages.json").read_text(encoding="utf-8")
    whole = len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))
    assert 0 <= vocabulary.counter("o200k").count(text) - whole <= len(text) // vocabulary.BLOCK + 1


# --- through a book ----------------------------------------------------------------------------------


def test_the_name_of_the_counter_is_recorded_with_every_count(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, settings=EXACT, automatic=False) as book:
        session = book.session("s")
        session.append({"role": "user", "content": TEXT})
        book.import_transcript(TRANSCRIPTS / "pi" / "session-excerpt.jsonl", session="pi")
        exact = vocabulary.counter("o200k").count(TEXT) + MESSAGE_TOKENS
        assert recorded(book)[0] == ("bpe:o200k-1", exact)
        assert {name for name, _ in recorded(book)} == {"bpe:o200k-1"}
        assert session.context().tokens == exact
        assert session.context().answer()["counter"] == "bpe:o200k-1"
        assert book.status()["context"]["counter"] == "bpe:o200k-1"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "text", "text": TEXT}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": TEXT}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]},
        {"type": "function_call_output", "call_id": "c", "output": TEXT},
    ],
    ids=["anthropic", "anthropic result", "responses", "responses item"],
)
def test_a_message_of_any_form_is_counted_by_it(tmp_path: Path, message: dict[str, Any]) -> None:
    with Minutebook.open(tmp_path, settings=EXACT, automatic=False) as book:
        book.session("s").append(message)
        [(name, tokens)] = recorded(book)
        exact = vocabulary.counter("o200k").count(TEXT)
        assert name == "bpe:o200k-1"
        assert exact < tokens <= exact + 24, "its own text, and the constants of its envelope"


def test_the_estimate_is_the_default_and_needs_no_extra(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.session("s").append({"role": "user", "content": TEXT})
        assert recorded(book) == [(COUNTER, estimate(TEXT) + MESSAGE_TOKENS)]
        assert book.session("s").context().counter == COUNTER


def test_everything_of_a_request_is_counted_by_the_one_counter(tmp_path: Path) -> None:
    """Given another counter, when a request is built, then prompt, tools, memory and messages are counted by it."""
    count = vocabulary.counter("cl100k").count
    with Minutebook.open(tmp_path, settings=Settings(token_counter="bpe:cl100k"), automatic=False) as book:
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": TEXT})
        book.curate()
        with book.session("t").run() as run:
            run.append({"role": "user", "content": TEXT})
            context = run.context(system="You mend builds. " * 20, tools=[TOOL])
        assert TEXT in context.system
        tools = count_tools([TOOL], count)
        assert context.sizes["tools"] == tools
        assert context.tokens == count_text(context.system, count) + tools + count(TEXT) + MESSAGE_TOKENS
        shown = next(book.log(type="ContextShown"))["body"]
        assert shown["tokens"] == context.tokens
        assert book.session("t").context().tokens == context.tokens


def test_what_was_recorded_keeps_its_count_under_another_counter(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.session("s").append({"role": "user", "content": TEXT}, id="one")
        before = recorded(book)
    with Minutebook.open(tmp_path, settings=EXACT, automatic=False) as book:
        assert book.session("s").append({"role": "user", "content": TEXT}, id="one") == 2, "idempotent all the same"
        book.session("s").append({"role": "user", "content": TEXT}, id="two")
        exact = vocabulary.counter("o200k").count(TEXT) + MESSAGE_TOKENS
        assert recorded(book) == [*before, ("bpe:o200k-1", exact)]
        assert book.session("s").context().tokens == before[0][1] + exact
        assert book.verify().ok


@pytest.mark.parametrize("name", ["estimate", "bpe:o200k", "bpe:cl100k", "bpe:voyage3"])
def test_a_summary_is_bounded_and_recorded_by_the_same_counter(tmp_path: Path, name: Any) -> None:
    """Given any counter, when a real session is compacted, then its summary keeps its bound as that counter counts."""
    settings = Settings(token_counter=name, context_window=60_000, summary_tokens_max=900)
    with Minutebook.open(tmp_path, settings=settings, automatic=False) as book:
        session = book.find_session(book.import_transcript(TRANSCRIPTS / "cline" / "session.messages.json").session)
        assert session.compact().status == "committed"
        body = next(book.log(type="CompactionCommitted"))["body"]
        count = estimate if name == "estimate" else vocabulary.counter(name.removeprefix("bpe:")).count
        text = body["payload"]["summary"]
        assert body["summary_tokens"] == count_text(text, count)
        assert count(text[text.index("## Goal") :]) <= 900
        context = session.context(window=1_000_000)
        assert context.tokens == body["tokens_after"]
        assert book.verify().ok


def test_the_providers_own_count_is_told_beside_the_count(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        session = book.session("s")
        with session.run() as run:
            run.append({"role": "user", "content": TEXT})
            assert run.context().reported_tokens is None
            run.append({"role": "assistant", "content": "Yes."}, usage={"input_tokens": 5_000, "output_tokens": 40})
            run.append({"role": "user", "content": TEXT})
            later = estimate(TEXT) + MESSAGE_TOKENS
            assert run.context().reported_tokens == 5_040 + later
        answer = session.context().answer()
        assert answer["reported_tokens"] == 5_040 + later
        assert answer["tokens"] < 200
        assert book.status()["context"]["reported_tokens"] == 5_040 + later
        assert book.status()["context"]["session"] == "s"


# --- what is missing or wrong ------------------------------------------------------------------------


def test_an_unknown_counter_is_refused_with_those_there_are() -> None:
    with pytest.raises(MinutebookError, match="bpe:o200k", check=lambda error: error.code == "bad_setting"):
        Settings.load(environ={"MINUTEBOOK_TOKEN_COUNTER": "bpe:gpt2"})


def test_a_missing_extra_is_refused_at_the_opening_with_the_command_that_mends_it(tmp_path: Path) -> None:
    source = (
        f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); sys.modules['bpe_openai'] = None\n"
        "from minutebook import Minutebook, MinutebookError, Settings\n"
        f"try: Minutebook.open({str(tmp_path / 'w')!r}, settings=Settings(token_counter='bpe:o200k'))\n"
        "except MinutebookError as error: print(error.code, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("extra_missing "), done.stderr
    assert "pip install 'minutebook[tokens]'" in done.stdout
    assert not (tmp_path / "w").exists()


def test_the_command_line_counts_by_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from minutebook.infrastructure.edges.cli import main

    monkeypatch.setenv("MINUTEBOOK_TOKEN_COUNTER", "bpe:o200k")
    for words in (["import", str(TRANSCRIPTS / "pi" / "session-excerpt.jsonl"), "--session", "s"], ["context", "s"]):
        with pytest.raises(SystemExit, check=lambda end: end.code in (0, None)):
            main(["--workspace", str(tmp_path), "--json", *words])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (answer["counter"], answer["reported_tokens"]) == ("bpe:o200k-1", None)
