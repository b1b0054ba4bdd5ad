"""Finding what was said and is remembered, from Python, the command line and by the agent (D17)."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings, aio

TALK = [
    {"role": "user", "content": "Why does the build fail in src/app.py?"},
    {"role": "assistant", "content": "make is too old: it is 4.2, and 4.3 is needed."},
    {"role": "user", "content": "我们喜欢猫。 Please rename getUserName."},
    {"role": "assistant", "content": "Renamed it; the port stays 8080."},
]


def talk(book: Minutebook, session: str = "s") -> list[int]:
    with book.session(session).run(id=f"{session}-run") as run:
        positions = run.append(TALK, id=f"{session}-m")
        run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
    book.curate()
    assert isinstance(positions, list)
    return positions


def texts(hits: list[Any]) -> list[str]:
    return [hit["text"] for hit in hits]


def test_a_hit_leads_back_to_its_source(book: Minutebook) -> None:
    positions = talk(book)
    hit = book.search("why did the build fail", kind="messages")[0]
    assert (hit.kind, hit.id, hit.position, hit.session, hit.run) == ("messages", "s-m-0", positions[0], "s", "s-run")
    assert hit.text == TALK[0]["content"] == book.recall(hit.position)[0]["content"]
    assert hit.passage in hit.text
    assert hit.words == ["build", "fail"]
    assert hit.score == pytest.approx(hit.factors["bm25"] * hit.factors["recency"] * hit.factors["trust"], rel=1e-4)
    entry = book.search("make", kind="entries")[0]
    assert entry.text == "The build needs make 4.3 or newer."
    assert entry.id in {row["entry"] for row in book.memory.blame()}
    assert (entry.revision, entry.until) == (1, None)


def test_all_kinds_are_searched_together_unless_one_is_named(book: Minutebook) -> None:
    talk(book)
    assert {hit.kind for hit in book.search("make 4.3")} == {"messages", "entries"}
    assert {hit.kind for hit in book.search("make 4.3", kind="entries/evidence/messages")} == {"messages", "entries"}
    assert {hit.kind for hit in book.search("make 4.3", kind=["messages"])} == {"messages"}
    assert book.search("make 4.3", kind="evidence") == [], "nobody said to remember it"
    with pytest.raises(MinutebookError, match="entries, evidence, messages") as refused:
        book.search("make", kind="notes")
    assert refused.value.code == "bad_option"


def test_filters_narrow_and_neighbours_give_the_turns_around(place: Path) -> None:
    hours = iter(range(1_000))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with Minutebook.open(place, automatic=False, clock=lambda: start + timedelta(hours=next(hours))) as book:
        talk(book)
        talk(book, "t")
        assert {hit.session for hit in book.search("build", kind="messages")} == {"s", "t"}
        assert {hit.session for hit in book.search("build", session="t")} == {"t"}
        assert {hit.run for hit in book.search("build", run="s-run")} == {"s-run"}
        assert {hit.role for hit in book.search("port make", role="assistant")} == {"assistant"}
        assert book.search("port", role="user") == []
        times = sorted(hit.time for hit in book.search("port", kind="messages"))
        assert len(times) == 2
        assert [hit.session for hit in book.search("port", since=times[1])] == ["t"]
        assert [hit.session for hit in book.search("port", kind="messages", until=times[1])] == ["s"]
        [hit] = book.search("make old", session="t", around=1)
        assert texts(hit.before) == [TALK[0]["content"]]
        assert texts(hit.after) == [TALK[2]["content"]]


def test_the_past_is_searched_as_it_was(book: Minutebook) -> None:
    positions = talk(book)
    with book.session("s").run() as run:
        run.append({"role": "user", "content": "The build needs ninja now."})
        run.memory({"operation": "replace", "target": "make 4.3", "text": "The build needs ninja 1.11."})
    before = book.head
    book.curate()
    assert texts(book.search("build needs", kind="entries")) == ["The build needs ninja 1.11."]
    assert texts(book.search("build needs", kind="entries", at=before)) == ["The build needs make 4.3 or newer."]
    assert book.search("ninja", at=positions[-1]) == []
    assert texts(book.search("build", at=positions[0])) == [TALK[0]["content"]]


def test_a_forgotten_entry_is_not_found_and_what_a_summary_hides_is(
    place: Path, conversation: Any, small: Settings
) -> None:
    with Minutebook.open(place, settings=small, automatic=False) as book:
        session = book.session("s")
        session.append(conversation(12), id="m")
        session.append({"role": "user", "content": "The last word is xylophone."}, id="last")
        with session.run() as run:
            assert any(line["state"] == "summary" for line in run.context().messages)
            run.memory({"operation": "add", "text": "A zither is not a xylophone."})
        book.curate()
        hidden = [message for message in session.messages() if message.state == "compacted"]
        assert hidden
        wanted = next(message for message in hidden if message.role == "user")
        assert wanted.position in {hit.position for hit in book.search(wanted["content"], session="s", limit=50)}
        assert book.search("zither")
        with session.run() as run:
            run.memory({"operation": "remove", "target": "zither"})
        book.curate()
        assert book.search("zither", kind="entries") == []


def test_a_fork_finds_what_it_shares_and_no_more(book: Minutebook) -> None:
    parent = book.session("p")
    shared = parent.append({"role": "user", "content": "the heron before"})
    child = parent.fork(id="child")
    parent.append({"role": "user", "content": "the heron after"})
    own = child.append({"role": "user", "content": "the heron of the child"})
    assert {hit.position for hit in book.search("heron", session="child")} == {shared, own}
    assert len(book.search("heron", session="p")) == 2
    assert {message["position"] for message in child.recall(query="heron").messages} == {shared, own}


NASTY = ['"', '""', "*", "a*", "NEAR(a b)", "build AND", "-build", "col:umn", "^a", "(", "'; DROP TABLE events; --",
         "\0", "%_", "🙂", "a" * 100_000, "build " * 20_000, "\ud800", "", " ", "\\", "{}[]", "or and not"]  # fmt: skip


def test_no_query_is_an_error(book: Minutebook) -> None:
    talk(book)
    for query in NASTY:
        assert isinstance(book.search(query), list), query
    assert book.search("") == book.search('"') == []
    assert texts(book.search('-build "fail in"')) == [TALK[0]["content"]]
    assert book.search('"fail build"') == []
    for wrong in (None, 3, b"build", ["build"]):
        with pytest.raises(MinutebookError) as refused:
            book.search(wrong)  # type: ignore[arg-type]
        assert refused.value.code == "bad_value"
    for options in ({"limit": 0}, {"limit": 10_000}, {"around": -1}, {"since": "yesterday"}, {"role": 1}):
        with pytest.raises(MinutebookError) as refused:
            book.search("build", **options)
        assert refused.value.code == "bad_option"
    with pytest.raises(MinutebookError) as refused:
        book.search("build", session="none")
    assert refused.value.code == "unknown_session"


def test_a_long_output_is_found_by_its_end_and_quoted_where_it_fits(book: Minutebook) -> None:
    huge = "".join(f"{number:06d} some output\n" for number in range(30_000)) + "panic: zugzwang in the engine room\n"
    position = book.session("s").append({"role": "user", "content": huge}, id="huge")
    book.session("s").append([{"role": "user", "content": "nothing"}] * 3)
    [hit] = book.search("zugzwang")
    assert hit.position == position
    assert hit.characters == len(huge)
    assert hit.text == huge[hit.offset : hit.offset + len(hit.text)]
    assert len(hit.text) <= 20_000


def test_recorded_answers_of_recall_are_no_source_of_their_own(book: Minutebook) -> None:
    """Given an agent that recalls, records the answer and is searched again: only the original is found."""
    session = book.session("s")
    position = session.append({"role": "user", "content": "The courier is called Balthasar."})
    for number in range(3):
        with session.run() as run:
            answer = run.recall({"query": "name of the courier"})
            assert [message["position"] for message in answer.messages] == [position]
            assert "no" in answer.note or "nothing" in answer.note
            call = {"id": f"c{number}", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
            run.append({"role": "assistant", "content": None, "tool_calls": [call]})
            run.append({"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(answer)})
    assert [hit.position for hit in book.search("Balthasar")] == [position]


def test_the_agent_recalls_by_words_in_its_own_session_alone(book: Minutebook) -> None:
    book.session("other").append({"role": "user", "content": "The secret of the other is walrus."})
    session = book.session("s")
    session.append([{"role": "user", "content": f"Note {number} about boats. " + "x " * 500} for number in range(30)])
    position = session.append({"role": "user", "content": "y " * 800 + "the walrus sleeps " + "z " * 800})
    with session.run() as run:
        answer = run.recall({"query": "walrus", "around": 1})
        assert [message["position"] for message in answer.messages] == [position, position - 1]
        assert "walrus sleeps" in answer.messages[0]["text"]
        assert len(answer.messages[0]["text"]) <= 600
        whole = run.recall({"position": position, "offset": answer.messages[0]["offset"]})
        assert whole.messages[0]["text"].startswith(answer.messages[0]["text"][:50])
        assert sum(len(message["text"]) for message in run.recall({"query": "boats", "limit": 700}).messages) <= 700
        assert run.recall({"query": "zebra"}).messages == []
        for wrong in ({"query": ""}, {"query": 3}, {"query": "a", "position": 1}, {"query": "a", "offset": 1}):
            assert run.recall(wrong).error == "bad_recall"


def test_recall_shows_the_turns_around_a_hit_and_across_a_fork(book: Minutebook) -> None:
    positions = talk(book)
    child = book.session("s").fork(at=positions[2], id="child")
    own = child.append([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
    assert [row["position"] for row in book.recall(positions[1], around=1)] == positions[:3]
    assert [row["position"] for row in book.recall(positions[0], around=2)] == positions[:3]
    assert [row["position"] for row in book.recall(positions[3], around=9)] == positions
    assert [row["position"] for row in book.recall(own[0], around=2)] == [*positions[1:3], *own]
    assert [row["position"] for row in book.recall(own[1])] == own[1:]


def test_the_command_line_and_asyncio_say_the_same(command: Any, place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        talk(book)
        expected = book.search("build make", limit=2)
    done = command("search", "build make", "--limit", 2, "--json")
    assert done.code == 0
    assert done.answer == json.loads(json.dumps(expected))
    assert {"score", "kind", "id", "position", "text", "session"} <= set(done.answer[0])
    assert [hit["kind"] for hit in command("search", "make", "--in", "entries", "--json").answer] == ["entries"]
    shown = command("search", "old", "--around", 1, "--session", "-")
    assert "make is too old" in shown.out
    assert "recall POSITION" in shown.out
    assert "Nothing was found" in command("search", "--", "-zebra*").out
    assert command("search", "", "--json").answer == []
    assert command("search", "a", "--in", "notes", "--json").refusal["error"] == "bad_option"
    assert command("search", "a", "--session", "none", "--json").refusal["error"] == "unknown_session"

    async def searched() -> list[Any]:
        async with aio.Minutebook.open(place, automatic=False) as book:
            return await book.search("build make", limit=2)

    assert asyncio.run(searched()) == expected


def test_a_reader_that_may_write_nothing_sees_the_newest(place: Path) -> None:
    with Minutebook.open(place, automatic=False) as book:
        talk(book)
        with Minutebook.open(place, read_only=True) as reader:
            assert texts(reader.search("old", kind="messages")) == [TALK[1]["content"]]
            assert reader._runtime.projections.status()


def test_a_claim_is_found_with_its_packet_and_its_messages_until_it_is_forgotten(book: Minutebook) -> None:
    with book.session("a").run("r") as run:
        run.append({"role": "user", "content": "Please remember that the release needs a signed tag."}, id="m1")
    with book.session("b").run() as run:
        run.append({"role": "user", "content": "Please remember that the harbour closes at nine."}, id="m2")
    book.curate()

    (hit,) = book.search("signed tag", kind="evidence")
    packet = book.evidence.show(hit.id)
    assert (hit.kind, hit.text) == ("evidence", packet.claims[0]["text"])
    assert (hit.session, hit.run, hit.trust, hit.state, hit.messages) == ("a", "r", "user", "promoted", ["m1"])
    assert (hit.evidence, hit.position) == (packet.evidence, packet.position)
    assert book.search('"signed tag"', kind="evidence")[0].id == hit.id
    assert {found.kind for found in book.search("signed tag")} == {"messages", "entries", "evidence"}
    assert book.search("signed tag", kind="evidence", session="b") == []
    assert book.search("signed tag", kind="evidence", run="other") == []
    assert book.search("signed tag", kind="evidence", at=hit.position - 1) == []

    block = book.memory.forget("signed tag").block
    # The entry goes with the next curation, and is shown by no search from now on.
    assert {found.kind for found in book.search("signed tag")} == {"messages"}
    assert book.search("harbour", kind="evidence") != []
    book.memory.allow(block)
    assert {found.kind for found in book.search("signed tag")} == {"messages", "entries", "evidence"}
    before = book._runtime.projections.dump_hash("search_index")
    book.projections.rebuild("search_index")
    assert book._runtime.projections.dump_hash("search_index") == before
