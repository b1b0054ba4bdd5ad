"""The revisions of durable memory: every one of them, with where each entry came from, by query (D9, E3)."""

from .fold import Revisions
from .queries import (
    Difference,
    EntryRow,
    RevisionRow,
    at_position,
    at_time,
    blame,
    current,
    diff,
    history,
    log,
    prepared,
    revision,
    show,
)
from .tables import RevisionTables

__all__ = [
    "Difference",
    "EntryRow",
    "RevisionRow",
    "RevisionTables",
    "Revisions",
    "at_position",
    "at_time",
    "blame",
    "current",
    "diff",
    "history",
    "log",
    "prepared",
    "revision",
    "show",
]
