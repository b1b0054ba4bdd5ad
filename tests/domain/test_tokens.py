"""Counting: never half of what a real vocabulary counts, fast enough for every append, images by a constant."""

from __future__ import annotations

import base64
import json
import random
import time

import pytest

from minutebook.domain.forms import anthropic, openai
from minutebook.domain.message import Media, Reasoning, Text, ToolCall, ToolResult
from minutebook.domain.tokens import (
    IMAGE_TOKENS,
    SAMPLE_CHARS,
    count_message,
    count_parts,
    count_source,
    count_text,
    count_tools,
    estimate,
)

CODE = '''def settle(self, turns: list[Turn]) -> list[Turn]:
    """The rules that only a finished turn can meet."""
    for index, turn in enumerate(turns):
        if turn.role == "assistant" and not turn.blocks:
            raise ValueError(f"turn {index} is empty: {turn!r}")
    return [turn for turn in turns if turn.blocks]
'''

# (text, tokens in o200k_base, in cl100k_base), counted once with bpe-openai
MEASURED = {
    "english": ("The build needs make 4.3 or newer, and the folder `ledger` must never be touched.", 22, 22),
    "chinese": ("我们在构建系统时遇到了一个问题：编译器无法找到头文件。请检查环境变量是否正确设置。", 27, 36),
    "japanese": ("ビルドが失敗する原因を調べてください。設定ファイルの環境変数を確認します。", 26, 41),
    "korean": ("빌드가 실패하는 이유를 알려 주세요. 원장 폴더는 절대 수정하지 마세요.", 23, 35),
    "code": (CODE, 80, 79),
    "hex": ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43, 43),
    "uuid": ("019e1695-0522-7c83-8b39-0dd379793f80", 22, 22),
    "emoji": ("🚀🔥🎉😀👍🏽👩‍👩‍👧‍👦", 20, 35),
    "digits": ("3141592653589793238462643383279502884197", 14, 14),
    "spaces": (" " * 400, 4, 4),
}


@pytest.mark.parametrize("name", MEASURED)
def test_an_estimate_is_never_under_half_of_what_a_real_vocabulary_counts(name: str) -> None:
    text, o200k, cl100k = MEASURED[name]
    assert estimate(text) >= max(o200k, cl100k) / 2
    assert estimate(text) <= 3 * min(o200k, cl100k)


def test_four_thousand_chinese_characters_do_not_fit_a_budget_of_three_thousand_tokens() -> None:
    # pi#2562 and others: chars/4 says 1,000
    assert estimate("我们在构建系统时遇到了一个问题" * 267) > 3_000


def test_blobs_count_about_what_they_cost() -> None:
    blob = base64.b64encode(random.Random(7).randbytes(20_000)).decode()  # 0.68 to 0.71 tokens a character
    assert 0.5 < estimate(blob) / len(blob) < 1.0


def test_a_count_adds_up_and_is_never_zero_for_text() -> None:
    assert estimate("") == 0
    assert estimate("a") == 1
    assert estimate("\ud800") >= 1
    assert count_text("") == 0
    assert count_text("hello") > estimate("hello")


def test_a_long_text_is_sampled_and_stays_close_to_the_whole() -> None:
    line = "The quick brown fox 42 jumps over `lazy_dog()` — 敏捷的狐狸。\n"
    text = line * (SAMPLE_CHARS * 2 // len(line))
    exact = sum(estimate(text[start : start + SAMPLE_CHARS]) for start in range(0, len(text), SAMPLE_CHARS))
    assert abs(estimate(text) - exact) < exact * 0.02


def test_a_megabyte_is_counted_in_milliseconds() -> None:
    text = (CODE * 3_000)[:1_000_000]
    best = min(_timed(text) for _ in range(5))
    assert best < 0.1  # some 8 ms on a quiet machine


def _timed(text: str) -> float:
    start = time.perf_counter()
    estimate(text)
    return time.perf_counter() - start


def test_parallel_calls_with_empty_text_and_hidden_reasoning_are_counted() -> None:
    # hermes #28053, #55572: a message with empty text and four calls
    call = {"id": "c", "type": "function", "function": {"name": "write_file", "arguments": json.dumps({"t": CODE})}}
    assert count_source({"role": "assistant", "content": "", "tool_calls": [call] * 4}) > 4 * estimate(CODE)
    assert count_source({"role": "assistant", "content": None, "reasoning_content": CODE}) >= estimate(CODE)
    sealed = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "QUJD" * 1_000}]}
    assert count_source(sealed) > 500


@pytest.mark.parametrize("size", [100, 1_000_000])
def test_an_image_counts_by_a_constant_whatever_its_bytes(size: int) -> None:
    data = base64.b64encode(bytes(size)).decode()
    openai_image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    for part in (openai_image, image):
        assert IMAGE_TOKENS < count_source({"role": "user", "content": [part]}) < IMAGE_TOKENS + 20
    inside = {"type": "tool_result", "tool_use_id": "t", "content": [image, {"type": "text", "text": "a plot"}]}
    assert IMAGE_TOKENS < count_source({"role": "user", "content": [inside]}) < IMAGE_TOKENS + 40


def test_a_document_whose_text_stands_in_the_message_counts_as_text() -> None:
    block = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": CODE * 50}}
    assert count_source({"role": "user", "content": [block]}) > 40 * estimate(CODE)


def test_the_count_of_a_source_and_of_its_view_agree() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "run", "input": {"command": "make -j4 test", "timeout": 30}}
    sources = [
        (openai.view, {"role": "user", "content": CODE}),
        (openai.view, {"role": "tool", "tool_call_id": "c1", "content": CODE * 3}),
        (anthropic.view, {"role": "assistant", "content": [{"type": "text", "text": "I run it."}, use]}),
    ]
    for reader, source in sources:
        assert abs(count_source(source) - count_message(reader(source).parts)) <= 8


def test_parts_and_tools_count_their_envelopes() -> None:
    assert count_parts((ToolCall("c", "read", "{}"),)) > estimate("read{}")
    assert count_parts((ToolResult("c", "", media=(Media("image", "image/png", 9),)),)) > IMAGE_TOKENS
    assert count_parts((Text("hello"), Reasoning("hello"))) == 2 * estimate("hello")
    assert count_tools(({"name": "read", "input_schema": {"type": "object"}},)) > 10
    assert count_tools(()) == 0
