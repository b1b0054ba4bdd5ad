"""What the kill matrix lets an agent, a person or a worker do until SIGKILL comes; each is one real child process.

Run as a program it is a fork server: minutebook is imported once, then each JSON line on standard input is a child.
What a child was told goes at once to a file outside of the store (``Told``), which no crash can take back.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for _place in (HERE, HERE.parent / "support", HERE.parents[1] / ".package"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

import past  # noqa: E402
from judge import canonical  # noqa: E402

from minutebook import Minutebook, MinutebookError, Settings  # noqa: E402
from minutebook.infrastructure.store import failpoints  # noqa: E402
from minutebook.infrastructure.store import rebuild as rebuilding  # noqa: E402

WINDOW = 8_000
LONG = " ".join(f"unit_{number:04d} was compiled without a warning" for number in range(20))
WORD = "canary-of-the-matrix-zq7xk"
SECRET = f"The vault of {WORD} is closed on Mondays."
FILE = Path(".tinyagent") / "memory" / "MEMORY.md"
OLD = "v1-b1547e2"
"""A store of the schema before today's, for the upgrade."""


class Told:
    """Acknowledgements, written down outside of the store before the child goes on."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def say(self, what: str, **facts: Any) -> None:
        os.write(self._file, json.dumps({"what": what, **facts}).encode() + b"\n")

    def event(self, topic: str, fact: str, value: Any, **more: Any) -> None:
        self.say("event", topic=topic, fact=fact, value=value, **more)

    def revision(self, done: Any) -> None:
        self.event("RevisionCommitted", "revision", done["revision"])


@dataclass(frozen=True)
class Site:
    """One store, and the folder outside of it."""

    root: Path
    aside: Path

    def open(self, **options: Any) -> Minutebook:
        settings = Settings.load(self.root, context_window=WINDOW, curation_automatic=False, lock_timeout_seconds=60.0)
        return Minutebook.open(self.root, settings=settings, automatic=False, **options)

    @property
    def file(self) -> Path:
        return self.root / FILE


# --- what an agent does


def say(run: Any, told: Told, id: str, *messages: dict[str, Any]) -> None:
    names = [f"{id}-{number}" for number in range(len(messages))]
    positions = run.append(list(messages), id=names)
    for name, position, message in zip(names, positions, messages, strict=True):
        told.say("message", position=position, session=run.session.id, id=name, digest=canonical(message))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def talk(site: Site, told: Told) -> None:
    """A conversation that is recorded, shown, and leaves two proposals; one is curated, one waits for a person."""
    with site.open() as book:
        session = book.session("talk")
        with session.run() as run:
            say(run, told, "a", user("The build needs make 4.3 or newer."), {"role": "assistant", "content": "Noted."})
            shown(run, told)
            answer = run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."}, call_id="one")
            told.event("CandidateProposed", "candidate", answer["candidate"])
            outside = run.memory({"operation": "add", "text": "Tests are run with pytest."}, "tool", call_id="two")
            told.event("CandidateProposed", "candidate", outside["candidate"])
            say(run, told, "b", user("Thank you."))
            shown(run, told)
        told.event("RunSucceeded", "run", run.id)
        told.event("CandidateAdmitted", "candidate", answer["candidate"])
        done = book.curate()
        if done["status"] == "committed":
            told.revision(done)
        for row in book.memory.quarantine():
            book.memory.approve(row["candidate"])
            told.event("CandidateApproved", "candidate", row["candidate"])


def shown(run: Any, told: Told) -> None:
    context = run.context(system="Be short.")
    told.say("shown", session=run.session.id, position=context.position, digest=canonical(context.to_openai()))


def lengthen(site: Site, told: Told) -> None:
    """A session that is too long for its window, with outputs of tools in it, and a store that is used besides."""
    use(site, told)
    with site.open() as book:
        session = book.session("long")
        with session.run() as run:
            say(run, told, "l", *(user(f"Part {number}. {LONG}") for number in range(16)))
        with book.session("outputs").run() as run:
            for number in range(8):
                call = {"id": f"call-{number}", "type": "function", "function": {"name": "cat", "arguments": "{}"}}
                say(run, told, f"t{number}", {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": f"call-{number}", "content": "\n".join([LONG] * 4)})  # fmt: skip


def compact(site: Site, told: Told) -> None:
    """A request that outputs of tools are shortened for; a summary by command, taken back, made again, and one that a
    request needs."""
    with site.open() as book:
        with book.session("outputs").run() as run:
            shown(run, told)
        session = book.session("long")
        done = session.compact()
        if done["status"] == "committed" and done["compaction"]:
            told.event("CompactionCommitted", "compaction", done["compaction"])
            book.undo_compaction(done["compaction"])
            told.event("CompactionUndone", "compaction", done["compaction"])
            book.redo_compaction(done["compaction"])
            told.event("CompactionRedone", "compaction", done["compaction"])
        with session.run() as run:
            call = {"id": "big", "type": "function", "function": {"name": "cat", "arguments": "{}"}}
            say(run, told, "c", {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "big", "content": "\n".join([LONG] * 14)},
                {"role": "assistant", "content": "I have read it."}, user("Go on."))  # fmt: skip
            shown(run, told)


# --- what a person does


def use(site: Site, told: Told) -> None:
    """Two entries, each a revision of its own, in a file that others may read."""
    with site.open() as book:
        for number in range(2):
            book.memory.propose({"operation": "add", "text": f"Entry {number} is kept for later."})
            told.revision(book.curate())
    site.file.chmod(0o640)


def edit(site: Site, told: Told) -> None:
    use(site, told)
    site.file.write_bytes("Entry 0 is kept for later.\n§\nWritten by hand.\n".encode())


def edit_badly(site: Site, told: Told) -> None:
    use(site, told)
    site.file.write_bytes("Entry 0 is kept for later.\r\n§\r\nWritten by hand.".encode())


def sync(site: Site, told: Told) -> None:
    with site.open() as book:
        told.revision(book.memory.sync(fix=True))


def restore(site: Site, told: Told) -> None:
    with site.open() as book:
        told.revision(book.memory.restore(1, discard_edit=True))


def notes(site: Site, told: Told) -> None:
    with site.open() as book:
        told.revision(book.memory.import_notes(site.file))


def edit_notes(site: Site, told: Told) -> None:
    use(site, told)
    site.file.write_bytes("Entry 0 is kept for later.\n§\nMine:\n- of several\n- lines\n".encode())


def forget(site: Site, told: Told) -> None:
    with site.open() as book:
        done = book.memory.forget("Entry 1")
        if done["block"]:
            told.event("LearningBlocked", "block", done["block"])
        told.event("CandidateAdmitted", "candidate", done["candidate"])


def tell(site: Site, told: Told) -> None:
    """Something that is worth keeping, said in a run that is over."""
    use(site, told)
    with site.open() as book, book.session("told").run() as run:
        run.append(user("Please remember that the build needs make 4.3 or newer."))


def curate(site: Site, told: Told) -> None:
    with site.open() as book:
        done = book.curate()
        if done["status"] == "committed":
            told.revision(done)


def plant(site: Site, told: Told) -> None:
    """A word in a message, in the summary of it, and in an entry that came of it."""
    use(site, told)
    with site.open() as book:
        session = book.session("s")
        with session.run() as run:
            run.append([user(f"Part {number}. {LONG}") for number in range(4)])
            run.append(user(f"Mind {WORD}, please."), id="secret")
            run.append([{"role": "assistant", "content": f"Done {number}. {LONG}"} for number in range(20)])
        with session.run() as run:
            run.append(user("Go on."), id="later")
            run.context()
            run.memory({"operation": "add", "text": SECRET})
        book.curate()


def erase(site: Site, told: Told) -> None:
    with site.open() as book:
        done = book.erase("session", "s", reason="a drill")
        if done["receipt"]:
            told.event("ErasureCompleted", "erasure", done["erasure"])
            told.say("gone", words=[WORD])


# --- starts, workers, upkeep


def start(site: Site, told: Told) -> None:
    """What every process does first."""
    site.open().close()


def die_in_a_run(site: Site, told: Told) -> None:
    """An agent that is killed in the middle of a run with a proposal."""
    use(site, told)
    book = site.open()
    run = book.session("died").run()
    say(run, told, "d", user("Are you there?"))
    told.event("CandidateProposed", "candidate", run.memory({"operation": "add", "text": "Nobody."})["candidate"])
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(point: str) -> Callable[[Site, Told], None]:
    """A revision whose process died at a step of it."""

    def dying(site: Site, told: Told) -> None:
        use(site, told)
        with site.open() as book:
            book.memory.propose({"operation": "add", "text": "One more."})
            with failpoints.armed(point, "kill"):
                book.curate()

    return dying


def die_displaced(site: Site, told: Told) -> None:
    """The same, after somebody saved the file in the last moment: their bytes stand beside it."""
    use(site, told)
    with site.open() as book:
        book.memory.propose({"operation": "add", "text": "One more."})

        def save() -> None:
            site.file.write_bytes(b"Saved in the last moment.\n")

        with failpoints.armed("file.exchange", save), failpoints.armed("file.look_back", "kill"):
            book.curate()


def rebuild(site: Site, told: Told) -> None:
    rebuilding.NEAR = 5  # a small log is gone through in parts, as a large one is
    with site.open() as book:
        book.projections.rebuild()


def work(site: Site, told: Told) -> None:
    """A worker that follows the log until it has taken every projection."""
    with site.open() as book:
        stop, taken, all_ = threading.Event(), set(), {row["name"] for row in book.projections.list()}

        def heard(said: dict[str, Any]) -> None:
            taken.add(said.get("projection"))
            if all_ - {"memory_file"} <= taken:
                stop.set()

        book.projections.work(stop=stop, report=heard)


def old_store(site: Site, told: Told) -> None:
    workspace = past.put_back(OLD, site.root)
    if os.environ.get("MINUTEBOOK_DATABASE") and workspace is not None:
        (site.root / ".tinyagent" / "workspace-id").write_text(f"{workspace}\n")


def upgrade(site: Site, told: Told) -> None:
    done = Minutebook.upgrade(site.root)
    if done["head"] is not None:
        told.say("anchor", head=done["head"], chain=done["chain"])
        told.say("backup", file=done["backup"], head=done["head"], chain=done["chain"])


def backup(site: Site, told: Told) -> None:
    number = len(list(site.aside.glob("saved-*")))
    with site.open() as book:
        done = book.backup(site.aside / f"saved-{number}")
    told.say("backup", file=done["file"], head=done["head"], chain=done["chain"])


def save_and_go_on(site: Site, told: Told) -> None:
    """A backup, a revision after it, and an edit by hand that no revision took in."""
    use(site, told)
    with site.open() as book:
        book.backup(site.root.parent / "saved")
        book.memory.propose({"operation": "add", "text": "This came after the backup."})
        book.curate()
    site.file.write_bytes(site.file.read_bytes() + "§\nBy hand.\n".encode())


def bring_back(site: Site, told: Told) -> None:
    done = Minutebook.restore(site.root, site.root.parent / "saved", replace=True,
                              settings=Settings.load(site.root, lock_timeout_seconds=60.0))  # fmt: skip
    assert done["ok"], done["checks"]
    assert done["memory_file"] == "clean", done
    told.say("anchor", head=done["head"], chain=done["chain"])


def break_file(site: Site, told: Told) -> None:
    save_and_go_on(site, told)
    for end in ("-wal", "-shm"):
        Path(f"{site.root / '.tinyagent' / 'minutebook.db'}{end}").unlink(missing_ok=True)
    (site.root / ".tinyagent" / "minutebook.db").write_bytes(b"\xff" * 9_000)


def nothing(site: Site, told: Told) -> None:
    """A folder in which nobody has worked yet."""


PARTS: dict[str, Callable[[Site, Told], None]] = {
    made.__name__: made
    for made in (
        nothing, use, edit, edit_badly, edit_notes, tell, lengthen, plant, die_in_a_run, die_displaced, old_store,
        save_and_go_on, break_file, start, talk, compact, sync, restore, notes, forget, curate, erase, rebuild, work,
        upgrade, backup, bring_back,
    )
}  # fmt: skip
PARTS |= {f"die at {point}": die_at(point) for point in ("file.read_base", "file.fsync_folder")}


def probe(command: dict[str, Any], site: Site) -> dict[str, Any]:
    """What the book itself says: the state of its file, and every context as it was shown (I9)."""
    with site.open(read_only=True) as book:
        contexts = [
            canonical(book.find_session(each["session"]).context(at=each["position"]).to_openai())
            for each in command["shown"]
        ]
        checks = book.verify()["checks"] if command["whole"] else []
        wrong = [check for check in checks if not check["ok"] and check["name"] != "memory_file_on_disk"]
        return {"state": book.memory.status()["state"], "shown": contexts, "wrong": wrong}


# --- the fork server


def run(command: dict[str, Any]) -> None:
    os.environ["MINUTEBOOK_DATABASE"] = command.get("url") or ""
    if not command.get("url"):
        del os.environ["MINUTEBOOK_DATABASE"]
    site = Site(Path(command["root"]), Path(command["aside"]))
    told = Told(command["told"])
    if command["part"] == "probe":
        told.say("probed", **probe(command, site))
        return
    if command.get("trace"):
        _trace(command["trace"])
    elif command.get("failpoint"):
        os.environ[failpoints.VARIABLE] = command["failpoint"]
        failpoints.arm_from_environment()
    PARTS[command["part"]](site, told)


def _trace(path: str) -> None:
    """Every point that is passed is written down, by its name."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def noting(name: str) -> Callable[[], None]:
        def note() -> None:
            os.write(file, f"{name}\n".encode())

        return note

    failpoints._armed.update({name: noting(name) for name in failpoints.POINTS})


def warm() -> None:
    """Does everything once, so that a child finds loaded and compiled what it needs: a kill costs a third then."""
    with tempfile.TemporaryDirectory(prefix="minutebook-warm-") as folder:
        site, told = Site(Path(folder) / "w", Path(folder)), Told(f"{folder}/told")
        site.root.mkdir()
        for part in (lengthen, talk, compact, tell, curate):
            part(site, told)
        probe({"shown": [], "whole": True}, site)
    gc.collect()
    gc.freeze()


def main(lines: Iterable[str]) -> None:
    warm()
    for line in lines:
        command = json.loads(line)
        if "wait" in command:
            _, status, used = os.wait4(command["wait"], 0)
            cpu = used.ru_utime + used.ru_stime
            print(json.dumps({"status": os.waitstatus_to_exitcode(status), "cpu": cpu}), flush=True)
            continue
        child = os.fork()
        if child == 0:
            try:
                run(command)
                os._exit(0)
            except MinutebookError as error:
                Told(command["told"]).say("refused", part=command["part"], code=error.code, message=error.message)
                os._exit(98)
            except BaseException as error:
                Told(command["told"]).say("failed", part=command["part"], error=f"{type(error).__name__}: {error}")
                os._exit(99)
        print(json.dumps({"pid": child}), flush=True)


if __name__ == "__main__":
    main(sys.stdin)
