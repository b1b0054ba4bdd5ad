"""The context read model: what a session's model sees, now and at any earlier position (C6-C8, C11, E3, M6)."""

from .read_model import Context
from .tables import ContextTables

__all__ = ["Context", "ContextTables"]
