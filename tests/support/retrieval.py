"""Real conversations with questions and where their answers stand: what a search should find (D17).

Two public sets lie under ``../shared/data/retrieval``: meetings of QMSum (MIT), whose questions name the turns that
answer them, and an excerpt of LongMemEval-S (MIT), whose questions name the session. Every other conversation is held
out: the rules and weights of the search were chosen on the first half alone.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutebook import Minutebook

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "retrieval"
CUTS = (1, 5, 10)


@dataclass(frozen=True)
class Conversation:
    """Texts in order, and questions, each with the numbers of the texts that answer it; ``apart``: a session each."""

    name: str
    texts: tuple[str, ...]
    questions: tuple[tuple[str, frozenset[int]], ...]
    apart: bool


Ranks = Callable[[str], Sequence[int]]
"""Numbers of texts that answer a question, the best first."""


def qmsum() -> list[Conversation]:
    """Meetings, turn by turn."""
    found = []
    for path in sorted((FOLDER / "qmsum").glob("*.json")):
        meeting = json.loads(path.read_text(encoding="utf-8"))
        questions = tuple(
            (query["query"], frozenset(n for a, b in query["relevant_text_span"] for n in range(int(a), int(b) + 1)))
            for query in meeting["specific_query_list"]
        )
        texts = tuple(turn["content"] for turn in meeting["meeting_transcripts"])
        found.append(Conversation(path.stem, texts, questions, apart=False))
    return found


def longmemeval() -> list[Conversation]:
    """Months of chats, one session a text."""
    found = []
    for line in (FOLDER / "longmemeval_s_excerpt" / "part_a.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        gold = set(item["gold_session_ids"])
        right = frozenset(n for n, session in enumerate(item["sessions"]) if session["session_id"] in gold)
        texts = tuple(session["user_text_first_500_chars"] for session in item["sessions"])
        found.append(Conversation(item["question_id"], texts, ((item["question"], right),), apart=True))
    return found


def halves(conversations: Sequence[Conversation]) -> dict[str, list[Conversation]]:
    """Those that choices were made on, and those that were only looked at in the end."""
    return {"chosen on": list(conversations[0::2]), "held out": list(conversations[1::2])}


@contextmanager
def by_minutebook(place: Path, conversation: Conversation, **options: Any) -> Iterator[Ranks]:
    """Searches as a caller of the library does, in a book of its own."""
    with Minutebook.open(place, automatic=False, **options) as book:
        numbers: dict[int, int] = {}
        messages = [{"role": "user", "content": text} for text in conversation.texts]
        if conversation.apart:
            for number, message in enumerate(messages):
                numbers[book.session(f"s{number}").append(message)] = number
        else:
            positions = book.session("s").append(messages)
            numbers = dict(zip(positions, range(len(messages)), strict=True))
        yield lambda question: [numbers[hit.position] for hit in book.search(question, limit=max(CUTS))]


@contextmanager
def by_bm25s(place: Path, conversation: Conversation, **options: Any) -> Iterator[Ranks]:
    """The rival: plain BM25 of the library ``bm25s``, as it comes."""
    import bm25s  # type: ignore[import-untyped]

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells of every index

    index = bm25s.BM25(**options)
    index.index(bm25s.tokenize(list(conversation.texts), show_progress=False), show_progress=False)
    most = min(max(CUTS), len(conversation.texts))

    def ranks(question: str) -> Sequence[int]:
        words = bm25s.tokenize([question], show_progress=False)
        numbers, scores = index.retrieve(words, k=most, show_progress=False)
        return [int(number) for number, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    yield ranks


def recall(ranks: Sequence[tuple[Sequence[int], frozenset[int]]]) -> tuple[float, ...]:
    """The share of questions with an answering text among the first 1, 5, 10."""
    return tuple(
        sum(1 for found, right in ranks if right & set(found[:cut])) / len(ranks) if ranks else 0.0 for cut in CUTS
    )
