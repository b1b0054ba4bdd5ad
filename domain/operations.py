"""What the memory tool proposes: add, replace, remove, and a batch that holds as a whole or not at all (D2)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, assert_never

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from .document import canonical_text
from .errors import InputError, MemoryFault
from .events import Frozen
from .limits import MemoryLimits
from .message import JSON

TEXT_CHARS_MAX = 100_000
"""A proposal beyond this is refused unread; the entry limit itself is a finding, so that the model is told why."""


EntryText: TypeAlias = Annotated[str, Field(max_length=TEXT_CHARS_MAX), AfterValidator(canonical_text)]
"""What an operation says, in its canonical form."""


class Add(Frozen):
    """Adds an entry."""

    operation: Literal["add"] = "add"
    text: EntryText


class Replace(Frozen):
    """Puts a text in the place of an entry; ``expects`` is the digest of the text that it was decided on."""

    operation: Literal["replace"] = "replace"
    target: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS_MAX)]
    text: EntryText
    expects: str | None = None


class Remove(Frozen):
    """Takes an entry away; ``expects`` is the digest of the text that it was decided on."""

    operation: Literal["remove"] = "remove"
    target: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS_MAX)]
    expects: str | None = None


Single: TypeAlias = Add | Replace | Remove


class Batch(Frozen):
    """Several operations that hold together: each sees what the ones before it did."""

    operation: Literal["batch"] = "batch"
    operations: Annotated[
        tuple[Annotated[Single, Field(discriminator="operation")], ...], Field(min_length=1, max_length=10_000)
    ]


Operation: TypeAlias = Add | Replace | Remove | Batch
_ADAPTER: TypeAdapter[Operation] = TypeAdapter(Annotated[Operation, Field(discriminator="operation")])


def parse_operation(value: JSON, limits: MemoryLimits | None = None) -> Operation:
    """An operation from what a model or caller gave; strict, nothing unknown is taken in.

    A null is the same as nothing: models that are held by a schema fill every field that it names.
    Raises InputError ``bad_operation`` with what is wrong and where.
    """
    value = _without_nulls(value)
    most = (limits or MemoryLimits()).operations_per_batch_max
    if isinstance(value, dict) and isinstance(inner := value.get("operations"), list | tuple):
        if len(inner) > most:
            raise _bad(f"the batch has {len(inner)} operations, at most {most} are taken; send several batches")
        if any(isinstance(one, dict) and one.get("operation") == "batch" for one in inner):
            raise _bad("a batch holds add, replace and remove, no other batch; list its operations directly")
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        raise _bad(f"{_said(error)}; {_FORMS}") from None


def _without_nulls(value: JSON) -> JSON:
    if not isinstance(value, dict):
        return value
    given = {key: part for key, part in value.items() if part is not None}
    if isinstance(inner := given.get("operations"), list | tuple):
        given["operations"] = [_without_nulls(one) for one in inner]
    return given


_FORMS = (
    'give {"operation": "add", "text"}, {"operation": "replace", "target", "text"}, '
    '{"operation": "remove", "target"} or {"operation": "batch", "operations": [...]}'
)


_SAID = {
    "missing": "is missing",
    "extra_forbidden": "does not belong here",
    "string_type": "must be a string",
    "string_unicode": "holds half of a surrogate pair",
    "string_too_long": f"has more than {TEXT_CHARS_MAX:,} characters",
    "string_too_short": "is empty",
    "too_short": "is empty",
    "tuple_type": "must be an array",
}
"""What the validating library finds, in words of JSON: a model knows no tuples, tags and dictionaries."""


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    steps = [str(step)[:100] for step in first["loc"] if step not in ("add", "replace", "remove", "batch")]
    where = ".".join(steps)
    match first["type"]:
        case "union_tag_not_found":
            return f"{where + ': ' if where else ''}'operation' is missing"
        case "union_tag_invalid":
            return f"{where + ': ' if where else ''}'operation' must be add, replace, remove or batch"
        case "model_attributes_type" | "model_type" | "dict_type":
            return f"{where or 'the operation'} must be a JSON object"
        case kind:
            return f"{where or 'the operation'} {_SAID.get(kind) or 'cannot be read: ' + first['msg'][:200]}"


def _bad(message: str) -> InputError:
    return InputError(f"this is no memory operation: {message}", code="bad_operation")


def singles(operation: Operation) -> tuple[Single, ...]:
    """The operation's parts in order: itself, or what its batch holds."""
    return operation.operations if isinstance(operation, Batch) else (operation,)


def texts(operation: Operation) -> tuple[str, ...]:
    """The texts that the operation would make memory, in order."""
    return tuple(one.text for one in singles(operation) if not isinstance(one, Remove))


def text_digest(text: str) -> str:
    """The identity of an entry's text: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def new_entry_id(candidate: str, index: int) -> str:
    """The id that the engine gives to the text number ``index`` of a candidate: ``e`` and ten hexadecimal digits."""
    return "e" + hashlib.sha256(f"{candidate}\n{index}".encode()).hexdigest()[:10]


@dataclass(frozen=True, slots=True)
class Line:
    """An entry as operations see it: its id and text."""

    id: str
    text: str


_AS_SHOWN = re.compile(r"(?:- )?\[(?P<id>e[0-9a-f]{10})\] ?(?P<text>.*)")


def find_target(entries: Sequence[Line], target: str) -> int:
    """The index of the entry that a target names: its id, its exact text, or a text that occurs in only one.

    A line as the memory block shows it, ``[id] text``, names the entry by both.
    Raises MemoryFault ``target_unknown`` or ``target_ambiguous`` (``details["matches"]`` lists the entries).
    """
    wanted = canonical_text(target)
    if not wanted:
        raise MemoryFault("the target is empty; name an entry by its id or a part of its text", code="target_unknown")
    shown = _AS_SHOWN.fullmatch(wanted)
    tests: tuple[Callable[[Line], bool], ...] = (
        lambda line: line.id == wanted,
        lambda line: shown is not None and line.id == shown["id"] and shown["text"] in line.text,
        lambda line: line.text == wanted,
        lambda line: wanted in line.text,
        lambda line: wanted.casefold() in line.text.casefold(),
    )
    for test in tests:
        found = [index for index, line in enumerate(entries) if test(line)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _ambiguous(target, [entries[index] for index in found])
    raise MemoryFault(
        f"no entry has the id or holds the text {_short(target)}; look at the entries and name one of them",
        code="target_unknown",
        target=target,
    )


def _ambiguous(target: str, matches: Sequence[Line]) -> MemoryFault:
    shown = "; ".join(f"{line.id}: {_short(line.text)}" for line in matches[:5])
    more = f" and {len(matches) - 5} more" if len(matches) > 5 else ""
    return MemoryFault(
        f"{len(matches)} entries hold {_short(target)}: {shown}{more}; name one by its id or more of its text",
        code="target_ambiguous",
        target=target,
        matches=tuple({"id": line.id, "text": line.text} for line in matches),
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


@dataclass(frozen=True, slots=True)
class Change:
    """What one single operation did: the entry that went, the entry that came."""

    operation: Literal["add", "replace", "remove"]
    before: Line | None = None
    after: Line | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """The entries after an operation, what changed, and the operation with its targets pinned to ids and digests."""

    entries: tuple[Line, ...]
    changes: tuple[Change, ...]
    pinned: Operation


def apply(entries: Sequence[Line], operation: Operation, candidate: str) -> Applied:
    """Applies an operation to the entries: all of a batch, or none (D2). Pure; order is kept, adds go last.

    ``candidate`` gives new entries their ids. Raises MemoryFault ``target_unknown``, ``target_ambiguous``, or
    ``target_changed`` when the text is no longer the one that the operation was decided on.
    """
    lines = list(entries)
    changes: list[Change] = []
    pinned: list[Single] = []
    index = 0
    for one in singles(operation):
        match one:
            case Add():
                line = Line(_free_id(lines, candidate, index), one.text)
                index += 1
                lines.append(line)
                changes.append(Change("add", after=line))
                pinned.append(one)
            case Replace():
                at = _pinned_target(lines, one)
                line = Line(_free_id(lines, candidate, index), one.text)
                index += 1
                changes.append(Change("replace", before=lines[at], after=line))
                pinned.append(one.model_copy(update=_pin(entries, lines[at], one.target)))
                lines[at] = line
            case Remove():
                at = _pinned_target(lines, one)
                changes.append(Change("remove", before=lines[at]))
                pinned.append(one.model_copy(update=_pin(entries, lines[at], one.target)))
                del lines[at]
            case _ as never:
                assert_never(never)
    whole: Operation = (
        operation.model_copy(update={"operations": tuple(pinned)}) if isinstance(operation, Batch) else pinned[0]
    )
    return Applied(tuple(lines), tuple(changes), whole)


def _pin(entries: Sequence[Line], line: Line, target: str) -> dict[str, str]:
    """Target by id and digest, so that a later state cannot redirect it; what the batch itself made stays by text."""
    return {"target": line.id, "expects": text_digest(line.text)} if line in entries else {"target": target}


def _pinned_target(lines: Sequence[Line], one: Replace | Remove) -> int:
    at = find_target(lines, one.target)
    if one.expects is not None and text_digest(lines[at].text) != one.expects:
        raise MemoryFault(
            f"entry {lines[at].id} has changed since this was proposed; look at it and propose again",
            code="target_changed",
            target=one.target,
        )
    return at


def _free_id(lines: Sequence[Line], candidate: str, index: int) -> str:
    """Ids are short, so a clash is possible in principle; the next one that is free is as deterministic."""
    taken = {line.id for line in lines}
    name = candidate
    while (given := new_entry_id(name, index)) in taken:
        name += "'"
    return given
