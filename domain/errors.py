"""Every error that leaves minutebook, with a stable code and the mend in its message.

The tree (codes are the snake_case form of the name and never change)::

    MinutebookError
    ├── ContextError
    │   ├── ContextWindowExceeded    even what is protected does not fit the window
    │   ├── CompactionNeeded         a reader may not compact, and the request does not fit
    │   └── CompactionFailed         the summary failed and the request does not fit
    ├── SessionError                 unknown_session, session_closed, run_open, run_closed, ...
    ├── MessageError                 bad_message, message_conflict, message_too_large, ...
    ├── MemoryFault                  memory_drift, memory_missing, target_ambiguous, ...
    ├── StoreError                   store_locked, store_corrupt, schema_newer, not_a_book, log_hole, ...
    └── InputError                   bad_transcript, bad_identifier, bad_setting, ...

Most facts need no class of their own: callers match on ``code``. A class exists where surface.md names
one or where a caller inside needs to catch it.
"""

from __future__ import annotations

from typing import Any


class MinutebookError(Exception):
    """The root of all errors of minutebook; ``code`` is stable, ``details`` holds values for programs."""

    code = "minutebook_error"

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        # Words of others are repeated in it: half a surrogate pair could be neither printed nor encoded.
        message = message.encode("utf-8", "backslashreplace").decode()
        super().__init__(message)
        if code is not None:
            self.code = code
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return self.message


class ContextError(MinutebookError):
    """The context of a session cannot be given."""

    code = "context_error"


class ContextWindowExceeded(ContextError):
    """What is protected alone does not fit the window less the reserve (C8); nothing was changed."""

    code = "context_window_exceeded"


class CompactionNeeded(ContextError):
    """A reader asked for a context that only a compaction would make fit (C8); run ``compact``."""

    code = "compaction_needed"


class CompactionFailed(ContextError):
    """The summary was refused or failed, and without it the request does not fit (C1, C5)."""

    code = "compaction_failed"


class SessionError(MinutebookError):
    """A session or run is not in the state that the call needs."""

    code = "session_error"


class MessageError(MinutebookError):
    """A message cannot be recorded as it is."""

    code = "bad_message"


class MemoryFault(MinutebookError):
    """Durable memory refuses: drift, a bad file, an unknown target."""

    code = "memory_fault"


class StoreError(MinutebookError):
    """The log or a projection cannot be read or written."""

    code = "store_error"


class StreamConflict(StoreError):
    """Another writer was first: a stream is no longer at the version that the decision rested on."""

    code = "stream_conflict"


class InputError(MinutebookError):
    """Something given from outside is not usable."""

    code = "bad_input"
