"""Whether a proposal says what a tool said: the words of its session, its earlier runs and its parents too (D13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...domain.catalogue import MessageRecorded, SessionForked
from ...domain.derivation import SOURCE_CHARS_MAX, Said, any_derived
from ...domain.events import LoggedEvent
from ...domain.forms import view
from ...domain.message import Text, ToolCall, ToolResult
from .publisher import Publisher
from .runtime import Runtime
from .sources import decode

MESSAGES_MAX = 2_000
"""Messages, the newest of the session, in which the words of a proposal are looked for."""
_PAGE = 200
_OUTSIDE = ("tool", "external")
_PEOPLE = ("user", "operator")


def from_outside(runtime: Runtime, publisher: Publisher, session: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts came out of a tool, as far as words show it.

    What the user said is the user's whoever said it first, and so is what memory holds: the answers of the memory tool
    list it. The model's own words are its own when it said them before the tool did (a file that it wrote and reads).
    """
    return any_derived(texts, [*_remembered(publisher), *told(runtime, session)])


def _remembered(publisher: Publisher) -> Iterator[Said]:
    document = publisher.document()
    for fact, text in zip(document.facts, document.entries, strict=False):
        if fact.trust not in _OUTSIDE:
            yield Said(text, always=True)


def told(runtime: Runtime, session: str, *, before: int | None = None) -> list[Said]:
    """What was said in a session (``before`` a position), oldest first, of the newest as much as the limits allow."""
    found: list[Said] = []
    left = SOURCE_CHARS_MAX
    for event in _newest_messages(runtime, session, before or runtime.log.head().position + 1):
        body = event.body
        if left <= 0:
            break
        if not isinstance(body, MessageRecorded) or event.payload is None:
            continue
        outside, people = event.envelope.trust in _OUTSIDE, event.envelope.trust in _PEOPLE
        for part in view(body.form, decode(event.payload, body.encoding)).parts:
            match part:
                case Text() | ToolResult():
                    text = part.text
                case ToolCall():
                    # The words of a file that the model writes, not the escapes of their JSON.
                    text = part.arguments.replace("\\n", "\n").replace("\\t", " ")
                case _:
                    continue
            found.append(Said(text[: max(left, 0)], outside=outside, always=people))
            left -= len(text)
    return found[::-1]


def _newest_messages(runtime: Runtime, session: str, before: int) -> Iterator[LoggedEvent]:
    name: str | None = session
    left = MESSAGES_MAX
    seen: set[str] = set()
    while name is not None and name not in seen and left > 0:
        seen.add(name)
        parent: tuple[str, int] | None = None
        for event in runtime.log.newest(
            before=before,
            topics=(MessageRecorded.TOPIC, SessionForked.TOPIC),
            session=name,
            workspace=runtime.workspace,
            page=_PAGE,
        ):
            if isinstance(fork := event.body, SessionForked):
                parent = (fork.parent, fork.parent_position)
                continue
            if left <= 0:
                return
            left -= 1
            yield event
        name, before = (None, before) if parent is None else (parent[0], min(before, parent[1] + 1))
