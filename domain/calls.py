"""A model's call of the memory tool in whatever shape a provider gives it: OpenAI, Anthropic, MCP (D2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .message import JSON


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call, and the id that its provider gave it (None: the shape has none)."""

    arguments: JSON
    id: str | None = None


def read_call(value: Any, *, tool: str = "memory") -> Call:
    """The arguments, given bare, as JSON text, or inside a call object of one of these shapes::

        {"id", "type": "function", "function": {"name", "arguments": text}}      OpenAI chat, a tool call
        {"type": "function_call", "call_id", "name", "arguments": text}          OpenAI responses
        {"type": "tool_use", "id", "name", "input": {...}}                       Anthropic, a block
        {"name", "arguments": {...}}                                             MCP, the params of tools/call
        {"jsonrpc", "id", "method": "tools/call", "params": {...}}               MCP, the request

    Objects of the providers' own libraries (``model_dump``) are taken too. Raises InputError ``bad_operation``, also
    for the call of another tool.
    """
    given = _plain(value)
    if not isinstance(given, Mapping) or "operation" in given:
        return Call(_decoded(given))
    name, arguments, call_id = _unwrapped(given)
    if arguments is _NONE:
        return Call(given)
    if name != tool:
        raise InputError(f"this is a call of the tool {str(name)[:100]!r}, not of {tool!r}", code="bad_operation")
    return Call(_decoded(arguments), call_id if isinstance(call_id, str) and call_id else None)


_NONE = object()


def _unwrapped(given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    match given:
        case {"function": {"name": name, "arguments": arguments}}:
            return name, arguments, given.get("id")
        case {"type": "tool_use", "name": name, "input": arguments}:
            return name, arguments, given.get("id")
        case {"type": "function_call", "name": name, "arguments": arguments}:
            return name, arguments, given.get("call_id") or given.get("id")
        # The ids of JSON-RPC count the requests of one connection: the next connection begins anew.
        case {"method": "tools/call", "params": {"name": name, "arguments": arguments}}:
            return name, arguments, None
        case {"name": name, "arguments": arguments}:
            return name, arguments, given.get("id")
        case _:
            return None, _NONE, None


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if not callable(dump) or isinstance(value, Mapping):
        return value
    try:
        return dump(mode="json")
    except Exception as error:
        # Somebody else's class; what it raises is no fault of the run.
        raise InputError(
            f"the call cannot be read out of {type(value).__name__!r} ({type(error).__name__}); give its arguments",
            code="bad_operation",
        ) from error


def _decoded(arguments: JSON) -> JSON:
    """A provider gives tool arguments as JSON text: that is taken too."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the arguments are not JSON: {error}; send a JSON object", code="bad_operation") from error
