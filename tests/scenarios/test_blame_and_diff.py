"""Why is this line in the context, why is that message not, and what changed between two positions (E4)."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings, aio

DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo" / "session.jsonl"
SESSIONS = ("build-42", "build-42-fork")


def call(name: str, id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def row(rows: list[dict[str, Any]], position: int) -> dict[str, Any]:
    return next(row for row in rows if row["position"] == position)


def types(book: Minutebook, positions: list[int]) -> list[str]:
    return [next(book.log(after=position - 1, limit=1))["type"] for position in positions]


@pytest.mark.parametrize("session", SESSIONS)
def test_every_message_is_explained_at_every_position(story: Any, session: str) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        known = book.session(session)
        first = 1 if session == "build-42" else book.session_row(session).first_position
        for at in range(first, story.head + 1):
            # given what was shown at a position, and every message that there was
            shown = known.context(at=at)
            # when it is asked why
            found = known.blame(at=at)
            # then each line has its reason, each other message too, and no reason lies in the future
            assert [line["id"] for line in found.lines] == [message["id"] for message in shown.messages]
            assert [line["state"] for line in found.lines] == [message["state"] for message in shown.messages]
            there = {line["id"] for line in found.lines} | {hidden["id"] for hidden in found.hidden}
            assert there >= {message.id for message in known.messages(at=at)}
            for each in (*found.lines, *found.hidden):
                assert each["why"]
                assert each["because"] == sorted(each["because"])
                assert each["because"]
                assert all(0 < position <= at for position in each["because"])
            # A request is recorded after it was built: its prompt and its freeze stand behind what it saw.
            assert all(part["why"] for part in found.preamble)


def test_a_summary_and_what_it_hides_name_their_compaction(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        session = book.session("build-42")
        found = session.blame()
        # given a line that is a summary
        summary = next(line for line in found.lines if line["state"] == "summary")
        assert types(book, summary["because"])[-1] in ("CompactionCommitted",)
        # then each message that it stands for says so
        covered = [hidden for hidden in found.hidden if hidden["compaction"] == summary["id"]]
        assert f"it stands for {len(covered)} messages" in summary["why"]
        assert all(summary["because"][0] in hidden["because"] for hidden in covered)
        # and one of them, named by position or by id, has the whole chain: its run, the message, the summary
        hidden = covered[1]
        by_position, by_id = session.blame(hidden["position"]), session.blame(hidden["id"])
        assert by_position.hidden == by_id.hidden == [hidden]
        chain = [event["type"] for event in by_id.chain]
        assert {"RunStarted", "MessageRecorded", "CompactionCommitted"} <= set(chain)
        assert [event["position"] for event in by_id.chain] == sorted(event["position"] for event in by_id.chain)
        # and the summary, named by its id or by its event, is explained alone
        assert session.blame(summary["id"]).lines == [summary]
        assert summary in session.blame(summary["because"][0]).lines


def test_a_reduced_line_names_the_decision_and_the_sizes(tmp_path: Any) -> None:
    # given a recorded session whose protected beginning was too large for the window
    with Minutebook.open(tmp_path, automatic=False) as book:
        session = book.session(book.import_transcript(DEMO).session)
        session.compact(window=20_000)
        found = session.blame()
        reduced = [line for line in found.lines if line["state"] == "reduced"]
        assert reduced
        for line in reduced:
            message, decision = line["because"]
            assert message == line["position"]
            assert types(book, [decision])[0] in ("ReductionDecided", "CompactionCommitted")
            assert f"shown shorter since event {decision}" in line["why"]
            assert " tokens for " in line["why"]


def test_what_was_repaired_says_so(tmp_path: Any) -> None:
    # given a history as it should not be: a call without a result, a result without its call
    with Minutebook.open(tmp_path, automatic=False) as book:
        session = book.session("s")
        session.append({"role": "user", "content": "Look."}, id="ask")
        session.append({"role": "assistant", "content": None, "tool_calls": [call("look", "c1")]}, id="calls")
        session.append({"role": "user", "content": "Never mind."}, id="mind")
        session.append({"role": "tool", "tool_call_id": "elsewhere", "content": "a stray result"}, id="stray")
        found = session.blame()
        # then the line that was never recorded, and the one that is shown otherwise, say why
        synthetic = next(line for line in found.lines if line["state"] == "synthetic")
        assert "no result is recorded for this call" in synthetic["why"]
        assert types(book, synthetic["because"]) == ["MessageRecorded"]
        stray = next(line for line in found.lines if line["id"] == "stray")
        assert "shown as text, it has no call of its own here" in stray["why"]
        assert session.blame(synthetic["id"]).lines == [synthetic]


def test_the_preamble_names_the_events_that_it_comes_from(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        session = book.session("build-42")
        shown = [event["position"] for event in book.log(type="ContextShown", session="build-42")]
        found = session.blame(at=shown[-1])
        parts = {part["part"]: part for part in found.preamble}
        assert set(parts) == {"system", "tools"}  # no memory was there at that time
        assert types(book, parts["system"]["because"]) == ["PreambleRecorded"]
    with Minutebook.open(story.root, automatic=False) as book:
        session = book.session("build-42")
        with session.run() as run:
            run.append({"role": "user", "content": "Go on."})
            run.context(system="You mend builds.")
        parts = {part["part"]: part for part in session.blame().preamble}
        assert types(book, parts["memory"]["because"]) == ["RevisionCommitted", "MemoryFrozen"]
        assert "frozen at this session's first request" in parts["memory"]["why"]
        assert "tools" not in parts


def test_a_fork_says_what_it_inherited(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        found = book.session("build-42-fork").blame()
        original = next(line for line in found.lines if line["state"] == "original")
        assert "in session build-42, from which this one was forked" in original["why"]
        assert "forked" not in found.lines[-1]["why"]


def test_a_message_that_is_not_there_yet_says_when_it_came(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        session = book.session("build-42")
        last = session.messages(limit=1)[0]
        for name in (last.id, last.position):
            found = session.blame(name, at=last.position - 1)
            assert found.lines == []
            assert found.hidden[0]["state"] == "later"
            assert f"recorded at {last.position}, after position {last.position - 1}" in found.hidden[0]["why"]


def test_what_is_too_large_for_the_window_is_explained_all_the_same(tmp_path: Any) -> None:
    with Minutebook.open(tmp_path, settings=Settings(context_window=1_000), automatic=False) as book:
        session = book.session("s")
        session.append([{"role": "user", "content": f"{number} " + "word " * 300} for number in range(20)])
        with pytest.raises(MinutebookError):
            session.context()
        assert len(session.blame().lines) == 20


@pytest.mark.parametrize("message", ["no-such-message", 999_999, 1, 0])
def test_what_is_no_message_of_the_session_is_refused(story: Any, message: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        session = book.session("build-42")
        with pytest.raises(MinutebookError) as refused:
            session.blame(message)
        assert refused.value.code == "not_in_session"
        fork = book.session("build-42-fork").messages(limit=1)[0]
        with pytest.raises(MinutebookError) as refused:
            session.blame(fork.position)
        assert refused.value.code == "not_in_session"
        with pytest.raises(MinutebookError) as refused:
            session.blame(at=story.head + 1)
        assert refused.value.code == "unknown_position"


# --- what changed


def lines_of(context: Any) -> dict[tuple[str, str], Any]:
    """Lines by id and role; the content and the state they are shown with."""
    return {(line["id"], line["role"]): (line["content"], line["state"]) for line in context.messages}


@pytest.mark.parametrize("session", SESSIONS)
def test_a_diff_leads_from_one_context_to_the_other(story: Any, session: str) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        known = book.session(session)
        first = book.session_row(session).first_position
        places = [*range(first, story.head, 9), story.head]
        for a, b in itertools.product(places[:: max(1, len(places) // 5)], places):
            # given two contexts
            before, after = lines_of(known.context(at=a)), lines_of(known.context(at=b))
            # when they are compared
            found = known.diff(a, b)
            # then what is taken away, added and changed is all that is different
            named = {
                kind: {(line["id"], line["role"]) for line in found[kind]} for kind in ("added", "removed", "changed")
            }
            assert named["removed"] == before.keys() - after.keys()
            assert named["added"] == after.keys() - before.keys()
            assert named["changed"] == {key for key in before.keys() & after.keys() if before[key] != after[key]}
            assert all(line["why"] for kind in named for line in found[kind])
            same = not found.preamble and not any(named.values())
            assert same is (found["from"]["digest"] == found["to"]["digest"])


def test_a_diff_over_an_undo_says_that_it_was_undone(story: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        undone = next(book.log(type="CompactionUndone"))["position"]
        found = book.session("build-42").diff(undone - 1, undone)
        summary = next(line for line in found.removed if line["state"] == "summary")
        assert summary["why"] == "this compaction is undone"
        assert found.added
        assert all(line["why"].startswith("recorded by") for line in found.added)
        back = book.session("build-42").diff(undone, undone - 1)
        assert {line["id"] for line in back.removed} == {line["id"] for line in found.added}
        assert all("stands for it since event" in line["why"] for line in back.removed)


def test_nothing_changes_between_a_position_and_itself(story: Any, command: Any) -> None:
    done = command("diff", "--context", story.head, story.head, "--session", "build-42", "--json")
    assert (done.answer["added"], done.answer["removed"], done.answer["changed"]) == ([], [], [])
    assert command("diff", "--context", story.head, story.head).out.endswith("Nothing changed.\n")


# --- on the command line


def test_the_commands_answer_as_the_calls_do(story: Any, command: Any) -> None:
    with Minutebook.open(story.root, read_only=True) as book:
        session = book.session("build-42")
        hidden = session.blame().hidden[0]
        undone = next(book.log(type="CompactionUndone"))["position"]
        assert command("blame", "build-42", "--json").answer == session.blame()
        assert command("blame", "build-42", hidden["position"], "--json").answer == session.blame(hidden["id"])
        # Without a session it is that of the event at the second position.
        assert command("diff", "--context", undone - 1, undone, "--json").answer == session.diff(undone - 1, undone)

    async def awaited() -> Any:
        async with aio.Minutebook.open(story.root, read_only=True) as book:
            session = await book.session("build-42")
            return await session.blame(hidden["id"]), await session.diff(undone - 1, undone)

    assert asyncio.run(awaited())[0].hidden == [hidden]


def test_a_person_reads_reasons_and_neighbours_in_one_line(story: Any, command: Any) -> None:
    out = command("blame", "build-42").out
    assert "[summary] it stands for" in out
    assert " not shown: the summary of compaction " in out
    told = [line for line in out.splitlines() if " not shown: " in line]
    assert len(told) == len(set(told)) < 5
    one = command("blame", "build-42", "early-5").out
    assert "[compacted] the summary of compaction" in one
    assert "● " in one or "↑ " in one


def test_options_that_say_nothing_are_usage(story: Any, command: Any) -> None:
    assert command("diff").code == 2
    assert command("diff", "--context", "1").code == 2
    assert command("blame").code == 2
    assert command("diff", "--context", "1", story.head + 5, "--json").refusal["error"] == "unknown_position"


# --- from any event to the others


def relations(book: Minutebook, position: int) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"cause": set(), "self": set(), "effect": set()}
    for link in book.trace(position):
        found[link["relation"]].add(link["type"])
    return found


def test_a_freeze_a_prompt_a_fork_and_a_restore_name_what_they_rest_on(story: Any) -> None:
    with Minutebook.open(story.root, automatic=False) as book:
        # given a request that showed a revision and a prompt
        with book.session("build-42").run() as run:
            run.append({"role": "user", "content": "Go on."})
            run.context(system="You mend builds, again.")
        last = {event["type"]: event["position"] for event in book.log()}
        # then each of them leads to the other, there and back
        frozen = relations(book, last["MemoryFrozen"])
        assert "RevisionCommitted" in frozen["cause"]
        assert "ContextShown" in frozen["effect"]
        assert "ContextShown" in relations(book, last["PreambleRecorded"])["effect"]
        assert "MemoryFrozen" in relations(book, last["RevisionCommitted"])["effect"]
        assert "SessionOpened" in relations(book, last["SessionForked"])["cause"]
        restored = book.trace(last["RevisionPrepared"])
        assert "the revision that it restores" in {link["why"] for link in restored}


def test_an_import_names_the_messages_that_it_brought(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        done = book.import_transcript(DEMO)
        imported = next(book.log(type="TranscriptImported"))
        brought = [link for link in book.trace(imported["position"]) if link["why"] == "a message of the transcript"]
        assert len(brought) == done.messages


def test_what_another_workspace_did_is_not_there(tmp_path: Path) -> None:
    # given two workspaces in one database
    shared = f"sqlite:///{tmp_path / 'shared.db'}"
    for name in ("mine", "theirs"):
        with Minutebook.open(
            tmp_path / name, database=shared, settings=Settings(workspace_id=name), automatic=False
        ) as book:
            book.session("s").append({"role": "user", "content": f"What is {name}."})
    # when one asks for a position of the other, then it is refused as a position that there is not
    with Minutebook.open(
        tmp_path / "mine", database=shared, settings=Settings(workspace_id="mine"), read_only=True
    ) as book:
        for ask in (book.trace, book.recall):
            with pytest.raises(MinutebookError) as refused:
                ask(book.head)
            assert refused.value.code == "unknown_position"
            assert "theirs" not in refused.value.message
        with pytest.raises(MinutebookError) as refused:
            book.session("s").blame(book.head)
        assert refused.value.code == "not_in_session"
