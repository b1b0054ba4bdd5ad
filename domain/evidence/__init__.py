"""Evidence: what a run that succeeded leaves behind, and which of it may become memory (D14, D16)."""

from __future__ import annotations

from .phrases import Kind
from .reading import read_run, scrub
from .signals import signal_of_model, signal_of_user, speaks_of_self
from .values import (
    EXTRACTOR,
    Claim,
    FileOnDisk,
    FileSeen,
    Packet,
    SourceMessage,
    SummarySeen,
    claim_id,
    evidence_hash,
    packet_id,
    source_digest,
    text_digest,
)

__all__ = [
    "EXTRACTOR",
    "Claim",
    "FileOnDisk",
    "FileSeen",
    "Kind",
    "Packet",
    "SourceMessage",
    "SummarySeen",
    "claim_id",
    "evidence_hash",
    "packet_id",
    "read_run",
    "scrub",
    "signal_of_model",
    "signal_of_user",
    "source_digest",
    "speaks_of_self",
    "text_digest",
]
