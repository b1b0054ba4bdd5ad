"""A fork server that is killed at a chosen step, the site of the drill, and a judge that reads by itself (D5)."""

from __future__ import annotations

import base64
import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from stores import PACKAGE, outside

CHILD = Path(__file__).resolve().parents[1] / "scenarios" / "publish_child.py"
KILLED = -signal.SIGKILL
SEPARATOR = "\n§\n"


class Server:
    """The fork server, as a context for the tests of a module."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        )

    def say(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=10)
        if self.process.stdout is not None:
            self.process.stdout.close()


@dataclass
class Site:
    """One workspace, its acknowledgements beside it, and an independent judge."""

    server: Server
    root: Path
    acks: Path

    @property
    def file(self) -> Path:
        return self.root / ".tinyagent" / "memory" / "MEMORY.md"

    def start(self, verb: str, argument: str = "", failpoint: str = "", times: int = 1) -> int:
        answer = self.server.say(
            root=str(self.root), acks=str(self.acks), verb=verb, argument=argument, failpoint=failpoint, times=times,
            database=os.environ.get("MINUTEBOOK_DATABASE"),
        )  # fmt: skip
        pid: int = answer["pid"]
        return pid

    def wait(self, pid: int) -> int:
        status: int = self.server.say(wait=pid)["status"]
        return status

    def run(self, verb: str, argument: str = "", failpoint: str = "", times: int = 1) -> int:
        return self.wait(self.start(verb, argument, failpoint, times))

    def answers(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.acks.read_text().splitlines()] if self.acks.exists() else []

    def rows(self, *, cursor: bool = True) -> list[tuple[int, str, dict[str, Any], dict[str, Any]]]:
        with outside(self.root) as connection:
            read = connection.exec_driver_sql
            rows = read("SELECT position, topic, facts, payload FROM events ORDER BY position").fetchall()
            reached = read("SELECT position FROM cursors WHERE name = 'memory_file'").fetchone()
            head = read("SELECT last_id FROM log_head").scalar_one()
        commits = [row[0] for row in rows if row[1] == "RevisionCommitted"]
        position = reached[0] if reached else 0
        if cursor:
            assert position == (commits[-1] if commits else 0), "I4: the cursor moved with the commit"
        assert position <= head, "I4: no cursor is beyond the head"
        assert head == (rows[-1][0] if rows else 0)
        return [(p, topic, json.loads(facts), json.loads(payload or "{}")) for p, topic, facts, payload in rows]

    def known(self) -> set[bytes]:
        """Every text of the file that the log can give back, byte for byte."""
        found: set[bytes] = set()
        for _, topic, facts, payload in self.rows():
            if topic != "RevisionPrepared":
                continue
            if facts["kind"] == "displaced":
                found.add(base64.b64decode(payload["raw"]))
            else:
                found.add((SEPARATOR.join(payload["entries"]) + "\n").encode() if payload["entries"] else b"")
        return found

    def check(self, *, mode: int = 0o640, drift: bool = False, cursor: bool = True) -> None:
        rows = self.rows(cursor=cursor)
        prepared = {facts["revision"]: facts for _, topic, facts, _ in rows if topic == "RevisionPrepared"}
        committed = [facts for _, topic, facts, _ in rows if topic == "RevisionCommitted"]
        abandoned = {facts["revision"] for _, topic, facts, _ in rows if topic == "RevisionAbandoned"}
        ended = {facts["revision"] for facts in committed} | abandoned
        for answer in self.answers():
            if answer.get("revision"):
                digests = [facts["digest"] for facts in committed if facts["revision"] == answer["revision"]]
                assert digests == [answer["digest"]], "I1: acknowledged once, kept once"
        assert set(prepared) == ended, "I2: nothing stays prepared"
        assert not abandoned & {facts["revision"] for facts in committed}
        live = [facts for facts in committed if prepared[facts["revision"]]["kind"] != "displaced"]
        found = sha256(self.file.read_bytes()).hexdigest() if self.file.exists() else None
        if drift:
            last = max(p for p, topic, facts, _ in rows if topic == "RevisionCommitted")
            assert any(topic == "DriftDetected" and p > last for p, topic, _, _ in rows), "I3: drift is flagged"
        else:
            assert found == (live[-1]["digest"] if live else None), "I3: the file is the last committed revision"
        numbers = [facts["revision"] for _, topic, facts, _ in rows if topic == "RevisionPrepared"]
        assert numbers == sorted(set(numbers)), "I5: numbers strictly rise"
        names = [path.name for path in self.file.parent.glob("*")]
        assert names in (["MEMORY.md"], []), "I6: no names of ours remain"
        if self.file.exists():
            assert stat.S_IMODE(self.file.stat().st_mode) == mode, "I7: the mode is kept"

    def recover_and_check(self, **expected: Any) -> dict[str, Any]:
        assert self.run("recover") == 0
        answer = self.answers()[-1]
        assert "error" not in answer, answer
        self.check(**expected)
        before = (self.rows(), self.file.exists() and self.file.stat())
        assert self.run("recover") == 0
        after = (self.rows(), self.file.exists() and self.file.stat())
        assert before == after, "I8: a second recovery changes nothing"
        return answer
