"""A session, or memory, in the form that somebody else reads: lines of JSON for a program, Markdown for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from ...domain.context import Preamble, Shown, build
from ...domain.document import render
from ...domain.errors import InputError, MemoryFault
from ...domain.message import JSON, Message, Text, ToolCall, ToolResult
from ...domain.rendering import to_anthropic, to_openai, to_openai_responses
from ...domain.revision import Revision
from ...projections.context import history
from . import conversation
from .runtime import Runtime
from .visible import message_of

FORMS = ("original", "neutral", "openai", "openai-responses", "anthropic", "markdown")
"""What a session can be exported as; the first is what is meant when nothing is said."""
MEMORY_FORMS = ("text", "json")
_PAGE = 500


def session_lines(runtime: Runtime, session: str, form: str = FORMS[0]) -> Iterator[bytes]:
    """Every message of a session in order, also those that a summary stands for; one JSON value a line.

    ``original`` gives each as it was recorded, ``neutral`` with position and id; the names of providers give legal
    messages of theirs. Raises SessionError ``unknown_session``, InputError ``unknown_form``.
    """
    _require(form, FORMS)
    conversation.require_session(runtime, session)
    return _told(runtime, session, form)


def _told(runtime: Runtime, session: str, form: str) -> Iterator[bytes]:
    match form:
        case "original":
            yield from (_line(message.source) for message in _messages(runtime, session))
        case "markdown":
            yield f"# Session {session}\n".encode()
            yield from (_markdown(message) for message in _messages(runtime, session))
        case _:
            # What makes a request legal looks at all of it: a call may have its result much later.
            shown = [Shown(message, None, message.tokens) for message in _messages(runtime, session)]
            built = build(shown, Preamble())
            rendered: dict[str, Callable[[], Any]] = {
                "neutral": lambda: built.messages,
                "openai": lambda: to_openai(built)["messages"],
                "openai-responses": lambda: to_openai_responses(built)["input"],
                "anthropic": lambda: to_anthropic(built)["messages"],
            }
            yield from map(_line, rendered[form]())


def _messages(runtime: Runtime, session: str) -> Iterator[Message]:
    with runtime.projections.reading("context") as (view, connection):
        rows = history.messages(view, connection, runtime.workspace, session)
    for start in range(0, len(rows), _PAGE):
        part = [row.position for row in rows[start : start + _PAGE]]
        events = runtime.log.at(part)
        yield from (message_of(events[position]) for position in part)


def _line(value: JSON) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # Originals may hold what only Python's own writer knows: integers beyond 64 bits, lone surrogates (M1).
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _markdown(message: Message) -> bytes:
    said = [f"\n## {message.role} ({message.position})\n"]
    for part in message.parts:
        match part:
            case Text(text=text):
                said.append(f"\n{text}\n")
            case ToolCall(name=name, arguments=arguments):
                said.append(f"\nCalls `{name}`:\n\n{_fenced(arguments)}\n")
            case ToolResult(text=text):
                said.append(f"\nResult:\n\n{_fenced(text)}\n")
            case _:
                said.append(f"\n[{type(part).__name__}]\n")
    return "".join(said).encode("utf-8", "backslashreplace")


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def memory_bytes(revision: Revision | None, blame: list[dict[str, Any]], form: str = MEMORY_FORMS[0]) -> bytes:
    """The entries of the current revision: the bytes that the memory file must have, or JSON with where each is from.

    Raises InputError ``unknown_form``, MemoryFault ``revision_erased``.
    """
    _require(form, MEMORY_FORMS)
    if form == "json":
        return orjson.dumps(blame, default=str, option=orjson.OPT_APPEND_NEWLINE)
    if revision is None:
        return b""
    if revision.texts is None:
        raise MemoryFault(
            "the text of the current revision was erased; nothing is left to export", code="revision_erased"
        )
    return render(revision.texts)


def _require(form: str, known: tuple[str, ...]) -> None:
    if form not in known:
        raise InputError(f"there is no form {form!r}; there are: {', '.join(known)}", code="unknown_form")
