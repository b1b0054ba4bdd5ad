"""Writes a built context for the OpenAI Responses API. Rules kept: see ``legality.check_openai_responses``.

Ids and status of recorded items are not sent: an id binds an item to the reasoning and the response that the
provider stored it with, and a context is sent without those. Reasoning is sent when it is sealed
(``encrypted_content``) and the item that it led to stands right behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .context import Built, Line
from .jsontext import compact, deep, whole
from .media import to_responses as media_part
from .message import JSON, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .writing import PART_FIELDS, START, Tool, Writer

_KNOWN = frozenset(
    {"role", "content", "refusal", "audio", "tool_calls", "tool_call_id", "function_call"}
    | {"reasoning_content", "reasoning", "thinking_blocks"}
)
_ITEM_ID = re.compile(r"[a-zA-Z0-9_-]{1,256}")
PHASES = ("commentary", "final_answer")
OWN_TOOLS = frozenset(
    {"web_search", "web_search_preview", "file_search", "code_interpreter", "image_generation", "mcp", "local_shell"}
)
"""Tools of the provider's own; they are sent as the caller gave them."""


class ResponsesWriter(Writer):
    """Items in the order of the built lines; build has put every output behind its call."""

    def __init__(self, built: Built) -> None:
        super().__init__(built, id_longest=64, name_longest=64, ids_unique=True)
        self.items: list[tuple[Line | None, dict[str, JSON]]] = []
        self._custom: set[tuple[int, str]] = set()
        self._thoughts: set[str] = set()

    def request(self) -> dict[str, JSON]:
        lines = self.built.lines
        preamble = self.built.preamble
        start = 0
        while start < len(lines) and lines[start].role == "system":
            start += 1
        for line in lines[:start]:
            self._line(line, 0)
        if start and preamble.memory:  # the memory block comes last in the system prompt (C11)
            self._add(None, {"type": "message", "role": "system", "content": whole(preamble.memory)})
        for turn, line in zip(self.turns[start:], lines[start:], strict=True):
            self._line(line, turn)
        items = self._settle()
        request: dict[str, JSON] = {"input": items or [{"type": "message", "role": "user", "content": START}]}
        head = preamble.system if start else preamble.text
        if head.strip():
            request["instructions"] = whole(head)
        tools = self._tools()
        return {**request, "tools": tools} if tools else request

    def _add(self, line: Line | None, item: dict[str, JSON]) -> None:
        self.items.append((line, item))

    def _line(self, line: Line, turn: int) -> None:
        self.fields(line, _KNOWN, PART_FIELDS)
        before = len(self.items)
        if line.role == "assistant":
            self._assistant(line, turn)
        else:
            for part in line.parts:
                if isinstance(part, ToolResult):
                    self._add(line, self._output(line, turn, part))
            rest = [part for part in line.parts if not isinstance(part, ToolResult)]
            content = self._content(line, rest, media=line.role != "system")
            if content:
                role = "user" if line.role != "system" else "system"
                if role == "system" and self._source(line).get("role") == "developer":
                    role = "developer"
                self._add(line, self._message(line, role, content))
        if len(self.items) == before:
            self.lose(line, "empty message left out")

    def _assistant(self, line: Line, turn: int) -> None:
        texts: list[Part] = []
        for part in line.parts:
            if isinstance(part, (Reasoning, ToolCall)) or (isinstance(part, Opaque) and _own(line, part)):
                self._said(line, texts)
                texts = []
            match part:
                case Reasoning():
                    self._reasoning(line, part)
                case ToolCall():
                    self._add(line, self._call(line, turn, part))
                case Opaque(raw) if _own(line, part):
                    self._add(line, {key: raw[key] for key in ("type", "status", "action")})
                case _:
                    texts.append(part)
        self._said(line, texts)

    def _said(self, line: Line, parts: list[Part]) -> None:
        content = self._content(line, parts, media=False, kind="output_text")
        if content:
            self._add(line, self._message(line, "assistant", content))

    def _message(self, line: Line, role: str, content: str | list[dict[str, JSON]]) -> dict[str, JSON]:
        source = self._source(line)
        typed = {} if source and "type" not in source else {"type": "message"}
        phase = source.get("phase")
        return {**typed, "role": role, "content": content, **({"phase": phase} if phase in PHASES else {})}

    def _content(
        self, line: Line, parts: Sequence[Part], *, media: bool, kind: str = "input_text"
    ) -> str | list[dict[str, JSON]]:
        """Text, or a list of parts where there is more than text or where the original was a list; "" for nothing."""
        out: list[dict[str, JSON]] = []
        for part in parts:
            match part:
                case Text(text):
                    if text:
                        out.append({"type": kind, "text": self.text(line, text)})
                case Media():
                    found = media_part(part) if media else None
                    out.append(found or {"type": kind, "text": self.absent(line, part)})
                case Opaque():
                    out.append({"type": kind, "text": self.opaque(line, part)})
                case Reasoning() | ToolCall() | ToolResult():
                    pass  # items of their own; build has made text of reasoning that is not the assistant's
        source = self._source(line)
        listed = isinstance(source.get("content"), list) or (kind == "output_text" and not source)
        if out and (listed or any(item["type"] != kind for item in out)):
            return out
        return "\n".join([item["text"] for item in out])

    def _reasoning(self, line: Line, part: Reasoning) -> None:
        raw = part.raw
        sealed = raw.get("encrypted_content") if isinstance(raw, dict) and raw.get("type") == "reasoning" else None
        if not isinstance(sealed, str) or not sealed or whole(sealed) is not sealed:
            self.lose(line, f"reasoning of {len(part.text)} characters not carried: it is not sealed")
            return
        item: dict[str, JSON] = {"type": "reasoning"}
        name = raw.get("id")
        if isinstance(name, str) and _ITEM_ID.fullmatch(name):
            if name in self._thoughts:
                self.lose(line, "reasoning not carried: the same item stands before")
                return
            self._thoughts.add(name)
            item["id"] = name
        summary = raw.get("summary")
        item["summary"] = [
            {"type": "summary_text", "text": whole(entry["text"])}
            for entry in (summary if isinstance(summary, list) else ())
            if isinstance(entry, dict) and isinstance(entry.get("text"), str)
        ]
        if raw.get("content"):
            self.lose(line, "text of reasoning not carried beside its seal")
        self._add(line, {**item, "encrypted_content": sealed})

    def _call(self, line: Line, turn: int, call: ToolCall) -> dict[str, JSON]:
        name, sent = self.call_id(line, turn, call.id), self.tool_name(line, call.name)
        if self._item(line).get("type") == "custom_tool_call":
            self._custom.add((turn, call.id))
            return {"type": "custom_tool_call", "call_id": name, "name": sent, "input": self.text(line, call.arguments)}
        return {"type": "function_call", "call_id": name, "name": sent, "arguments": self.text(line, call.arguments)}

    def _output(self, line: Line, turn: int, result: ToolResult) -> dict[str, JSON]:
        if result.is_error:
            self.lose(line, f"error mark of the result of {result.call_id!r} not carried")
        kind = "custom_tool_call_output" if (turn, result.call_id) in self._custom else "function_call_output"
        name = self.call_id(line, turn, result.call_id)
        return {"type": kind, "call_id": name, "output": self._output_content(line, result)}

    def _output_content(self, line: Line, result: ToolResult) -> str | list[dict[str, JSON]]:
        text = self.text(line, result.text)
        given = self._source(line).get("output")
        if isinstance(given, list) and given and not result.media:
            texts = [entry.get("text") if isinstance(entry, dict) else None for entry in given]
            if all(isinstance(entry, str) and entry for entry in texts):
                return [{"type": "input_text", "text": self.text(line, entry)} for entry in texts if entry]
        if not result.media:
            return text
        out: list[dict[str, JSON]] = [{"type": "input_text", "text": text}] if text else []
        out += [media_part(media) or {"type": "input_text", "text": self.absent(line, media)} for media in result.media]
        return out

    def _item(self, line: Line) -> dict[str, JSON]:
        """The Responses item of a line, shown reduced or not; nothing where the original is of another form."""
        origin = line.origin
        if origin is None or origin.form not in ("openai-responses", "codex") or not isinstance(origin.source, dict):
            return {}
        payload = origin.source.get("payload")
        return payload if origin.form == "codex" and isinstance(payload, dict) else origin.source

    def _source(self, line: Line) -> dict[str, JSON]:
        """The original item when it is shown as it is, else nothing."""
        return self._item(line) if line.state == "original" else {}

    def _settle(self) -> list[dict[str, JSON]]:
        """All items; without reasoning whose item does not stand behind it, which the API would refuse."""
        kept: list[dict[str, JSON]] = []
        for index, (line, item) in enumerate(self.items):
            if item.get("type") == "reasoning":
                after = self.items[index + 1][1] if index + 1 < len(self.items) else {}
                if not _follows(after):
                    if line is not None:
                        self.lose(line, "reasoning not carried: what it led to does not stand behind it")
                    continue
            kept.append(item)
        return kept

    def _tools(self) -> list[dict[str, JSON]]:
        out: dict[str, dict[str, JSON]] = {}
        for tool in self.tools():
            if not isinstance(tool, Tool):
                kind = tool.get("type")
                if isinstance(kind, str) and kind in OWN_TOOLS and not deep(tool) and _sendable(tool):
                    out.setdefault(f"{kind} {tool.get('server_label', '')}", tool)
                else:
                    self.losses.append(f"tools: {tool.get('name') or kind!r} has no form here, not carried")
                continue
            name = self.offered_name(tool, out)
            if name is None:
                continue
            function: dict[str, JSON] = {"type": "function", "name": name}
            if tool.description:
                function["description"] = tool.description
            # The API takes a schema without 'strict' as strict and refuses most: what was not strict stays so.
            out[name] = {**function, "parameters": tool.schema, "strict": bool(tool.strict)}
        return list(out.values())


def _own(line: Line, part: Opaque) -> bool:
    """Whether an unknown part is a web search of the provider's own, which the API takes back."""
    origin = line.origin
    if origin is None or line.state != "original" or origin.form not in ("openai-responses", "codex"):
        return False
    match part.raw:
        case {"type": "web_search_call", "status": "completed", "action": {"type": str()} as action}:
            return not deep(action) and _sendable(action)
    return False


def _sendable(value: JSON) -> bool:
    return whole(written := compact(value)) is written


def _follows(item: dict[str, JSON]) -> bool:
    if item.get("type", "message") == "message":
        return item.get("role") == "assistant"
    return item["type"] in ("function_call", "custom_tool_call", "web_search_call")
