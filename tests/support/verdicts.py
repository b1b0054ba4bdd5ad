"""What the checks say of every text of the corpora, kept line by line: a verdict that changes is seen, and meant.

The rates of ``test_entry_checks.py`` let a rule go unnoticed when others catch nearly as much. ``python
tests/support/verdicts.py`` writes the verdicts again after a change that is meant; the diff says what it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from minutebook.domain.checks import check_entry

DATA = Path(__file__).resolve().parents[1] / "data" / "checks"
KEPT = DATA / "verdicts.txt"
CORPORA = ("entries.jsonl", "fresh.jsonl", "unseen.jsonl")


def verdicts(corpus: str) -> Iterator[str]:
    """Corpus, line, and each finding as code and place; ``-`` where there is none."""
    for number, line in enumerate((DATA / corpus).read_text(encoding="utf-8").splitlines(), 1):
        found = check_entry(json.loads(line)["text"], "model")
        said = " ".join(f"{each.code}@{each.span[0]}-{each.span[1]}" if each.span else each.code for each in found)
        yield f"{corpus}:{number} {said or '-'}"


if __name__ == "__main__":
    lines = [line for corpus in CORPORA for line in verdicts(corpus)]
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
