"""What a run leaves as evidence: its sources with their digests, the files it touched, the claims read from it (D14).

Everything in a packet is told by the messages of the run, so the same run gives the same packet and the same hash on
any machine and database: no position, no time, no workspace and no file on disk goes into it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..message import JSON, Trust
from .phrases import Kind

EXTRACTOR = "signals-1"
"""Who read a packet without a model; another reading of the same run has another name."""
FORM = "evidence-1"
"""The form of what is hashed; it changes only together with this name."""

CLAIMS_MAX = 50
"""Claims of one packet; the rest of a run that goes on and on is left out, and the packet says so."""
MESSAGES_LISTED_MAX = 500
"""Messages that a packet names one by one; its range digest covers all of them."""
FILES_MAX = 50
PATH_CHARS_MAX = 300
SNAPSHOT_CHARS_MAX = 2_000
"""Of a workspace file that a claim rests on, redacted and masked; the digest covers all of it."""
FILE_BYTES_MAX = 5_000_000
"""A larger workspace file is named with its size and not read."""

Basis: TypeAlias = Literal["user", "tool", "none"]
"""What stands behind a claim, as the engine saw it: the user's own word, a tool that bore it out, or nothing yet."""
Action: TypeAlias = Literal["read", "written"]


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message that a packet was read from: its id in the session, its role, the digest of the original."""

    message: str
    role: str
    digest: str


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file as the messages tell of it: which call named it, and the digest of the text that was shown or given."""

    path: str
    action: Action
    message: str
    told: str | None = None


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """The same file in the workspace when the packet was made; ``digest`` None: ``why`` it was not read."""

    path: str
    digest: str | None
    size: int | None
    why: str | None = None
    snapshot: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a run says; ``messages`` are the ids it rests on, ``files`` the paths that a tool looked at."""

    kind: Kind
    text: str
    basis: Basis
    trust: Trust
    messages: tuple[str, ...]
    language: str = "any"
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummarySeen:
    """A summary that was retained in the run: its lines as (section, text, ids of the messages it names)."""

    compaction: str
    lines: tuple[tuple[str, str, tuple[str, ...]], ...]
    trust: Trust


@dataclass(frozen=True, slots=True)
class Packet:
    """The evidence of one run; ``left_out`` counts what the bounds kept out, ``redacted`` what was taken out."""

    session: str
    run: str
    extractor: str
    messages: tuple[SourceMessage, ...]
    range_digest: str
    messages_total: int
    claims: tuple[Claim, ...]
    files: tuple[FileSeen, ...] = ()
    summaries: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    redacted: int = 0

    @property
    def id(self) -> str:
        return packet_id(self.session, self.run, self.extractor)

    def content(self) -> dict[str, Any]:
        """What is hashed and stored as payload."""
        return {
            "form": FORM,
            "session": self.session,
            "run": self.run,
            "extractor": self.extractor,
            "messages": [[one.message, one.role, one.digest] for one in self.messages],
            "messages_total": self.messages_total,
            "range": self.range_digest,
            "summaries": [list(one) for one in self.summaries],
            "files": [
                {"path": one.path, "action": one.action, "message": one.message, "told": one.told} for one in self.files
            ],
            "claims": [
                {
                    "kind": claim.kind,
                    "text": claim.text,
                    "basis": claim.basis,
                    "trust": claim.trust,
                    "messages": list(claim.messages),
                    "files": list(claim.files),
                }
                for claim in self.claims
            ],
            "left_out": self.left_out,
            "redacted": self.redacted,
        }


def packet_id(session: str, run: str, extractor: str) -> str:
    """The id of the packet of a run: of its names alone, so that it tells nothing of what was said."""
    return "p-" + _short(f"{session}\n{run}\n{extractor}")


def claim_id(packet: str, index: int) -> str:
    """The id of the claim number ``index`` of a packet."""
    return "q-" + _short(f"{packet}\n{index}")


def evidence_hash(content: Mapping[str, Any]) -> str:
    """The hash of a packet's content: SHA-256 of its canonical JSON. Equal on every machine and database (D14)."""
    return hashlib.sha256(_canonical(content)).hexdigest()


def source_digest(source: JSON) -> str:
    """The digest of an original message, whatever order its keys were stored in."""
    return hashlib.sha256(_canonical(source)).hexdigest()[:32]


def range_digest(messages: Iterable[SourceMessage]) -> str:
    """One digest over all messages of a run, in order: none can be left out or put in unseen."""
    seen = hashlib.sha256()
    for one in messages:
        seen.update(f"{len(one.message)}:{one.message}{one.digest}".encode(errors="surrogatepass"))
    return seen.hexdigest()[:32]


def text_digest(text: str) -> str:
    """The digest of a text that a message shows or gives, such as the content of a file."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
