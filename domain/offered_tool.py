"""A tool that an agent offers its model, as a value that every provider's form can be written from (D2)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """Name, description, and JSON schema of the arguments."""

    name: str
    description: str
    parameters: dict[str, Any] = field(repr=False, compare=False)

    @property
    def schema(self) -> dict[str, Any]:
        """A fresh copy of the JSON schema; a caller may change it without changing ours."""
        return copy.deepcopy(self.parameters)

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
