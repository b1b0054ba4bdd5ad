"""Reads an item of the OpenAI Responses API into the neutral view (M1).

A request's ``input`` and a response's ``output`` are lists of items: ``message``, ``reasoning``, ``function_call``,
``function_call_output`` and their kin. One item is one message here. Total: every JSON value has a view; an item
that is not known is ``Opaque``, one of the model's is the assistant's.
"""

from __future__ import annotations

from ..jsontext import compact
from ..message import JSON, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult, View
from .openai import ROLES, identifier, read_content, read_result

OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "mcp_tool_call_output",
        "tool_search_output",
    }
)
"""Items that answer a call by its ``call_id``."""
CALLS: dict[str, str] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
    "tool_search_call": "arguments",
}
"""Items that wait for an answer, with the key that holds what the tool is to do."""
SERVER = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "item_reference",
    }
)
"""Items that the provider's own tools leave; nobody answers them."""
COMPACTIONS = frozenset({"compaction", "compaction_summary"})
PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
"""Content parts that only this form has. (``input_audio`` is the chat form's too.)"""
_ITEMS = OUTPUTS | frozenset(CALLS) | SERVER | COMPACTIONS | {"reasoning", "mcp_approval_response"}


def speaks(source: JSON) -> bool:
    """Whether a message can only be of this form: an item that is no message, or a part only this form has."""
    if not isinstance(source, dict):
        return False
    kind = source.get("type")
    if isinstance(kind, str) and kind in _ITEMS:
        return True
    if source.get("tool_calls") or source.get("role") in ("tool", "function"):
        return False  # a chat message with parts of this form, as some servers write them
    content = source.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in PARTS for part in content
    )


def view(source: JSON) -> View:
    """What an item says; ``arguments`` of a call is the text as given, or its value as compact JSON."""
    if isinstance(source, str):
        return View("user", (Text(source),) if source else ())
    if not isinstance(source, dict):
        return View("user", (Opaque(source),))
    kind = source.get("type", "message")
    if not isinstance(kind, str):
        return View("user", (Opaque(source),))
    if kind in CALLS:
        return View("assistant", (_call(source, kind),))
    if kind in OUTPUTS:
        return View("tool", (_result(source),))
    if kind == "reasoning":
        return View("assistant", (Reasoning(_thought(source), source),))
    if kind in COMPACTIONS:
        # The provider's own summary, sealed: it stands for what came before, and only the provider can read it.
        return View("summary", (Reasoning("", source),))
    if kind == "message" or "role" in source:
        return _message(source)
    return View("assistant" if kind in SERVER or kind.endswith("_call") else "user", (Opaque(source),))


def _message(source: dict[str, JSON]) -> View:
    name = source.get("role")
    role: Role = ROLES.get(name, "user") if isinstance(name, str) else "user"
    role = "user" if role == "tool" else role
    parts = read_content(source.get("content"))
    if role != "assistant":
        parts = [part if not isinstance(part, Reasoning) else Opaque(part.raw) for part in parts]
    return View(role, tuple(parts))


def _call(source: dict[str, JSON], kind: str) -> Part:
    value = source.get(CALLS[kind])
    name = source.get("name")
    space = source.get("namespace")
    named = name if isinstance(name, str) else kind.removesuffix("_call")
    # Tools of one server share a namespace; the chat forms, which have none, know such tools by the joined name.
    full = f"{space}{named}" if isinstance(space, str) and space.endswith("__") else named
    arguments = value if isinstance(value, str) else "" if value is None else compact(value)
    return ToolCall(call_id(source), full, arguments)


def _result(source: dict[str, JSON]) -> ToolResult:
    output = source.get("output", source.get("result"))
    failed = False
    if isinstance(output, dict) and isinstance(output.get("content"), (str, list)):
        failed = output.get("success") is False
        output = output["content"]
    text, media = read_result(output)
    return ToolResult(call_id(source), text, is_error=failed or source.get("status") == "failed", media=media)


def call_id(source: dict[str, JSON]) -> str:
    """The id by which a call and its output find each other; old shell items have their own id only."""
    found = source.get("call_id")
    return identifier(source.get("id") if found is None else found)


def _thought(source: dict[str, JSON]) -> str:
    """The readable part of a reasoning item: its summary, then its text."""
    texts: list[str] = []
    for key in ("summary", "content"):
        listed = source.get(key)
        for item in listed if isinstance(listed, list) else ():
            text = item.get("text") if isinstance(item, dict) else None
            if isinstance(text, str) and text:
                texts.append(text)
    return "\n\n".join(texts)
