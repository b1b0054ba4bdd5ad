"""Reads a message in pi form."""

from __future__ import annotations

from ..message import JSON, View


def view(source: JSON) -> View:
    raise NotImplementedError
