"""minutebook: the minutes of an agent's work. Event-sourced context and memory, replayable and auditable."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minutebook.domain.checks import check_entry
    from minutebook.domain.curation import RuleCurator
    from minutebook.domain.errors import CompactionFailed, CompactionNeeded, ContextWindowExceeded, MinutebookError
    from minutebook.domain.extractive import ExtractiveSummarizer
    from minutebook.domain.memory_tool import MEMORY_TOOL
    from minutebook.domain.recall_tool import RECALL_TOOL
    from minutebook.domain.summary import Completion
    from minutebook.infrastructure.book import Context, Minutebook, Run, Session
    from minutebook.infrastructure.settings import Settings
    from minutebook.projections.projection import Projection

__all__ = [
    "MEMORY_TOOL",
    "RECALL_TOOL",
    "CompactionFailed",
    "CompactionNeeded",
    "Completion",
    "Context",
    "ContextWindowExceeded",
    "ExtractiveSummarizer",
    "Minutebook",
    "MinutebookError",
    "Projection",
    "RuleCurator",
    "Run",
    "Session",
    "Settings",
    "check_entry",
]

_WHERE = {
    "CompactionFailed": "domain.errors",
    "CompactionNeeded": "domain.errors",
    "Completion": "domain.summary",
    "Context": "infrastructure.book",
    "ContextWindowExceeded": "domain.errors",
    "ExtractiveSummarizer": "domain.extractive",
    "MEMORY_TOOL": "domain.memory_tool",
    "Minutebook": "infrastructure.book",
    "MinutebookError": "domain.errors",
    "Projection": "projections.projection",
    "RECALL_TOOL": "domain.recall_tool",
    "RuleCurator": "domain.curation",
    "Run": "infrastructure.book",
    "Session": "infrastructure.book",
    "Settings": "infrastructure.settings",
    "check_entry": "domain.checks",
}


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: a part, or the command line, starts without the rest.
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{where}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
