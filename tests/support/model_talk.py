"""What the tests of models share: the least of a request, a long talk, and a context as bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from minutebook import Minutebook, Settings

MODEL = "openai:test"
KEY = "sk-local-0123456789abcdefghij"
WINDOW = 11_000


@dataclass
class Prompt:
    """The least of a request."""

    prompt: str = "Say it."


def conversation() -> list[dict[str, str]]:
    """Enough talk to pass the trigger of a small window."""
    filler = "The log of the nightly job names one of the modules, its owner and the time that it took to build. " * 6
    talk = [{"role": "user", "content": "Why does the build of module 0 fail?"}]
    for number in range(1, 30):
        talk.append(
            {"role": "assistant", "content": f"I looked at module {number}: it needs make 4.{number}. {filler}"}
        )
        talk.append({"role": "user", "content": f"Go on with module {number} and write down what it needs."})
    talk[10]["content"] = "Never push to main without my approval."
    return talk


def settings(**given: Any) -> Settings:
    return Settings(**{"context_window": WINDOW, "summarizer_model": MODEL, **given})


def snapshot(book: Minutebook) -> bytes:
    """The context and every original as bytes: what a failure may not change."""
    session = book.session("s")
    context = session.context(window=1_000_000)
    moving = {"position", "memory_frozen", "proved"}
    answer = {name: value for name, value in context.answer().items() if name not in moving}
    return json.dumps([answer, context.to_openai(), list(map(dict, session.messages()))], default=str).encode()
