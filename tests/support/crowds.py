"""Starts the processes of ``crowd_child.py``, waits for them, and judges what they left."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from stores import child_environment, outside

from minutebook import Minutebook

CHILD = Path(__file__).with_name("crowd_child.py")
PATIENCE_SECONDS = 600


def gather(root: Path, counted: dict[str, tuple[int, int]], open_ended: dict[str, int], seconds: float = 0.0) -> None:
    """Runs so many processes of each role: ``counted`` for their rounds, ``open_ended`` until those are done.

    With ``seconds`` all go on for so long from when each has opened the book. Fails with the words of one that failed.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    first = [start(root, role, number, rounds) for role, (many, rounds) in counted.items() for number in range(many)]
    others = [start(root, role, number, 0) for role, many in open_ended.items() for number in range(many)]
    try:
        if seconds:
            until = time.monotonic() + PATIENCE_SECONDS
            while len(notes(root, "*", "ready")) < len(others) and time.monotonic() < until:
                time.sleep(0.2)
            time.sleep(seconds)
            (root.parent / "over").touch()
        wait(first)
        (root.parent / "over").touch()
        wait(others)
    finally:
        for process in (*first, *others):
            process.kill()


def start(root: Path, role: str, number: int, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILD), role, str(root), str(number), str(rounds)]
    return subprocess.Popen(command, env=child_environment(), stderr=subprocess.PIPE, text=True)


def wait(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, said[-3_000:]


def notes(root: Path, role: str, what: str) -> list[dict[str, Any]]:
    """What the processes of a role noted that has the key ``what``."""
    files = sorted(root.parent.glob(f"{role}-*.jsonl"))
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [note for note in found if what in note]


def judge(root: Path) -> dict[str, int]:
    """All that was acknowledged is there once, no live run was interrupted, all is as a rebuild makes it."""
    with Minutebook.open(root, automatic=False) as book:
        types = [event["type"] for event in book.log()]
        assert "RunInterrupted" not in types
        told = notes(root, "talk", "id")
        found: dict[tuple[str, str], list[int]] = {}
        for session in sorted({note["session"] for note in told}):
            for message in book.session(session).messages():
                found.setdefault((session, message["id"]), []).append(message["position"])
        assert found == {(note["session"], note["id"]): [note["position"]] for note in told}
        for note in notes(root, "follow", "after"):
            assert note["after"] <= book.head
            # On a server positions count through all workspaces; this one is alone there.
            assert note["seen"] == note["after"]
        if book.memory.status().state != "clean":
            book.memory.sync()
        while book.curate().status == "committed":
            pass
        facts = {note["fact"] for note in notes(root, "talk", "fact")}
        full = {row["text"] for row in book.memory.candidates() if row["reason"] == "document_full"}
        assert not full or len(book.memory.entries()) >= 100, "refused for want of room, and there was room"
        facts -= full
        edits = {note["edit"] for note in notes(root, "edit", "edit")}
        known = remembered(root)
        assert facts <= known, "a candidate that was admitted came into no revision"
        assert edits <= known, "what a person wrote is in no revision"
        if not edits:
            assert {entry["text"] for entry in book.memory.entries()} == facts
        report = book.verify()
        assert report.ok, report
        return {"events": len(types), "messages": len(told), "facts": len(facts), "edits": len(edits)}


def remembered(root: Path) -> set[str]:
    """Every entry that a revision of the log holds, one that was displaced in the middle included."""
    texts: set[str] = set()
    with outside(root) as connection:
        rows = connection.exec_driver_sql("SELECT payload FROM events WHERE topic = 'RevisionPrepared'")
        for (payload,) in rows:
            held = json.loads(payload)
            texts |= set(held.get("entries") or ())
            raw = base64.b64decode(held.get("raw") or "").decode("utf-8", "replace")
            texts |= set(raw.strip("\n").split("\n§\n"))
    return texts
