"""What users of other engines report as lost, broken or endless, each as the smallest scenario, and its outcome here.

The page docs/explanation/public-failures.md is printed from the arguments below (``make failure-table``); scenarios
that another file has already are named, not written again.
"""

from __future__ import annotations

import _thread
import ast
import base64
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from public_failures import ELSEWHERE, elsewhere, failure

from minutebook import Completion, ExtractiveSummarizer, Minutebook, MinutebookError, Settings
from minutebook.domain.legality import check_anthropic, check_openai
from minutebook.domain.summary import parse
from minutebook.domain.tokens import count_source

ROOT = Path(__file__).resolve().parents[2]

KINDS = {
    "summary": "A failed, empty or interrupted summary destroys history",
    "pairing": "A tool call is parted from its result, and the session is bricked",
    "wrong": "After a compaction the agent does the wrong thing",
    "endless": "Compaction cannot run, or runs for ever",
    "undo": "No way back, no view inside",
    "boundary": "Messages vanish around the boundary",
    "tokens": "Wrong token numbers",
    "pruning": "Pruning misleads the model or grows without bound",
    "growth": "Growth",
    "order": "Order and concurrency",
    "scope": "One session sees another, or secrets travel",
}

Messages = list[dict[str, Any]]


def opened(place: Path, messages: Messages = (), window: int = 8_000, **options: Any) -> Minutebook:  # type: ignore[assignment]
    """A book whose session ``s`` holds the messages, ids ``m-0``, ``m-1`` ..."""
    settings = Settings(context_window=window, **options.pop("settings", {}))
    book = Minutebook.open(place, settings=settings, automatic=False, **options)
    if messages:
        book.session("s").append(messages, id="m")
    return book


def talk(turns: int, words: int = 60) -> Messages:
    """Turns of plain speech."""
    said = "speech goes on here " * (words // 4)
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": f"{number}: {said}"} for number in range(turns)]


def call(*names: str, tool: str = "run", text: str | None = None) -> dict[str, Any]:
    calls = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps({"command": name})}}
        for name in names
    ]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def result(name: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": text}


def legal(book: Minutebook, session: str = "s") -> list[dict[str, Any]]:
    """The neutral messages now, after both renderings were checked."""
    context = book.session(session).context(window=1_000_000)
    assert check_openai(context.to_openai()) == []
    assert check_anthropic(context.to_anthropic()) == []
    return context.messages


def summary_of(book: Minutebook, session: str = "s") -> str:
    lines = [line for line in book.session(session).context(window=1_000_000).messages if line["state"] == "summary"]
    assert len(lines) == 1
    return str(lines[0]["content"])


def section(text: str, name: Any) -> str:
    found = parse(text)
    assert not isinstance(found, tuple)
    return "\n".join(found.of(name))


def accounted(book: Minutebook, session: str = "s") -> None:
    """Every message is visible, or covered by exactly one live summary, and every original is there."""
    found = book.session(session)
    lines = found.context(window=1_000_000).messages
    covered = [name for line in lines if line["state"] == "summary" for name in line["covers"]]
    visible = [line["id"] for line in lines if line["state"] in ("original", "reduced")]
    assert sorted([*covered, *visible]) == sorted(message.id for message in found.messages())


# --- a failed, empty or interrupted summary ----------------------------------------------------------

elsewhere(
    "summary",
    issues="NousResearch/hermes-agent#10719, #11585, #12131, #29559, #25585, #11914; anomalyco/opencode#41571",
    scenario="The summariser raises, is late, answers nothing, only thinking, a polite opening, or half a summary",
    outcome="The context stays byte-identical; one event says why",
    test="tests/scenarios/test_context_never_loses.py::test_a_summary_that_fails_changes_nothing_and_leaves_one_event",
)
elsewhere(
    "summary",
    issues="NousResearch/hermes-agent#79391",
    scenario="A user message arrives while the summary is made",
    outcome="It is neither lost nor hidden, and the summary is committed",
    test="tests/scenarios/test_context_never_loses.py"
    "::test_a_message_that_arrives_while_the_summary_is_made_is_neither_lost_nor_hidden",
)
elsewhere(
    "summary",
    issues="anthropics/claude-code#19443; NousResearch/hermes-agent#79391",
    scenario="The caller cancels its request while the summary is made, and the summary comes after all",
    outcome="It is not committed: the context stays byte-identical, one event says why, the next request compacts",
    test="tests/scenarios/test_cancelled.py::test_a_summary_whose_caller_has_given_up_is_not_committed",
)
elsewhere(
    "summary",
    issues="blueberrycongee/wuu#142",
    scenario="What is to be summarised is larger than the summariser's own window",
    outcome="It is asked in chunks; all ids are covered, or nothing changes",
    test="tests/domain/compaction/test_compaction.py"
    "::test_a_summariser_with_a_small_window_is_asked_in_chunks_that_cover_all",
)


@failure(
    "summary",
    issues="anthropics/claude-code#40352; openai/openai-agents-python#3116; microsoft/agent-framework#8099, #8546",
    scenario="The database refuses at the very write of the summary, then the book is opened again",
    outcome="One event, one transaction: all originals and the same context are there, nothing is hidden",
)
def test_a_commit_that_fails_leaves_history_and_context_as_they_were(place: Path) -> None:
    with opened(place, talk(40)) as book:
        before = book.session("s").context(window=1_000_000).digest
        with book._runtime.log.database.writer() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.topic = 'CompactionCommitted' "
                "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
            )
            connection.commit()
        with pytest.raises(MinutebookError):
            book.session("s").compact()
    with Minutebook.open(place, read_only=True) as book:
        assert len(book.session("s").messages()) == 40
        assert book.session("s").context(window=1_000_000).digest == before
        accounted(book)


@failure(
    "summary",
    issues="anthropics/claude-code#19443; NousResearch/hermes-agent#79391",
    scenario="Compaction is interrupted half way by the user, who then goes on",
    outcome="The session takes messages, gives contexts and compacts as if nothing had been",
)
def test_after_an_interrupted_compaction_the_session_goes_on(place: Path) -> None:
    def interrupted(request: Any) -> str:
        _thread.interrupt_main()  # as Ctrl-C does while the call is under way
        return str(threading.Event().wait(5))

    with opened(place, talk(40), summarizer=interrupted) as book:
        with pytest.raises(KeyboardInterrupt):
            book.session("s").compact()
        book.session("s").append({"role": "user", "content": "Go on."}, id="after")
        assert legal(book)[-1]["content"] == "Go on."
        assert len(book.session("s").messages()) == 41
    with opened(place) as book:
        assert book.session("s").compact()["status"] == "committed"
        accounted(book)


# --- pairing -----------------------------------------------------------------------------------------

elsewhere(
    "pairing",
    issues="google/adk-python#4740, #5602",
    scenario="A call waits for a person's approval, twelve messages pass, compaction runs, the answer comes",
    outcome="The call stays verbatim until its answer; a request meanwhile says that none was recorded",
    test="tests/scenarios/test_context_never_loses.py::test_a_pending_call_stays_verbatim_until_its_answer",
)
elsewhere(
    "pairing",
    issues="openai/openai-agents-python#4322",
    scenario="Windows of many sizes over a history of nested and parallel calls",
    outcome="Each request is legal or refused with its sizes; no orphan on either side",
    test="tests/scenarios/test_context_never_loses.py::test_every_window_over_nested_calls_is_legal_or_refused",
)
elsewhere(
    "pairing",
    issues="openai/openai-agents-python#2426",
    scenario="Every kind of message part is recorded and read back",
    outcome="Each original comes back equal, calls, results and unknown parts included",
    test="tests/scenarios/test_surface_python.py::test_a_message_comes_back_equal",
)


@failure(
    "pairing",
    issues="earendil-works/pi#4570; google/adk-python#4740",
    scenario="Compact, go on, and compact again with the first boundary inside the kept part",
    outcome="No orphan survives two compactions; every message is accounted for",
)
def test_two_compactions_in_a_row_leave_no_orphan(place: Path, conversation: Callable[[int], Messages]) -> None:
    with opened(place, conversation(8)) as book:
        for round_ in range(3):
            assert book.session("s").compact()["status"] == "committed"
            legal(book)
            accounted(book)
            more = [{**message} for message in conversation(9)[4 * round_ :]]
            book.session("s").append([call(f"x{round_}"), result(f"x{round_}"), *more], id=f"r{round_}")


@failure(
    "pairing",
    issues="openclaw/openclaw#8525, #7527, #4739",
    scenario="A call is aborted, a stand-in result is recorded, and every cut between the two is tried",
    outcome="Call and result are hidden together or shown together",
)
def test_a_stand_in_result_is_never_parted_from_its_aborted_call(place: Path) -> None:
    stand_in = result("c1", "aborted by the user")
    with opened(place, [*talk(12), call("c1"), stand_in, *talk(12)]) as book:
        for recent in range(9, 16):
            fork = book.session("s").fork(id=f"f{recent}").id
            with opened(place, settings={"protect_recent": recent}) as other:
                other.session(fork).compact()
                shown = {line["id"] for line in legal(other, fork)}
                assert ("m-12" in shown) == ("m-13" in shown)
                accounted(other, fork)


@failure(
    "pairing",
    issues="langchain-ai/langchain#34282; langchain-ai/deepagents#270",
    scenario="One message with seven parallel calls; the last six messages are to be kept",
    outcome="The unit is kept whole: more than six messages stay, none is parted",
)
def test_seven_parallel_calls_stay_whole_when_six_messages_are_kept(place: Path) -> None:
    names = [f"p{number}" for number in range(7)]
    messages = [*talk(30), call(*names), *(result(name) for name in names)]
    with opened(place, messages, settings={"protect_recent": 6}) as book:
        assert book.session("s").compact()["status"] == "committed"
        shown = [line["id"] for line in legal(book) if line["state"] == "original"]
        assert shown[-8:] == [f"m-{number}" for number in range(30, 38)]


@failure(
    "pairing",
    issues="Hmbown/Codewhale#6119",
    scenario="A user message holds text and a tool result; the boundary falls just before it",
    outcome="It is one unit with its call, and both renderings are legal",
)
def test_a_message_that_mixes_text_and_a_result_stays_with_its_call(place: Path) -> None:
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "run", "input": {"n": 1}}]}
    mixed = {
        "role": "user",
        "content": [{"type": "text", "text": "Also:"}, {"type": "tool_result", "tool_use_id": "t", "content": "done"}],
    }
    with opened(place, [*talk(30), use, mixed, *talk(8)]) as book:
        for recent in (7, 8, 9, 10):
            fork = book.session("s").fork(id=f"f{recent}").id
            with opened(place, settings={"protect_recent": recent}) as other:
                other.session(fork).compact()
                shown = {line["id"] for line in legal(other, fork)}
                assert ("m-30" in shown) == ("m-31" in shown)


@failure(
    "pairing",
    issues="langchain-ai/langgraph#4987, #7256",
    scenario="Look at the past, fork there, append, and read the parent again",
    outcome="The parent is unchanged; the fork is the past and what came on it",
)
def test_what_is_written_on_a_fork_is_not_in_its_parent(place: Path) -> None:
    with opened(place, talk(6)) as book:
        parent = book.session("s")
        past = parent.messages()[2].position
        before = parent.context().digest
        child = parent.fork(at=past, id="child")
        child.append({"role": "user", "content": "Another way."}, id="new")
        assert [message.id for message in child.messages()] == ["m-0", "m-1", "m-2", "new"]
        assert parent.context().digest == before
        assert parent.context(at=past).messages == child.context(at=past).messages


@failure(
    "pairing",
    issues="microsoft/agent-framework#7011; openclaw/openclaw#4836",
    scenario="Compaction is on, and a run asks for its next request past the threshold",
    outcome="The request that is sent is the compacted one, and an event says so",
)
def test_compaction_that_is_on_runs_before_the_request(place: Path) -> None:
    with opened(place, talk(80)) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "And now?"})
        context = run.context()
        assert [line["state"] for line in context.messages].count("summary") == 1
        assert context.messages[-1]["content"] == "And now?"
        assert [event.type for event in book.log(type="CompactionCommitted")] == ["CompactionCommitted"]


# --- the wrong thing ---------------------------------------------------------------------------------

elsewhere(
    "wrong",
    issues="openai/codex#27731, #38931, #42695",
    scenario="A task is done, another one is cancelled by the user, then the summary is read",
    outcome="Neither stands under Pending; a summary that lists one there is refused",
    test="tests/domain/compaction/test_extractive.py::test_what_is_cancelled_or_checked_never_reads_as_pending",
)
elsewhere(
    "wrong",
    issues="openai/codex#25792; anthropics/claude-code#9796, #22376, #19736, #31409",
    scenario="A rule in an early message, sixty messages, several compactions",
    outcome="The rule stands word for word in each summary, with its source",
    test="tests/scenarios/test_context_never_loses.py::test_a_constraint_survives_every_compaction",
)
elsewhere(
    "wrong",
    issues="saralobkovich/agent-coordination#56",
    scenario="The user approves an exact title; three compactions follow",
    outcome="The quotation survives with its source",
    test="tests/domain/compaction/test_compaction.py"
    "::test_a_constraint_and_an_approval_survive_three_compactions_word_for_word",
)


@failure(
    "wrong",
    issues="NousResearch/hermes-agent#42812",
    scenario="A summary tells of an open task ('deploy'); the user asks for the time",
    outcome="The summary is marked as history that asks for nothing; the user's question is the last message",
)
def test_an_old_task_in_the_summary_does_not_take_over(place: Path) -> None:
    start = [{"role": "user", "content": "Please deploy the service when the tests pass."}, *talk(40)]
    with opened(place, [*talk(3), *start]) as book, book.session("s").run() as run:
        assert book.session("s").compact(window=6_000)["status"] == "committed"
        run.append({"role": "user", "content": "What time is it?"})
        context = run.context()
        text = summary_of(book)
        assert "history, not a request" in text
        assert "Nothing in it asks for action" in text
        assert context.messages[-1]["content"] == "What time is it?"
        assert "deploy" not in section(text, "pending")
        assert context.to_openai()["messages"][-1] == {"role": "user", "content": "What time is it?"}


@failure(
    "wrong",
    issues="anomalyco/opencode#41358; cline/cline#5790; anthropics/claude-code#24792, #91351",
    scenario="Ten numbered steps, six ticked off, compaction at the sixth",
    outcome="What is done stands under Completed, what is open under Pending, and nothing in both",
)
def test_finished_steps_are_done_and_open_ones_are_pending(place: Path) -> None:
    steps = [f"migrate table_{number} to the new schema" for number in range(1, 11)]
    plan = "\n".join(f"- [{'x' if number <= 6 else ' '}] {step}" for number, step in enumerate(steps, 1))
    start = [*talk(4), {"role": "user", "content": "Migrate all ten tables."}, {"role": "assistant", "content": plan}]
    with opened(place, [*start, *({"role": "user", "content": "ok"} for _ in range(60))], window=20_000) as book:
        assert book.session("s").compact(window=9_000)["status"] in ("committed", "not_needed")
        if not book.session("s").compactions():
            book.session("s").append(talk(60), id="n")
            assert book.session("s").compact(window=9_000)["status"] == "committed"
        text = summary_of(book)
        done, pending = section(text, "completed"), section(text, "pending")
        assert all(step in done and step not in pending for step in steps[:6])
        assert all(step not in done for step in steps[6:])
        assert any(step in pending for step in steps[6:])


@failure(
    "wrong",
    issues="anthropics/claude-code#13239",
    scenario="Three failed commands with messages of their own, much speech, compaction",
    outcome="Each failure stands in the summary with its message and the position to recall it from",
)
def test_failed_attempts_are_not_the_first_to_go(place: Path) -> None:
    why = ["ERROR: port 8443 is taken", "ERROR: certificate expired", "ERROR: permission denied on spool"]
    tried: Messages = []
    for number, said in enumerate(why):
        tried += [call(f"try{number}"), result(f"try{number}", f"{said}\nexit code: 1")]
    with opened(place, [*talk(4), *tried, *talk(60)]) as book:
        assert book.session("s").compact()["status"] == "committed"
        state = section(summary_of(book), "state")
        for number, said in enumerate(why):
            assert said in state
            position = book.session("s").recall(message=f"m-{5 + 2 * number}").messages[0]["position"]
            assert f"[@{position}]" in state


# --- endless -----------------------------------------------------------------------------------------

elsewhere(
    "endless",
    issues="openai/codex#40213, #13279; cline/cline#9510",
    scenario="A fixed prompt larger than the threshold",
    outcome="It does not compact again and again; what cannot be made smaller is left alone",
    test="tests/domain/compaction/test_compaction.py::test_a_prompt_above_the_trigger_does_not_compact_again_and_again",
)
elsewhere(
    "endless",
    issues="openai/codex#40213; NousResearch/hermes-agent#11585",
    scenario="A summariser that fails, twenty requests",
    outcome="It is asked twice, rests, and is asked again after growth or another setting; status says so",
    test="tests/scenarios/test_context_never_loses.py"
    "::test_twenty_requests_ask_a_failing_summariser_twice_and_again_after_growth",
)


@failure(
    "endless",
    issues="google-gemini/gemini-cli#15225, #3574, #8586, #14766; letta-ai/letta#3242, #3279",
    scenario="A summary that is longer than what it replaces; then a good one, and a request right after it",
    outcome="The long one is refused; after the good one the next request compacts nothing",
)
def test_a_result_that_is_not_smaller_is_refused_and_one_success_is_enough(place: Path) -> None:
    def longer(request: Any) -> Completion:
        text = ExtractiveSummarizer().summarize(request).text
        return Completion(text + "\n" + "\n".join(f"- remark {number} of no use" for number in range(2_000)))

    with opened(place, talk(40), summarizer=longer) as book:
        refused = book.session("s").compact()
        assert refused["status"] == "rejected"
        assert {"too_long", "not_smaller"} & set(refused["reason"].split(","))
    with opened(place, talk(1)) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Go on."})
        for _ in range(3):
            run.context()
        assert len(list(book.log(type="CompactionCommitted"))) <= 1


# --- no way back -------------------------------------------------------------------------------------

elsewhere(
    "undo",
    issues="anomalyco/opencode#32368, #41266; Martian-Engineering/lossless-claw#96",
    scenario="Three compactions one over the other, undone and redone one by one, with later messages",
    outcome="Each step back shows exactly what was shown before; later messages stay",
    test="tests/scenarios/test_context_never_loses.py::test_undo_and_redo_go_to_any_depth_and_keep_what_came_later",
)
elsewhere(
    "endless",
    issues="openai/codex#40213, #13279; google-gemini/gemini-cli#15225; letta-ai/letta#3242, #3279",
    scenario="Small windows, in which what is protected is near or above the trigger, and a long piece of work",
    outcome="A later summary waits until it frees a quarter of the window, or until the request no longer fits",
    test="tests/domain/compaction/test_frequency.py::test_a_summary_is_not_made_every_few_messages",
)
elsewhere(
    "endless",
    issues="openai/codex#40213; cline/cline#9510",
    scenario="A window that is too small for what is protected, so that each summary makes little room",
    outcome="The request still fits; its note, the status and the command line name the sizes and what would help",
    test="tests/scenarios/test_crowded.py::test_a_window_too_small_for_what_is_protected_is_named_where_one_looks",
)
elsewhere(
    "undo",
    issues="langchain-ai/langgraph#4987; anomalyco/opencode#32368",
    scenario="A fork shares a compaction; it is undone and redone there, below one of the fork's own",
    outcome="The fork shows the originals again, its parent is not touched",
    test="tests/scenarios/test_context_never_loses.py"
    "::test_a_fork_undoes_and_redoes_what_it_shares_and_its_parent_is_not_touched",
)
elsewhere(
    "undo",
    issues="anthropics/claude-code#14462",
    scenario="Compact, close, open again",
    outcome="The same digest",
    test="tests/scenarios/test_context_never_loses.py::test_reopening_shows_the_same_context",
)
elsewhere(
    "undo",
    issues="anomalyco/opencode#14259",
    scenario="The agent wants to read back what was compacted away",
    outcome="The recall tool gives the original for the mark in the summary, in pages, and appends nothing",
    test="tests/scenarios/test_recall.py::test_what_a_summary_hides_is_read_back_by_the_mark_it_stands_in",
)


@failure(
    "undo",
    issues="anthropics/claude-code#1301",
    scenario="Only the oldest half is to be compacted",
    outcome="With protect_recent at half of the session the newer half stays verbatim",
)
def test_the_newer_half_can_be_kept(place: Path) -> None:
    with opened(place, talk(60), settings={"protect_recent": 30}) as book:
        assert book.session("s").compact()["status"] == "committed"
        kept = [line["id"] for line in legal(book) if line["state"] == "original"]
        assert kept[-30:] == [f"m-{number}" for number in range(30, 60)]


# --- around the boundary -----------------------------------------------------------------------------

elsewhere(
    "boundary",
    issues="anthropics/claude-code#22376, #19736; microsoft/agent-framework#6972, #8441",
    scenario="System message, first messages, newest messages and the open run, before and after a compaction",
    outcome="They are byte-identical; every hidden message has one live reason",
    test="tests/scenarios/test_context_never_loses.py::test_the_protected_messages_are_the_same_before_and_after",
)


@failure(
    "boundary",
    issues="microsoft/agent-framework#6972, #8441",
    scenario="The first thing that happens is a tool call; then compaction",
    outcome="The first user message and the call with its result are still there",
)
def test_the_first_user_message_stays_when_the_first_action_is_a_call(place: Path) -> None:
    start = [{"role": "user", "content": "List the folder."}, call("c0"), result("c0", "a b c")]
    with opened(place, [*start, *talk(60)]) as book:
        assert book.session("s").compact()["status"] == "committed"
        assert [line["id"] for line in legal(book)[:3]] == ["m-0", "m-1", "m-2"]
        accounted(book)


# --- tokens ------------------------------------------------------------------------------------------

elsewhere(
    "tokens",
    issues="openclaw/openclaw#5457, #121230",
    scenario="A request one token below the threshold, at it, and one above",
    outcome="The decision is exact, the reserve and the incoming message included",
    test="tests/domain/compaction/test_compaction.py"
    "::test_the_compressor_runs_when_the_request_with_its_reserve_reaches_the_trigger",
)


@failure(
    "tokens",
    issues="earendil-works/pi#2562; openclaw/openclaw#70052; CherryHQ/cherry-studio#18351; topcheer/ggcode#515",
    scenario="4,000 Chinese characters and a budget of 3,000 tokens",
    outcome="They are counted as more than the budget, not as 1,000 tokens",
)
def test_four_thousand_chinese_characters_do_not_pass_for_a_thousand_tokens(place: Path) -> None:
    text = "请检查这个文件夹里的所有测试并且告诉我哪些失败了" * 200
    assert count_source({"role": "user", "content": text[:4_000]}) > 3_000
    with opened(place, window=3_000) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": text[:4_000]})
        with pytest.raises(MinutebookError, check=lambda error: error.code == "context_window_exceeded"):
            run.context()


@failure(
    "tokens",
    issues="NousResearch/hermes-agent#28053, #55572",
    scenario="A message with empty text, four parallel calls and hidden reasoning",
    outcome="Arguments and reasoning are counted",
)
def test_calls_and_reasoning_are_counted_where_there_is_no_text() -> None:
    bare = {"role": "assistant", "content": ""}
    long = json.dumps({"command": "word " * 400})
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "run", "arguments": long}} for n in range(4)]
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "word " * 400, "signature": "s"}]}
    assert count_source(bare) < 20
    assert count_source({**bare, "tool_calls": calls}) > 4 * 350
    assert count_source(thinking) > 350


# --- pruning -----------------------------------------------------------------------------------------

elsewhere(
    "tokens",
    issues="openclaw/openclaw#5457, #121230",
    scenario="The provider reported a small request; then the system prompt or the tools grow beyond the window",
    outcome="What changed since is counted on top: refused with its sizes",
    test="tests/scenarios/test_reported_usage.py"
    "::test_a_larger_system_prompt_than_that_of_the_reported_request_is_counted",
)
elsewhere(
    "tokens",
    issues="openclaw/openclaw#5457, #121230",
    scenario="Usage that leaves out what came from a cache, is of another call, is zero, or has unknown names",
    outcome="Anthropic's cache counts as part of the request; what cannot be of this request is not believed",
    test="tests/scenarios/test_reported_usage.py"
    "::test_a_count_that_cannot_be_of_this_request_lets_nothing_pass_that_does_not_fit",
)
elsewhere(
    "growth",
    issues="langchain-ai/langgraph#7843, PR 7547; theexperiencecompany/gaia PR 818; agno-agi/agno#3923, #8308",
    scenario="A thousand messages with a request every tenth, then a thousand more",
    outcome="Twice the events, at most 2.1 times the bytes; a prompt that comes again is stored once",
    test="tests/scenarios/test_growth.py::test_twice_the_messages_take_twice_the_disk",
)
elsewhere(
    "growth",
    issues="google/adk-python#3039, #4827; run-llama/llama_index#12264",
    scenario="The next request of a short session, and of one with ten times as many messages behind a summary",
    outcome="The same reads: what is hidden is not read",
    test="tests/scenarios/test_growth.py::test_a_request_reads_what_it_shows_and_not_what_is_hidden",
)
elsewhere(
    "pruning",
    issues="HKUDS/nanobot PR 4647; openclaw/openclaw PR 101547",
    scenario="A long old result is shown shorter",
    outcome="The placeholder says that the call finished, its tool, size and position; it never reads like a failure",
    test="tests/domain/compaction/test_reduction.py::test_a_placeholder_does_not_read_like_a_tool_failure",
)


@failure(
    "pruning",
    issues="Kohaku-Lab/KohakuTerrarium#98",
    scenario="A file is read in three parts in three rounds; the window holds them",
    outcome="All three stay verbatim; where they do not fit, recall gives them back without reading the file again",
)
def test_a_file_read_in_three_rounds_is_not_elided_to_its_last_part(place: Path) -> None:
    parts = ["\n".join(f"{part}.{line:02d} of the file" for line in range(60)) for part in range(3)]
    pairs = [(call(f"r{n}", tool="read"), result(f"r{n}", part)) for n, part in enumerate(parts)]
    rounds = [message for pair in pairs for message in pair]
    with opened(place, [*talk(2), *rounds], window=16_000) as book, book.session("s").run() as run:
        run.append({"role": "user", "content": "Compare the three parts."})
        shown = json.dumps([line["content"] for line in run.context().messages])
        assert all(json.dumps(part)[1:-1] in shown.replace("\\\\n", "\\n") for part in parts)
        run.append(talk(120), id="n")
    with opened(place) as book, book.session("s").run() as run:
        book.session("s").compact()
        assert all(parts[n] in run.recall({"message": f"m-{3 + 2 * n}"}).messages[0]["text"] for n in range(3))


@failure(
    "pruning",
    issues="langchain-ai/deepagents#2873, #2876; anomalyco/opencode PR 16162",
    scenario="A tool answers with an image of more than a megabyte; the session is compacted",
    outcome="The original comes back equal, the context does not carry the bytes, and they are stored once",
)
def test_an_image_is_kept_once_and_not_carried_along(place: Path) -> None:
    data = base64.b64encode(bytes(range(256)) * 5_000).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image]}]}
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "shot", "input": {}}]}
    with opened(place, [*talk(4), use, answer, *talk(60)]) as book:
        assert book.session("s").messages()[5].tokens < 5_000
        for _ in range(3):
            book.session("s").compact()
            book.session("s").append(talk(20))
        assert data not in json.dumps(legal(book))
        assert book.session("s").messages()[5] == answer
        stored = sum(len(event.payload or b"") for event in book._runtime.log.read())
        assert stored < len(data) + 400_000


# --- order -------------------------------------------------------------------------------------------

elsewhere(
    "order",
    issues="openai/openai-agents-python#1900; google/adk-python#917, #3717; ag-ui-protocol/ag-ui#1732",
    scenario="A frozen clock, and one that runs backwards",
    outcome="Order is the log's; no time decides anything, no false conflict",
    test="tests/scenarios/test_surface_python.py::test_a_frozen_clock_loses_no_order",
)
elsewhere(
    "order",
    issues="google/adk-python#4751",
    scenario="Two runs claim one session",
    outcome="The second one is refused with run_open, and can fork",
    test="tests/scenarios/test_surface_python.py::test_a_second_run_in_a_session_is_refused_while_the_first_is_open",
)
elsewhere(
    "order",
    issues="agno-agi/agno#7479; microsoft/agent-framework#8546",
    scenario="Two compressors work on one session at once",
    outcome="The second waits for the first and finds the work done; a summary that comes too late is refused",
    test="tests/scenarios/test_one_compressor.py::test_the_second_compressor_waits_and_then_finds_the_work_done",
)


@failure(
    "order",
    issues="google/adk-python#3717; openai/openai-agents-python#1900",
    scenario="The clock is set back an hour between append, compaction and append",
    outcome="Nothing conflicts, nothing moves",
)
def test_a_clock_that_is_set_back_stops_no_compaction(place: Path) -> None:
    times = iter(datetime(2026, 1, 1, tzinfo=UTC) - timedelta(hours=hour) for hour in range(10_000))
    with opened(place, talk(40), clock=lambda: next(times)) as book:
        assert book.session("s").compact()["status"] == "committed"
        book.session("s").append({"role": "user", "content": "Later."}, id="later")
        assert legal(book)[-1]["id"] == "later"
        positions = [message.position for message in book.session("s").messages()]
        assert positions == sorted(positions)


# --- scope -------------------------------------------------------------------------------------------

elsewhere(
    "scope",
    issues="NousResearch/hermes-agent PRs 12734, 13228, 69294; openclaw/openclaw PR 67801",
    scenario="A key in a tool result, repeated by the assistant, two compactions",
    outcome="No summary and no reduction holds it; the originals do",
    test="tests/scenarios/test_context_never_loses.py::test_a_credential_in_a_tool_result_is_in_no_summary",
)
elsewhere(
    "scope",
    issues="MemoriLabs/Memori#136; MemTensor/MemOS#1383",
    scenario="An agent recalls by positions of another session, of a sibling fork, of another workspace",
    outcome="Each is refused as if no message stood there; what was recalled appends nothing",
    test="tests/scenarios/test_recall.py::test_a_session_sees_itself_and_what_it_was_forked_from_and_nothing_else",
)


@failure(
    "scope",
    issues="langchain-ai/langgraphjs#2721; langchain-ai/langgraph PR 8356; NousResearch/hermes-agent#28279",
    scenario="Sessions named a, ab, a_, a%, A and a look-alike, each with a secret of its own",
    outcome="The context of each holds its own and no other, compacted or not",
)
def test_names_that_begin_alike_share_nothing(place: Path) -> None:
    names = ["a", "ab", "a_", "a%", "A", "\u0430"]  # the last one is Cyrillic
    with opened(place) as book:
        for number, name in enumerate(names):
            book.session(name).append([*talk(20), {"role": "user", "content": f"secret-{number}"}, *talk(20)])
            book.session(name).compact()
        for number, name in enumerate(names):
            shown = json.dumps(legal(book, name)) + json.dumps([dict(m) for m in book.session(name).messages()])
            assert f"secret-{number}" in shown
            assert not any(f"secret-{other}" in shown for other in range(len(names)) if other != number)


# --- the table itself --------------------------------------------------------------------------------


def test_every_named_test_exists_and_every_kind_has_a_failure() -> None:
    own = [value.failure for value in globals().values() if hasattr(value, "failure")]
    for named in ELSEWHERE:
        path, _, name = named.test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, named.test
    assert {found.kind for found in [*own, *ELSEWHERE]} == set(KINDS)
    assert len(own) >= 20
