"""The public object and what it hands out: Minutebook, Session, Run, Context, Memory."""

from .answers import Answer, RecordedMessage
from .context import Context
from .minutebook import Minutebook
from .run import Run
from .session import Session

__all__ = ["Answer", "Context", "Minutebook", "RecordedMessage", "Run", "Session"]
