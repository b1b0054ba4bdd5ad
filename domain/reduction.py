"""Deterministic reduction of old tool payloads: pure, without a model, the same bytes on any machine (C3).

It changes what the next request shows and nothing else. What it decides is stored in the event that decides
it (``parts_to_json``), so a later version of this code shows the same past.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from . import placeholder
from .message import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from .parts import parts_from_json, parts_to_json
from .policy import Policy
from .tokens import count_message

__all__ = ["newest_results", "parts_from_json", "parts_to_json", "reduce"]


def reduce(
    messages: Sequence[Message],
    indices: Collection[int],
    *,
    policy: Policy,
    session: str = "-",
    shown: Mapping[str, tuple[Part, ...]] | None = None,
    tight: bool = False,
) -> dict[str, tuple[Part, ...]]:
    """Shorter parts for those messages at ``indices`` whose tool payloads are long, by message id, oldest first.

    ``messages`` is all that the request shows, in order: calls are looked up in it, and an older result whose
    identical text comes again in it becomes a reference. ``shown`` holds what is shown reduced already; such a
    message is left alone, except in a ``tight`` reduction, which starts from the original again (C8). A message
    is named only when its new parts really take fewer tokens. Call and result ids, names, order and error
    flags never change; neither do the arguments of the newest calls while one of them is unanswered.
    """
    found = reduce_counted(messages, indices, policy=policy, session=session, shown=shown, tight=tight)
    return {name: parts for name, (parts, _) in found.items()}


def reduce_counted(
    messages: Sequence[Message],
    indices: Collection[int],
    *,
    policy: Policy,
    session: str = "-",
    shown: Mapping[str, tuple[Part, ...]] | None = None,
    tight: bool = False,
) -> dict[str, tuple[tuple[Part, ...], int]]:
    """The same, each with the tokens of the message as it would be shown; counting is what costs most here."""
    already = shown or {}
    chosen = frozenset(indices)
    survey = _survey(messages)
    made: dict[str, tuple[tuple[Part, ...], int]] = {}
    for index, message in enumerate(messages):
        if index not in chosen or (message.id in already and not tight):
            continue
        scribe = _Scribe(index, message, survey, policy, session, tight)
        parts = tuple([scribe.part(number, part) for number, part in enumerate(message.parts)])
        if all(new is old for new, old in zip(parts, message.parts, strict=True)):
            continue
        # The recorded count of the original is compared, so that the long text is not counted again (M5).
        before = count_message(already[message.id], policy.counter.count) if message.id in already else message.tokens
        shorter = tuple([_encodable(part) for part in parts])
        after = count_message(shorter, policy.counter.count)
        if after < before:
            made[message.id] = (shorter, after)
    return made


def newest_results(messages: Sequence[Message]) -> int | None:
    """Index of the newest message that holds a tool result: its payload is reduced last (C3)."""
    return next((index for index in range(len(messages) - 1, -1, -1) if messages[index].results), None)


def brought_by_tool(message: Message) -> bool:
    """True for text in the user's place that a tool wrote, such as the output of a command they ran themselves.

    It is a tool payload in all but form, and one of 50 kB at the end of a real session (pi) must not make the
    context impossible.
    """
    return message.role == "user" and message.trust in ("tool", "external")


@dataclass(frozen=True, slots=True)
class _Survey:
    """What one walk over the history tells: the call of each result, the newest place of each text, the open call."""

    calls: Mapping[tuple[int, int], ToolCall]
    newest: Mapping[str, tuple[int, int, Message]]
    current: int | None


def _survey(messages: Sequence[Message]) -> _Survey:
    by_id: dict[str, ToolCall] = {}
    calls: dict[tuple[int, int], ToolCall] = {}
    newest: dict[str, tuple[int, int, Message]] = {}
    answered: set[str] = set()
    last: int | None = None
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                by_id[part.id] = part
                answered.discard(part.id)
                last = index
            elif isinstance(part, ToolResult):
                newest[part.text] = (index, number, message)
                answered.add(part.call_id)
                if part.call_id in by_id:
                    calls[index, number] = by_id[part.call_id]
    open_call = last is not None and any(call.id not in answered for call in messages[last].calls)
    return _Survey(calls, newest, last if open_call else None)


@dataclass(frozen=True, slots=True)
class _Scribe:
    """Writes the shorter form of each part of one message."""

    index: int
    message: Message
    survey: _Survey
    policy: Policy
    session: str
    tight: bool

    def part(self, number: int, part: Part) -> Part:
        if isinstance(part, ToolCall):
            return self._call(part)
        if isinstance(part, ToolResult):
            return self._result(number, part)
        if isinstance(part, Text) and brought_by_tool(self.message):
            output = ToolResult("", part.text, name="the command")
            text = self._text(number, output, self._place(), room=0)
            return part if text is part.text else Text(text)
        return part

    def _call(self, call: ToolCall) -> ToolCall:
        if self.index == self.survey.current or len(call.arguments) <= self.policy.argument_chars_long:
            return call
        shorter = placeholder.shorten_arguments(call.arguments, position=self.message.position, policy=self.policy)
        return replace(call, arguments=shorter) if len(shorter) < len(call.arguments) else call

    def _place(self) -> placeholder.Place:
        return placeholder.Place(self.message.position, self.message.id, self.session)

    def _result(self, number: int, result: ToolResult) -> ToolResult:
        place = self._place()
        call = self.survey.calls.get((self.index, number))
        kept = self.policy.hint(result.name or (call.name if call else "")).keep and not self.tight
        note = placeholder.media_text(result.media, place) if result.media and not kept else ""
        text = self._text(number, result, place, room=len(note))
        if text is result.text and not note:
            return result
        return replace(result, text="\n".join(filter(None, (text, note))), media=())

    def _text(self, number: int, result: ToolResult, place: placeholder.Place, room: int) -> str:
        call = self.survey.calls.get((self.index, number))
        hint = self.policy.hint(result.name or (call.name if call else ""))
        if hint.keep and not self.tight:
            return result.text
        usual = self.policy.result_chars_long if hint.result_chars_long is None else hint.result_chars_long
        long = min(usual, self.policy.result_chars_tight) if self.tight else usual
        if len(result.text) <= placeholder.PLACEHOLDER_CHARS_MAX and placeholder.MARK in result.text:
            return result.text
        later_index, later_number, later = self.survey.newest.get(result.text, (-1, -1, self.message))
        if len(result.text) >= self.policy.duplicate_chars_min and (later_index, later_number) > (self.index, number):
            return placeholder.duplicate_text(result, call, position=later.position, message=later.id)
        if len(result.text) + room <= long:
            return result.text
        return placeholder.result_text(result, call, place, self.policy, tight=self.tight)


def _encodable(part: Part) -> Part:
    """The part without lone surrogates: a payload of ours is UTF-8, and no provider takes them either."""
    match part:
        case Text():
            return replace(part, text=placeholder.encodable(part.text))
        case ToolCall():
            return replace(part, arguments=placeholder.encodable(part.arguments))
        case ToolResult():
            return replace(part, text=placeholder.encodable(part.text))
        case Reasoning() | Media() | Opaque():
            return part
