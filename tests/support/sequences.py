"""Sequences of everything that a caller can do with a book, kills included, beside a plain model (issue 7, 6)."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from plain_model import ERASED, Model, Wish, fact, illegal_anthropic, illegal_openai, rendered

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.failpoints import POINTS, armed

FILE = Path(".tinyagent") / "memory" / "MEMORY.md"
SMALL = Settings(
    context_window=3_000, protect_first=1, protect_recent=2, summary_tokens_max=600, curation_automatic=False,
    evidence_enabled=False, lock_timeout_seconds=60.0,
)  # fmt: skip
SESSIONS = ("talk", "notes")
NOISE = " ".join(f"unit_{number:03d}.c is compiled" for number in range(60))
CROWDED = frozenset({"context_window_exceeded", "compaction_failed", "compaction_needed"})
TURNS = (("user",), ("user", "tool", "assistant"), ("user", "tool", "tool", "tool", "assistant", "user") * 2)
DOOMED = ("append", "run", "curate", "curate", "sync", "restore", "rebuild", "compact", "erase", "open")
PROJECTIONS = ("context", "candidates", "revisions", "memory_file", "search_index")


@dataclass(frozen=True)
class Seen:
    """What a book shows of itself, to be equal to a model."""

    messages: dict[str, list[tuple[str, Any]]]
    texts: list[str]
    pending: int
    made: list[tuple[str, tuple[str, ...] | None]]
    state: str
    file: bytes | None


class Sequences(RuleBasedStateMachine):
    """One book in a folder of its own. ``database`` makes the URL of a fresh database and takes it away again."""

    database: Callable[[], Any] | None = None
    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.counts["examples"] += 1
        self.root = Path(tempfile.mkdtemp(prefix="minutebook-sequence-"))
        self.stack = ExitStack()
        make = type(self).database
        self.url: str | None = None if make is None else self.stack.enter_context(make())
        self.model = Model()
        self.number = 0
        self.fresh = False
        self.runs: dict[str, tuple[Any, list[Wish]]] = {}
        self.told: dict[tuple[str, str], int] = {}
        self.shown: list[tuple[str, int, str]] = []
        self.book = self.open()

    def open(self) -> Minutebook:
        return Minutebook.open(self.root, database=self.url, settings=SMALL, automatic=False)

    def teardown(self) -> None:
        try:
            self._judge()
        finally:
            self.book.close()
            self.stack.close()
            shutil.rmtree(self.root, ignore_errors=True)

    @initialize(turns=st.sampled_from([2, 0, 1]), entries=st.sampled_from([3, 0, 1]))
    def begin(self, turns: int, entries: int) -> None:
        """A book that something was done with already: short sequences come further."""
        for _ in range(turns):
            self.append("talk", TURNS[-1])
        for _ in range(entries):
            self.number += 1
            text = fact(self.number)
            self.book.memory.propose({"operation": "add", "text": text})
            self.model.pending.append(Wish("add", "", text))
        if entries:
            self.curate()

    # --- conversation

    def _messages(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        self.number += 1
        name = f"m{self.number}"
        if kind == "tool":
            function = {"name": "compile", "arguments": f'{{"path": "src/{name}.c"}}'}
            calls = [{"id": f"call-{name}-{n}", "type": "function", "function": function} for n in range(2)]
            return [
                (f"{name}-0", {"role": "assistant", "content": None, "tool_calls": calls}),
                *(
                    (f"{name}-{n + 1}", {"role": "tool", "tool_call_id": call["id"], "content": f"{name}.{n} {NOISE}"})
                    for n, call in enumerate(calls)
                ),
            ]
        role = "user" if kind == "user" else "assistant"
        return [(f"{name}-0", {"role": role, "content": f"{name}: the part {name} is looked at. {NOISE[:400]}"})]

    def _append(self, to: Any, session: str, messages: list[tuple[str, Any]]) -> list[int]:
        positions: list[int] = to.append([dict(each) for _, each in messages], id=[name for name, _ in messages])
        return positions

    def _acknowledged(self, session: str, messages: list[tuple[str, Any]], positions: list[int]) -> None:
        for (name, _), position in zip(messages, positions, strict=True):
            assert self.told.setdefault((session, name), position) == position, "the same id, the same place"

    @rule(session=st.sampled_from(SESSIONS), kinds=st.sampled_from(TURNS))
    def append(self, session: str, kinds: tuple[str, ...]) -> None:
        self.counts["append"] += 1
        messages = [each for kind in kinds for each in self._messages(kind)]
        to = self.runs[session][0] if session in self.runs else self.book.session(session)
        self._acknowledged(session, messages, self._append(to, session, messages))
        self.model.append(session, messages)
        self.fresh = True

    @precondition(lambda self: self.fresh and not self.runs)
    @rule(data=st.data())
    def append_again(self, data: st.DataObject) -> None:
        """M3: the same id again is the same place, and other content under it is refused."""
        session, name = data.draw(st.sampled_from(sorted(self.told)))
        source = dict(self.model.messages[session])[name]
        self.fresh = False
        if source is None:
            return
        self.counts["append again"] += 1
        found = self.book.session(session)
        assert found.append([dict(source)], id=[name]) == [self.told[session, name]]
        assert _code(lambda: found.append([{**source, "content": "something else"}], id=[name])) == "message_conflict"

    @rule(session=st.sampled_from(SESSIONS))
    def start_run(self, session: str) -> None:
        if session in self.runs:
            assert _code(self.book.session(session).run) == "run_open"
            return
        self.counts["run"] += 1
        self.model.messages.setdefault(session, [])
        self.runs[session] = (self.book.session(session).run(), [])

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), well=st.booleans())
    def end_run(self, data: st.DataObject, well: bool) -> None:
        session = data.draw(st.sampled_from(sorted(self.runs)))
        run, wishes = self.runs.pop(session)
        self.counts["run ended well" if well else "run failed"] += 1
        if well:
            run.succeed()
            self.model.pending += wishes
        else:
            run.fail("it broke")

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def context(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(sorted(self.runs)))
        self.counts["context"] += 1
        context = _fitting(self.runs[session][0].context)
        if context is None:
            return
        assert context.tokens <= context.window - context.reserve
        self.shown.append((session, context.position, context.digest))

    @rule(session=st.sampled_from(["talk", "talk", "notes"]), dry=st.sampled_from([False, False, True]))
    def compact(self, session: str, dry: bool) -> None:
        done = self.book.session(session).compact(dry_run=dry)
        self.model.messages.setdefault(session, [])
        self.counts[f"compact {'dry' if dry else done.status}"] += 1

    @rule(session=st.sampled_from(SESSIONS))
    def undo(self, session: str) -> None:
        live, undone = self._compactions(session)
        if live:
            self.counts["undo"] += 1
            assert self.book.undo_compaction(live[-1][0]).status == "undone"
        for name, _ in (*live[:-1], *undone):
            assert _code(partial(self.book.undo_compaction, name)) == "not_live"

    @rule(session=st.sampled_from(SESSIONS))
    def redo(self, session: str) -> None:
        _, undone = self._compactions(session)
        if undone:
            done = _code(lambda: self.book.redo_compaction(undone[-1][0]))
            self.counts["redo"] += done is None
            assert done in (None, "compaction_erased"), done

    # --- memory

    def _wish(self, data: st.DataObject) -> tuple[Wish, dict[str, Any]]:
        """A wish about an entry that nothing else is wished of, and how it is said."""
        asked = {wish.target for wish in self.model.pending}
        asked |= {wish.target for _, wishes in self.runs.values() for wish in wishes}
        free = [text for text in self.model.texts if text not in asked]
        kind = data.draw(st.sampled_from(["add", "add", "replace", "remove"] if free else ["add"]))
        self.number += 1
        text = fact(self.number)
        if kind == "add":
            return Wish("add", "", text), {"operation": "add", "text": text}
        target = data.draw(st.sampled_from(free))
        ids = {entry["text"]: entry["id"] for entry in self.book.memory.entries()}
        said = {"operation": kind, "target": ids[target]}
        if kind == "remove":
            return Wish("remove", target), said
        return Wish("replace", target, text), {**said, "text": text}

    @rule(data=st.data())
    def propose(self, data: st.DataObject) -> None:
        wish, said = self._wish(data)
        self.counts[f"propose {wish.kind}"] += 1
        if "notes" in self.runs:
            run, wishes = self.runs["notes"]
            assert run.memory(said).status == "proposed"
            wishes.append(wish)
        else:
            assert self.book.memory.propose(said).status == "admitted"
            self.model.pending.append(wish)

    @precondition(lambda self: self.model.pending)
    @rule()
    def curate(self) -> None:
        self.counts[f"curate {self.model.state}"] += 1
        if self.model.state != "clean":
            assert _code(self.book.curate) == "memory_drift"
            return
        before = len(self.model.made)
        self.model.curate()
        done = self.book.curate()
        assert (done.status == "committed") == (len(self.model.made) > before), done

    @rule(how=st.sampled_from(["add", "drop", "crlf", "two lines", "credential", "gone", "back"]))
    def edit(self, how: str) -> None:
        """A person at the file, with an editor that saves by renaming."""
        self.number += 1
        now = self.model.file or b""
        line = fact(self.number).encode()
        match how:
            case "add":
                data = now + (b"\xc2\xa7\n" if now else b"") + line + b"\n"
            case "drop":
                data = b"\xc2\xa7\n".join(now.split(b"\xc2\xa7\n")[1:])
            case "crlf":
                data = now.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            case "two lines":
                data = now + (b"\xc2\xa7\n" if now else b"") + line + b"\n" + line + b"\n"
            case "credential":
                data = now + (b"\xc2\xa7\n" if now else b"") + b"The key is AKIAQ3EGRZ5X7WNLMB2K of the bucket.\n"
            case "gone":
                (self.root / FILE).unlink(missing_ok=True)
                self.model.file = None
                return
            case _:
                if self.model.committed is None:
                    return
                data = self.model.committed
        if not data and self.model.file is None:
            return
        self.counts[f"edit {how}"] += 1
        (self.root / FILE).parent.mkdir(parents=True, exist_ok=True)
        beside = self.root / FILE.parent / "editor's own"
        beside.write_bytes(data)
        beside.chmod(0o600)
        beside.replace(self.root / FILE)
        self.model.file = data

    def _problem(self) -> str | None:
        """What ``sync`` must say of the file as it is."""
        lines = (self.model.file or b"").decode().replace("\r\n", "\n").rstrip("\n").split("\n§\n")
        if any("\n" in entry or "AKIA" in entry for entry in lines) or len(set(lines)) < len(lines):
            return "memory_invalid"
        return "memory_not_canonical" if b"\r" in (self.model.file or b"") else None

    @rule(fix=st.booleans())
    def sync(self, fix: bool) -> None:
        self.counts[f"sync {self.model.state}"] += 1
        if self.model.state == "clean":
            self.model.curate()
            self.book.memory.sync(fix)
            return
        problem = self._problem()
        code = _code(lambda: self.book.memory.sync(fix))
        if problem is None or (problem == "memory_not_canonical" and fix):
            assert code is None, code
            self.model.adopt()
        else:
            assert code == problem

    @precondition(lambda self: self.model.made)
    @rule(data=st.data(), discard=st.booleans())
    def restore(self, data: st.DataObject, discard: bool) -> None:
        place, number = self._revision(data)
        if place is None:
            return
        self.counts[f"restore {self.model.state}"] += 1
        code = _code(lambda: self.book.memory.restore(number, discard_edit=discard))
        steps = self._restoring(place, discard)
        if steps is None:
            assert code == "memory_drift", code
            return
        assert code is None, code
        for step in steps:
            step(self.model)

    def _revision(self, data: st.DataObject) -> tuple[int | None, int]:
        """The place of a revision in the model that can be restored, and its number."""
        numbers = [row["revision"] for row in self.book.memory.revisions()]
        whole = [n for n, each in enumerate(self.model.made) if each.texts is not None and ERASED not in each.texts]
        if not whole:
            return None, 0
        place = data.draw(st.sampled_from(whole))
        return place, numbers[place]

    def _restoring(self, place: int, discard: bool) -> list[Callable[[Model], object]] | None:
        texts = self.model.made[place].texts
        edited = self.model.state in ("drift", "unadopted")
        if edited and not discard:
            return None
        steps: list[Callable[[Model], object]] = [lambda model: model.restore(place)]
        if edited and self.model.file != rendered(texts or ()):
            steps.insert(0, Model.displace)
        return steps

    # --- engine

    @rule(name=st.sampled_from(PROJECTIONS))
    def rebuild(self, name: str) -> None:
        """D8, D11: what the file should be is not written over an edit; a missing file comes back."""
        self.counts["rebuild"] += 1
        if name != "memory_file":
            self.book.projections.rebuild(name)
            return
        code = _code(lambda: self.book.projections.rebuild(name))
        assert code == ("memory_drift" if self.model.state in ("drift", "unadopted") else None)
        if self.model.state == "missing":
            self.model.file = self.model.committed

    @precondition(lambda self: self.model.texts and not self.model.pending and not self.runs)
    @rule(data=st.data())
    def erase_entry(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(self.model.texts))
        ids = {entry["text"]: entry["id"] for entry in self.book.memory.entries()}
        self.counts["erase entry"] += 1
        if self.model.state != "clean":
            assert _code(lambda: self.book.erase("entry", ids[text], reason="a drill")) == "memory_drift"
            return
        done = self.book.erase("entry", ids[text], reason="a drill")
        assert done.receipt is not None, done
        self.model.forget_text(text)
        self.shown.clear()

    @precondition(lambda self: self.model.messages.get("talk") and "talk" not in self.runs)
    @rule(data=st.data())
    def erase_message(self, data: st.DataObject) -> None:
        left = [name for name, source in self.model.messages["talk"] if source is not None]
        if not left:
            return
        name = data.draw(st.sampled_from(left))
        self.counts["erase message"] += 1
        done = self.book.erase("message", self.told["talk", name], reason="a drill", everywhere=False, block=False)
        assert done.receipt is not None, done
        self.model.erase_message("talk", name)
        self.shown.clear()

    # --- the end of the process

    def _leave(self) -> None:
        """D3, M2: open runs are interrupted, what they proposed is withdrawn."""
        self.book.close()
        self.runs.clear()

    @rule(what=st.sampled_from(DOOMED),
          at=st.integers(1, 30), data=st.data())  # fmt: skip
    def kill(self, what: str, at: int, data: st.DataObject) -> None:
        """A real process does something and is killed at some failpoint on its way; then the book is opened again.

        What was acknowledged must be there; what was not is there as a whole or not at all.
        """
        act, steps = self._doomed(what, data)
        states = self.model.after(*steps)
        self._leave()
        killed, acks = self._in_a_child(act, at)
        self.counts[f"{'killed in' if killed else 'came through'} {what}"] += 1
        self.book = self.open()
        file = self._file()
        for state in states:
            # Before the process came to the file it was as the model had it; after it, as the revision says.
            if state.file != file and what == "rebuild":
                state.file = file
        fitting = [number for number, state in enumerate(states) if self._seen() == expected(state)]
        assert fitting, (what, self._seen(), [expected(state) for state in states])
        assert fitting[-1] >= len(acks), ("an acknowledged step is gone", what, acks, fitting)
        self.model = states[fitting[-1]]
        for session, messages, positions in filter(None, acks):
            self._acknowledged(session, messages, positions)
        for session, held in self.model.messages.items():
            for message, (name, _) in zip(self.book.session(session).messages(), held, strict=True):
                assert self.told.setdefault((session, name), message["position"]) == message["position"]

    def _doomed(
        self, what: str, data: st.DataObject
    ) -> tuple[Callable[[Minutebook], Iterator[Any]], list[Callable[[Model], object]]]:
        """What the process does (each ``yield`` is an acknowledgement), and what each step of it comes to."""
        clean = self.model.state == "clean"
        match what:
            case "append":
                messages = self._messages("tool")
                return self._appending(messages), [lambda model: model.append("talk", messages)]
            case "run":
                messages, text = self._messages("user"), fact(self.number)
                wish = Wish("add", "", text)
                steps: list[Callable[[Model], object]] = [
                    lambda model: model.append("notes", messages),
                    lambda model: model.pending.append(wish),
                ]
                return self._talking(messages, text), steps
            case "curate":
                return _one(lambda book: book.curate()), [Model.curate] if clean else []
            case "sync" if clean or self._problem() is None:
                return _one(lambda book: book.memory.sync()), [Model.curate if clean else Model.adopt]
            case "restore" if self.model.made:
                place, number = self._revision(data)
                restoring = None if place is None else self._restoring(place, True)
                if restoring is not None:
                    whole = _one(lambda book: book.memory.restore(number, discard_edit=True), len(restoring))
                    return whole, restoring
            case "rebuild":
                name = data.draw(st.sampled_from(PROJECTIONS))
                return _one(lambda book: book.projections.rebuild(name), 0), []
            case "compact":
                return _one(lambda book: book.session("talk").compact(), 0), [
                    lambda model: model.messages.setdefault("talk", [])
                ]
            case "erase" if self.model.texts and clean and not self.model.pending:
                text = self.model.texts[0]
                ids = {entry["text"]: entry["id"] for entry in self.book.memory.entries()}
                self.shown.clear()
                return _one(lambda book: book.erase("entry", ids[text], reason="a drill")), [
                    lambda model: model.forget_text(text)
                ]
        return _one(lambda book: None, 0), []

    def _appending(self, messages: list[tuple[str, Any]]) -> Callable[[Minutebook], Iterator[Any]]:
        def act(book: Minutebook) -> Iterator[Any]:
            yield "talk", messages, self._append(book.session("talk"), "talk", messages)

        return act

    def _talking(self, messages: list[tuple[str, Any]], text: str) -> Callable[[Minutebook], Iterator[Any]]:
        def act(book: Minutebook) -> Iterator[Any]:
            run = book.session("notes").run()
            yield "notes", messages, self._append(run, "notes", messages)
            run.memory({"operation": "add", "text": text})
            run.succeed()
            yield None

        return act

    def _in_a_child(self, act: Callable[[Minutebook], Iterator[Any]], at: int) -> tuple[bool, list[Any]]:
        """Whether it was killed at the ``at``-th failpoint that it passed, and what it acknowledged before."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _die_at(at, lambda: self._live(act, write))
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        status = os.waitpid(child, 0)[1]
        acks = []
        while said:
            size = int.from_bytes(said[:4], "big")
            acks.append(pickle.loads(said[4 : 4 + size]))
            said = said[4 + size :]
        failed = [ack for ack in acks if isinstance(ack, str)]
        assert not failed, failed
        return os.WIFSIGNALED(status), acks

    def _live(self, act: Callable[[Minutebook], Iterator[Any]], write: int) -> None:
        try:
            with self.open() as book:
                for ack in act(book):
                    _say(write, ack)
        except MinutebookError as error:
            if error.code != "memory_drift":
                _say(write, f"{error.code}: {error.message}")

    # --- what must hold

    def _file(self) -> bytes | None:
        file = self.root / FILE
        return file.read_bytes() if file.exists() else None

    def _seen(self) -> Seen:
        found = self.book.memory.revisions()
        numbers = [row["revision"] for row in found]
        assert numbers == sorted(set(numbers)), "I5: numbers strictly rise"
        sessions = [row["session"] for row in self.book.sessions() if row["session"] in SESSIONS]
        status = self.book.memory.status()
        made = [
            (row["kind"], None if row["kind"] == "displaced" else tuple(self._texts(row["revision"]))) for row in found
        ]
        return Seen(
            {
                name: [
                    (message["id"], None if message.state == "erased" else dict(message))
                    for message in self.book.session(name).messages()
                ]
                for name in sorted(sessions)
            },
            [entry["text"] for entry in self.book.memory.entries()],
            status.pending,
            made,
            status.state,
            self._file(),
        )

    def _texts(self, revision: int) -> list[str]:
        return [entry["text"] for entry in self.book.memory.show(revision)["entries"]]

    def _compactions(self, session: str) -> tuple[list[tuple[str, set[str]]], list[tuple[str, set[str]]]]:
        """The live ones and those undone, the last of each on top, as C7 tells it of the events."""
        live: list[tuple[str, set[str]]] = []
        undone: list[tuple[str, set[str]]] = []
        for event in self.book.log(session=session):
            match event["type"]:
                case "CompactionCommitted":
                    live.append((event["body"]["compaction"], set(event["body"]["covers"])))
                    undone.clear()
                case "CompactionUndone" if event["body"].get("cause") == "erased":
                    live.pop()  # its summary is gone: nothing brings it back
                case "CompactionUndone":
                    undone.append(live.pop())
                case "CompactionRedone":
                    live.append(undone.pop())
        return live, undone

    @invariant()
    def the_book_is_what_the_model_says(self) -> None:
        assert self._seen() == expected(self.model)

    @invariant()
    def every_message_is_seen_or_hidden_for_one_reason(self) -> None:
        for session in self.model.messages:
            live, _ = self._compactions(session)
            hidden = live[-1][1] if live else set()
            for message in self.book.session(session).messages():
                if message.state == "erased":
                    continue
                assert (message.state == "compacted") == (message["id"] in hidden), (session, message["id"])
                if message["id"] in hidden:
                    assert message.covered_by == live[-1][0]
                assert self.told[session, message["id"]] == message["position"], "I1: where it was said to be"

    @invariant()
    def the_context_is_a_legal_request_and_the_same_as_it_was_shown(self) -> None:
        for session in self.model.messages:
            context = _fitting(self.book.session(session).context)
            if context is None:
                continue
            assert illegal_openai(context.to_openai()["messages"]) == ""
            assert illegal_anthropic(context.to_anthropic()["messages"]) == ""
            covered = [name for message in context.messages for name in message["covers"]]
            plain = [message["id"] for message in context.messages if message["state"] in ("original", "reduced")]
            assert len(set(covered)) == len(covered), "one reason for each"
            assert not set(covered) & set(plain)
            there = {name for name, source in self.model.messages[session] if source is not None}
            assert there <= set(covered) | set(plain), "nothing is hidden without a reason"
        for session, position, digest in self.shown[-1:]:
            assert self.book.session(session).context(at=position).digest == digest, "I9"

    def _judge(self) -> None:
        """At the end: the chain and every projection, from nothing; a second opening changes nothing."""
        self.runs.clear()
        self.book.close()
        self.book = self.open()
        head = self.book.head
        for session, position, digest in self.shown:
            assert self.book.session(session).context(at=position).digest == digest, "I9"
        failed = [check for check in self.book.verify()["checks"] if not check["ok"]]
        assert [check["name"] for check in failed] == (["memory_file_on_disk"] if self.model.state != "clean" else [])
        engine = self.book._runtime.projections
        engine.catch_up()
        before = {name: engine.dump_hash(name) for name in engine.names}
        engine.rebuild()
        differing = [name for name in engine.names if engine.dump_hash(name) != before[name]]
        assert differing == [], "rebuilt is as it came"
        self.book.close()
        self.book = self.open()
        assert self.book.head == head, ("I8", [event["type"] for event in self.book.log(after=head)])
        assert self._seen() == expected(self.model)


def expected(model: Model) -> Seen:
    return Seen(
        {name: list(held) for name, held in sorted(model.messages.items())},
        model.texts,
        len(model.pending),
        [(each.kind, each.texts) for each in model.made],
        model.state,
        model.file,
    )


def _code(act: Callable[[], Any]) -> str | None:
    """The code of the refusal; None where it is done."""
    try:
        act()
    except MinutebookError as error:
        return error.code
    return None


def _fitting(act: Callable[[], Any]) -> Any:
    """A context; None where the window is too small for it."""
    try:
        return act()
    except MinutebookError as error:
        if error.code not in CROWDED:
            raise
    return None


def _one(act: Callable[[Minutebook], Any], steps: int = 1) -> Callable[[Minutebook], Iterator[Any]]:
    """One call that stands for so many steps, acknowledged together."""

    def doing(book: Minutebook) -> Iterator[Any]:
        act(book)
        yield from (None for _ in range(steps))

    return doing


def _say(write: int, ack: Any) -> None:
    data = pickle.dumps(ack)
    os.write(write, len(data).to_bytes(4, "big") + data)


def _die_at(number: int, work: Callable[[], None]) -> None:
    """Does the work in this process, which ends at the failpoint that it passes as the so-manieth."""
    passed = 0

    def passing() -> None:
        nonlocal passed
        passed += 1
        if passed == number:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with ExitStack() as stack:
            for name in POINTS:
                stack.enter_context(armed(name, passing))
            work()
    finally:
        os._exit(0)
