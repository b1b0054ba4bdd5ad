"""The elements of one JSON document: messages, what a logged response answered, and every other key (issue 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....domain.message import JSON
from .values import Row

_LIST_KEYS = ("messages", "loglines")
CONVERSATIONS = ("traj", "messages", "history")
"""Keys under which data sets and evaluation logs keep one conversation each."""
_MARK = {"form": "openai-responses"}


def is_wrapper(value: JSON) -> bool:
    """Whether an object is a document around messages, and no message itself."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(key), list) for key in _LIST_KEYS) or _is_response(value):
        return True
    request = value.get("request")
    return _asks(value) or (isinstance(request, dict) and (_key(request) is not None))


def elements(document: JSON) -> list[Row]:
    """The elements of a document, numbered from 1: messages, the answers of a logged response, the other keys."""
    if isinstance(document, list):
        return [Row(number, value) for number, value in enumerate(document, 1)]
    if not isinstance(document, dict):
        return [Row(1, document)]
    request = document.get("request")
    asked = request if isinstance(request, dict) and _key(request) is not None else document
    key = _key(asked)
    if key is None and not _is_response(document):
        return [Row(1, document)]
    found = list(_asked(asked, key)) if key is not None else []
    response = document.get("response")
    within = not isinstance(response, dict)
    answers = list(_answers(document if within else response, document))
    others = [name for name in document if asked is not document or name != key]
    if asked is not document:
        others.remove("request")
    if answers and within:
        others.remove("output")
    elif answers:
        others.remove("response")
    names = [*others, *(f"request.{name}" for name in asked if asked is not document and name != key)]
    found += answers
    found += [Row(0, problem=f"not a message: key {name[:80]!a} of the document") for name in names]
    return [Row(number, row.value, row.size, row.problem, row.about) for number, row in enumerate(found, 1)]


def _key(value: dict[str, Any]) -> str | None:
    """Where a request keeps its messages."""
    listed = next((key for key in _LIST_KEYS if isinstance(value.get(key), list)), None)
    return listed or ("input" if _asks(value) else None)


def _asks(value: dict[str, Any]) -> bool:
    """Whether this is a request of the Responses API: what it has as input is no tool's."""
    return isinstance(value.get("input"), (str, list)) and "type" not in value and "role" not in value


def _is_response(value: JSON) -> bool:
    return isinstance(value, dict) and value.get("object") == "response" and isinstance(value.get("output"), list)


def _asked(request: dict[str, Any], key: str) -> Iterator[Row]:
    entries = request[key]
    about = _MARK if key == "input" else None
    for value in entries if isinstance(entries, list) else [entries]:
        yield Row(0, value, about=about)


def _answers(response: JSON, document: dict[str, Any]) -> Iterator[Row]:
    """What a response of one of the three APIs says; nothing when it is none."""
    match response:
        case {"choices": list(choices)}:
            about = {"usage": response.get("usage"), "timestamp": document.get("timestamp", response.get("created"))}
            for index, choice in enumerate(choices):
                yield _choice(choice, about, first=index == 0)
        case {"output": list(output)}:
            about = {**_MARK, "timestamp": response.get("created_at")}
            for index, item in enumerate(output, 1):
                # The provider counts the response as a whole; its last item carries the count.
                paid = {"usage": response.get("usage")} if index == len(output) else {}
                yield Row(0, item, about={**about, **paid})
        case {"role": "assistant", "content": list()}:
            yield Row(0, response, about={"timestamp": document.get("timestamp")})


def _choice(choice: JSON, about: JSON, *, first: bool) -> Row:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return Row(0, problem="not a message: a choice of the response without one")
    if not first:
        return Row(0, problem="not a message: another choice of the same response")
    return Row(0, message, about=about)
