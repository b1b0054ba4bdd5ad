"""The revisions of durable memory: every one of them, with where each entry came from, by query (D9, E3)."""

from .fold import Revisions
from .tables import RevisionTables

__all__ = ["RevisionTables", "Revisions"]
