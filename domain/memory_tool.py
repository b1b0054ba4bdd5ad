"""The schema of the built-in ``memory`` tool, and its rendering for the chat APIs (D2)."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

_TEXT = {
    "type": "string",
    "description": "One fact on one line, at most 1,000 characters: a preference, decision or property of the project. "
    "No secrets, no orders.",
}
_TARGET = {
    "type": "string",
    "description": "The entry meant: its id, or a part of its text that occurs in no other entry.",
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "enum": ["add", "replace", "remove", "batch"]},
        "text": _TEXT,
        "target": _TARGET,
        "operations": {
            "type": "array",
            "description": "Only for batch: add, replace and remove operations, taken all or none, at most 100.",
            "minItems": 1,
            "maxItems": 100,
            "items": {
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["add", "replace", "remove"]},
                    "text": _TEXT,
                    "target": _TARGET,
                },
                "required": ["operation"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["operation"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Proposes a change of the long-term memory: add (text), replace (target, text), remove (target) or batch "
    "(operations). Nothing is written at once: the proposal is checked and taken in after this run has succeeded. "
    "The answer says what will happen and lists the live entries."
)


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A tool as a value: name, description, and JSON schema of its arguments."""

    name: str
    description: str

    @property
    def schema(self) -> dict[str, Any]:
        """A fresh copy of the JSON schema; a caller may change it without changing ours."""
        return copy.deepcopy(_PARAMETERS)

    def to_openai(self) -> dict[str, Any]:
        """The tool as an element of ``tools`` in the OpenAI chat API."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def to_openai_responses(self) -> dict[str, Any]:
        """The tool as an element of ``tools`` in the OpenAI Responses API."""
        flat = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", **flat, "strict": False}

    def to_anthropic(self) -> dict[str, Any]:
        """The tool as an element of ``tools`` in the Anthropic messages API."""
        return {"name": self.name, "description": self.description, "input_schema": self.schema}

    def to_mcp(self) -> dict[str, Any]:
        """The tool as an MCP server lists it."""
        return {"name": self.name, "description": self.description, "inputSchema": self.schema}


MEMORY_TOOL = MemoryTool("memory", _DESCRIPTION)
"""The tool that an agent offers its model; hand its arguments to ``run.memory``."""
