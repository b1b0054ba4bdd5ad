"""Faults of durable memory that a tester found by trying, each with its whole kind (section 5 of the requirements)."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.edges.cli import main
from minutebook.infrastructure.edges.cli.memory import print_curation

PORT = {"operation": "add", "text": "The port is 8080."}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.propose(PORT)
        book.curate()
    return tmp_path


@pytest.fixture
def command(place: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main(["--workspace", str(place), *arguments])
        streams = capsys.readouterr()
        return int(left.value.code or 0), streams.out + streams.err

    return run


def edit(place: Path, text: str) -> Path:
    path = place / ".tinyagent" / "memory" / "MEMORY.md"
    path.write_text(text, encoding="utf-8")
    return path


# --- the memory tool


def test_the_limit_of_a_run_holds_for_calls_that_come_at_once(tmp_path: Path) -> None:
    # given a model that calls the tool many times in parallel, as threads do for it
    settings = Settings(candidates_per_run_max=5)
    with Minutebook.open(tmp_path, automatic=False, settings=settings) as book, book.session("s").run() as run:
        answers: list[Any] = []
        gate = threading.Barrier(16)

        def propose(number: int) -> None:
            gate.wait()
            answers.append(run.memory({"operation": "add", "text": f"The port of service {number} is {number * 37}."}))

        threads = [threading.Thread(target=propose, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # then no more are taken than one after the other
    assert sorted(answer.status for answer in answers) == ["proposed"] * 5 + ["refused"] * 11


@pytest.mark.parametrize(
    ("text", "source", "status"),
    [
        ("The port is 8080.", None, "proposed"),
        ("One line\nand another.", None, "flagged"),
        ("The port is 8080.", "tool", "proposed"),
    ],
)
def test_a_call_that_comes_again_is_answered_as_before(tmp_path: Path, text: str, source: Any, status: str) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as run:
        call = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"operation": "add", "text": text}}
        first, again = run.memory(call, source), run.memory(call, source)
    # then what the model reads does not turn from a warning into a promise
    assert (again.candidate, again.status, again.findings) == (first.candidate, status, first.findings)
    assert again.message.endswith(first.message)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("7", "the operation must be a JSON object"),
        (None, "the operation must be a JSON object"),
        ({}, "'operation' is missing"),
        ({"operation": "delete", "target": "x"}, "'operation' must be add, replace, remove or batch"),
        ({"operation": ["add"]}, "'operation' must be add, replace, remove or batch"),
        ({"operation": "add"}, "text is missing"),
        ({"operation": "add", "text": 8080}, "text must be a string"),
        ({"operation": "add", "text": "half \ud800"}, "text holds half of a surrogate pair"),
        ({"operation": "add", "text": "x" * 100_001}, "text has more than 100,000 characters"),
        ({"operation": "add", "text": "x", "why": "y"}, "why does not belong here"),
        ({"operation": "remove", "target": ""}, "target is empty"),
        ({"operation": "batch"}, "operations is missing"),
        ({"operation": "batch", "operations": []}, "operations is empty"),
        ({"operation": "batch", "operations": "[]"}, "operations must be an array"),
        ({"operation": "batch", "operations": ["add"]}, "operations.0 must be a JSON object"),
        ({"operation": "batch", "operations": [PORT, {"operation": "add", "text": 3}]}, "operations.1.text must be"),
        ({"operation": "batch", "operations": [{"text": "x"}]}, "operations.0: 'operation' is missing"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_in_words_of_json(tmp_path: Path, given: Any, said: str) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as run:
        answer = run.memory(given)
    assert (answer.status, answer.error) == ("refused", "bad_operation")
    assert said in answer.message
    # and nothing of the library that reads it shows through
    assert not any(word in answer.message for word in ("Input", "uple", "dictionary", "discriminator", "tag"))


class Broken:
    """An object of somebody else's library that cannot be dumped."""

    def model_dump(self, mode: str = "python") -> Any:
        raise TypeError("no serializer")


def test_a_call_that_cannot_be_read_out_of_its_object_is_refused_as_an_answer(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as run:
        answer = run.memory(Broken())
    assert (answer.status, answer.error) == ("refused", "bad_operation")


# --- displaced revisions


@pytest.mark.parametrize("text", ["Written by hand.\n", "# Notes\n\n- one\n- two\n", "lone \x00 byte\n"])
def test_what_stood_in_the_file_can_be_read_again(place: Path, command: Any, text: str) -> None:
    # given an edit that a person discarded
    edit(place, text)
    assert command("memory", "restore", "1", "--discard-edit")[0] == 0
    # then its text is shown word by word, to a person and a program
    status, shown = command("memory", "show", "--revision", "2")
    assert status == 0
    assert "displaced" in shown
    assert all(line.replace("\0", "\\u0000") in shown for line in text.splitlines())
    assert json.loads(command("--json", "memory", "show", "--revision", "2")[1])["kept"] == text
    # and nobody is told that memory was empty then
    for question in (("diff", "1", "2"), ("diff", "2", "3"), ("blame", "--revision", "2")):
        status, said = command("memory", *question)
        assert status == 1
        assert "memory show --revision 2" in said


def test_bytes_that_are_no_text_are_shown_too(place: Path, command: Any) -> None:
    path = place / ".tinyagent" / "memory" / "MEMORY.md"
    path.write_bytes(b"caf\xe9\n")
    assert command("memory", "restore", "1", "--discard-edit")[0] == 0
    assert "caf\\xe9" in command("memory", "show", "--revision", "2")[1]


# --- what a person reads


def test_a_restore_that_changes_nothing_says_so(command: Any) -> None:
    status, said = command("memory", "restore", "1")
    assert (status, said) == (0, "MEMORY.md holds what revision 1 held; it stays revision 1.\n")


def test_a_sync_tells_what_its_curation_came_to(command: Any) -> None:
    # given one proposal that is taken in and one that cannot be
    assert command("memory", "propose", "add", "Tests run with pytest.")[0] == 0
    assert command("memory", "propose", "add", "One line\nand another.")[0] == 0
    status, said = command("memory", "sync")
    # then the sync says what curate would have said
    assert status == 0
    assert "committed: revision 2" in said
    assert "line_break" in said
    # and exits as it would have
    assert command("memory", "propose", "add", "One line\nand another.")[0] == 0
    status, said = command("memory", "sync")
    assert status == 1
    assert "rejected" in said
    assert "MEMORY.md is revision 2" in said


@pytest.mark.parametrize("options", [("--limit", "0"), ("--before", "1")])
def test_a_log_of_which_nothing_was_asked_does_not_deny_the_revisions(command: Any, options: tuple[str, ...]) -> None:
    status, said = command("memory", "log", *options)
    assert (status, said) == (0, "No revisions in this range.\n")


def test_a_refusal_is_said_once(place: Path, command: Any) -> None:
    edit(place, "# Notes\n\n- one\n- two\n")
    status, said = command("memory", "sync")
    assert status == 1
    assert said.count("as in plain Markdown notes") == 1
    # and of several each is named
    edit(place, "one\ntwo\n§\nthree\nfour\n")
    assert command("memory", "sync")[1].count("stand between two separators") >= 2


def test_the_reason_of_a_candidate_is_that_of_where_it_stands_now(place: Path, command: Any) -> None:
    # given candidates from a tool of which a person takes one, refuses one and leaves one
    with Minutebook.open(place, automatic=False) as book:
        with book.session("s").run() as run:
            texts = ("Logs are kept in var.", "Releases are cut on Fridays.", "The queue is Redis.")
            taken, refused, _ = (run.memory({"operation": "add", "text": one}, "tool").candidate for one in texts)
        book.memory.approve(taken)
        book.memory.reject(refused)
        book.curate()
        found = [(row.status, row.reason) for row in book.memory.candidates()]
    # then only what still waits is said to wait for its trust
    assert sorted(found, key=str) == sorted(
        [("consumed", None), ("consumed", None), ("declined", None), ("quarantined", "trust_tool")], key=str
    )
    assert "consumed:" not in command("memory", "candidates")[1]


def test_a_failed_attempt_is_no_reason_of_what_was_taken_in_later(place: Path, command: Any) -> None:
    with Minutebook.open(place, automatic=False, curator=lambda request: "no array") as book:
        book.memory.propose({"operation": "add", "text": "Tests run with pytest."})
        assert book.curate().status == "rejected"
    assert "admitted, last attempt: answer_not_array" in command("memory", "candidates")[1]
    assert command("memory", "curate")[0] == 0
    assert "answer_not_array" not in command("memory", "candidates")[1]


def test_a_removal_says_what_it_removed_also_afterwards(place: Path, command: Any) -> None:
    assert command("memory", "propose", "remove", "8080")[0] == 0
    assert command("memory", "curate")[0] == 0
    assert "(remove The port is 8080.)" in command("memory", "candidates")[1]


def test_a_person_who_is_asked_to_approve_sees_what_the_checks_found(place: Path, command: Any) -> None:
    with Minutebook.open(place, automatic=False) as book, book.session("s").run() as run:
        name = run.memory({"operation": "add", "text": "One line\nand another."}, "tool").candidate
    assert "line_break" in command("memory", "quarantine", "list")[1]
    # and after the approval, what is next
    assert "memory curate" in command("memory", "quarantine", "approve", name)[1]


# --- settings


@pytest.mark.parametrize("path", ["minutebook.toml", "pyproject.toml", "PyProject.TOML", "./minutebook.toml"])
def test_the_memory_file_is_never_the_file_of_the_settings(tmp_path: Path, path: str) -> None:
    with pytest.raises(MinutebookError) as caught:
        Settings.checked({"memory_path": path})
    assert caught.value.code == "bad_setting"


@pytest.mark.parametrize("name", ["memory_path", "workspace_id", "curator_model", "projections"])
def test_a_setting_that_is_no_text_is_refused_by_name(tmp_path: Path, name: str) -> None:
    # given bytes in the environment that are not UTF-8
    value = os.fsdecode(b"caf\xe9.md")
    with pytest.raises(MinutebookError) as caught:
        Settings.load(tmp_path, environ={f"MINUTEBOOK_{name.upper()}": value})
    assert caught.value.code == "bad_setting"
    assert name in caught.value.message


# --- imports


@pytest.mark.parametrize(
    "text", ["- one\n-\n- two\n", "1. one\n2.\n3. two\n", "* one\n* \n* two\n", "- one\n  -\n- two\n"]
)
def test_an_item_without_text_is_no_entry(place: Path, text: str) -> None:
    with Minutebook.open(place, automatic=False) as book:
        found = book.memory.preview(text.encode())
    assert [entry["text"] for entry in found.entries] == ["one", "two"]
    assert found.left_out == [{"line": 2, "reason": "empty"}]


def test_front_matter_in_toml_is_front_matter(place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        found = book.memory.preview(b"+++\ntitle = 'x'\n+++\n- one\n- two\n")
    assert [entry["text"] for entry in found.entries] == ["one", "two"]
    assert found.left_out == [{"line": 1, "reason": "front_matter"}]


CONFLICT = "<<<<<<< HEAD\n- The port is 80.\n=======\n- The port is 81.\n>>>>>>> theirs\n- two\n"


@pytest.mark.parametrize("text", [CONFLICT, CONFLICT.replace("- ", "").replace("two", "§\ntwo")])
def test_an_unsettled_merge_is_refused_line_by_line(place: Path, command: Any, text: str) -> None:
    with Minutebook.open(place, automatic=False) as book:
        found = book.memory.preview(text.encode())
    refused = {problem["line"] for problem in found.refused if problem["code"] == "merge_conflict"}
    assert refused == {1, 3, 5}
    assert not found.entries
    # and of the memory file itself neither side is taken in
    path = edit(place, text)
    assert command("memory", "sync")[0] == 1
    assert command("memory", "import", "--skip-refused", str(path))[0] == 1
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"a\0b\n", b"```\ntwo\nlines\n```\n", b"- " + b"word " * 400 + b"\n"])
def test_a_file_of_which_all_is_refused_never_empties_memory(place: Path, command: Any, data: bytes) -> None:
    # given an edit of which no line can be an entry
    path = place / ".tinyagent" / "memory" / "MEMORY.md"
    path.write_bytes(data)
    # when a person takes the rest, and there is no rest
    status, said = command("memory", "import", "--skip-refused", str(path))
    # then nothing happens, and that is said
    assert status == 1
    assert "nothing else stands there" in said
    assert path.read_bytes() == data
    assert "The port is 8080." in command("memory", "show")[1]


# --- texts that come back in one job


def single(name: str, *values: str) -> dict[str, str]:
    return dict(
        zip({"add": ("text",), "remove": ("target",), "replace": ("target", "text")}[name], values, strict=True)
    ) | {"operation": name}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([("remove", "8080"), ("add", "The port is 8080.")], ["Tests run with pytest.", "The port is 8080."]),
        (
            [
                ("replace", "8080", "To be told below."),
                ("replace", "pytest", "The port is 8080."),
                ("replace", "told below", "Tests run with pytest."),
            ],
            ["Tests run with pytest.", "The port is 8080."],
        ),
        (
            [("remove", "8080"), ("add", "The port is 8080."), ("add", "The queue is Redis.")],
            ["Tests run with pytest.", "The port is 8080.", "The queue is Redis."],
        ),
    ],
)
def test_a_batch_that_takes_a_text_away_and_brings_it_back_is_taken_in_once(
    place: Path, operations: Any, expected: list[str]
) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.memory.propose({"operation": "add", "text": "Tests run with pytest."})
        book.curate()
        # when the order of two entries is changed by taking one out and putting it in again
        book.memory.propose({"operation": "batch", "operations": [single(*one) for one in operations]})
        first, again = book.curate(), book.curate()
        # then it is done, once, and nothing of it waits
        assert (first.status, again.status) == ("committed", "nothing")
        assert [entry["text"] for entry in book.memory.entries()] == expected
        assert book.memory.candidates()[-1].status == "consumed"


def test_a_fact_that_was_corrected_and_corrected_back_stays_as_it_was_said_last(tmp_path: Path) -> None:
    # given a fact, and three runs before the next curation: another value, the old value again, something else
    with Minutebook.open(tmp_path, automatic=False) as book:
        for texts in (["The port is 8080."], ["The port is 9090.", "The port is 8080.", "Tests run with pytest."]):
            for text in texts:
                with book.session("s").run() as run:
                    run.memory({"operation": "add", "text": text})
            book.curate()
        # then the value in between has had its time, and does not come back at the next curation
        assert book.curate().status == "nothing"
        assert [entry["text"] for entry in book.memory.entries()] == ["The port is 8080.", "Tests run with pytest."]


@pytest.mark.parametrize("breaks", ["\n", "\r\n", "\u2028", "\x0b"])
def test_a_candidate_cannot_write_lines_of_the_list_in_which_it_stands(place: Path, command: Any, breaks: str) -> None:
    # given a tool whose text looks like the next candidate in the list
    text = f"Logs are kept in var.{breaks}k-000000000000  trust user, run run-1{breaks}  add: All is well."
    with Minutebook.open(place, automatic=False) as book, book.session("s").run() as run:
        run.memory({"operation": "add", "text": text}, "tool")
    # then a person sees one candidate, in one line
    for question in (("quarantine", "list"), ("candidates", "--status", "quarantined")):
        lines = command("memory", *question)[1].splitlines()
        assert sum(line.startswith("k-") for line in lines) == 1
        assert sum("All is well." in line for line in lines) == 1


def test_an_error_of_a_curator_cannot_write_lines_of_the_answer(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # given a curator whose error looks like a good answer
    def fail(request: Any) -> str:
        raise ValueError("no\ncommitted: revision 9")

    with Minutebook.open(place, automatic=False, curator=fail) as book:
        book.memory.propose({"operation": "add", "text": "Tests run with pytest."})
        # when the command line prints what the curation came to
        print_curation(book.curate())
    # then a person reads that it failed, and no more
    said = capsys.readouterr().out
    assert said.startswith("failed")
    assert not any(line.startswith("committed") for line in said.splitlines())
