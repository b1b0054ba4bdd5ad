"""The typed answers of a model: the schema that goes beside a prompt, and the text that a typed answer comes to (C5).

A typed answer is not another way in. It is written out as the text that an author without a schema would have sent,
and that text is read and judged like any other. Nothing is mended: what does not keep to its schema is refused whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .summary import SECTIONS, Summary, render
from .summary_safety import redact_credentials

Output: TypeAlias = Literal["auto", "structured", "text"]
"""How a model is asked: with a schema where it takes one, with a schema or not at all, or for plain text."""

NAME_CHARS_MAX = 40
"""Of a name that is in no schema, when it is quoted."""


class Mismatch(ValueError):
    """A typed answer that does not keep to its schema; says where, and quotes nothing but a name."""


@dataclass(frozen=True, slots=True)
class Form:
    """One typed answer: an object with a fixed set of names, each with an array of strings.

    ``name`` and ``description`` go to the model with the ``schema``; ``written`` makes the text of the values.
    """

    name: str
    description: str
    names: tuple[tuple[str, str], ...]
    written: Callable[[Mapping[str, Sequence[str]]], str]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema, in the part of the language that providers take for strict: all required, nothing else."""
        return {
            "type": "object",
            "properties": {
                name: {"type": "array", "items": {"type": "string"}, "description": description}
                for name, description in self.names
            },
            "required": [name for name, _ in self.names],
            "additionalProperties": False,
        }

    def text(self, answer: str) -> str:
        """The text that ``answer``, a JSON object, comes to. Raises Mismatch; safe on any text."""
        values = _object(answer)
        known = [name for name, _ in self.names]
        if unknown := [name for name in values if name not in known]:
            raise Mismatch(f"{unknown[0][:NAME_CHARS_MAX]!r} is no name of the schema")
        if missing := [name for name in known if name not in values]:
            raise Mismatch(f"{missing[0]!r} is missing")
        for name in known:
            if not isinstance(values[name], list) or any(not isinstance(item, str) for item in values[name]):
                raise Mismatch(f"{name!r} is no array of strings")
        return self.written({name: tuple(values[name]) for name in known})


def _object(answer: str) -> dict[str, Any]:
    try:
        value = json.loads(answer, object_pairs_hook=_pairs)
    except Mismatch:
        raise
    except RecursionError as error:
        raise Mismatch("it is nested too deeply") from error
    except ValueError as error:
        raise Mismatch(f"it is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Mismatch("it is no JSON object")
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Mismatch("a name stands in it twice")
    return found


def _summary(values: Mapping[str, Sequence[str]]) -> str:
    return render(Summary({section.id: tuple(values[section.id]) for section in SECTIONS}))


def _memory(values: Mapping[str, Sequence[str]]) -> str:
    return json.dumps(list(values["entries"]), ensure_ascii=False)


SUMMARY_FORM = Form(
    "summary",
    "The same notes as a value instead of Markdown: under each name the bullet lines of one section, each a string of "
    "one line without the bullet and with its sources as [@N]; an empty array where there is nothing to say.",
    tuple((section.id, f"{section.title}: {section.asks}") for section in SECTIONS),
    _summary,
)
"""The nine sections of a summary by their ids (C4)."""

MEMORY_FORM = Form(
    "memory",
    "The same array of strings as a value: the next memory, one entry a string.",
    (("entries", "the entries of the next memory, in order"),),
    _memory,
)
"""The entries of the next memory (D4); an object around the array, because providers take no other schema."""


CLAIMS_FORM = Form(
    "claims",
    "The same array of strings as a value: what is worth keeping of the run, one claim a string.",
    (("claims", "each as KIND [m:ID] TEXT, in the words of the message with that id"),),
    lambda values: json.dumps(list(values["claims"]), ensure_ascii=False),
)
"""What a model reads out of a run (D14)."""


def recorded(asked: Mapping[str, str] | None) -> dict[str, dict[str, str]]:
    """How a model was asked, as it stands in the payload of an event: without credentials, and only where it is known.

    The words of a provider about a schema that it refused are among it.
    """
    return {"asked": {name: redact_credentials(text)[0] for name, text in asked.items()}} if asked else {}
