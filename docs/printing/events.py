"""docs/reference/events.md: every event with its facts and its payload."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from minutebook.domain.events import TOPICS, Event, Frozen

from .markdown import ALIASES, HEADER, default, flat, prose, spoken, table

INTRO = """\
Every event that minutebook writes. An event has an *envelope* (columns of the table [events](tables.md#events)),
*facts* (listed here, kept for ever) and, where it holds text, a *payload* (which can be erased without breaking the
*chain*). A *topic* never changes its meaning; when its facts change shape, its version rises and older events are
read through an upcast.

"""


def page() -> str:
    """The page."""
    out = [
        HEADER + "# Events\n\n",
        INTRO,
        "".join(f"`{name}` is one of {_choices(alias)}.  \n" for alias, name in ALIASES.items()),
        "\n",
        table(
            ("topic", "version", "says"),
            [(f"[{t}](#{t.lower()})", str(c.class_version), _first(c)) for t, c in TOPICS.items()],
        ),
    ]
    nested: dict[str, type[BaseModel]] = {}
    for name, cls in TOPICS.items():
        out.append(f"\n## {name}\n\n{prose(cls.__doc__)}\n\n")
        out.append(f"Version {cls.class_version}. Payload: {_payload(cls)}.\n")
        out.append(_fields(cls, nested))
    out.append("\n## Values inside facts\n")
    for name in sorted(_closure(nested)):
        out.append(f"\n### {name}\n\n{prose(nested[name].__doc__)}\n")
        out.append(_fields(nested[name], nested))
    return "".join(out)


def _choices(alias: Any) -> str:
    return ", ".join(f"`{value}`" for value in get_args(alias))


def _first(cls: type) -> str:
    return re.split(r"(?<=[.;:]) ", flat(cls.__doc__))[0].rstrip(".;:")


def _payload(cls: type[Event]) -> str:
    found = re.findall(r"[Pp]ayload `([^`]+)`", flat(cls.__doc__))
    return " or ".join(f"`{form}`" for form in found) or "none"


def _fields(cls: type[BaseModel], nested: dict[str, type[BaseModel]]) -> str:
    own = {name: field for name, field in cls.model_fields.items() if name not in Event.model_fields}
    if not own:
        return "\nNo facts of its own.\n"
    for field in own.values():
        nested.update({inner.__name__: inner for inner in _models(field.annotation)})
    rows = [
        (f"`{name}`", spoken(field.annotation), "required" if field.is_required() else default(field.default))
        for name, field in own.items()
    ]
    return "\n" + table(("fact", "type", "default"), rows)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, Frozen):
        yield annotation
    for arg in get_args(annotation):
        yield from _models(arg)


def _closure(nested: dict[str, type[BaseModel]]) -> Mapping[str, type[BaseModel]]:
    queue = list(nested.values())
    while queue:
        for field in queue.pop().model_fields.values():
            for inner in _models(field.annotation):
                if inner.__name__ not in nested:
                    nested[inner.__name__] = inner
                    queue.append(inner)
    return nested
