"""A context: the request that a model sees, with its size, its proof and its renderings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...domain.context import Built, digest
from ...domain.erasure import ERASED, ERASED_BLOCK
from ...domain.message import JSON, Text, ToolCall, ToolResult
from ...domain.rendering import TARGETS, Target, losses, to_anthropic, to_openai, to_openai_responses
from ...domain.tokens import count_parts, count_text, count_tools
from ..work.compressor import Looked
from .answers import Answer


@dataclass(frozen=True)
class Context:
    """What a model sees at ``position``: always a legal request that fits ``window`` less the reserve (C9).

    ``messages`` are neutral dictionaries (``position``, ``id``, ``role``, ``content``, ``state``, ``covers``);
    ``to_openai()``, ``to_openai_responses()`` and ``to_anthropic()`` render the request. ``proved``: a recorded
    digest equals this one (C11).
    """

    session: str
    position: int
    memory_revision: int | None
    frozen: bool
    policy: str
    window: int
    reserve: int
    proved: bool
    note: str
    built: Built
    reported_tokens: int | None = None
    """The size of this request in the provider's own count, where it is known: the usage that the caller gave for
    the last answer, and the count of what came after it (M5). It is what the trigger goes by."""

    @classmethod
    def of(cls, looked: Looked) -> Context:
        frozen = looked.frozen
        return cls(
            session=looked.session,
            position=looked.position,
            memory_revision=None if frozen is None else frozen.revision,
            frozen=frozen is not None and frozen.frozen,
            policy=looked.policy.name,
            window=looked.policy.window,
            reserve=looked.policy.reserve,
            proved=looked.proved,
            note=looked.note,
            built=looked.built,
            reported_tokens=looked.reported,
        )

    @property
    def system(self) -> str:
        """The caller's system prompt, then the memory block."""
        return self.built.system

    @property
    def messages(self) -> list[dict[str, JSON]]:
        return self.built.messages

    @property
    def tools(self) -> tuple[JSON, ...]:
        return self.built.tools

    @property
    def tokens(self) -> int:
        """Counted tokens of the whole request: system prompt, memory, tools and messages."""
        return self.built.tokens

    @property
    def counter(self) -> str:
        """Who counts in this runtime; each message keeps the count of the runtime that recorded it."""
        return self.built.preamble.counter.name

    @property
    def erased(self) -> list[str]:
        """Ids of the lines, and ``memory``, in whose place a tombstone stands: a past with one is never ``proved``."""
        stones = [line.id for line in self.built.lines if [*line.parts] == [Text(ERASED)]]
        return [*(["memory"] if ERASED_BLOCK in self.built.preamble.memory else []), *stones]

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical neutral JSON."""
        return digest(self.built)

    @cached_property
    def sizes(self) -> Answer:
        """Tokens by kind (``system``, ``memory``, ``tools``, and each role) and, under ``by_tool``, of tool results."""
        count = self.built.preamble.counter.count
        kinds: Counter[str] = Counter()
        names = {call.id: call.name for line in self.built.lines for call in line.parts if isinstance(call, ToolCall)}
        by_tool: Counter[str] = Counter()
        for line in self.built.lines:
            kinds[line.role] += count_parts(line.parts, count)
            for part in line.parts:
                if isinstance(part, ToolResult):
                    by_tool[part.name or names.get(part.call_id, "?")] += count_parts([part], count)
        preamble = self.built.preamble
        kinds["system"] += count_text(preamble.system, count)
        kinds["memory"] += count_text(preamble.memory, count)
        kinds["tools"] += count_tools(preamble.tools, count)
        return Answer({**kinds, "by_tool": dict(by_tool)})

    @cached_property
    def losses(self) -> dict[Target, tuple[str, ...]]:
        """What each rendering could not carry as it was given, one line each (M1)."""
        return {target: losses(self.built, target) for target in TARGETS}

    def to_openai(self) -> dict[str, Any]:
        """Arguments for the OpenAI chat API: ``messages`` and, when there are any, ``tools``."""
        return to_openai(self.built)

    def to_openai_responses(self) -> dict[str, Any]:
        """Arguments for the OpenAI Responses API: ``input`` and, when there are any, ``instructions`` and ``tools``."""
        return to_openai_responses(self.built)

    def to_anthropic(self) -> dict[str, Any]:
        """Arguments for the Anthropic messages API: ``messages`` and, when there are any, ``system`` and ``tools``."""
        return to_anthropic(self.built)

    def answer(self) -> Answer:
        """What the command line prints."""
        return Answer(
            session=self.session,
            position=self.position,
            memory_revision=self.memory_revision,
            memory_frozen=self.frozen,
            policy=self.policy,
            window=self.window,
            reserve=self.reserve,
            system=self.system,
            messages=self.messages,
            tools=list(self.tools),
            tokens=self.tokens,
            counter=self.counter,
            reported_tokens=self.reported_tokens,
            sizes=self.sizes,
            digest=self.digest,
            proved=self.proved,
            note=self.note or None,
            repairs=list(self.built.notes),
            erased=self.erased,
        )
