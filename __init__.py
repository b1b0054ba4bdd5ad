"""minutebook: the minutes of an agent's work. Event-sourced context and memory, replayable and auditable."""

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
