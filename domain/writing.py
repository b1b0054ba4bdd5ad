"""What the writers of both APIs share: names, texts that can be sent, tool schemas, and the list of losses (M1)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from .context import Built, Line, turn_numbers
from .jsontext import compact, whole
from .media import describe
from .message import JSON, Media, Opaque, ToolCall, ToolResult
from .naming import Names

START = "[Start of the conversation.]"
"""The user message that an API demands first where the history has none."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool schema in neither form."""

    name: str
    description: str | None
    schema: dict[str, JSON]
    strict: bool | None = None


class Writer:
    """One rendering of one built context; collects in ``losses`` what could not be carried.

    ``results`` gives, by turn and call id, the line and part that answer a call: build puts them in its turn.
    """

    def __init__(self, built: Built, *, id_longest: int, name_longest: int, ids_unique: bool) -> None:
        self.built = built
        self.losses: list[str] = list(built.notes)
        self.names = Names(name_longest)
        self.turns = turn_numbers(built.lines)
        self.results: dict[tuple[int, str], tuple[Line, ToolResult]] = {}
        calls: list[tuple[int, str]] = []
        for turn, line in zip(self.turns, built.lines, strict=True):
            for part in line.parts:
                if isinstance(part, ToolCall):
                    calls.append((turn, part.id))
                elif isinstance(part, ToolResult):
                    self.results[turn, part.call_id] = (line, part)
        self._ids = _wire_ids(calls, Names(id_longest), unique=ids_unique)

    def lose(self, line: Line, what: str) -> None:
        self.losses.append(f"{line.id}: {what}")

    def text(self, line: Line, text: str) -> str:
        """``text`` as UTF-8 can carry it."""
        sent = whole(text)
        if sent is not text:
            self.lose(line, "half of a surrogate pair replaced by U+FFFD")
        return sent

    def call_id(self, line: Line, turn: int, name: str) -> str:
        sent = self._ids[turn, name]
        if sent != name:
            self.lose(line, f"call id {name!r} sent as {sent!r}")
        return sent

    def tool_name(self, line: Line, name: str) -> str:
        sent = self.names.name(name)
        if sent != name:
            self.lose(line, f"tool name {name!r} sent as {sent!r}")
        return sent

    def opaque(self, line: Line, part: Opaque) -> str:
        """An unknown part as text, so that the model sees it all the same."""
        kind = part.raw.get("type") if isinstance(part.raw, dict) else None
        self.lose(line, f"part of type {kind if isinstance(kind, str) else 'unknown'!r} shown as JSON text")
        return self.text(line, compact(part.raw))

    def absent(self, line: Line, media: Media) -> str:
        """What stands for an image, sound or file that has no place here."""
        self.lose(line, f"{media.kind} {media.media_type} of {media.size} bytes not carried")
        return self.text(line, describe(media))

    def fields(self, line: Line, known: frozenset[str], parts_known: Mapping[str, frozenset[str]]) -> None:
        """Records fields of an original, and of its parts, that no part of the view stands for."""
        if line.origin is None or line.state != "original":
            return
        source = line.origin.source
        if line.origin.form not in ("openai", "openai-responses", "anthropic") or not isinstance(source, dict):
            return
        self._extra(line, source, ITEM_FIELDS if line.origin.form == "openai-responses" else known, "")
        content = source.get("content")
        if isinstance(content, list):
            for block in content:
                kind = block.get("type") if isinstance(block, dict) else None
                if isinstance(kind, str) and kind in parts_known:
                    self._extra(line, block, parts_known[kind], f" of a {kind} part")

    def _extra(self, line: Line, value: Mapping[str, JSON], known: frozenset[str], where: str) -> None:
        names = [str(key) for key, inner in value.items() if key not in known and inner not in (None, [])]
        if names:
            self.lose(line, f"fields {', '.join(names)}{where} not carried")

    def tools(self) -> Iterable[Tool | dict[str, JSON]]:
        """The caller's tool schemas: read from either form, or as they are when they are a provider's own."""
        for given in self.built.tools:
            tool = read_tool(given)
            if tool is None:
                if isinstance(given, dict):
                    yield given
                else:
                    self.losses.append(f"tools: {compact(given)[:80]} is no tool schema, not carried")
            else:
                yield tool

    def offered_name(self, tool: Tool, taken: Container[str]) -> str | None:
        """The name under which a tool is sent; None where an earlier one has it."""
        name = self.names.name(tool.name)
        if name != tool.name:
            self.losses.append(f"tools: name {tool.name!r} sent as {name!r}")
        if name in taken:
            self.losses.append(f"tools: {tool.name!r} given twice, the second is not carried")
            return None
        return name


def _wire_ids(calls: list[tuple[int, str]], names: Names, *, unique: bool) -> dict[tuple[int, str], str]:
    """What is sent for each call id of each turn; with ``unique`` an id that comes again gets a number."""
    for _, name in calls:
        names.reserve(name)
    sent: dict[tuple[int, str], str] = {}
    came: dict[str, int] = {}
    for turn, name in calls:
        number = came[name] = came.get(name, 0) + 1
        sent[turn, name] = names.again(name, number) if unique and number > 1 else names.name(name)
    return sent


PART_FIELDS: dict[str, frozenset[str]] = {
    "text": frozenset({"type", "text"}),
    "input_text": frozenset({"type", "text"}),
    "output_text": frozenset({"type", "text"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail"}),
    "input_file": frozenset({"type", "file_data", "file_id", "file_url", "filename"}),
    "refusal": frozenset({"type", "refusal"}),
    "image_url": frozenset({"type", "image_url"}),
    "input_audio": frozenset({"type", "input_audio"}),
    "image": frozenset({"type", "source"}),
    "document": frozenset({"type", "source", "title"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "name"}),
}
"""Fields of a part that the view reads; any other is lost, and said so."""

ITEM_FIELDS = frozenset(
    {"type", "role", "content", "phase", "call_id", "name", "namespace", "arguments", "input", "output", "action"}
    | {"operation", "summary", "encrypted_content", "id", "status"}
)
"""Fields of a Responses item that the view reads, and ``id`` and ``status``, which only bind it to its response."""


def read_tool(given: JSON) -> Tool | None:
    """A tool schema in the OpenAI chat, OpenAI Responses, MCP or Anthropic shape; None when it is none of these."""
    if not isinstance(given, dict):
        return None
    inner = given.get("function")
    body: dict[str, JSON] = inner if isinstance(inner, dict) else given
    name = body.get("name")
    if not isinstance(name, str) or given.get("type", "function") not in ("function", "custom"):
        return None
    schema = next((body[key] for key in ("parameters", "input_schema", "inputSchema") if key in body), None)
    description = body.get("description")
    strict = body.get("strict")
    return Tool(
        name,
        description if isinstance(description, str) and description else None,
        _object_schema(schema),
        strict if isinstance(strict, bool) else None,
    )


def _object_schema(schema: JSON) -> dict[str, JSON]:
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}
