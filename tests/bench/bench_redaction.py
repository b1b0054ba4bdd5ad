"""Taking credentials out of 64 kB before they are stored: real text, and text made to be slow (issue 4, D4)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import perf_counter

from run import Table

from minutebook.domain.checks import redact_credentials

ROOT = Path(__file__).resolve().parents[2]
BAR_MS = 50.0
SIZE = 65_536


def texts() -> dict[str, str]:
    """What agents read and write, from this checkout; then what no pattern may stumble over."""
    sessions = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/data/transcripts").rglob("*.jsonl")]
    found = {
        "pages of documentation": "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")),
        "source code": "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "domain").rglob("*.py")),
        "sessions of agents": "\n".join(sessions),
        "a run of letters without a space": "aB3dE6/" * SIZE,
        "names of secrets without one": '{"token": "v", "key": 7, "password_id": "x"},\n' * SIZE,
        "one word without an end": "key_token_password=" * SIZE,
    }
    return {name: text[:SIZE] for name, text in found.items()}


def run(quick: bool) -> Iterator[Table]:
    table = Table(
        "Redacting 64 kB of text (p50)",
        ("text", "ms", "of the bar of 50 ms", "of the floor"),
        floor="the text in small letters and its SHA-256, once each.",
    )
    for name, text in texts().items():
        redact_credentials(text)
        spent, plain = [], []
        for _ in range(5 if quick else 41):
            began = perf_counter()
            redact_credentials(text)
            spent.append((perf_counter() - began) * 1e3)
            began = perf_counter()
            sha256(text.lower().encode()).digest()
            plain.append((perf_counter() - began) * 1e3)
        table.rows.append((name, median(spent), median(spent) / BAR_MS, median(spent) / median(plain)))
    yield table
