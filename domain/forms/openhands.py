"""Reads an event of an OpenHands event stream (V0): an action or an observation (M1).

Shapes: ``{"id", "source", "action", "args", ...}`` and ``{"id", "source", "cause", "observation", "content", ...}``;
where a tool call of the model lies behind it, ``tool_call_metadata`` names the call and holds the model's answer.
"""

from __future__ import annotations

from ..jsontext import compact
from ..media import recognise
from ..message import JSON, Media, Opaque, Part, Text, ToolCall, ToolResult, View

SILENT = frozenset({"null", "change_agent_state", "agent_state_changed", "recall", "noop"})
"""Actions and observations of the program about itself, which no model is shown."""
_SAID = frozenset({"message", "finish", "system"})


def view(source: JSON) -> View:
    """What an event says in neutral terms; anything unexpected is one Opaque part of a user message."""
    if not isinstance(source, dict):
        return View("user", (Opaque(source),))
    args = source.get("args")
    if isinstance(source.get("action"), str) and isinstance(args, dict):
        return _action(source, source["action"], args)
    if isinstance(source.get("observation"), str):
        return View("tool", (_result(source),))
    return View("user", (Opaque(source),))


def _action(source: dict[str, JSON], action: str, args: dict[str, JSON]) -> View:
    if action == "system":
        return View("system", _texts(args.get("content")))
    if action == "condensation":
        return View("summary", _texts(args.get("summary")))
    if action == "message":
        parts = (*_texts(args.get("content")), *_images(args.get("image_urls")))
        return View("assistant" if source.get("source") == "agent" else "user", parts)
    if source.get("source") != "agent":
        # A command that the user ran by hand, as one reads it in a terminal.
        command = args.get("command")
        return View("user", (Text(f"$ {command}") if isinstance(command, str) else Opaque(args),))
    if action == "finish":
        said = next((args[key] for key in ("final_thought", "thought") if args.get(key)), source.get("message"))
        return View("assistant", _texts(said))
    return View("assistant", (*_texts(args.get("thought")), _call(source, action, args)))


def _texts(value: JSON) -> tuple[Part, ...]:
    return (Text(value),) if isinstance(value, str) and value else ()


def _images(urls: JSON) -> tuple[Part, ...]:
    found: list[Part] = []
    for url in urls if isinstance(urls, list) else ():
        media = recognise({"type": "input_image", "image_url": url})
        found.append(media if isinstance(media, Media) else Opaque(url))
    return tuple(found)


def _call(source: dict[str, JSON], action: str, args: dict[str, JSON]) -> ToolCall:
    """The call as the model made it; where it was read out of text, the action itself."""
    name, call = _metadata(source)
    if call:
        return ToolCall(call, name, _arguments(source, call) or _without_thought(args))
    return ToolCall(f"event-{compact(source.get('id'))}", action, _without_thought(args))


def _metadata(source: dict[str, JSON]) -> tuple[str, str]:
    match source.get("tool_call_metadata"):
        case {"function_name": str(name), "tool_call_id": str(call)} if call:
            return name, call
    return "", ""


def _arguments(source: dict[str, JSON], call: str) -> str:
    match source.get("tool_call_metadata"):
        case {"model_response": {"choices": [{"message": {"tool_calls": list(calls)}}, *_]}}:
            for made in calls:
                match made:
                    case {"id": str(name), "function": {"arguments": str(arguments)}} if name == call:
                        return arguments
    return ""


def _without_thought(args: dict[str, JSON]) -> str:
    return compact({key: value for key, value in args.items() if key != "thought"})


def _result(source: dict[str, JSON]) -> ToolResult:
    name, call = _metadata(source)
    content = source.get("content")
    return ToolResult(
        call or f"event-{compact(source.get('cause'))}",
        content if isinstance(content, str) else "" if content is None else compact(content),
        name or source["observation"],
        source["observation"] == "error" or source.get("success") is False,
    )
