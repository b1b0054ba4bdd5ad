"""A run becomes a packet: what the user said, what a tool bore out, what was accepted, without a model (D14).

Only what people and the model say is read for claims. A tool's output makes none, whatever it says: it can bear a
claim out, and it can lower the trust of one that repeats it. Fenced code, quoted lines and what a program wrote in the
user's place are nobody's word. Everything is redacted before it is cut into sentences, so that no cut halves a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..checks.likeness import is_near_duplicate, normal_form
from ..derivation import Said, any_derived
from ..message import Message, ToolCall, ToolResult, Trust, lowest_trust
from ..redaction import Redact
from ..segments import failed, prose, sentences, user_text
from ..words import words
from .opaque import mask
from .signals import Signal, accepts, signal_of_model, signal_of_user
from .values import (
    CLAIMS_MAX,
    EXTRACTOR,
    FILES_MAX,
    MESSAGES_LISTED_MAX,
    PATH_CHARS_MAX,
    Action,
    Claim,
    FileSeen,
    Packet,
    SourceMessage,
    SummarySeen,
    range_digest,
    source_digest,
    text_digest,
)

TEXT_CHARS_MAX = 60_000
"""Of one message; a longer one is read at its beginning and end, where people put what they mean."""
RESULTS_KEPT = 20
"""Successful tool results before a claim, the newest, that can bear it out."""
RESULT_CHARS_MAX = 50_000
BORNE_OUT_SHARE = 0.6
"""Share of a claim's telling words that must stand in the call and its result, besides every name and number."""
SUMMARY_CLAIMS_MAX = 10
RECALLING = frozenset({"recall", "memory", "search", "memory_search"})
"""Tools that give back what is known already: what they say is never new evidence (D14)."""

_PATH_KEYS = (
    "path", "file_path", "filePath", "file", "filename", "notebook_path", "target_file", "absolute_path", "filepath"
)  # fmt: skip
_GIVEN_KEYS = ("content", "file_text", "contents", "new_string", "new_str", "newText", "text")
_WHOLE_KEYS = ("content", "file_text", "contents")
_WRITES = re.compile(r"write|edit|create|patch|replace|insert|apply|delete|move|rename|save", re.IGNORECASE)
_EXACT = re.compile(r"[\w@#/\\.:-]*(?:\d|[/\\@#_]|[a-z][A-Z]|\w\.\w)[\w@#/\\.:-]*")

Earlier: TypeAlias = Callable[[], Sequence[Said]]
"""What was said in the session before the run, oldest first; only asked for when the model says something to keep."""


@dataclass(frozen=True, slots=True)
class _Borne:
    """A successful call with its result: the message of the result, the text of both, and the file it was about."""

    message: str
    text: str
    path: str | None


@dataclass
class _Reader:
    """What is known while a run is read, message by message."""

    redact: Redact
    earlier: Earlier | None
    root: str = ""
    claims: list[Claim] = field(default_factory=list)
    files: dict[tuple[str, Action], FileSeen] = field(default_factory=dict)
    calls: dict[str, tuple[ToolCall, str]] = field(default_factory=dict)
    borne: list[_Borne] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    recalled: list[Said] = field(default_factory=list)
    proposed: list[Claim] = field(default_factory=list)
    left_out: int = 0
    redacted: int = 0


def read_run(
    session: str,
    run: str,
    messages: Sequence[Message],
    summaries: Sequence[SummarySeen] = (),
    *,
    redact: Redact,
    before: Message | None = None,
    earlier: Earlier | None = None,
    extractor: str = EXTRACTOR,
    root: str = "",
) -> Packet:
    """The packet of a run that succeeded; pure, and the same for the same messages.

    ``root`` is the folder of the workspace: files in it are named from there, so the same wherever it stands.

    ``before`` is what the model said last before the run: the user may accept it in their first words.
    ``earlier`` gives what the session had heard before; without it only this run is looked at.
    """
    reader = _Reader(redact, earlier, root.rstrip("/"))
    if before is not None and before.role == "assistant":
        _take_model(reader, before, _clean(reader, before.text))
        reader.claims.clear()
    for message in messages:
        _take(reader, message)
    _retain(reader, summaries)
    accepted = before is not None and any(before.id in claim.messages for claim in reader.claims)
    sources = sources_of([before, *messages] if before is not None and accepted else messages)
    files = list(reader.files.values())
    return Packet(
        session=session,
        run=run,
        extractor=extractor,
        messages=sources[:MESSAGES_LISTED_MAX],
        range_digest=range_digest(sources),
        messages_total=len(sources),
        claims=tuple(reader.claims),
        files=tuple(files[:FILES_MAX]),
        summaries=tuple((seen.compaction, _lines_digest(seen)) for seen in summaries),
        left_out=reader.left_out + max(0, len(files) - FILES_MAX),
        redacted=reader.redacted,
    )


def sources_of(messages: Sequence[Message]) -> tuple[SourceMessage, ...]:
    """The identity of messages: ids, roles and digests, in order."""
    return tuple(SourceMessage(one.id, one.role, source_digest(one.source)) for one in messages)


def _take(reader: _Reader, message: Message) -> None:
    if text := user_text(message):
        _take_user(reader, message, _clean(reader, text))
    elif message.role == "assistant" and message.text.strip():
        _take_model(reader, message, _clean(reader, message.text))
    for part in message.parts:
        if isinstance(part, ToolCall):
            reader.calls[part.id] = (part, message.id)
            _take_file(reader, message, part)
        elif isinstance(part, ToolResult):
            _take_result(reader, message, part)


def _clean(reader: _Reader, text: str) -> str:
    """A text as it may be read: redacted as a whole, masked, without code and without what is quoted."""
    cleaned, count = scrub(text, reader.redact)
    reader.redacted += count
    return "\n".join(line for line in prose(cleaned).split("\n") if not line.lstrip().startswith((">", "|", "    ")))


def scrub(text: str, redact: Redact) -> tuple[str, int]:
    """The text without credentials and opaque strings, and how many there were: all that evidence ever keeps of it."""
    if len(text) > TEXT_CHARS_MAX:
        text = f"{text[: TEXT_CHARS_MAX // 2]}\n{text[-TEXT_CHARS_MAX // 2 :]}"
    redacted, first = redact(text.encode("utf-8", "replace").decode())
    masked, second = mask(redacted)
    return masked, first + second


# --- what people say


def _take_user(reader: _Reader, message: Message, text: str) -> None:
    first = next(sentences(text), "")
    if reader.proposed and accepts(first):
        for claim in reader.proposed:
            _accept(reader, claim, message)
    reader.proposed.clear()
    reader.borne.clear()
    for sentence in sentences(text):
        signal = signal_of_user(sentence)
        if signal is not None and _tells(signal):
            _add(reader, Claim(signal.kind, signal.text, "user", message.trust, (message.id,), signal.language))
    reader.said.append(Said(text, always=True))


def _accept(reader: _Reader, claim: Claim, message: Message) -> None:
    """The user took a finding over: it rests on their word too, and stays as little trusted as it was."""
    accepted = replace(claim, basis="user", messages=(*claim.messages, message.id))
    for place, known in enumerate(reader.claims):
        if known == claim:
            reader.claims[place] = accepted
            return
    _add(reader, accepted)


def _take_model(reader: _Reader, message: Message, text: str) -> None:
    reader.proposed.clear()
    for sentence in sentences(text):
        signal = signal_of_model(sentence)
        if signal is None or not _tells(signal) or _is_recalled(reader, signal.text):
            continue
        trust = lowest_trust("model", message.trust, *_outside(reader, signal.text))
        borne = _bears_out(reader, signal) if signal.kind in ("confirmed", "finding") else None
        claim = Claim(
            signal.kind,
            signal.text,
            "none" if borne is None else "tool",
            trust,
            (message.id,) if borne is None else (borne.message, message.id),
            signal.language,
            () if borne is None or borne.path is None else (borne.path,),
        )
        if _add(reader, claim) and signal.kind != "confirmed":
            reader.proposed.append(claim)
    reader.said.append(Said(text))


def _outside(reader: _Reader, text: str) -> Iterator[Trust]:
    if reader.earlier is not None:
        reader.said[:0], reader.earlier = reader.earlier(), None
    if any_derived([text], reader.said):
        yield "tool"


def _is_recalled(reader: _Reader, text: str) -> bool:
    """Whether the model only repeats what memory, a search or a recall gave it: that is no new evidence."""
    if not reader.recalled:
        return False
    said = normal_form(text)
    return any_derived([text], reader.recalled) or any(said in normal_form(one.text) for one in reader.recalled)


def _bears_out(reader: _Reader, signal: Signal) -> _Borne | None:
    """The newest successful call since the user spoke that holds every name and number of the claim, and its words."""
    wanted = words(signal.text)
    exact = [token.strip(".:-") for token in _EXACT.findall(signal.text)]
    if len(wanted) < 2:
        return None
    for borne in reversed(reader.borne):
        folded = borne.text.casefold()
        if not all(token.casefold() in folded for token in exact):
            continue
        held = set(words(borne.text))
        if sum(word in held for word in wanted) >= BORNE_OUT_SHARE * len(wanted):
            return borne
    return None


def _tells(signal: Signal) -> bool:
    """A claim has a subject and something about it: one word, or a bare pronoun, is no note."""
    return len(words(signal.text)) >= 2 and len(signal.text) >= 6


def _add(reader: _Reader, claim: Claim) -> bool:
    text = " ".join(claim.text.split())
    for place, known in enumerate(reader.claims):
        if known.kind == claim.kind and normal_form(known.text) == normal_form(text):
            if known.basis == "none" and claim.basis != "none":
                reader.claims[place] = replace(claim, text=text)
            return False
    if len(reader.claims) >= CLAIMS_MAX:
        reader.left_out += 1
        return False
    reader.claims.append(replace(claim, text=text))
    return True


# --- what tools did


def _take_result(reader: _Reader, message: Message, result: ToolResult) -> None:
    call, _ = reader.calls.get(result.call_id, (None, ""))
    name = (result.name or (call.name if call is not None else "")).casefold()
    text = result.text[:RESULT_CHARS_MAX]
    if name in RECALLING:
        reader.recalled.append(Said(text, outside=True))
        return
    reader.said.append(Said(text, outside=True))
    if call is None or failed(result):
        return
    path = _path_of(reader, call)
    reader.borne.append(_Borne(message.id, f"{call.arguments[:2_000]}\n{text}", path))
    del reader.borne[:-RESULTS_KEPT]
    seen = None if path is None else reader.files.get((path, "read"))
    if seen is not None and seen.told is None:
        reader.files[path or "", "read"] = replace(seen, told=text_digest(result.text), message=message.id)


def _take_file(reader: _Reader, message: Message, call: ToolCall) -> None:
    """A call that names a file by one of the usual arguments; what a shell command touches is not told by its words."""
    path = _path_of(reader, call)
    if path is None:
        return
    arguments = _arguments(call)
    given = next((key for key in _GIVEN_KEYS if isinstance(arguments.get(key), str)), None)
    writes = given is not None or _WRITES.search(call.name) is not None
    whole = next((str(arguments[key]) for key in _WHOLE_KEYS if isinstance(arguments.get(key), str)), None)
    action: Action = "written" if writes else "read"
    told = text_digest(whole) if writes and whole is not None else None
    if writes or (path, action) not in reader.files:
        reader.files[path, action] = FileSeen(path, action, message.id, told)


def _path_of(reader: _Reader, call: ToolCall) -> str | None:
    arguments = _arguments(call)
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and 0 < len(value.strip()) <= PATH_CHARS_MAX and "\n" not in value:
            return scrub(_from_root(value.strip(), reader.root), reader.redact)[0]
    return None


def _from_root(path: str, root: str) -> str:
    inside = root and path.startswith(f"{root}/") and path[len(root) :].lstrip("/")
    return inside or path


def _arguments(call: ToolCall) -> dict[str, object]:
    if len(call.arguments) > 2_000_000:
        return {}
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# --- what was retained


def _retain(reader: _Reader, summaries: Sequence[SummarySeen]) -> None:
    """Lines of a summary that say what no original of this run said by itself: history, and nobody's word."""
    added = 0
    for seen in summaries:
        for _, line, messages in seen.lines:
            text, count = scrub(line, reader.redact)
            reader.redacted += count
            if added >= SUMMARY_CLAIMS_MAX or len(words(text)) < 3 or len(text) > 600:
                continue
            if any(is_near_duplicate(known.text, text) or known.text in text for known in reader.claims):
                continue
            added += _add(reader, Claim("summary", text, "none", lowest_trust("model", seen.trust), messages))


def _lines_digest(seen: SummarySeen) -> str:
    return text_digest("\n".join(f"{section}: {text}" for section, text, _ in seen.lines))
