"""What a person sees of an erasure: the command line, tombstones everywhere, and a fact that is not learned again."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest
from canaries import places

from minutebook import Minutebook, MinutebookError, Settings, aio
from minutebook.domain.relearning import Forgotten
from minutebook.infrastructure.store.export import exported
from minutebook.verify import verify

QUIET = Settings(curation_automatic=False)
TEXT = "The staging gate of zq7xk-house opens with code 4711."
FILE = Path(".tinyagent") / "memory" / "MEMORY.md"


@pytest.fixture
def entry(place: Path) -> str:
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        with book.session("s").run() as run:
            run.append({"role": "user", "content": f"Note it: {TEXT}"}, id="m1")
            run.memory({"operation": "add", "text": TEXT})
            run.memory({"operation": "add", "text": "Tea is in the kitchen, second shelf."})
        book.curate()
        return str(book.memory.entries()[0]["id"])


def refused(book: Minutebook, text: str) -> Any:
    with book.session("again").run() as run:
        run.append({"role": "user", "content": "Once more."})
        return run.memory({"operation": "add", "text": text})


# --- not learned again


def test_an_erased_fact_is_not_learned_again_until_a_person_lifts_it(place: Path, entry: str) -> None:
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        erasure = book.erase("entry", entry, reason="a code")["erasure"]
        for text in (TEXT, TEXT.lower(), "Staging gate of the zq7xk-house opens with code 4711",
                     "The staging gate of zq7xk-house always opens with code 4711."):  # fmt: skip
            answer = refused(book, text)
            assert (answer["status"], answer["error"], answer["candidate"]) == ("refused", "erased", None), text
            assert "minutebook erase allow" in answer["message"]
        for text in ("The staging gate of zq7xk-house opens with code 4712.", "The gate is painted green by now."):
            assert refused(book, text)["status"] == "proposed", text
        assert not [event for event in book.log(type="CandidateProposed") if TEXT in str(event["body"])]
        assert book.erasures.list()[0]["blocks_relearning"] is True
        block = next(book.log(type="RelearningBlocked"))
        assert "zq7xk" not in json.dumps(block)

        assert book.erasures.allow(erasure)["status"] == "allowed"

        assert refused(book, TEXT)["status"] == "proposed"
        assert next(book.log(type="RelearningBlocked"))["body"]["payload"] is None, "its digests went with it"
        with pytest.raises(MinutebookError) as nothing:
            book.erasures.allow(erasure)
        assert nothing.value.code == "nothing_blocked"
        assert book.verify()["ok"]
        # what lifted the block stands for the erasure of its digests, in an export too
        report = verify(io.BytesIO(b"".join(exported(book._runtime.log))))
        assert report.ok, report.detail
        assert report.erased > 1


def test_a_person_may_write_it_back_by_hand_and_says_so(place: Path, entry: str) -> None:
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        book.erase("entry", entry, reason="a code")
        file = place / FILE
        file.write_text(file.read_text() + f"§\n{TEXT}\n")
        with pytest.raises(MinutebookError) as declined:
            book.memory.sync()
        assert declined.value.code == "memory_invalid"
        assert declined.value.details["problems"][0]["code"] == "erased"
        book.memory.sync(allow=["erased"])
        assert book.memory.entries()[-1]["text"] == TEXT
        assert book.memory.blame()[-1]["overrides"] == ["erased"]


def test_an_erasure_can_leave_no_block(place: Path, entry: str) -> None:
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        book.erase("entry", entry, reason="written wrongly", block=False)
        assert refused(book, TEXT)["status"] == "proposed"
        assert list(book.log(type="RelearningBlocked")) == []


def test_what_is_kept_of_a_forgotten_text_stands_for_no_word_of_it() -> None:
    kept = Forgotten.of([TEXT, "Bob"], b"0" * 16)
    assert len(kept.whole) == 1, "a text of one word leaves nothing that could be looked up"
    # All words but one that can be missed: five of the eight that mean something name nothing exactly.
    assert 4 <= len(kept.less) <= 8
    for word in ("staging", "gate", "zq7xk", "house", "code", "4711", "opens"):
        assert not kept.knows(word)
    assert not kept.knows("Bob")
    assert not Forgotten.of([TEXT], b"1" * 16).whole & kept.whole
    assert Forgotten.read(json.loads(json.dumps(kept.content))) == kept


# --- tombstones


def test_a_tombstone_says_who_when_and_why_wherever_the_text_stood(place: Path, entry: str, command: Any) -> None:
    done = command("erase", "message", "m1", "--reason", "asked by phone", "--json").answer
    place_of = done["erased"]["position"]
    message = command("session", "messages", "s", "--json").answer[0]
    assert (message["state"], message["content"]) == ("erased", "[This message was erased.]")
    assert message["erased"]["reason"] == "asked by phone"
    assert message["erased"]["actor"] == "person"
    assert message["erased"]["erasure"] == done["erasure"]
    event = next(line for line in command("log", "--json").lines if line["position"] == place_of)
    assert event["body"]["erased"] is True
    assert event["body"]["payload"] is None
    traced = command("trace", place_of, "--json").answer
    assert "PayloadsErased" in [row["type"] for row in traced]
    assert traced[0]["erased"] or any(row["erased"] for row in traced)
    asked = next(line["position"] for line in command("log", "--type", "ErasureRequested", "--json").lines)
    assert command("trace", asked, "--json").answer
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        line = book.find_session("s").blame("m1")["lines"][0]
        assert "its text was erased" in line["why"]
        assert book.recall(place_of)[0]["content"] == "[This message was erased.]"
        assert book.memory.show(1)["entries"][0]["text"] == "[This entry was erased.]"
        assert next(row["text"] for row in book.memory.blame(1)) == "[This entry was erased.]"
        with pytest.raises(MinutebookError) as again, book.session("s").run() as run:
            run.append({"role": "user", "content": "The same id."}, id="m1")
        assert again.value.code == "message_erased"
    assert command("verify").code == 0


# --- the command line


def test_the_command_line_erases_lists_shows_and_allows(place: Path, entry: str, command: Any) -> None:
    would = command("erase", "entry", entry, "--dry-run", "--json").answer
    assert set(would) >= {"erased", "derived", "receipt", "elsewhere"}
    assert would["receipt"] is None
    assert {item["what"] for item in would["derived"]} == {"entry", "candidate", "revision", "message"}
    assert command("erase", "list").out.strip() == "Nothing was erased."
    said = command("erase", "entry", entry, "--dry-run").out
    assert "would be erased" in said
    done = command("erase", "entry", entry, "--reason", "a code")
    assert done.code == 0
    assert "Receipt x-" in done.out
    row = command("erase", "list", "--json").answer[0]
    assert (row["status"], row["reason"], row["kind"], row["id"]) == ("completed", "a code", "entry", entry)
    shown = command("erase", "show", row["erasure"], "--json").answer
    assert shown["receipt"]["chain"]
    assert shown["receipt"]["wiped"] in ("vacuumed_and_truncated", "vacuumed")
    assert "a code" in command("erase", "show", row["erasure"]).out
    assert row["erasure"] in command("erase", "list").out
    assert command("erase", "finish").out.strip() == "No erasure is unfinished."
    assert command("erase", "allow", row["erasure"]).code == 0
    assert command("erase", "show", "x-none", "--json").refusal["error"] == "unknown_erasure"
    assert command("erase", "entry", entry, "--reason", "x", "--json").refusal["error"] == "already_erased"
    assert "erased" in [line["kind"] for line in command("memory", "log", "--json").answer]
    assert places(place, "zq7xk-house") == []


def test_an_entry_can_go_from_memory_alone(place: Path, entry: str, command: Any) -> None:
    done = command("erase", "entry", entry, "--keep-messages", "--reason", "only memory", "--json").answer
    assert [item["id"] for item in done["elsewhere"]] == ["m1"]
    assert command("session", "messages", "s", "--json").answer[0]["state"] == "original"


def test_a_message_is_named_by_its_position_or_with_its_session(place: Path, command: Any) -> None:
    with Minutebook.open(place, settings=QUIET, automatic=False) as book:
        for name in ("a", "b"):
            with book.session(name).run() as run:
                run.append({"role": "user", "content": f"Here is {name}."}, id="m")
        last = book.find_session("b").messages()[0]["position"]
    refusal = command("erase", "message", "m", "--reason", "which", "--json").refusal
    assert refusal["error"] == "message_ambiguous"
    assert command("erase", "message", "m", "--session", "a", "--reason", "this", "--json").code == 0
    assert command("erase", "message", last, "--reason", "that", "--json").answer["erased"]["session"] == "b"


def test_the_awaited_twin_erases_too(place: Path, entry: str) -> None:
    async def erase() -> Any:
        async with aio.Minutebook.open(place, settings=QUIET, automatic=False) as book:
            done = await book.erase("entry", entry, reason="a code")
            return done, await book.erasures.list()

    done, listed = asyncio.run(erase())
    assert done["receipt"]["erasure"] == listed[0]["erasure"]
