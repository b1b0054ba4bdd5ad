"""A fork server for the drills of failing calls and of power loss: one interpreter start, then a process per workload.

Commands come as JSON lines on stdin. A child connects to the socket that it is told, waits there for a word, works,
and says line by line what was acknowledged to it: with ``sendmsg``, which nothing else here uses, so that no fault
meets it, and a trace of the system's calls has the acknowledgement at its place among the others.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hooked

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.edges.cli import entry
from minutebook.infrastructure.store import failpoints
from minutebook.infrastructure.store.database import Database

SETTINGS = Settings(curation_automatic=False, lock_timeout_seconds=2.0)


class Talk:
    """One child's line to the drill outside."""

    def __init__(self, path: str) -> None:
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(path)

    def say(self, **what: Any) -> None:
        self.line.sendmsg([json.dumps(what).encode() + b"\n"])

    def wait(self) -> None:
        """Until the drill says a word."""
        self.line.recvmsg(1)

    def attempt(self, name: str, work: Callable[[], Any]) -> Any:
        """Does it and tells what it came to: what was acknowledged, a refusal by its code, or a fault of ours."""
        try:
            came = work()
        except MinutebookError as error:
            self.say(refused=name, code=error.code, message=error.message)
        except Exception as error:
            self.say(broke=name, error=f"{type(error).__name__}: {error}", trace=traceback.format_exc()[-3_000:])
        else:
            self.say(did=name, **(came if isinstance(came, dict) else {}))
            return came
        return None


class Work:
    """A workload on one workspace; it goes on after what was refused, as an agent does."""

    def __init__(self, talk: Talk, root: Path) -> None:
        self.talk, self.root = talk, root
        self.book: Minutebook | None = None
        self.number = 0
        self.left: list[Any] = []
        """A run whose end could not be recorded: it is open, and is ended before another begins."""

    def open(self) -> Minutebook | None:
        if self.book is None:
            made: list[Minutebook] = []
            self.talk.attempt(
                "open", lambda: made.append(Minutebook.open(self.root, settings=SETTINGS, automatic=False))
            )
            self.book = made[0] if made else None
        return self.book

    def close(self) -> None:
        if self.book is not None:
            self.talk.attempt("close", self.book.close)
            self.book = None
            self.left.clear()

    def speak(self, turns: int = 2, size: int = 40) -> None:
        """Append and context, in a run."""
        book = self.open()
        if book is None:
            return
        run = self.run(book)
        if run is None:
            return
        for _ in range(turns):
            self.number += 1
            id = f"{os.getpid()}-{self.number}"
            message = {"role": "user", "content": f"Message {self.number}. " + "word " * size}

            def append(id: str = id, message: dict[str, str] = message) -> dict[str, Any]:
                return {"kept": id, "position": run.append(message, id=id)}

            self.talk.attempt("append", append)
            self.talk.attempt("context", lambda: {"messages": len(run.context().messages)})
        self.succeed()

    def run(self, book: Minutebook) -> Any:
        if self.left:
            self.succeed()
        if not self.left:
            self.talk.attempt("run", lambda: self.left.append(book.session("s").run()))
            return self.left[0] if self.left else None
        return None

    def succeed(self) -> None:
        def ended() -> dict[str, Any]:
            self.left[0].succeed()
            return {"ended": self.left.pop().id}

        self.talk.attempt("succeed", ended)

    def remember(self) -> None:
        """A run proposes and succeeds, a curation publishes."""
        book = self.open()
        if book is None:
            return
        self.number += 1
        text = f"Server {os.getpid()}-{self.number} stands in rack {self.number}."

        run = self.run(book)
        if run is None:
            return

        def propose() -> dict[str, Any]:
            run.memory({"operation": "add", "text": text})
            return {"fact": text}

        self.talk.attempt("propose", propose)
        self.succeed()

        def curate() -> dict[str, Any]:
            done = book.curate()
            return {"status": done["status"], "revision": done["revision"]}

        self.talk.attempt("curate", curate)

    def edit(self) -> None:
        """What a person does: imports notes, goes back to a revision."""
        book = self.open()
        if book is None:
            return
        self.number += 1
        notes = f"- Note {os.getpid()}-{self.number} was imported\n".encode()

        def imported() -> dict[str, Any]:
            return {"revision": book.memory.import_notes(notes).revision}

        self.talk.attempt("import", imported)
        self.talk.attempt("restore", lambda: {"revision": book.memory.restore(1).revision})
        self.talk.attempt("show", lambda: {"entries": len(book.memory.show()["entries"])})

    def command(self, *words: str) -> None:
        """One command of the command line; a traceback on it is a fault of ours."""
        out, err, code = io.StringIO(), io.StringIO(), None
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                entry.main(["--workspace", str(self.root), "--json", *words])
        except SystemExit as left:
            code = left.code
        except BaseException as error:
            self.talk.say(broke=" ".join(words), error=f"{type(error).__name__}: {error}")
            return
        said = err.getvalue().strip()
        if code and said:
            told = json.loads(said.splitlines()[-1]) if said.endswith("}") else {"error": said[-500:]}
            self.talk.say(refused=" ".join(words), code=told["error"], message=told.get("message", ""))
        else:
            self.talk.say(did=" ".join(words), answer="no" if code else "yes")


def talking(work: Work) -> None:
    work.speak(3)


def remembering(work: Work) -> None:
    work.remember()
    work.speak(1)
    work.remember()
    work.edit()
    work.speak(1)


def starting(work: Work) -> None:
    work.open()
    work.close()
    work.command("status")
    work.command("memory", "show")
    work.command("verify")
    work.open()
    work.speak(1)


def lasting(work: Work) -> None:
    """Long enough that the write-ahead log is moved into the file, more than once."""
    for _ in range(4):
        work.speak(3, size=1_500)
        work.remember()


def going_on(work: Work) -> None:
    """When the fault is gone: the same book first, then one that is opened anew; nothing may be refused there."""
    if work.book is not None:
        work.speak(1)
        work.close()
    work.talk.say(anew=True)
    work.speak(1)
    work.remember()
    work.talk.attempt("prove", lambda: {"proved": work.book is not None and work.book.verify().ok})
    work.close()


WORKLOADS: dict[str, Callable[[Work], None]] = {
    each.__name__: each for each in (talking, remembering, starting, lasting)
}


def vary(variant: str) -> None:
    """A build that promises less, or one whose write-ahead log is short: the drills have to tell the difference."""
    plain = Database._pragmas

    def pragmas(self: Database, connection: Any, synchronous: str) -> None:
        if variant != "normal":
            plain(self, connection, synchronous)
        else:
            plain(self, connection, "NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 40" if variant == "short" else "SELECT 1")

    Database._pragmas = pragmas  # type: ignore[method-assign]


def run(command: dict[str, Any]) -> None:
    if command.get("database"):
        os.environ["MINUTEBOOK_DATABASE"] = command["database"]
    os.environ[failpoints.VARIABLE] = command.get("failpoint", "")
    if command.get("variant"):
        vary(command["variant"])
    hook = hooked.Fault(**command["hook"]) if command.get("hook") else None
    if hook:
        hook.install()
    talk = Talk(command["socket"])
    work = Work(talk, Path(command["root"]))
    if command.get("opened"):
        work.open()
    talk.say(ready=True)
    talk.wait()
    failpoints.arm_from_environment()
    if hook:
        hook.armed = True
    WORKLOADS[command["workload"]](work)
    if hook:
        hook.armed = False
        talk.say(hit=hook.hit, passed=hook.passed)
    if command.get("alone"):
        work.close()
    talk.say(worked=True)
    talk.wait()
    os.environ[failpoints.VARIABLE] = ""
    failpoints.arm_from_environment()
    if not command.get("alone"):
        going_on(work)
    talk.say(over=True)


def warm() -> None:
    """Everything once, so that no module is imported in a child: that too opens files."""
    with contextlib.suppress(ImportError):
        importlib.import_module("minutebook.infrastructure.store.server")
        importlib.import_module("sqlalchemy.dialects.postgresql.psycopg")
        importlib.import_module("psycopg")
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/line")
        listening.listen()
        talk = Talk(f"{folder}/line")
        heard = listening.accept()[0]
        root = Path(folder) / "w"
        root.mkdir()
        work = Work(talk, root)
        for workload in (remembering, starting, going_on):
            workload(work)
            heard.recv(1 << 20)
        talk.line.close()
        heard.close()


def main() -> None:
    os.environ.pop("MINUTEBOOK_DATABASE", None)
    warm()
    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            _, status = os.waitpid(command["wait"], 0)
            print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            try:
                run(command)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(99)
        print(json.dumps({"pid": pid}), flush=True)


if __name__ == "__main__":
    main()
