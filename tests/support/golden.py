"""Golden digests: recorded logs, byte for byte, with the digests of contexts that were shown from them (C11).

``python tests/support/golden.py NAME`` tells the story below with today's code and writes ``tests/data/golden/NAME``:
``log.jsonl`` (every event as it is stored) and ``digests.json`` (contexts at fixed positions). A folder that is there
is never written again: what an older policy showed must stay what it was. See tests/data/golden/README.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from minutebook import ExtractiveSummarizer, Minutebook, Settings
from minutebook.domain.catalogue import Owner
from minutebook.domain.chain import body_digest
from minutebook.domain.context import RENDERER
from minutebook.domain.events import Envelope
from minutebook.domain.policy import POLICY
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import EnvelopedEvent
from minutebook.infrastructure.work import recording
from minutebook.infrastructure.work.sources import encode
from minutebook.infrastructure.work.transcripts import read

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden"
TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts"


@dataclass(frozen=True)
class Golden:
    """One recorded version: its stored events, the chain behind each, and the digests of contexts."""

    name: str
    policy: str
    renderer: str
    events: list[EnvelopedEvent]
    chain: list[bytes]
    contexts: list[dict[str, Any]]


def recorded() -> list[str]:
    """The names of all recorded versions."""
    return sorted(path.parent.name for path in GOLDEN.glob("*/digests.json"))


def load(name: str) -> Golden:
    folder = GOLDEN / name
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").split("\n") if line]
    told = json.loads((folder / "digests.json").read_text(encoding="utf-8"))
    chain = [bytes.fromhex(row["chain"]) for row in rows]
    return Golden(name, told["policy"], told["renderer"], [_event(row) for row in rows], chain, told["contexts"])


def _event(row: dict[str, Any]) -> EnvelopedEvent:
    payload = None if row["payload"] is None else row["payload"].encode()
    salt = None if row["salt"] is None else bytes.fromhex(row["salt"])
    envelope = Envelope(
        UUID(row["stream"]), row["version"], row["workspace"], datetime.fromisoformat(row["time"]),
        row["actor"], row["session"], row["run"], row["trust"], row["causation"],
    )  # fmt: skip
    return EnvelopedEvent(
        originator_id=envelope.stream,
        originator_version=envelope.version,
        topic=row["topic"],
        state=row["facts"].encode(),
        schema=row["schema"],
        envelope=envelope,
        time=row["time"],
        payload=payload,
        salt=salt,
        body_digest=None if salt is None or payload is None else body_digest(salt, payload),
    )


def _rows(log: Log) -> Iterator[dict[str, Any]]:
    for event in log.read():
        envelope = event.envelope
        yield {
            "position": event.position,
            "stream": str(envelope.stream),
            "version": envelope.version,
            "topic": event.topic,
            "schema": event.schema,
            "workspace": envelope.workspace,
            "session": envelope.session,
            "run": envelope.run,
            "actor": envelope.actor,
            "trust": envelope.trust,
            "causation": envelope.causation,
            "time": envelope.time.isoformat(timespec="microseconds"),
            "facts": event.facts.decode(),
            "payload": None if event.payload is None else event.payload.decode(),
            "salt": None if event.salt is None else event.salt.hex(),
            "chain": event.chain.hex(),
        }


# --- recording


def record(name: str) -> Path:
    """Tells the story and writes it down under a name that is not taken. Raises FileExistsError."""
    folder = GOLDEN / name
    if folder.exists():
        raise FileExistsError(f"{name} is recorded already; what it showed must stay: choose another name")
    with tempfile.TemporaryDirectory() as workspace, _anonymous():
        tell(Path(workspace))
        with Minutebook.open(workspace, read_only=True) as book:
            lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in _rows(book._runtime.log)]
            contexts = list(_contexts(book))
    told = {"policy": POLICY, "renderer": RENDERER, "contexts": contexts}
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    (folder / "digests.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8", newline="\n")
    return folder


def _contexts(book: Minutebook) -> Iterator[dict[str, Any]]:
    """Every session as it was at many positions, also such at which nobody asked."""
    for row in sorted(book.sessions(), key=lambda row: str(row.session)):
        session = book.find_session(row.session)
        positions = {event.position for event in book.log(session=row.session)}
        chosen = sorted(positions)[:: max(len(positions) // 24, 1)]
        for position in sorted({*chosen, max(positions)}):
            context = session.context(at=position)
            yield {
                "session": session.id,
                "at": position,
                "messages": len(context.messages),
                "tokens": context.tokens,
                "digest": context.digest,
            }


@contextmanager
def _anonymous() -> Iterator[None]:
    """Owners without this machine's name: a recorded log is read on others, and by everybody."""
    from minutebook.infrastructure.book import minutebook as module

    count = iter(range(1, 1_000))
    names: dict[str, Any] = vars(module)
    before = names["register"]
    names["register"] = lambda _: Owner(host="golden", pid=1, started="0", runtime=f"r-golden-{next(count)}")
    try:
        yield
    finally:
        names["register"] = before


class _Clock:
    """A second passes at each look."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def tell(workspace: Path) -> None:
    """Real sessions lived again under three windows: reductions, summaries, a refusal, undo, redo, memory, a fork."""
    clock = _Clock()

    def opened(window: int, summarizer: Any = None) -> Minutebook:
        settings = Settings(context_window=window, curation_automatic=False)
        return Minutebook.open(workspace, settings=settings, clock=clock, automatic=False, summarizer=summarizer)

    with opened(16_000) as book:
        live(book, "coding", "pi/session-excerpt.jsonl", per_run=6)
        live(book, "tools", "openai-chat/fncall-llm-message.json", per_run=5)
        book.curate()
    with opened(12_000) as book:
        live(book, "sidebar", "cline/session.messages.json", per_run=8)
        live(book, "coding", "claude-code/daaain-representative_messages.jsonl", per_run=4)
    with opened(12_000, lambda request: "Sure! Here is the summary:") as book:
        book.session("sidebar").compact()
    with opened(12_000) as book:
        session = book.session("sidebar")
        made = session.compact()
        if made["compaction"]:
            book.undo_compaction(made["compaction"])
            with session.run() as run:
                run.append({"role": "user", "content": "What time is it?"}, id="asked")
            book.redo_compaction(made["compaction"])
        fork = session.fork(id="sidebar-fork")
        with fork.run() as run:
            run.append({"role": "user", "content": "And on the fork: which file was changed?"}, id="on-the-fork")
            run.context(system="You answer on the fork.")
    with opened(12_000) as book:
        outputs(book)
    with opened(40_000, ExtractiveSummarizer()) as book:
        session = book.session("coding", resume=True)
        with session.run() as run:
            run.append({"role": "user", "content": "Go on, please."}, id="later")
            run.context(system="You write code.", tools=[TOOL])


def outputs(book: Minutebook) -> None:
    """Long tool outputs, old enough to be shown shorter, and nothing else that is long: a reduction is enough."""
    session = book.session("outputs")
    with session.run() as run:
        run.append({"role": "user", "content": "Which units compile?"})
        for number in range(4):
            call = {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "a.c"}'},
            }
            run.append({"role": "assistant", "content": None, "tool_calls": [call]})
            told = "\n".join(f"unit {number}.{line:03d} compiled without a warning" for line in range(160))
            run.append({"role": "tool", "tool_call_id": f"c{number}", "content": told})
        run.append([{"role": "assistant", "content": f"Unit {number} compiles."} for number in range(8)])
    with session.run() as run:
        run.append({"role": "user", "content": "And which do not?"})
        run.context(system="You build.")


TOOL = {
    "type": "function",
    "function": {"name": "read", "description": "Reads a file.", "parameters": {"type": "object", "properties": {}}},
}


def live(book: Minutebook, name: str, transcript: str, per_run: int) -> None:
    """Lives a transcript as an agent would have: a request before each answer, a proposal at the end of a run."""
    session = book.session(name)
    messages = read(TRANSCRIPTS / transcript).messages
    for number, start in enumerate(range(0, len(messages), per_run)):
        with session.run() as run:
            for message in messages[start : start + per_run]:
                source = encode(message.source, message.form, bytes_max=64_000_000, trust=message.trust)
                if source.view.role == "assistant":
                    run.context(system="You write code.", tools=[TOOL] if number % 2 else [])
                entry = recording.Entry(f"{name}-{message.id}"[:200], source, actor="import")
                recording.record(book._runtime, name, [entry], run=run._ref)
            if number < 3:
                run.memory({"operation": "add", "text": f"Session {name} came by in part {number}."})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python tests/support/golden.py NAME; recorded are:", ", ".join(recorded()) or "none")
        raise SystemExit(2)
    print(record(sys.argv[1]))
