"""Reads a message of a Codex rollout: the row object of one line, in either generation (M1).

Shapes: ``{"timestamp", "type", "payload"}`` with the types ``response_item`` (an item of the Responses API),
``event_msg`` (of which only ``user_message`` is a message) and ``compacted``; and the flat rows of the first
generation, which are the items themselves.
"""

from __future__ import annotations

from ..media import recognise
from ..message import JSON, Media, Opaque, Part, Text, View
from . import openai_responses

SUMMARIES = ("Another language model started to solve this problem and produced a summary of its thinking process.",)
"""How the user row begins in which Codex hands its own summary to the model."""


def view(source: JSON) -> View:
    """What a row says in neutral terms; anything unexpected is one Opaque part of a user message."""
    payload = source.get("payload") if isinstance(source, dict) else None
    if not isinstance(payload, dict):
        # A flat row is an item; so is what stands in an envelope that has lost its payload.
        return _item(source)
    match source.get("type"):
        case "event_msg":
            return _event(payload)
        case "compacted":
            message = payload.get("message")
            return View("summary", (Text(message),) if isinstance(message, str) else (Opaque(payload),))
        case _:
            return _item(payload)


def _item(item: JSON) -> View:
    found = openai_responses.view(item)
    if found.role == "user" and any(isinstance(part, Text) and part.text.startswith(SUMMARIES) for part in found.parts):
        return View("summary", found.parts)
    return found


def _event(payload: dict[str, JSON]) -> View:
    """A request of the user as the event tells it: its text, then its pictures."""
    message = payload.get("message")
    if payload.get("type") != "user_message" or not isinstance(message, str):
        return View("user", (Opaque(payload),))
    parts: list[Part] = [Text(message)] if message else []
    images = payload.get("images")
    for image in images if isinstance(images, list) else ():
        found = recognise({"type": "input_image", "image_url": image})
        parts.append(found if isinstance(found, Media) else Opaque(image))
    local = payload.get("local_images")
    # Such a picture stayed on the disk of that machine; its place is what the rollout has.
    parts.extend(
        Text(f"[Image: {path}]") if isinstance(path, str) else Opaque(path)
        for path in (local if isinstance(local, list) else ())
    )
    return View("user", tuple(parts))
