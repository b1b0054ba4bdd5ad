"""The search index: every message, and every entry of memory for as long as it was in force (D17)."""

from .fold import ENTRIES, EVIDENCE, KINDS, MESSAGES, SearchIndex
from .queries import Document, Scope, candidates, documents, holding, neighbours, scopes
from .tables import BLOCK, SearchTables

__all__ = [
    "BLOCK",
    "ENTRIES",
    "EVIDENCE",
    "KINDS",
    "MESSAGES",
    "Document",
    "Scope",
    "SearchIndex",
    "SearchTables",
    "candidates",
    "documents",
    "holding",
    "neighbours",
    "scopes",
]
