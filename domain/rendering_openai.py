"""Writes a built context for the OpenAI chat API. Rules kept: see ``legality.check_openai``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .context import Built, Line
from .media import to_openai as media_part
from .message import JSON, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .writing import PART_FIELDS, START, Tool, Writer

CALLS_MAX = 128
"""Calls of one assistant message: "array too long, expected an array with maximum length 128" is the answer to more.
What is over goes into a further assistant message, behind the results of the first ones."""

_PERSON = re.compile(r"[^\s<|\\/>]{1,64}")
_KNOWN = frozenset(
    {
        "role",
        "content",
        "name",
        "refusal",
        "audio",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "reasoning_content",
        "reasoning",
        "thinking_blocks",
    }
)


class OpenAIWriter(Writer):
    """Messages in the order of the built lines; every assistant message with calls is followed by its results."""

    def __init__(self, built: Built) -> None:
        # 40: "string too long, expected a string with maximum length 40" is what the API says of call ids.
        super().__init__(built, id_longest=40, name_longest=64, ids_unique=False)
        self.messages: list[dict[str, JSON]] = []
        self.order = {key: number for number, key in enumerate(self.results)}

    def request(self) -> dict[str, JSON]:
        lines = self.built.lines
        start = 0
        while start < len(lines) and lines[start].role == "system":
            start += 1
        self._preamble(start)
        for turn, line in zip(self.turns[start:], lines[start:], strict=True):
            self._line(line, turn)
        if not self.messages:
            self.messages.append({"role": "user", "content": START})
        request: dict[str, JSON] = {"messages": self.messages}
        tools = self._tools()
        return {**request, "tools": tools} if tools else request

    def _preamble(self, start: int) -> None:
        """The system prompt; memory last in it, after system messages that the history itself begins with (C11)."""
        preamble = self.built.preamble
        head = preamble.system if start else preamble.text
        if head:
            self.messages.append({"role": "system", "content": head})
        for line in self.built.lines[:start]:
            self._line(line, 0)
        if start and preamble.memory:
            self.messages.append({"role": "system", "content": preamble.memory})

    def _line(self, line: Line, turn: int) -> None:
        self.fields(line, _KNOWN, PART_FIELDS)
        if line.role == "assistant":
            self._assistant(line, turn)
            return
        parts = [part for part in line.parts if not isinstance(part, ToolResult)]
        if not parts and line.parts:
            return  # results stand behind their calls already
        role = "user"
        if line.role == "system":
            role = "developer" if self._source(line).get("role") == "developer" else "system"
        content = self._content(line, parts, media=role == "user")
        if content:
            self.messages.append({"role": role, "content": content, **self._name(line)})
        else:
            self.lose(line, "empty message left out")

    def _assistant(self, line: Line, turn: int) -> None:
        calls = [part for part in line.parts if isinstance(part, ToolCall)]
        parts = [part for part in line.parts if not isinstance(part, ToolCall)]
        source = self._source(line)
        message: dict[str, JSON] = {"role": "assistant"}
        refusal = source.get("refusal")
        if isinstance(refusal, str) and refusal and Text(refusal) in parts:
            parts.remove(Text(refusal))
            message["refusal"] = self.text(line, refusal)
        content = self._content(line, parts, media=False)
        if content:
            message["content"] = content
        elif calls or "refusal" in message:
            if "content" in source or not source:
                message["content"] = "" if source.get("content") == "" else None
        else:
            self.lose(line, "empty message left out")
            return
        message |= self._name(line)
        for start in range(0, len(calls), CALLS_MAX):
            some = calls[start : start + CALLS_MAX]
            message["tool_calls"] = [self._call(line, turn, call) for call in some]
            self.messages.append(message)
            self._results(turn, some)
            message = {"role": "assistant", "content": None}
        if not calls:
            self.messages.append(message)

    def _call(self, line: Line, turn: int, call: ToolCall) -> dict[str, JSON]:
        function = {"name": self.tool_name(line, call.name), "arguments": self.text(line, call.arguments)}
        return {"id": self.call_id(line, turn, call.id), "type": "function", "function": function}

    def _results(self, turn: int, calls: list[ToolCall]) -> None:
        """The results of one assistant message, then their images, for which a tool message has no place."""
        pictures: list[dict[str, JSON]] = []
        answered = sorted([(turn, call.id) for call in calls], key=self.order.__getitem__)
        for key in answered:
            line, result = self.results[key]
            self.messages.append(self._result(line, turn, result))
            for media in result.media:
                name = self.text(line, result.name) or "a tool"
                pictures.append({"type": "text", "text": f"[{media.kind} from the result of {name}]"})
                pictures.append(media_part(media) or {"type": "text", "text": self.absent(line, media)})
        if pictures:
            self.messages.append({"role": "user", "content": pictures})

    def _result(self, line: Line, turn: int, result: ToolResult) -> dict[str, JSON]:
        if result.is_error:
            self.lose(line, f"error mark of the result of {result.call_id!r} not carried")
        source = self._source(line)
        content: JSON = self.text(line, result.text)
        given = source.get("content")
        if isinstance(given, list) and given and not result.media:
            texts = [text for item in given if (text := _plain_text(item))]
            if len(texts) == len(given):
                content = [{"type": "text", "text": self.text(line, text)} for text in texts]
        message = {"role": "tool", "tool_call_id": self.call_id(line, turn, result.call_id), "content": content}
        name = source.get("name")
        return {**message, "name": name} if isinstance(name, str) and self.names.legal(name) else message

    def _content(self, line: Line, parts: Sequence[Part], *, media: bool) -> str | list[dict[str, JSON]]:
        """Text, or a list of parts where there is more than text or where the original was a list; "" for nothing."""
        out: list[dict[str, JSON]] = []
        for part in parts:
            match part:
                case Text(text):
                    if text:
                        out.append({"type": "text", "text": self.text(line, text)})
                case Reasoning(text):
                    self.lose(line, f"reasoning of {len(text)} characters not carried: the form has no place for it")
                case Media():
                    found = media_part(part) if media else None
                    out.append(found or {"type": "text", "text": self.absent(line, part)})
                case Opaque():
                    out.append({"type": "text", "text": self.opaque(line, part)})
                case ToolCall() | ToolResult():
                    pass  # stand in messages of their own
        listed = isinstance(self._source(line).get("content"), list)
        if out and (listed or any(item["type"] != "text" for item in out)):
            return out
        return "\n".join([item["text"] for item in out])

    def _source(self, line: Line) -> dict[str, JSON]:
        """The original when it is of this form and shown as it is, else nothing."""
        origin = line.origin
        if origin is None or line.state != "original" or origin.form != "openai":
            return {}
        return origin.source if isinstance(origin.source, dict) else {}

    def _name(self, line: Line) -> dict[str, JSON]:
        name = self._source(line).get("name")
        if name is None:
            return {}
        if isinstance(name, str) and _PERSON.fullmatch(name) and self.text(line, name) == name:
            return {"name": name}
        self.lose(line, f"name {name!r} not carried")
        return {}

    def _tools(self) -> list[dict[str, JSON]]:
        out: dict[str, dict[str, JSON]] = {}
        for tool in self.tools():
            if not isinstance(tool, Tool):
                self.losses.append(f"tools: {tool.get('name') or tool.get('type')!r} has no form here, not carried")
                continue
            name = self.offered_name(tool, out)
            if name is None:
                continue
            function: dict[str, JSON] = {"name": name}
            if tool.description:
                function["description"] = tool.description
            function["parameters"] = tool.schema
            if tool.strict is not None:
                function["strict"] = tool.strict
            out[name] = {"type": "function", "function": function}
        return list(out.values())


def _plain_text(item: JSON) -> str:
    text = item.get("text") if isinstance(item, dict) and item.get("type") == "text" else None
    return text if isinstance(text, str) else ""
