"""Reads a message in anthropic form."""

from __future__ import annotations

from ..message import JSON, View


def view(source: JSON) -> View:
    raise NotImplementedError
