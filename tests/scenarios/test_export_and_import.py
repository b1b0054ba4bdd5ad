"""A book is exported, verified by a program that knows nothing of it, and imported as an equal book (E4, E7)."""

from __future__ import annotations

import asyncio
import io
import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from stores import child_environment

from minutebook import Minutebook, MinutebookError, Settings, aio
from minutebook.verify import verify

ROOT = Path(__file__).resolve().parents[2]
MAIN = [sys.executable, "-c", "from minutebook.infrastructure.edges.cli import main; main()"]


def everything(root: Path) -> dict[str, Any]:
    """What a person can learn of a book."""
    with Minutebook.open(root, access="look") as book:
        return {
            "log": list(book.log()),
            "sessions": [book.session_row(row.session) for row in book.sessions()],
            "contexts": {row.session: book.session(row.session).context().digest for row in book.sessions()},
            "messages": {row.session: book.session(row.session).messages() for row in book.sessions()},
            "memory": book.memory.show(),
            "blame": book.memory.blame(),
            "revisions": book.memory.revisions(),
            "waiting": book.memory.quarantine(),
            "rows": {row.name: book._runtime.projections.dump_hash(row.name) for row in book.projections.list()},
            "verify": book.verify(),
        }


@pytest.fixture
def file(story: Any, command: Any, tmp_path: Path) -> Path:
    """The story's log as a file."""
    path = tmp_path / "log.jsonl"
    assert command("export", "--log", "--to", path).code == 0
    return path


# --- an equal book


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_an_imported_book_equals_the_one_it_came_from(story: Any, command: Any, file: Path, tmp_path: Path) -> None:
    # given a book in which everything has happened, and its export, found good without it
    assert subprocess.run([sys.executable, "-I", "-S", str(ROOT / "verify.py"), str(file)], check=False).returncode == 0
    # when an empty workspace takes it in
    other = tmp_path / "other"
    done = command("import", file, "--json", workspace=other)
    # then positions, chain, every projection, the memory file and every answer are equal
    assert done.code == 0, done.err
    answer = done.answer
    assert (answer["events"], answer["last_position"]) == (story.head, story.head)
    assert (answer["format"], answer["memory_file"], answer["skipped"]) == ("minutebook-log", "clean", [])
    assert everything(other) == everything(story.root)
    memory = Path(".tinyagent") / "memory" / "MEMORY.md"
    assert (other / memory).read_bytes() == (story.root / memory).read_bytes()
    # and so is what it exports
    assert command("export", "--log", workspace=other).out.encode() == file.read_bytes()
    # and it goes on
    with Minutebook.open(other, automatic=False) as book:
        with book.session(story.session).run() as run:
            run.append({"role": "user", "content": "On another machine."})
        assert book.verify().ok


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_a_time_of_the_past_is_the_same_in_the_copy(story: Any, command: Any, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    command("import", file, workspace=other)
    with Minutebook.open(story.root, read_only=True) as here, Minutebook.open(other, read_only=True) as there:
        for position in range(story.head // 3, story.head, 17):
            contexts = [book.session(story.session).context(at=position) for book in (here, there)]
            assert contexts[0].digest == contexts[1].digest
            assert here.memory.show(at=position) == there.memory.show(at=position)


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_an_export_goes_through_a_pipe(story: Any, file: Path, tmp_path: Path) -> None:
    with (
        subprocess.Popen(
            [*MAIN, "--workspace", str(story.root), "export", "--log"],
            env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as source,
        subprocess.Popen(
            [*MAIN, "--workspace", str(tmp_path / "other"), "import", "-"],
            env=child_environment(), stdin=source.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as target,
    ):  # fmt: skip
        out, err = target.communicate(timeout=1200)
        assert (target.returncode, err) == (0, b"")
        assert source.wait(120) == 0
        assert f"minutebook-log, {story.head:,} events".encode() in out
    assert everything(tmp_path / "other")["log"] == everything(story.root)["log"]


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_a_memory_file_that_lies_there_is_never_overwritten(
    story: Any, command: Any, file: Path, tmp_path: Path
) -> None:
    # given a workspace with a MEMORY.md of its own
    other = tmp_path / "other"
    memory = other / ".tinyagent" / "memory" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("Something else.\n")
    # when the export is imported there
    done = command("import", file, "--json", workspace=other)
    # then the file stays, and differs from the log by name
    assert (done.code, done.answer["memory_file"]) == (0, "drift")
    assert memory.read_text() == "Something else.\n"
    # and a file that is the very one is clean
    third = tmp_path / "third"
    memory = third / ".tinyagent" / "memory" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_bytes((story.root / ".tinyagent" / "memory" / "MEMORY.md").read_bytes())
    assert command("import", file, "--json", workspace=third).answer["memory_file"] == "clean"


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_an_open_run_is_left_to_the_next_start(story: Any, command: Any, tmp_path: Path) -> None:
    # given an export of a book in which a run is open
    with Minutebook.open(story.root, automatic=False) as book:
        run = book.session("open").run()
        run.append({"role": "user", "content": "I am at work."})
        sink = io.BytesIO()
        head = book.export_log(sink).head
    # when it is imported
    (tmp_path / "log.jsonl").write_bytes(sink.getvalue())
    done = command("import", tmp_path / "log.jsonl", "--json", workspace=tmp_path / "other")
    # then nothing was appended
    assert done.answer["head"] == head
    assert command("status", "--json", workspace=tmp_path / "other").answer["head"] == head


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_the_same_in_python_and_with_await(story: Any, tmp_path: Path) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        done = book.export_log(tmp_path / "log.jsonl")
        assert done == book.export_log(str(tmp_path / "log.jsonl"))
    assert done.events == story.head
    with (tmp_path / "log.jsonl").open("rb") as lines:
        report = verify(lines)
    assert (report.ok, report.chain) == (True, done.chain)

    async def copy() -> Any:
        async with aio.Minutebook.open(tmp_path / "other", automatic=False) as book:
            answer = await book.import_log(tmp_path / "log.jsonl")
            await book.export_log(tmp_path / "again.jsonl")
            return answer

    assert asyncio.run(copy()).chain == done.chain
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "log.jsonl").read_bytes()


# --- what is refused


def test_a_book_with_events_takes_no_export(story: Any, command: Any, file: Path, tmp_path: Path) -> None:
    before = everything(story.root)
    done = command("import", file, "--json")
    assert (done.code, done.refusal["error"]) == (1, "store_not_empty")
    assert everything(story.root) == before


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
@pytest.mark.parametrize(
    ("name", "code"),
    [("cut", "export_damaged"), ("changed", "export_damaged"), ("newer", "export_newer"), ("none", "not_an_export")],
)
def test_a_damaged_export_leaves_the_workspace_empty(
    name: str, code: str, command: Any, file: Path, tmp_path: Path
) -> None:
    # given an export that is not whole, not as it was, of a later version, or none at all
    data = file.read_bytes()
    damaged = {
        "cut": data[: len(data) // 2],
        "changed": data.replace(b"make 4.3", b"make 4.4", 1),
        "newer": data.replace(b'"version":1', b'"version":2', 1),
        "none": b'{"role":"user","content":"hello"}\n',
    }[name]
    (tmp_path / "bad.jsonl").write_bytes(damaged)
    other = tmp_path / "other"
    # when it is imported
    done = command("import", tmp_path / "bad.jsonl", "--format", "minutebook-log", "--json", workspace=other)
    # then nothing is there, and a good one is taken
    assert (done.code, done.refusal["error"]) == (1, code)
    assert command("status", "--json", workspace=other).answer["head"] == 0
    assert not (other / ".tinyagent" / "memory" / "MEMORY.md").exists()
    assert command("import", file, workspace=other).code == 0


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_an_import_that_is_killed_leaves_nothing(file: Path, command: Any, tmp_path: Path) -> None:
    # given an import that has taken in most of the lines and waits for the rest
    other, data = tmp_path / "other", file.read_bytes()
    with subprocess.Popen(
        [*MAIN, "--workspace", str(other), "import", "-"], env=child_environment(), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(data[: len(data) * 3 // 4])
        process.stdin.flush()
        database = other / ".tinyagent" / "minutebook.db"
        deadline = time.monotonic() + 120
        while not database.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        assert process.poll() is None
        # when it is killed
        process.kill()
        process.wait(120)
    # then the book is empty, and takes the whole file
    assert command("status", "--json", workspace=other).answer["head"] == 0
    assert command("import", file, workspace=other).code == 0


@pytest.mark.sqlite_only("a folder in which no book is")
def test_options_that_mean_nothing_are_refused(command: Any, file: Path, tmp_path: Path) -> None:
    assert command("export").code == 2
    other = tmp_path / "other"
    assert command("import", file, "--session", "s", "--json", workspace=other).refusal["error"] == "bad_option"
    other.mkdir(exist_ok=True)
    assert command("export", "--log", "--json", workspace=other).refusal["error"] == "not_a_book"


@pytest.mark.sqlite_only("a copy needs a database of its own: between both kinds, see the tests of the store")
def test_a_log_of_another_workspace_id_says_how_to_see_it(
    command: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEBOOK_WORKSPACE_ID", "mine")
    done = command("import", file, workspace=tmp_path / "other")
    assert done.code == 0
    assert "It is of workspace local and this one is mine: set workspace_id to see it." in done.out


def test_the_log_of_a_shared_database_is_taken_out_only_when_it_is_said(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given two workspaces in one database
    shared = f"sqlite:///{tmp_path / 'shared.db'}"
    for name in ("mine", "theirs"):
        settings = Settings(workspace_id=name)
        with Minutebook.open(tmp_path / name, database=shared, settings=settings, automatic=False) as book:
            book.session(f"of-{name}").append({"role": "user", "content": f"What is {name}."})
    monkeypatch.setenv("MINUTEBOOK_WORKSPACE_ID", "mine")
    words = ("--database", shared, "export", "--log")
    # when one of them exports the log, then what is another's is not given out unasked
    done = command(*words, "--to", tmp_path / "log.jsonl", "--json", workspace=tmp_path / "mine")
    assert (done.code, done.refusal["error"]) == (1, "other_workspaces")
    assert not (tmp_path / "log.jsonl").exists()
    assert "What is theirs" not in command(*words, workspace=tmp_path / "mine").out
    # and with the word for it, it is whole
    done = command(*words, "--all-workspaces", "--to", tmp_path / "log.jsonl", workspace=tmp_path / "mine")
    assert done.code == 0
    copy = command("import", tmp_path / "log.jsonl", "--json", workspace=tmp_path / "copy")
    assert copy.answer["workspaces"] == ["mine", "theirs"]
    listed = command("session", "list", "--json", workspace=tmp_path / "copy").answer
    assert [row["session"] for row in listed] == ["of-mine"]


# --- the file


def test_an_export_is_private_and_replaces_only_an_export(command: Any, file: Path, story: Any, where: str) -> None:
    # given an export of yesterday
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with Minutebook.open(story.root, automatic=False) as book:
        book.session("new").append({"role": "user", "content": "hello"})
    # when today's goes to the same place, then it is replaced
    assert command("export", "--log", "--to", file).code == 0
    assert file.read_bytes().count(b"\n") > before.count(b"\n")
    # and any other file is left alone
    other = file.with_name("notes.txt")
    other.write_text("mine")
    assert command("export", "--log", "--to", other, "--json").refusal["error"] == "file_exists"
    assert other.read_text() == "mine"
    if where == "sqlite":
        database = story.root / ".tinyagent" / "minutebook.db"
        assert command("export", "--log", "--to", database, "--json").refusal["error"] == "file_exists"
    assert command("export", "--log", "--to", file.parent, "--json").refusal["error"] == "not_a_file"
    assert command("export", "--log", "--to", file.parent / "no" / "x", "--json").refusal["error"] == "path_missing"
    assert sorted(path.name for path in file.parent.iterdir() if path.name != "w") == ["log.jsonl", "notes.txt"]


def test_an_export_through_a_link_keeps_the_link(command: Any, file: Path, story: Any) -> None:
    link = file.with_name("newest.jsonl")
    link.symlink_to(file.name)
    assert command("export", "--log", "--to", link).code == 0
    assert link.is_symlink()
    assert not file.is_symlink()


@pytest.mark.sqlite_only("damage in a file")
def test_a_damaged_book_leaves_the_old_export(command: Any, file: Path, story: Any) -> None:
    import sqlite3

    before = file.read_bytes()
    connection = sqlite3.connect(story.root / ".tinyagent" / "minutebook.db", isolation_level=None)
    connection.execute("DROP TRIGGER events_update")
    connection.execute("UPDATE events SET actor = 'nobody' WHERE position = 40")
    connection.close()
    done = command("export", "--log", "--to", file, "--json")
    assert done.refusal["error"] == "store_corrupt"
    assert "event 40" in done.refusal["message"]
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_a_write_that_fails_leaves_the_old_export(file: Path, story: Any) -> None:
    # given a process that may write files of no more than 20 kB
    before = file.read_bytes()
    code = (
        "import resource, signal, sys; from minutebook import Minutebook, MinutebookError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with Minutebook.open(sys.argv[1], read_only=True) as book:\n"
        "    book.head; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "    try: book.export_log(sys.argv[2])\n"
        "    except MinutebookError as error: print(error.code)"
    )
    words = [sys.executable, "-c", code, str(story.root), str(file)]
    done = subprocess.run(words, env=child_environment(), capture_output=True, text=True, check=False)
    # then it is refused with a code, and the old file is whole
    assert done.stdout == "file_too_large\n", done
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_the_api_refuses_what_is_no_book_for_writing(story: Any, file: Path) -> None:
    with Minutebook.open(story.root, read_only=True) as book, pytest.raises(MinutebookError) as refused:
        book.import_log(file)
    assert refused.value.code == "read_only"


# --- following


def follow(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MAIN, "--workspace", str(root), "log", "--follow", *words],
        env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def say(root: Path, text: str, session: str = "s") -> None:
    """An append by a process of its own."""
    code = (
        "import sys; from minutebook import Minutebook\n"
        "with Minutebook.open(sys.argv[1], automatic=False) as book:\n"
        "    book.session(sys.argv[2]).append({'role': 'user', 'content': sys.argv[3]})"
    )
    subprocess.run([sys.executable, "-c", code, str(root), session, text], env=child_environment(), check=True)


def read_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    value = json.loads(process.stdout.readline())
    assert isinstance(value, dict)
    return value


def test_follow_sees_what_other_processes_append_and_ends_at_ctrl_c(story: Any) -> None:
    # given somebody who follows one session
    with follow(
        story.root, "--after", str(story.head), "--session", "mine", "--type", "MessageRecorded", "--json"
    ) as it:
        # when two processes append, to this session and to another
        say(story.root, "not mine", "other")
        say(story.root, "one", "mine")
        assert read_line(it)["body"]["payload"]["source"]["content"] == "one"
        say(story.root, "two", "mine")
        assert read_line(it)["body"]["payload"]["source"]["content"] == "two"
        # then Ctrl-C ends it, as what was asked for was done
        it.send_signal(signal.SIGINT)
        out, err = it.communicate(timeout=120)
        assert (it.returncode, out, err) == (0, "", "")


def test_follow_waits_for_a_book_that_is_only_made_then(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    with follow(root, "--json", "--limit", "2") as it:
        time.sleep(1)
        say(root, "the first")
        assert [read_line(it)["type"], read_line(it)["type"]] == ["SessionOpened", "MessageRecorded"]
        assert it.wait(120) == 0


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_follow_ends_when_nobody_reads_though_nothing_is_appended(story: Any, words: tuple[str, ...]) -> None:
    with follow(story.root, "--after", str(story.head - 1), *words) as it:
        assert it.stdout is not None
        assert it.stderr is not None
        assert it.stdout.readline()
        it.stdout.close()
        assert it.wait(120) == 0
        assert it.stderr.read() == ""


def test_follow_ends_where_no_more_can_match(story: Any, command: Any) -> None:
    done = command("log", "--follow", "--before", "4", "--json")
    assert (done.code, [line["position"] for line in done.lines]) == (0, [1, 2, 3])
    assert command("log", "--follow", "--limit", "0", "--json").out == ""


def test_every_filter_of_the_log_keeps_what_it_names(story: Any, command: Any) -> None:
    # given all events
    events = command("log", "--json").lines
    chosen = next(event for event in events if event["type"] == "MessageRecorded" and event["run"])
    moment = events[len(events) // 2]["time"]
    cases: list[tuple[tuple[str, str], Any]] = [
        (("--after", "30"), lambda event: event["position"] > 30),
        (("--before", "30"), lambda event: event["position"] < 30),
        (("--type", "messagerecorded"), lambda event: event["type"] == "MessageRecorded"),
        (("--session", "build-42-fork"), lambda event: event["session"] == "build-42-fork"),
        (("--run", chosen["run"]), lambda event: event["run"] == chosen["run"]),
        (("--stream", chosen["stream"]), lambda event: event["stream"] == chosen["stream"]),
        (("--since", moment), lambda event: event["time"] >= moment),
        (("--until", moment), lambda event: event["time"] < moment),
    ]
    # when each filter is asked for, and when it is followed, then what it names comes and nothing else
    for words, wanted in cases:
        expected = [event for event in events if wanted(event)]
        assert expected
        assert command("log", *words, "--json").lines == expected
        followed = command("log", *words, "--follow", "--limit", len(expected), "--json")
        assert followed.lines == expected
