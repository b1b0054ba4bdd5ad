"""Histories for the compaction tests: written by hand in OpenAI form, or read from real transcripts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook.domain.context import Shown, Visible
from minutebook.domain.forms import view
from minutebook.domain.message import JSON, Form, Message, Trust
from minutebook.domain.policy import Policy
from minutebook.domain.tokens import count_message, count_source
from minutebook.infrastructure.work.transcripts import read_all

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "transcripts"


class Talk:
    """Writes a conversation message by message; positions are 10, 20, 30 ... so that ids and places differ."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._calls = 0

    def add(self, source: JSON, trust: Trust = "model", run: str | None = None, form: Form = "openai") -> Message:
        number = len(self.messages) + 1
        message = Message(
            position=number * 10,
            id=f"m{number}",
            view=view(form, source),
            form=form,
            source=source,
            tokens=count_source(source),
            run=run,
            trust=trust,
        )
        self.messages.append(message)
        return message

    def user(self, text: str, run: str | None = None) -> Message:
        return self.add({"role": "user", "content": text}, "user", run)

    def system(self, text: str) -> Message:
        return self.add({"role": "system", "content": text}, "operator")

    def assistant(self, text: str, run: str | None = None) -> Message:
        return self.add({"role": "assistant", "content": text}, "model", run)

    def call(self, name: str, arguments: JSON, run: str | None = None) -> str:
        self._calls += 1
        call_id = f"call_{self._calls}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        calls = [{"id": call_id, "type": "function", "function": function}]
        self.add({"role": "assistant", "content": None, "tool_calls": calls}, "model", run)
        return call_id

    def result(self, call_id: str, text: str, run: str | None = None) -> Message:
        return self.add({"role": "tool", "tool_call_id": call_id, "content": text}, "tool", run)

    def tool(self, name: str, arguments: JSON, text: str, run: str | None = None) -> Message:
        return self.result(self.call(name, arguments, run), text, run)

    def filler(self, count: int, about: str = "the parser") -> None:
        """``count`` exchanges that demand nothing of a summary."""
        for number in range(count):
            self.user("ok")
            self.assistant(f"Looking at part {number} of {about}; it reads as expected and I go on from here. " * 3)

    @property
    def visible(self) -> Visible:
        return tuple(Shown(message, None, message.tokens) for message in self.messages)


@pytest.fixture(scope="session")
def new_talk() -> Callable[[], Any]:
    return Talk


@pytest.fixture(scope="session")
def new_policy() -> Callable[..., Policy]:
    def policy(window: int = 8_000, **given: Any) -> Policy:
        given.setdefault("reserve", min(16_384, window // 8))
        given.setdefault("trigger", window // 2)
        return Policy(window=window, **given)

    return policy


@pytest.fixture(scope="session")
def read_history() -> Callable[..., list[Message]]:
    """Reads a transcript under ``shared/data/transcripts``, of several conversations one by its number.

    Skips, visibly, only when the shared data is absent.
    """

    known: dict[tuple[str, int], list[Message]] = {}

    def history(name: str, conversation: int = 0) -> list[Message]:
        if (name, conversation) in known:
            return known[name, conversation]
        if not SHARED.is_dir():
            pytest.skip(f"the shared data is absent: {SHARED}")
        out = []
        for number, item in enumerate(read_all(SHARED / name)[conversation].messages, 1):
            seen = view(item.form, item.source)
            tokens = count_message(seen.parts)
            out.append(Message(number * 2, item.id, seen, item.form, item.source, tokens, item.run, item.trust))
        known[name, conversation] = out
        return out

    return history


@pytest.fixture(scope="session")
def shared_transcripts() -> Path:
    """The folder of all shared transcripts; its absence is a visible skip."""
    if not SHARED.is_dir():
        pytest.skip(f"the shared data is absent: {SHARED}")
    return SHARED
