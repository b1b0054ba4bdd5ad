"""Marks that would be read as structure: chat roles, template tokens, closing tags, hidden markup, active HTML (D4)."""

from __future__ import annotations

import re

from ..catalogue import Finding
from .fold import View

_TEMPLATE = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?inst\]|<</?sys>>|</?start_of_turn>|</?end_of_turn>|<\|?(?:bos|eos|eot|pad"
    r"|unk)(?:_id)?\|?>"
    r"|<(?:im_start|im_end|endoftext|start_header_id|end_header_id)>|</?(?:function_calls|antml:\w{2,20}"
    r"|tool_calls?|invoke)\b[^>\n]{0,60}>"
    r"|\[(?:available_tools|tool_calls|tool_results)\]|<｜|▁of▁sentence"
)
_RESERVED = (
    "memory|memories|memory_block|system|system-reminder|system_prompt|summary|context|conversation"
    "|instructions?|notes?|entry|entries"
    "|user|assistant|human|developer|tool_result|tool_output|function_results?|document|data|untrusted"
    "|history|prompt|thinking|message"
)
_CLOSING = re.compile(rf"</ ?({_RESERVED}) ?>")
_PAIR = re.compile(
    r"<(system|system-reminder|system_prompt|instructions?|assistant|developer|human|user|thinking|admin"
    r"|important|override|command|function_results?|tool_result)"
    r"(?: [^>\n]{0,60})?>[^<]{3,400}</ ?\1 ?>"
)
_ORDER = (
    r"(?:you\b|your\b|grant|reveal|print|run|execute|ignore|disregard|approve|allow|disable|enable|do not"
    r"|don't|never|always|must|the user|user is"
    r"|delete|send|forward|override|obey|respond|reply|answer|forget|sure\b|okay\b|of course|i will|i'll"
    r"|understood|all |any |from now|new (?:rule|instruction|order|policy)"
    r"|please|stop|no (?:restriction|rule|limit|approval|confirm)|trust|comply|act as|act on|treat|skip"
    r"|remember|save|use the|call the|export|upload|share|accept|confirm|access|permission|previous|set "
    r"|switch|policy|rules|safety|grant)"
)
_ROLE_LINE = re.compile(
    rf"(?:^|[\n.!?>*#|)\]}}-] {{0,3}})\W{{0,3}}(?:system|developer|assistant|human|ai|operator|admin"
    rf"|root)(?: (?:message|prompt|note|override|update|instruction))?s? ?[:>] {{0,3}}{_ORDER}"
)
_OPEN_TAG = re.compile(
    rf"<(?:system|system-reminder|system_prompt|instructions?|assistant|developer|human|user|admin|override"
    rf"|tool_result)> ?{_ORDER}"
)
_ROLE_BRACKET = re.compile(
    rf"\[(?:system|assistant|developer|admin|human)(?: (?:message|prompt|note|override|update|instruction"
    rf"|notice)s?)?\](?!\() ?:? {{0,3}}{_ORDER}|\[(?:system|developer) (?:message|prompt|note|override"
    rf"|update|instruction|notice)s?[\]:]"
)
_DIALOGUE = re.compile(r"(?:^|\n|[.!?] )(?:human|user|q) ?: ?[^\n]{1,200}(?:\n|[.!?] )(?:assistant|ai|model) ?:")
_HEADER = re.compile(
    rf"#{{2,6}} ?(?:system|instructions?|response|human|assistant|user|input) ?:? {{0,3}}(?:prompt|message"
    rf"|override|input)? ?[:#\n] ?{_ORDER}"
    r"|(?:#{2,6}|-{3,40}|={3,40}|\*{3,40}|\[|<) ?(?:end|begin|start) (?:of )?(?:the )?(?:user |system |all "
    r"|untrusted |tool )?(?:input|prompt|memory|context|conversation|notes|instructions?|data|document"
    r"|message|output|system)s? ?(?:#{2,6}|-{3,40}|={3,40}|\*{3,40}|\]|>)"
)
_JSON_ROLE = re.compile(
    r"[{,] ?[\"']role[\"'] ?: ?[\"'](?:system|developer|assistant|tool|function"
    r"|user)[\"'] ?, ?[\"']content[\"'] ?: ?[\"'\[{](?!\.\.\.|…|<|[\"'\]])"
    r"|[\"']content[\"'] ?: ?[\"'][^\"'\n]{3,300}[\"'] ?, ?[\"']role[\"'] ?: ?[\"'](?:system|developer"
    r"|assistant|tool|user)[\"']"
)
_TOOL_IMITATION = re.compile(
    r"\[ ?memory[.:_ -](?:add|write|save|update|replace|remove|batch|store|append|set)\w{0,10} ?\]"
    r"|\bmemory[._](?:add|write|save|update|replace|remove|append|store|set) ?\("
    r"|\b(?:to|recipient) ?= ?(?:functions|memory)[.]\w{1,20}|[{,] ?\"(?:operation|tool|name"
    r"|function)\" ?: ?\"(?:add|replace|remove|batch|memory)\" ?,"
    r"|<(?:memory|tool|function)[._:](?:add|write|save|update|call)\b"
)
_COMMENT = re.compile(
    r"<!--([^\n]{0,600}?)(?:-->|$)|\[//\]: ?# ?[(\"']([^\n]{0,400})|\[(?:comment|_)\]: ?(?:#"
    r"|<>) ?[(\"']([^\n]{0,400})|\{/\*([^\n]{0,400}?)\*/\}"
)
_COMMENT_ORDER = re.compile(
    r"\b(?:assistants?|agents?|ai|llms?|models?|bots?|you|your|keep this|summar\w{1,6}|instructions?"
    r"|always|must|should|send|forward|obey|approve|reveal|secret|delete|execute|run|grant|trust"
    r"|remember|memory|allow|disable|password|token|export|call|upload|reply|answer|copy)\b"
)
_HIDDEN_MARKUP = re.compile(
    r"<\w{1,12}[^>\n]{0,120}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0"
    r"|opacity ?: ?0(?:[;\"' .]|$)|color ?: ?(?:#fff\b|#ffffff|white|transparent)|(?:left|top"
    r"|text-indent) ?: ?-\d{3,5}|aria-hidden|\bhidden\b)[^>\n]{0,120}>[^<\n]{0,40}\w"
)
_REMOTE_IMAGE = re.compile(
    r"!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//|!\[[^\]\n]{0,120}\]\[[^\]\n]{0,60}\]"
    r"|<img\b[^>\n]{0,200}\bsrc ?= ?[\"']?(?:https?:)?//"
)
_ACTIVE = re.compile(
    r"<(?:script|iframe|object|embed|svg|link|meta|base|form|video|audio|body|img|input"
    r"|details)\b[^>\n]{0,200}\b(?:on\w{3,20} ?=|src ?= ?[\"']?(?:https?:)?//|href ?= ?[\"']?(?:https?:"
    r"|javascript:)|action ?= ?[\"']?https?:|data ?= ?[\"']?(?:https?:|data:)|http-equiv)"
    r"|<script\b[^>\n]{0,100}>[^<\n]{0,200}(?:fetch|xmlhttp|document\.|location|import|eval|https?:)"
    r"|\]\( ?(?:javascript|data|vbscript):|data:text/html|\bsrcset ?= ?[\"']?https?:"
)


def find_role_markers(view: View) -> tuple[Finding, ...]:
    """Text that imitates the frame around it: chat template tokens, role lines, closing tags, tool calls."""
    text = view.text
    for pattern, what in (
        (_TEMPLATE, "a chat template token"),
        (_PAIR, "a tag that marks a role or instructions"),
        (_OPEN_TAG, "a tag that marks a role or instructions"),
        (_ROLE_LINE, "a role line"),
        (_ROLE_BRACKET, "a role line"),
        (_DIALOGUE, "a made-up dialogue"),
        (_HEADER, "a heading that begins or ends a section of a prompt"),
        (_JSON_ROLE, "a message with a role"),
        (_TOOL_IMITATION, "an imitated tool call"),
    ):
        if (found := pattern.search(text)) is not None:
            return (_marker(view, found, what),)
    for closing in _CLOSING.finditer(text):
        if f"<{closing[1]}" not in text[: closing.start()]:
            return (_marker(view, closing, "a closing tag without its opening"),)
    return ()


def _marker(view: View, match: re.Match[str], what: str) -> Finding:
    message = f"{what} would be read as structure, not as a note; describe it in words"
    return Finding(code="role_marker", message=message, span=view.span(match.start(), match.end()))


def find_hidden_markup(view: View) -> tuple[Finding, ...]:
    """Comments that carry orders and elements styled away: shown to a model, hidden from a person."""
    for match in _COMMENT.finditer(view.text):
        if _COMMENT_ORDER.search(match[0]):
            return (_hidden(view, match, "a comment with words for an agent is hidden when the text is rendered"),)
    if (styled := _HIDDEN_MARKUP.search(view.text)) is not None:
        return (_hidden(view, styled, "an element is styled so that a person does not see it"),)
    return ()


def _hidden(view: View, match: re.Match[str], message: str) -> Finding:
    return Finding(code="hidden_markup", message=f"{message}; remove it", span=view.span(match.start(), match.end()))


def find_active_markup(view: View) -> tuple[Finding, ...]:
    """Remote images, scripts, frames and event handlers: showing the entry would call a stranger."""
    for pattern, what in ((_REMOTE_IMAGE, "a remote image"), (_ACTIVE, "active HTML")):
        if match := pattern.search(view.text):
            message = f"{what} calls another server when the entry is shown; name the address in words"
            return (Finding(code="exfiltration", message=message, span=view.span(match.start(), match.end())),)
    return ()
