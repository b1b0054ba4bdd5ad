"""The shapes in which messages arrive, each read by one pure function into the neutral view (M1)."""

from __future__ import annotations

from collections.abc import Callable

from ..message import JSON, Form, View
from . import anthropic, claude_code, openai, pi

FORMS: dict[Form, Callable[[JSON], View]] = {
    "openai": openai.view,
    "anthropic": anthropic.view,
    "pi": pi.view,
    "claude-code": claude_code.view,
}


def view(form: Form, source: JSON) -> View:
    """What ``source`` says in neutral terms. Total on everything that was recorded: an unknown part is Opaque."""
    return FORMS[form](source)


def guess(source: JSON) -> Form:
    """The form of an untagged message: ``anthropic`` when it holds a block that only that form has, else ``openai``."""
    return "anthropic" if anthropic.speaks(source) else "openai"
