"""The neutral view of a message: what the context decides on, whatever form the original has (M1).

The original object is kept verbatim in the log; this view is computed from it by a pure function per form
(``minutebook.domain.forms``) and is never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any
"""A value that JSON can hold; deliberately loose, it is somebody else's data."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool", "summary"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool", "summary")

Form: TypeAlias = Literal["openai", "openai-responses", "anthropic", "pi", "claude-code", "codex", "openhands"]
"""The shape of the kept original; a new transcript format adds its tag here."""

Trust: TypeAlias = Literal["user", "operator", "model", "tool", "external"]
"""Where text came from, most trusted first; derived text carries the lowest of its sources (D13)."""

TRUST_ORDER: tuple[Trust, ...] = ("user", "operator", "model", "tool", "external")


def lowest_trust(*levels: Trust) -> Trust:
    """The lowest of the given trust levels; trust never rises by derivation (D13)."""
    return max(levels, key=TRUST_ORDER.index)


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text that the model or the user wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A reasoning block; it belongs to the tool calls that follow it in its message and stays with them."""

    text: str
    raw: JSON = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; ``arguments`` is the exact JSON text that the caller gave (perhaps not JSON at all)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a tool call; ``text`` is its readable text, ``media`` what else it held."""

    call_id: str
    text: str
    name: str = ""
    is_error: bool = False
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Media:
    """An image, sound or file; ``raw`` is the part as given, ``size`` its bytes when decoded (0: unknown)."""

    kind: str
    media_type: str
    size: int
    raw: JSON = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that this version does not know; kept, rendered only into the form it came from."""

    raw: JSON


Part: TypeAlias = Text | Reasoning | ToolCall | ToolResult | Media | Opaque


@dataclass(frozen=True, slots=True)
class View:
    """What one original says, in neutral terms: its role and its parts in order."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A recorded message as the context sees it.

    ``position`` is its place in the log and its order; ``id`` is unique in its session; ``tokens`` were
    counted when it was recorded (M5); ``source`` is the original object in ``form``.
    """

    position: int
    id: str
    view: View
    form: str
    source: JSON = field(repr=False)
    tokens: int
    run: str | None = None
    trust: Trust = "model"

    @property
    def role(self) -> Role:
        return self.view.role

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.view.parts

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.view.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.view.parts if isinstance(part, ToolResult))

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.view.parts if isinstance(part, Text))
