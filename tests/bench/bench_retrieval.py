"""Search: Recall@1/5/10 on real conversations beside plain BM25, and what an index of 100,000 messages costs (D17)."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from run import ROOT, Table

sys.path.insert(0, str(ROOT / "tests" / "support"))

from retrieval import FOLDER, by_bm25s, by_minutebook, halves, longmemeval, qmsum, recall

from minutebook import Minutebook, Settings

RIVALS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("bm25s", by_bm25s, {}),
    ("minutebook, by words", by_minutebook, {}),
    ("minutebook, words and vectors (wordllama)", by_minutebook, {"settings": Settings(embedder="wordllama")}),
)


def run(quick: bool) -> Iterator[Table]:
    if FOLDER.is_dir():
        yield recalls(quick)
    yield costs(5_000 if quick else 100_000)


def recalls(quick: bool) -> Table:
    table = Table(
        "Recall of a search: questions with an answering text among the first 1, 5, 10",
        ("conversations", "half", "questions", "by", "recall@1", "recall@5", "recall@10"),
        floor="bm25s as it comes (Lucene's BM25, English stop words), on the same texts",
    )
    for name, conversations in (("QMSum", qmsum()), ("LongMemEval-S", longmemeval())):
        for half, some in halves(conversations).items():
            for rival, ranking, options in RIVALS:
                found = []
                for conversation in some[:2] if quick else some:
                    with (
                        tempfile.TemporaryDirectory() as folder,
                        ranking(Path(folder), conversation, **options) as ranks,
                    ):
                        found += [(ranks(question), right) for question, right in conversation.questions]
                table.rows.append((name, half, len(found), rival, *(f"{share:.1%}" for share in recall(found))))
    table.remarks = ["Rules and weights were chosen on the first half; tests/support/retrieval.py says what is which."]
    return table


def costs(many: int) -> Table:
    """Made-up talk with the words of real meetings, so that common words are common and rare ones rare."""
    chance = random.Random(1)
    turns = [text for meeting in qmsum() for text in meeting.texts] if FOLDER.is_dir() else ["the build needs make"]
    questions = [text for meeting in qmsum() for text, _ in meeting.questions] if FOLDER.is_dir() else ["make"]

    def text(number: int) -> str:
        one, other = chance.choice(turns).split(), chance.choice(turns).split()
        return " ".join([*one[: len(one) // 2 + 1], *other[len(other) // 2 :], f"item{number}"])

    table = Table(
        f"What a search costs at {many:,} messages",
        ("what", "p50", "p99", "unit"),
        floor="the append of the same messages, one fsync each",
    )
    with tempfile.TemporaryDirectory() as folder, Minutebook.open(Path(folder), automatic=False) as book:
        session = book.session("s")
        for start in range(0, many, 1_000):
            session.append([{"role": "user", "content": text(n)} for n in range(start, min(start + 1_000, many))])
        projections = book._runtime.projections
        began = time.perf_counter()
        projections.catch_up("search_index")
        bulk = (time.perf_counter() - began) / many
        appends, indexed = [], []
        for number in range(300):
            message = {"role": "user", "content": text(many + number)}
            appends.append(_timed(lambda m=message: session.append(m)))
            indexed.append(_timed(lambda: projections.catch_up("search_index")))
        searches = [_timed(lambda q=question: book.search(q)) for question in questions * 3]
    table.rows = [
        ("append one message", *_percentiles(appends, 1e6), "µs"),
        ("index it afterwards, one by one", *_percentiles(indexed, 1e6), "µs"),
        ("index in batches (a rebuild), a message", bulk * 1e6, "-", "µs"),
        ("search with a real question", *_percentiles(searches, 1e3), "ms"),
    ]
    ratio = median(indexed) / median(appends)
    table.remarks = [f"An append never waits for the index; indexing it alone takes {ratio:.2f} of the append's time."]
    return table


def _timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _percentiles(values: list[float], scale: float) -> tuple[float, float]:
    return median(values) * scale, quantiles(values, n=100)[98] * scale
