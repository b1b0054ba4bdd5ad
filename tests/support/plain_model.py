"""What a book must come to, as plain values: the model that the sequences are compared with (issue 7, 6).

Written from the design (requirements D1 to D11, C6, C7, M1 to M3), not from the code. It knows no table and no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["add", "replace", "remove"]
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def word(number: int) -> str:
    """A word that says nothing and is like no other."""
    first, second, third, fourth = number % 15, number // 15 % 15, (number * 7 + 3) % 15, (number * 11 + 5) % 15
    return "".join(_SYLLABLES[each] for each in (first, second, third, fourth))


def fact(number: int) -> str:
    """An entry that no check minds, and that is like no other of the first 150."""
    one, two, three, four = (word(4 * number + each) for each in range(4))
    return f"The {one} of {two} wants {three} before {four}."


@dataclass(frozen=True)
class Wish:
    """A candidate: what to do, to which text, with which text."""

    kind: Kind
    target: str = ""
    text: str = ""

    def applied(self, texts: list[str]) -> list[str]:
        """The entries after it; unchanged where its target is gone or its text is there."""
        match self.kind:
            case "add":
                return texts if self.text in texts else [*texts, self.text]
            case "remove":
                return [text for text in texts if text != self.target]
            case "replace":
                return [self.text if text == self.target else text for text in texts]


@dataclass(frozen=True)
class Made:
    """A committed revision. ``texts`` are None for what was displaced, whose bytes are ``raw``."""

    kind: str
    texts: tuple[str, ...] | None
    raw: bytes | None = None


def rendered(texts: Iterable[str]) -> bytes:
    """D1: the canonical bytes."""
    lines = list(texts)
    return ("\n§\n".join(lines) + "\n").encode() if lines else b""


@dataclass
class Model:
    """A workspace as it must be."""

    messages: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    """Of each session in order: the id and the source, None where it was erased."""
    pending: list[Wish] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    file: bytes | None = None

    def copy(self) -> Model:
        return deepcopy(self)

    def after(self, *steps: Callable[[Model], object]) -> list[Model]:
        """This model, and what it is after each step: all that may be found when the process is killed on its way."""
        states = [self.copy()]
        for step in steps:
            states.append(states[-1].copy())
            step(states[-1])
        return states

    # --- memory

    @property
    def texts(self) -> list[str]:
        """What memory has, whatever stands in the file (D8)."""
        return list(self._live.texts or ()) if self._live else []

    @property
    def _live(self) -> Made | None:
        return next((each for each in reversed(self.made) if each.texts is not None), None)

    @property
    def committed(self) -> bytes | None:
        """What the file must be; None before the first revision."""
        return None if self._live is None else rendered(self.texts)

    @property
    def state(self) -> str:
        if self.file == self.committed:
            return "clean"
        if self.file is None:
            return "missing"
        return "unadopted" if self.committed is None else "drift"

    def publish(self, kind: str, texts: Iterable[str]) -> None:
        """A new revision, in the log and in the file (D5)."""
        self.made.append(Made(kind, tuple(texts)))
        self.file = self.committed

    def curate(self) -> None:
        """All pending candidates in order; those that come to nothing are refused (D4)."""
        texts = self.texts
        for wish in self.pending:
            texts = wish.applied(texts)
        self.pending = []
        if texts != self.texts:
            self.publish("curated", texts)

    def adopt(self) -> None:
        """``sync`` over a file that is no problem (D8), or over none at all (D11)."""
        self.publish("manual", entries_of(self.file or b""))

    def displace(self) -> None:
        """The bytes of an edit are kept before they go (D8); the same bytes are not kept twice in a row."""
        kept = Made("displaced", None, self.file)
        since = self.made[self.made.index(self._live) :] if self._live in self.made else self.made
        if kept not in since:
            self.made.append(kept)

    def restore(self, number: int) -> None:
        """The texts of the revision in that place, as a new revision, where that makes a difference (D9)."""
        texts = self.made[number].texts
        assert texts is not None
        if self.file != rendered(texts) or self.state != "clean":
            self.publish("restored", texts)

    def forget_text(self, text: str) -> None:
        """An entry is erased: memory is without it, and no old revision tells it (E8)."""
        self.publish("erased", [each for each in self.texts if each != text])
        self.made = [
            each if each.texts is None else Made(each.kind, tuple(ERASED if t == text else t for t in each.texts))
            for each in self.made
        ]

    # --- conversation

    def append(self, session: str, messages: list[tuple[str, Any]]) -> None:
        self.messages.setdefault(session, []).extend(messages)

    def erase_message(self, session: str, name: str) -> None:
        self.messages[session] = [(id, None if id == name else source) for id, source in self.messages[session]]


ERASED = "[This entry was erased.]"


def entries_of(data: bytes) -> list[str]:
    """The entries of a file without problems (D1)."""
    text = data.decode().replace("\r\n", "\n").strip("\n")
    return text.split("\n§\n") if text else []


# --- what a provider takes


def illegal_openai(messages: list[dict[str, Any]]) -> str:
    """What a provider of chat completions would refuse; "" for nothing (C9)."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"a result of no call: {message['tool_call_id']}"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"calls without a result: {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return f"calls without a result at the end: {waiting}" if waiting else ""


def illegal_anthropic(messages: list[dict[str, Any]]) -> str:
    """The same for messages in blocks: they take turns, and results come first in the next one (C9)."""
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[place % 2]:
            return f"message {place} is of {message['role']}"
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if answered != waiting:
            return f"message {place} answers {answered}, asked were {waiting}"
        waiting = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return f"calls without a result at the end: {waiting}" if waiting else ""
