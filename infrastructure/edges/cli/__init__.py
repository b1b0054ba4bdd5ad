"""The command line: parse, ask the public object, print. Nothing is decided here."""

from .entry import main

__all__ = ["main"]
