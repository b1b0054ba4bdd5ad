"""The words that stand for a shortened tool payload: what it was, how it ended, where it is kept (C3).

A placeholder is bounded, the same on every machine, and written so that it cannot be taken for a broken
tool: it says first that the call finished, and that only this view is shorter (compaction-anchors.md rank 9).
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .message import JSON, Media, ToolCall, ToolResult
from .policy import Policy

MARK = "[minutebook: "
"""How every placeholder begins; a result that holds it, within the bound below, is not shortened again."""

IMPORTANT = (
    "path", "file_path", "filePath", "file", "filename", "notebook_path", "directory", "dir", "cwd", "command",
    "cmd", "script", "query", "pattern", "regex", "glob", "url", "uri", "id", "ids", "name", "title", "method",
    "branch", "commit", "description", "offset", "limit",
)  # fmt: skip
"""Argument names that tell what a call was about, most telling first."""

PLACEHOLDER_CHARS_MAX = 4_000
"""No placeholder is longer, whatever the policy and the names in it."""

JSON_CHARS_MAX = 1_000_000
"""A longer result is described by its lines only: reading it as JSON would cost more than it tells."""


def clip(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, with an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"


def clip_middle(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters: its beginning and its end, where a long request often has its point."""
    if len(text) <= limit:
        return text
    head = text[: max(limit * 3 // 5 - 2, 0)].rpartition(" ")[0] or text[: limit // 2]
    tail = text[-max(limit * 2 // 5 - 1, 1) :].partition(" ")[2]
    return clip(f"{head} … {tail}" if tail else head + " …", limit)


def one_line(text: str, limit: int) -> str:
    """``text`` on one line: runs of white space become one space; at most ``limit`` characters."""
    # Cut before splitting: a result of 50 MB must not be split for the sake of its first line.
    return clip(" ".join(text[: limit * 4].split()), limit)


def encodable(text: str) -> str:
    """``text`` without lone surrogates, which no UTF-8 payload can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a payload is kept in full: log position, message id, session."""

    position: int
    message: str
    session: str

    def __str__(self) -> str:
        return (
            f"Kept in full at log position {self.position}, message {clip(self.message, 120)}: the recall tool with "
            f"position {self.position}, `minutebook trace {self.position}` or `minutebook session messages "
            f"{shlex.quote(clip(self.session, 120))}`."
        )


def important_arguments(call: ToolCall, limit: int, first: Sequence[str] = ()) -> str:
    """The arguments of a call that tell what it was about, as ``name=value`` pairs, at most ``limit`` characters.

    Those named in ``first`` come before the usual ones.
    """
    arguments = read_json(call.arguments)
    if not isinstance(arguments, dict):
        return one_line(call.arguments, limit) if call.arguments.strip() else ""
    known = [key for key in dict.fromkeys((*first, *IMPORTANT)) if key in arguments]
    chosen = known or [key for key, value in arguments.items() if not isinstance(value, dict | list)]
    pairs: list[str] = []
    room = limit
    for key in chosen:
        value = arguments[key]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        pair = f"{one_line(str(key), 40)}={one_line(text, min(200, limit // 2))}"
        if len(pair) + 2 > room:
            break
        pairs.append(pair)
        room -= len(pair) + 2
    return encodable(", ".join(pairs))


def overview(text: str, limit: int) -> str:
    """Size, and first and last lines or JSON keys, of a result; at most about ``limit`` characters of its own text."""
    lines = text.count("\n") + 1
    size = f"{len(text):,} characters in {lines:,} line{'' if lines == 1 else 's'}"
    keys = _json_overview(text, limit)
    if keys:
        return f"{size}; {keys}"
    width = max(limit // 6, 40)
    first = [one_line(line, width) for line in _some(text[:4_000].split("\n"))]
    last = [one_line(line, width) for line in _some(reversed(text[-4_000:].split("\n")))][::-1]
    shown = "\n".join([f"{size}.", "First lines:", *(f"  {line}" for line in first)])
    if lines > len(first):
        shown = "\n".join([shown, "Last lines:", *(f"  {line}" for line in last)])
    return shown


def _some(lines: Iterable[str]) -> Iterator[str]:
    """The first three lines that are not blank."""
    return islice((line for line in lines if line and not line.isspace()), 3)


def result_text(result: ToolResult, call: ToolCall | None, place: Place, policy: Policy, *, tight: bool) -> str:
    """The placeholder of one long result (C3)."""
    scale = 3 if tight else 1
    name = _tool(result, call)
    ended = "finished and reported an error" if result.is_error else "finished"
    lines = [f"{MARK}{name} {ended}; this view of its output is shortened]"]
    first = policy.hint(result.name or (call.name if call else "")).arguments
    room = policy.placeholder_argument_chars // scale
    if call is not None and (arguments := important_arguments(call, room, first)):
        lines.append(f"Called with: {arguments}")
    lines.append(f"Output: {overview(result.text, policy.placeholder_overview_chars // scale)}")
    lines.append(str(place))
    return encodable("\n".join(lines))


def duplicate_text(result: ToolResult, call: ToolCall | None, *, position: int, message: str) -> str:
    """What stands for a result whose identical text came again later: a reference to the newest one (C3)."""
    ended = "finished and reported an error" if result.is_error else "finished"
    return encodable(
        f"{MARK}{_tool(result, call)} {ended}; the same output ({len(result.text):,} characters) came again later, "
        f"at log position {position}, message {clip(message, 120)}: see it there]"
    )


def media_text(media: Sequence[Media], place: Place) -> str:
    """What stands for the images and files in an old result, all in one note."""
    kinds = sorted({f"{one_line(item.kind, 40)} {one_line(item.media_type, 80)}".strip() for item in media})
    size = sum(item.size for item in media)
    what = f"{len(media)} of {clip(', '.join(kinds), 200)}" + (f", {size:,} bytes" if size else "")
    return encodable(f"{MARK}the tool also returned {what}; left out here] {place}")


def shorten_arguments(arguments: str, *, position: int, policy: Policy) -> str:
    """Call arguments cut *inside* their JSON, so that what remains is valid JSON of the same top-level type.

    Text that is no JSON becomes a JSON object with its beginning, since a provider that parses arguments
    would refuse a bare cut (hermes-agent#11762).
    """
    value = read_json(arguments)
    if value is _NOT_JSON:
        beginning = clip(arguments, policy.argument_string_chars)
        note = _cut_note(len(arguments) - policy.argument_string_chars, position)
        # Written as tightly as below: cutting again must change nothing, not even a space.
        value = {"arguments": f"{beginning} {note}"}
        return encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    cut = _shorten(value, position, policy, depth=0)
    return encodable(json.dumps(cut, ensure_ascii=False, separators=(",", ":")))


def string_leaves(value: JSON) -> Iterator[str]:
    """All strings inside a JSON value, without recursion (its depth is somebody else's choice)."""
    stack: list[JSON] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


class _NotJson:
    pass


_NOT_JSON = _NotJson()


def read_json(text: str) -> JSON:
    """The value of ``text``, or a marker that is no JSON type when it is not strict JSON or nested too deep."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _shorten(value: JSON, position: int, policy: Policy, depth: int) -> JSON:
    if isinstance(value, str) and len(value) > policy.argument_string_chars and not _is_cut(value, policy):
        dropped = len(value) - policy.argument_string_chars
        return f"{value[: policy.argument_string_chars]}… {_cut_note(dropped, position)}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # 1e999 is JSON and reads as infinity, which cannot be written back
    if isinstance(value, dict | list) and depth >= 6:
        return f"{MARK}{len(value)} nested items not shown, log position {position}]" if value else value
    most = policy.argument_items_max
    if isinstance(value, dict):
        kept = {key: _shorten(item, position, policy, depth + 1) for key, item in list(value.items())[:most]}
        if len(value) > most:
            note = f"{MARK}{len(value) - most} more keys, log position {position}]"
            kept["…"] = value["…"] if len(value) == most + 1 and "…" in value else note
        return kept
    if isinstance(value, list):
        items = [_shorten(item, position, policy, depth + 1) for item in value[:most]]
        if len(value) == most + 1 and _is_cut(value[-1], policy):
            items.append(value[-1])
        elif len(value) > most:
            items.append(f"{MARK}{len(value) - most} more items, log position {position}]")
        return items
    return value


def _is_cut(value: JSON, policy: Policy) -> bool:
    """True for a text that was cut before: cutting again must change nothing."""
    longest = policy.argument_string_chars + 100
    return isinstance(value, str) and len(value) <= longest and MARK in value and value.endswith("]")


def _cut_note(dropped: int, position: int) -> str:
    return f"{MARK}{dropped:,} more characters, log position {position}]"


def _tool(result: ToolResult, call: ToolCall | None) -> str:
    return one_line(result.name or (call.name if call else "") or "the tool", 80)


def _json_overview(text: str, limit: int) -> str:
    if len(text) > JSON_CHARS_MAX or text.lstrip()[:1] not in ("{", "["):
        return ""
    value = read_json(text)
    if isinstance(value, dict) and value:
        return f"a JSON object with {len(value):,} keys: {one_line(', '.join(map(str, value)), limit // 2)}"
    if isinstance(value, list) and value:
        first = value[0]
        keys = f", the first with keys: {one_line(', '.join(map(str, first)), limit // 2)}" if _keyed(first) else ""
        return f"a JSON array of {len(value):,} items{keys}"
    return ""


def _keyed(value: JSON) -> bool:
    return isinstance(value, dict) and bool(value)
