"""What later turns use again and can still be read after a compaction, beside plain cuts of equal length (C4, C5)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from run import ROOT, Table

sys.path.insert(0, str(ROOT / "tests" / "support"))

from retention import CUTS, HEAD, RECENT, measure, transcripts

SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "transcripts"
SHIPPED = ROOT / "tests" / "data" / "transcripts"


def run(quick: bool) -> Iterator[Table]:
    folder = SHARED if SHARED.is_dir() else SHIPPED
    table = Table(
        "Retention: facts of the hidden range that later turns name again, still readable in the compacted context",
        (
            "transcript",
            "messages",
            "facts",
            "tokens",
            "extractive",
            "last tokens",
            "first lines",
            "facts per 1,000 tokens",
        ),
    )
    for name, conversations in transcripts(folder):
        found = measure(name, conversations, CUTS[-2:] if quick else CUTS)
        if not found.facts:
            table.rows.append((name, found.messages, 0, "-", "-", "-", "-", "-"))
        else:
            rivals = (found.extractive, found.last_tokens, found.first_lines)
            table.rows.append(
                (
                    name,
                    found.messages,
                    found.facts,
                    found.tokens,
                    *(f"{kept} ({kept / found.facts:.0%})" for kept in rivals),
                    " / ".join(f"{found.per_thousand(kept):.1f}" for kept in rivals),
                )
            )
    table.remarks = [
        f"Sums over cuts at {', '.join(f'{cut:.0%}' for cut in CUTS)} of each; rivals have as many tokens.",
        f"Without a fact: too short for {HEAD} messages before and {RECENT} after the range, or none is named again.",
        "What a fact is says tests/support/retention.py. Last column: extractive / last tokens / first lines.",
    ]
    yield table
