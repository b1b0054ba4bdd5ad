"""What the memory file is, compared with what the log says it should be (D8, D11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from ...domain.errors import MemoryFault
from ...domain.revision import MemoryDocument
from .ledger import DriftKind
from .safe_file import Absent, Bytes, FileLook, Refused

State = Literal["clean", "drift", "missing", "unadopted", "remote"]


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of the file for ``status``; ``code`` says why a file is refused, ``detail`` what to do.

    ``revision`` is the current one (0: none yet), ``expected_digest`` its digest, ``found_digest`` that of the file.
    """

    state: State
    path: str
    revision: int = 0
    found_digest: str | None = None
    expected_digest: str | None = None
    code: str | None = None
    detail: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return self.state == "clean"

    @property
    def finding(self) -> tuple[DriftKind, str | None] | None:
        """What ``DriftDetected`` records of it: the kind, and the digest (or the reason it has none)."""
        match self.state:
            case "clean" | "remote":
                return None
            case "missing":
                return "missing", None
            case "drift" | "unadopted" as state:
                return (state, self.found_digest) if self.code is None else ("unreadable", self.code)
            case _:
                assert_never(self.state)

    def error(self) -> MemoryFault:
        """Why memory refuses to change: ``memory_drift``, or the code of a file that is never touched."""
        return MemoryFault(
            self.detail,
            code=self.code or ("memory_remote" if self.state == "remote" else "memory_drift"),
            state=self.state,
            expected=self.expected_digest,
            found=self.found_digest,
        )


def file_state(document: MemoryDocument, look: FileLook, path: str) -> FileState:
    """Compares; a pure function."""
    number = 0 if document.current is None else document.current.number
    expected = document.digest
    match look:
        case Absent() if expected is None:
            return FileState("clean", path)
        case Absent():
            return FileState(
                "missing",
                path,
                number,
                None,
                expected,
                detail=f"{path} is gone, revision {number} stands in the log: 'minutebook memory restore {number}' "
                "brings it back, 'minutebook memory sync' accepts that memory is empty now",
            )
        # Also when it is the first one: a file that we wrote was not there before us.
        case Bytes() if document.prepared is not None and look.digest == document.prepared.digest:
            return FileState(
                "clean",
                path,
                number,
                look.digest,
                expected,
                detail=f"revision {document.prepared.number} is written and not yet committed",
                warnings=look.warnings,
            )
        case Bytes() if expected is None:
            return FileState(
                "unadopted",
                path,
                0,
                look.digest,
                None,
                detail=f"{path} was there before minutebook; 'minutebook memory sync' takes it in",
                warnings=look.warnings,
            )
        case Bytes() if look.digest == expected:
            return FileState(
                "clean", path, number, look.digest, expected, detail=_kept(document), warnings=look.warnings
            )
        case Bytes():
            return FileState(
                "drift",
                path,
                number,
                look.digest,
                expected,
                detail=f"{path} is not what revision {number} holds: it was edited, or the database is an older copy "
                "(a restored backup): 'minutebook memory sync' takes the file in, "
                f"'minutebook memory restore {number} --discard-edit' keeps a copy of it and goes back",
                warnings=look.warnings,
            )
        case Refused():
            state: State = "unadopted" if expected is None else "drift"
            return FileState(state, path, number, None, expected, code=look.code, detail=look.message)
        case _:
            assert_never(look)


def _kept(document: MemoryDocument) -> str:
    if not document.displaced:
        return ""
    newest = max(document.displaced)
    return f"an edit that was overtaken by a new revision is kept as displaced revision {newest}"
