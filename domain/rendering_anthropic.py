"""Writes a built context for the Anthropic messages API. Rules kept: see ``legality.check_anthropic``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .context import Built, Line
from .jsontext import compact, deep, parse_object, whole
from .media import recognise
from .media import to_anthropic as media_block
from .message import JSON, Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from .writing import PART_FIELDS, START, Tool, Writer

_KNOWN = frozenset(
    {"role", "content", "refusal", "audio", "tool_calls", "tool_call_id", "function_call"}
    | {"reasoning_content", "reasoning", "thinking_blocks"}
)
NO_TEXT = "[No text came with this error.]"
"""The API demands content where a result is an error."""
_THINKING = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class _Turn:
    """One message of the request while it grows: roles alternate, so neighbours of one role share it."""

    role: Literal["user", "assistant"]
    blocks: list[tuple[Line | None, dict[str, JSON]]] = field(default_factory=list)
    plain: bool = True  # every line gave text only, so that a single block may be sent as a string


class AnthropicWriter(Writer):
    """System text on top; then turns: results first in a user turn, no unsigned reasoning, nothing empty."""

    def __init__(self, built: Built) -> None:
        super().__init__(built, id_longest=128, name_longest=128, ids_unique=True)

    def request(self) -> dict[str, JSON]:
        turns: list[_Turn] = []
        system: list[str] = []
        leading = True
        for turn, line in zip(self.turns, self.built.lines, strict=True):
            self.fields(line, _KNOWN, PART_FIELDS)
            if line.role == "system":
                system.extend(self._system(line, leading))
                continue
            leading = False
            role: Literal["user", "assistant"] = "assistant" if line.role == "assistant" else "user"
            blocks = self._blocks(line, turn)
            if blocks:
                _add(turns, role, [(line, block) for block in blocks], plain=not self._listed(line))
            else:
                self.lose(line, "empty message left out")
        turns = self._settle(turns)
        request: dict[str, JSON] = {"messages": [_message(turn) for turn in turns]}
        preamble = self.built.preamble
        prompt = "\n\n".join([text for text in (preamble.system, *system, preamble.memory) if text])
        if prompt.strip():
            request["system"] = whole(prompt)
        tools = self._tools()
        if tools:
            request["tools"] = tools
        return request

    def _system(self, line: Line, leading: bool) -> list[str]:
        if not leading:
            self.lose(line, "system message shown in the system prompt, not at its place")
        texts: list[str] = []
        for part in line.parts:
            match part:
                case Text(text):
                    texts.append(self.text(line, text))
                case Media():
                    texts.append(self.absent(line, part))
                case Opaque():
                    texts.append(self.opaque(line, part))
                case _:
                    pass  # build has made text of anything else
        return ["\n".join(texts)] if texts else []

    def _blocks(self, line: Line, turn: int) -> list[dict[str, JSON]]:
        assistant = line.role == "assistant"
        whole_servers = _paired_server_blocks(line) if assistant else frozenset()
        blocks: list[dict[str, JSON]] = []
        for part in line.parts:
            match part:
                case Text(text):
                    if text.strip():
                        blocks.append({"type": "text", "text": self.text(line, text)})
                    elif text:
                        self.lose(line, "text of white space only left out")
                case Reasoning():
                    blocks.extend(self._reasoning(line, part))
                case ToolCall():
                    blocks.append(self._call(line, turn, part))
                case ToolResult():
                    blocks.append(self._result(line, turn, part))
                case Media():
                    found = None if assistant else media_block(part)
                    blocks.append(found or {"type": "text", "text": self.absent(line, part)})
                case Opaque(raw):
                    if id(raw) in whole_servers:
                        blocks.append(dict(raw))
                    else:
                        blocks.append({"type": "text", "text": self.opaque(line, part)})
        return blocks

    def _reasoning(self, line: Line, part: Reasoning) -> list[dict[str, JSON]]:
        match part.raw:
            case {"type": "thinking", "thinking": str(text), "signature": str(signature)} if signature:
                if whole(text) is text and whole(signature) is signature:
                    return [{"type": "thinking", "thinking": text, "signature": signature}]
            case {"type": "redacted_thinking", "data": str(data)} if data and whole(data) is data:
                return [{"type": "redacted_thinking", "data": data}]
        self.lose(line, f"reasoning of {len(part.text)} characters not carried: it has no signature")
        return []

    def _call(self, line: Line, turn: int, call: ToolCall) -> dict[str, JSON]:
        value = parse_object(call.arguments) if call.arguments.strip() else {}
        if value is None:
            self.lose(line, f"arguments of call {call.id!r} are no JSON object, sent as text under 'arguments'")
            value = {"arguments": self.text(line, call.arguments)}
        name = self.tool_name(line, call.name)
        return {"type": "tool_use", "id": self.call_id(line, turn, call.id), "name": name, "input": value}

    def _result(self, line: Line, turn: int, result: ToolResult) -> dict[str, JSON]:
        block: dict[str, JSON] = {"type": "tool_result", "tool_use_id": self.call_id(line, turn, result.call_id)}
        content = self._listed_result(line, result) or self._result_content(line, result)
        if content:
            block["content"] = content
        if result.is_error:
            block["is_error"] = True
            block.setdefault("content", NO_TEXT)
        return block

    def _result_content(self, line: Line, result: ToolResult) -> JSON:
        text = self.text(line, result.text)
        if not result.media:
            return text if text.strip() else None
        blocks: list[dict[str, JSON]] = [{"type": "text", "text": text}] if text.strip() else []
        blocks.extend(
            [media_block(media) or {"type": "text", "text": self.absent(line, media)} for media in result.media]
        )
        return blocks

    def _listed_result(self, line: Line, result: ToolResult) -> list[dict[str, JSON]] | None:
        """The content of an original result as it was given, when it is a list that this API takes."""
        if not self._listed(line):
            return None
        for block in line.origin.source["content"] if line.origin else ():
            if isinstance(block, dict) and block.get("tool_use_id") == result.call_id:
                given = block.get("content")
                if not isinstance(given, list) or not given:
                    return None
                sent = [_inner(item) for item in given]
                return [item for item in sent if item is not None] if None not in sent else None
        return None

    def _listed(self, line: Line) -> bool:
        origin = line.origin
        return (
            origin is not None
            and line.state == "original"
            and origin.form == "anthropic"
            and isinstance(origin.source, dict)
            and isinstance(origin.source.get("content"), list)
        )

    def _settle(self, turns: list[_Turn]) -> list[_Turn]:
        """The rules that only a finished turn can meet: reasoning not last, results first, a user to begin with."""
        settled: list[_Turn] = []
        for turn in turns:
            if turn.role == "assistant":
                while turn.blocks and turn.blocks[-1][1]["type"] in _THINKING:
                    line = turn.blocks.pop()[0]
                    if line is not None:
                        self.lose(line, "reasoning at the end of a turn not carried")
            if turn.blocks:
                _add(settled, turn.role, turn.blocks, plain=turn.plain)
        if not settled or settled[0].role == "assistant":
            settled.insert(0, _Turn("user", [(None, {"type": "text", "text": START})]))
        for turn in settled:
            if turn.role == "user":
                turn.blocks.sort(key=lambda entry: entry[1]["type"] != "tool_result")
        last_line, last = settled[-1].blocks[-1]
        if settled[-1].role == "assistant" and last["type"] == "text" and last["text"] != last["text"].rstrip():
            settled[-1].blocks[-1] = (last_line, {**last, "text": last["text"].rstrip()})
            if last_line is not None:
                self.lose(last_line, "white space at the end of the last message left out")
        return settled

    def _tools(self) -> list[dict[str, JSON]]:
        out: dict[str, dict[str, JSON]] = {}
        for tool in self.tools():
            if not isinstance(tool, Tool):  # a tool of the provider's own, sent as the caller gave it
                out.setdefault(str(tool.get("name") or tool.get("type")), tool)
                continue
            name = self.offered_name(tool, out)
            if name is None:
                continue
            described = {"description": tool.description} if tool.description else {}
            out[name] = {"name": name, **described, "input_schema": tool.schema}
        return list(out.values())


def _add(
    turns: list[_Turn],
    role: Literal["user", "assistant"],
    blocks: list[tuple[Line | None, dict[str, JSON]]] | list[tuple[Line, dict[str, JSON]]],
    *,
    plain: bool,
) -> None:
    if not turns or turns[-1].role != role:
        turns.append(_Turn(role))
    turns[-1].blocks.extend(blocks)
    turns[-1].plain = turns[-1].plain and plain


def _message(turn: _Turn) -> dict[str, JSON]:
    blocks = [block for _, block in turn.blocks]
    if turn.plain and len(blocks) == 1 and blocks[0]["type"] == "text":
        return {"role": turn.role, "content": blocks[0]["text"]}
    return {"role": turn.role, "content": blocks}


def _inner(item: JSON) -> dict[str, JSON] | None:
    """A block inside a tool result, as the API takes it, or None."""
    match item:
        case {"type": "text", "text": str(text)} if text.strip() and whole(text) is text:
            return {"type": "text", "text": text}
    media = recognise(item)
    return None if media is None else media_block(media)


def _paired_server_blocks(line: Line) -> frozenset[int]:
    """The provider's own tool blocks of a message that stand there with their results, by identity."""
    uses: dict[str, int] = {}
    found: set[int] = set()
    for part in line.parts:
        if not isinstance(part, Opaque):
            continue
        if deep(part.raw) or whole(written := compact(part.raw)) is not written:
            continue
        match part.raw:
            case {"type": "server_tool_use" | "mcp_tool_use", "id": str(name), "name": str(), "input": dict()}:
                uses[name] = id(part.raw)
            case {"type": str(kind), "tool_use_id": str(name)} if kind.endswith("_tool_result") and name in uses:
                found |= {uses.pop(name), id(part.raw)}
    return frozenset(found)
