"""The search index: every message and claim, and every entry of memory for as long as it was in force (D17)."""

from .fold import SearchIndex
from .queries import Candidates, Document, Scope, candidates, documents, entries, holding, neighbours, scopes
from .tables import BLOCK, SearchTables

__all__ = [
    "BLOCK",
    "Candidates",
    "Document",
    "Scope",
    "SearchIndex",
    "SearchTables",
    "candidates",
    "documents",
    "entries",
    "holding",
    "neighbours",
    "scopes",
]
