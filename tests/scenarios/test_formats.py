"""Every kind of transcript, from the file to the request: recorded once, whole, legal in each API, also compacted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from minutebook import ContextWindowExceeded, Minutebook, Settings
from minutebook.domain.errors import InputError, MessageError
from minutebook.domain.forms import view
from minutebook.domain.legality import check_anthropic, check_openai, check_openai_responses
from minutebook.infrastructure.work.transcripts import read_all

SAMPLES = Path(__file__).parents[1] / "data" / "transcripts"
TAU = SAMPLES / "tau-bench" / "two-trajectories.json"

FILES = [
    "codex/rollout-2026-05-11T13-28-45-019e1695-0522-7c83-8b39-0dd379793f80.jsonl",
    "codex/codex-fc_stdin.jsonl",
    "codex/codex-function_calls.jsonl",
    "codex/claude-valid_session.jsonl",
    "openhands/basic.json",
    "openhands/basic_gui_mode.json",
    "swe-agent/crypto__BabyTimeCapsule.traj",
    "swe-agent/replay__marshmallow-code__marshmallow-18__marshmallow-code__marshmallow-1867.traj",
    "tau-bench/gpt-4o-airline-dev.json",
    "openai-chat/litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015046.707.json",
    "openai-chat/litellm_proxy__deepseek__deepseek-chat-1757015076.651.json",
    "claude-code/simonw-sample_session.json",
]
COPIED = [
    "anthropic/parallel-tool-calls.json",
    "codex/rollout-excerpt.jsonl",
    "openai-responses/thinking-part.json",
    "openhands/basic.json",
    "swe-agent/crypto-history.traj",
    "tau-bench/two-trajectories.json",
]
WINDOWS = (200_000, 32_000, 8_000)


def legal(context: Any) -> None:
    assert check_openai(context.to_openai()) == []
    assert check_openai_responses(context.to_openai_responses()) == []
    assert check_anthropic(context.to_anthropic()) == []
    assert context.tokens <= context.window - context.reserve


def whole(source: Any) -> Any:
    """An original as ``session.messages()`` gives it: the rows of Claude Code stand in a message of their role."""
    if not isinstance(source, list):
        return source
    return {"role": view("claude-code", source).role, "content": source}


def stays_legal_and_whole(place: Path, source: Path) -> None:
    """Imported, then compacted in ever smaller windows: legal, fitting or refused for good, every original equal."""
    sessions = {transcript.session: transcript for transcript in read_all(source)}
    with Minutebook.open(place, automatic=False) as book:
        assert [answer.session for answer in book.import_transcripts(source)] == list(sessions)
        head = book.head
        assert sum(answer.messages for answer in book.import_transcripts(source)) == 0
        assert book.head == head, "the same file again changes nothing"
    compacted = 0
    for window in WINDOWS:
        settings = Settings(context_window=window)
        with Minutebook.open(place, settings=settings, automatic=False) as book:
            for name, transcript in list(sessions.items())[:6]:
                session = book.session(name)
                assert session.messages() == [whole(message.source) for message in transcript.messages]
                refused = None
                try:
                    with session.run() as run:
                        legal(run.context(system="You go on with this."))
                except ContextWindowExceeded as error:
                    refused = error
                if refused is not None:
                    assert window == 8_000, refused
                    assert refused.details["protected_tokens"] > window - refused.details["reserve"], refused
                    continue
                if window == WINDOWS[0]:
                    session.compact()
                    legal(session.context())
                compacted += sum(row["status"] == "committed" for row in session.compactions())
    assert compacted or max(len(transcript.messages) for transcript in sessions.values()) < 30


@pytest.mark.parametrize("name", FILES, ids=lambda name: name.rsplit("/", 1)[-1][:30])
def test_a_transcript_of_the_shared_data_stays_legal_and_whole(place: Path, shared: Any, name: str) -> None:
    stays_legal_and_whole(place, shared(f"transcripts/{name}"))


@pytest.mark.parametrize("name", COPIED)
def test_a_sample_stays_legal_and_whole(place: Path, name: str) -> None:
    stays_legal_and_whole(place, SAMPLES / name)


# --- a file of several conversations -------------------------------------------------------------------


def test_a_file_of_trajectories_is_answered_by_a_list_and_again_changes_nothing(command: Any, place: Path) -> None:
    first = command("import", TAU, "--json").answer
    again = command("import", TAU, "--json").answer

    assert [answer["format"] for answer in first] == ["tau-bench", "tau-bench"]
    assert [answer["messages"] for answer in first] == [len(found["traj"]) for found in json.loads(TAU.read_bytes())]
    assert [answer["messages"] for answer in again] == [0, 0]
    assert {row["session"] for row in command("session", "list", "--json").answer} == {
        answer["session"] for answer in first
    }
    shown = command("import", TAU).out
    assert shown.count("two-trajectories.json: tau-bench, session tau-bench-") == 2


def test_a_list_that_has_grown_adds_a_session(book: Minutebook) -> None:
    found = json.loads(TAU.read_bytes())

    first = book.import_transcripts(json.dumps(found[:1]).encode())
    both = book.import_transcripts(json.dumps(found).encode())

    assert [answer.messages for answer in both] == [0, len(found[1]["traj"])]
    assert both[0].session == first[0].session


def test_one_name_cannot_be_given_to_several_conversations(command: Any, book: Minutebook) -> None:
    refused = command("import", TAU, "--session", "s", "--json")

    assert (refused.code, refused.refusal["error"]) == (1, "several_conversations")
    with pytest.raises(InputError) as error:
        book.import_transcript(TAU)
    assert error.value.code == "several_conversations"
    assert book.head == 0


def test_a_folder_is_read_with_its_trajectories(command: Any, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("swe-agent/crypto-history.traj", "codex/codex-fc_stdin.jsonl", "tau-bench/two-trajectories.json"):
        shutil.copy(SAMPLES / name, folder)

    answers = command("import", folder, "--json").answer

    assert [answer["format"] for answer in answers] == ["codex", "swe-agent", "tau-bench", "tau-bench"]


# --- items of the Responses API in a run ---------------------------------------------------------------

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "input_text", "text": "Why does the build fail?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "run", "arguments": "{}", "status": "completed"},
    {"type": "function_call_output", "call_id": "c1", "output": "make 4.2"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "make is too old."}]},
]


def test_items_are_appended_as_they_are_and_rendered_for_every_api(book: Minutebook) -> None:
    session = book.session("s")
    with session.run() as run:
        run.append(ITEMS)
        context = run.context(system="You mend builds.")

    assert session.messages() == ITEMS
    assert [message.known["form"] for message in session.messages()] == ["openai-responses"] * 5
    legal(context)
    request = context.to_openai_responses()
    assert [item.get("type", "user") for item in request["input"]] == [
        "user", "reasoning", "function_call", "function_call_output", "message",
    ]  # fmt: skip
    assert request["instructions"].startswith("You mend builds.")
    assert context.losses["openai-responses"] == ()


def test_an_object_of_the_sdk_is_an_item_too_and_nonsense_is_refused(book: Minutebook) -> None:
    class Item:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return ITEMS[2]

    session = book.session("s")
    session.append(Item())
    assert session.messages() == [ITEMS[2]]
    nonsense: dict[str, Any]
    for nonsense in ({"type": "king"}, {"type": []}, {"type": "message"}):
        with pytest.raises(MessageError) as refused:
            session.append(nonsense)
        assert refused.value.code == "bad_message"


def test_the_command_line_prints_the_request_of_the_responses_api(command: Any, book: Minutebook) -> None:
    with book.session("s").run() as run:
        run.append(ITEMS)

    request = command("context", "s", "--as", "openai-responses").answer

    assert check_openai_responses(request) == []
    assert request["input"][0]["content"] == ITEMS[0]["content"]
    refused = command("context", "s", "--as", "gemini", "--json")
    assert (refused.code, refused.refusal["error"]) == (1, "bad_renderer")


# --- a rollout that is imported while it is written ----------------------------------------------------


def test_a_rollout_that_grows_is_recorded_once(book: Minutebook, tmp_path: Path) -> None:
    lines = (SAMPLES / "codex" / "rollout-excerpt.jsonl").read_bytes().splitlines(keepends=True)
    growing = tmp_path / "rollout.jsonl"
    for count in (3, 4, 9, 20, len(lines)):
        growing.write_bytes(b"".join(lines[:count]))
        answer = book.import_transcript(growing)

    session = book.session(answer.session)
    assert session.messages() == [json.loads(line) for line in lines[1:]]
    legal(session.context())


def test_a_turn_that_was_told_twice_stands_once(book: Minutebook) -> None:
    rows = [
        {"type": "session_meta", "payload": {"id": "twice"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Mend it."}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Mend it."}]}},
        {"type": "response_item", "payload": ITEMS[4]},
    ]  # fmt: skip

    answer = book.import_transcript("\n".join(map(json.dumps, rows)).encode())

    assert (answer.messages, answer.runs) == (2, 1)
    assert json.dumps(book.session("twice").context().messages).count("Mend it.") == 1
