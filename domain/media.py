"""Images, sounds and files in the shapes that messages give them, and in the shapes that the APIs take.

``recognise`` reads a part of any known form into ``Media`` (the part stays in ``raw``); ``to_openai``,
``to_responses`` and ``to_anthropic`` write it for a target or answer None, and the caller then says what was not
carried (M1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from .jsontext import whole
from .message import JSON, Media

IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What every provider takes; each answers 400 to any other, and would at every later turn of the session."""
_DOCUMENTS = frozenset({"application/pdf"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


@dataclass(frozen=True, slots=True)
class Inline:
    """Bytes as base64."""

    media_type: str
    data: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """An address that the provider fetches."""

    url: str


@dataclass(frozen=True, slots=True)
class Plain:
    """A document whose text stands in the message."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Handle:
    """A file that lies with one provider (``openai`` or ``anthropic``)."""

    id: str
    provider: str


Place: TypeAlias = Inline | Link | Plain | Handle


def recognise(raw: JSON) -> Media | None:
    """The image, sound or file that a part is, or None. ``size`` is in decoded bytes, 0 when unknown."""
    if not isinstance(raw, dict):
        return None
    kind = _KINDS.get(raw["type"]) if isinstance(raw.get("type"), str) else None
    if kind is None:
        return None
    match locate(raw):
        case Inline(media_type, data):
            return Media(kind, media_type, len(data) * 3 // 4, raw)
        case Plain(text):
            return Media(kind, "text/plain", len(text), raw)
        case Link() | Handle():
            return Media(kind, "", 0, raw)
        case None:
            return None


_KINDS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "computer_screenshot": "image",
}


def locate(raw: JSON) -> Place | None:
    """Where the bytes of a part are. Knows the OpenAI, Anthropic, pi and MCP shapes."""
    if not isinstance(raw, dict):
        return None
    source = raw.get("source")
    if isinstance(source, dict):
        return _anthropic(source, _string(raw.get("title")))
    if isinstance(raw.get("data"), str):
        return Inline(_string(raw.get("mimeType") or raw.get("mime_type") or raw.get("media_type")), raw["data"])
    return _openai(raw)


def _anthropic(source: dict[str, JSON], title: str) -> Place | None:
    match source:
        case {"type": "base64", "data": str(data)}:
            return Inline(_string(source.get("media_type")), data, title)
        case {"type": "url", "url": str(url)}:
            return Link(url)
        case {"type": "text", "data": str(text)}:
            return Plain(text, title)
        case {"type": "file", "file_id": str(name)}:
            return Handle(name, "anthropic")
    return None


def _openai(raw: dict[str, JSON]) -> Place | None:
    match raw:
        case {"image_url": {"url": str(url)}} | {"image_url": str(url)}:
            return _address(url)
        case {"input_audio": {"data": str(data), **rest}}:
            return Inline("audio/mpeg" if rest.get("format") == "mp3" else "audio/wav", data)
        case {"file": {"file_data": str(url), **rest}}:
            place = _address(url)
            title = _string(rest.get("filename"))
            return Inline(place.media_type, place.data, title) if isinstance(place, Inline) else place
        case {"file": {"file_id": str(name)}} | {"type": "input_image" | "input_file", "file_id": str(name)}:
            return Handle(name, "openai")
        case {"type": "input_file", "file_data": str(url), **rest}:
            place = _address(url)
            title = _string(rest.get("filename"))
            return Inline(place.media_type, place.data, title) if isinstance(place, Inline) else place
        case {"type": "input_file", "file_url": str(url)}:
            return Link(url)
    return None


def _address(url: str) -> Place:
    if not url.startswith("data:"):
        return Link(url)
    head, _, data = url[5:].partition(",")
    return Inline(head.partition(";")[0], data) if head.endswith(";base64") else Link(url)


def to_openai(media: Media) -> dict[str, JSON] | None:
    """The part of a user message that the OpenAI chat API takes for ``media``, or None."""
    match locate(media.raw):
        case Inline(media_type, data, title) if _encoded(data):
            if media.kind == "image":
                shown = _image_type(media_type)
                url = f"data:{shown};base64,{data}"
                return {"type": "image_url", "image_url": {"url": url, **_detail(media)}} if shown else None
            if media.kind == "audio":
                name = _AUDIO.get(media_type)
                return {"type": "input_audio", "input_audio": {"data": data, "format": name}} if name else None
            file = {"filename": whole(title) or "file.pdf", "file_data": f"data:{media_type};base64,{data}"}
            return {"type": "file", "file": file}
        case Link(url) if media.kind == "image" and _web(url, "http://", "https://"):
            return {"type": "image_url", "image_url": {"url": url, **_detail(media)}}
        case Plain(text, title) if text.strip():
            return {"type": "text", "text": whole(f"[{title}]\n{text}" if title else text)}
        case Handle(name, "openai") if media.kind == "file" and name:
            return {"type": "file", "file": {"file_id": name}}
    return None


def to_responses(media: Media) -> dict[str, JSON] | None:
    """The part of a message or tool output that the OpenAI Responses API takes for ``media``, or None."""
    place = locate(media.raw)
    match media.kind, place:
        case "image", Inline(media_type, data) if _encoded(data) and (shown := _image_type(media_type)):
            return {"type": "input_image", "image_url": f"data:{shown};base64,{data}", **_detail(media)}
        case "image", Link(url) if _web(url, "http://", "https://"):
            return {"type": "input_image", "image_url": url, **_detail(media)}
        case "image", Handle(name, "openai") if name:
            return {"type": "input_image", "file_id": name, **_detail(media)}
        case "file", Inline(media_type, data, title) if _encoded(data) and media_type.isascii():
            name = whole(title) or "file.pdf"
            return {"type": "input_file", "filename": name, "file_data": f"data:{media_type};base64,{data}"}
        case "file", Link(url) if _web(url, "http://", "https://"):
            return {"type": "input_file", "file_url": url}
        case "file", Handle(name, "openai") if name:
            return {"type": "input_file", "file_id": name}
        case "file", Plain(text, title) if text.strip():
            return {"type": "input_text", "text": whole(f"[{title}]\n{text}" if title else text)}
    return None


def to_anthropic(media: Media) -> dict[str, JSON] | None:
    """The block of a user message or tool result that the Anthropic API takes for ``media``, or None."""
    block = {"image": "image", "file": "document"}.get(media.kind)
    if block is None:
        return None
    source = _anthropic_source(media)
    if source is None:
        return None
    title = _string(media.raw.get("title")) if block == "document" and isinstance(media.raw, dict) else ""
    return {"type": block, "source": source, **({"title": whole(title)} if title else {})}


def _anthropic_source(media: Media) -> dict[str, JSON] | None:
    place = locate(media.raw)
    match place:
        case Inline(media_type, data):
            shown = _image_type(media_type) if media.kind == "image" else media_type
            if shown in (IMAGES if media.kind == "image" else _DOCUMENTS) and _encoded(data):
                return {"type": "base64", "media_type": shown, "data": data}
        case Link(url):
            return {"type": "url", "url": url} if _web(url, "https://") else None
        case Plain(text):
            if media.kind == "file" and text.strip():
                return {"type": "text", "media_type": "text/plain", "data": whole(text)}
        case Handle(name, provider):
            return {"type": "file", "file_id": name} if provider == "anthropic" and name else None
        case None:
            return None
        case _:
            assert_never(place)
    return None


def describe(media: Media) -> str:
    """What stands for ``media`` where it cannot be carried."""
    kind = media.media_type or media.kind
    return f"[{media.kind} not carried: {kind}, {media.size} bytes]" if media.size else f"[{kind} not carried]"


def _image_type(media_type: str) -> str:
    """The media type that providers know an image by; "" when they take no such image."""
    name = media_type.lower()
    name = "image/jpeg" if name in ("image/jpg", "image/pjpeg") else name
    return name if name in IMAGES else ""


def _detail(media: Media) -> dict[str, JSON]:
    match media.raw:
        case {"image_url": {"detail": ("low" | "high" | "auto") as detail}}:
            return {"detail": detail}
        case {"type": "input_image", "detail": ("low" | "high" | "auto") as detail}:
            return {"detail": detail}
    return {}


def _web(url: str, *schemes: str) -> bool:
    return url.startswith(schemes) and whole(url) == url


def _encoded(data: str) -> bool:
    return len(data) % 4 == 0 and _BASE64.fullmatch(data) is not None


def _string(value: JSON) -> str:
    return value if isinstance(value, str) else ""
