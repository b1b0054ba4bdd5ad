"""A fork server for the kill drills: one interpreter start, then a real process per command.

Commands come as JSON lines on stdin. Each forked child does one thing with a workspace and writes what it was
acknowledged to a file *outside* the workspace, which no crash of the child can take back.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from minutebook import Minutebook
from minutebook.domain.catalogue import EntryFact
from minutebook.domain.checks import check_entry
from minutebook.domain.errors import MinutebookError, StreamConflict
from minutebook.domain.revision import Draft
from minutebook.infrastructure.settings import Settings
from minutebook.infrastructure.store import failpoints
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.work.publisher import Publisher
from minutebook.infrastructure.work.workspace import Workspace

CURSOR = """INSERT INTO cursors (name, version, generation, position, status)
    SELECT 'memory_file', 1, 1, last_id, 'live' FROM log_head WHERE true
    ON CONFLICT (name) DO UPDATE SET position = excluded.position"""
"""Stands for the projection engine: the cursor moves on the connection of the committed revision."""


def open_publisher(root: Path) -> Publisher:
    settings = Settings.model_validate({"lock_timeout_seconds": 20})
    workspace = Workspace.of(root, settings)
    workspace.prepare()
    log = Log(Database(root / ".tinyagent" / "minutebook.db", lock_timeout=20))
    return Publisher(
        log,
        workspace,
        settings,
        lambda: datetime.now(UTC),
        advance=advance,
    )


def advance(connection: Connection) -> None:
    connection.exec_driver_sql(CURSOR)


def add(publisher: Publisher, text: str) -> dict[str, Any]:
    """Adds one entry to what is there, however often another process is first."""
    while True:
        document = publisher.document()
        fact = EntryFact(entry=f"x{document.next}", since=document.next, actor="agent", trust="model")
        draft = Draft("curated", (*document.entries, text), (*document.facts, fact), actor="curator", trust="model")
        try:
            done = publisher.publish(draft, version=document.version)
        except StreamConflict:
            continue
        return {"revision": done.revision, "digest": done.digest, "text": text}


def change(done: Any) -> dict[str, Any]:
    return {"revision": done.revision, "digest": done.digest, "displaced": list(done.displaced)}


def recovered(publisher: Publisher) -> dict[str, Any]:
    done = publisher.recover()
    return {"committed": done.committed, "abandoned": done.abandoned, "displaced": list(done.displaced)}


VERBS: dict[str, Callable[[Publisher, str], dict[str, Any]]] = {
    "publish": add,
    "sync": lambda publisher, _: change(publisher.sync()),
    "fix": lambda publisher, _: change(publisher.sync(fix=True)),
    "restore": lambda publisher, number: change(publisher.restore(int(number))),
    "discard": lambda publisher, number: change(publisher.restore(int(number), discard_edit=True)),
    "rebuild": lambda publisher, _: {"wrote": publisher.rebuild_file()},
    "import": lambda publisher, name: change(publisher.import_notes(Path(name).read_bytes())[1]),
    "recover": lambda publisher, _: recovered(publisher),
}


def whole(command: dict[str, Any]) -> dict[str, Any]:
    """The same through the public object: a run proposes and succeeds, the curator publishes."""
    with Minutebook.open(command["root"], settings=Settings.model_validate({"curation_automatic": False})) as book:
        if command.get("argument"):
            with book.session("kill").run() as run:
                run.append({"role": "user", "content": command["argument"]})
                run.memory({"operation": "add", "text": command["argument"]})
            # From here on the proposal is acknowledged: no crash may lose it.
            failpoints.arm_from_environment()
        done = book.curate()
        shown = book.memory.show()
        return {
            "status": done["status"],
            "entries": [entry["text"] for entry in shown["entries"]],
            "file": shown["file"]["state"],
            "pending": book.memory.status()["pending"],
        }


def erased(command: dict[str, Any]) -> dict[str, Any]:
    """An erasure through the public object; without a target the unfinished ones are gone on with, as at any start."""
    if not command.get("argument"):
        failpoints.arm_from_environment()
    with Minutebook.open(command["root"], automatic=False) as book:
        failpoints.arm_from_environment()
        if command.get("argument"):
            kind, id = command["argument"].split(":")
            done = book.erase(kind, id, reason="a drill")
            return {"receipt": done["receipt"]}
        return {"unfinished": book.status()["erasures"]}


def curating(command: dict[str, Any]) -> dict[str, Any]:
    """A curation, or what a person forgets, that is stopped at a step: what it came to, also when it was refused."""
    settings = {"curation_automatic": False, "lock_timeout_seconds": 1.0}
    with Minutebook.open(command["root"], settings=Settings.model_validate(settings)) as book:
        failpoints.arm_from_environment()
        try:
            done: dict[str, Any] = book.memory.forget(command["argument"]) if command["argument"] else book.curate()
        except MinutebookError as error:
            done = {"status": "refused", "error": error.code}
        return {"status": done["status"], "error": done.get("error"), "pid": os.getpid()}


def run(command: dict[str, Any]) -> None:
    os.environ[failpoints.VARIABLE] = command.get("failpoint", "")
    os.environ["MINUTEBOOK_DATABASE"] = command.get("database") or ""
    acknowledged = os.open(command["acks"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if command["verb"] == "book":
        if not command.get("argument"):
            failpoints.arm_from_environment()
        os.write(acknowledged, json.dumps({"verb": "book", **whole(command)}).encode() + b"\n")
        return
    if command["verb"] == "erase":
        os.write(acknowledged, json.dumps({"verb": "erase", **erased(command)}).encode() + b"\n")
        return
    if command["verb"] == "curate":
        os.write(acknowledged, json.dumps({"verb": "curate", **curating(command)}).encode() + b"\n")
        return
    failpoints.arm_from_environment()
    publisher = open_publisher(Path(command["root"]))
    for number in range(command.get("times", 1)):
        argument = command.get("argument", "").format(number=number)
        try:
            answer = VERBS[command["verb"]](publisher, argument)
        except MinutebookError as error:
            answer = {"error": error.code, "message": error.message}
        os.write(acknowledged, json.dumps({"verb": command["verb"], **answer}).encode() + b"\n")


def main() -> None:
    check_entry("The first check of a process makes the rules.", "user")
    gc.freeze()
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
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                os._exit(99)
        print(json.dumps({"pid": pid}), flush=True)


if __name__ == "__main__":
    main()
