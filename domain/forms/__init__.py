"""The shapes in which messages arrive, each read by one pure function into the neutral view (M1)."""

from __future__ import annotations

from collections.abc import Callable

from ..message import JSON, Form, View
from . import anthropic, claude_code, codex, openai, openai_responses, openhands, pi

FORMS: dict[Form, Callable[[JSON], View]] = {
    "openai": openai.view,
    "openai-responses": openai_responses.view,
    "anthropic": anthropic.view,
    "pi": pi.view,
    "claude-code": claude_code.view,
    "codex": codex.view,
    "openhands": openhands.view,
}


def view(form: Form, source: JSON) -> View:
    """What ``source`` says in neutral terms. Total on everything that was recorded: an unknown part is Opaque."""
    return FORMS[form](source)


def guess(source: JSON) -> Form:
    """The form of an untagged message, told by what only one form has; what all have in common is ``openai``."""
    if openai_responses.speaks(source):
        return "openai-responses"
    return "anthropic" if anthropic.speaks(source) else "openai"
