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
    ``cause`` names a drift that is no edit: ``database_behind_file``.
    """

    state: State
    path: str
    revision: int = 0
    found_digest: str | None = None
    expected_digest: str | None = None
    code: str | None = None
    cause: str | None = None
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
            cause=self.cause,
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """The last revision that was written here, as it is noted in the lock file.

    A database that was brought back from a backup does not know that revision; the memory file tells no number.
    """

    revision: int
    digest: str

    @classmethod
    def read(cls, text: str) -> Mark | None:
        """What ``line`` wrote; None for anything else."""
        match text.split():
            case ["revision", number, digest] if number.isascii() and number.isdigit() and len(number) < 19:
                return cls(int(number), digest)
            case _:
                return None

    def line(self) -> str:
        return f"revision {self.revision} {self.digest}\n"


def file_state(document: MemoryDocument, look: FileLook, path: str, mark: Mark | None = None) -> FileState:
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
            behind = mark is not None and mark.revision >= document.next
            return FileState(
                "drift",
                path,
                number,
                look.digest,
                expected,
                cause="database_behind_file" if behind else None,
                detail=_behind(path, number, mark, look) if behind and mark else _edited(path, number),
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


def _edited(path: str, number: int) -> str:
    return (
        f"{path} is not what revision {number} holds: it was edited, or the database is an older copy (a restored "
        f"backup): 'minutebook memory sync' takes the file in, 'minutebook memory restore {number} --discard-edit' "
        "keeps a copy of it and goes back"
    )


def _behind(path: str, number: int, mark: Mark, look: Bytes) -> str:
    edited = "" if look.digest == mark.digest else " and was edited since"
    return (
        f"the database is older than the file (database_behind_file): {path} was written as revision {mark.revision}"
        f"{edited}, and the newest that this database knows is {number}, so it is a restored backup or another one. "
        "Bring the newer database back; or 'minutebook memory sync' takes the file in as it is, and 'minutebook memory "
        f"restore {number} --discard-edit' keeps a copy of it and goes back"
    )
