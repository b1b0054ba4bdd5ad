"""The built-in ``memory`` tool and the schema of its arguments (D2)."""

from __future__ import annotations

from typing import Any

from .offered_tool import OfferedTool

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


MEMORY_TOOL = OfferedTool("memory", _DESCRIPTION, _PARAMETERS)
"""The tool that an agent offers its model; hand its arguments to ``run.memory``."""
