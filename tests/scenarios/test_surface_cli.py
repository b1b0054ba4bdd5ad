"""The command line as surface.md fixes it: names, JSON keys, exit codes, refusals, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from stores import held, outside

from minutebook import Minutebook
from minutebook.infrastructure.edges.cli import main

TRANSCRIPT = "transcripts/pi/session-excerpt.jsonl"

SESSION_KEYS = {"session", "messages", "runs", "tokens", "compactions"}
COMPACT_KEYS = {"compaction", "status", "reason", "hidden", "tokens_before", "tokens_after"}
CONTEXT_KEYS = {"session", "position", "memory_revision", "policy", "system", "messages", "tokens", "digest"}
LINE_KEYS = {"position", "id", "role", "content", "state", "covers"}
PROJECTION_KEYS = {"name", "version", "cursor", "head", "lag", "status", "error"}

READING: list[tuple[str, ...]] = [
    ("session", "list"),
    ("session", "show", "-"),
    ("session", "messages", "-"),
    ("context", "build-42"),
    ("context", "build-42", "--at", "30"),
    ("context", "build-42", "--as", "openai"),
    ("context", "build-42", "--as", "anthropic"),
    ("compact", "build-42", "--dry-run"),
    ("compactions", "build-42"),
    ("memory", "show"),
    ("memory", "log"),
    ("memory", "diff", "1", "2"),
    ("memory", "blame"),
    ("memory", "status"),
    ("memory", "quarantine", "list"),
    ("log",),
    ("trace", "1"),
    ("blame", "build-42"),
    ("blame", "build-42", "early-5"),
    ("diff", "--context", "3", "30"),
    ("projections", "list"),
    ("verify",),
    ("status",),
]
"""Every command that looks; on the story each of them succeeds."""


@pytest.fixture
def transcript() -> Path:
    return Path(__file__).parents[1] / "data" / TRANSCRIPT


# --- the JSON answers --------------------------------------------------------------------------------


def test_init_makes_the_folder_and_nothing_else_and_explains_every_setting(command: Any, place: Path) -> None:
    done = command("init", "--json")
    assert done.code == 0
    names = {setting["name"]: setting["origin"] for setting in done.answer["settings"]}
    assert {"context_window", "memory_path", "curate_after_events"} <= names.keys()
    assert set(names.values()) == {"default"}
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == [".tinyagent", ".tinyagent/.gitignore"]
    assert (place / ".tinyagent").stat().st_mode & 0o777 == 0o700


def test_import_answers_what_is_new_and_again_changes_nothing(command: Any, place: Path, transcript: Path) -> None:
    first = command("import", transcript, "--json").answer
    keys = {"session", "format", "messages", "runs", "first_position", "last_position", "skipped"}
    assert keys <= first.keys()
    assert first["format"] == "pi"
    assert first["messages"] > 0
    assert all(set(item) == {"line", "reason"} for item in first["skipped"])
    head = Minutebook.open(place, read_only=True)
    with head:
        before = head.head
    again = command("import", transcript, "--json").answer
    assert (again["messages"], again["first_position"]) == (0, None)
    with Minutebook.open(place, read_only=True) as book:
        assert book.head == before


def test_a_grown_file_adds_only_its_tail(command: Any, tmp_path: Path, transcript: Path) -> None:
    lines = transcript.read_bytes().splitlines(keepends=True)
    grown = tmp_path / "grown.jsonl"
    grown.write_bytes(b"".join(lines[:-6]))
    first = command("import", grown, "--json").answer
    grown.write_bytes(b"".join(lines))
    tail = command("import", grown, "--json").answer
    whole = command("import", transcript, "--session", "whole", "--json").answer
    assert tail["session"] == first["session"]
    assert 0 < tail["messages"] == whole["messages"] - first["messages"]


def test_import_reads_a_folder_and_standard_input(
    command: Any, tmp_path: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(transcript.read_bytes())
    (folder / "notes.txt").write_text("no transcript")
    answers = command("import", folder, "--json").answer
    assert [answer["format"] for answer in answers] == ["pi"]
    with transcript.open() as opened:
        monkeypatch.setattr("sys.stdin", opened)
        assert command("import", "-", "--session", "piped", "--json").answer["session"] == "piped"


def test_session_commands_have_their_keys(command: Any, story: Any) -> None:
    listed = command("session", "list", "--json").answer
    assert all(row.keys() >= SESSION_KEYS for row in listed)
    assert "@person" not in {row["session"] for row in listed}
    shown = command("session", "show", story.session, "--json").answer
    assert shown.keys() >= SESSION_KEYS
    messages = command("session", "messages", story.session, "--json").answer
    assert len(messages) == shown["messages"]
    assert {"position", "id", "role", "state", "source"} <= messages[0].keys()
    assert {message["state"] for message in messages} >= {"original", "compacted"}
    assert [message["position"] for message in messages] == sorted(message["position"] for message in messages)


def test_the_dash_is_the_latest_session(command: Any, story: Any) -> None:
    latest = command("session", "list", "--json").answer[0]["session"]
    assert command("session", "show", "-", "--json").answer["session"] == latest == "short"
    assert command("context", "-", "--json").answer["session"] == "short"
    command("memory", "propose", "add", "A note from the keyboard touches no session of an agent.")
    assert command("session", "show", "-", "--json").answer["session"] == "short"


def test_the_beginning_of_an_id_is_enough_when_it_is_the_only_one(command: Any, story: Any) -> None:
    # Given two sessions that begin alike
    command("session", "fork", "build-42", "--at", "20", "--to", "build-43")
    listed = [row["session"] for row in command("session", "list", "--json").answer]
    # Then what only one of them begins with is that one, and an exact id is itself
    assert command("session", "show", "build-42", "--json").answer["session"] == "build-42"
    assert command("session", "show", "shor", "--json").answer["session"] == "short"
    # And what both begin with names both, and makes no session; three characters are too few to mean anything
    told = command("session", "show", "build", "--json").refusal
    assert told["error"] == "unknown_session"
    assert "build-42, build-42-fork, build-43" in told["message"]
    assert command("session", "show", "sho", "--json").refusal["error"] == "unknown_session"
    assert [row["session"] for row in command("session", "list", "--json").answer] == listed


def test_fork_and_close_answer_the_session(command: Any, story: Any) -> None:
    forked = command("session", "fork", story.session, "--at", "20", "--to", "other", "--json")
    assert forked.answer == {"session": "other"}
    assert command("session", "close", "other", "--json").answer["session"] == "other"
    parent = command("session", "messages", story.session, "--at", "20", "--json").answer
    child = command("session", "messages", "other", "--json").answer
    assert [message["id"] for message in child] == [message["id"] for message in parent]


def test_closing_twice_says_nothing_new(command: Any, story: Any) -> None:
    before = len(command("log", "--session", "short", "--json").lines)
    assert command("session", "close", "short").code == 0
    assert len(command("log", "--session", "short", "--json").lines) == before


def test_context_has_its_keys_and_renders_for_both_providers(command: Any, story: Any) -> None:
    found = command("context", story.session, "--json").answer
    assert found.keys() >= CONTEXT_KEYS
    assert all(line.keys() >= LINE_KEYS for line in found["messages"])
    assert {line["state"] for line in found["messages"]} >= {"original", "summary"}
    summary = next(line for line in found["messages"] if line["state"] == "summary")
    assert summary["role"] == "summary"
    assert summary["covers"]
    openai = command("context", story.session, "--as", "openai").answer
    assert openai["messages"][0]["role"] == "system"
    anthropic = command("context", story.session, "--as", "anthropic").answer
    assert anthropic["messages"][0]["role"] == "user"
    assert anthropic["system"]


def test_the_past_context_is_the_one_that_was_shown(command: Any, story: Any) -> None:
    shown = command("log", "--type", "ContextShown", "--json").lines[-1]
    past = command("context", story.session, "--at", shown["body"]["seen"], "--json").answer
    assert past["digest"] == shown["body"]["digest"]
    assert past["proved"] is True


def test_compact_undo_redo_have_one_shape(command: Any, story: Any) -> None:
    planned = command("compact", story.session, "--dry-run", "--window", "8000", "--json").answer
    assert planned.keys() >= COMPACT_KEYS
    undone = command("compaction", "undo", story.compaction, "--json").answer
    redone = command("compaction", "redo", story.compaction, "--json").answer
    assert undone.keys() >= COMPACT_KEYS
    assert redone.keys() >= COMPACT_KEYS
    assert (undone["status"], redone["status"]) == ("undone", "redone")
    assert redone["hidden"]
    assert undone["tokens_after"] > redone["tokens_after"]
    rows = command("compactions", story.session, "--json").answer
    assert {"committed", "rejected"} <= {row["status"] for row in rows}


def test_compact_commits_a_session_that_has_grown(command: Any, place: Path, conversation: Any) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append(conversation(12))
    done = command("compact", "s", "--window", "8000", "--json")
    assert done.code == 0
    assert done.answer["status"] == "committed"
    assert done.answer["hidden"]
    assert done.answer["tokens_after"] < done.answer["tokens_before"]
    messages = command("session", "messages", "s", "--json").answer
    assert {message["id"] for message in messages if message["state"] == "compacted"} == set(done.answer["hidden"])


def test_memory_commands_have_their_keys(command: Any, story: Any) -> None:
    shown = command("memory", "show", "--json").answer
    assert {"revision", "digest", "entries", "file"} <= shown.keys()
    assert all({"id", "text"} <= entry.keys() for entry in shown["entries"])
    assert shown["file"]["state"] == "clean"
    assert shown["file"]["path"] == ".tinyagent/memory/MEMORY.md"
    log = command("memory", "log", "--json").answer
    assert [row["kind"] for row in log] == ["curated", "manual", "restored"]
    assert all({"revision", "kind", "parent", "position", "time", "digest"} <= row.keys() for row in log)
    assert {"added", "removed", "changed"} <= command("memory", "diff", 1, 2, "--json").answer.keys()
    blame = command("memory", "blame", "--json").answer
    keys = {"entry", "text", "revision", "operation", "run", "messages", "actor"}
    assert all(keys <= row.keys() for row in blame)
    assert blame[0]["run"] == "first"
    assert blame[0]["messages"] == ["ask"]
    status = command("memory", "status", "--json")
    assert {"state", "automatic_curation", "pending", "quarantined", "last_error"} <= status.answer.keys()
    assert (status.answer["pending"], status.answer["quarantined"]) == (1, 1)


def test_proposals_of_a_person_are_admitted_and_curated(command: Any, place: Path) -> None:
    added = command("memory", "propose", "add", "The linter is ruff.", "--json").answer
    assert {"candidate", "status"} <= added.keys()
    assert added["status"] == "admitted"
    job = command("memory", "curate", "--json").answer
    assert {"job", "status", "revision", "reasons"} <= job.keys()
    assert (job["status"], job["revision"]) == ("committed", 1)
    command("memory", "propose", "replace", "linter", "The linter is ruff, with 120 columns.")
    assert command("memory", "curate", "--json").answer["revision"] == 2
    changed = command("memory", "diff", "1", "2", "--json").answer["changed"]
    assert [(row["before"], row["after"]) for row in changed] == [
        ("The linter is ruff.", "The linter is ruff, with 120 columns.")
    ]
    entry = command("memory", "show", "--json").answer["entries"][0]["id"]
    command("memory", "propose", "remove", entry)
    assert command("memory", "curate", "--json").answer["status"] == "committed"
    assert (place / ".tinyagent/memory/MEMORY.md").read_bytes() == b""
    assert command("memory", "curate", "--json").answer["status"] == "nothing"
    blame = command("memory", "blame", "--revision", "2", "--json").answer
    assert blame[0]["actor"] == "person"


def test_sync_restore_and_quarantine_answer_as_they_should(command: Any, story: Any) -> None:
    memory = story.root / ".tinyagent/memory/MEMORY.md"
    memory.write_bytes(memory.read_bytes().replace(b"\n", b"\r\n"))
    assert command("memory", "status").code == 1
    refused = command("memory", "sync", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "memory_not_canonical")
    synced = command("memory", "sync", "--fix", "--json").answer
    assert synced["fixed"] == ["crlf"]
    assert command("memory", "restore", "2", "--json").answer["revision"] == synced["revision"] + 1
    waiting = command("memory", "quarantine", "list", "--json").answer
    assert [row["candidate"] for row in waiting] == [story.quarantined]
    approved = command("memory", "quarantine", "approve", story.quarantined, "--json").answer
    assert approved == {"candidate": story.quarantined, "status": "approved"}
    assert command("memory", "quarantine", "list", "--json").answer == []


def test_log_prints_one_event_a_line_and_filters(command: Any, story: Any) -> None:
    lines = command("log", "--json").lines
    assert [line["position"] for line in lines] == list(range(1, story.head + 1))
    assert all({"position", "type", "stream", "version", "time", "body"} <= line.keys() for line in lines)
    some = command("log", "--json", "--after", 10, "--before", 20, "--type", "messagerecorded").lines
    assert [line["position"] for line in some] == list(range(11, 20))
    mine = command("log", "--json", "--session", "build-42-fork").lines
    assert {line["session"] for line in mine} == {"build-42-fork"}
    assert len(command("log", "--json", "--limit", 3).lines) == 3
    assert command("log", "--json", "--session", "nobody").out == ""


def test_trace_goes_both_ways(command: Any, story: Any) -> None:
    committed = command("log", "--type", "RevisionCommitted", "--json").lines[0]["position"]
    back = command("trace", committed, "--json").answer
    assert {"MessageRecorded", "CandidateProposed", "RevisionPrepared"} <= {
        link["type"] for link in back if link["relation"] == "cause"
    }
    asked = next(row for row in command("session", "messages", story.session, "--json").answer if row["id"] == "ask")
    ahead = command("trace", asked["position"], "--json").answer
    assert {"CandidateProposed", "RevisionCommitted"} <= {
        link["type"] for link in ahead if link["relation"] == "effect"
    }


def test_projections_verify_and_status_have_their_keys(command: Any, story: Any) -> None:
    rows = command("projections", "list", "--json").answer
    assert all(row.keys() >= PROJECTION_KEYS for row in rows)
    names = {"context", "candidates", "evidence", "revisions", "memory_file", "search_index"}
    assert {row["name"] for row in rows} >= names
    rebuilt = command("projections", "rebuild", "--all", "--json").answer
    assert {row["name"] for row in rebuilt} == {row["name"] for row in rows}
    found = command("verify", "--json")
    assert found.code == 0
    assert {"ok", "events", "head", "checks"} <= found.answer.keys()
    assert all({"name", "ok", "detail"} <= check.keys() for check in found.answer["checks"])
    assert found.answer["ok"] is True
    page = command("status", "--json").answer
    assert page["sessions"] == 3
    assert page["head"] >= story.head


# --- looking changes nothing -------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_reading_commands_append_no_event_and_touch_no_file(
    command: Any, story: Any, listing: Any, as_json: bool
) -> None:
    before = (listing(story.root), Minutebook.open(story.root, read_only=True))
    with before[1] as book:
        head = book.head
    for arguments in READING:
        done = command(*arguments, *(["--json"] if as_json else []))
        assert done.code == 0, (arguments, done)
        assert done.err == ""
        assert done.out
    assert listing(story.root) == before[0]
    with Minutebook.open(story.root, read_only=True) as book:
        assert book.head == head == story.head


def test_reading_commands_make_nothing_in_an_empty_folder(command: Any, place: Path) -> None:
    for arguments in READING:
        done = command(*arguments, "--json")
        assert done.code in (0, 1), arguments
        if done.code:
            assert done.refusal["error"].startswith("unknown_"), arguments
        assert list(place.rglob("*")) == [], arguments


def test_reading_commands_refuse_a_folder_that_is_not_there(command: Any, tmp_path: Path) -> None:
    for arguments in READING:
        done = command(*arguments, "--json", workspace=tmp_path / "nowhere")
        assert (done.code, done.refusal["error"]) == (1, "unknown_workspace"), arguments
    assert not (tmp_path / "nowhere").exists()


def test_an_empty_folder_verifies(command: Any, place: Path) -> None:
    done = command("verify", "--json")
    assert (done.code, done.answer["ok"], done.answer["events"]) == (0, True, 0)


READ_ONLY = """
import os, sys
from pathlib import Path
from minutebook.infrastructure.edges.cli import main
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
root, *arguments = sys.argv[1:]
main(["--workspace", root, "--json", *arguments])
"""


@pytest.mark.sqlite_only("a file's permissions; a role that may only read is in the tests of the store")
def test_reading_commands_work_on_a_folder_that_may_not_be_written(story: Any, tmp_path: Path) -> None:
    """Given a book that somebody else owns, when it is looked at, then it is shown, and writing is refused.

    In a folder outside of pytest's, whose own another session of pytest may shut for other users at any moment.
    """
    outside = Path(tempfile.mkdtemp(prefix="minutebook-test-"))
    outside.chmod(0o755)
    root = outside / "work"
    shutil.copytree(story.root, root)
    if os.geteuid() != 0:
        for path in [root, *root.rglob("*")]:
            path.chmod(0o500 if path.is_dir() else 0o400)
        script = READ_ONLY.replace("os.set", "#os.set")
    else:
        for path in [root, *root.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        script = READ_ONLY
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / ".package")}
    for arguments, code in (
        (("context", "build-42"), 0),
        (("verify",), 0),
        (("memory", "propose", "add", "No."), 1),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, str(root), *arguments],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, (arguments, done.stdout[-400:], done.stderr[-400:])
        assert "Traceback" not in done.stderr
        if code:
            assert set(json.loads(done.stderr)) == {"error", "message"}
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(outside)


# --- refusals ----------------------------------------------------------------------------------------

REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("session", "show", "nobody"), "unknown_session"),
    (("session", "messages", "nobody"), "unknown_session"),
    (("session", "fork", "nobody", "--at", "1"), "unknown_session"),
    (("session", "close", "nobody"), "unknown_session"),
    (("session", "fork", "build-42", "--at", "99999"), "unknown_position"),
    (("session", "fork", "build-42", "--at", "3", "--to", "short"), "session_exists"),
    (("session", "fork", "build-42", "--at", "3", "--to", "../up"), "bad_identifier"),
    (("session", "show", "../../etc/passwd"), "bad_identifier"),
    (("session", "messages", "build-42", "--at", "99999"), "unknown_position"),
    (("context", "nobody"), "unknown_session"),
    (("context", "build-42", "--at", "99999"), "unknown_position"),
    (("context", "build-42", "--at", "-1"), "unknown_position"),
    (("context", "build-42", "--as", "pigeon"), "bad_renderer"),
    (("context", "build-42-fork", "--window", "4000"), "compaction_needed"),
    (("context", "build-42", "--window", "50"), "context_window_exceeded"),
    (("compact", "nobody"), "unknown_session"),
    (("compact", "build-42", "--window", "50"), "context_window_exceeded"),
    (("compactions", "nobody"), "unknown_session"),
    (("compaction", "undo", "c-nothing"), "unknown_compaction"),
    (("compaction", "redo", "c-nothing"), "unknown_compaction"),
    (("memory", "show", "--revision", "99"), "unknown_revision"),
    (("memory", "show", "--at", "99999"), "unknown_position"),
    (("memory", "show", "--at", "3", "--revision", "1"), "bad_option"),
    (("memory", "diff", "1", "99"), "unknown_revision"),
    (("memory", "blame", "--revision", "99"), "unknown_revision"),
    (("memory", "restore", "99"), "unknown_revision"),
    (("memory", "propose", "remove", "no such entry"), "target_unknown"),
    (("memory", "propose", "replace", "e", "Both entries hold that letter."), "target_ambiguous"),
    (("memory", "quarantine", "approve", "k-nothing"), "not_quarantined"),
    (("memory", "quarantine", "reject", "k-nothing"), "not_quarantined"),
    (("log", "--type", "Nothing"), "unknown_type"),
    (("log", "--stream", "x"), "bad_option"),
    (("log", "--since", "yesterday"), "bad_option"),
    (("trace", "99999"), "unknown_position"),
    (("trace", "9" * 25), "bad_value"),
    (("projections", "rebuild", "nothing"), "unknown_projection"),
    (("projections", "retry", "nothing"), "unknown_projection"),
    (("projections", "skip", "nothing"), "unknown_projection"),
    (("import", "/no/such/file"), "transcript_unreadable"),
    (("--database", "mysql://x/y", "status"), "bad_database_url"),
]


def test_every_refusal_has_its_code_its_mend_and_changes_nothing(command: Any, story: Any, listing: Any) -> None:
    before = listing(story.root)
    for number, (arguments, code) in enumerate(REFUSED):
        done = command(*arguments, "--json")
        assert done.code == 1, (arguments, done)
        refusal = done.refusal
        assert refusal["error"] == code, (arguments, refusal)
        assert len(refusal["message"]) > 20
        if number % 4:
            continue
        told = command(*arguments)
        assert (told.code, told.out) == (1, ""), arguments
        assert told.err.startswith(f"{code}: "), arguments
    assert listing(story.root) == before
    with Minutebook.open(story.root, read_only=True) as book:
        # A person's refused proposals are runs that failed: they stand in the log, nothing else does.
        after = {event["type"] for event in book.log(after=story.head)}
        assert after <= {"RunStarted", "RunFailed"}


MISUSED: list[tuple[str, ...]] = [
    ("nonsense",),
    ("session",),
    ("session", "nonsense"),
    ("context",),
    ("context", "s", "--window", "0"),
    ("context", "s", "--window", "many"),
    ("memory", "restore", "x"),
    ("memory", "diff", "1"),
    ("session", "fork", "s"),
    ("session", "messages", "s", "--limit", "-1"),
    ("log", "--limit", "-1"),
    ("projections", "rebuild"),
    ("status", "--nonsense"),
    ("trace",),
]


def test_misuse_is_status_two(command: Any, place: Path) -> None:
    for arguments in MISUSED:
        done = command(*arguments)
        assert done.code == 2, (arguments, done)
        if arguments != ("session",):
            told = command(*arguments, "--json")
            assert (told.code, told.refusal["error"]) == (2, "usage"), arguments
    assert list(place.rglob("*")) == []


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "bad_transcript"),
        (b"\x00\x01\x02" * 100, "bad_transcript"),
        (b"\xff\xfe{}", "bad_transcript"),
        (b"hello, this is prose\nand more of it\n", "bad_transcript"),
        (b'{"some": "json"}', "bad_transcript"),
        (b"[" * 100_000, "bad_transcript"),
    ],
    ids=["empty", "binary", "not-utf8", "prose", "other-json", "deep"],
)
def test_what_is_no_transcript_is_refused(command: Any, place: Path, tmp_path: Path, data: bytes, code: str) -> None:
    file = tmp_path / "input.jsonl"
    file.write_bytes(data)
    done = command("import", file, "--json")
    assert (done.code, done.refusal["error"]) == (1, code)
    assert command("session", "list", "--json").answer == []


def test_a_bad_line_is_reported_with_its_number_and_the_rest_is_taken(
    command: Any, tmp_path: Path, transcript: Path
) -> None:
    lines = transcript.read_bytes().splitlines(keepends=True)
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"".join([*lines[:4], b'{"broken": \n', b"\xff\xfe\n", *lines[4:]]))
    clean = command("import", transcript, "--session", "clean", "--json").answer
    found = command("import", file, "--session", "broken", "--json").answer
    assert found["messages"] == clean["messages"]
    assert {5, 6} <= {item["line"] for item in found["skipped"]}
    assert all(item["reason"] for item in found["skipped"])


@pytest.mark.sqlite_only("a file; a schema of others is in the tests of the store")
def test_a_database_that_is_not_ours_is_refused_untouched(command: Any, place: Path) -> None:
    folder = place / ".tinyagent"
    folder.mkdir(mode=0o700)
    database = folder / "minutebook.db"
    database.write_bytes(b"this is no database, it is a letter to somebody" * 100)
    for arguments in (("status",), ("session", "list"), ("memory", "propose", "add", "x")):
        done = command(*arguments, "--json")
        assert (done.code, done.refusal["error"]) == (1, "not_a_book"), (arguments, done)
    assert database.read_bytes() == b"this is no database, it is a letter to somebody" * 100


def test_a_database_that_somebody_holds_is_named(command: Any, story: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEBOOK_LOCK_TIMEOUT_SECONDS", "0.05")
    with held(story.root):
        refused = command("memory", "propose", "add", "The linter is ruff.", "--json")
        assert (refused.code, refused.refusal["error"]) == (1, "store_locked")
        # A reader waits for nobody.
        assert command("context", story.session, "--json").code == 0
        assert command("session", "list", "--json").code == 0


def test_a_newer_schema_is_refused_unchanged(command: Any, story: Any) -> None:
    with outside(story.root) as raw:
        sqlite = raw.dialect.name == "sqlite"
        raw.exec_driver_sql("PRAGMA user_version=9999" if sqlite else "UPDATE store_schema SET version = 9999")
    for arguments in (("status",), ("memory", "propose", "add", "x")):
        done = command(*arguments, "--json")
        assert (done.code, done.refusal["error"]) == (1, "schema_newer"), (arguments, done)


def test_a_bad_setting_is_named(command: Any, place: Path) -> None:
    (place / "minutebook.toml").write_text("context_windw = 3\n")
    assert command("status", "--json").refusal["error"] == "bad_setting"
    (place / "minutebook.toml").write_text('context_window = "many"\n')
    refusal = command("init", "--json").refusal
    assert refusal["error"] == "bad_setting"
    assert "context_window" in refusal["message"]
    assert "minutebook.toml" in refusal["message"]


# --- text for people ---------------------------------------------------------------------------------


def test_stored_text_cannot_steer_the_terminal(command: Any, place: Path) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u200bx\r\ud800 done"
    with Minutebook.open(place, automatic=False) as book:
        session = book.session("evil")
        with session.run() as run:
            run.append({"role": "user", "content": evil}, id="m")
            run.append({"role": "assistant", "content": evil, "name": "\x1b[1m"})
            run.memory({"operation": "add", "text": evil}, "tool")
    position = 3
    for arguments in (
        ("session", "show", "-"), ("session", "messages", "-"), ("context", "-"), ("log",), ("trace", position),
        ("memory", "quarantine", "list"), ("session", "list"), ("status",),
    ):  # fmt: skip
        done = command(*arguments)
        assert done.code == 0, arguments
        assert not set(done.out) & set("\x1b\x07\x9b\u202e\u200b\r\ud800"), arguments
    told = command("session", "messages", "-", "--json").answer
    assert told[0]["source"]["content"] == evil


def test_what_only_python_can_write_is_printed_as_json_too(command: Any, place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "big", "n": 10**40, "half": "\ud83d"})
    for arguments in (("session", "messages", "s"), ("log",), ("context", "s"), ("session", "show", "s")):
        assert command(*arguments, "--json").code == 0, arguments
    assert command("session", "messages", "s", "--json").answer[0]["source"]["n"] == 10**40


def test_json_may_stand_anywhere_but_not_after_the_double_dash(command: Any, story: Any) -> None:
    for arguments in (("--json", "session", "list"), ("session", "--json", "list"), ("session", "list", "--json")):
        assert isinstance(command(*arguments).answer, list)
    told = command("memory", "propose", "add", "--", "--json")
    assert told.code == 0
    assert "admitted" in told.out


def test_the_workspace_may_be_named_anywhere_and_in_the_environment(
    story: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str) -> list[Any]:
        with pytest.raises(SystemExit):
            main(list(arguments))
        return list(json.loads(capsys.readouterr().out))

    assert run("session", "list", "--json", "--workspace", str(story.root))
    assert run("session", "list", f"--workspace={story.root}", "--json")
    monkeypatch.setenv("MINUTEBOOK_WORKSPACE", str(story.root))
    assert run("session", "list", "--json")


# --- a few real processes ----------------------------------------------------------------------------


def minutebook(*arguments: object, input: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / ".package")}
    return subprocess.run(
        [sys.executable, "-c", "from minutebook.infrastructure.edges.cli import main; main()", *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False, input=input, timeout=300,
    )  # fmt: skip


def test_real_processes_keep_the_contract(story: Any, transcript: Path) -> None:
    root = story.root
    assert minutebook("--version").stdout.startswith("minutebook ")
    piped = minutebook("--workspace", root, "import", "-", "--json", "--session", "p", input=transcript.read_text())
    assert json.loads(piped.stdout)["session"] == "p"
    refused = minutebook("context", "nobody", "--workspace", root, "--json")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert json.loads(refused.stderr)["error"] == "unknown_session"
    assert minutebook("--workspace", root, "nonsense").returncode == 2


def test_a_reader_that_has_enough_is_no_fault(story: Any) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / ".package")}
    code = "from minutebook.infrastructure.edges.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--workspace", str(story.root), "log", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 0


def test_follow_prints_what_is_appended_and_stops_at_its_limit(story: Any) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / ".package")}
    code = "from minutebook.infrastructure.edges.cli import main; main()"
    arguments = ["--workspace", str(story.root), "log", "--follow", "--after", str(story.head), "--limit", "1"]
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--json"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        with Minutebook.open(story.root, automatic=False) as book:
            book.session(story.session).append({"role": "user", "content": "and now?"})
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["type"] == "MessageRecorded"
        assert process.wait(120) == 0
